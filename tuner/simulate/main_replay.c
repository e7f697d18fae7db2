// sweetspot-replay FILE: both workers in one, on a recorded space. Speaks the compiler's and the GPU worker's part of
// the protocol and answers every configuration with what was recorded of it, so that the driver's whole path runs on a
// machine without GPU and compiler. It measures nothing: a configuration that was not recorded is "pruned", and the
// final compares the recorded samples, which are not paired.
//
// SWEETSPOT_REPLAY_DELAY=SECONDS makes a trial take that long; SWEETSPOT_REPLAY_LOG=FILE gets the configuration of
// every trial that was requested.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/json.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/recorded/recorded.h"
#include "tuner/trial/trial_field.h"

// The number of the recorded trial that a request means, or -1.
static int64_t trial_of(const struct recorded *r, const json_t *request)
{
    uint16_t config[SPACE_MAX_PARAMETERS];
    if (space_parse(r->space, json_get_string(request, "config", ""), config, NULL)) return -1;
    return recorded_find(r, config);
}

static json_t *refuse(const char *status, const char *reason)
{
    return json_pack("{s:s, s:s}", "status", status, "reason", reason);
}

// What the recording says about itself, so that others know what was measured: the hash of the source, "" where it
// was not recorded, how many rounds its newest final had, and when that was (0: it has none).
static json_t *provenance(const struct recorded *r)
{
    const json_t *final = json_array_get(r->finals, 0), *first = json_object_get(final, "recording");
    if (first) final = first; // a replay was exported
    return json_pack("{s:s, s:I, s:f}", "source_hash", json_get_string(r->environment, "source_hash", ""), "rounds",
                     (json_int_t)json_get_integer(final, "rounds", 0), "when", json_get_number(final, "when", 0));
}

// Which job it belongs to, so that it is not taken for another job's.
static json_t *identity(const struct recorded *r)
{
    json_t *parameters = json_array(), *problems = json_array();
    for (size_t i = 0; i < r->parameter_count; i++)
        json_array_append_new(parameters, json_string(r->parameters[i].name));
    for (size_t i = 0; i < r->problem_count; i++) json_array_append_new(problems, json_string(r->problems[i].name));
    return json_pack("{s:s, s:o, s:o}", "job", r->job, "parameters", parameters, "problems", problems);
}

static json_t *hello(const struct recorded *r)
{
    json_t *device = r->device ? json_deep_copy(r->device) : json_object();
    if (!json_object_get(device, "name")) json_object_set_new(device, "name", json_string("recorded device"));
    if (!json_object_get(device, "arch")) json_object_set_new(device, "arch", json_string("recorded"));
    const char *known = json_get_string(r->environment, "compiler", "compiler"), *suffix = " (recorded)";
    char *compiler = text_format("%s%s", known, strstr(known, suffix) ? "" : suffix); // a replay was exported
    json_t *answer = json_pack("{s:s, s:o, s:b, s:o, s:o, s:{}, s:b, s:{s:b, s:s, s:s}}", "compiler", compiler,
                               "device", device, "replayed", 1, "recording", provenance(r), "recorded", identity(r),
                               "libraries", "nvml", 0, "counters", "available", (int)(r->metric_count > 0), "chip",
                               "recorded", "reason", "none were recorded");
    free(compiler);
    return answer;
}

// The entries of a request, or of one of its units.
static void add_entries(const struct trial *t, const json_t *from, json_t *entries)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(from, "entries"), i, entry)
    {
        struct trial_stage stage = static_facts_stage(&t->facts);
        json_t *one = json_pack("{s:O, s:O, s:I}", "entry", entry, "symbol", entry, "unit",
                                (json_int_t)json_get_integer(from, "unit", 0));
        trial_write_answer(FIELD_STAGE, FIELD_COMPILER, &stage, one);
        json_array_append_new(entries, one);
    }
}

static json_t *compile(const struct recorded *r, const json_t *request)
{
    int64_t n = trial_of(r, request);
    if (n < 0) return refuse("pruned", "not in the recorded space");
    const struct trial *t = &r->trials[n];
    if (t->status == STATUS_COMPILE_ERROR || t->status == STATUS_COMPILE_TIMEOUT || t->status == STATUS_PRUNED)
        return refuse(status_name(t->status), t->reason);
    size_t i;
    json_t *unit, *entries = json_array();
    add_entries(t, request, entries);
    json_array_foreach(json_object_get(request, "units"), i, unit) add_entries(t, unit, entries);
    return json_pack("{s:s, s:s, s:b, s:f, s:[], s:o}", "status", "ok", "cubin", "", "cached", 0, "seconds",
                     isfinite(t->compile_seconds) ? t->compile_seconds : 0, "warnings", "entries", entries);
}

// Where no samples were recorded, the time stands for them.
static json_t *samples_of(const struct trial_problem *problem)
{
    struct trial_problem sampled = *problem;
    if (!sampled.sample_count && isfinite(sampled.time)) {
        sampled.samples = &problem->time;
        sampled.sample_count = 1;
    }
    json_t *samples = field_json(trial_field_find(FIELD_PROBLEM, "samples"), &sampled);
    if (json_is_array(samples)) return samples;
    json_decref(samples);
    return json_array();
}

static json_t *describe_problem(const struct trial_problem *figures, size_t problem)
{
    json_t *answer = json_pack("{s:i}", "problem", (int)problem);
    trial_write_answer(FIELD_PROBLEM, FIELD_GPU, figures, answer);
    json_object_set_new(answer, "samples", samples_of(figures));
    if (!figures->samples_taken) json_object_set_new(answer, "count", json_integer((json_int_t)figures->sample_count));
    return answer;
}

static json_t *job(const struct recorded *r)
{
    json_t *baselines = json_array(), *metrics = json_array();
    for (size_t i = 0; i < r->baseline_count; i++) {
        json_t *problems = json_array();
        for (size_t p = 0; p < r->problem_count; p++)
            json_array_append_new(problems, describe_problem(&r->baselines[i].problems[p], p));
        json_array_append_new(baselines, json_pack("{s:s, s:o, s:s}", "name", r->baselines[i].name, "problems",
                                                   problems, "detail", "recorded"));
    }
    for (size_t i = 0; i < r->metric_count; i++) json_array_append_new(metrics, json_string(r->metrics[i].key));
    return json_pack("{s:s, s:o, s:o, s:[]}", "status", "ok", "baselines", baselines, "metrics", metrics, "missing");
}

static json_t *trial(const struct recorded *r, const json_t *request)
{
    int64_t n = trial_of(r, request);
    if (n < 0) return refuse("pruned", "not in the recorded space");
    const struct trial *t = &r->trials[n];
    json_t *problems = json_array();
    for (size_t p = 0; p < r->problem_count; p++) json_array_append_new(problems, describe_problem(&t->problems[p], p));
    json_t *answer =
        json_pack("{s:s, s:s, s:o}", "status", status_name(t->status), "reason", t->reason, "problems", problems);
    trial_write_answer(FIELD_TRIAL, FIELD_GPU, t, answer);
    return answer;
}

static json_t *count(const struct recorded *r, const json_t *request)
{
    json_t *trials = json_array(), *one;
    size_t i;
    json_array_foreach(json_object_get(request, "trials"), i, one)
    {
        int64_t n = trial_of(r, one);
        json_t *values = json_array();
        for (size_t k = 0; n >= 0 && k < r->metric_count; k++)
            json_array_append_new(values, json_real_or_null(r->counters[(size_t)n * r->metric_count + k]));
        json_array_append_new(trials, json_pack("{s:O, s:[{s:i, s:i, s:o}]}", "trial", json_object_get(one, "trial"),
                                                "counters", "problem", 0, "stage", 0, "values", values));
    }
    return json_pack("{s:s, s:o}", "status", "ok", "trials", trials);
}

static json_t *entry_of(const char *name, json_int_t trial, const struct trial_problem *times, size_t count)
{
    json_t *problems = json_array();
    for (size_t p = 0; p < count; p++)
        json_array_append_new(problems, json_pack("{s:i, s:o}", "problem", (int)p, "times", samples_of(&times[p])));
    return json_pack("{s:s, s:I, s:s, s:o}", "name", name, "trial", trial, "status", "ok", "problems", problems);
}

static json_t * final(const struct recorded *r, const json_t *request)
{
    json_t *entries = json_array(), *one;
    size_t i;
    int64_t places = json_get_integer(request, "places", INT64_MAX);
    json_array_foreach(json_object_get(request, "candidates"), i, one)
    {
        int64_t n = trial_of(r, one);
        char name[32];
        if (places-- == 0) break;
        snprintf(name, sizeof name, "%lld", (long long)json_get_integer(one, "trial", 0));
        if (n >= 0)
            json_array_append_new(entries, entry_of(name, (json_int_t)json_get_integer(one, "trial", 0),
                                                    r->trials[n].problems, r->problem_count));
    }
    for (i = 0; i < r->baseline_count; i++)
        json_array_append_new(entries, entry_of(r->baselines[i].name, 0, r->baselines[i].problems, r->problem_count));
    return json_pack("{s:s, s:o}", "status", "ok", "entries", entries);
}

static json_t *ceilings(const struct recorded *r)
{
    json_t *known = json_object_get(r->device, "ceilings");
    if (!known) return refuse(PROTOCOL_ERROR, "none were recorded");
    json_t *answer = json_deep_copy(known);
    json_object_set_new(answer, "status", json_string(status_name(STATUS_OK)));
    return answer;
}

int main(int argc, char **argv)
{
    struct error err;
    if (argc != 2) {
        fprintf(stderr, "usage: sweetspot-replay FILE (a worker; started by sweetspot tune --device replay:FILE)\n");
        return EXIT_USAGE;
    }
    struct recorded *r = recorded_read(argv[1], &err);
    if (!r) {
        fprintf(stderr, "%s\n", err.message);
        return EXIT_USAGE;
    }
    recorded_warn(r, argv[1]);
    const char *delay = getenv("SWEETSPOT_REPLAY_DELAY"), *log_path = getenv("SWEETSPOT_REPLAY_LOG");
    FILE *log = log_path ? fopen(log_path, "a") : NULL;
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        json_t *request = json_parse(line, &err), *answer;
        const char *op = json_get_string(request, "op", "");
        if (delay && !strcmp(op, "trial")) usleep((useconds_t)(1e6 * strtod(delay, NULL)));
        if (log && !strcmp(op, "trial")) {
            fprintf(log, "%s\n", json_get_string(request, "config", ""));
            fflush(log);
        }
        answer = !strcmp(op, "hello")      ? hello(r)
                 : !strcmp(op, "compile")  ? compile(r, request)
                 : !strcmp(op, "job")      ? job(r)
                 : !strcmp(op, "trial")    ? trial(r, request)
                 : !strcmp(op, "count")    ? count(r, request)
                 : !strcmp(op, "final")    ? final(r, request)
                 : !strcmp(op, "ceilings") ? ceilings(r)
                                           : refuse(PROTOCOL_ERROR, request ? "unknown op" : err.message);
        json_object_set_new(answer, "id", json_integer(json_get_integer(request, "id", -1)));
        int failed = json_write_line(STDOUT_FILENO, answer, &err);
        json_decref(answer);
        json_decref(request);
        if (failed) break;
    }
    free(line);
    if (log) fclose(log);
    recorded_free(r);
    return EXIT_DONE;
}
