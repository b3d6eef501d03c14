/* run.json: what is read is written again and reads the same. */
#include <stdlib.h>
#include <string.h>

#include "launcher/run.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char message[RUN_MESSAGE] = "";
	struct run_info info;

	if (run_info_parse(&info, (const char *)data, size, "run.json", message) < 0) {
		if (strncmp(message, "cannot read 'run.json': ", 24) != 0)
			__builtin_trap();
		return 0;
	}
	char *text = run_info_format(&info);
	run_info_release(&info);
	if (run_info_parse(&info, text, strlen(text), "again", message) < 0)
		__builtin_trap();
	char *again = run_info_format(&info);
	run_info_release(&info);
	if (strcmp(text, again) != 0)
		__builtin_trap();
	free(text);
	free(again);
	return 0;
}
