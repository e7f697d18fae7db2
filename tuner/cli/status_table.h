// What status prints for people, from the documents that cmd_status.c gathers.
#pragma once

#include "tuner/cli/session.h"
#include "tuner/watch/live_status.h"

// Everything about one job on one device.
void status_print(const json_t *report, const struct session *);
// One table of several jobs: a line each.
void status_print_all(const json_t *reports);

// The document with what it means here: "state" and "age" before all else. New reference; NULL where there is none.
json_t *status_live_json(const struct live_status *);
// Who runs it, how far it is, and a line for each GPU and for the compilers of each node. A run that is not there any
// more has one line, which says so.
void status_live_print(const json_t *live, FILE *);
