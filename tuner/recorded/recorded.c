// Recorded spaces: the struct, its values, and what is computed from them. See recorded.h.
#include "tuner/recorded/recorded.h"

#include "tuner/base/base.h"
#include "tuner/recorded/observation.h"
#include "tuner/recorded/recorded_parts.h"
#include "tuner/trial/trial_field.h"

struct recorded *recorded_new(void)
{
    struct recorded *r = memory_new(1, sizeof *r);
    r->job = "";
    r->objective = "geomean";
    r->best = -1;
    return r;
}

static void release_index(struct recorded *r)
{
    space_free(r->space);
    symbols_free(r->symbols);
    free(r->trial_at);
    r->space = NULL;
    r->symbols = NULL;
    r->trial_at = NULL;
    r->best = -1;
}

void recorded_free(struct recorded *r)
{
    if (!r) return;
    release_index(r);
    arena_release(&r->memory);
    json_decref(r->device);
    json_decref(r->environment);
    json_decref(r->finals);
    free(r->trials);
    free(r->figures);
    free(r->counters);
    free(r->configs);
    free(r);
}

// Values -------------------------------------------------------------------------------------------

// The text of a value that is not treated as an integer.
static char *value_text(const json_t *value)
{
    if (json_is_string(value)) return text_copy(json_string_value(value));
    if (json_is_integer(value)) return text_format("%lld", (long long)json_integer_value(value));
    if (json_is_boolean(value)) return text_copy(json_is_true(value) ? "true" : "false");
    if (json_is_real(value)) return text_format("%.17g", json_real_value(value));
    return NULL;
}

// Whether the value is an integer; 2.0 and true are integers too.
static bool as_integer(const json_t *value, int64_t *integer)
{
    if (json_is_integer(value)) {
        *integer = json_integer_value(value);
        return true;
    }
    if (json_is_boolean(value)) {
        *integer = json_is_true(value);
        return true;
    }
    double real = json_is_real(value) ? json_real_value(value) : 0.5;
    if (real != floor(real) || fabs(real) > 0x1p52) return false;
    *integer = (int64_t)real;
    return true;
}

int recorded_set_values(struct recorded *r, struct recorded_parameter *p, const json_t *values, int kind,
                        struct error *err)
{
    size_t count = json_array_size(values);
    if (count == 0) return error_set(err, "parameter '%s' has no values", p->name);
    bool integers = true, numbers = true;
    for (size_t i = 0; i < count; i++) {
        int64_t integer;
        const json_t *value = json_array_get(values, i);
        integers &= as_integer(value, &integer);
        numbers &= json_is_number(value) || json_is_boolean(value);
        if (!json_is_string(value) && !json_is_number(value) && !json_is_boolean(value))
            return error_set(err, "parameter '%s': value %zu is neither a number nor a string", p->name, i);
    }
    if (kind < 0) kind = integers ? PARAMETER_INT : numbers ? PARAMETER_REAL : PARAMETER_STRING;
    p->kind = (enum parameter_kind)kind;
    p->count = count;
    if (kind == PARAMETER_INT || kind == PARAMETER_UNROLL) {
        if (!integers) return error_set(err, "parameter '%s' has a value that is not an integer", p->name);
        p->integers = arena_new(&r->memory, count * sizeof *p->integers);
        for (size_t i = 0; i < count; i++) as_integer(json_array_get(values, i), &p->integers[i]);
    } else {
        p->texts = arena_new(&r->memory, count * sizeof *p->texts);
        for (size_t i = 0; i < count; i++) {
            char *text = value_text(json_array_get(values, i));
            p->texts[i] = arena_copy(&r->memory, text);
            free(text);
        }
    }
    return 0;
}

int recorded_value_index(const struct recorded_parameter *p, const json_t *value)
{
    if (p->integers) {
        int64_t integer;
        if (!as_integer(value, &integer)) return -1;
        for (size_t i = 0; i < p->count; i++)
            if (p->integers[i] == integer) return (int)i;
        return -1;
    }
    char *text = value_text(value);
    int found = -1;
    for (size_t i = 0; text && i < p->count && found < 0; i++) {
        // 2.0 and 2 are the same real number.
        if (strcmp(p->texts[i], text) == 0 ||
            (p->kind == PARAMETER_REAL && strtod(p->texts[i], NULL) == strtod(text, NULL)))
            found = (int)i;
    }
    free(text);
    return found;
}

int recorded_add_trials(struct recorded *r, size_t count, struct error *err)
{
    if (!(r->trials = memory_try(count, sizeof *r->trials, err)) ||
        !(r->figures = memory_try(count, r->problem_count * sizeof *r->figures, err)) ||
        !(r->counters = memory_try(count, r->metric_count * sizeof *r->counters, err)) ||
        !(r->configs = memory_try(count, r->parameter_count * sizeof *r->configs, err)))
        return -1;
    r->trial_count = count;
    for (size_t i = 0; i < count; i++) {
        struct trial *t = &r->trials[i];
        trial_clear(FIELD_TRIAL, t);
        t->problem_count = r->problem_count;
        t->problems = r->figures + i * r->problem_count;
        for (size_t p = 0; p < r->problem_count; p++) {
            struct trial_problem *problem = recorded_figures(r, i, p);
            trial_clear(FIELD_PROBLEM, problem);
            problem->name = r->problems[p].name;
            problem->tuned = true;
        }
    }
    for (size_t i = 0; i < count * r->metric_count; i++) r->counters[i] = NAN;
    return 0;
}

struct trial_problem *recorded_figures(struct recorded *r, size_t trial, size_t problem)
{
    return &r->figures[trial * r->problem_count + problem];
}

void recorded_one_problem(struct recorded *r)
{
    r->problem_count = 1;
    r->problems = arena_new(&r->memory, sizeof *r->problems);
    r->problems[0] = (struct recorded_problem){.name = "", .weight = 1, .flops = NAN, .bytes = NAN};
}

bool recorded_is_time(double time)
{
    return time >= TRIAL_SHORTEST_TIME && time <= TRIAL_LONGEST_TIME;
}

// Index --------------------------------------------------------------------------------------------

static int compute_objectives(struct recorded *r, struct error *err)
{
    bool worst = strcmp(r->objective, "worst") == 0;
    if (!worst && strcmp(r->objective, "geomean") != 0)
        return error_set(err, "unknown objective '%s': use \"geomean\" or \"worst\"", r->objective);
    for (size_t i = 0; i < r->trial_count; i++) {
        struct trial *t = &r->trials[i];
        t->objective = NAN;
        if (t->status != STATUS_OK && t->status != STATUS_SLOW) continue;
        double sum = 0, weights = 0, most = 0;
        for (size_t p = 0; p < r->problem_count; p++) {
            sum += r->problems[p].weight * log(t->problems[p].time);
            weights += r->problems[p].weight;
            if (!(t->problems[p].time <= most)) most = t->problems[p].time;
        }
        t->objective = worst ? most : r->problem_count == 1 ? t->problems[0].time : exp(sum / weights);
        if (isfinite(t->objective)) continue;
        t->objective = NAN;
        t->status = STATUS_LAUNCH_ERROR;
    }
    return 0;
}

int recorded_index(struct recorded *r, struct error *err)
{
    release_index(r);
    if (r->parameter_count == 0) return error_set(err, "there are no parameters");
    if (r->trial_count == 0) return error_set(err, "there are no configurations");
    if (compute_objectives(r, err) < 0) return -1;
    r->symbols = symbols_new();
    r->space = space_new(r->symbols);
    for (size_t i = 0; i < r->parameter_count; i++) {
        const struct recorded_parameter *p = &r->parameters[i];
        int64_t *values = memory_new(p->count, sizeof *values);
        for (size_t v = 0; v < p->count; v++)
            values[v] = p->integers ? p->integers[v] : symbols_intern(r->symbols, p->texts[v]);
        int result = space_add_parameter(r->space, p->name, p->kind, values, p->count, err);
        free(values);
        if (result < 0) return -1;
    }
    if (space_build_from_list(r->space, r->configs, r->trial_count, err) < 0) return -1;
    r->trial_at = memory_new(r->trial_count, sizeof *r->trial_at);
    for (size_t i = 0; i < r->trial_count; i++) {
        r->trial_at[space_index(r->space, r->configs + i * r->parameter_count)] = (uint32_t)i;
        if (r->trials[i].status == STATUS_OK && (r->best < 0 || r->trials[i].objective < r->trials[r->best].objective))
            r->best = (int64_t)i;
    }
    return 0;
}

int64_t recorded_find(const struct recorded *r, const uint16_t *config)
{
    int64_t index = space_index(r->space, config);
    return index < 0 ? -1 : (int64_t)r->trial_at[index];
}

struct observation recorded_observation(const struct recorded *r, size_t trial)
{
    const struct trial *t = &r->trials[trial];
    return observation_of(r->configs + trial * r->parameter_count, t->status, t->objective);
}

const char *recorded_device_name(const struct recorded *r)
{
    return json_get_string(r->device, "name", "");
}
