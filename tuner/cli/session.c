// See session.h.
#include "tuner/cli/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/installation.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/results.h"

static void print_mistakes(const char *path, const struct mistakes *m, const char *kind)
{
    for (size_t i = 0; i < m->count; i++) {
        const char *file = m->list[i].file ? m->list[i].file : path;
        if (m->list[i].line > 0)
            fprintf(stderr, "%s:%d: %s%s\n", file, m->list[i].line, kind, m->list[i].text);
        else
            fprintf(stderr, "%s: %s%s\n", file, kind, m->list[i].text);
    }
}

int session_complain(int status, const struct error *err)
{
    fprintf(stderr, "sweetspot: %s\n", err->message);
    return status;
}

char *session_job_path(const char *path)
{
    bool ours = access(path, F_OK) && !strncmp(path, "configs/", 8);
    char *installed = ours ? installation_data(path) : NULL;
    return installed ? installed : text_copy(path);
}

static int load_job(const char *path, struct job **out)
{
    struct mistakes mistakes = {0};
    if (!job_load(path, out, &mistakes)) {
        print_mistakes(path, &(*out)->notes, "note: ");
        return 0;
    }
    print_mistakes(path, &mistakes, "");
    mistakes_release(&mistakes);
    *out = NULL;
    return EXIT_USAGE;
}

int session_load_job(const char *path, struct job **out)
{
    char *found = session_job_path(path);
    int status = load_job(found, out);
    free(found);
    return status;
}

char *session_store_path(const struct job *job, const char *given)
{
    if (given) return text_copy(given);
    char *folder = results_folder(job), *path = text_format("%s/%s.db", folder, job->name);
    free(folder);
    return path;
}

int session_open(struct session *session, const char *job_path, const char *store_path)
{
    struct error err = {""};
    *session = (struct session){0};
    int status = session_load_job(job_path, &session->job);
    if (status) return status;
    session->store_path = session_store_path(session->job, store_path);
    if (access(session->store_path, F_OK)) {
        fprintf(stderr,
                "sweetspot: nothing is known of %s yet: there is no store '%s'; begin with: sweetspot tune %s\n",
                session->job->name, session->store_path, job_path);
        return EXIT_NOTHING;
    }
    int known = store_open(&session->store, session->store_path, false, &err)
                    ? -1
                    : store_last_environment(session->store, &session->environment, &err);
    if (known < 0) return session_complain(EXIT_ENVIRONMENT, &err);
    if (known > 0) {
        fprintf(stderr, "sweetspot: the store '%s' has no run yet; begin with: sweetspot tune %s\n",
                session->store_path, job_path);
        return EXIT_NOTHING;
    }
    if (strcmp(session->environment.job, session->job->name) != 0) {
        fprintf(stderr, "sweetspot: the store '%s' is that of the job '%s', not of '%s'\n", session->store_path,
                session->environment.job, session->job->name);
        return EXIT_USAGE;
    }
    session->device = session_document(session, "device", NULL);
    if (json_get_bool(session->device, "replayed", false)) {
        session->replayed = true;
        session->recording = json_object_get(session->device, "recording");
        session->environment.source_hash = json_get_string(session->recording, "source_hash", "");
    }
    return 0;
}

void session_close(struct session *session)
{
    json_decref(session->device);
    store_close(session->store);
    free(session->store_path);
    job_free(session->job);
    *session = (struct session){0};
}

json_t *session_trial_document(const struct session *session, int64_t trial, const char *kind)
{
    const char *text;
    double when;
    struct error err;
    return trial && !store_get_trial_document(session->store, trial, kind, &text, &when, &err) ? json_parse(text, &err)
                                                                                               : NULL;
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
    const json_t *device = json_object_get(document, "device");
    const struct {
        const char *key;
        int64_t *value;
    } keys[] = {
        {"sm_count", &limits.sm_count},           {"max_shared", &limits.max_shared},
        {"shared_per_sm", &limits.shared_per_sm}, {"registers_per_sm", &limits.registers_per_sm},
        {"max_threads", &limits.max_threads},     {"threads_per_sm", &limits.threads_per_sm},
        {"blocks_per_sm", &limits.blocks_per_sm}, {"warp_size", &limits.warp_size},
        {"l2_bytes", &limits.l2_bytes},           {"memory_bytes", &limits.memory_bytes},
        {"max_cluster", &limits.max_cluster},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        *keys[i].value = json_get_integer(device, keys[i].key, *keys[i].value);
    sscanf(arch, "sm_%" SCNd64, &limits.compute);
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
    const char *text;
    json_t *document = NULL;
    int found = store_get_document(session->store, kind, &text, when, &err);
    if (!found) document = json_parse(text, &err);
    if (found < 0 || (!found && !document))
        fprintf(stderr, "sweetspot: cannot read the %s document of '%s': %s\n", kind, session->store_path, err.message);
    return document;
}
