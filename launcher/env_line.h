/* `#!/usr/bin/env NAME` lines: what env would execute, so that it need not run. */
#ifndef LAUNCHER_ENV_LINE_H
#define LAUNCHER_ENV_LINE_H

#include "launcher/strv.h"

/* Whether env, as `interpreter` with this one argument, does nothing but look a program
 * up and execute it. If so, fills `words` (an initialised vector) with the program's name
 * and its own arguments, and returns 1; else 0: then env itself has to run. */
int env_line_parse(struct strv *words, const char *interpreter, const char *argument);

#endif
