// See job_paths.h.
#include "tuner/cli/job_paths.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/session.h"

static void add(struct job_paths *paths, const glob_t *found)
{
    paths->items = memory_grow(paths->items, paths->count + found->gl_pathc, sizeof *paths->items);
    for (size_t i = 0; i < found->gl_pathc; i++) paths->items[paths->count++] = text_copy(found->gl_pathv[i]);
}

int job_paths_find(struct job_paths *paths, const struct option_list *named)
{
    *paths = (struct job_paths){.job_set = named->count > 1};
    for (size_t i = 0; i < named->count; i++) {
        struct stat about;
        glob_t found;
        char *path = session_job_path(named->items[i]);
        bool folder = !stat(path, &about) && S_ISDIR(about.st_mode);
        char *pattern = folder ? text_format("%s/*.cfg", path) : text_copy(path);
        int failed = glob(pattern, folder ? 0 : GLOB_NOCHECK, NULL, &found);
        free(pattern);
        free(path);
        if (failed) {
            fprintf(stderr, "sweetspot: there are no job files (*.cfg) in '%s'\n", named->items[i]);
            return EXIT_USAGE;
        }
        paths->job_set |= folder || found.gl_pathc > 1;
        add(paths, &found);
        globfree(&found);
    }
    return 0;
}

void job_paths_release(struct job_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++) free(paths->items[i]);
    free(paths->items);
    *paths = (struct job_paths){0};
}
