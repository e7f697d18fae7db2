// Recorded spaces: the struct, its values, and what is computed from them. See recorded.h.
#include "tuner/recorded/recorded.h"

#include "tuner/recorded/recorded_parts.h"
#include "tuner/trial/trial_field.h"

struct recorded *recorded_new(void)
{
    struct recorded *r = memory_new(1, sizeof *r);
    r->about.job = r->about.licence = "";
    r->about.objective = "geomean";
    r->best = -1;
    return r;
}

void recorded_free(struct recorded *r)
{
    if (!r) return;
    if (r->symbols) space_free(r->space); // otherwise it is the job's
    symbols_free(r->symbols);
    arena_release(&r->memory);
    json_decref(r->about.device);
    json_decref(r->about.environment);
    json_decref(r->constraints);
    json_decref(r->about.finals);
    for (size_t i = 0; i < SPACE_MAX_PARAMETERS; i++) string_pool_release(&r->keys[i]);
    free(r->trial_at);
    free(r->trials);
    free(r->figures);
    free(r->counters);
    free(r->configs);
    free(r);
}

// Values -------------------------------------------------------------------------------------------

// Whether the value is an integer; 2.0 and true are integers too.
static bool as_integer(const json_t *value, int64_t *integer)
{
    double real = json_is_real(value) ? json_real_value(value) : 0.5;
    bool whole = real == floor(real) && fabs(real) <= 0x1p52;
    *integer = json_is_integer(value) ? json_integer_value(value) : whole ? (int64_t)real : json_is_true(value);
    return json_is_integer(value) || json_is_boolean(value) || whole;
}

// The text of a value that is not treated as an integer, or NULL.
static char *value_text(const json_t *value)
{
    if (json_is_string(value)) return text_copy(json_string_value(value));
    if (json_is_boolean(value)) return text_copy(json_is_true(value) ? "true" : "false");
    if (json_is_integer(value)) return text_format("%lld", (long long)json_integer_value(value));
    return json_is_real(value) ? text_copy(text_show_number(json_real_value(value), TEXT_ROOM)) : NULL;
}

static bool is_whole(enum parameter_kind kind)
{
    return kind == PARAMETER_INT || kind == PARAMETER_UNROLL;
}

// A text that is the same for all spellings of a value: 2, 2.0 and "2.00" are the same real number. NULL if no value of
// this kind has this text. malloc'ed.
static char *key_of_text(enum parameter_kind kind, const char *text)
{
    char *end;
    if (kind != PARAMETER_REAL) return text_copy(text);
    double number = strtod(text, &end);
    return *text && !*end && isfinite(number) ? text_copy(text_show_number(number, TEXT_ROOM)) : NULL;
}

static char *key_of(enum parameter_kind kind, const json_t *value)
{
    int64_t integer;
    if (is_whole(kind)) return as_integer(value, &integer) ? text_format("%" PRId64, integer) : NULL;
    autofree char *text = value_text(value);
    return text ? key_of_text(kind, text) : NULL;
}

char *recorded_value_key(const json_t *value)
{
    int64_t integer;
    return key_of(as_integer(value, &integer) ? PARAMETER_INT : PARAMETER_STRING, value);
}

static enum parameter_kind kind_of_values(const json_t *values)
{
    bool integers = true, numbers = true;
    json_array_each(values, i, value) {
        int64_t integer;
        integers &= as_integer(value, &integer);
        numbers &= json_is_number(value);
    }
    return integers ? PARAMETER_INT : numbers ? PARAMETER_REAL : PARAMETER_STRING;
}

int recorded_add_parameter(struct recorded *r, const char *name, const json_t *values, int kind, struct error *err)
{
    static const char *const needed[] = {"an integer", "a string", "an integer", "a number"}; // by enum parameter_kind
    size_t count = json_array_size(values);
    autofree int64_t *list = memory_new(count, sizeof *list);
    enum parameter_kind known = kind < 0 ? kind_of_values(values) : (enum parameter_kind)kind;
    if (r->parameter_count == SPACE_MAX_PARAMETERS)
        return error_set(err, "more than %d parameters", SPACE_MAX_PARAMETERS);
    struct string_pool *keys = &r->keys[r->parameter_count];
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(values, i);
        autofree char *text = value_text(value), *key = key_of(known, value);
        if (!text) return error_set(err, "parameter '%s': value %zu is neither a number nor a string", name, i);
        if (!key) return error_set(err, "parameter '%s' has a value that is not %s", name, needed[known]);
        if (string_pool_put(keys, key, strlen(key)) != i)
            return error_set(err, "parameter '%s' has the value %s twice", name, text);
        if (!is_whole(known) || !as_integer(value, &list[i])) list[i] = symbols_intern(r->symbols, text);
    }
    int result = space_add_parameter(r->space, name, known, list, count, err);
    r->parameter_count = space_parameter_count(r->space);
    return result < 0 ? -1 : 0;
}

int recorded_set_value(struct recorded *r, size_t trial, size_t parameter, const json_t *value, struct error *err)
{
    const struct parameter *p = space_parameter(r->space, parameter);
    autofree char *key = key_of(p->kind, value);
    int64_t index = key ? string_pool_find(&r->keys[parameter], key) : -1;
    if (index < 0) {
        autofree char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        return error_set(err, "trial %zu: %s is not among the values of parameter '%s'", trial, text, p->name);
    }
    r->configs[trial * r->parameter_count + parameter] = (uint16_t)index;
    return 0;
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
    r->problems[0] = (struct recorded_problem){.name = "", .weight = 1};
}

bool recorded_is_time(double time)
{
    return time >= TRIAL_SHORTEST_TIME && time <= TRIAL_LONGEST_TIME;
}

void recorded_set_samples(struct recorded *r, struct trial_problem *p, const double *samples, size_t count)
{
    double *kept = arena_new(&r->memory, count * sizeof *kept);
    p->sample_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (recorded_is_time(samples[i]))
            kept[p->sample_count++] = samples[i];
        else
            recorded_note(r, "samples are left out, because they are impossible times");
    }
    p->samples = kept;
}

// Notes --------------------------------------------------------------------------------------------

void recorded_note(struct recorded *r, const char *text)
{
    for (struct recorded_note *n = r->left_out.notes; n < r->left_out.notes + RECORDED_MOST_NOTES; n++) {
        if (n->text && strcmp(n->text, text)) continue;
        n->text = text;
        n->count++;
        return;
    }
}

void recorded_warn(const struct recorded *r, const char *path)
{
    for (const struct recorded_note *n = r->left_out.notes; n < r->left_out.notes + RECORDED_MOST_NOTES && n->text; n++)
        fprintf(stderr, "sweetspot: %s: %zu %s\n", path, n->count, n->text);
}

// Index --------------------------------------------------------------------------------------------

static int compute_objectives(struct recorded *r, struct error *err)
{
    bool worst = strcmp(r->about.objective, "worst") == 0;
    if (!worst && strcmp(r->about.objective, "geomean") != 0)
        return error_set(err, "unknown objective '%s': use \"geomean\" or \"worst\"", r->about.objective);
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
    if (r->parameter_count == 0) return error_set(err, "there are no parameters");
    if (r->trial_count == 0) return error_set(err, "the file has no configurations");
    if (compute_objectives(r, err) || space_build_from_list(r->space, r->configs, r->trial_count, err)) return -1;
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

int64_t recorded_find_text(const struct recorded *r, const char *text)
{
    uint16_t config[SPACE_MAX_PARAMETERS];
    uint64_t given = 0; // a bit for each parameter
    size_t items = 0;
    for (const char *at = text, *next; at; at = next) {
        size_t length, name = strcspn(at, "=");
        next = text_next_item(at, &length);
        int i = name < length ? space_find(r->space, at, name) : -1;
        if (i < 0) return -1;
        autofree char *value = text_format("%.*s", (int)(length - name - 1), at + name + 1),
                      *key = key_of_text(space_parameter(r->space, (size_t)i)->kind, value);
        int64_t index = key ? string_pool_find(&r->keys[i], key) : -1;
        if (index < 0) return -1;
        config[i] = (uint16_t)index;
        items += !(given >> i & 1);
        given |= (uint64_t)1 << i;
    }
    return items == r->parameter_count ? recorded_find(r, config) : -1;
}

static enum outcome outcome_of(enum trial_status status)
{
    return status == STATUS_OK       ? OUTCOME_OK
           : status == STATUS_SLOW   ? OUTCOME_SLOW
           : status == STATUS_PRUNED ? OUTCOME_PRUNED
                                     : OUTCOME_INVALID;
}

struct observation observation_of(const uint16_t *config, enum trial_status status, double objective)
{
    enum outcome outcome = outcome_of(status);
    bool timed = outcome == OUTCOME_OK || outcome == OUTCOME_SLOW;
    return (struct observation){.config = config, .outcome = outcome, .objective = timed ? objective : (double)NAN};
}

struct observation recorded_observation(const struct recorded *r, size_t trial)
{
    const struct trial *t = &r->trials[trial];
    return observation_of(r->configs + trial * r->parameter_count, t->status, t->objective);
}

const char *recorded_device_name(const struct recorded *r)
{
    return json_get_string(r->about.device, "name", "");
}
