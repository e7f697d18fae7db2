// A recorded space: every configuration of an earlier search with its result, in memory. Read from our own
// format, from Kernel Tuner's cache files and from T4 files (gzip or plain, recognised by content); written only in
// our own format.
//
// Our format is one JSON object. Members marked * may be missing; unknown members are ignored.
//
//   "format": "sweetspot-space", "version": 1
//   "job": "sgemm"                            * name of the job
//   "device": {"name": "NVIDIA H200", ...}    * anything about the device
//   "environment": {"source_hash": "...", ...} * compiler, driver, hash of the source ...: as far as known
//   "objective": "geomean"                    * how several problems make one number: "geomean" (weighted; the default)
//                                               or "worst"
//   "problems": [{"name": "M=2048,N=2048,K=2048", "sizes": {"M": 2048, ...}, "weight": 1.0,
//                 "work": {"flops": 1.7e10, "bytes": 5.0e7}}]
//                                             * one nameless problem if missing; sizes, weight, work may be missing too
//   "parameters": [{"name": "BLOCK_M", "kind": "int", "values": [64, 128]}]
//                 kind: "int" and "unroll" (integers), "string" (strings), "real" (numbers, or strings that hold one)
//   "constraints": ["BLOCK_M % WARP_M == 0"]  * for people; the space is the list of trials
//   "metrics": [{"key": "icache_misses", "metric": "sm__icc_requests_lookup_miss.sum", "unit": ""}]
//                                             * the counters; a column each
//   "columns": ["BLOCK_M", ..., "status", "time", ...]
//   "trials": [[64, ..., "ok", 0.00123, ...], ...]
//                 one array a configuration, cells in the order of the columns, null where empty
//   "baselines": [{"name": "cublas", "problems": [{"time": s, "low": s, "high": s, "samples": [s, ...]}]}]
//                                             * one entry per problem, as a GPU worker answers it
//   "finals": [...]                           * documents of finals, newest first, unchanged
//
// Columns: every parameter's name (required; the cell is the value itself), the trial's and the problems' fields that
// are marked as recorded (tuner/trial/trial_field.c: "status", "reason", "time", "low", "registers", "gpu_seconds" ...;
// a missing status is ok if there is a time), and the metrics' keys (of the first problem). With more than one problem
// a problem's field has an array with one value per problem, samples an array of arrays. A figure without a column is
// unknown for all trials. An unknown column is left out and noted in `unknown_columns`. A trial
// with status ok or slow whose time is absent, a string, below 100 ns or above 1e19 counts as launch_error, and in
// `impossible`.
//
// Errors (with the number of the trial, from 0): a file that is truncated or not JSON, an unknown format, no parameters
// or trials, a parameter without values or with a value twice, a value that is not among its parameter's, a
// configuration listed twice, rows of the wrong length.
//
// Kernel Tuner and T4: times are milliseconds there; a `time` that is a string, absent or above 1e19 marks a failure;
// T4 files do not list the parameters' values, so these are collected from the configurations, ascending.
#ifndef SWEETSPOT_RECORDED_H
#define SWEETSPOT_RECORDED_H

#include "search/space/space.h"
#include "search/strategies/strategy.h"
#include "tuner/base/arena.h"
#include "tuner/base/base.h"
#include "tuner/base/json.h"
#include "tuner/base/record.h"
#include "tuner/trial/trial.h"

struct recorded_work {
    double flops, bytes; // NaN where unknown
};

struct recorded_problem {
    const char *name; // may be ""
    size_t size_count;
    struct record_named_integer *sizes;
    double weight;                    // 1 unless given
    const struct recorded_work *work; // NULL where unknown
};

struct recorded_metric {
    const char *key, *metric, *unit;
};

struct recorded_baseline {
    const char *name;
    struct trial_problem *problems; // one for each problem; of their fields, those of a time are used
    size_t problem_count;
};

// Everything belongs to the struct; recorded_free releases it. Filled by recorded_read, or by hand for recorded_write:
// start from recorded_new, make everything in `memory`, set the space and the counts; make trials with
// recorded_add_trials. A
// recorded trial has no stages but `facts`, and no `config` but its row of `configs`.
struct recorded {
    const char *job;                       // "" where unknown
    const char *objective;                 // "geomean" or "worst"
    json_t *device, *environment, *finals; // NULL where absent
    size_t problem_count;                  // at least 1
    struct recorded_problem *problems;
    size_t parameter_count;
    json_t *constraints; // texts; NULL where absent
    size_t metric_count;
    struct recorded_metric *metrics;
    size_t baseline_count;
    struct recorded_baseline *baselines;
    size_t trial_count;
    struct trial *trials;
    struct trial_problem *figures; // trial_count times problem_count: the trials' problems
    double *counters;              // trial_count times metric_count, NaN where absent; of the first problem
    uint16_t *configs;             // trial_count times parameter_count value indices
    struct arena memory;
    size_t impossible;    // trials without a time that could be, although they are said to be valid
    size_t unknown_count; // unknown columns of the file
    const char **unknown_columns;

    // The parameters; of what was read, the configurations of the list too.
    struct space *space;
    struct symbols *symbols; // NULL: the space is another's
    uint32_t *trial_at;      // of what was read: space index -> trial
    int64_t best;            // of what was read: the trial with the lowest objective among ok, or -1
};

struct recorded *recorded_new(void);
void recorded_free(struct recorded *);

// Room for `count` trials, all unknown, once problem_count, metric_count and parameter_count are set. -1 with a message
// where there is no memory for them.
int recorded_add_trials(struct recorded *, size_t count, struct error *);

// Reads a file. NULL with a message that begins with the path.
struct recorded *recorded_read(const char *path, struct error *);
// Says on stderr how many trials of the file have impossible times, if any.
void recorded_warn(const struct recorded *, const char *path);
// Writes our format, compressed if the path ends in ".gz". The file appears whole or not at all.
int recorded_write(const struct recorded *, const char *path, struct error *);

// The number of the trial with this configuration of recorded->space, or -1.
int64_t recorded_find(const struct recorded *, const uint16_t *config);
// What a strategy learns from a trial's status: the one place that turns it into an outcome of the search. The
// objective counts only where the status has one (ok, slow); else it is NaN. Borrows the configuration.
struct observation observation_of(const uint16_t *config, enum trial_status, double objective);
// The same from a recorded trial, from which it borrows.
struct observation recorded_observation(const struct recorded *, size_t trial);
// The device's name, or "".
const char *recorded_device_name(const struct recorded *);

#endif
