// Sizes that the header accepts although the job does not name them: between the smallest and the largest of those that
// were verified, multiples of their greatest common divisor, and as `verification.supported` says. Some small ones are
// drawn for every run and verified: powers of two, their neighbours, the least, and any others.
#ifndef SWEETSPOT_JOB_SIZES_H
#define SWEETSPOT_JOB_SIZES_H

#include "tuner/job/job.h"

// The range of one size. Zeroed: nothing is in it.
struct size_range {
    bool any;
    int64_t least, most, multiple;
    uint64_t turn; // which kind of size is drawn first
};
void size_range_add(struct size_range *, int64_t size);

// Checks that `verification.supported` allows every problem of the job, once the space is built. -1 with a message that
// names file and line.
int job_check_supported(const struct job *, struct error *);

enum { JOB_DRAWN_SIZES = 8, JOB_OWN_SIZES = 8 };
// A job that has drawn sizes as its problems, up to JOB_DRAWN_SIZES, which are only verified; all else is the job's.
// Where inputs may have other values, up to JOB_OWN_SIZES of the job's own problems follow. It lies in the job's
// memory. NULL: there is nothing to draw, or drawn sizes cannot have a reference.
struct job *job_draw_sizes(struct job *);

#endif
