/* `stablerun show RUN`: a kept run in words. */
#ifndef LAUNCHER_SHOW_H
#define LAUNCHER_SHOW_H

int show_main(int argc, char **argv);

#endif
