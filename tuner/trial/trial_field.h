// The figures of a trial as one table, made from the rows of trial_figures.h. To add a figure, add one row there and
// the line that measures it. The store, the workers' answers, recorded spaces, export, import, and the reports in JSON
// and CSV follow the table.
#pragma once

#include "tuner/base/record.h"
#include "tuner/trial/trial.h"

#define TRIAL_SHORTEST_TIME 1e-7 // s; a launch of any kernel takes longer
#define TRIAL_LONGEST_TIME 1e19  // s; Kernel Tuner writes 1e20 for failures

enum field_level { FIELD_TRIAL, FIELD_PROBLEM, FIELD_STAGE, FIELD_LEVELS };

enum field_kind {
    FIELD_TEXT,    // const char *, never NULL after trial_clear
    FIELD_STATUS,  // enum trial_status, shown as its word
    FIELD_BOOL,    // bool
    FIELD_COUNT,   // int64_t; 0: nothing to report
    FIELD_INTEGER, // int64_t; -1 unknown
    FIELD_REAL,    // double; NaN unknown
    FIELD_SAMPLES, // const double *, a problem's sample_count times
    FIELD_KINDS
};

enum field_flags {
    FIELD_RECORDED = 1,  // in recorded spaces: a column with this name
    FIELD_COMPILER = 2,  // the compiler reports it, as `answer`
    FIELD_GPU = 4,       // the GPU worker reports it, as `answer`
    FIELD_DERIVED = 8,   // computed from other figures: not stored
    FIELD_JUDGED = 16,   // a later verdict on the trial replaces it
    FIELD_MEASURED = 32, // the time of one launch or more: at least TRIAL_SHORTEST_TIME in an answer
    FIELD_SHARE = 64,    // a fraction from 0 to 1
};

struct trial_field {
    const char *name; // in the store, recorded spaces and reports; unique within its level
    const char *unit; // "s", "bytes", "W"; "" if there is none
    enum field_level level;
    enum field_kind kind;
    size_t place; // in the level's struct
    unsigned flags;
    const char *answer;  // its name in a worker's answer
    const char *meaning; // one line
};

// All fields, in the order of the store's columns.
const struct trial_field *trial_fields(size_t *count);
// The field with this name at a level, or NULL.
const struct trial_field *trial_field_find(enum field_level, const char *name);
const char *field_level_name(enum field_level); // "trial", "problem", "stage"
const char *field_kind_name(enum field_kind);

// `record` is a struct trial, trial_problem or trial_stage, according to the level.

// Sets every field to unknown, and all other members to zero.
void trial_clear(enum field_level, void *record);
bool field_known(const struct trial_field *, const void *record);
// The value; null if unknown. New reference.
json_t *field_json(const struct trial_field *, const void *record);
// Sets a field to a value of its type; any other value leaves the record unchanged. Strings and samples are kept in
// `memory`.
void field_take(const struct trial_field *, void *record, const json_t *value, struct arena *memory);

// Like field_take, but takes the value from another record of the same level.
void field_copy(const struct trial_field *, void *to, const void *from, struct arena *memory);

// The figures that the GPU worker and the compiler report for each level, as records. Members for other fields are
// cleared, but neither read nor written. Impossible values, such as a time below TRIAL_SHORTEST_TIME or above
// TRIAL_LONGEST_TIME, are refused.
const struct record *trial_figures(void);    // struct trial
const struct record *problem_figures(void);  // struct trial_problem
const struct record *stage_figures(void);    // struct trial_stage
const struct record *compiled_figures(void); // struct trial_stage, from the compiler

// All known fields of a record by their names; for a trial, also its "problems" and "stages". New reference.
json_t *trial_json(enum field_level, const void *record);
// The number of trials with each status, under the status's word; statuses without trials are left out. New reference.
json_t *trial_counts_json(const int64_t counts[STATUS_COUNT]);
