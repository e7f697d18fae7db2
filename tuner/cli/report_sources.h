// The arguments of `sweetspot report` as jobs with their stores.
#ifndef SWEETSPOT_REPORT_SOURCES_H
#define SWEETSPOT_REPORT_SOURCES_H

#include "tuner/cli/options.h"
#include "tuner/report/report.h"

struct report_file {
    char *job_file, *store_path; // one of them may be NULL
    bool named;                  // given as an argument, not found in a folder
};

struct report_files {
    size_t count;
    struct report_file *list;
};

// Arguments are job files, stores (*.db), and folders of either; without any, the stores of the folder `out`. `store`
// (may be NULL) is for a single job. 0, or an exit status after a message.
int report_files_find(struct report_files *, const struct option_list *arguments, const char *store);
void report_files_release(struct report_files *);

// Reads the jobs, one after another, into a list of JOBs. One that cannot be read has an "error", which is also
// printed on stderr, and *failed is set.
json_t *report_jobs(const struct report_files *, bool *failed);

#endif
