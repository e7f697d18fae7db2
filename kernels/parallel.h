// Loops over all cores, for references on the CPU: plain threads that live as long as the loop.
#pragma once

#include <stdint.h>

// Does one piece, [begin, end), of a loop. Called from several threads at once.
typedef void parallel_body(void *user, int64_t begin, int64_t end);

// Splits [0, n) into pieces of `grain` (the last may be shorter) and has them done, in any order, by as many threads as
// there are cores (64 at most). A piece always has the same bounds, so that what is computed piece by piece does not
// depend on the number of cores. Returns when all is done.
void parallel_for(int64_t n, int64_t grain, parallel_body *body, void *user);

// A loop that takes longer than PARALLEL_QUIET says how far it is (share of its pieces handed out, 0..1) now and then,
// by a call in the thread that runs it. NULL, the default: no call.
enum { PARALLEL_QUIET = 3 /* s */ };
void parallel_watch(void (*tell)(void *user, double share), void *user);
// The same call for other work of a reference, whose progress is unknown (program_run.watch).
void parallel_tell(void *unused);
