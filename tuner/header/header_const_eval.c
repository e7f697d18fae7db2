// See header_const_eval.h.
#include "tuner/header/header_const_eval.h"

#include "tuner/base/base.h"
#include "tuner/job/header_names.h"

static const char *name_text(void *user, int slot)
{
    const struct const_eval *f = user;
    return f->text[slot];
}

static bool constant_value(void *user, int slot, int64_t *value)
{
    const struct const_eval *f = user;
    *value = f->values[slot];
    return !f->varies[slot];
}

static char *to_c(const struct const_eval *f, const struct expr *expression, struct error *err)
{
    return expr_to_c(expression, f->prefix, name_text, constant_value, (void *)f, err);
}

// The prefix of the header's functions for expressions: "sgemm_fn_". malloc'ed.
static char *function_prefix(const char *job)
{
    char *name = header_identifier(job), *prefix = text_format("%s_fn_", name);
    free(name);
    return prefix;
}

int const_eval_init(struct const_eval *f, const struct job *job, const uint16_t *config, struct error *err)
{
    size_t count = symbols_count(job->symbols);
    int64_t *values = memory_new(count, sizeof *values);
    *f = (struct const_eval){.job = job,
                             .prefix = function_prefix(job->name),
                             .values = values,
                             .varies = memory_new(count, sizeof *f->varies),
                             .text = memory_new(count, sizeof *f->text)};
    if (job_problem_values(job, config, 0, values, err)) return -1;
    for (size_t i = 0; i < job->size_count; i++) {
        int slot = symbols_find(job->symbols, job->size_names[i]);
        f->varies[slot] = true;
        f->text[slot] = text_format("size_%s", job->size_names[i]);
    }
    for (size_t s = 0; s < job->stage_count; s++)
        for (size_t i = 0; i < job->stages[s].repeat.loop_count; i++) {
            int slot = job->stages[s].repeat.loops[i].slot;
            if (!f->varies[slot]) f->text[slot] = text_format("loop_%s", symbols_name(job->symbols, slot));
            f->varies[slot] = true;
        }
    for (size_t i = 0; i < job->derived_count; i++) { // in order: each may use the ones before
        size_t read;
        int slot = job->derived[i].slot;
        const int *slots = expr_slots(job->derived[i].value, &read);
        for (size_t k = 0; k < read; k++) f->varies[slot] |= f->varies[slots[k]];
        if (!f->varies[slot]) continue;
        char *inner = to_c(f, job->derived[i].value, err);
        if (!inner) return -1;
        f->text[slot] = text_format("(%s)", inner);
        free(inner);
    }
    return 0;
}

void const_eval_release(struct const_eval *f)
{
    for (size_t i = 0; f->text && i < symbols_count(f->job->symbols); i++) free(f->text[i]);
    free(f->text);
    free(f->prefix);
    free(f->varies);
    free((void *)f->values);
}

json_t *const_eval_text(struct const_eval *f, const struct expr *expression, const char *absent)
{
    if (f->failed || !expression) return json_string(f->failed ? "0" : absent);
    char *text = to_c(f, expression, f->err);
    f->failed = !text;
    if (f->failed) error_prefix(f->err, "cannot write '%s' as C", expr_text(expression));
    json_t *string = json_string(text ? text : "0");
    free(text);
    return string;
}

json_t *const_eval_list(struct const_eval *f, struct expr *const *expressions, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(list, const_eval_text(f, expressions[i], "1"));
    return list;
}

void const_eval_set_list(json_t *object, const char *key, json_t *list)
{
    if (json_array_size(list)) json_object_set(object, key, list);
    json_decref(list);
}
