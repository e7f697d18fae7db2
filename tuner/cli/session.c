// See session.h.
#include "tuner/cli/session.h"

#include <errno.h>
#include <glob.h>
#include <unistd.h>

#include "tuner/base/colour.h"
#include "tuner/base/input_file.h"
#include "tuner/base/installation.h"
#include "tuner/cli/options.h"

static json_t *collected; // NULL: mistakes are only printed

void session_collect_mistakes(json_t *list)
{
    collected = list;
}

void session_print_mistakes(const char *path, const struct mistakes *m, const char *kind)
{
    const char *begin = colour_begin(stderr, *kind ? COLOUR_DOUBT : COLOUR_BAD), *end = colour_end(stderr);
    for (size_t i = 0; i < m->count; i++) {
        const char *file = m->list[i].file ? m->list[i].file : path;
        if (collected)
            json_array_append_new(collected, json_pack("{s:o, s:i, s:b, s:o}", "file", json_text(file, strlen(file)),
                                                       "line", m->list[i].line, "warning", *kind != 0, "text",
                                                       json_text(m->list[i].text, strlen(m->list[i].text))));
        if (m->list[i].line > 0)
            fprintf(stderr, "%s:%d: %s%s%s%s\n", file, m->list[i].line, begin, kind, m->list[i].text, end);
        else
            fprintf(stderr, "%s: %s%s%s%s\n", file, begin, kind, m->list[i].text, end);
    }
}

int session_complain(int status, const struct error *err)
{
    return complain(status, "%s", err->message);
}

char *session_job_path(const char *path)
{
    bool ours = access(path, F_OK) && !strncmp(path, "configs/", 8);
    char *installed = ours ? installation_data(path) : NULL;
    return installed ? installed : text_copy(path);
}

static char *job_name_of(const char *path)
{
    const char *file = text_file_name(path);
    size_t name = text_before(file, ".cfg");
    return text_format("%.*s", (int)(name ? name : strlen(file)), file);
}

// Adds the job files in `folder`, whose full path is `root` followed by `folder`. On a command line, `root` is left
// out.
static void collect(glob_t *found, const char *root, const char *folder)
{
    autofree char *pattern =
        text_format("%s%s%s*.cfg", root, strcmp(folder, ".") ? folder : "", strcmp(folder, ".") ? "/" : "");
    glob(pattern, found->gl_pathc ? GLOB_APPEND : 0, NULL, found);
}

// If a path does not exist, suggests existing job files on stderr: those with the same name, with or without the folder
// and .cfg, otherwise the one with the most similar name. The path's own folder, the current folder, configs and the
// installed configs are searched.
static void suggest_jobs(const char *path)
{
    enum { SHOWN = 4 };
    glob_t found = {0};
    autofree char *wanted = job_name_of(path), *own = text_directory(path), *ours = text_format("configs/%s", own),
                  *installed = installation_data("configs");
    // On a command line, installed jobs are named without the root, like jobs in the current folder.
    size_t root = installed ? strlen(installed) - strlen("configs") : 0, shown = 0;
    if (installed) installed[root] = 0;
    const char *const folders[] = {own, ".", "configs", own[0] == '/' || own[0] == '.' ? "configs" : ours};
    for (size_t i = 0; i < 4; i++) collect(&found, "", folders[i]);
    for (size_t i = 2; i < 4 && root; i++) collect(&found, installed, folders[i]);
    autofree char **names = memory_new(found.gl_pathc + 1, sizeof *names);
    for (size_t i = 0; i < found.gl_pathc; i++) names[i] = job_name_of(found.gl_pathv[i]);
    const char *nearest = *wanted ? text_nearest(wanted, (const char *const *)names) : NULL;
    autojson json_t *said = json_object(); // a set of paths
    for (size_t i = 0; i < found.gl_pathc && nearest && shown < SHOWN; i++) {
        const char *job = found.gl_pathv[i] + (root && !strncmp(found.gl_pathv[i], installed, root) ? root : 0);
        if (strcmp(names[i], nearest) != 0 || json_object_get(said, job)) continue;
        autofree char *command = text_command((const char *[]){job, NULL});
        fprintf(stderr, "%s%s", shown++ ? " or " : "sweetspot: did you mean ", command);
        json_object_set_new(said, job, json_true());
    }
    if (shown) fprintf(stderr, "?\n");
    for (size_t i = 0; i < found.gl_pathc; i++) free(names[i]);
    globfree(&found);
}

int session_load_job(const char *path, struct job **out)
{
    autorelease(mistakes_release) struct mistakes mistakes = {0};
    autofree char *found = session_job_path(path);
    int status = job_load(found, out, &mistakes) ? EXIT_USAGE : 0;
    if (status) {
        session_print_mistakes(found, &mistakes, "");
        if (access(found, F_OK)) suggest_jobs(found);
        *out = NULL;
    } else if ((*out)->file.old.count) {
        session_print_mistakes(found, &(*out)->file.old, "note: ");
        fprintf(stderr, "sweetspot: `sweetspot check --rewrite %s` prints the job in the current form\n", found);
    }
    return status;
}

static bool exists(const char *folder, const char *name)
{
    autofree char *path = text_format("%s/%s", folder, name);
    return !access(path, F_OK);
}

// The nearest folder at or above `from` with an `out` or a `.git`, or `from` itself. malloc'ed.
static char *project_of(const char *from)
{
    char *at = text_copy(from);
    bool found;
    while (!(found = exists(at, "out") || exists(at, ".git")) && strcmp(at, "/") != 0) {
        char *above = text_directory(at);
        free(at);
        at = above;
    }
    if (found) return at;
    free(at);
    return text_copy(from);
}

// Makes a path relative if it is below the current folder. Takes the path.
static char *shortened(char *path)
{
    autofree char *here = getcwd(NULL, 0);
    char *below = here && input_file_is_below(here, path) ? text_copy(path + strlen(here) + 1) : NULL;
    if (!below) return path;
    free(path);
    return below;
}

// Whether the folder is under PREFIX and not in a source tree.
static bool is_installed(const char *folder)
{
    autofree char *data = installation_data("."), *real = data ? realpath(data, NULL) : NULL;
    return real && text_before(real, "/share/sweetspot") && input_file_is_below(real, folder);
}

char *results_folder(const struct job *job)
{
    autofree char *store = text_format("%s.db", job->name), *home = realpath(job->file.directory, NULL),
                  *project = home && !is_installed(home) ? project_of(home) : NULL;
    autofree char *folder = project ? shortened(text_join_path(project, "out")) : text_copy("out");
    static bool told;
    const bool here = strcmp(folder, "out") != 0 && exists("out", store), both = here && exists(folder, store);
    if (both && !told)
        fprintf(stderr, "sweetspot: using %s/%s, not out/%s, which has results too: choose with --store\n", folder,
                store, store);
    told |= both;
    return text_copy(here && !both ? "out" : folder); // "out": a run was started here
}

char *results_cache(const struct job *job, const char *given)
{
    if (given) return text_copy(given);
    autofree char *folder = results_folder(job);
    return text_format("%s/cache", folder);
}

char *session_store_path(const struct job *job, const char *given)
{
    if (given) return text_copy(given);
    autofree char *folder = results_folder(job);
    return text_format("%s/%s.db", folder, job->name);
}

// Gathers each device's newest environment, which is visited first. Environments of other jobs are left out, unless the
// newest environment belongs to another job. In that case, the store is not for this job.
static int add_device(void *user, const struct environment *e)
{
    struct session *s = user;
    if (s->device_count && strcmp(e->job, s->job->name) != 0) return 0;
    for (size_t i = 0; i < s->device_count; i++)
        if (!strcmp(s->devices[i].device, e->device)) return 0;
    memory_add(s->devices, s->device_count) = environment_copy(&s->memory, e);
    return 0;
}

int session_open_job(struct session *session, struct job *job, const char *job_path, const char *store_path)
{
    struct error err = {""};
    *session = (struct session){
        .job_path = job_path, .store_given = store_path, .job = job, .store_path = session_store_path(job, store_path)};
    if (access(session->store_path, F_OK) && errno == ENOENT)
        return session_advise(session, "begin with", "%s has no results yet: there is no store '%s'", job->name,
                              session->store_path);
    if (store_open(&session->store, session->store_path, false, &err) ||
        store_each_environment(session->store, add_device, session, &err))
        return session_complain(EXIT_ENVIRONMENT, &err);
    if (!session->device_count)
        return session_advise(session, "begin with", "the store '%s' has no run yet", session->store_path);
    if (strcmp(session->devices[0].job, session->job->name) != 0)
        return complain(EXIT_USAGE, "the store '%s' belongs to the job '%s', not to '%s': give another --store",
                        session->store_path, session->devices[0].job, session->job->name);
    return session_use_device(session, 0);
}

int session_open(struct session *session, const char *job_path, const char *store_path)
{
    struct job *job;
    *session = (struct session){0};
    int status = session_load_job(job_path, &job);
    return status ? status : session_open_job(session, job, job_path, store_path);
}

int session_use_device(struct session *session, size_t index)
{
    struct error err = {""};
    json_decref(session->device);
    session->device = NULL;
    session->replayed = false;
    session->recording = NULL;
    session->environment = session->devices[index];
    if (store_read_environment(session->store, session->environment.key, &err) < 0)
        return session_complain(EXIT_ENVIRONMENT, &err);
    session->device = session_document(session, "device", NULL);
    if (json_get_bool(session->device, "replayed", false)) {
        session->replayed = true;
        session->recording = json_object_get(session->device, "recording");
        session->environment.source_hash = json_get_string(session->recording, "source_hash", "");
    }
    return 0;
}

int session_find_device(const struct session *session, const char *name, size_t *index)
{
    size_t parts = 0;
    for (size_t i = 0; i < session->device_count; i++) {
        const char *device = session->devices[i].device;
        if (!strcasecmp(device, name)) {
            *index = i;
            return 0;
        }
        if (!strcasestr(device, name)) continue;
        *index = i;
        parts++;
    }
    if (parts == 1) return 0;
    fprintf(stderr, "sweetspot: %s: %s device of '%s' has '%s' in its name; it has results of:", session->job->name,
            parts ? "more than one" : "no", session->store_path, name);
    for (size_t i = 0; i < session->device_count; i++)
        fprintf(stderr, "%s %s", i ? "," : "", session->devices[i].device);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

void session_close(struct session *session)
{
    json_decref(session->device);
    store_close(session->store);
    arena_release(&session->memory);
    free(session->devices);
    free(session->store_path);
    job_free(session->job);
    *session = (struct session){0};
}

struct ranking {
    int64_t except, found;
};

static int take(void *user, const struct trial *trial)
{
    struct ranking *r = user;
    if (trial->id == r->except) return 0;
    r->found = trial->id;
    return 1;
}

int session_best(struct session *session, int64_t except, int64_t *id)
{
    struct error err = {""};
    struct ranking r = {.except = except};
    int failed = store_each(session->store, true, 2, 0, take, &r, &err) < 0;
    *id = r.found;
    return failed ? session_complain(EXIT_ENVIRONMENT, &err) : 0;
}

int session_winner(struct session *session, struct final *final, bool *decided, int64_t *winner)
{
    struct error err = {""};
    autojson json_t *document = session_document(session, "final", NULL);
    *decided = document && !final_read(final, document, session->job->tuned_count, &err);
    if (document && !*decided) {
        fprintf(stderr, "sweetspot: %s: %s; using the best of the search instead\n", session->job->name, err.message);
        final_release(final);
    }
    if (!*decided) return session_best(session, 0, winner);
    *winner = final->winner;
    return 0;
}

char *session_command(const struct session *session, const char *command)
{
    const json_t *given = strcmp(command, "tune") ? NULL : json_object_get(session->device, "given");
    const char *device = json_get_string(given, "device", "0"), *cache = json_get_string(given, "cache", NULL);
    const char *const parts[][2] = {{"sweetspot", command},
                                    {session->job_path, ""},
                                    {"--store", session->store_given},
                                    {"--device", strcmp(device, "0") ? device : NULL},
                                    {"--cache", cache}};
    autofree const char **words = NULL;
    size_t count = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t k = 0; k < 2 && parts[i][1]; k++)
            if (*parts[i][k]) memory_add(words, count) = parts[i][k];
    json_array_each(json_object_get(given, "pool"), i, pool) {
        memory_add(words, count) = "--pool";
        memory_add(words, count) = json_string_value(pool);
    }
    memory_add(words, count) = NULL;
    return text_command(words);
}

int session_gpu(const struct session *session)
{
    const json_t *given = json_object_get(session->device, "given");
    return session->replayed || json_object_get(given, "pool")
               ? -1
               : (int)strtol(json_get_string(given, "device", "0"), NULL, 10);
}

int session_advise(const struct session *session, const char *how, const char *format, ...)
{
    TEXT_FROM(format, what);
    autofree char *tune = session_command(session, "tune");
    fprintf(stderr, "sweetspot: %s; %s: %s\n", what, how, tune);
    return EXIT_NOTHING;
}

char *session_device(const struct session *session)
{
    const struct environment *e = &session->environment;
    return text_format("%s (%s%s%s%s)", e->device, *e->driver ? "driver " : "", e->driver, *e->driver ? ", " : "",
                       e->compiler);
}

struct device_limits session_limits(const json_t *document, const char *arch)
{
    struct device_limits limits = device_limits_h200;
    device_limits_read(json_object_get(document, "device"), &limits, NULL);
    int compute = text_architecture(arch);
    if (compute) limits.compute = compute;
    return limits;
}

int session_build_space(struct session *session)
{
    struct error err = {""};
    struct device_limits limits = session_limits(session->device, session->environment.arch);
    if (!job_build_space(session->job, &limits, &err)) return 0;
    fprintf(stderr, "%s\n", err.message);
    return EXIT_USAGE;
}

json_t *session_document(struct session *session, const char *kind, double *when)
{
    struct error err = {""};
    json_t *document = store_get_document(session->store, 0, kind, when, &err);
    if (!document && *err.message)
        fprintf(stderr, "sweetspot: cannot read the %s document of '%s': %s\n", kind, session->store_path, err.message);
    return document;
}
