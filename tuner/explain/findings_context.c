// See findings_context.h.
#include "tuner/explain/findings_context.h"

#include <ctype.h>

#include "tuner/base/base.h"
#include "tuner/explain/profile.h"
#include "tuner/setup/request.h"

double finding_context_issue(const struct finding_context *c)
{
    double known = profile_number(c->stage, "issue_active");
    if (!isnan(known)) return known / 100;
    return profile_number(c->stage, "instructions") /
           (4 * (double)c->limits->sm_count * profile_number(c->stage, "cycles_active"));
}

// False where the changed configuration is not valid.
static bool propose_value(const struct finding_context *c, struct finding *f, size_t parameter, size_t value,
                          const char *verb)
{
    uint16_t config[SPACE_MAX_PARAMETERS];
    char text[32];
    memcpy(config, c->config, sizeof config);
    config[parameter] = (uint16_t)value;
    if (!space_is_valid(c->job->space, config)) return false;
    f->parameter = (int)parameter;
    f->value = (uint16_t)value;
    snprintf(f->advice, sizeof f->advice, "%s=%s %s", space_parameter(c->job->space, parameter)->name,
             space_value_text(c->job->space, parameter, value, text), verb);
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
    if (p->kind == PARAMETER_STRING) return p->count < 2 ? -1 : now ? 0 : 1; // texts have no order: take another one
    if (p->kind != PARAMETER_INT && p->kind != PARAMETER_UNROLL) return -1;
    for (size_t i = 0; i < p->count; i++) {
        bool further = direction > 0 ? p->values[i] > p->values[now] : p->values[i] < p->values[now];
        bool nearer = best < 0 || (direction > 0 ? p->values[i] < p->values[best] : p->values[i] > p->values[best]);
        if (further && nearer) best = (int)i;
    }
    return best;
}

bool propose_step(const struct finding_context *c, struct finding *f, const char *words, int direction,
                  const char *verb)
{
    for (size_t i = 0; c->has_config && i < space_parameter_count(c->job->space); i++) {
        const struct parameter *p = space_parameter(c->job->space, i);
        bool fits = has_word(p->name, words) || (p->kind == PARAMETER_UNROLL && strstr(words, "<unroll>"));
        int value = fits ? next_value(p, c->config[i], direction) : -1;
        if (value >= 0 && propose_value(c, f, i, (size_t)value, verb)) return true;
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

bool propose_named(const struct finding_context *c, struct finding *f, const char *line, const char *verb)
{
    for (int direction = -1; direction <= 1; direction += 2)
        for (size_t i = 0; c->has_config && i < space_parameter_count(c->job->space); i++) {
            const struct parameter *p = space_parameter(c->job->space, i);
            int value = stands_in(line, p->name) ? next_value(p, c->config[i], direction) : -1;
            if (value >= 0 && propose_value(c, f, i, (size_t)value, verb)) return true;
        }
    return false;
}

// The present launch, from the job's expressions. False where unknown.
static bool finding_context_launch(const struct finding_context *c, const uint16_t *config, struct launch_shape *shape)
{
    struct planned_launch *launches = NULL;
    size_t count = 0, seen = 0;
    bool found = false;
    json_t *problems = request_problems(c->job, config, NULL, false, &launches, &count, NULL);
    for (size_t i = 0; problems && i < count && !found; i++) {
        if ((size_t)launches[i].problem != c->problem || launches[i].run || seen++ != c->stage_index) continue;
        *shape = launches[i].shape;
        found = true;
    }
    json_decref(problems);
    free(launches);
    return found;
}

bool propose_launch(const struct finding_context *c, struct finding *f,
                    double (*score)(const struct finding_context *, const struct launch_shape *), const char *verb)
{
    struct launch_shape shape;
    bool found = false;
    if (!c->has_config || !finding_context_launch(c, c->config, &shape)) return false;
    double best = 1.1 * score(c, &shape);
    for (size_t i = 0; i < space_parameter_count(c->job->space); i++)
        for (size_t k = 0; k < space_parameter(c->job->space, i)->count; k++) {
            uint16_t config[SPACE_MAX_PARAMETERS];
            memcpy(config, c->config, sizeof config);
            config[i] = (uint16_t)k;
            if (k == c->config[i] || !space_is_valid(c->job->space, config) ||
                !finding_context_launch(c, config, &shape))
                continue;
            double one = score(c, &shape);
            if (one > best && propose_value(c, f, i, k, verb)) {
                best = one;
                found = true;
            }
        }
    return found;
}
