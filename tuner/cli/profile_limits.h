// `sweetspot profile --limits`: times a candidate whole, with only its memory traffic and with only its arithmetic, at
// the same occupancy, and says what the three times mean.
#ifndef SWEETSPOT_PROFILE_LIMITS_H
#define SWEETSPOT_PROFILE_LIMITS_H

#include "tuner/cli/candidate_spec.h"
#include "tuner/setup/single_run.h"

// Whether the candidate has a source with variants. An exit status, 0 if so; otherwise it is explained on stderr.
int profile_limits_check(const struct job *job, const struct candidate_spec *spec);

// Measures the variants of a candidate, prints the answer on stdout and keeps it in the store. `problem` is an index of
// the job's tuned problems, `format` one of enum format. Returns an exit status, after a message if not 0.
int profile_limits(struct candidate_source *source, const struct candidate_spec *spec, struct single_run *single,
                   size_t problem, int format);

#endif
