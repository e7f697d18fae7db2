// A job's expressions as C that only reads the problem's sizes: parameters and device limits are folded into numbers,
// and a derived name that depends on a size is replaced by its expression.
#ifndef SWEETSPOT_HEADER_FOLDING_H
#define SWEETSPOT_HEADER_FOLDING_H

#include <stdbool.h>
#include <stdint.h>

#include "tuner/base/json.h"
#include "tuner/job/job.h"

struct expression_folding {
    const struct job *job;
    const char *prefix;
    const int64_t *values; // of the configuration and the first problem
    bool *varies;          // by slot: a size, or derived from one, or a loop's name
    char **text;           // by slot: C text of those
};

// For one configuration; functions begin with `prefix`. -1 with a message. The caller releases, also after a failure.
int folding_init(struct expression_folding *, const struct job *, const uint16_t *config, const char *prefix,
                 struct error *);
void folding_release(struct expression_folding *);

// Sets member `key` to the expression's C text (`absent` where there is none). -1 with a message.
int folding_set(json_t *object, const char *key, const struct expression_folding *, const struct expr *,
                const char *absent, struct error *);
// The C texts of three expressions, 1 where there is none. NULL with a message. New reference.
json_t *folding_three(const struct expression_folding *, struct expr *const *expressions, struct error *);

#endif
