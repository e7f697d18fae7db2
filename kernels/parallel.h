// Loops over all cores, for references on the CPU: plain threads that live as long as the loop.
#ifndef SWEETSPOT_PARALLEL_H
#define SWEETSPOT_PARALLEL_H

#include <stdint.h>

// Does one piece, [begin, end), of a loop. Called from several threads at once.
typedef void parallel_body(void *user, int64_t begin, int64_t end);

// Splits [0, n) into pieces of `grain` (the last may be shorter) and has them done, in any order, by as many threads as there are cores.
// A piece always has the same bounds, so that what is computed piece by piece does not depend on the number of cores. Returns when all is done.
void parallel_for(int64_t n, int64_t grain, parallel_body *body, void *user);

#endif
