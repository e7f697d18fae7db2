// Winners that come with a job: tuned/<job name>.json next to the job file or in the folder above
// (tests/measure/tables.sh writes them). A search begins with these winners, and `header --shipped` makes a header from
// one of them.
#pragma once

#include "tuner/base/stats.h"
#include "tuner/job/job.h"

struct shipped_problem {
    const char *problem;
    struct interval time; // s, median
};

// Hashes that identify a winner (see tuner/setup/shipped_build.h). tests/measure/shipped.sh records them if the current
// job and sources give the same code as the measured ones.
struct shipped_identity {
    const char *arch;                // "sm_90a"
    const char *source, *job, *code; // hashes; `code`: of the compiler's output for the winner
};

struct shipped_winner {
    const char *configuration, *device, *driver, *compiler, *date; // "2026-11-22"
    int64_t rounds;                                                // of the final that decided the winner
    const struct shipped_problem *problems;
    const struct shipped_identity *identity; // NULL: unknown
    size_t problem_count;
};

struct shipped_winners {
    const struct shipped_winner *winners;
    size_t winner_count;
};

// Returns 0, even if there is no file and so no winner; -1 with a message. Strings live in the arena.
int shipped_read(const struct job *, struct shipped_winners *, struct arena *, struct error *);
