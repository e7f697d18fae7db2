// The processes of a final. Its rounds are shared by several processes of one GPU's worker, one after another, because
// some kernels take one of two times for as long as a process lives. The first process finds out which candidates
// pass; the others race only these and prove them again; a candidate that fails then is out as well. Their answers are
// put together into one: the rounds of all, and beside them the number of the process that took each.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/final/final.h"

void final_reset(struct final_run *f)
{
    json_decref(f->answer);
    json_decref(f->before);
    f->answer = f->before = NULL;
    f->process = f->current = 0;
    f->blamed.trial = 0;
    f->ended = 0;
}

void final_move(struct final_run *f)
{
    display_log(f->with.display, "the final begins again on another GPU: rounds of two are not put together");
    json_decref(f->before);
    f->before = NULL;
    f->process = 0;
    policy_move_final(f->with.policy);
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

static bool is_ok(const json_t *entry)
{
    return status_find(json_get_string(entry, "status", "")) == STATUS_OK;
}

static json_t *find_entry(const json_t *entries, const json_t *like)
{
    json_t *one;
    size_t i;
    int64_t trial = json_get_integer(like, "trial", 0);
    const char *binary = json_get_string(like, "binary", PROTOCOL_NVRTC);
    json_array_foreach(entries, i, one)
    {
        if (trial > 0 ? json_get_integer(one, "trial", 0) == trial &&
                            !strcmp(json_get_string(one, "binary", PROTOCOL_NVRTC), binary)
                      : json_get_integer(one, "trial", 0) <= 0 &&
                            !strcmp(json_get_string(one, "name", ""), json_get_string(like, "name", "?")))
            return one;
    }
    return NULL;
}

bool final_stands(const struct final_run *f, const struct task *t)
{
    json_t *like =
        json_pack("{s:I, s:s}", "trial", (json_int_t)t->trial, "binary", t->by_nvcc ? PROTOCOL_NVCC : PROTOCOL_NVRTC);
    const json_t *entry = find_entry(json_object_get(f->before, "entries"), like);
    json_decref(like);
    return !f->before || (entry && is_ok(entry));
}

static json_t *find_problem(const json_t *entry, const json_t *like)
{
    json_t *one;
    size_t i;
    json_array_foreach(json_object_get(entry, "problems"), i, one)
    {
        if (json_get_integer(one, "problem", -1) == json_get_integer(like, "problem", -2)) return one;
    }
    return NULL;
}

static void keep_larger(json_t *to, const json_t *from, const char *name)
{
    double old = json_get_number(to, name, NAN), new = json_get_number(from, name, NAN);
    if (isfinite(new) && !(old >= new)) json_object_set_new(to, name, json_real(new));
}

// A problem's times in an answer: a list, be it that the worker gave none. NULL: it is not even an object.
static json_t *times_of(json_t *problem)
{
    if (!json_is_array(json_object_get(problem, "times"))) json_object_set_new(problem, "times", json_array());
    return json_object_get(problem, "times");
}

// Adds a process's rounds to those of the ones before: exactly so many, null where there is no time.
static void add_times(json_t *to, const json_t *from, int64_t before, int64_t rounds)
{
    json_t *times = times_of(to);
    const json_t *more = json_object_get(from, "times");
    if (!times) return;
    while ((int64_t)json_array_size(times) < before) json_array_append_new(times, json_null());
    for (int64_t i = 0; i < rounds; i++) {
        const json_t *time = json_array_get(more, (size_t)i);
        json_array_append_new(times, json_is_number(time) ? json_real(json_number_value(time)) : json_null());
    }
}

static void add_entry(json_t *to, const json_t *from, int64_t before, int64_t rounds)
{
    json_t *problem;
    size_t i;
    if (!from || !is_ok(from)) {
        json_object_set_new(to, "status", json_string(json_get_string(from, "status", status_name(STATUS_CRASHED))));
        json_object_set_new(to, "reason",
                            json_string(json_get_string(from, "reason", "the GPU worker dropped it without a reason")));
        return;
    }
    keep_larger(to, from, "error");
    if (strcmp(json_get_string(to, "cubin_hash", ""), json_get_string(from, "cubin_hash", "")) != 0)
        json_object_del(to, "cubin_hash"); // not the same bytes in every process, so no bytes were proved by all
    json_array_foreach(json_object_get(to, "problems"), i, problem)
    {
        const json_t *more = find_problem(from, problem);
        add_times(problem, more, before, rounds);
        keep_larger(problem, more, "error_max");
        keep_larger(problem, more, "error_rms");
    }
}

// The newest answer, put together with those before it.
static void add_answer(struct final_run *f)
{
    json_t *entries = json_object_get(f->before, "entries"), *one;
    json_t *process = json_object_get(f->before, "process");
    int64_t before = (int64_t)json_array_size(process), rounds = final_rounds(f);
    size_t i;
    json_array_foreach(entries, i, one)
    {
        if (is_ok(one)) add_entry(one, find_entry(json_object_get(f->answer, "entries"), one), before, rounds);
    }
    for (int64_t k = 0; k < rounds; k++) json_array_append_new(process, json_integer(f->process));
    json_decref(f->answer);
}

// The first answer: its rounds are cut or filled up to those that were wanted, so that later ones line up.
static void begin_with_answer(struct final_run *f)
{
    int64_t rounds = final_rounds(f);
    json_t *process = json_array(), *entry, *problem;
    size_t i, k;
    for (int64_t n = 0; n < rounds; n++) json_array_append_new(process, json_integer(0));
    json_array_foreach(json_object_get(f->answer, "entries"), i, entry)
    {
        json_array_foreach(json_object_get(entry, "problems"), k, problem)
        {
            json_t *times = times_of(problem);
            if (!times) continue;
            while ((int64_t)json_array_size(times) > rounds) json_array_remove(times, json_array_size(times) - 1);
            while ((int64_t)json_array_size(times) < rounds) json_array_append_new(times, json_null());
        }
    }
    f->before = f->answer;
    json_object_set_new(f->before, "process", process);
}

static bool somebody_stands(const struct final_run *f)
{
    const json_t *entry;
    size_t i;
    json_array_foreach(json_object_get(f->before, "entries"), i, entry)
    {
        if (json_get_integer(entry, "trial", 0) > 0 && is_ok(entry)) return true;
    }
    return false;
}

bool final_goes_on(struct final_run *f)
{
    if (f->with.failure->set || !is_ok(f->answer) || processes(f) == 1) return false;
    if (f->before)
        add_answer(f);
    else
        begin_with_answer(f);
    f->answer = NULL;
    if (++f->process == processes(f) || !somebody_stands(f)) {
        f->answer = f->before;
        f->before = NULL;
        return false;
    }
    pool_stop_gpu(f->with.pool, f->with.policy->final_gpu);
    policy_gpu_lost(f->with.policy, f->with.policy->final_gpu, true);
    policy_continue_final(f->with.policy);
    return true;
}

size_t final_processes(const struct final_run *f, unsigned char **out)
{
    const json_t *process = json_object_get(f->answer, "process");
    size_t n = json_array_size(process);
    *out = NULL;
    if (!n) return 0;
    *out = memory_new(n, 1);
    for (size_t i = 0; i < n; i++) (*out)[i] = (unsigned char)json_integer_value(json_array_get(process, i));
    return n;
}
