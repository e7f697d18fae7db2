// The parts of a final's rounds. Several processes of one GPU's worker take these parts, one after another, because
// some kernels run at one of two speeds and keep it for the whole process (final_rounds.h). The first part finds out
// which candidates pass, and later parts race only these. Each new process verifies them again, and a candidate that
// fails there is excluded as well. The answers are combined into one that has all rounds and, for each round, the
// number of its process. Candidates that have turned out slower than others leave the race, and keep the rounds that
// they have.
#include <assert.h>

#include "tuner/base/clock.h"
#include "tuner/base/protocol.h"
#include "tuner/final/final.h"

// Without a limit on the command's time, rounds beyond the planned ones end this long after the final began.
// `extra_time` is in s, and `extra_share` is a share of the command's time until then; the longer of the two applies.
static const double extra_time = 5, extra_share = 0.002;
static const double least_part = 0.1; // s; a shorter part would hardly change the result
enum { FINAL_EXPECTED = 5 };          // expected candidates while the search runs

// Energy is measured in one process only, so the times must come from that process too.
static int64_t processes_wanted(const struct final_run *f)
{
    bool one = f->with.pool->replay || f->with.job->search.minimize != MINIMIZE_TIME;
    return one ? 1 : f->with.job->measure.final_processes;
}

struct final_size final_size(const struct final_run *f)
{
    const struct measure_settings *m = &f->with.job->measure;
    bool few = m->final_candidates < FINAL_EXPECTED || f->with.job->search.minimize != MINIMIZE_TIME;
    size_t expected = few ? (size_t)m->final_candidates : FINAL_EXPECTED;
    return (struct final_size){.candidates = f->places ? f->places : expected,
                               .baselines = f->with.job_answer->baseline_count,
                               .rounds = m->final_rounds,
                               .processes = processes_wanted(f)};
}

void final_limit(struct final_run *f, struct final_request *request)
{
    if (f->energy.on) {
        double rest = final_clock_for_energy(&f->clock, clock_now());
        request->energy = true;
        request->rounds = 1;
        request->seconds = isfinite(rest) ? fmax(rest, FINAL_ENERGY_SECONDS) : 0;
        return;
    }
    double now = clock_now(), begun = f->with.begun;
    struct final_size size = final_size(f);
    bool first = !f->before && !f->rounds.part;
    if (request->candidate_count < size.candidates) size.candidates = request->candidate_count;
    size.baselines = request->baseline_count;
    if (first) f->until = now + fmax(extra_time, extra_share * (now - begun));
    double left = final_clock_for_rounds(&f->clock, &size, now);
    if (first && isfinite(left)) {
        size = final_clock_fit(&f->clock, &size, left);
        if (size.processes < f->rounds.processes) f->rounds.processes = size.processes;
        if (request->places > (int64_t)size.candidates) request->places = (int64_t)size.candidates;
        request->rounds = final_rounds_wanted(&f->rounds);
    }
    left -= final_clock_energy(&f->clock, &size);
    if (!f->rounds.part) left /= (double)(f->rounds.processes - f->rounds.process);
    if (f->rounds.taken >= f->rounds.planned) left = fmin(left, f->until - now);
    request->seconds = isfinite(left) ? fmax(left, least_part) : 0;
}

void final_reset(struct final_run *f)
{
    const struct job *job = f->with.job;
    arena_release(&f->memory);
    f->answer = f->before = NULL;
    f->processes.of = NULL;
    f->processes.rounds = 0;
    f->current = 0;
    f->blamed.trial = 0;
    f->ended = 0;
    f->energy.on = false;
    if (job) // no candidate leaves early where a slower one may win
        f->rounds =
            final_rounds_begin(job->measure.final_rounds, processes_wanted(f),
                               job->search.objective == OBJECTIVE_EACH || job->search.minimize != MINIMIZE_TIME);
}

void final_move(struct final_run *f)
{
    display_log(f->with.display, "the final starts again on another GPU: rounds of two GPUs are not combined");
    final_reset(f);
    policy_move_final(f->with.policy);
}

void final_resume(struct final_run *f)
{
    struct final_rounds *r = &f->rounds;
    if (r->part && r->process + 1 < FINAL_PROCESSES_MAX) r->process++; // the lost process's rounds stay
    if (r->process >= r->processes) r->processes = r->process + 1;
    f->energy.on = false; // it comes after the new worker's rounds
    r->part = 0;
    policy_continue_final(f->with.policy);
}

void final_take(struct final_run *f, const json_t *answer)
{
    f->answer = arena_new(&f->memory, sizeof *f->answer);
    record_read(&final_answer_record, answer, f->answer, &f->memory, NULL);
}

bool final_stands(const struct final_run *f, const struct task *t)
{
    if (!f->before) return true;
    const char *compiler = t->by_nvcc ? PROTOCOL_NVCC : PROTOCOL_NVRTC;
    const struct final_entry_answer *e = final_find_entry(f->before, t->trial, compiler, "");
    return e && final_passed(e) && !e->left;
}

static void keep_larger(double *to, double from)
{
    if (isfinite(from) && !(*to >= from)) *to = from;
}

// Appends a part's rounds to those of the earlier parts: exactly `rounds` of them, NaN where there is no time.
static void add_times(struct final_run *f, struct final_times *to, const struct final_times *from, size_t before,
                      size_t rounds)
{
    assert(to);
    double *times = arena_new(&f->memory, (before + rounds) * sizeof *times);
    for (size_t i = 0; i < before + rounds; i++) {
        const struct final_times *of = i < before ? to : from;
        size_t at = i < before ? i : i - before;
        times[i] = of && at < of->time_count ? of->times[at] : NAN;
    }
    to->times = times;
    to->time_count = before + rounds;
}

static void add_entry(struct final_run *f, struct final_entry_answer *to, const struct final_entry_answer *from,
                      size_t before, size_t rounds)
{
    if (!from || !final_passed(from)) {
        to->status = from ? from->status : STATUS_CRASHED;
        to->reason = from && *from->reason ? from->reason : "the GPU worker dropped it without a reason";
        return;
    }
    keep_larger(&to->error, from->error);
    to->launches_judged += from->launches_judged;
    to->sizes_verified += from->sizes_verified;
    if (strcmp(to->cubin_hash, from->cubin_hash) != 0)
        to->cubin_hash = ""; // the bytes differ, so no binary was verified by all processes
    for (size_t i = 0; i < to->problem_count; i++) {
        struct final_times *problem = &to->problems[i];
        const struct final_times *more = final_entry_times(from, (size_t)problem->problem);
        add_times(f, problem, more, before, rounds);
        keep_larger(&problem->error_max, more ? more->error_max : NAN);
        keep_larger(&problem->error_rms, more ? more->error_rms : NAN);
    }
}

// The number of rounds that an entry has on all problems, at most as many as were requested.
static size_t rounds_of(const struct final_run *f, const struct final_entry_answer *e)
{
    size_t rounds = (size_t)final_rounds_wanted(&f->rounds);
    for (size_t p = 0; p < e->problem_count; p++)
        if (e->problems[p].time_count < rounds) rounds = e->problems[p].time_count;
    return e->problem_count ? rounds : 0;
}

// The number of rounds in the newest answer. It is taken from the entry with the most rounds: if another entry lacks
// times, this is the worker's mistake and does not reduce the number.
static size_t rounds_taken(const struct final_run *f)
{
    size_t most = 0;
    for (size_t i = 0; i < f->answer->entry_count; i++) {
        const struct final_entry_answer *e = &f->answer->entries[i];
        size_t rounds = final_passed(e) ? rounds_of(f, e) : 0;
        if (rounds > most) most = rounds;
    }
    return most;
}

// Combines the newest answer with the earlier ones. The first answer's rounds are truncated or padded, so that later
// ones line up. Returns the number of rounds in the newest answer.
static size_t add_answer(struct final_run *f)
{
    size_t before = f->before ? f->processes.rounds : 0, rounds = rounds_taken(f);
    unsigned char *process_of = arena_new(&f->memory, before + rounds + 1);
    if (before) memcpy(process_of, f->processes.of, before);
    memset(process_of + before, (int)f->rounds.process, rounds);
    struct final_answer *all = f->before ? f->before : f->answer;
    for (size_t i = 0; i < all->entry_count; i++) {
        struct final_entry_answer *e = &all->entries[i];
        for (size_t p = 0; p < e->problem_count && !f->before; p++)
            add_times(f, &e->problems[p], &e->problems[p], 0, rounds);
        if (f->before && final_passed(e) && !e->left)
            add_entry(f, e, final_find_entry(f->answer, e->trial, e->binary, e->name), before, rounds);
    }
    f->before = all;
    f->processes.of = process_of;
    f->processes.rounds = before + rounds;
    return rounds;
}

static bool a_candidate_stands(const struct final_answer *a)
{
    for (size_t i = 0; i < a->entry_count; i++)
        if (a->entries[i].trial > 0 && final_passed(&a->entries[i])) return true;
    return false;
}

// Looks at all rounds so far, and drops candidates that have lost.
static enum final_next look(struct final_run *f, size_t rounds)
{
    struct final_answer *all = f->before;
    struct contender *contenders = memory_new(all->entry_count, sizeof *contenders);
    for (size_t i = 0; i < all->entry_count; i++) contenders[i] = final_entrant(f, &all->entries[i]);
    enum final_next next = final_rounds_take(&f->rounds, rounds, contenders, all->entry_count);
    size_t ahead = 0;
    for (size_t i = 0; i < all->entry_count; i++) {
        struct final_entry_answer *e = &all->entries[i];
        bool stands = contenders[i].candidate && contenders[i].rounds;
        if (stands && !(contenders[ahead].candidate && contenders[ahead].median <= contenders[i].median)) ahead = i;
        if (contenders[i].slower && !e->left)
            display_log(f->with.display, "%s leaves the final after %zu rounds: it is slower than another", e->name,
                        contenders[i].rounds);
        e->left = contenders[i].slower;
    }
    builds_ahead(f, all->entries[ahead].trial);
    final_contenders_free(contenders, all->entry_count);
    return next;
}

// Whether there is time for the next step.
static bool has_time(struct final_run *f, enum final_next next)
{
    struct final_size size = final_size(f);
    double now = clock_now(), left = final_clock_for_rounds(&f->clock, &size, now);
    if (next == FINAL_NEXT_PROCESS) return left > final_clock_least(&f->clock, &size);
    bool planned = f->rounds.taken < f->rounds.planned;
    return left > least_part && (planned || f->until - now > least_part);
}

// Makes f->answer the combined answer of all parts.
static bool end_parts(struct final_run *f)
{
    f->answer = f->before;
    f->before = NULL;
    if (!f->rounds.process) f->processes.of = NULL;
    return false;
}

bool final_continues(struct final_run *f)
{
    if (f->energy.on) return final_energy_take(f) && end_parts(f);
    if (f->with.failure->set || !f->answer || !answer_is_ok(&f->answer->head) || f->with.pool->replay) {
        f->processes.of = NULL; // the answer comes from one process
        return false;
    }
    size_t rounds = add_answer(f);
    f->answer = NULL;
    enum final_next next = a_candidate_stands(f->before) ? look(f, rounds) : FINAL_STOP;
    if (next != FINAL_STOP && !has_time(f, next)) {
        next = FINAL_STOP;
        if (isfinite(f->clock.deadline) && f->rounds.taken < f->rounds.planned)
            display_message(f->with.display, "the final had time for %" PRId64 " of %" PRId64 " rounds",
                            f->rounds.taken, f->rounds.planned);
    }
    if (next == FINAL_STOP && !final_energy_begin(f)) return end_parts(f);
    if (next == FINAL_NEXT_PROCESS) {
        slot_stop(&f->with.pool->gpus[f->with.policy->final_gpu]);
        policy_gpu_lost(f->with.policy, f->with.policy->final_gpu, true);
    }
    policy_continue_final(f->with.policy);
    return true;
}
