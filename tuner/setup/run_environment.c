// See run_environment.h.
#include "tuner/setup/run_environment.h"

// Describes a stage: what runs, with which macros, and how often.
static char *describe_stage(const struct job *job, const struct stage *s)
{
    struct text text = {0};
    text_add(&text, "%s %s", s->operation ? "operation" : "entry", s->operation ? s->operation : s->entry);
    if (s->operation) text_add(&text, " by %s", s->by);
    if (s->untimed) text_add(&text, " untimed");
    for (size_t i = 0; i < s->define_count; i++)
        text_add(&text, " define %s=%s", s->defines[i].name, s->defines[i].value);
    for (size_t i = 0; i < s->repeat.loop_count; i++) {
        const struct stage_loop *l = &s->repeat.loops[i];
        text_add(&text, " for (%s = %s; %s; %s)", symbols_name(job->symbols, l->slot), expr_text(l->from),
                 expr_text(l->holds), expr_text(l->next));
    }
    for (size_t i = 0; i < s->repeat.swap_count; i++)
        text_add(&text, " swap %s %s", job->buffers[s->repeat.swaps[i][0]].name,
                 job->buffers[s->repeat.swaps[i][1]].name);
    return text.text;
}

// The members are named as in the table in tuner/trial/environment.c. Problems, reference and verification have the
// same names in the request, which contains everything that can make a difference to the worker.
json_t *run_environment_facts(const struct job *job, const json_t *request, const struct environment *known,
                              bool replayed)
{
    json_t *stages = json_array(), *options = json_array(), *defines = json_array(), *parameters = json_array();
    for (size_t i = 0; i < job->stage_count; i++) {
        autofree char *stage = describe_stage(job, &job->stages[i]);
        json_array_append_new(stages, json_string(stage));
    }
    for (size_t i = 0; i < job->code.option_count; i++)
        json_array_append_new(options, json_string(job->code.options[i]));
    for (size_t i = 0; i < space_parameter_count(job->space); i++)
        if (job->code.parameter_options[i])
            json_array_append_new(
                options, json_sprintf("%s: %s", space_parameter(job->space, i)->name, job->code.parameter_options[i]));
    for (size_t i = 0; i < job->code.define_count; i++)
        json_array_append_new(defines, json_sprintf("%s=%s", job->code.defines[i].name, job->code.defines[i].value));
    for (size_t i = 0; i < space_parameter_count(job->space); i++)
        json_array_append_new(parameters, json_string(space_parameter(job->space, i)->name));
    json_t *facts = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:b}", "job", job->name, "source",
                              known->source_hash, "compiler", known->compiler, "device", known->device, "arch",
                              known->arch, "driver", known->driver, "stages", stages, "options", options, "defines",
                              defines, "parameters", parameters, "replayed", (int)replayed);
    autojson json_t *compiled = json_array();
    for (size_t i = 0; i < job->names.compiled_count; i++)
        json_array_append_new(compiled, json_string(expr_text(job->names.compiled[i].holds)));
    if (job->names.compiled_count) json_object_set(facts, "compiled", compiled);
    json_object_set_new(facts, "cache", json_string(job->measure.cold ? "cold" : "warm"));
    json_object_set(facts, "problems", json_object_get(request, "problems"));
    json_object_set(facts, "reference", json_object_get(request, "reference"));
    // A setting that existing stores lack is a fact only if it differs from the default that those stores were made
    // with.
    json_t *verify = json_copy(json_object_get(request, "verify"));
    if (!json_get_bool(verify, "exact", false)) json_object_del(verify, "exact");
    if (!(json_get_number(verify, "error_ratio", 0) > 0)) json_object_del(verify, "error_ratio");
    json_object_set_new(facts, "verify", verify);
    return facts;
}

static int refuse(const json_t *recorded, const char *why, const char *name, struct error *err)
{
    const char *job = json_get_string(recorded, "job", "");
    return error_set(err, "the recording belongs to another job%s%s%s: %s '%s'; give the job that was recorded",
                     *job ? ", '" : "", job, *job ? "'" : "", why, name);
}

int recording_check(const struct job *job, const json_t *recorded, struct error *err)
{
    const json_t *parameters = json_object_get(recorded, "parameters"),
                 *problems = json_object_get(recorded, "problems");
    const char *name = json_get_string(recorded, "job", "");
    size_t i;
    json_t *item;
    if (!recorded) return 0; // the worker does not describe the recording
    for (i = 0; i < space_parameter_count(job->space); i++)
        if (!json_array_has(parameters, space_parameter(job->space, i)->name))
            return refuse(recorded, "it has no parameter", space_parameter(job->space, i)->name, err);
    json_array_foreach(parameters, i, item)
        if (job_parameter(job, json_string_value(item)) < 0)
            return refuse(recorded, "the job has no parameter", json_string_value(item), err);
    // A job may have been renamed since it was recorded, or have other problems; both changes together make it a
    // different job.
    if (!*name || !strcmp(name, job->name)) return 0;
    for (i = 0; i < job->tuned_count; i++)
        if (!json_array_has(problems, "") && !json_array_has(problems, job->problems[i].name))
            return refuse(recorded, "it has no problem", job->problems[i].name, err);
    return 0;
}
