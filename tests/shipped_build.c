// For tests/measure/shipped.sh: compiles the first winner in tuned/NAME.json for each of the given jobs, and prints
// "name source job code" (tuner/setup/shipped_build.h). $CACHE is the folder of the compile cache.
#include <stdio.h>
#include <stdlib.h>

#include "tuner/setup/shipped_build.h"

static int print_build(const char *path, const char *arch)
{
    struct error err = {""};
    struct mistakes mistakes = {0};
    struct shipped_winners shipped;
    struct job *job = NULL;
    autorelease(arena_release) struct arena memory = {0};
    autorelease(shipped_build_release) struct shipped_build build = {0};
    int status = job_load(path, &job, &mistakes) ? error_set(&err, "it has mistakes") : 0;
    if (!status) status = shipped_read(job, &shipped, &memory, &err);
    if (!status && shipped.winner_count)
        status = shipped_build(&build, job, shipped.winners, arch, getenv("CACHE"), &err);
    if (status) fprintf(stderr, "%s: %s\n", path, err.message);
    if (!status && shipped.winner_count) printf("%s %s %s %s\n", job->name, build.source, build.job, build.code);
    mistakes_release(&mistakes);
    job_free(job);
    return status != 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 2; i < argc; i++) failed |= print_build(argv[i], argv[1]);
    return failed;
}
