// `tune --report FILE`: a page that a browser can follow while jobs are tuned.
//
// A separate process (`sweetspot report --every`) writes it from the stores, so that a run neither waits for it nor
// can be hurt by it. It runs at low priority, and ends with the tuner.
#ifndef SWEETSPOT_REPORT_FOLLOW_H
#define SWEETSPOT_REPORT_FOLLOW_H

#include <sys/types.h>

#include "tuner/cli/options.h"

struct report_follow {
    const struct option_list *jobs;
    const char *store, *output; // store: NULL, or that of the only job
    pid_t child;
};

// Refuses at the start what would fail hours later: no charting library, an output that cannot be written. 0, or an
// exit status after a message.
int report_follow_begin(struct report_follow *, double seconds);
// Ends the process and writes the page a last time. Returns `status`, or EXIT_ENVIRONMENT after a message if `status`
// was EXIT_DONE and the page cannot be written.
int report_follow_end(struct report_follow *, int status);

#endif
