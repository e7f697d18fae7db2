// See candidate_spec.h.
#include "tuner/cli/candidate_spec.h"

#include <errno.h>
#include <unistd.h>

#include "tuner/cli/options.h"
#include "tuner/final/finals.h"
#include "tuner/setup/work_bounds.h"

static int trial_config(struct candidate_source *c, int64_t id, char **config)
{
    struct error err = {""};
    struct trial trial;
    int found = store_get(c->session.store, id, &trial, &err);
    if (found < 0) return session_complain(EXIT_ENVIRONMENT, &err);
    if (found)
        return complain(EXIT_USAGE, "%s has no trial %" PRId64 " (sweetspot status %s names the best)",
                        c->session.store_path, id, c->job_path);
    if (trial.status != STATUS_OK && trial.status != STATUS_SLOW && trial.status != STATUS_NONDETERMINISTIC)
        return complain(EXIT_NOTHING, "trial %" PRId64 " (%s) failed when it was tried: %s: %s; choose another trial",
                        id, trial.config, status_name(trial.status), trial.reason);
    *config = text_copy(trial.config);
    return 0;
}

static int find_best(struct candidate_source *c)
{
    autorelease(final_release) struct final final = {0};
    bool decided;
    int status = c->session.store ? session_winner(&c->session, &final, &decided, &c->best_trial) : 0;
    return status || !c->best_trial ? status : trial_config(c, c->best_trial, &c->best);
}

int candidate_spec_open(struct candidate_source *c, const char *job, const char *store)
{
    *c = (struct candidate_source){.job_path = job, .store_path = store};
    int status = session_load_job(c->job_path, &c->session.job);
    if (status) return status;
    autofree char *path = session_store_path(c->session.job, c->store_path);
    bool there = !access(path, F_OK);
    if (!there && !c->store_path) return 0;
    job_free(c->session.job);
    status = session_open(&c->session, c->job_path, c->store_path);
    return status ? status : find_best(c);
}

static int nothing_known(const struct candidate_source *c, const char *what)
{
    return complain(EXIT_NOTHING,
                    "no trial of %s has been measured yet, so there is no %s; tune it, or name parameters: --trial "
                    "NAME=value,...",
                    c->session.job->name, what);
}

// Sets the value of one "NAME=value". -1 with a message.
static int set_parameter(const struct job *job, uint16_t *config, const char *item, size_t length, struct error *err)
{
    size_t name_length = strcspn(item, "=");
    const char *names[SPACE_MAX_PARAMETERS + 1] = {NULL};
    if (name_length >= length) return error_set(err, "'%.*s' is not of the form NAME=value", (int)length, item);
    autofree char *name = text_format("%.*s", (int)name_length, item),
                  *value = text_format("%.*s", (int)(length - name_length - 1), item + name_length + 1);
    autorelease(text_release) struct text known = {0};
    for (size_t i = 0; i < space_parameter_count(job->space); i++) {
        const struct parameter *p = space_parameter(job->space, i);
        names[i] = p->name;
        if (strcmp(p->name, name)) continue;
        for (size_t k = 0; k < p->count; k++) {
            const char *text = space_value_text(job->space, i, k, (char[32]){0});
            if (!strcmp(text, value)) {
                config[i] = (uint16_t)k;
                return 0;
            }
            if (known.length < sizeof err->message) text_add(&known, "%s%s", k ? ", " : "", text); // more would not fit
        }
        return error_set(err, "%s cannot be %s; its values are %s", name, value, known.text);
    }
    const char *nearest = text_nearest(name, names);
    return error_set(err, "the job has no parameter '%s'%s%s%s", name, nearest ? "; did you mean '" : "",
                     nearest ? nearest : "", nearest ? "'?" : "");
}

static int set_parameters(const struct job *job, uint16_t *config, const char *text, struct error *err)
{
    for (const char *next = *text ? text : NULL; (text = next);) {
        size_t length;
        next = text_next_item(text, &length);
        if (set_parameter(job, config, text, length, err)) return -1;
        const size_t name = strcspn(text, "=") + 1;
        for (const char *later = next; later; later = text_next_item(later, NULL))
            if (!strncmp(later, text, name)) return error_set(err, "%.*s is given twice", (int)name - 1, text);
    }
    return 0;
}

int candidate_spec_read(struct candidate_source *c, const char *text, struct candidate_spec *s)
{
    struct error err = {""};
    int64_t second = 0;
    char *end;
    errno = 0;
    long long id = strtoll(text, &end, 10);
    if (errno) end = (char *)text; // not a trial's number
    if (!strcmp(text, "best")) {
        if (!c->best) return nothing_known(c, "best");
        snprintf(s->name, sizeof s->name, "trial %" PRId64, c->best_trial);
        s->config = text_copy("");
        return 0;
    }
    if (!strcmp(text, "runner-up") || (end != text && !*end)) {
        if (!c->best) return nothing_known(c, "such trial");
        int status = *end ? session_best(&c->session, c->best_trial, &second) : 0;
        if (status) return status;
        if (*end && !second) return nothing_known(c, "runner-up");
        id = *end ? second : id;
        snprintf(s->name, sizeof s->name, "trial %lld", id);
        return trial_config(c, id, &s->config);
    }
    snprintf(s->name, sizeof s->name, "%.*s", (int)sizeof s->name - 1, strchr(text, '=') ? "candidate" : text);
    if (!strchr(text, '=')) {
        s->baseline = text;
        return 0;
    }
    uint16_t unused[SPACE_MAX_PARAMETERS]; // mistakes are reported before a worker is started
    s->config = text_copy(text);
    return set_parameters(c->session.job, unused, text, &err) ? session_complain(EXIT_USAGE, &err) : 0;
}

int candidate_spec_config(const struct candidate_source *c, const struct candidate_spec *s, uint16_t *config,
                          struct error *err)
{
    const struct job *job = c->session.job;
    if (!c->best || space_parse(job->space, c->best, config, NULL)) space_get(job->space, 0, config);
    if (set_parameters(job, config, s->config, err)) return -1;
    if (space_is_valid(job->space, config)) return 0;
    autofree char *text = space_text(job->space, config);
    return error_set(err, "the job's constraints exclude %s (sweetspot list space shows them)", text);
}

void candidate_spec_say(const char *text)
{
    fprintf(stderr, "sweetspot: %s\n", text);
}

json_t *candidate_spec_ceilings(struct candidate_source *c, struct single_run *single)
{
    struct session *s = &c->session;
    struct error err = {""};
    // A store may have been filled on another device.
    bool same = s->store && !strcmp(s->environment.device, single->pool.first.device_name);
    autojson json_t *known = same ? session_document(s, "ceilings", NULL) : NULL;
    autojson json_t *request = job_ceilings_request(s->job, known);
    if (!request) return json_incref(known);
    autojson json_t *answer = single_run_ask(single, json_incref(request), SINGLE_RUN_PATIENCE, NULL, &err);
    bool good = answer_status(answer) == STATUS_OK;
    if (!good)
        fprintf(stderr, "sweetspot: cannot measure the ceilings: %s\n",
                answer ? answer_reason(answer, "?") : err.message);
    json_t *document = good ? job_ceilings_merge(known, request, answer) : json_incref(known);
    if (good && same && store_put_document(s->store, 0, "ceilings", document, &err))
        fprintf(stderr, "sweetspot: cannot store the ceilings: %s\n", err.message);
    return document;
}

void candidate_spec_close(struct candidate_source *c)
{
    free(c->best);
    session_close(&c->session);
    *c = (struct candidate_source){0};
}
