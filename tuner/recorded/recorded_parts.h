// Shared by the files that implement recorded.h. recorded.c (the struct) is the lowest layer, recorded_json.c (our
// format) and recorded_tuners.c (other tuners' formats) use it, and recorded_import.c recognises a file's format and
// calls these two.
#pragma once

#include <stdbool.h>

#include "tuner/recorded/recorded.h"

// Fills an empty struct from a parsed document. On failure, returns -1 with a message. `t1`: a T1 document, or NULL.
int recorded_from_sweetspot(struct recorded *, const json_t *document, struct error *);
int recorded_from_kernel_tuner(struct recorded *, const json_t *document, struct error *);
int recorded_from_t4(struct recorded *, const json_t *document, const json_t *t1, struct error *);
int recorded_from_ktt(struct recorded *, const json_t *document, const json_t *t1, struct error *);

// Counts one occurrence of something that the user should know; see struct recorded_note.
void recorded_note(struct recorded *, const char *text);
#define RECORDED_IMPOSSIBLE                                                                                        \
    "configurations count as failed, because their times are impossible (none, below 100 ns, above 1e19 s, not a " \
    "number)"

// Adds a parameter with its values from a JSON array. If kind < 0, the values are read as integers, as reals or as
// strings, whichever first fits all of them.
int recorded_add_parameter(struct recorded *, const char *name, const json_t *values, int kind, struct error *);
// Sets a parameter's value in a trial's configuration. Returns -1 with a message if it is not among the parameter's
// values.
int recorded_set_value(struct recorded *, size_t trial, size_t parameter, const json_t *value, struct error *);

// A text that is the same for equal values: 2 and 2.0, true and 1. NULL for null, lists and objects. malloc'ed.
char *recorded_value_key(const json_t *value);

void recorded_one_problem(struct recorded *);
// Returns a trial's figures for the problem, which the caller fills in.
struct trial_problem *recorded_figures(struct recorded *, size_t trial, size_t problem);
// Whether a number can be a time, in any unit: it is positive, and not the number that other tuners write for a
// failure.
bool recorded_is_time(double time);
// Copies the samples that can be times.
void recorded_set_samples(struct recorded *, struct trial_problem *, const double *samples, size_t count);

// Computes objectives, builds the space of the listed configurations, and finds the best. On failure, returns -1 with a
// message.
int recorded_index(struct recorded *, struct error *);
