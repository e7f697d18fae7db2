// See job_suggest.h.
#include "tuner/cli/job_suggest.h"

#include <glob.h>

#include "tuner/base/base.h"
#include "tuner/base/installation.h"

static const char ending[] = ".cfg";
enum { SHOWN = 4 };

// Names without folder and ending, and how a command line would name them. Ends with NULL.
struct job_names {
    size_t count;
    char **names, **paths;
};

static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name), tail = strlen(ending);
    bool job = length > tail && !strcmp(name + length - tail, ending);
    return text_format("%.*s", (int)(length - (job ? tail : 0)), name);
}

// The job files of `folder`, as `shown`/NAME.
static void collect(struct job_names *known, const char *folder, const char *shown)
{
    char *pattern = text_format("%s/*%s", folder, ending);
    glob_t found;
    size_t count = glob(pattern, 0, NULL, &found) ? 0 : found.gl_pathc;
    for (size_t i = 0; i < count; i++) {
        const char *name = strrchr(found.gl_pathv[i], '/') + 1;
        char *path = strcmp(shown, ".") ? text_format("%s/%s", shown, name) : text_copy(name);
        bool is_known = false;
        for (size_t k = 0; k < known->count; k++) is_known |= !strcmp(known->paths[k], path);
        if (is_known) {
            free(path);
            continue;
        }
        known->names = memory_grow(known->names, known->count + 2, sizeof *known->names);
        known->paths = memory_grow(known->paths, known->count + 2, sizeof *known->paths);
        known->names[known->count] = name_of(path);
        known->paths[known->count++] = path;
        known->names[known->count] = known->paths[known->count] = NULL;
    }
    if (count) globfree(&found);
    free(pattern);
}

// The job files of configs, both the current folder's and the installed one's, which share a path.
static void collect_ours(struct job_names *known, const char *below)
{
    if (below[0] == '/' || (below[0] == '.' && below[1])) return; // ".." leads elsewhere
    char *shown = strcmp(below, ".") ? text_format("configs/%s", below) : text_copy("configs"),
         *installed = installation_data(shown);
    collect(known, shown, shown);
    if (installed) collect(known, installed, shown);
    free(installed);
    free(shown);
}

static void release(struct job_names *known)
{
    for (size_t i = 0; i < known->count; i++) {
        free(known->names[i]);
        free(known->paths[i]);
    }
    free(known->names);
    free(known->paths);
}

void job_suggest(const char *path)
{
    struct job_names known = {0};
    char *wanted = name_of(path), *own = text_directory(path);
    collect(&known, own, own);
    collect(&known, ".", ".");
    collect_ours(&known, ".");
    collect_ours(&known, own); // suite/NAME
    const char *nearest = known.count && *wanted ? text_nearest(wanted, (const char *const *)known.names) : NULL;
    size_t shown = 0;
    for (size_t i = 0; i < known.count && nearest && shown < SHOWN; i++) {
        if (strcmp(known.names[i], nearest) != 0) continue;
        char *command = text_command((const char *[]){known.paths[i], NULL});
        fprintf(stderr, "%s%s", shown++ ? " or " : "sweetspot: did you mean ", command);
        free(command);
    }
    if (shown) fprintf(stderr, "?\n");
    release(&known);
    free(own);
    free(wanted);
}
