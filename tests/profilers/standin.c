/* Stands in for libopagent.so.1 and for VTune's collector: writes what it is told to the
 * file AGENT_LOG, one call a line. Built from the published interfaces, not from the jit's
 * headers. AGENT_REFUSE=1 refuses to start. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct debug_line_info {
	unsigned long vma;
	unsigned int lineno;
	char const *filename;
};

struct line_number_info {
	unsigned int offset;
	unsigned int line;
};

struct method_load {
	unsigned int method_id;
	char *method_name;
	void *method_load_address;
	unsigned int method_size;
	unsigned int line_number_size;
	struct line_number_info *line_number_table;
	unsigned int class_id;
	char *class_file_name;
	char *source_file_name;
};

static int opened;

static FILE *begin(void)
{
	FILE *log = fopen(getenv("AGENT_LOG"), "a");

	fprintf(log, "%d ", (int)getpid());
	return log;
}

static void put_bytes(FILE *log, const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		fprintf(log, "%02x", bytes[i]);
}

int op_major_version(void);
int op_minor_version(void);
void *op_open_agent(void);
int op_close_agent(void *agent);
int op_write_native_code(void *agent, char const *symbol_name, uint64_t code_addr,
	void const *code, const unsigned int size);
int op_write_debug_line_info(void *agent, void const *code, size_t nr_entry,
	struct debug_line_info const *compile_map);
int op_unload_native_code(void *agent, uint64_t code_addr);
unsigned int Initialize(void);
unsigned int NotifyEvent(unsigned int event, void *data);

int op_major_version(void)
{
	return getenv("AGENT_VERSION") ? atoi(getenv("AGENT_VERSION")) : 1;
}

int op_minor_version(void)
{
	return 0;
}

void *op_open_agent(void)
{
	if (getenv("AGENT_REFUSE")) {
		errno = ENOENT;
		return NULL;
	}
	FILE *log = begin();
	fprintf(log, "open\n");
	fclose(log);
	return &opened;
}

int op_close_agent(void *agent)
{
	FILE *log = begin();
	fprintf(log, "close %d\n", agent == &opened);
	fclose(log);
	return 0;
}

int op_write_native_code(void *agent, char const *symbol_name, uint64_t code_addr,
	void const *code, const unsigned int size)
{
	FILE *log = begin();
	fprintf(log, "code %lx %u ", code_addr, size);
	put_bytes(log, code, size);
	fprintf(log, " %s\n", symbol_name);
	fclose(log);
	return agent == &opened ? 0 : -1;
}

int op_write_debug_line_info(void *agent, void const *code, size_t nr_entry,
	struct debug_line_info const *compile_map)
{
	FILE *log = begin();
	fprintf(log, "lines %lx", (unsigned long)code);
	for (size_t i = 0; i < nr_entry; i++)
		fprintf(log, " %lx:%u", compile_map[i].vma, compile_map[i].lineno);
	fprintf(log, " %s\n", nr_entry ? compile_map[0].filename : "");
	fclose(log);
	return agent == &opened ? 0 : -1;
}

int op_unload_native_code(void *agent, uint64_t code_addr)
{
	FILE *log = begin();
	fprintf(log, "unload %lx\n", code_addr);
	fclose(log);
	return agent == &opened ? 0 : -1;
}

unsigned int Initialize(void)
{
	FILE *log = begin();
	fprintf(log, "initialize\n");
	fclose(log);
	return getenv("AGENT_REFUSE") ? 0 : 1;
}

static void put_method(FILE *log, const struct method_load *method)
{
	fprintf(log, "method %u %lx %u ", method->method_id,
		(unsigned long)method->method_load_address, method->method_size);
	put_bytes(log, method->method_load_address, method->method_size);
	for (unsigned int i = 0; i < method->line_number_size; i++)
		fprintf(log, " %u:%u", method->line_number_table[i].offset,
			method->line_number_table[i].line);
	fprintf(log, " %s %s\n", method->source_file_name, method->method_name);
}

unsigned int NotifyEvent(unsigned int event, void *data)
{
	FILE *log = begin();

	if (event == 13)
		put_method(log, data);
	else if (event == 14)
		fprintf(log, "unload %u\n", ((struct method_load *)data)->method_id);
	else
		fprintf(log, "event %u %d\n", event, data == NULL);
	fclose(log);
	return 1;
}
