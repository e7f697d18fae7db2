// Loops over all cores, for references on the CPU: plain threads that live as long as the loop.
#pragma once

#include <stdint.h>

// Does one piece, [begin, end), of a loop. Called from several threads at once.
typedef void parallel_body(void *user, int64_t begin, int64_t end);

// Splits [0, n) into pieces of `grain` (the last may be shorter). As many threads as there are cores (64 at most)
// process them in any order. A piece always has the same bounds, so results that are computed piece by piece do not
// depend on the number of cores. Returns when all pieces are done.
void parallel_for(int64_t n, int64_t grain, parallel_body *body, void *user);

// A loop that takes longer than PARALLEL_QUIET reports its progress from time to time (the share of its pieces handed
// out, 0..1), by calling this function in the thread that runs the loop. NULL, the default: no call.
enum { PARALLEL_QUIET = 3 /* s */ };
void parallel_watch(void (*tell)(void *user, double share), void *user);
// Makes the same call for other work of a reference, whose progress is unknown (program_run.watch).
void parallel_tell(void *unused);
