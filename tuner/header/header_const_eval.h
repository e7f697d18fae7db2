// A job's expressions as C that only reads the problem's sizes: parameters and device limits are folded into numbers,
// and a derived name that depends on a size is replaced by its expression.
#ifndef SWEETSPOT_HEADER_CONST_EVAL_H
#define SWEETSPOT_HEADER_CONST_EVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "tuner/base/json.h"
#include "tuner/job/job.h"

struct const_eval {
    const struct job *job;
    const char *prefix;
    const int64_t *values; // of the configuration and the first problem
    bool *varies;          // by slot: a size, or derived from one, or a loop's name
    char **text;           // by slot: C text of those
};

// For one configuration; functions begin with `prefix`. -1 with a message. The caller releases, also after a failure.
int const_eval_init(struct const_eval *, const struct job *, const uint16_t *config, const char *prefix,
                    struct error *);
void const_eval_release(struct const_eval *);

// Sets member `key` to the expression's C text (`absent` where there is none). -1 with a message.
int const_eval_set(json_t *object, const char *key, const struct const_eval *, const struct expr *, const char *absent,
                   struct error *);
// The C texts of three expressions, 1 where there is none. NULL with a message. New reference.
json_t *const_eval_three(const struct const_eval *, struct expr *const *expressions, struct error *);

#endif
