// How the rounds of a final are taken: in processes of the GPU worker, and in parts, after each of which the rounds are
// looked at (final_decide.h). Pure.
//
// The first two processes take a part each. If they agree, the rounds go on in the second process until the order is
// decided, in parts that double; if not, all processes take a part, and no more rounds could decide it. If something
// else seems to use the device, the next process takes a part too. The planned processes share the planned rounds. If
// the order of candidates is then still open, up to sixteen times as many rounds follow.
//
// A final with several winners (objective "each") has all of its rounds, in all processes.
#pragma once

#include "tuner/final/final_decide.h"

enum { FINAL_ROUNDS_FACTOR = 16 };

struct final_rounds {
    int64_t planned, processes;
    bool each;                    // no looks
    int64_t process, part, taken; // of the next part: its process, its number there; rounds before it
    int look;                     // how often the rounds were looked at
    bool differ;                  // between processes
};

enum final_next { FINAL_STOP, FINAL_NEXT_PART, FINAL_NEXT_PROCESS };

struct final_rounds final_rounds_begin(int64_t planned, int64_t processes, bool each);
int64_t final_rounds_wanted(const struct final_rounds *); // of the next part
// So many rounds were taken; `contenders` have them all. Marks those who are `slower`. What comes next.
enum final_next final_rounds_take(struct final_rounds *, size_t taken, struct contender *contenders, size_t count);
