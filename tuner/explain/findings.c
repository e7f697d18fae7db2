// See findings.h. It uses the rules (findings_rules.c), which use what they read and propose with
// (findings_context.c).
#include "tuner/explain/findings.h"

#include "tuner/explain/findings_context.h"
#include "tuner/explain/profile.h"

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
    struct finding_context c = {.profile = profile, .stage = profile_main_stage(profile), .job = job, .limits = limits};
    size_t count = 0;
    if (!c.stage) return 0;
    while (json_array_get(stages, c.stage_index) != c.stage) c.stage_index++;
    for (size_t p = 0; job && p < job->problem_count; p++)
        if (!strcmp(job->problems[p].name, json_get_string(profile, "problem", ""))) c.problem = p;
    c.has_config =
        job && job->space && !space_parse(job->space, json_get_string(profile, "config", ""), c.config, NULL);
    for (const struct rule *rule = finding_rules; rule->name && count < FINDINGS_MAX; rule++) {
        out[count] = (struct finding){.rule = rule->name, .gain = NAN, .parameter = -1};
        if (rule->look(&c, &out[count])) count++;
    }
    qsort(out, count, sizeof *out, by_gain);
    return count;
}

void findings_print(FILE *out, const struct finding *list, size_t count)
{
    fprintf(out, "\nFindings\n");
    if (!count) fprintf(out, "  none: no figure crosses a rule's threshold\n");
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
        json_t *one = json_pack("{s:s, s:s, s:s, s:s, s:f}", "rule", f->rule, "seen", f->seen, "why", f->why, "advice",
                                f->advice, "gain", f->gain);
        if (f->parameter >= 0 && job) {
            char text[32];
            json_object_set_new(one, "parameter", json_string(space_parameter(job->space, (size_t)f->parameter)->name));
            json_object_set_new(one, "value",
                                json_string(space_value_text(job->space, (size_t)f->parameter, f->value, text)));
        }
        if (f->line)
            json_object_set_new(one, "line",
                                json_pack("{s:s, s:I}", "file", json_get_string(f->line, "file", ""), "line",
                                          (json_int_t)json_get_integer(f->line, "line", 0)));
        json_array_append_new(array, one);
    }
    return array;
}
