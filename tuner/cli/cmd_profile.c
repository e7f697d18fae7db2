// sweetspot profile: why one candidate is as fast as it is, or why it differs from another one.
//
// The candidate is compiled, verified, timed and counted anew: nothing is stored, and nothing of it comes from the store but which configuration it is.
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/cli/session.h"
#include "tuner/output/finals.h"
#include "tuner/output/findings.h"
#include "tuner/output/profile.h"
#include "tuner/run/explain.h"

enum { NAME_SIZE = 96 };

struct options {
    const char *job, *store, *trial, *against, *device, *cache;
    int64_t problem;
    int format;
};

// What is to be profiled: a baseline's name, or a configuration as the text of some parameters; the rest from `base`.
struct subject {
    char name[NAME_SIZE];
    const char *baseline; // or NULL
    char *config;         // "" for the base as it is
};

struct profiling {
    struct options o;
    struct session session; // .store NULL where there is none
    char *best;             // configuration of the winner, or NULL
    int64_t best_trial;
    struct subject subject, other;
    struct lab *lab;
};

static int complain(int status, const struct error *err)
{
    fprintf(stderr, "sweetspot: %s\n", err->message);
    return status;
}

static int open_session(struct profiling *p)
{
    int status = session_load_job(p->o.job, &p->session.job);
    if (status) return status;
    char *path = session_store_path(p->session.job, p->o.store);
    bool there = !access(path, F_OK);
    free(path);
    if (!there && !p->o.store) return 0;
    job_free(p->session.job);
    return session_open(&p->session, p->o.job, p->o.store);
}

struct ranking {
    int64_t skip, found;
};

static int take(void *user, const struct trial *trial)
{
    struct ranking *r = user;
    if (trial->id == r->skip) return 0;
    r->found = trial->id;
    return 1;
}

static int trial_config(struct profiling *p, int64_t id, char **config)
{
    struct error err = {""};
    struct trial trial;
    int found = store_get(p->session.store, id, &trial, &err);
    if (found < 0) return complain(EXIT_ENVIRONMENT, &err);
    if (found) {
        fprintf(stderr, "sweetspot: %s has no trial %" PRId64 " (sweetspot status %s lists them)\n", p->session.store_path, id, p->o.job);
        return EXIT_USAGE;
    }
    *config = text_copy(trial.config);
    return 0;
}

// The winner of the newest final, else the best of the search.
static int find_best(struct profiling *p)
{
    struct error err = {""};
    struct final final = {0};
    struct ranking r = {0};
    if (!p->session.store) return 0;
    json_t *document = session_document(&p->session, "final", NULL);
    if (document && !final_read(&final, document, p->session.job->tuned_count, &err)) r.found = final.winner;
    final_release(&final);
    json_decref(document);
    if (!r.found && store_each(p->session.store, true, 0, take, &r, &err) < 0) return complain(EXIT_ENVIRONMENT, &err);
    p->best_trial = r.found;
    return r.found ? trial_config(p, r.found, &p->best) : 0;
}

static int nothing_known(const struct profiling *p, const char *what)
{
    fprintf(stderr, "sweetspot: nothing has been measured of %s yet, so there is no %s; tune it, or name parameters: --trial NAME=value,...\n", p->session.job->name, what);
    return EXIT_NOTHING;
}

// Sets the value of one "NAME=value". -1 with a message.
static int set_parameter(const struct job *job, uint16_t *config, const char *item, size_t length, struct error *err)
{
    size_t name_length = strcspn(item, "=");
    const char *names[SPACE_MAX_PARAMETERS + 1] = {NULL};
    char name[128], value[128], known[256];
    if (name_length >= length) return error_set(err, "'%.*s' is no NAME=value", (int)length, item);
    snprintf(name, sizeof name, "%.*s", (int)name_length, item);
    snprintf(value, sizeof value, "%.*s", (int)(length - name_length - 1), item + name_length + 1);
    for (size_t i = 0; i < space_parameter_count(job->space); i++) {
        const struct parameter *p = space_parameter(job->space, i);
        names[i] = p->name;
        if (strcmp(p->name, name)) continue;
        *known = 0;
        for (size_t k = 0; k < p->count; k++) {
            char one[64];
            const char *text = p->kind == PARAMETER_INT || p->kind == PARAMETER_UNROLL ? NULL : symbols_text(job->symbols, p->values[k]);
            snprintf(one, sizeof one, "%" PRId64, p->values[k]);
            if (!strcmp(text ? text : one, value)) {
                config[i] = (uint16_t)k;
                return 0;
            }
            size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "", text ? text : one);
        }
        return error_set(err, "%s cannot be %s; its values are %s", name, value, known);
    }
    const char *nearest = text_nearest(name, names);
    return error_set(err, "the job has no parameter '%s'%s%s%s", name, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static int set_parameters(const struct job *job, uint16_t *config, const char *text, struct error *err)
{
    while (*text) {
        size_t length = strcspn(text, ",");
        if (set_parameter(job, config, text, length, err)) return -1;
        text += length + (text[length] == ',');
    }
    return 0;
}

static int read_subject(struct profiling *p, const char *text, struct subject *s)
{
    struct error err = {""};
    struct ranking r = {.skip = p->best_trial};
    char *end;
    long long id = strtoll(text, &end, 10);
    if (!strcmp(text, "best")) {
        if (!p->best) return nothing_known(p, "best");
        snprintf(s->name, sizeof s->name, "trial %" PRId64, p->best_trial);
        s->config = text_copy("");
        return 0;
    }
    if (!strcmp(text, "runner-up") || (end != text && !*end)) {
        if (!p->best) return nothing_known(p, "such trial");
        if (*end && store_each(p->session.store, true, 0, take, &r, &err) < 0) return complain(EXIT_ENVIRONMENT, &err);
        if (*end && !r.found) return nothing_known(p, "runner-up");
        id = *end ? r.found : id;
        snprintf(s->name, sizeof s->name, "trial %lld", id);
        return trial_config(p, id, &s->config);
    }
    snprintf(s->name, sizeof s->name, "%.*s", NAME_SIZE - 1, strchr(text, '=') ? "candidate" : text);
    if (!strchr(text, '=')) {
        s->baseline = text;
        return 0;
    }
    uint16_t unused[SPACE_MAX_PARAMETERS]; // mistakes are told before a worker is started
    s->config = text_copy(text);
    return set_parameters(p->session.job, unused, text, &err) ? complain(EXIT_USAGE, &err) : 0;
}

// The configuration of a subject: its parameters, and the best's (or the first valid one's) for those that it does not name.
static int make_config(const struct profiling *p, const struct subject *s, uint16_t *config, struct error *err)
{
    const struct job *job = p->session.job;
    if (!p->best || space_parse(job->space, p->best, config, NULL)) space_get(job->space, 0, config);
    if (set_parameters(job, config, s->config, err)) return -1;
    if (space_is_valid(job->space, config)) return 0;
    char text[2048];
    space_format(job->space, config, text, sizeof text);
    return error_set(err, "the job's constraints exclude %s", text);
}

static int make_profile(struct profiling *p, const struct subject *s, json_t *ceilings, json_t **out)
{
    struct error err = {""};
    uint16_t config[SPACE_MAX_PARAMETERS];
    size_t problem = (size_t)p->o.problem - 1;
    if (!s->baseline && make_config(p, s, config, &err)) return complain(EXIT_USAGE, &err);
    *out = s->baseline ? explain_baseline(p->lab, p->session.job, s->baseline, problem, &err) : explain_candidate(p->lab, p->session.job, config, problem, s->name, &err);
    if (!*out) return complain(EXIT_NOTHING, &err);
    json_object_set(*out, "ceilings", ceilings);
    if (json_object_get(*out, "time")) return 0;
    fprintf(stderr, "sweetspot: %s (%s) cannot be profiled: %s\n", s->name, json_get_string(*out, "config", ""), json_get_string(*out, "reason", "it failed"));
    return EXIT_NOTHING;
}

static void add_text(json_t *profile, const char *source)
{
    json_t *stages = json_object_get(profile, "stages"), *stage, *line;
    size_t i, k;
    json_array_foreach(stages, i, stage)
    {
        json_array_foreach(json_object_get(stage, "lines"), k, line)
        {
            char *text = profile_source(source, line);
            json_object_set_new(line, "text", json_string(text));
            free(text);
        }
    }
}

static int show(const struct profiling *p, json_t *profile, json_t *against)
{
    struct finding findings[FINDINGS_MAX];
    const struct job *job = p->session.job;
    size_t count = findings_make(profile, job, lab_limits(p->lab), findings);
    if (p->o.format == 0) {
        profile_print(stdout, profile, against, job->source);
        findings_print(stdout, findings, count);
    } else {
        add_text(profile, job->source);
        if (against) add_text(against, job->source);
        json_t *all = json_pack("{s:O, s:O?, s:o}", "profile", profile, "against", against, "findings", findings_json(findings, count, job));
        json_dumpf(all, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(all);
    }
    if (json_object_get(profile_main_stage(profile), "counters")) return EXIT_DONE;
    const json_t *notes = json_object_get(profile, "notes");
    fprintf(stderr, "sweetspot: no hardware counters: %s\n", json_array_size(notes) ? json_string_value(json_array_get(notes, 0)) : "unknown reason");
    return EXIT_ENVIRONMENT;
}

static int profile(struct profiling *p)
{
    struct error err = {""};
    json_t *ours = NULL, *theirs = NULL, *ceilings = NULL;
    const struct job *job = p->session.job;
    if (p->o.problem > (int64_t)job->tuned_count) {
        fprintf(stderr, "sweetspot: %s has %zu problems that are tuned\n", p->o.job, job->tuned_count);
        return EXIT_USAGE;
    }
    int status = find_best(p);
    if (!status) status = read_subject(p, p->o.trial ? p->o.trial : "best", &p->subject);
    if (!status && p->o.against) status = read_subject(p, p->o.against, &p->other);
    if (status) return status;
    char *cache = p->o.cache ? text_copy(p->o.cache) : text_copy("out/cache");
    struct lab_options options = {.device = p->o.device, .cache = cache, .metrics = "full", .baselines = p->subject.baseline || p->other.baseline};
    status = lab_open(&p->lab, p->session.job, &options, &err);
    free(cache);
    if (status) return complain(status, &err);
    ceilings = lab_ask(p->lab, json_pack("{s:s}", "op", "ceilings"), &err);
    status = make_profile(p, &p->subject, ceilings, &ours);
    if (!status && p->o.against) status = make_profile(p, &p->other, ceilings, &theirs);
    if (!status) status = show(p, ours, theirs);
    json_decref(ours);
    json_decref(theirs);
    json_decref(ceilings);
    return status;
}

int cmd_profile(int argc, char **argv)
{
    static const char *const formats[] = {"table", "json", NULL};
    struct profiling p = {.o = {.device = "0", .problem = 1}};
    const struct option_spec specs[] = {
        OPTION_JOB(&p.o.job),
        {.name = "trial", .letter = 't', .string = &p.o.trial, .shown = "WHICH", .help = "a trial's number, best, runner-up, a baseline's name, or NAME=value,... with the rest as in the best (best)"},
        {.name = "against", .letter = 'a', .string = &p.o.against, .shown = "WHICH", .help = "compare with another one, likewise"},
        {.name = "problem", .letter = 'p', .integer = &p.o.problem, .low = 1, .high = JOB_MAX_PROBLEMS, .shown = "N", .help = "which of the job's problems (1)"},
        {.name = "device", .letter = 'd', .string = &p.o.device, .shown = "N", .help = "the GPU (0)"},
        OPTION_STORE(&p.o.store),
        {.name = "cache", .string = &p.o.cache, .shown = "FOLDER", .help = "the compile cache (out/cache)"},
        {.name = "format", .letter = 'f', .choice = &p.o.format, .choices = formats, .help = "how results are printed (table)"},
        OPTION_END,
    };
    int status = options_parse(specs, "Says why a candidate is as fast as it is: hardware counters by section, the source lines that cost most, and findings in words.", argc, argv);
    if (status >= 0) return status;
    status = open_session(&p);
    if (!status) status = profile(&p);
    lab_close(p.lab);
    free(p.best);
    free(p.subject.config);
    free(p.other.config);
    session_close(&p.session);
    return status;
}
