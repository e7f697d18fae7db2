// The race of the winner's builds: users compile a template by nvcc, and what nvcc makes of it is not what NVRTC made.
// After a decided final NVRTC's build of the winner (with objective each, of every kernel) races nvcc's, which follows
// the header's instructions, and the libraries, by the final's own protocol: candidates are finalists but for their
// cubin. The result is a document (tuner/store/builds.h). Without nvcc, or where its build fails, the document says
// why.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/final/final.h"
#include "tuner/final/final_decide.h"
#include "tuner/store/builds.h"
#include "tuner/trial/trial_field.h"

static const double same_within = 0.01; // of NVRTC's time

static bool wanted(const struct final_run *f)
{
    const char *given = getenv("SWEETSPOT_NVCC"); // otherwise a path: tuner/compiler/nvcc.h
    if (given && !strcmp(given, "none")) return false;
    if (f->with.job->compiler == JOB_NVCC) return false; // there is no other build
    return !f->with.pool->replay && f->with.nvcc;
}

static void builds_reset(struct final_run *f)
{
    json_decref(f->builds.decision);
    f->builds.decision = NULL;
    *f->builds.compiler = 0;
    *f->builds.why.message = 0;
}

// The winners of a final's document.
static json_t *winners_of(const json_t *decision)
{
    json_t *kernels = json_object_get(decision, "kernels");
    return kernels ? json_incref(kernels) : json_pack("[O]", json_object_get(decision, "winner"));
}

static int add_builds(struct final_run *f, int64_t id, struct error *err)
{
    struct trial trial;
    uint16_t config[SPACE_MAX_PARAMETERS];
    int failed = store_get(f->with.store, id, &trial, err);
    if (failed) return failed > 0 ? error_set(err, "trial %" PRId64 " is not in the store", id) : -1;
    if (space_parse(f->with.job->space, trial.config, config, err)) return -1;
    for (int nvcc = 0; nvcc < 2; nvcc++) final_add(f, config, id)->by_nvcc = nvcc;
    return 0;
}

bool builds_begin(struct final_run *f)
{
    static const char *const members[] = {"winner", "kernels", "dispatch", "regret", "selector"};
    struct error err;
    const char *text;
    size_t i;
    json_t *one;
    builds_reset(f);
    if (!wanted(f)) return false;
    final_reset(f);
    int failed = store_get_document(f->with.store, "final", &text, NULL, &err);
    json_t *final = failed ? NULL : json_parse(text, &err);
    if (!final) {
        if (failed <= 0) fatal_error_set(f->with.failure, EXIT_ENVIRONMENT, &err);
        return false;
    }
    f->builds.decision = json_object();
    for (i = 0; i < sizeof members / sizeof *members; i++)
        if (json_object_get(final, members[i]))
            json_object_set(f->builds.decision, members[i], json_object_get(final, members[i]));
    json_decref(final);
    json_t *winners = winners_of(f->builds.decision);
    failed = 0;
    json_array_foreach(winners, i, one)
    {
        if (!failed) failed = add_builds(f, json_integer_value(one), &err);
    }
    json_decref(winners);
    if (failed) fatal_error_set(f->with.failure, EXIT_ENVIRONMENT, &err);
    return !failed;
}

void builds_compiled(struct final_run *f, const json_t *answer)
{
    snprintf(f->builds.compiler, sizeof f->builds.compiler, "%s", json_get_string(answer, "compiler", ""));
}

bool builds_over(const struct final_run *f)
{
    return *f->builds.why.message;
}

// One line of a compiler's message is enough. Compilations still under way are dropped when they end.
void builds_failed(struct final_run *f, const struct task *t, const char *reason)
{
    if (builds_over(f)) return;
    const char *whose = t->by_nvcc ? f->builds.compiler : "NVRTC";
    error_set(&f->builds.why, "%s%s%.*s", whose, *whose ? ": " : "", (int)strcspn(reason, "\n"), reason);
    for (size_t i = f->with.policy->queue.count; i-- > 0;) {
        struct task *other = (struct task *)f->with.policy->queue.tasks[i];
        if (other != t && other->queued.state != TASK_COMPILING) task_drop(f->with.policy, other);
    }
}

static const json_t *find_build(const json_t *entries, int64_t trial, const char *binary)
{
    const json_t *one;
    size_t i;
    json_array_foreach(entries, i, one)
    {
        if (json_get_integer(one, "trial", 0) == trial && !strcmp(json_get_string(one, "binary", ""), binary))
            return one;
    }
    return NULL;
}

// The trial that a tuned problem is given to.
static int64_t winner_on(const json_t *decision, size_t problem)
{
    const json_t *kernels = json_object_get(decision, "kernels"),
                 *index = json_array_get(json_object_get(decision, "dispatch"), problem);
    const json_t *trial = json_array_get(kernels, (size_t)json_integer_value(index));
    return kernels ? json_integer_value(trial) : json_get_integer(decision, "winner", 0);
}

// One compiler's builds as one entry: on each problem the build of the kernel that the problem is given to.
static json_t *compose(const struct final_run *f, const json_t *entries, const char *binary)
{
    json_t *problems = json_array(), *problem;
    const char *status = status_name(STATUS_OK), *reason = "";
    double error = NAN;
    for (size_t p = 0; p < f->with.job->tuned_count; p++) {
        const json_t *entry = find_build(entries, winner_on(f->builds.decision, p), binary);
        size_t i;
        if (status_find(json_get_string(entry, "status", "")) != STATUS_OK) {
            status = json_get_string(entry, "status", status_name(STATUS_CRASHED));
            reason = json_get_string(entry, "reason", "it was not timed");
        }
        error = fmax(error, json_get_number(entry, "error", NAN));
        json_array_foreach(json_object_get(entry, "problems"), i, problem)
        {
            if (json_get_integer(problem, "problem", -1) == (int64_t)p) json_array_append(problems, problem);
        }
    }
    return json_pack("{s:s, s:n, s:s, s:s, s:o, s:o}", "name", binary, "trial", "status", status, "reason", reason,
                     "error", json_real_or_null(error), "problems", problems);
}

// The entries of the document: see tuner/store/builds.h.
static json_t *document_entries(const json_t *entries, const json_t *nvcc)
{
    json_t *list = json_array(), *one;
    size_t i;
    json_array_foreach(entries, i, one)
    {
        if (strcmp(json_get_string(one, "binary", ""), PROTOCOL_NVCC) != 0) json_array_append(list, one);
    }
    json_array_append(list, (json_t *)nvcc);
    return list;
}

static json_t *figures_of(const struct compiled *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->entry_count; i++) {
        json_t *one = json_pack("{s:s}", "entry", c->entries[i].entry);
        trial_write_answer(FIELD_STAGE, FIELD_COMPILER, &c->entries[i].figures, one);
        json_array_append_new(list, one);
    }
    return list;
}

// What ptxas said about both builds of each winner.
static json_t *describe_builds(const struct final_run *f)
{
    json_t *list = json_array();
    for (size_t i = 0; i < f->with.policy->queue.count; i++) {
        const struct task *t = (const struct task *)f->with.policy->queue.tasks[i];
        if (t->queued.purpose != TASK_FINALIST || !t->compiled.cubin) continue;
        json_t *one = json_array_get(list, json_array_size(list) - 1);
        if (json_get_integer(one, "trial", 0) != t->trial)
            json_array_append_new(list, one = json_pack("{s:I}", "trial", (json_int_t)t->trial));
        json_object_set_new(one, t->by_nvcc ? PROTOCOL_NVCC : PROTOCOL_NVRTC, figures_of(&t->compiled));
    }
    return list;
}

// A build by NVRTC that fails here, on the same data as in the final, is out: it does not do the same every time.
static bool condemn(struct final_run *f, const json_t *entries)
{
    const json_t *one;
    size_t i;
    bool any = false;
    json_array_foreach(entries, i, one)
    {
        int status = status_find(json_get_string(one, "status", ""));
        int64_t trial = json_get_integer(one, "trial", 0);
        if (trial <= 0 || status <= STATUS_OK || strcmp(json_get_string(one, "binary", ""), PROTOCOL_NVRTC) != 0)
            continue;
        final_condemn(f, trial, (enum trial_status)status, json_get_string(one, "reason", ""));
        any = true;
    }
    return any;
}

static const char *verdict_word(const struct interval *ratio)
{
    struct interval inverse = {1 / ratio->value, 1 / ratio->high, 1 / ratio->low};
    if (final_stand(ratio, same_within) == FINAL_SLOWER) return BUILDS_SLOWER;
    if (final_stand(&inverse, same_within) == FINAL_SLOWER) return BUILDS_FASTER;
    return final_stand(ratio, same_within) == FINAL_TIED ? BUILDS_SAME : BUILDS_UNDECIDED;
}

enum { BUILDS_MOST = 16 }; // both builds and the libraries

// Both builds, then the libraries that have times: these show whether the device was disturbed. Returns how many.
static size_t gather(struct final_run *f, const json_t *nvrtc, const json_t *nvcc, const json_t *entries,
                     const unsigned char *process, size_t known, struct contender *contenders, double **objectives)
{
    const json_t *racers[BUILDS_MOST] = {nvrtc, nvcc}, *one;
    size_t count = 2, used = 0, i;
    json_array_foreach(entries, i, one)
    {
        bool ok = status_find(json_get_string(one, "status", "")) == STATUS_OK;
        if (ok && json_get_integer(one, "trial", 0) <= 0 && one != nvcc && count < BUILDS_MOST) racers[count++] = one;
    }
    for (i = 0; i < count; i++) {
        struct contender *c = &contenders[used];
        *c = (struct contender){.candidate = i < 2, .process = process};
        c->rounds = final_objectives(f, racers[i], &objectives[used]);
        c->objectives = objectives[used];
        if (known && c->rounds > known) c->rounds = known;
        if (i < 2 || c->rounds)
            used++;
        else
            free(objectives[used]);
    }
    return used;
}

// What the rounds say of nvcc's build beside NVRTC's.
static const char *judge(struct final_run *f, const json_t *nvrtc, const json_t *nvcc, const json_t *entries,
                         struct interval *ratio, double medians[2], struct error *why)
{
    struct contender contenders[BUILDS_MOST];
    double *objectives[BUILDS_MOST];
    unsigned char *process;
    size_t known = final_processes(f, &process), i;
    size_t count = gather(f, nvrtc, nvcc, entries, process, known, contenders, objectives);
    int troubled = final_poll(contenders, count, why);
    size_t pairs = final_ratio(&contenders[1], &contenders[0], ratio);
    const char *word = troubled || !pairs ? BUILDS_UNDECIDED : verdict_word(ratio);
    if (!pairs && !troubled) error_set(why, "there are no rounds in which both have a time");
    if (!troubled && pairs && !strcmp(word, BUILDS_UNDECIDED))
        error_set(why, "the interval is too wide to tell them apart or to call them equal");
    for (i = 0; i < 2; i++) medians[i] = contenders[i].median;
    for (i = 0; i < count; i++) free(objectives[i]);
    free(process);
    return word;
}

static void put(struct final_run *f, const char *verdict, const char *reason, const struct interval *ratio,
                const json_t *entries)
{
    double *objectives = NULL;
    size_t rounds = json_array_size(entries) ? final_objectives(f, json_array_get(entries, 0), &objectives) : 0;
    json_t *more = json_pack("{s:s, s:s, s:s, s:I, s:[], s:o}", "nvcc", f->builds.compiler, "verdict", verdict,
                             "reason", reason, "rounds", (json_int_t)rounds, "ties", "builds", describe_builds(f));
    free(objectives);
    if (ratio)
        json_object_set_new(more, "ratio",
                            json_pack("[o, o, o]", json_real_or_null(ratio->value), json_real_or_null(ratio->low),
                                      json_real_or_null(ratio->high)));
    json_object_update(more, f->builds.decision);
    final_put(f, BUILDS_DOCUMENT, more, entries);
    json_decref(more);
}

static void summarise(struct final_run *f, const char *verdict, const char *reason, const struct interval *ratio,
                      const double medians[2])
{
    static const struct {
        const char *word, *text;
    } texts[] = {{BUILDS_SLOWER, "slower: `sweetspot header --embed` ships the binary that was measured"},
                 {BUILDS_SAME, "the same within 1%"},
                 {BUILDS_FASTER, "faster: build the template with nvcc as the header says"},
                 {BUILDS_UNDECIDED, "not decided: "}};
    char shown[32];
    const char *text = "?";
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(texts[i].word, verdict)) text = texts[i].text;
    text_show_duration(medians[1], shown, sizeof shown);
    display_clear(f->with.display);
    printf("  built by %s: %s, %.3f times that of NVRTC's build (95%% interval %.3f to %.3f): %s%s\n",
           f->builds.compiler, shown, ratio->value, ratio->low, ratio->high, text, reason);
    display_log(f->with.display, "built by %s: %s, %.3f times NVRTC's (%.3f to %.3f): %s", f->builds.compiler, shown,
                ratio->value, ratio->low, ratio->high, verdict);
}

// The race was not finished, or not begun.
static void without_race(struct final_run *f, const char *verdict)
{
    json_t *none = json_array();
    display_message(f->with.display, "nvcc's build of the winner %s: %s",
                    !strcmp(verdict, BUILDS_FAILED) ? "failed in its final" : "is not timed", f->builds.why.message);
    put(f, verdict, f->builds.why.message, NULL, none);
    json_decref(none);
}

static void finish_builds(struct final_run *f)
{
    const json_t *entries = json_object_get(f->answer, "entries");
    json_t *nvrtc = compose(f, entries, PROTOCOL_NVRTC), *nvcc = compose(f, entries, PROTOCOL_NVCC),
           *list = document_entries(entries, nvcc);
    struct interval ratio;
    struct error why = {""};
    double medians[2];
    if (status_find(json_get_string(nvcc, "status", "")) != STATUS_OK) {
        error_set(&f->builds.why, "%s: %s: %s", f->builds.compiler, json_get_string(nvcc, "status", ""),
                  json_get_string(nvcc, "reason", ""));
        without_race(f, BUILDS_FAILED);
    } else {
        const char *verdict = judge(f, nvrtc, nvcc, list, &ratio, medians, &why);
        put(f, verdict, why.message, &ratio, list);
        summarise(f, verdict, why.message, &ratio, medians);
    }
    json_decref(nvrtc);
    json_decref(nvcc);
    json_decref(list);
}

enum final_outcome builds_finish(struct final_run *f)
{
    enum final_outcome outcome = FINAL_DECIDED;
    const char *word = json_get_string(f->answer, "status", "");
    if (builds_over(f)) {
        without_race(f, BUILDS_MISSING);
    } else if (!f->answer && !f->with.policy->final_over) {
        outcome = FINAL_FAILED; // interrupted
    } else if (status_find(word) != STATUS_OK) {
        error_set(&f->builds.why, "%s: %s", f->builds.compiler,
                  f->answer ? json_get_string(f->answer, "reason", word) : f->blamed.reason.message);
        without_race(f, BUILDS_FAILED);
    } else if (condemn(f, json_object_get(f->answer, "entries"))) {
        outcome = FINAL_AGAIN;
    } else {
        finish_builds(f);
    }
    final_drop(f);
    builds_reset(f);
    return outcome;
}

void final_close(struct final_run *f)
{
    final_reset(f);
    builds_reset(f);
    sanitizer_close(f->sanitizer);
    free(f->dropped);
}
