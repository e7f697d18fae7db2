// See memory_limit.h.
#include "tuner/compiler/memory_limit.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

// What the process had at the first call: a sanitizer's shadow is counted too.
static int64_t begun_with(void)
{
    static int64_t bytes = -1;
    FILE *file = bytes < 0 ? fopen("/proc/self/statm", "re") : NULL;
    char line[256] = "", *at = line;
    if (file && !fgets(line, sizeof line, file)) *line = 0;
    for (int i = 0; i < 5; i++) (void)strtoll(at, &at, 10);
    int64_t pages = strtoll(at, NULL, 10); // the sixth number: data and stack
    if (file) fclose(file);
    if (bytes < 0) bytes = pages * sysconf(_SC_PAGESIZE);
    return bytes;
}

int memory_limit_set(int64_t bytes, struct error *err)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_DATA, &limit)) return error_set(err, "cannot limit memory: %s", strerror(errno));
    rlim_t wanted = bytes > 0 ? (rlim_t)(bytes + begun_with()) : limit.rlim_max;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    if (setrlimit(RLIMIT_DATA, &limit)) return error_set(err, "cannot limit memory: %s", strerror(errno));
    return 0;
}
