// See judgement.h.
#include "tuner/explain/judgement.h"

#include "tuner/base/colour.h"
#include "tuner/base/entropy.h"
#include "tuner/base/table.h"
#include "tuner/explain/explain.h"
#include "tuner/explain/findings.h"

enum { FINAL_GRACE = 60 }; // s to add to a trial's time limit for each progress message, as in a run's final

struct judging {
    struct single_run *single;
    const struct job *job;
    struct single_run_candidate candidate;
    struct judgement *judgement;
};

static void find(struct judgement *j, enum trial_status status, const char *reason)
{
    if (j->status != STATUS_OK) return; // only the first failure counts
    j->status = status;
    error_set(&j->reason, "%s", reason);
}

// Takes the worker's verdict from an answer, or from an entry of an answer.
static int take_verdict(struct judging *g, const char *word, const char *reason, struct error *err)
{
    int status = status_find(word);
    if (status < 0) return error_set(err, "the GPU worker answered '%s'", word);
    if (status != STATUS_OK) find(g->judgement, (enum trial_status)status, reason);
    return 0;
}

// Asks the worker. If the candidate kills the worker or hangs, this becomes the verdict, and *answer is NULL. Returns
// -1 for other failures.
static int ask(struct judging *g, json_t *request, double seconds, const struct record *record, void **answer,
               struct error *err)
{
    bool late;
    struct error why = {""};
    autojson json_t *message = single_run_ask(g->single, request, seconds, &late, &why);
    bool dead = !message && g->single->pool.gpus[g->single->pool.first_gpu].worker.failure == WORKER_DIED;
    if (message) {
        *answer = arena_new(&g->judgement->memory, record->size);
        return record_read(record, message, *answer, &g->judgement->memory, err);
    }
    if (late)
        find(g->judgement, STATUS_TIMEOUT, why.message);
    else if (dead)
        find(g->judgement, STATUS_CRASHED, why.message);
    else
        *err = why;
    return late || dead ? 0 : -1;
}

static int try_candidate(struct judging *g, struct error *err)
{
    const struct trial_request request = {.candidate = single_run_described(&g->candidate), .verify = true};
    void *answer = NULL;
    int failed = ask(g, request_write("trial", &trial_request_record, &request), g->job->measure.timeout,
                     &trial_answer_record, &answer, err);
    struct trial_answer *reported = g->judgement->trial = answer;
    return failed || !reported ? failed : take_verdict(g, reported->head.status, reported->head.reason, err);
}

// Does nothing after a timeout: a kernel that never ends would keep every tool busy until the deadline.
static void sanitize(struct judging *g, struct sanitizer *sanitizer)
{
    struct judgement *j = g->judgement;
    struct error reason;
    if (!sanitizer || g->single->library || j->status == STATUS_TIMEOUT || j->status == STATUS_LAUNCH_ERROR) return;
    single_run_say(g->single, "running it under compute-sanitizer");
    autojson json_t *set_up = job_setup_for_gpu(&g->single->setup, false, NULL, false);
    j->sanitized = sanitizer_end(sanitizer_begin(sanitizer, g->job, set_up, g->candidate.config,
                                                 g->candidate.compiled.cubin, g->candidate.problems, true, INFINITY));
    enum trial_status status = sanitizer_verdict(j->sanitized, &reason);
    if (status != STATUS_OK) find(j, status, reason.message);
}

// The candidate's entry of the final, or NULL.
static const struct final_entry_answer *entry_of(const struct judgement *j)
{
    for (size_t i = 0; j->final && i < j->final->entry_count; i++)
        if (j->final->entries[i].trial == JUDGE_TRIAL) return &j->final->entries[i];
    return NULL;
}

static int race(struct judging *g, struct error *err)
{
    struct judgement *j = g->judgement;
    const struct job_answer *reported = &g->single->reported;
    const struct final_candidate candidate = {.trial = JUDGE_TRIAL, .candidate = single_run_described(&g->candidate)};
    const char **baselines = arena_new(&j->memory, reported->baseline_count * sizeof *baselines);
    j->seed = (int64_t)(entropy_draw() >> 2);
    struct final_request request = {.seed = j->seed,
                                    .rounds = g->job->measure.final_rounds,
                                    .places = 1,
                                    .candidates = &candidate,
                                    .candidate_count = 1,
                                    .baselines = baselines};
    for (size_t i = 0; i < reported->baseline_count; i++)
        if (reported->baselines[i].problem_count) baselines[request.baseline_count++] = reported->baselines[i].name;
    single_run_say(g->single, "timing it");
    void *answer = NULL;
    int failed = ask(g, request_write("final", &final_request_record, &request), g->job->measure.timeout + FINAL_GRACE,
                     &final_answer_record, &answer, err);
    j->final = answer;
    if (failed || !j->final) return failed;
    if (take_verdict(g, j->final->head.status, j->final->head.reason, err)) return -1;
    const struct final_entry_answer *entry = entry_of(j);
    if (!entry) return j->status != STATUS_OK ? 0 : error_set(err, "the final has no entry of the candidate");
    return take_verdict(g, status_name(entry->status), entry->reason, err);
}

// Reads the candidate's counters. The worker verifies the candidate once more for this. If the counters cannot be read,
// the candidate has not failed.
static int count(struct judging *g, const uint16_t *config, struct error *err)
{
    struct judgement *j = g->judgement;
    struct error why = {""};
    if (!g->single->counts || g->single->library) return 0;
    single_run_say(g->single, "counting");
    j->profile = explain_candidate(g->single, g->job, config, 0, "candidate", 0, 0, &why);
    if (!j->profile) {
        j->not_counted = why;
        return 0;
    }
    return take_verdict(g, json_get_string(j->profile, "status", ""), json_get_string(j->profile, "reason", ""), err);
}

int judge_candidate(struct single_run *single, const struct job *job, const uint16_t *config,
                    struct sanitizer *sanitizer, struct judgement *j, struct error *err)
{
    struct judging g = {.single = single, .job = job, .judgement = j};
    *j = (struct judgement){.status = STATUS_OK, .reason = {""}, .trusts = single->library != NULL};
    int failed = single_run_compile(single, config, NULL, &g.candidate, err);
    j->config = text_copy(g.candidate.config);
    if (!failed && g.candidate.status != STATUS_OK) {
        find(j, g.candidate.status, g.candidate.reason);
    } else if (!failed) {
        j->compiled = true;
        failed = try_candidate(&g, err);
        if (!failed) sanitize(&g, sanitizer);
        if (!failed && j->status == STATUS_OK) failed = race(&g, err);
        if (!failed && j->status == STATUS_OK) failed = count(&g, config, err);
    }
    single_run_candidate_release(&g.candidate);
    return failed;
}

void judgement_release(struct judgement *j)
{
    free(j->config);
    arena_release(&j->memory);
    json_decref(j->sanitized);
    json_decref(j->profile);
    *j = (struct judgement){.status = STATUS_OK};
}

// The document --------------------------------------------------------------------------------------------------------

static json_t *interval_or_null(const struct interval *i)
{
    return isfinite(i->value) ? json_interval(i) : json_null();
}

// Reads the final's document, in the form that a run stores; false if there is no valid one.
static bool read_final(const struct judged_job *about, const struct judgement *j, struct final *final)
{
    struct error err;
    if (!j->final || !j->final->entries || j->status != STATUS_OK) return false;
    autojson json_t *answer = record_write(&final_answer_record, j->final);
    // The seed is for the bootstrap. It is constant, so that the same times give the same intervals.
    autojson json_t *document =
        json_pack("{s:i, s:I, s:i, s:O}", "seed", 1, "rounds", (json_int_t)about->job->measure.final_rounds, "winner",
                  (int)JUDGE_TRIAL, "entries", json_object_get(answer, "entries"));
    return !final_read(final, document, about->job->tuned_count, &err);
}

// Whether the overall reason names this problem.
static bool blamed(const struct judgement *j, const char *problem)
{
    const char *at = strstr(j->reason.message, "problem "),
               *end = at ? at + strlen("problem ") + strlen(problem) : NULL;
    return at && !strncmp(at + strlen("problem "), problem, strlen(problem)) && (*end == ':' || *end == ')' || !*end);
}

// The worst ratio of error to bound of all compared launches, in the trial and in the final. NaN: none was compared, or
// the error exceeds every bound.
static double worst_error(const struct judgement *j)
{
    const struct final_entry_answer *entry = entry_of(j);
    double worst = entry ? entry->error : NAN;
    for (size_t i = 0; j->trial && i < j->trial->problem_count; i++)
        worst = fmax(worst, j->trial->problems[i].figures.error);
    return worst;
}

// The trial's results for a problem, with the status if known.
static json_t *problem_json(const struct judged_job *about, const struct judgement *j, size_t p)
{
    const char *name = about->job->problems[p].name, *status = NULL;
    const struct problem_answer *tried = trial_answer_problem(j->trial, (int)p);
    if (j->status == STATUS_OK)
        status = status_name(STATUS_OK);
    else if (blamed(j, name))
        status = status_name(j->status);
    else if (tried && tried->bad > 0)
        status = status_name(STATUS_WRONG);
    bool judged = tried && tried->bad >= 0;
    json_t *worst = judged && tried->worst_count == 2
                        ? json_pack("[I, I]", (json_int_t)tried->worst[0], (json_int_t)tried->worst[1])
                        : NULL;
    return json_pack("{s:s, s:b, s:s?, s:f, s:o?, s:o?, s:f, s:f}", "problem", name, "tuned",
                     (int)about->job->problems[p].tune, "status", status, "error", tried ? tried->figures.error : NAN,
                     "bad", judged ? json_integer(tried->bad) : NULL, "worst", worst, "got", tried ? tried->got : NAN,
                     "want", tried ? tried->want : NAN);
}

static void add_times(json_t *out, const struct final *final, const struct judgement *j, size_t p)
{
    const struct final_entry_answer *entry = entry_of(j);
    const struct final_problem *ours = &final_winner(final)->problems[p];
    json_t *baselines = json_array(), *times = NULL;
    for (size_t i = 0; i < entry->problem_count; i++)
        if (entry->problems[i].problem == (int)p) times = final_times_json(&entry->problems[i]);
    json_object_set_new(out, "time", interval_or_null(&ours->time));
    json_object_set_new(out, "rounds", json_integer((json_int_t)ours->rounds));
    json_object_set_new(out, "samples", times ? times : json_null());
    json_object_set_new(out, "error_max", json_real(ours->error_max));
    json_object_set_new(out, "error_rms", json_real(ours->error_rms));
    for (size_t i = 0; i < final->entry_count; i++) {
        const struct final_entry *e = &final->entries[i];
        if (e->trial == JUDGE_TRIAL) continue;
        const struct final_problem *theirs = &e->problems[p];
        json_array_append_new(baselines,
                              json_pack("{s:s, s:b, s:s, s:o, s:o, s:f, s:f}", "name", e->name, "ok", (int)e->ok,
                                        "reason", e->reason, "time", interval_or_null(&theirs->time), "ratio",
                                        interval_or_null(&theirs->ratio), "error_max", theirs->error_max, "error_rms",
                                        theirs->error_rms));
    }
    json_object_set_new(out, "baselines", baselines);
}

static json_t *counters_json(const struct judged_job *about, const struct judgement *j)
{
    const json_t *stages = json_object_get(j->profile, "stages");
    json_t *out = json_array();
    json_array_each(stages, i, stage) {
        json_t *values = json_object_get(stage, "counters");
        json_array_append_new(out, json_pack("{s:s, s:s, s:O?, s:O?, s:o}", "problem", about->job->problems[0].name,
                                             "stage", json_get_string(stage, "name", ""), "launch",
                                             json_object_get(stage, "launch"), "facts", json_object_get(stage, "facts"),
                                             "values", values ? json_incref(values) : json_null()));
    }
    return out;
}

static json_t *findings_of(const struct judged_job *about, const struct judgement *j)
{
    struct finding findings[FINDINGS_MAX];
    size_t count = j->profile ? findings_make(j->profile, about->job, about->limits, findings) : 0;
    return findings_json(findings, count, about->job);
}

static json_t *notes_json(const struct judgement *j)
{
    json_t *notes = json_deep_copy(json_object_get(j->profile, "notes"));
    const struct error *more[] = {&j->not_sanitized, &j->not_counted};
    const char *const what[] = {"no sanitizers", "no counters"};
    if (!notes) notes = json_array();
    for (size_t i = 0; i < 2; i++)
        if (*more[i]->message) json_array_append_new(notes, json_sprintf("%s: %s", what[i], more[i]->message));
    if (j->trusts)
        json_array_append_new(notes, json_string("trusted host code: the function ran in the process that judges it, "
                                                 "without sanitizers and counters"));
    const char *note = json_get_string(j->sanitized, "note", "");
    if (*note) json_array_append_new(notes, json_sprintf("%s: %s", what[0], note));
    return notes;
}

static int64_t launches_judged(const struct judgement *j)
{
    const struct final_entry_answer *entry = entry_of(j);
    return (j->trial ? j->trial->figures.launches_judged : 0) + (entry ? entry->launches_judged : 0);
}

// Which steps of the judgement gave a result.
static json_t *depth_json(const struct judgement *j, const json_t *tools, const json_t *counters)
{
    bool sanitized = false, counted = false,
         verified = j->trial && strcmp(j->trial->head.status, status_name(STATUS_CRASHED));
    json_array_each(tools, i, tool) {
        const char *status = json_get_string(tool, "status", "");
        sanitized |= strcmp(status, "failed") && strcmp(status, "skipped");
    }
    json_array_each(counters, i, launch) counted |= !json_is_null(json_object_get(launch, "values"));
    const struct {
        const char *name;
        bool done;
    } steps[] = {{"compiled", j->compiled},
                 {"verified", verified},
                 {"sanitized", sanitized},
                 {"timed", entry_of(j) != NULL},
                 {"counted", counted}};
    json_t *depth = json_array();
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i].done) json_array_append_new(depth, json_string(steps[i].name));
    return depth;
}

json_t *judgement_json(const struct judged_job *about, const struct judgement *j)
{
    const struct job *job = about->job;
    autorelease(final_release) struct final final = {0};
    bool timed = read_final(about, j, &final);
    json_t *problems = json_array(), *tools = json_object_get(j->sanitized, "tools"),
           *counters = counters_json(about, j);
    for (size_t p = 0; p < job->problem_count; p++) {
        json_t *one = problem_json(about, j, p);
        if (timed && p < job->tuned_count) add_times(one, &final, j, p);
        json_array_append_new(problems, one);
    }
    json_t *root = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:s, s:s, s:f, s:o?, s:s?}", "version",
                             (int)JUDGEMENT_VERSION, "job", job->name, "template", about->path, "template_hash",
                             about->hash, "configuration", j->config, "device", about->device, "driver", about->driver,
                             "compiler", about->compiler, "right", j->status == STATUS_OK, "status",
                             status_name(j->status), "reason", j->reason.message, "error", worst_error(j), "seed",
                             j->final ? json_integer((json_int_t)j->seed) : NULL, "compute", job_compute_class(job));
    json_object_set_new(root, "depth", depth_json(j, tools, counters));
    json_object_set_new(root, "problems", problems);
    json_object_set_new(root, "launches_judged", json_integer(launches_judged(j)));
    json_object_set_new(root, "sanitizers", tools ? json_incref(tools) : json_array());
    json_object_set_new(root, "sanitizer",
                        j->sanitized ? json_pack("{s:O, s:O}", "version", json_object_get(j->sanitized, "version"),
                                                 "problem", json_object_get(j->sanitized, "problem"))
                                     : json_null());
    json_object_set_new(root, "counters", counters);
    json_object_set_new(root, "findings", findings_of(about, j));
    json_object_set_new(root, "notes", notes_json(j));
    return root;
}

static void print_problems(FILE *to, const json_t *document)
{
    const json_t *problems = json_object_get(document, "problems"),
                 *baselines = json_object_get(json_array_get(problems, 0), "baselines");
    autorelease(text_list_release) struct text_list titles = {0};
    static const char *const before[] = {"problem", "status", ">error / bound", ">time"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) text_list_add(&titles, text_copy(before[i]));
    json_array_each(baselines, k, b) {
        text_list_add(&titles, text_format(">%s", json_get_string(b, "name", "?")));
        text_list_add(&titles, text_format(">ratio to %s", json_get_string(b, "name", "?")));
    }
    struct table *table = table_new((const char *const *)titles.list);
    json_array_each(problems, i, problem) {
        struct interval time = json_get_interval(problem, "time");
        table_cell(table, "%s%s", json_get_string(problem, "problem", "?"),
                   json_get_bool(problem, "tuned", true) ? "" : " (verified only)");
        table_cell(table, "%s", json_get_string(problem, "status", ""));
        table_number(table, "%.2g", json_get_number(problem, "error", NAN));
        table_cell(table, "%s", show_interval(&time, TEXT_ROOM));
        for (size_t k = 0; k < json_array_size(baselines); k++) {
            const json_t *b = json_array_get(json_object_get(problem, "baselines"), k);
            time = json_get_interval(b, "time");
            table_cell(table, "%s", isfinite(time.value) ? show_time(time.value, TEXT_ROOM) : "");
            time = json_get_interval(b, "ratio");
            table_cell(table, "%s", show_ratio(&time, TEXT_ROOM));
        }
    }
    fputc('\n', to);
    table_print(table, to);
    table_free(table);
    if (json_array_size(baselines))
        fprintf(to, "\nRatio: the baseline's time over the kernel's; above 1 the kernel is faster.\n");
}

static void print_sanitizers(FILE *to, const json_t *document)
{
    const json_t *tools = json_object_get(document, "sanitizers"), *about = json_object_get(document, "sanitizer");
    if (!json_array_size(tools)) return;
    fprintf(to, "\ncompute-sanitizer %s on %s\n", json_get_string(about, "version", "?"),
            json_get_string(about, "problem", "?"));
    json_array_each(tools, i, tool) {
        autofree char *name = sanitized_tool_name(tool), *words = sanitized_tool_text(tool);
        fprintf(to, "  %s: %s\n", name, words);
    }
}

static void print_findings(FILE *to, const json_t *document)
{
    const json_t *findings = json_object_get(document, "findings"), *notes = json_object_get(document, "notes");
    if (json_array_size(findings)) fprintf(to, "\nFindings\n");
    json_array_each(findings, i, finding) {
        const char *advice = json_get_string(finding, "advice", "");
        fprintf(to, "  %zu. %s: %s\n", i + 1, json_get_string(finding, "rule", "?"),
                json_get_string(finding, "seen", ""));
        if (*advice) fprintf(to, "     %s\n", advice);
    }
    json_array_each(notes, i, note) fprintf(to, "%snote: %s\n", i ? "" : "\n", json_string_value(note));
}

void judgement_print(FILE *to, const json_t *document)
{
    const char *configuration = json_get_string(document, "configuration", ""),
               *reason = json_get_string(document, "reason", "");
    bool right = json_get_bool(document, "right", false);
    char risk[96];
    fprintf(to, "%s: %s%s%s\n", json_get_string(document, "job", "?"),
            colour_begin(to, right ? COLOUR_GOOD : COLOUR_BAD),
            right ? "right" : json_get_string(document, "status", "?"), colour_end(to));
    if (*reason) fprintf(to, "  %s\n", reason);
    fprintf(to, "%s%s%s\non %s, driver %s, %s\n", json_get_string(document, "template", "?"),
            *configuration ? "  " : "", configuration, json_get_string(document, "device", "?"),
            json_get_string(document, "driver", "?"), json_get_string(document, "compiler", "?"));
    print_problems(to, document);
    if (right && *show_remaining_risk(json_get_integer(document, "launches_judged", 0), risk, sizeof risk))
        fprintf(to, "\n%s\n", risk);
    print_sanitizers(to, document);
    print_findings(to, document);
}
