// A layer for driver and workers in which the wall clock jumps back and forth by up to two years. The monotonic clock
// is not changed. $CLOCK_JUMPS: the seed.
#include "tests/torture/layer.h"

#include <sys/time.h>
#include <time.h>

// The present error of the wall clock. It changes on about one call in eight.
static time_t jump(void)
{
    static const time_t leaps[] = {-63072000, -86400, -3600, -60, -1, 0, 1, 60, 3600, 86400, 63072000};
    static unsigned long long state;
    static time_t wrong;
    if (!state) state = strtoull(getenv("CLOCK_JUMPS") ? getenv("CLOCK_JUMPS") : "1", NULL, 10) * 2 + 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    if (state >> 61 == 0) wrong = leaps[(state >> 32) % (sizeof leaps / sizeof *leaps)];
    return wrong;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int status = BEHIND(clock_gettime)(clock, now);
    if (!status && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += jump();
    return status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    int status = BEHIND(gettimeofday)(now, zone);
    if (!status) now->tv_sec += jump();
    return status;
}

time_t time(time_t *out)
{
    time_t now = BEHIND(time)(NULL) + jump();
    if (out) *out = now;
    return now;
}
