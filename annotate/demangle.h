/* Names of C++ and of Rust's older scheme as programmers write them. */
#ifndef ANNOTATE_DEMANGLE_H
#define ANNOTATE_DEMANGLE_H

/* Returns owned, without the list of parameters, as perf shows it; NULL where `name` is
 * not mangled or cannot be read. */
char *demangle(const char *name);

#endif
