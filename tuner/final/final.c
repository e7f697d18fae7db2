// The final: measures the best candidates of the search and the baselines once more, interleaved, on fresh data. The
// winner is decided in final_decide.c, or in final_each.c for a job with objective "each". A candidate whose results on
// the final's data are wrong is excluded, however fast it is.
#include "tuner/final/final.h"
#include "tuner/base/colour.h"
#include "tuner/setup/work_bounds.h"

enum { FINAL_GRACE = 60 }; // s to add to a trial's time limit for each progress message; one precedes every entry
enum { FINAL_SPARES = 2 }; // candidates per place
// Candidates that could still be the fastest take part. Their time in the search exceeds the best time by at most this
// share of the margin that `race` allows: by default, 3% of the best time. For short kernels, GRAPH_SPREAD is added to
// this. At least three candidates take part, if there are that many. Where energy decides, as many take part as the job
// allows.
static const double near_share = 0.3;
enum { FINAL_FEWEST = 3 };

// The sanitizer's tools take SANITIZER_SECONDS, or SANITIZER_STARTS times as long as the start of a GPU worker,
// whichever is longer. On a machine where a start took 4 s, they took 11 s. NVCC_SECONDS: the time to compile and time
// nvcc's build.
enum { SANITIZER_SECONDS = 3, SANITIZER_STARTS = 3, NVCC_SECONDS = 4 };

struct pick {
    struct final_run *f;
    size_t count;
    double best; // s
};

static int pick(void *user, const struct trial *trial)
{
    struct pick *p = user;
    struct final_run *f = p->f;
    uint16_t config[SPACE_MAX_PARAMETERS];
    const struct measure_settings *m = &f->with.job->measure;
    if (space_parse(f->with.job->space, trial->config, config, NULL) || space_index(f->with.job->space, config) < 0)
        return 0;
    if (!p->count) p->best = trial->objective;
    double limit = p->best * (1 + near_share * (m->early_stop - 1)) + (p->best < m->graph_below ? GRAPH_SPREAD : 0);
    bool near = f->places < FINAL_FEWEST || trial->objective <= limit || f->with.job->search.minimize != MINIMIZE_TIME;
    if (f->places < (size_t)m->final_candidates && near) f->places++;
    if (p->count >= FINAL_SPARES * f->places) return 1;
    final_add(f, config, trial->id);
    p->count++;
    return 0;
}

size_t final_most(const struct final_run *f)
{
    return (size_t)f->with.job->measure.final_candidates * FINAL_SPARES;
}

void final_expect(struct final_run *f, double start, double worker)
{
    f->clock.worker = worker;
    f->clock.verifies = f->with.job->verify.enabled;
    f->clock.sanitizer = final_sanitizes(f) ? fmax(SANITIZER_SECONDS, SANITIZER_STARTS * start) : 0;
    f->clock.nvcc = builds_wanted(f) ? NVCC_SECONDS : 0;
    f->clock.energy = final_wants_energy(f) ? (double)(FINAL_ENERGY_SECONDS * f->with.job->tuned_count) : 0;
    f->clock.energy_decides = f->with.job->search.minimize != MINIMIZE_TIME;
}

int final_begin(struct final_run *f)
{
    final_reset(f);
    f->places = 0;
    if (f->with.job->search.objective == OBJECTIVE_EACH) return final_begin_each(f);
    struct pick p = {.f = f};
    struct error err;
    if (store_each(f->with.store, true, 0, STORE_WHOLE, pick, &p, &err) < 0)
        fatal_error_set(f->with.failure, EXIT_ENVIRONMENT, &err);
    return (int)p.count;
}

void final_send(struct final_run *f, size_t gpu)
{
    autorelease(arena_release) struct arena memory = {NULL};
    const struct job_answer *job = f->with.job_answer;
    struct final_candidate *candidates = arena_new(&memory, f->with.policy->queue.count * sizeof *candidates);
    const char **baselines = arena_new(&memory, job->baseline_count * sizeof *baselines);
    bool all = f->with.job->search.objective == OBJECTIVE_EACH || f->builds.on;
    struct final_request request = {.seed = (int64_t)final_seed(f),
                                    .process = f->rounds.process,
                                    .part = f->rounds.part,
                                    .rounds = final_rounds_wanted(&f->rounds),
                                    .places = all ? -1 : (int64_t)f->places,
                                    .candidates = candidates,
                                    .baselines = baselines};
    f->sanitizing.condemned = 0;
    for (size_t i = 0; i < f->with.policy->queue.count; i++) {
        const struct task *t = (const struct task *)f->with.policy->queue.tasks[i];
        if (t->queued.state != TASK_FINAL || !final_stands(f, t)) continue;
        if (f->energy.on && f->energy.winner && t->trial != f->energy.winner) continue;
        candidates[request.candidate_count++] = (struct final_candidate){
            .trial = t->trial,
            .binary = t->by_nvcc ? PROTOCOL_NVCC : PROTOCOL_NVRTC,
            .candidate = {.config = t->text, .cubin = t->compiled.cubin, .written = t->problems}};
    }
    for (size_t i = 0; i < job->baseline_count; i++) {
        const struct baseline_answer *b = &job->baselines[i];
        bool candidate = !strcmp(b->name, CURRENT_KERNEL) && final_has_current(f, &request);
        if (b->problem_count && !candidate && !(f->dropped && f->dropped[i]))
            baselines[request.baseline_count++] = b->name;
    }
    final_limit(f, &request);
    if (request.candidate_count) builds_ahead(f, candidates[0].trial); // the search's best
    display_log(f->with.display,
                "%s: %zu candidates and %zu baselines, %" PRId64 " rounds in process %" PRId64 " on %s",
                f->builds.on   ? "comparison of builds"
                : f->energy.on ? "energy"
                               : "final",
                request.candidate_count, request.baseline_count, request.rounds, request.process + 1,
                f->with.pool->gpus[gpu].name);
    slot_send(&f->with.pool->gpus[gpu], request_write("final", &final_request_record, &request),
              f->with.job->measure.timeout + FINAL_GRACE);
}

// The certainty of the winner in words, to be printed after its time.
static char *certainty_text(const struct final_run *f, const struct final_entries *entries,
                            const struct contender *contenders, const struct final_verdict *v)
{
    const char *by = f->decision.minimize;
    int64_t rival = entries->list[v->rival].answer.trial;
    size_t ties = 0;
    for (size_t i = 0; i < entries->count; i++) ties += contenders[i].tied;
    if (v->certainty == FINAL_FASTEST) return *by ? text_format("least %s", by) : text_copy("fastest");
    if (v->certainty == FINAL_UNDECIDED && *by)
        return text_format("within %.2g%% of the least %s, undecided (trial %" PRId64 " may take less)",
                           100 * v->within, by, rival);
    if (v->certainty == FINAL_UNDECIDED)
        return text_format("within %.2g%% of the fastest, undecided (trial %" PRId64 " may be faster)", 100 * v->within,
                           rival);
    return ties == 1 ? text_format("tied with trial %" PRId64, rival)
                     : text_format("tied with %zu others within %.2g%%", ties, 100 * v->within);
}

static void summarise(struct final_run *f, const struct final_entries *entries, const struct contender *contenders,
                      const struct final_verdict *v)
{
    struct display *display = f->with.display;
    autofree struct final_compared *baselines = memory_new(entries->count, sizeof *baselines);
    size_t count = 0, winner = (size_t)v->winner;
    struct trial trial;
    struct error err;
    const char *shown = text_show_duration(contenders[winner].median, TEXT_ROOM);
    autofree char *certainty = certainty_text(f, entries, contenders, v);
    bool told = f->with.events != NULL;
    for (size_t i = 0; i < entries->count; i++) {
        struct final_compared *b = &baselines[count];
        if (contenders[i].candidate || !contenders[i].rounds) continue;
        b->name = entries->list[i].answer.name;
        b->rounds = final_ratio(&contenders[i], &contenders[winner], &b->ratio);
        count++;
    }
    if (store_get(f->with.store, entries->list[winner].answer.trial, &trial, &err)) return;
    display_clear(display);
    if (!told)
        printf("%swinner%s: trial %" PRId64 ", %s, %s\n  %s\n", colour_begin(stdout, COLOUR_GOOD), colour_end(stdout),
               trial.id, shown, certainty, trial.config);
    display_log(display, "winner: trial %" PRId64 ", %s, %s: %s", trial.id, shown, certainty, trial.config);
    for (size_t i = 0; i < count; i++) {
        const struct interval *ratio = &baselines[i].ratio;
        if (!told)
            printf("  %.3fx as fast as %s (95%% interval %.3f to %.3f, %zu rounds)\n", ratio->value, baselines[i].name,
                   ratio->low, ratio->high, baselines[i].rounds);
        display_log(display, "%.3fx as fast as %s (%.3f to %.3f)", ratio->value, baselines[i].name, ratio->low,
                    ratio->high);
    }
    double least = work_least_objective(f->with.job, *f->with.ceilings);
    if (!told && isfinite(least)) printf("  %.1f%% of the measured ceiling\n", 100 * least / contenders[winner].median);
    final_energy_tell(f, entries, contenders, winner);
    final_event_winner(f, &trial, contenders[winner].median, baselines, count);
}

// Makes a contender for each entry; those that have not passed have no rounds.
static struct contender *read_contenders(struct final_run *f, const struct final_entries *entries)
{
    struct contender *contenders = memory_new(entries->count, sizeof *contenders);
    for (size_t i = 0; i < entries->count; i++) contenders[i] = final_entrant(f, &entries->list[i].answer);
    return contenders;
}
// Writes each process's medians into the entries of the final's document.
static void note_processes(struct final_run *f, struct final_entries *entries, const struct contender *contenders)
{
    for (size_t i = 0; i < entries->count && f->processes.of; i++) {
        struct final_entry_document *entry = &entries->list[i];
        if (!contenders[i].rounds) continue;
        double *medians = arena_new(&f->memory, FINAL_PROCESSES_MAX * sizeof *medians);
        for (int p = 0; p < FINAL_PROCESSES_MAX; p++)
            if (isfinite(contenders[i].process_medians[p]))
                medians[entry->process_count++] = contenders[i].process_medians[p];
        entry->process_medians = medians;
        entry->by_process = contenders[i].by_process;
        if (!entry->by_process) continue;
        autofree char *trial = text_format("trial %" PRId64, entry->answer.trial);
        display_message(
            f->with.display,
            "%s runs at one of two speeds, depending on the process that runs it; expect both in your program",
            contenders[i].candidate ? trial : entry->answer.name);
    }
}

// Finds the winner by time, or by energy if the job asks for that and the energy is known.
static void find_winner(struct final_run *f, struct contender *contenders, size_t count, int look,
                        struct final_verdict *v)
{
    enum minimize minimize = f->with.job->search.minimize;
    final_decide(contenders, count, look, v);
    bool by_energy =
        minimize != MINIMIZE_TIME && final_decide_energy(contenders, count, minimize == MINIMIZE_PRODUCT, v);
    f->decision.minimize = by_energy ? minimize_text[minimize] : "";
}

static void decide_one(struct final_run *f, const struct final_entries *entries, const struct contender *contenders,
                       const struct final_verdict *v)
{
    struct final_decision *d = &f->decision;
    size_t winner = (size_t)v->winner;
    int64_t *ties = arena_new(&f->decided, entries->count * sizeof *ties);
    for (size_t i = 0; i < entries->count; i++)
        if (contenders[i].tied) ties[d->tie_count++] = entries->list[i].answer.trial;
    d->ties = ties;
    d->rounds = (int64_t)contenders[winner].rounds;
    d->winner = entries->list[winner].answer.trial;
    d->certainty = final_certainty_name(v->certainty);
    d->within = v->within;
    d->warning = arena_copy(&f->decided, v->warning.message);
    summarise(f, entries, contenders, v);
}

// Makes f->decision: one winner, or a set of kernels. Returns false if no candidate passed.
static bool decide(struct final_run *f, struct final_entries *entries)
{
    struct contender *contenders = read_contenders(f, entries);
    bool each = f->with.job->search.objective == OBJECTIVE_EACH, decided = false;
    struct final_verdict v = {.winner = 0};
    arena_release(&f->decided);
    record_clear(&final_decision_record, &f->decision);
    int look = f->rounds.look ? f->rounds.look : 1; // in a replay, this is the first look
    if (each)
        final_examine(contenders, entries->count, &v.warning);
    else
        find_winner(f, contenders, entries->count, look, &v);
    note_processes(f, entries, contenders);
    if (*v.warning.message) display_message(f->with.display, "%s", v.warning.message);
    if (each) {
        decided = final_decide_each(f, entries);
    }
    while (!each && !decided && v.winner >= 0) {
        struct final_entry_answer *e = &entries->list[v.winner].answer;
        decided = !final_sanitize(f, &e->trial, 1);
        if (decided) {
            decide_one(f, entries, contenders, &v);
            break;
        }
        e->status = f->blamed.status; // the others are compared again, with the same rounds
        e->reason = arena_copy(&f->memory, f->blamed.reason.message);
        contenders[v.winner].rounds = 0;
        find_winner(f, contenders, entries->count, look, &v);
        if (v.winner >= 0) continue;
        for (size_t i = 0; i < entries->count; i++) contenders[i].slower = false; // consider those that have left, too
        find_winner(f, contenders, entries->count, look, &v);
    }
    final_contenders_free(contenders, entries->count);
    return decided;
}

// Sets the verdict of candidates that have not passed. Returns how many there are.
static size_t condemn_entries(struct final_run *f)
{
    size_t condemned = 0;
    for (size_t i = 0; i < f->answer->entry_count; i++) {
        const struct final_entry_answer *e = &f->answer->entries[i];
        if (final_passed(e)) continue;
        if (e->trial)
            final_condemn(f, e->trial, e->status, e->reason);
        else
            display_message(f->with.display, "%s is out of the final: %s: %s", e->name, status_name(e->status),
                            e->reason);
        condemned += e->trial != 0;
    }
    return condemned;
}

enum { DEATHS_MOST = 3 };

// Another final may find a winner if an entry has been excluded, or if the worker died and no candidate is to blame,
// for example because the machine ran out of memory. Sets `why`.
static enum final_outcome without_winner(struct final_run *f, size_t condemned, struct error *why)
{
    error_set(why, "a candidate is out");
    if (condemned) return FINAL_AGAIN;
    if (!f->answer && ++f->deaths < DEATHS_MOST) {
        display_message(f->with.display, "the GPU worker ended during the final (see the log), which starts again");
        return FINAL_AGAIN;
    }
    if (!f->answer)
        error_set(why,
                  "the GPU worker ended %d times during the final (see the log), so no winner is decided; run the same "
                  "command again",
                  DEATHS_MOST);
    else
        error_set(why, "the final has no winner: %s; the log has the reasons",
                  *f->answer->head.reason ? f->answer->head.reason
                  : f->with.job->search.objective == OBJECTIVE_EACH
                      ? "the candidates that passed it do not cover every problem"
                      : "no candidate passed it");
    display_message(f->with.display, "%s", why->message);
    return FINAL_FAILED;
}

// Stores the document. The rounds are stored even without a decision, so that the user can see the reason.
static void put(struct final_run *f, const char *kind, const struct final_entries *entries)
{
    struct final_document document;
    record_clear(&final_document_record, &document);
    document.decision = f->decision;
    document.entries = entries->list;
    document.entry_count = entries->count;
    final_put(f, kind, &document);
}

// Excludes from the next final a baseline that has crashed this final. Returns whether there is a baseline with that
// name.
static bool drop_baseline(struct final_run *f, const struct answer_head *head)
{
    const struct job_answer *job = f->with.job_answer;
    if (!f->dropped) f->dropped = memory_new(job->baseline_count, sizeof *f->dropped);
    for (size_t i = 0; i < job->baseline_count; i++) {
        const struct baseline_answer *b = &job->baselines[i];
        if (strcmp(b->name, head->baseline) != 0 || !b->problem_count || f->dropped[i]) continue;
        display_message(f->with.display, "baseline %s: it crashes in the final, which continues without it: %s",
                        b->name, head->reason);
        return f->dropped[i] = true;
    }
    return false;
}

// Removes the entries that the answer, or its absence, excludes from the final. Returns their number.
static size_t take_out(struct final_run *f, bool crashed)
{
    const struct answer_head *head = f->answer ? &f->answer->head : NULL;
    if (crashed && head && head->trial > 0)
        final_condemn(f, head->trial, STATUS_CRASHED, head->reason);
    else if (!head && f->blamed.trial > 0)
        final_condemn(f, f->blamed.trial, f->blamed.status, f->blamed.reason.message);
    else if (!crashed || !head || !drop_baseline(f, head)) // the final is tried again without it
        return head ? condemn_entries(f) : 0;
    return 1;
}

// Lists the entries of an answer for the final's document.
static struct final_entries list_entries(struct final_run *f, const struct final_answer *answer)
{
    struct final_entries entries = {NULL, 0};
    if (!answer) return entries;
    entries.list = arena_new(&f->memory, (answer->entry_count + 1) * sizeof *entries.list);
    for (; entries.count < answer->entry_count; entries.count++)
        entries.list[entries.count].answer = answer->entries[entries.count];
    final_add_current(f, &entries);
    return entries;
}

void final_interrupted(struct final_run *f)
{
    if (!f->before || f->builds.on) return;
    struct final_entries entries = list_entries(f, f->before);
    struct contender *contenders = read_contenders(f, &entries);
    struct final_verdict v;
    final_decide(contenders, entries.count, f->rounds.look + 1, &v);
    arena_release(&f->decided);
    record_clear(&final_decision_record, &f->decision);
    f->decision.reason = "it was interrupted";
    f->decision.rounds = (int64_t)f->processes.rounds;
    put(f, "open_final", &entries);
    if (v.winner >= 0 && f->with.job->search.objective != OBJECTIVE_EACH) {
        autofree char *certainty = certainty_text(f, &entries, contenders, &v);
        display_message(f->with.display,
                        "the final was interrupted after %zu rounds; ahead is trial %" PRId64 ", %s, %s",
                        f->processes.rounds, entries.list[v.winner].answer.trial,
                        text_show_duration(contenders[v.winner].median, TEXT_ROOM), certainty);
    }
    f->decision.reason = "";
    final_contenders_free(contenders, entries.count);
}

enum final_outcome final_finish(struct final_run *f)
{
    bool crashed = f->answer && status_find(f->answer->head.status) == STATUS_CRASHED;
    enum final_outcome outcome = FINAL_DECIDED;
    struct error why = {""};
    if (f->answer && !crashed) final_refuse_errors(f);
    size_t out = take_out(f, crashed);
    struct final_entries entries = list_entries(f, f->answer);
    if (f->answer && !crashed && decide(f, &entries))
        put(f, "final", &entries);
    else
        outcome = without_winner(f, out + f->sanitizing.condemned, &why);
    final_event_outcome(f, outcome, why.message);
    if (outcome == FINAL_DECIDED) final_keep_binaries(f, &entries);
    final_drop(f);
    return outcome;
}
