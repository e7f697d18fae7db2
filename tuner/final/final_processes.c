// The processes of a final. Its rounds are shared by several processes of one GPU's worker, one after another, because
// some kernels take one of two times for as long as a process lives. The first process finds out which candidates
// pass; the others race only these and prove them again; a candidate that fails then is out as well. Their answers are
// put together into one: the rounds of all, and beside them the number of the process that took each.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/run/run.h"

void run_final_reset(struct run *r)
{
    json_decref(r->final_answer);
    json_decref(r->final_before);
    r->final_answer = r->final_before = NULL;
    r->final_process = r->final_current = 0;
    r->final_blamed.trial = 0;
    r->final_again = false;
}

void run_final_move(struct run *r)
{
    display_log(&r->display, "the final begins again on another GPU: rounds of two are not put together");
    json_decref(r->final_before);
    r->final_before = NULL;
    r->final_process = 0;
    policy_move_final(&r->policy);
}

// Of all processes together. Intervals halve with four times the rounds.
static int64_t all_rounds(const struct run *r)
{
    int64_t rounds = r->job->measure.final_rounds;
    for (int i = 0; i < r->final_open && rounds <= FINAL_ROUNDS_MAX / 4; i++) rounds *= 4;
    return rounds;
}

static int64_t processes(const struct run *r)
{
    int64_t n = r->job->measure.final_processes, rounds = all_rounds(r);
    if (r->pool.replay) return 1;
    return n < rounds ? n : rounds;
}

int64_t run_final_rounds(const struct run *r)
{
    int64_t rounds = all_rounds(r), n = processes(r);
    return rounds / n + (r->final_process < rounds % n);
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

bool run_final_stands(const struct run *r, const struct task *t)
{
    json_t *like =
        json_pack("{s:I, s:s}", "trial", (json_int_t)t->trial, "binary", t->by_nvcc ? PROTOCOL_NVCC : PROTOCOL_NVRTC);
    const json_t *entry = find_entry(json_object_get(r->final_before, "entries"), like);
    json_decref(like);
    return !r->final_before || (entry && is_ok(entry));
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
static void add_answer(struct run *r)
{
    json_t *entries = json_object_get(r->final_before, "entries"), *one;
    json_t *process = json_object_get(r->final_before, "process");
    int64_t before = (int64_t)json_array_size(process), rounds = run_final_rounds(r);
    size_t i;
    json_array_foreach(entries, i, one)
    {
        if (is_ok(one)) add_entry(one, find_entry(json_object_get(r->final_answer, "entries"), one), before, rounds);
    }
    for (int64_t k = 0; k < rounds; k++) json_array_append_new(process, json_integer(r->final_process));
    json_decref(r->final_answer);
}

// The first answer: its rounds are cut or filled up to those that were wanted, so that later ones line up.
static void begin_with_answer(struct run *r)
{
    int64_t rounds = run_final_rounds(r);
    json_t *process = json_array(), *entry, *problem;
    size_t i, k;
    for (int64_t n = 0; n < rounds; n++) json_array_append_new(process, json_integer(0));
    json_array_foreach(json_object_get(r->final_answer, "entries"), i, entry)
    {
        json_array_foreach(json_object_get(entry, "problems"), k, problem)
        {
            json_t *times = times_of(problem);
            if (!times) continue;
            while ((int64_t)json_array_size(times) > rounds) json_array_remove(times, json_array_size(times) - 1);
            while ((int64_t)json_array_size(times) < rounds) json_array_append_new(times, json_null());
        }
    }
    r->final_before = r->final_answer;
    json_object_set_new(r->final_before, "process", process);
}

static bool somebody_stands(const struct run *r)
{
    const json_t *entry;
    size_t i;
    json_array_foreach(json_object_get(r->final_before, "entries"), i, entry)
    {
        if (json_get_integer(entry, "trial", 0) > 0 && is_ok(entry)) return true;
    }
    return false;
}

bool run_final_goes_on(struct run *r)
{
    if (r->fatal || !is_ok(r->final_answer) || processes(r) == 1) return false;
    if (r->final_before)
        add_answer(r);
    else
        begin_with_answer(r);
    r->final_answer = NULL;
    if (++r->final_process == processes(r) || !somebody_stands(r)) {
        r->final_answer = r->final_before;
        r->final_before = NULL;
        return false;
    }
    pool_stop_gpu(&r->pool, r->policy.final_gpu);
    policy_gpu_lost(&r->policy, r->policy.final_gpu, true);
    policy_continue_final(&r->policy);
    return true;
}

size_t run_final_processes(const struct run *r, unsigned char **out)
{
    const json_t *process = json_object_get(r->final_answer, "process");
    size_t n = json_array_size(process);
    *out = NULL;
    if (!n) return 0;
    *out = memory_new(n, 1);
    for (size_t i = 0; i < n; i++) (*out)[i] = (unsigned char)json_integer_value(json_array_get(process, i));
    return n;
}
