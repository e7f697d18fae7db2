// A recorded space: every configuration of an earlier search with its result, in memory. It is read from our own format
// (docs/json.md), Kernel Tuner's cache files, KTT's results or T4 documents, with or without gzip. The format is
// recognised by the content. Only our own format is written.
#pragma once

#include "search/space/space.h"
#include "search/strategies/strategy.h"
#include "tuner/base/hash_index.h"
#include "tuner/base/record.h"
#include "tuner/trial/trial.h"

struct recorded_work {
    double flops, bytes; // NaN if unknown
};

struct recorded_problem {
    const char *name; // may be ""
    size_t size_count;
    struct record_named_integer *sizes;
    double weight;                    // 1 by default
    const struct recorded_work *work; // NULL if unknown
};

struct recorded_metric {
    const char *key, *metric, *unit;
};

// A reason why rows were left out or count as failed, and the number of such rows: "rows are left out, because ...".
// `text` is a constant.
struct recorded_note {
    const char *text; // NULL: end of the list
    size_t count;
};
enum { RECORDED_MOST_NOTES = 8 };

struct recorded_baseline {
    const char *name;
    struct trial_problem *problems; // one for each problem; only the fields about times are used
    size_t problem_count;
};

// Everything belongs to the struct; recorded_free releases it. recorded_read fills the struct. A caller can also fill
// it by hand for recorded_write: start with recorded_new, allocate everything in `memory`, set the space and the
// counts, and make the trials with recorded_add_trials. A recorded trial has `facts` instead of stages, and a row of
// `configs` instead of `config`.
struct recorded {
    struct {
        const char *job;                       // "" if unknown
        const char *licence;                   // of another tuner's recording; "" for our own
        const char *objective;                 // "geomean" or "worst"
        json_t *device, *environment, *finals; // NULL where absent
    } about;
    size_t problem_count; // at least 1
    struct recorded_problem *problems;
    size_t parameter_count;
    json_t *constraints; // strings; NULL if absent
    size_t metric_count;
    struct recorded_metric *metrics;
    size_t baseline_count;
    struct recorded_baseline *baselines;
    size_t trial_count;
    struct trial *trials;
    struct trial_problem *figures; // trial_count times problem_count: the trials' problems
    double *counters;              // trial_count times metric_count, NaN if absent; for the first problem
    uint16_t *configs;             // trial_count times parameter_count value indices
    struct arena memory;
    struct {
        struct recorded_note notes[RECORDED_MOST_NOTES];
        size_t unknown_count; // columns of the file that are unknown here
        const char **unknown_columns;
    } left_out;

    // The parameters; after reading, also the listed configurations.
    struct space *space;
    struct symbols *symbols;                       // NULL: the space is not owned
    struct string_pool keys[SPACE_MAX_PARAMETERS]; // after reading: by parameter, one text for each value
    uint32_t *trial_at;                            // after reading: space index -> trial
    int64_t best;                                  // after reading: the trial with the lowest objective among ok, or -1
};

struct recorded *recorded_new(void);
void recorded_free(struct recorded *);

// Makes room for `count` trials, all unknown. problem_count, metric_count and parameter_count must already be set.
// Returns -1 with a message if there is not enough memory.
int recorded_add_trials(struct recorded *, size_t count, struct error *);

// Reads a file. On failure, returns NULL with a message that begins with the path.
struct recorded *recorded_read(const char *path, struct error *);
// Like recorded_read, for T4 documents and KTT's results. These files lack the parameters' values, which are therefore
// read from a T1 document.
struct recorded *recorded_read_with(const char *path, const char *t1_path, struct error *);
// Prints the notes on stderr.
void recorded_warn(const struct recorded *, const char *path);
// Writes our format, compressed if the path ends in ".gz". The file appears whole or not at all.
int recorded_write(const struct recorded *, const char *path, struct error *);

// The number of the trial with this configuration of recorded->space, or -1.
int64_t recorded_find(const struct recorded *, const uint16_t *config);
// The same for a configuration's text. Decimals may be spelled differently than in the recording.
int64_t recorded_find_text(const struct recorded *, const char *text);
// Makes the observation of a trial that is reported to a strategy. This is the only place that turns a status into an
// outcome of the search. The observation has the objective only for the statuses ok and slow; for the others it has
// NaN. Borrows the configuration.
struct observation observation_of(const uint16_t *config, enum trial_status, double objective);
// The observation of a recorded trial. Borrows from the recorded space.
struct observation recorded_observation(const struct recorded *, size_t trial);
// The device's name, or "".
const char *recorded_device_name(const struct recorded *);
