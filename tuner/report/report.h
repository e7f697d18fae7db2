// The report: the contents of jobs' stores as one JSON document (docs/json.md), which `sweetspot report` prints or
// writes into a page.
#pragma once

#include "tuner/base/json.h"
#include "tuner/job/job.h"
#include "tuner/store/store.h"

struct report_source {
    const char *name;       // of the job; NULL: from the store
    const char *job_file;   // NULL: only the store is known
    const char *store_path; // NULL: unknown
    const struct job *job;  // its space is built if possible; NULL: unknown
    double space;           // number of valid configurations; NaN: unknown
    struct store *store;    // NULL: `error` says why
    const char *error;
    size_t points; // largest number of points per result that are shown with all figures
};

// A JOB. If its store cannot be read completely, it has an "error". New reference.
json_t *report_job(const struct report_source *);
// The whole document; `program` is the program that made it. Takes ownership of the list of JOBs.
json_t *report_document_of(json_t *jobs, const char *program);
// The number of points per result that keeps the page small with this many jobs.
size_t report_points_of(size_t jobs);
