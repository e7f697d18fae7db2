// See job_suggest.h.
#include "tuner/cli/job_suggest.h"

#include <glob.h>

#include "tuner/base/base.h"
#include "tuner/base/installation.h"
#include "tuner/base/json.h"

static const char ending[] = ".cfg";
enum { SHOWN = 4 };

static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name), tail = strlen(ending);
    bool job = length > tail && !strcmp(name + length - tail, ending);
    return text_format("%.*s", (int)(length - (job ? tail : 0)), name);
}

// Adds the job files of a folder that begins with `root`, which a command line does not need.
static void collect(glob_t *found, const char *root, const char *folder)
{
    char *pattern =
        text_format("%s%s%s*%s", root, strcmp(folder, ".") ? folder : "", strcmp(folder, ".") ? "/" : "", ending);
    glob(pattern, found->gl_pathc ? GLOB_APPEND : 0, NULL, found);
    free(pattern);
}

void job_suggest(const char *path)
{
    glob_t found = {0};
    char *wanted = name_of(path), *own = text_directory(path), *ours = text_format("configs/%s", own),
         *installed = installation_data("configs");
    // A command line names the installed jobs like those of the current folder, without the root.
    size_t root = installed ? strlen(installed) - strlen("configs") : 0, shown = 0;
    if (installed) installed[root] = 0;
    const char *const folders[] = {own, ".", "configs", own[0] == '/' || own[0] == '.' ? "configs" : ours};
    for (size_t i = 0; i < 4; i++) collect(&found, "", folders[i]);
    for (size_t i = 2; i < 4 && root; i++) collect(&found, installed, folders[i]);
    char **names = memory_new(found.gl_pathc + 1, sizeof *names);
    for (size_t i = 0; i < found.gl_pathc; i++) names[i] = name_of(found.gl_pathv[i]);
    const char *nearest = *wanted ? text_nearest(wanted, (const char *const *)names) : NULL;
    json_t *said = json_object(); // a set of paths
    for (size_t i = 0; i < found.gl_pathc && nearest && shown < SHOWN; i++) {
        const char *job = found.gl_pathv[i] + (root && !strncmp(found.gl_pathv[i], installed, root) ? root : 0);
        if (strcmp(names[i], nearest) != 0 || json_object_get(said, job)) continue;
        char *command = text_command((const char *[]){job, NULL});
        fprintf(stderr, "%s%s", shown++ ? " or " : "sweetspot: did you mean ", command);
        json_object_set_new(said, job, json_true());
        free(command);
    }
    if (shown) fprintf(stderr, "?\n");
    json_decref(said);
    for (size_t i = 0; i < found.gl_pathc; i++) free(names[i]);
    free(names);
    globfree(&found);
    free(wanted);
    free(own);
    free(ours);
    free(installed);
}
