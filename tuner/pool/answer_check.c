// See answer_check.h.
#include "tuner/pool/answer_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/limits.h"
#include "tuner/base/protocol.h"
#include "tuner/trial/trial_field.h"

// A number of `object` between two limits, or null, or missing.
static int check_number(const json_t *object, const char *name, double low, double high, struct error *why)
{
    const json_t *value = json_object_get(object, name);
    double number = json_number_value(value);
    if (!value || json_is_null(value)) return 0;
    if (!json_is_number(value)) return error_set(why, "'%s' is not a number", name);
    if (number >= low && number <= high) return 0;
    return error_set(why, "'%s' is %g, outside %g to %g", name, number, low, high);
}

// An integer from 0 to below `most` that has to be there; *number gets it.
static int take_place(const json_t *object, const char *name, int64_t most, int64_t *number, struct error *why)
{
    const json_t *value = json_object_get(object, name);
    *number = json_is_integer(value) ? (int64_t)json_integer_value(value) : -1;
    if (*number >= 0 && *number < most) return 0;
    return error_set(why, "'%s' is not an integer from 0 to %" PRId64, name, most - 1);
}

static int check_list(const json_t *object, const char *name, struct error *why)
{
    const json_t *value = json_object_get(object, name);
    return !value || json_is_array(value) ? 0 : error_set(why, "'%s' is not a list", name);
}

// Problems with their figures, each once at most; `more` checks what else one has.
static int check_problems(const json_t *of, int (*more)(const json_t *problem, struct error *why), struct error *why)
{
    bool seen[JOB_MAX_PROBLEMS] = {false};
    const json_t *one;
    int64_t problem;
    size_t i;
    if (check_list(of, "problems", why)) return -1;
    json_array_foreach(json_object_get(of, "problems"), i, one)
    {
        if (take_place(one, "problem", JOB_MAX_PROBLEMS, &problem, why) ||
            trial_check_answer(FIELD_PROBLEM, FIELD_GPU, one, why) || (more && more(one, why)))
            return -1;
        if (seen[problem]) return error_set(why, "problem %" PRId64 " is told twice", problem);
        seen[problem] = true;
    }
    return 0;
}

static int check_stages(const json_t *of, struct error *why)
{
    const json_t *one;
    int64_t place;
    size_t i;
    if (check_list(of, "stages", why)) return -1;
    json_array_foreach(json_object_get(of, "stages"), i, one)
    {
        if (take_place(one, "problem", JOB_MAX_PROBLEMS, &place, why) ||
            take_place(one, "stage", JOB_MAX_STAGES, &place, why) ||
            trial_check_answer(FIELD_STAGE, FIELD_GPU, one, why))
            return -1;
    }
    return 0;
}

static const json_t *find_entry(const json_t *entries, const json_t *name)
{
    const json_t *one;
    size_t i;
    json_array_foreach(entries, i, one)
    {
        if (json_equal(json_object_get(one, "entry"), name)) return one;
    }
    return NULL;
}

static int check_compile(const json_t *request, const json_t *answer, struct error *why)
{
    const json_t *one, *entries = json_object_get(answer, "entries");
    size_t i;
    if (check_list(answer, "entries", why) || check_number(answer, "seconds", 0, TRIAL_LONGEST_TIME, why)) return -1;
    json_array_foreach(entries, i, one)
    {
        if (!json_is_string(json_object_get(one, "entry")) || !json_is_string(json_object_get(one, "symbol")))
            return error_set(why, "a compiled entry has no name or no symbol");
        if (trial_check_answer(FIELD_STAGE, FIELD_COMPILER, one, why)) return -1;
    }
    if (status_find(json_get_string(answer, "status", "")) != STATUS_OK) return 0;
    json_array_foreach(json_object_get(request, "entries"), i, one)
    {
        if (!find_entry(entries, one)) return error_set(why, "the entry '%.200s' is missing", json_string_value(one));
    }
    return 0;
}

static int check_trial(const json_t *request, const json_t *answer, struct error *why)
{
    (void)request;
    if (trial_check_answer(FIELD_TRIAL, FIELD_GPU, answer, why) || check_problems(answer, NULL, why)) return -1;
    return check_stages(answer, why);
}

// The candidate that an object names by its "trial" (and its build, where it says one), or NULL.
static const json_t *candidate(const json_t *list, const json_t *named)
{
    const json_t *one;
    size_t i;
    const char *binary = json_get_string(named, "binary", NULL);
    json_array_foreach(list, i, one)
    {
        if (json_equal(json_object_get(one, "trial"), json_object_get(named, "trial")) &&
            (!binary || !strcmp(json_get_string(one, "binary", PROTOCOL_NVRTC), binary)))
            return one;
    }
    return NULL;
}

static bool names_trial(const json_t *object)
{
    const json_t *trial = json_object_get(object, "trial");
    return trial && !json_is_null(trial) && !(json_is_integer(trial) && !json_integer_value(trial));
}

static int unknown_trial(const json_t *object, struct error *why)
{
    char *text = json_dumps(json_object_get(object, "trial"), 0);
    error_set(why, "it tells of the trial %.40s, which it was not given", text);
    free(text);
    return -1;
}

static int check_counters(const json_t *counters, struct error *why)
{
    const json_t *value;
    int64_t place;
    size_t i;
    if (take_place(counters, "problem", JOB_MAX_PROBLEMS, &place, why) ||
        take_place(counters, "stage", JOB_MAX_STAGES, &place, why) || check_list(counters, "values", why))
        return -1;
    json_array_foreach(json_object_get(counters, "values"), i, value)
    {
        if (!json_is_number(value) && !json_is_null(value)) return error_set(why, "a counter is not a number");
    }
    return 0;
}

static int check_count(const json_t *request, const json_t *answer, struct error *why)
{
    const json_t *trials = json_object_get(request, "trials"), *one, *counters;
    size_t i, k;
    if (check_list(answer, "trials", why) || check_number(answer, "wall", 0, TRIAL_LONGEST_TIME, why) ||
        check_number(answer, "passes", 0, 1e6, why))
        return -1;
    json_array_foreach(json_object_get(answer, "trials"), i, one)
    {
        if (!candidate(trials, one)) return unknown_trial(one, why);
        if (check_list(one, "counters", why)) return -1;
        json_array_foreach(json_object_get(one, "counters"), k, counters)
        {
            if (check_counters(counters, why)) return -1;
        }
    }
    return 0;
}

// A problem of an entry of a final.
static int check_rounds(const json_t *problem, struct error *why)
{
    const json_t *time;
    size_t i;
    if (check_list(problem, "times", why) || check_number(problem, "error_max", 0, 1e300, why) ||
        check_number(problem, "error_rms", 0, 1e300, why))
        return -1;
    json_array_foreach(json_object_get(problem, "times"), i, time)
    {
        double seconds = json_number_value(time);
        if (json_is_null(time) || (json_is_number(time) && seconds > 0 && seconds <= TRIAL_LONGEST_TIME)) continue;
        return json_is_number(time) ? error_set(why, "the time of a round is %g s", seconds)
                                    : error_set(why, "the time of a round is not a number");
    }
    return 0;
}

static int check_entry(const json_t *request, const json_t *entry, struct error *why)
{
    int status = status_find(json_get_string(entry, "status", ""));
    if (!json_is_string(json_object_get(entry, "name"))) return error_set(why, "an entry of the final has no name");
    if (check_number(entry, "error", 0, 1e300, why) || check_problems(entry, check_rounds, why)) return -1;
    if (!names_trial(entry)) return 0;
    if (!candidate(json_object_get(request, "candidates"), entry)) return unknown_trial(entry, why);
    if (status < 0) return error_set(why, "an entry of the final has an unknown status");
    if (status == STATUS_OK && !json_array_size(json_object_get(entry, "problems")))
        return error_set(why, "a candidate passed the final without times");
    return 0;
}

static int check_final(const json_t *request, const json_t *answer, struct error *why)
{
    const json_t *entries = json_object_get(answer, "entries"), *one;
    size_t i;
    if (check_list(answer, "entries", why)) return -1;
    json_array_foreach(entries, i, one)
    {
        if (check_entry(request, one, why)) return -1;
        for (size_t k = 0; names_trial(one) && k < i; k++) {
            const json_t *other = json_array_get(entries, k);
            if (json_equal(json_object_get(one, "trial"), json_object_get(other, "trial")) &&
                !strcmp(json_get_string(one, "binary", PROTOCOL_NVRTC),
                        json_get_string(other, "binary", PROTOCOL_NVRTC)))
                return error_set(why, "a candidate has two entries in the final");
        }
    }
    return 0;
}

// Ceilings, and what they lie within.
static int check_rates(const json_t *rates, struct error *why)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)rates, key, value)
    {
        if (!strcmp(key, "id")) continue;
        if (json_is_object(value) ? check_rates(value, why)
                                  : json_is_number(value) && check_number(rates, key, 0, 1e30, why))
            return -1;
    }
    return 0;
}

static int check_ceilings(const json_t *request, const json_t *answer, struct error *why)
{
    (void)request;
    return check_rates(answer, why);
}

static int check_job(const json_t *request, const json_t *answer, struct error *why)
{
    const json_t *one;
    size_t i;
    (void)request;
    if (check_list(answer, "baselines", why) || check_list(answer, "least", why)) return -1;
    json_array_foreach(json_object_get(answer, "baselines"), i, one)
    {
        if (check_problems(one, NULL, why)) return -1;
    }
    json_array_foreach(json_object_get(answer, "least"), i, one)
    {
        if (check_number(one, "seconds", 0, TRIAL_LONGEST_TIME, why)) return -1;
    }
    return 0;
}

static const struct {
    const char *op;
    int (*check)(const json_t *request, const json_t *answer, struct error *why);
} checks[] = {{"compile", check_compile}, {"job", check_job},     {"trial", check_trial},
              {"count", check_count},     {"final", check_final}, {"ceilings", check_ceilings}};

// The trial that a sign of life names, or that is to blame for a lost context.
static int check_blame(const json_t *request, const json_t *answer, struct error *why)
{
    const json_t *given = json_object_get(request, "candidates");
    if (!given) given = json_object_get(request, "trials");
    return !given || !names_trial(answer) || candidate(given, answer) ? 0 : unknown_trial(answer, why);
}

bool answer_is_foreign(const json_t *request, const json_t *answer)
{
    static const char *const given[] = {"trials", "candidates"}, *const told[] = {"trials", "entries"};
    struct error ignored;
    const json_t *one;
    size_t i;
    if (check_blame(request, answer, &ignored)) return true;
    for (size_t k = 0; k < sizeof given / sizeof *given; k++)
        json_array_foreach(json_object_get(answer, told[k]), i, one)
        {
            const json_t *list = json_object_get(request, given[k]);
            if (list && names_trial(one) && !candidate(list, one)) return true;
        }
    return false;
}

int answer_check(const json_t *request, const json_t *answer, struct error *why)
{
    const char *op = json_get_string(request, "op", "");
    int failed = check_blame(request, answer, why);
    if (!failed) failed = check_number(answer, "progress", 0, 1e9, why);
    for (size_t i = 0; i < sizeof checks / sizeof *checks && !failed && !json_object_get(answer, "progress"); i++)
        if (!strcmp(checks[i].op, op)) failed = checks[i].check(request, answer, why);
    return failed ? error_prefix(why, "the worker sends invalid messages: its answer to '%s'", op) : 0;
}
