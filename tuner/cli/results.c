// See results.h.
#include "tuner/cli/results.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/installation.h"
#include "tuner/base/text.h"

static bool exists(const char *folder, const char *name, int mode)
{
    char *path = text_format("%s/%s", folder, name);
    bool found = !access(path, mode);
    free(path);
    return found;
}

// `out` of the nearest folder at or above `from` whose `out` has that file ("." itself); or NULL.
static char *find_above(const char *from, const char *name, int mode)
{
    char *at = text_copy(from), *found = NULL;
    for (bool top = false; !found && !top;) {
        char *folder = text_join_path(at, "out"), *above = text_directory(at);
        if (exists(folder, name, mode))
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

static bool lies_in(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    if (length == 1) return true; // the root
    return !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

// Where a first store goes: NULL for `out` of the current folder.
static char *new_folder(const char *home)
{
    char *here = realpath(".", NULL), *folder = NULL;
    if (here && !lies_in(home, here) && !installation_holds(home)) {
        folder = find_above(home, ".", W_OK);
        if (!folder && !access(home, W_OK)) folder = text_join_path(home, "out");
    }
    free(here);
    return folder;
}

char *results_folder(const struct job *job)
{
    char *store = text_format("%s.db", job->name), *folder = NULL,
         *home = exists("out", store, F_OK) ? NULL : realpath(job->directory, NULL);
    if (home) folder = find_above(home, store, F_OK);
    if (home && !folder) folder = new_folder(home);
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
