// The race of the winner's builds. Users compile a template with nvcc, and nvcc's code differs from NVRTC's. After a
// decided final, NVRTC's build of the winner races nvcc's build and the libraries. With objective each, every chosen
// kernel is built by both compilers. nvcc's build follows the header's instructions. The race uses the protocol of the
// final, with these builds as its candidates. The result is a document (tuner/store/builds.h).
// Without nvcc, or where its build fails, the document says why.
#include "tuner/base/clock.h"
#include "tuner/base/protocol.h"
#include "tuner/final/final.h"
#include "tuner/protocol/compile_message.h"
#include "tuner/store/builds.h"

static const double same_within = 0.01; // share of NVRTC's time

static void reset(struct final_run *f)
{
    f->builds.on = false;
    *f->builds.compiler = 0;
    *f->builds.why.message = 0;
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

static void put(struct final_run *f, const char *verdict, const char *reason, const struct interval *ratio,
                const struct final_entries *entries)
{
    struct final_document document;
    record_clear(&final_document_record, &document);
    document.decision = f->decision; // the final's, without the members about its rounds
    document.decision.ties = NULL;
    document.decision.certainty = document.decision.warning = "";
    document.decision.within = 0;
    document.decision.reason = reason;
    document.decision.rounds = 0;
    if (entries->count) {
        struct contender first = final_contender(f, &entries->list[0].answer, true);
        document.decision.rounds = (int64_t)first.rounds;
        free((void *)(uintptr_t)first.objectives);
    }
    if (ratio) document.ratio = *ratio;
    document.nvcc = f->builds.compiler;
    document.verdict = verdict;
    document.entries = entries->list;
    document.entry_count = entries->count;
    final_put(f, BUILDS_DOCUMENT, &document);
}

// Reports and stores that the race was not begun or not finished.
static void without_race(struct final_run *f, const char *verdict)
{
    struct final_entry_document none;
    display_message(f->with.display, "nvcc's build of the winner %s: %s",
                    !strcmp(verdict, BUILDS_FAILED) ? "failed in its final" : "is not timed", f->builds.why.message);
    put(f, verdict, f->builds.why.message, NULL, &(struct final_entries){&none, 0});
}

bool builds_begin(struct final_run *f)
{
    const struct final_decision *d = &f->decision;
    struct error err;
    double left = final_clock_left(&f->clock, clock_now());
    reset(f);
    if (!builds_wanted(f)) return false;
    if (left < f->clock.nvcc) {
        f->unchecked = true;
        error_set(&f->builds.why, "no time is left for it");
        without_race(f, BUILDS_MISSING);
        reset(f);
        return false;
    }
    final_phase(f, "nvcc compiles the winner");
    if (f->builds.ahead_of == d->winner) builds_end_ahead(f);
    final_reset(f);
    f->builds.on = true;
    int failed = d->kernel_count ? 0 : add_builds(f, d->winner, &err);
    for (size_t k = 0; k < d->kernel_count && !failed; k++) failed = add_builds(f, d->kernels[k], &err);
    if (failed) fatal_error_set(f->with.failure, EXIT_ENVIRONMENT, &err);
    return !failed;
}

void builds_hurry(struct final_run *f)
{
    struct policy *policy = f->with.policy;
    if (!f->builds.on || policy->final_sent || builds_over(f) || final_clock_left(&f->clock, clock_now()) > 0) return;
    f->unchecked = true;
    error_set(&f->builds.why, "no time is left for it");
    for (size_t i = policy->queue.count; i-- > 0;) {
        struct task *t = (struct task *)policy->queue.tasks[i];
        if (t->queued.state == TASK_COMPILING) slot_stop(&f->with.pool->compilers[t->queued.worker]);
        task_drop(policy, t);
    }
}

void builds_compiled(struct final_run *f, const json_t *message)
{
    struct compile_answer answer;
    autorelease(arena_release) struct arena memory = {NULL};
    record_read(&compile_answer_record, message, &answer, &memory, NULL);
    snprintf(f->builds.compiler, sizeof f->builds.compiler, "%s", answer.compiler);
}

bool builds_over(const struct final_run *f)
{
    return *f->builds.why.message;
}

// One line of the compiler's message is enough. Results of compilations in flight are dropped.
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

// Makes one entry from one compiler's builds. For each problem it has the build of the kernel that serves this problem.
static struct final_entry_answer compose(struct final_run *f, const char *compiler)
{
    const struct final_decision *d = &f->decision;
    size_t problems = f->with.job->tuned_count;
    struct final_entry_answer all = {.name = compiler,
                                     .binary = "",
                                     .status = STATUS_OK,
                                     .reason = "",
                                     .detail = "",
                                     .error = NAN,
                                     .cubin_hash = "",
                                     .problems = arena_new(&f->memory, problems * sizeof *all.problems)};
    for (size_t p = 0; p < problems; p++) {
        int64_t trial = d->kernel_count ? d->kernels[d->dispatch[p]] : d->winner;
        const struct final_entry_answer *e = NULL;
        for (size_t i = 0; i < f->answer->entry_count; i++)
            if (f->answer->entries[i].trial == trial && !strcmp(f->answer->entries[i].binary, compiler))
                e = &f->answer->entries[i];
        if (!e || !final_passed(e)) {
            all.status = e ? e->status : STATUS_CRASHED;
            all.reason = e ? e->reason : "it was not timed";
        }
        const struct final_times *times = e ? final_entry_times(e, p) : NULL;
        if (e) all.error = fmax(all.error, e->error);
        if (times) all.problems[all.problem_count++] = *times;
    }
    return all;
}

// The entries of the document: see tuner/store/builds.h.
static struct final_entries document_entries(struct final_run *f, const struct final_entry_answer *nvcc)
{
    struct final_entries entries = {NULL, 0};
    entries.list = arena_new(&f->memory, (f->answer->entry_count + 1) * sizeof *entries.list);
    for (size_t i = 0; i < f->answer->entry_count; i++)
        if (strcmp(f->answer->entries[i].binary, PROTOCOL_NVCC) != 0)
            entries.list[entries.count++].answer = f->answer->entries[i];
    entries.list[entries.count++].answer = *nvcc;
    return entries;
}

// An NVRTC build that fails here, on the same data as in the final, is excluded, because its behaviour is not
// reproducible.
static bool condemn(struct final_run *f)
{
    bool any = false;
    for (size_t i = 0; i < f->answer->entry_count; i++) {
        const struct final_entry_answer *e = &f->answer->entries[i];
        if (!e->trial || final_passed(e) || strcmp(e->binary, PROTOCOL_NVRTC) != 0) continue;
        final_condemn(f, e->trial, e->status, e->reason);
        any = true;
    }
    return any;
}

static const char *verdict_word(const struct interval *ratio)
{
    if (ratio->value > 1 + same_within && ratio->low > 1) return BUILDS_SLOWER;
    if (ratio->value < 1 / (1 + same_within) && ratio->high < 1) return BUILDS_FASTER;
    double limit = 1 + 2 * same_within;
    return ratio->low >= 1 / limit && ratio->high <= limit ? BUILDS_SAME : BUILDS_UNDECIDED;
}

// Compares nvcc's build with NVRTC's, based on their times in the rounds. Libraries that have times are examined too,
// since they show whether the device was disturbed.
static const char *decide(struct final_run *f, const struct final_entry_answer *nvrtc,
                          const struct final_entry_answer *nvcc, struct interval *ratio, double medians[2],
                          struct error *why)
{
    struct contender *contenders = memory_new(2 + f->answer->entry_count, sizeof *contenders);
    size_t count = 2;
    contenders[0] = final_contender(f, nvrtc, true);
    contenders[1] = final_contender(f, nvcc, true);
    for (size_t i = 0; i < f->answer->entry_count; i++) {
        const struct final_entry_answer *e = &f->answer->entries[i];
        if (final_passed(e) && !e->trial) contenders[count++] = final_contender(f, e, false);
    }
    final_examine(contenders, count, why);
    bool troubled = *why->message;
    size_t pairs = final_ratio(&contenders[1], &contenders[0], ratio);
    const char *word = troubled || !pairs ? BUILDS_UNDECIDED : verdict_word(ratio);
    if (!pairs && !troubled) error_set(why, "there are no rounds in which both have a time");
    if (!troubled && pairs && !strcmp(word, BUILDS_UNDECIDED))
        error_set(why, "the interval is too wide to tell them apart or to call them equal");
    for (size_t i = 0; i < 2; i++) medians[i] = contenders[i].median;
    final_contenders_free(contenders, count);
    return word;
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
    const char *text = "?", *shown = text_show_duration(medians[1], TEXT_ROOM);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(texts[i].word, verdict)) text = texts[i].text;
    display_clear(f->with.display);
    if (!f->with.events)
        printf("  built by %s: %s, %.3f times that of NVRTC's build (95%% interval %.3f to %.3f): %s%s\n",
               f->builds.compiler, shown, ratio->value, ratio->low, ratio->high, text, reason);
    display_log(f->with.display, "built by %s: %s, %.3f times NVRTC's (%.3f to %.3f): %s", f->builds.compiler, shown,
                ratio->value, ratio->low, ratio->high, verdict);
}

static void finish(struct final_run *f)
{
    struct final_entry_answer nvrtc = compose(f, PROTOCOL_NVRTC), nvcc = compose(f, PROTOCOL_NVCC);
    struct final_entries entries = document_entries(f, &nvcc);
    struct interval ratio;
    struct error why = {""};
    double medians[2];
    if (!final_passed(&nvcc)) {
        error_set(&f->builds.why, "%s: %s: %s", f->builds.compiler, status_name(nvcc.status), nvcc.reason);
        without_race(f, BUILDS_FAILED);
        return;
    }
    const char *verdict = decide(f, &nvrtc, &nvcc, &ratio, medians, &why);
    put(f, verdict, why.message, &ratio, &entries);
    summarise(f, verdict, why.message, &ratio, medians);
}

enum final_outcome builds_finish(struct final_run *f)
{
    enum final_outcome outcome = FINAL_DECIDED;
    const struct answer_head *head = f->answer ? &f->answer->head : NULL;
    if (builds_over(f)) {
        without_race(f, BUILDS_MISSING);
    } else if (!head && !f->with.policy->final_over) {
        outcome = FINAL_FAILED; // interrupted
    } else if (!head || !answer_is_ok(head)) {
        const char *reason = !head ? f->blamed.reason.message : *head->reason ? head->reason : head->status;
        error_set(&f->builds.why, "%s: %s", f->builds.compiler, reason);
        without_race(f, BUILDS_FAILED);
    } else if (condemn(f)) {
        outcome = FINAL_AGAIN;
    } else {
        finish(f);
    }
    final_drop(f);
    reset(f);
    return outcome;
}

void final_close(struct final_run *f)
{
    builds_end_ahead(f);
    final_reset(f);
    arena_release(&f->decided);
    sanitizer_close(f->sanitizing.by);
    free(f->dropped);
}
