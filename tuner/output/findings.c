// See findings.h: the scene that rules look at, the proposals, and the printing. The rules themselves are in
// findings_rules.c.
#include "tuner/output/findings.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/output/findings_parts.h"
#include "tuner/output/profile.h"
#include "tuner/run/request.h"

double finding_context_number(const struct finding_context *s, const char *key)
{
    return profile_number(s->stage, key);
}

double finding_context_issue(const struct finding_context *s)
{
    double known = finding_context_number(s, "issue_active");
    if (!isnan(known)) return known / 100;
    return finding_context_number(s, "instructions") /
           (4 * (double)s->limits->sm_count * finding_context_number(s, "cycles_active"));
}

static const char *value_text(const struct finding_context *s, size_t parameter, size_t value, char *out, size_t size)
{
    const struct parameter *p = space_parameter(s->job->space, parameter);
    const char *text = p->kind == PARAMETER_INT || p->kind == PARAMETER_UNROLL
                           ? NULL
                           : symbols_text(s->job->symbols, p->values[value]);
    if (text)
        snprintf(out, size, "%s", text);
    else
        snprintf(out, size, "%" PRId64, p->values[value]);
    return out;
}

bool propose_value(const struct finding_context *s, struct finding *f, size_t parameter, size_t value, const char *verb)
{
    uint16_t config[SPACE_MAX_PARAMETERS];
    char text[128];
    memcpy(config, s->config, sizeof config);
    config[parameter] = (uint16_t)value;
    if (!space_is_valid(s->job->space, config)) return false;
    f->parameter = (int)parameter;
    f->value = (uint16_t)value;
    snprintf(f->advice, sizeof f->advice, "%s=%s %s", space_parameter(s->job->space, parameter)->name,
             value_text(s, parameter, value, text, sizeof text), verb);
    return true;
}

static bool has_word(const char *name, const char *words)
{
    while (*words) {
        size_t length = strcspn(words, "|");
        for (const char *p = name; strlen(p) >= length && length; p++)
            if (!strncmp(p, words, length)) return true;
        words += length;
        words += *words == '|';
    }
    return false;
}

// The next value in a direction, by size; unrolling counts "no pragma" (0) and "the compiler's choice" (1) as they are
// numbered. -1: none.
static int next_value(const struct parameter *p, size_t now, int direction)
{
    int best = -1;
    if (p->kind == PARAMETER_STRING) return p->count < 2 ? -1 : now ? 0 : 1; // these have no order: another one
    if (p->kind != PARAMETER_INT && p->kind != PARAMETER_UNROLL) return -1;
    for (size_t i = 0; i < p->count; i++) {
        bool further = direction > 0 ? p->values[i] > p->values[now] : p->values[i] < p->values[now];
        bool nearer = best < 0 || (direction > 0 ? p->values[i] < p->values[best] : p->values[i] > p->values[best]);
        if (further && nearer) best = (int)i;
    }
    return best;
}

bool propose_step(const struct finding_context *s, struct finding *f, const char *words, int direction,
                  const char *verb)
{
    for (size_t i = 0; s->has_config && i < space_parameter_count(s->job->space); i++) {
        const struct parameter *p = space_parameter(s->job->space, i);
        bool fits = has_word(p->name, words) || (p->kind == PARAMETER_UNROLL && strstr(words, "<unroll>"));
        int value = fits ? next_value(p, s->config[i], direction) : -1;
        if (value >= 0 && propose_value(s, f, i, (size_t)value, verb)) return true;
    }
    return false;
}

static bool stands_in(const char *line, const char *name)
{
    size_t length = strlen(name);
    for (const char *p = line; (p = strstr(p, name)); p++) {
        bool begins = p == line || !(isalnum((unsigned char)p[-1]) || p[-1] == '_'),
             ends = !(isalnum((unsigned char)p[length]) || p[length] == '_');
        if (begins && ends) return true;
    }
    return false;
}

bool propose_named(const struct finding_context *s, struct finding *f, const char *line, const char *verb)
{
    for (int direction = -1; direction <= 1; direction += 2)
        for (size_t i = 0; s->has_config && i < space_parameter_count(s->job->space); i++) {
            const struct parameter *p = space_parameter(s->job->space, i);
            int value = stands_in(line, p->name) ? next_value(p, s->config[i], direction) : -1;
            if (value >= 0 && propose_value(s, f, i, (size_t)value, verb)) return true;
        }
    return false;
}

bool finding_context_launch(const struct finding_context *s, const uint16_t *config, struct launch_shape *shape)
{
    struct planned_launch *launches = memory_new(REQUEST_MAX_LAUNCHES, sizeof *launches);
    size_t count = 0, seen = 0;
    bool found = false;
    json_t *problems = request_problems(s->job, config, NULL, false, launches, &count, NULL);
    for (size_t i = 0; problems && i < count && !found; i++) {
        if ((size_t)launches[i].problem != s->problem || seen++ != s->stage_index) continue;
        *shape = launches[i].shape;
        found = true;
    }
    json_decref(problems);
    free(launches);
    return found;
}

bool propose_launch(const struct finding_context *s, struct finding *f,
                    double (*score)(const struct finding_context *, const struct launch_shape *), const char *verb)
{
    struct launch_shape shape;
    bool found = false;
    if (!s->has_config || !finding_context_launch(s, s->config, &shape)) return false;
    double best = 1.1 * score(s, &shape);
    for (size_t i = 0; i < space_parameter_count(s->job->space); i++)
        for (size_t k = 0; k < space_parameter(s->job->space, i)->count; k++) {
            uint16_t config[SPACE_MAX_PARAMETERS];
            memcpy(config, s->config, sizeof config);
            config[i] = (uint16_t)k;
            if (k == s->config[i] || !space_is_valid(s->job->space, config) ||
                !finding_context_launch(s, config, &shape))
                continue;
            double one = score(s, &shape);
            if (one > best && propose_value(s, f, i, k, verb)) {
                best = one;
                found = true;
            }
        }
    return found;
}

static int by_gain(const void *a, const void *b)
{
    double x = ((const struct finding *)a)->gain, y = ((const struct finding *)b)->gain;
    x = isnan(x) ? -1 : x;
    y = isnan(y) ? -1 : y;
    return (x < y) - (x > y);
}

size_t findings_make(const json_t *profile, const struct job *job, const struct device_limits *limits,
                     struct finding out[FINDINGS_MAX])
{
    const json_t *stages = json_object_get(profile, "stages");
    struct finding_context s = {.profile = profile, .stage = profile_main_stage(profile), .job = job, .limits = limits};
    size_t count = 0;
    if (!s.stage) return 0;
    while (json_array_get(stages, s.stage_index) != s.stage) s.stage_index++;
    for (size_t p = 0; job && p < job->problem_count; p++)
        if (!strcmp(job->problems[p].name, json_get_string(profile, "problem", ""))) s.problem = p;
    s.has_config =
        job && job->space && !space_parse(job->space, json_get_string(profile, "config", ""), s.config, NULL);
    for (const struct rule *rule = finding_rules; rule->name && count < FINDINGS_MAX; rule++) {
        out[count] = (struct finding){.rule = rule->name, .gain = NAN, .parameter = -1};
        if (rule->look(&s, &out[count])) count++;
    }
    qsort(out, count, sizeof *out, by_gain);
    return count;
}

void findings_print(FILE *out, const struct finding *list, size_t count)
{
    fprintf(out, "\nFindings\n");
    if (!count) fprintf(out, "  nothing that a rule knows: no figure stands out\n");
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s  %zu. %s: %s.\n", i ? "\n" : "", i + 1, list[i].rule, list[i].seen);
        fprintf(out, "     Why: %s.\n", list[i].why);
        if (*list[i].advice) fprintf(out, "     Try: %s.\n", list[i].advice);
        if (!isnan(list[i].gain)) fprintf(out, "     Gain: at most %.0f%% of the time.\n", 100 * list[i].gain);
    }
}

json_t *findings_json(const struct finding *list, size_t count, const struct job *job)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct finding *f = &list[i];
        json_t *one = json_pack("{s:s, s:s, s:s, s:s, s:o}", "rule", f->rule, "seen", f->seen, "why", f->why, "advice",
                                f->advice, "gain", json_real_or_null(f->gain));
        if (f->parameter >= 0 && job) {
            struct finding_context s = {.job = job};
            char text[128];
            json_object_set_new(one, "parameter", json_string(space_parameter(job->space, (size_t)f->parameter)->name));
            json_object_set_new(one, "value",
                                json_string(value_text(&s, (size_t)f->parameter, f->value, text, sizeof text)));
        }
        json_array_append_new(array, one);
    }
    return array;
}
