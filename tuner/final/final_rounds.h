// How the rounds of a final are taken: in several processes of the GPU worker, each of which takes one or more parts.
// After each part the rounds are looked at (final_decide.h). Pure.
//
// The first two processes take one part each. If they agree, the rounds continue in the second process, in parts of
// doubling size, until the order is decided. If they disagree, all processes take a part, since more rounds could not
// decide the order. If something else seems to use the device, the next process also takes a part. The planned
// processes share the planned rounds. If the order of candidates is then still undecided, up to sixteen times as many
// rounds follow.
//
// A final with several winners (objective "each") takes all of its rounds, in all processes.
#pragma once

#include "tuner/final/final_decide.h"

enum { FINAL_ROUNDS_FACTOR = 16 };

struct final_rounds {
    int64_t planned, processes;
    bool each;                    // no looks
    int64_t process, part, taken; // the next part: its process, its number in the process; the rounds before it
    int look;                     // number of looks at the rounds so far
    bool differ;                  // processes disagree
};

enum final_next { FINAL_STOP, FINAL_NEXT_PART, FINAL_NEXT_PROCESS };

struct final_rounds final_rounds_begin(int64_t planned, int64_t processes, bool each);
int64_t final_rounds_wanted(const struct final_rounds *); // in the next part
// Records that `taken` rounds exist by now; `contenders` have all of them. Marks contenders that are `slower`. Returns
// the next step.
enum final_next final_rounds_take(struct final_rounds *, size_t taken, struct contender *contenders, size_t count);
