/* Feature sections of perf.data: names of events, build-ids, the machine. */
#ifndef ANNOTATE_FEATURES_H
#define ANNOTATE_FEATURES_H

#include "annotate/perfdata.h"

/* Takes what annotate uses of feature number `feature`; what is damaged is left out. */
void features_read(struct perfdata *data, unsigned feature, struct bytes body);

/* One entry of the build-id table, without its 8 bytes of header. */
void features_read_build_id(struct perfdata *data, struct bytes body, uint16_t misc);

#endif
