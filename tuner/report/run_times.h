// When the runs of an environment searched, and how many seconds of search lie before a moment: runs are nights apart,
// and a chart over time must not show the days between them.
//
// Every run writes a "device" document when it begins and a "run" document when its search ends. A run that was killed,
// or is still running, has only the first, and lasts until its last trial.
#pragma once

#include "tuner/report/trial_table.h"

struct search_run {
    double from;           // Unix time from which trials are its own
    double started, ended; // Unix time
    double began, seconds; // when its search began, and how long it took
    double at;             // seconds of search before it
    size_t evaluations_before, evaluations;
    json_t *document; // NULL: none
};

struct run_times {
    size_t count;
    struct search_run *runs; // oldest first
    double seconds;          // of all of them
};

int run_times_read(struct run_times *, struct store *, const struct trial_table *, struct error *);
void run_times_release(struct run_times *);

json_t *run_times_json(const struct run_times *);
