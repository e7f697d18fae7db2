// Workers that compute nothing and only wait. They answer as GPUs and compilers would for candidates of any job, with
// times from a synthetic landscape. Each answer is sent when it is due. One instance can simulate any number of
// workers: a single worker process (timed_worker.c) or all workers of a node (timed_node.c). A GPU handles one request
// at a time; compilers answer after $TIMED_COMPILE seconds (default: at once). A trial takes $TIMED_TRIAL seconds
// (default 0.3), varied by at most the fraction $TIMED_SPREAD (default 0.2) either way. $TIMED_DEVICE is the GPU's name
// (default: Timed GPU). If $TIMED_COUNT is set, there are counters, and a batch takes that many seconds.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/json.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"

struct timed_answer {
    size_t worker;
    double due;
    json_t *answer;
};

struct timed_answers {
    size_t workers;
    double *busy_until;                    // one for each worker
    double trial, compile, spread;         // s, s, fraction
    bool (*spoils)(const json_t *request); // whether a request gets no answer; NULL: all are answered
    size_t count, room;
    struct timed_answer *waiting; // in any order
};

static inline double timed_setting(const char *name, double otherwise)
{
    const char *text = getenv(name);
    return text && *text ? atof(text) : otherwise;
}

static inline void timed_init(struct timed_answers *t)
{
    *t = (struct timed_answers){0};
    t->trial = timed_setting("TIMED_TRIAL", 0.3);
    t->compile = timed_setting("TIMED_COMPILE", 0);
    t->spread = timed_setting("TIMED_SPREAD", 0.2);
}

// Starts a new worker with this number.
static inline void timed_start(struct timed_answers *t, size_t worker)
{
    if (worker >= t->workers) t->busy_until = memory_grow(t->busy_until, t->workers = worker + 1, sizeof(double));
    t->busy_until[worker] = 0;
}

// Removes a worker and its pending answers.
static inline void timed_forget(struct timed_answers *t, size_t worker)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (t->waiting[i].worker == worker)
            json_decref(t->waiting[i].answer);
        else
            t->waiting[kept++] = t->waiting[i];
    }
    t->count = kept;
}

static inline void timed_release(struct timed_answers *t)
{
    for (size_t i = 0; i < t->count; i++) json_decref(t->waiting[i].answer);
    free(t->waiting);
    free(t->busy_until);
    *t = (struct timed_answers){0};
}

static inline uint64_t timed_hash(const char *text, size_t length)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    hash ^= hash >> 31;
    return hash * 0x9e3779b97f4a7c15u >> 11;
}

// Smooth in the logarithm of every numeric parameter, with one optimum for each and a ripple of a few percent. One
// configuration in sixteen has the time NaN, because it fails.
static inline double timed_landscape(const char *config)
{
    uint64_t whole = timed_hash(config, strlen(config));
    double time = 1e-3 * (1 + 0.03 * (double)(whole & 1023) / 1023);
    for (const char *at = config; *at;) {
        size_t name = strcspn(at, "=,"), length = strcspn(at, ",");
        uint64_t chance = timed_hash(at, name);
        const char *value = at + name + (at[name] == '=');
        char *end;
        double number = strtod(value, &end);
        bool is_number = end > value && (*end == ',' || !*end);
        double apart = is_number ? 0.2 * log2(1 + fabs(number)) - (double)(chance % 100) / 70
                                 : (double)(timed_hash(at, length) % 100) / 100;
        time *= 1 + 0.3 * apart * apart;
        at += length + (at[length] == ',');
    }
    return whole / 1024 % 16 ? time : NAN;
}

static inline json_t *timed_hello(void)
{
    static int greeted; // one process may stand for several GPUs
    const char *device = getenv("TIMED_DEVICE");
    char uuid[48];
    snprintf(uuid, sizeof uuid, "GPU-timed-%d-%d", (int)getpid(), greeted++);
    return json_pack("{s:i, s:s, s:{s:s, s:s, s:s, s:s, s:i, s:I, s:I}, s:{s:b, s:s}}", "protocol", PROTOCOL_VERSION,
                     "compiler", "timed 1.0", "device", "name", device ? device : "Timed GPU", "arch", "sm_90a", "uuid",
                     uuid, "driver", "1.2.3", "sm_count", 132, "memory_bytes", (json_int_t)1 << 36, "memory_free",
                     (json_int_t)1 << 36, "counters", "available", (int)(timed_setting("TIMED_COUNT", 0) > 0), "reason",
                     "none are simulated");
}

static inline json_t *timed_compile(const json_t *request)
{
    json_t *entries = json_array();
    json_array_each(json_object_get(request, "entries"), i, entry)
        json_array_append_new(entries, json_pack("{s:O, s:O, s:i, s:i, s:i, s:i, s:i, s:i}", "entry", entry, "symbol",
                                                 entry, "registers", 64, "spill_loads", 0, "spill_stores", 0, "shared",
                                                 0, "stack", 0, "code_bytes", 4096));
    return json_pack("{s:s, s:s, s:b, s:f, s:[], s:o}", "status", "ok", "cubin", "", "cached", 0, "seconds", 0.001,
                     "warnings", "entries", entries);
}

static inline json_t *timed_trial(const json_t *request, double seconds)
{
    double time = timed_landscape(json_get_string(request, "config", ""));
    json_t *problems = json_array();
    if (isnan(time))
        return json_pack("{s:s, s:s, s:o}", "status", "launch_error", "reason", "by the landscape", "problems",
                         problems);
    for (size_t p = 0; p < json_array_size(json_object_get(request, "problems")); p++)
        json_array_append_new(problems, json_pack("{s:i, s:f, s:f, s:f, s:[f,f,f], s:i, s:f, s:i}", "problem", (int)p,
                                                  "time", time, "low", 0.99 * time, "high", 1.01 * time, "samples",
                                                  time, 0.99 * time, 1.01 * time, "count", 3, "error", 0.1, "bad", 0));
    return json_pack("{s:s, s:o, s:f, s:f, s:f, s:f}", "status", "ok", "problems", problems, "busy", seconds, "wall",
                     seconds, "clock_mhz", 1980.0, "temperature", 40.0);
}

static inline json_t *timed_count(const json_t *request)
{
    json_t *trials = json_array();
    json_array_each(json_object_get(request, "trials"), i, one)
        json_array_append_new(trials, json_pack("{s:O, s:[{s:i, s:i, s:[f]}]}", "trial", json_object_get(one, "trial"),
                                                "counters", "problem", 0, "stage", 0, "values", 50.0));
    return json_pack("{s:s, s:o, s:f}", "status", "ok", "trials", trials, "wall", 0.1);
}

// Accepts a request (borrowed) for one of the workers.
static inline void timed_take(struct timed_answers *t, size_t worker, const json_t *request, double now)
{
    if (t->spoils && t->spoils(request)) return;
    const char *op = json_get_string(request, "op", ""), *config = json_get_string(request, "config", "");
    double share = (double)(timed_hash(config, strlen(config)) % 1000) / 999, seconds = 0, begin = now;
    json_t *answer;
    if (!strcmp(op, "hello")) {
        answer = timed_hello();
    } else if (!strcmp(op, "job")) {
        answer = json_pack("{s:s, s:[], s:[], s:[]}", "status", "ok", "baselines", "metrics", "missing");
        if (timed_setting("TIMED_COUNT", 0) > 0)
            json_array_append_new(json_object_get(answer, "metrics"), json_string("occupancy"));
    } else if (!strcmp(op, "compile")) {
        seconds = t->compile;
        answer = timed_compile(request);
    } else if (!strcmp(op, "trial")) {
        seconds = t->trial * (1 + t->spread * (2 * share - 1));
        begin = fmax(now, t->busy_until[worker]);
        t->busy_until[worker] = begin + seconds;
        answer = timed_trial(request, seconds);
    } else if (!strcmp(op, "count")) {
        seconds = timed_setting("TIMED_COUNT", 0);
        begin = fmax(now, t->busy_until[worker]);
        t->busy_until[worker] = begin + seconds;
        answer = timed_count(request);
    } else if (!strcmp(op, "ceilings")) {
        answer = json_pack("{s:s, s:f, s:f}", "status", "ok", "flops_per_second", 6e13, "bytes_per_second", 4e12);
    } else {
        answer = json_pack("{s:s, s:s}", "status", "error", "reason", "no timed worker does this");
    }
    json_object_set(answer, "id", json_object_get(request, "id"));
    if (t->count == t->room) {
        t->room = 2 * t->room + 8;
        t->waiting = memory_grow(t->waiting, t->room, sizeof *t->waiting);
    }
    t->waiting[t->count++] = (struct timed_answer){worker, begin + seconds, answer};
}

// Accepts the complete lines of a worker's input, and leaves the rest.
static inline void timed_take_lines(struct timed_answers *t, size_t worker, char *input, size_t *size, double now)
{
    char *line = input, *end;
    while ((end = memchr(line, '\n', *size - (size_t)(line - input)))) {
        *end = 0;
        autojson json_t *request = json_parse(line, NULL);
        if (request) timed_take(t, worker, request, now);
        line = end + 1;
    }
    *size -= (size_t)(line - input);
    memmove(input, line, *size);
}

// Returns the index of the answer that is due first, or `count` if there is none. Of two answers that are due at the
// same time, the one to the earlier request comes first.
static inline size_t timed_first(const struct timed_answers *t)
{
    size_t first = 0;
    for (size_t i = 1; i < t->count; i++)
        if (t->waiting[i].due < t->waiting[first].due) first = i;
    return t->count ? first : t->count;
}

// When the next answer is due; INFINITY if there is none.
static inline double timed_next(const struct timed_answers *t)
{
    return t->count ? t->waiting[timed_first(t)].due : INFINITY;
}

// Returns an answer that is due, and its worker; NULL if none is due. The caller owns the answer.
static inline json_t *timed_due(struct timed_answers *t, double now, size_t *worker)
{
    size_t first = timed_first(t);
    if (first == t->count || t->waiting[first].due > now) return NULL;
    json_t *answer = t->waiting[first].answer;
    *worker = t->waiting[first].worker;
    t->count--;
    memmove(&t->waiting[first], &t->waiting[first + 1], (t->count - first) * sizeof *t->waiting);
    return answer;
}
