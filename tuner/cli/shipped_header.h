// The header's section for a winner that comes with a job (tuner/job/shipped.h), made without a GPU and without a
// store. The winner is compiled here, and the result must be the kernel that was measured.
#pragma once

#include "tuner/base/json.h"
#include "tuner/job/job.h"

// Returns a list with the section of the first winner. The section states that there is no fallback, because only a GPU
// could verify a fallback. NULL with a message on stderr and an exit status in *status: EXIT_NOTHING if no winner comes
// with the job, or if the job or its sources have changed since the winner was measured. New reference.
json_t *shipped_sections(struct job *, const char *job_path, int *status);
