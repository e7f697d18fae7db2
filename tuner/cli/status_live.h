// What `status` shows of a run that lasts, from its live file (tuner/watch/live_status.h).
#ifndef SWEETSPOT_STATUS_LIVE_H
#define SWEETSPOT_STATUS_LIVE_H

#include <stdio.h>

#include "tuner/base/json.h"
#include "tuner/watch/live_status.h"

// The document with what it means here: "state" and "age" before all else. New reference; NULL where there is none.
json_t *status_live_json(const struct live_status *);
// Who runs it, how far it is, and a line for each GPU and for the compilers of each node. A run that is not there any
// more has one line, which says so.
void status_live_print(const json_t *live, FILE *);

#endif
