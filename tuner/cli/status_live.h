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
// Follows the run of a store until it ends: a block every `every` seconds, redrawn on a terminal; as JSON an object a
// line; as CSV job,when,key,value. KILLED: the driver is gone, or has been silent for two minutes. FAILED: with a
// message.
enum watch_outcome { WATCH_NO_RUN, WATCH_ENDED, WATCH_KILLED, WATCH_FAILED };
enum watch_outcome status_watch(const char *store_path, int format, double every);

#endif
