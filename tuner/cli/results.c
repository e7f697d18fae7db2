// See results.h.
#include "tuner/cli/results.h"

#include <unistd.h>

#include "tuner/base/base.h"

static bool exists(const char *folder, const char *name)
{
    char *path = text_format("%s/%s", folder, name);
    bool found = !access(path, F_OK);
    free(path);
    return found;
}

// `out` of the nearest folder at or above `from` whose `out` has that file ("." itself); or NULL.
static char *find_above(const char *from, const char *name)
{
    char *at = text_copy(from), *found = NULL;
    for (bool top = false; !found && !top;) {
        char *folder = text_join_path(at, "out"), *above = text_directory(at);
        if (exists(folder, name))
            found = folder;
        else
            free(folder);
        top = !strcmp(above, at);
        free(at);
        at = above;
    }
    free(at);
    return found;
}

char *results_folder(const struct job *job)
{
    char *store = text_format("%s.db", job->name), *folder = NULL,
         *home = exists("out", store) ? NULL : realpath(job->directory, NULL);
    if (home) folder = find_above(home, store);
    free(home);
    free(store);
    return folder ? folder : text_copy("out");
}

char *results_cache(const struct job *job, const char *given)
{
    if (given) return text_copy(given);
    char *folder = results_folder(job), *cache = text_format("%s/cache", folder);
    free(folder);
    return cache;
}
