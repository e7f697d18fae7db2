// A job's expressions as C that only reads the problem's sizes: parameters and device limits are folded into numbers,
// and a derived name that depends on a size is replaced by its expression.
#ifndef SWEETSPOT_HEADER_CONST_EVAL_H
#define SWEETSPOT_HEADER_CONST_EVAL_H

#include "tuner/base/base.h"
#include "tuner/base/json.h"
#include "tuner/job/job.h"

struct const_eval {
    const struct job *job;
    char *prefix;          // of the functions that expressions call in C: "sgemm_fn_"
    const int64_t *values; // of the configuration and the first problem
    bool *varies;          // by slot: a size, or derived from one, or a loop's name
    char **text;           // by slot: C text of those
    struct error *err;     // of the first expression that cannot be written as C
    bool failed;
};

// For one configuration. -1 with a message. The caller releases, also after a failure.
int const_eval_init(struct const_eval *, const struct job *, const uint16_t *config, struct error *);
void const_eval_release(struct const_eval *);

// The expression's C text, or `absent` without an expression. If it cannot be written, *err says so, `failed` is set,
// and the text is "0". New reference.
json_t *const_eval_text(struct const_eval *, const struct expr *, const char *absent);
// The texts of several expressions, 1 for a missing one. New reference.
json_t *const_eval_list(struct const_eval *, struct expr *const *expressions, size_t count);
// Sets a member to a list, unless it is empty. Takes the list.
void const_eval_set_list(json_t *object, const char *key, json_t *list);

#endif
