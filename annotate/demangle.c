/* Demangling by the C++ runtime where one is installed; its function is specified by the
 * Itanium C++ ABI. Loaded at run time, for only C++ programs have such names. */
#include "annotate/demangle.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

typedef char *demangler(const char *name, char *buffer, size_t *length, int *status);

static demangler *load(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
	demangler *function = NULL;

	memcpy(&function, &symbol, sizeof(function));
	return function;
}

/* "f(int, g(int)) const [clone .cold]" -> "f [clone .cold]"; "operator()" keeps its own.
 */
static void drop_parameters(char *name)
{
	char *clone = strstr(name, " [clone"), *end = clone ? clone : name + strlen(name);
	static const char constant[] = " const";
	size_t length = sizeof(constant) - 1;
	int depth = 0;

	char *close = end;
	if ((size_t)(close - name) > length &&
		strncmp(close - length, constant, length) == 0)
		close -= length;
	if (close == name || close[-1] != ')')
		return;
	char *open = close;
	do {
		open--;
		depth += *open == ')' ? 1 : *open == '(' ? -1 : 0;
	} while (open > name && depth);
	static const char call[] = "operator";
	length = sizeof(call) - 1;
	if (open == name || ((size_t)(open - name) >= length &&
				    strncmp(open - length, call, length) == 0))
		return;
	memmove(open, end, strlen(end) + 1);
}

char *demangle(const char *name)
{
	static demangler *function;
	static int loaded;
	int status = 0;

	if (name[0] != '_' || name[1] != 'Z')
		return NULL;
	if (!loaded++)
		function = load();
	char *plain = function ? function(name, NULL, NULL, &status) : NULL;
	if (plain)
		drop_parameters(plain);
	return plain;
}
