// The processes of a final. Its rounds are shared by several processes of one GPU's worker, one after another, because
// some kernels take one of two times for as long as a process lives. The first process finds out which candidates
// pass; the others race only these and prove them again; a candidate that fails then is out as well. Their answers are
// put together into one: the rounds of all, and for each round the number of its process.
#include <assert.h>

#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
#include "tuner/final/final.h"

void final_reset(struct final_run *f)
{
    arena_release(&f->memory);
    f->answer = f->before = NULL;
    f->process_of = NULL;
    f->process = f->current = 0;
    f->blamed.trial = 0;
    f->ended = 0;
}

void final_move(struct final_run *f)
{
    display_log(f->with.display, "the final begins again on another GPU: rounds of two are not put together");
    f->before = NULL;
    f->process_of = NULL;
    f->process = 0;
    policy_move_final(f->with.policy);
}

void final_take(struct final_run *f, const json_t *answer)
{
    f->answer = arena_new(&f->memory, sizeof *f->answer);
    record_read(&final_answer_record, answer, f->answer, &f->memory, NULL);
}

// Of all processes together. Intervals halve with four times the rounds.
static int64_t all_rounds(const struct final_run *f)
{
    int64_t rounds = f->with.job->measure.final_rounds;
    for (int i = 0; i < f->open && rounds <= FINAL_ROUNDS_MAX / 4; i++) rounds *= 4;
    return rounds;
}

static int64_t processes(const struct final_run *f)
{
    int64_t n = f->with.job->measure.final_processes, rounds = all_rounds(f);
    if (f->with.pool->replay) return 1;
    return n < rounds ? n : rounds;
}

int64_t final_rounds(const struct final_run *f)
{
    int64_t rounds = all_rounds(f), n = processes(f);
    return rounds / n + (f->process < rounds % n);
}

static const struct final_entry_answer *find_entry(const struct final_answer *a, int64_t trial, const char *compiler,
                                                   const char *name)
{
    for (size_t i = 0; i < a->entry_count; i++) {
        const struct final_entry_answer *e = &a->entries[i];
        if (e->trial == trial && (trial ? final_is_of(e, compiler) : !strcmp(e->name, name))) return e;
    }
    return NULL;
}

bool final_stands(const struct final_run *f, const struct task *t)
{
    if (!f->before) return true;
    const char *compiler = t->by_nvcc ? PROTOCOL_NVCC : PROTOCOL_NVRTC;
    const struct final_entry_answer *e = find_entry(f->before, t->trial, compiler, "");
    return e && final_passed(e);
}

static void keep_larger(double *to, double from)
{
    if (isfinite(from) && !(*to >= from)) *to = from;
}

// A process's rounds after those of the earlier ones: exactly so many, NaN where there is no time.
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
        to->cubin_hash = ""; // not the same bytes in every process, so no bytes were proved by all
    for (size_t i = 0; i < to->problem_count; i++) {
        struct final_times *problem = &to->problems[i];
        const struct final_times *more = final_entry_times(from, (size_t)problem->problem);
        add_times(f, problem, more, before, rounds);
        keep_larger(&problem->error_max, more ? more->error_max : NAN);
        keep_larger(&problem->error_rms, more ? more->error_rms : NAN);
    }
}

// Puts the newest answer together with those before it. The first one's rounds are cut or filled up to those that were
// wanted, so that later ones line up.
static void add_answer(struct final_run *f)
{
    size_t before = f->before ? f->known_rounds : 0, rounds = (size_t)final_rounds(f);
    unsigned char *process_of = arena_new(&f->memory, before + rounds);
    if (before) memcpy(process_of, f->process_of, before);
    memset(process_of + before, (int)f->process, rounds);
    struct final_answer *all = f->before ? f->before : f->answer;
    for (size_t i = 0; i < all->entry_count; i++) {
        struct final_entry_answer *e = &all->entries[i];
        for (size_t p = 0; p < e->problem_count && !f->before; p++)
            add_times(f, &e->problems[p], &e->problems[p], 0, rounds);
        if (f->before && final_passed(e))
            add_entry(f, e, find_entry(f->answer, e->trial, e->binary, e->name), before, rounds);
    }
    f->before = all;
    f->process_of = process_of;
    f->known_rounds = before + rounds;
}

static bool a_candidate_stands(const struct final_answer *a)
{
    for (size_t i = 0; i < a->entry_count; i++)
        if (a->entries[i].trial > 0 && final_passed(&a->entries[i])) return true;
    return false;
}

bool final_continues(struct final_run *f)
{
    if (f->with.failure->set || !f->answer || !answer_is_ok(&f->answer->head) || processes(f) == 1) {
        f->process_of = NULL; // the answer is one process's
        return false;
    }
    add_answer(f);
    f->answer = NULL;
    if (++f->process == processes(f) || !a_candidate_stands(f->before)) {
        f->answer = f->before;
        f->before = NULL;
        return false;
    }
    slot_stop(&f->with.pool->gpus[f->with.policy->final_gpu]);
    policy_gpu_lost(f->with.policy, f->with.policy->final_gpu, true);
    policy_continue_final(f->with.policy);
    return true;
}
