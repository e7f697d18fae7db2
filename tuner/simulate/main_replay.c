// sweetspot-replay FILE replaces both workers. It implements the compiler's and the GPU worker's part of the protocol,
// and answers every configuration with its result in a recorded space. So the whole driver can run on a machine without
// a GPU or a compiler. It measures nothing: a configuration that was not recorded is "pruned", and the final compares
// the recorded samples, which are not paired.
//
// SWEETSPOT_REPLAY_DELAY=SECONDS makes every trial take that long. With SWEETSPOT_REPLAY_LOG=FILE, the configuration of
// every requested trial is written to that file.
#include <unistd.h>

#include "tuner/base/json.h"
#include "tuner/base/protocol.h"
#include "tuner/protocol/compile_message.h"
#include "tuner/protocol/count_message.h"
#include "tuner/protocol/final_message.h"
#include "tuner/protocol/job_message.h"
#include "tuner/recorded/recorded.h"
#include "tuner/trial/trial_field.h"

static const char *const ok = "ok";

// The recording's provenance: the source hash ("" if it was not recorded), and the newest final's number of rounds and
// date (both 0 if there was no final).
static json_t *provenance(const struct recorded *r)
{
    const json_t *final = json_array_get(r->about.finals, 0), *first = json_object_get(final, "recording");
    if (first) final = first; // the final of an exported replay names the original recording
    return json_pack("{s:s, s:I, s:f}", "source_hash", json_get_string(r->about.environment, "source_hash", ""),
                     "rounds", (json_int_t)json_get_integer(final, "rounds", 0), "when",
                     json_get_number(final, "when", 0));
}

// Identifies the job that the recording belongs to, so that the recording is not used for another job.
static json_t *identity(const struct recorded *r)
{
    json_t *parameters = json_array(), *problems = json_array();
    for (size_t i = 0; i < r->parameter_count; i++)
        json_array_append_new(parameters, json_string(space_parameter(r->space, i)->name));
    for (size_t i = 0; i < r->problem_count; i++) json_array_append_new(problems, json_string(r->problems[i].name));
    return json_pack("{s:s, s:o, s:o}", "job", r->about.job, "parameters", parameters, "problems", problems);
}

static json_t *hello(const struct recorded *r)
{
    json_t *device = r->about.device ? json_deep_copy(r->about.device) : json_object();
    if (!json_object_get(device, "name")) json_object_set_new(device, "name", json_string("recorded device"));
    if (!json_object_get(device, "arch")) json_object_set_new(device, "arch", json_string("recorded"));
    const char *known = json_get_string(r->about.environment, "compiler", "compiler"), *suffix = " (recorded)";
    autofree char *compiler = text_format("%s%s", known, strstr(known, suffix) ? "" : suffix); // an exported replay
    return json_pack("{s:i, s:s, s:o, s:b, s:o, s:o, s:{}, s:b, s:{s:b, s:s, s:s}}", "protocol", PROTOCOL_VERSION,
                     "compiler", compiler, "device", device, "replayed", 1, "recording", provenance(r), "recorded",
                     identity(r), "libraries", "nvml", 0, "counters", "available", (int)(r->metric_count > 0), "chip",
                     "recorded", "reason", "none were recorded");
}

static json_t *compile(const struct recorded *r, const void *asked, struct arena *memory)
{
    const struct compile_request *request = asked;
    const struct compile_unit whole = {.entries = request->entries, .entry_count = request->entry_count};
    size_t count = request->entry_count;
    int64_t n = recorded_find_text(r, request->config);
    if (n < 0) return answer_refuse("pruned", "not in the recorded space");
    const struct trial *t = &r->trials[n];
    if (t->status == STATUS_COMPILE_ERROR || t->status == STATUS_COMPILE_TIMEOUT || t->status == STATUS_PRUNED)
        return answer_refuse(status_name(t->status), t->reason);
    for (size_t u = 0; u < request->unit_count; u++) count += request->units[u].entry_count;
    struct entry_answer *entries = arena_new(memory, count * sizeof *entries);
    struct compile_answer answer = {.head.status = ok,
                                    .cubin = "",
                                    .seconds = isfinite(t->compile_seconds) ? t->compile_seconds : 0,
                                    .entries = entries};
    for (size_t u = 0; u <= request->unit_count; u++) {
        const struct compile_unit *unit = u ? &request->units[u - 1] : &whole;
        for (size_t i = 0; i < unit->entry_count; i++)
            entries[answer.entry_count++] = (struct entry_answer){unit->entries[i], unit->entries[i],
                                                                  (size_t)unit->unit, static_facts_stage(&t->facts)};
    }
    return record_write(&compile_answer_record, &answer);
}

// If no samples were recorded, the time is used as the only sample.
static struct trial_problem sampled(const struct trial_problem *problem)
{
    struct trial_problem figures = *problem;
    if (!figures.sample_count && isfinite(figures.time)) {
        figures.samples = &problem->time;
        figures.sample_count = 1;
    }
    if (!figures.samples_taken) figures.samples_taken = (int64_t)figures.sample_count;
    return figures;
}

static const struct problem_answer *describe_problems(const struct recorded *r, const struct trial_problem *problems,
                                                      struct arena *memory)
{
    struct problem_answer *list = arena_new(memory, r->problem_count * sizeof *list);
    for (size_t p = 0; p < r->problem_count; p++) {
        record_clear(&problem_answer_record, &list[p]);
        list[p].problem = (int)p;
        list[p].figures = sampled(&problems[p]);
    }
    return list;
}

static json_t *job(const struct recorded *r, const void *asked, struct arena *memory)
{
    struct baseline_answer *baselines = arena_new(memory, r->baseline_count * sizeof *baselines);
    const char **metrics = arena_new(memory, (r->metric_count + 1) * sizeof *metrics);
    (void)asked;
    for (size_t i = 0; i < r->baseline_count; i++)
        baselines[i] = (struct baseline_answer){.name = r->baselines[i].name,
                                                .detail = "",
                                                .problems = describe_problems(r, r->baselines[i].problems, memory),
                                                .problem_count = r->problem_count};
    for (size_t i = 0; i < r->metric_count; i++) metrics[i] = r->metrics[i].key;
    return record_write(&job_answer_record, &(struct job_answer){.head.status = ok,
                                                                 .baselines = baselines,
                                                                 .baseline_count = r->baseline_count,
                                                                 .metrics = metrics,
                                                                 .metric_count = r->metric_count});
}

static json_t *trial(const struct recorded *r, const void *asked, struct arena *memory)
{
    int64_t n = recorded_find_text(r, ((const struct trial_request *)asked)->candidate.config);
    if (n < 0) return answer_refuse("pruned", "not in the recorded space");
    const struct trial *t = &r->trials[n];
    return record_write(&trial_answer_record,
                        &(struct trial_answer){.head = {.status = status_name(t->status), .reason = t->reason},
                                               .figures = *t,
                                               .problems = describe_problems(r, t->problems, memory),
                                               .problem_count = r->problem_count});
}

static json_t *count(const struct recorded *r, const void *asked, struct arena *memory)
{
    const struct count_request *request = asked;
    struct counted_trial *trials = arena_new(memory, request->trial_count * sizeof *trials);
    struct stage_counters *stages = arena_new(memory, request->trial_count * sizeof *stages);
    for (size_t i = 0; i < request->trial_count; i++) {
        int64_t n = recorded_find_text(r, request->trials[i].candidate.config);
        if (n >= 0)
            stages[i] = (struct stage_counters){0, 0, r->counters + (size_t)n * r->metric_count, r->metric_count};
        trials[i] =
            (struct counted_trial){.trial = request->trials[i].trial, .counters = &stages[i], .counter_count = n >= 0};
    }
    return record_write(
        &count_answer_record,
        &(struct count_answer){.head.status = ok, .wall = NAN, .trials = trials, .trial_count = request->trial_count});
}

static struct final_entry_answer entry_of(const struct recorded *r, const char *name, int64_t trial,
                                          const struct trial_problem *problems, struct arena *memory)
{
    struct final_times *list = arena_new(memory, r->problem_count * sizeof *list);
    for (size_t p = 0; p < r->problem_count; p++) {
        struct trial_problem figures = sampled(&problems[p]);
        list[p] = (struct final_times){(int)p, figures.samples, figures.sample_count, NAN, NAN, NULL};
    }
    return (struct final_entry_answer){.name = arena_copy(memory, name),
                                       .trial = trial,
                                       .status = STATUS_OK,
                                       .error = NAN,
                                       .problems = list,
                                       .problem_count = r->problem_count};
}

static json_t * final(const struct recorded *r, const void *asked, struct arena *memory)
{
    const struct final_request *request = asked;
    size_t places = request->places < 0 || (size_t)request->places > request->candidate_count ? request->candidate_count
                                                                                              : (size_t)request->places;
    struct final_entry_answer *entries = arena_new(memory, (places + r->baseline_count) * sizeof *entries);
    struct final_answer answer = {.head.status = ok, .entries = entries};
    for (size_t i = 0; i < places; i++) {
        const struct final_candidate *c = &request->candidates[i];
        int64_t n = recorded_find_text(r, c->candidate.config);
        const char *name = arena_format(memory, "%" PRId64, c->trial);
        if (n >= 0) entries[answer.entry_count++] = entry_of(r, name, c->trial, r->trials[n].problems, memory);
    }
    for (size_t i = 0; i < r->baseline_count; i++)
        entries[answer.entry_count++] = entry_of(r, r->baselines[i].name, 0, r->baselines[i].problems, memory);
    return record_write(&final_answer_record, &answer);
}

static json_t *ceilings(const struct recorded *r)
{
    json_t *known = json_object_get(r->about.device, "ceilings");
    if (!known) return answer_refuse(PROTOCOL_ERROR, "none were recorded");
    json_t *answer = json_deep_copy(known);
    json_object_set_new(answer, "status", json_string(status_name(STATUS_OK)));
    return answer;
}

static const struct {
    const char *op;
    const struct record *request;
    json_t *(*serve)(const struct recorded *, const void *request, struct arena *);
} served[] = {{"compile", &compile_request_record, compile},
              {"job", &answer_head_record, job},
              {"trial", &trial_request_record, trial},
              {"count", &count_request_record, count},
              {"final", &final_request_record, final}};

// `log` may be NULL.
static json_t *serve(const struct recorded *r, const json_t *message, const char *op, FILE *log)
{
    autorelease(arena_release) struct arena memory = {NULL};
    struct error err = {"unknown op"};
    json_t *answer = NULL;
    if (!strcmp(op, "hello")) return hello(r);
    if (!strcmp(op, "ceilings")) return ceilings(r);
    for (size_t i = 0; i < sizeof served / sizeof *served && !answer; i++) {
        if (strcmp(served[i].op, op) != 0) continue;
        void *request = arena_new(&memory, served[i].request->size);
        if (record_read(served[i].request, message, request, &memory, &err)) break;
        if (log && !strcmp(op, "trial")) {
            fprintf(log, "%s\n", ((const struct trial_request *)request)->candidate.config);
            fflush(log);
        }
        answer = served[i].serve(r, request, &memory);
    }
    return answer ? answer : answer_refuse(PROTOCOL_ERROR, err.message);
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
    autofree char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        autojson json_t *request = json_parse(line, &err);
        const char *op = json_get_string(request, "op", "");
        if (delay && !strcmp(op, "trial")) usleep((useconds_t)(1e6 * strtod(delay, NULL)));
        autojson json_t *answer = request ? serve(r, request, op, log) : answer_refuse(PROTOCOL_ERROR, err.message);
        json_object_set_new(answer, "id", json_integer(json_get_integer(request, "id", -1)));
        if (json_write_line(STDOUT_FILENO, answer, &err)) break;
    }
    if (log) fclose(log);
    recorded_free(r);
    return EXIT_DONE;
}
