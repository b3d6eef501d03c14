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

char *demangle(const char *name)
{
	static demangler *function;
	static int loaded;
	int status = 0;

	if (name[0] != '_' || name[1] != 'Z')
		return NULL;
	if (!loaded++)
		function = load();
	return function ? function(name, NULL, NULL, &status) : NULL;
}
