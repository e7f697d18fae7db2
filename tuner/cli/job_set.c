// See job_set.h.
#include "tuner/cli/job_set.h"

#include <errno.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/base/input_file.h"
#include "tuner/base/output_file.h"

bool job_set_is_folder(const char *path)
{
    struct stat about;
    return !output_is_stdout(path) && !stat(path, &about) && S_ISDIR(about.st_mode);
}

// Adds the files that an argument names: those of a folder, one file, or those that match a pattern.
static int find_files(struct job_set *s, const char *named)
{
    static const char *const kinds[] = {"cfg", "db"};
    glob_t found;
    autofree char *path = session_job_path(named);
    bool folder = job_set_is_folder(path);
    int failed = 1;
    for (size_t i = 0; i < (folder && s->stores ? 2 : 1) && failed; i++) {
        autofree char *files = text_format("/*.%s", kinds[i]), *pattern = folder ? text_pattern(path, files)
                                                                          : !access(path, F_OK) ? text_pattern(path, "")
                                                                                                : text_copy(path);
        failed = glob(pattern, folder ? 0 : GLOB_NOCHECK, NULL, &found);
    }
    if (failed && s->stores)
        return complain(EXIT_NOTHING, "there are no job files (*.cfg) and no stores (*.db) in '%s'", named);
    if (failed) return complain(EXIT_USAGE, "there are no job files (*.cfg) in '%s'", named);
    s->many |= folder || found.gl_pathc > 1;
    s->paths = memory_grow(s->paths, s->count + found.gl_pathc, sizeof *s->paths);
    for (size_t i = 0; i < found.gl_pathc; i++) s->paths[s->count++] = text_copy(found.gl_pathv[i]);
    globfree(&found);
    return 0;
}

int job_set_open(struct job_set *s)
{
    int status = 0;
    s->failed = json_array();
    s->many = s->named.count > 1;
    for (size_t i = 0; i < s->named.count && !status; i++) status = find_files(s, s->named.items[i]);
    if (status || !s->store || !s->many) return status;
    return complain(EXIT_USAGE,
                    "--store works with one job only; each of several jobs has its own store, out/<job name>.db");
}

void job_set_close(struct job_set *s)
{
    for (size_t i = 0; i < s->count; i++) free(s->paths[i]);
    free(s->paths);
    json_decref(s->failed);
    *s = (struct job_set){0};
}

// `seen`: the paths of the jobs visited so far, by job name.
static int read_job(json_t *seen, const char *path, struct job **job)
{
    int status = session_load_job(path, job);
    if (status) return status;
    const char *other = json_get_string(seen, (*job)->name, NULL);
    if (!other) {
        json_object_set_new(seen, (*job)->name, json_text(path, strlen(path)));
        return 0;
    }
    if (input_file_is_same(path, other))
        fprintf(stderr, "%s: the job file is given twice: leave one out\n", path);
    else
        fprintf(stderr, "%s: the job has the same name as %s, '%s', and would share its store: rename one\n", path,
                other, (*job)->name);
    job_free(*job);
    return EXIT_USAGE;
}

int job_set_each_job(struct job_set *s, job_set_visit_job *visit, void *user)
{
    int worst = 0;
    autojson json_t *seen = json_object();
    for (size_t i = 0; i < s->count; i++) {
        const char *path = s->paths[i];
        struct job *job;
        int status = read_job(seen, path, &job);
        if (!status) status = visit(user, path, job);
        if (status)
            json_array_append_new(
                s->failed, json_pack("{s:o, s:i}", "path", json_text(path, strlen(path)), "exit_status", status));
        if (status > worst) worst = status;
    }
    return worst;
}

struct visitor {
    const struct job_set *job_set;
    enum job_set_devices devices;
    job_set_visit *visit;
    void *user;
};

int job_set_visit_results(const struct job_set *s, enum job_set_devices devices, job_set_visit *visit, void *user,
                          const char *path, struct job *job)
{
    autorelease(session_close) struct session session;
    size_t first = 0;
    int status = session_open_job(&session, job, path, s->store);
    if (!status && s->device) status = session_find_device(&session, s->device, &first);
    if (status) return status;
    size_t end = s->device || devices == NEWEST_DEVICE ? first + 1 : session.device_count;
    for (size_t i = first; i < end; i++) {
        int failed = session_use_device(&session, i);
        if (!failed) failed = visit(user, &session);
        if (failed > status) status = failed;
    }
    return status;
}

static int visit_results(void *user, const char *path, struct job *job)
{
    const struct visitor *v = user;
    return job_set_visit_results(v->job_set, v->devices, v->visit, v->user, path, job);
}

int job_set_each(struct job_set *s, enum job_set_devices devices, job_set_visit *visit, void *user)
{
    struct visitor v = {s, devices, visit, user};
    return job_set_each_job(s, visit_results, &v);
}

int job_set_check_folder(const struct job_set *s, const char *option, const char *given, bool make)
{
    if (!given || !s->many) return 0;
    if (make && !strchr(text_file_name(given), '.') && !output_is_stdout(given) && mkdir(given, 0777) &&
        errno != EEXIST)
        return complain(EXIT_ENVIRONMENT, "cannot make folder '%s': %s", given, strerror(errno));
    if (job_set_is_folder(given)) return 0;
    return complain(EXIT_USAGE, "for several jobs, %s must name a folder, and '%s' is not a folder", option, given);
}

char *job_set_file(const char *given, const char *name)
{
    bool slash = !*text_file_name(given);
    return slash || job_set_is_folder(given) ? text_format("%s%s%s", given, slash ? "" : "/", name) : text_copy(given);
}

void job_set_print(const struct job_set *s, const char *format, int version, const json_t *documents)
{
    autojson json_t *jobs = json_array();
    json_t *last = NULL;
    json_array_each(documents, i, document) {
        if (last && !strcmp(json_get_string(last, "job", ""), json_get_string(document, "job", ""))) {
            if (!json_object_get(last, "other_devices")) json_object_set_new(last, "other_devices", json_array());
            json_array_append(json_object_get(last, "other_devices"), document);
            continue;
        }
        last = json_copy(document);
        json_array_append_new(jobs, last);
    }
    json_t *all =
        s->many ? json_pack("{s:O, s:O}", "jobs", jobs, "failed", s->failed) : json_incref(json_array_get(jobs, 0));
    if (all) json_print_document(format, version, all, stdout);
}
