// What status prints for people, from the documents that cmd_status.c gathers.
#ifndef SWEETSPOT_STATUS_TABLE_H
#define SWEETSPOT_STATUS_TABLE_H

#include "tuner/cli/session.h"

// Everything about one job on one device.
void status_print(const json_t *report, const struct session *);
// One table of several jobs: a line each.
void status_print_all(const json_t *reports);

#endif
