// See header_contract.h.
#include "tuner/header/header_contract.h"

#include "tuner/base/base.h"
#include "tuner/base/buffer_kind.h"
#include "tuner/header/header_bindings.h"
#include "tuner/job/job_sizes.h"

static bool was_verified(const struct trial *trial, const char *problem)
{
    for (size_t i = 0; i < trial->problem_count; i++)
        if (!strcmp(trial->problems[i].name, problem)) return !isnan(trial->problems[i].error);
    return false;
}

// NULL where nothing was verified.
static json_t *supported(const struct job *job, const struct trial *trial)
{
    json_t *list = json_array();
    for (size_t s = 0; s < job->size_count; s++) {
        struct size_range r = {0};
        for (size_t p = 0; p < job->problem_count; p++)
            if (was_verified(trial, job->problems[p].name)) size_range_add(&r, job->problems[p].sizes[s]);
        json_array_append_new(list, json_pack("{s:I, s:I, s:I}", "least", (json_int_t)r.least, "most",
                                              (json_int_t)r.most, "multiple", (json_int_t)r.multiple));
    }
    bool any = false;
    for (size_t p = 0; p < job->problem_count; p++) any |= was_verified(trial, job->problems[p].name);
    if (any) return list;
    json_decref(list);
    return NULL;
}

// An input that the kernel may change is the caller's to restore.
static const char *direction_word(const struct buffer *b)
{
    return direction_text[b->restore ? DIRECTION_INOUT : b->direction];
}

// What a fill puts into a buffer. malloc'ed.
static char *fill_words(const struct fill *f)
{
    char low[32], high[32];
    const char *from = f->low_value ? expr_text(f->low_value) : text_show_number(f->low, low, sizeof low),
               *to = f->high_value ? expr_text(f->high_value) : text_show_number(f->high, high, sizeof high);
    switch (f->kind) {
    case FILL_ZERO:
        return text_copy("0 in every element");
    case FILL_CONSTANT:
        return text_format("%s in every element", from);
    case FILL_INDEX:
        return text_copy("each element's number, from 0");
    case FILL_NPY:
        return text_format("the values of %s", strrchr(f->path, '/') ? strrchr(f->path, '/') + 1 : f->path);
    case FILL_NORMAL:
        return text_copy("normally distributed random numbers");
    case FILL_UNIFORM:
        return text_format("random numbers from %s to %s", from, to);
    case FILL_INTEGER:
        return text_format("random integers from %s to %s", from, to);
    case FILL_ZEROS:
        return text_format("random numbers from %s to %s, half of them 0 or -0", from, to);
    case FILL_NONFINITE:
        return text_format("random numbers from %s to %s, infinities and NaN", from, to);
    case FILL_SORTED:
        return text_format("ascending random numbers from %s to %s", from, to);
    case FILL_PERMUTATION:
        return text_copy("a random permutation of the elements' numbers, from 0");
    case FILL_OFFSETS:
        return text_format("ascending random offsets from 0 to %s", to);
    }
    return text_copy("?");
}

// What it contains before every launch. malloc'ed.
static char *contents_text(const struct buffer *b)
{
    char *fill = fill_words(&b->fill), *text = NULL;
    if (b->direction == DIRECTION_IN && b->restore)
        text =
            text_format("your input, again before every launch, since a launch may change it; verified with %s", fill);
    else if (b->direction == DIRECTION_IN)
        text = text_format("your input; verified with %s", fill);
    else if (b->direction == DIRECTION_INOUT)
        text = text_format("what the launch reads and changes; verified with %s", fill);
    else if (b->direction == DIRECTION_SCRATCH && b->fill.given)
        text = text_format("%s: fill it before every launch", fill);
    else
        text = text_copy(b->compared ? "anything; only a part of it is verified" : "anything");
    free(fill);
    return text;
}

static json_t *describe_buffer(struct const_eval *f, const struct buffer *b)
{
    char *before = contents_text(b);
    json_t *rows = const_eval_text(f, b->rows, "1"), *cols = const_eval_text(f, b->cols, "1"),
           *ld = const_eval_text(f, b->ld ? b->ld : b->cols, "1");
    json_t *bytes =
        json_sprintf("%zu * (%s) * (%s)", element_size(b->type), json_string_value(rows), json_string_value(ld));
    json_t *described = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:s}", "name", b->name, "type",
                                  element_name(b->type), "direction", direction_word(b), "rows", rows, "cols", cols,
                                  "ld", ld, "bytes", bytes, "before", before);
    free(before);
    return described;
}

static void add_text(void *list, const char *text)
{
    json_array_append_new(list, json_string(text));
}

int contract_add(json_t *section, struct const_eval *f, const struct trial *trial, const char *arch)
{
    const struct job *job = f->job;
    json_t *options = json_array(), *buffers = json_array(), *sizes = supported(job, trial);
    uint16_t config[SPACE_MAX_PARAMETERS];
    json_object_set_new(section, "options", options);
    json_object_set_new(section, "includes", json_integer((json_int_t)job->include_count));
    json_object_set_new(section, "alignment", json_integer(promised_alignment(arch)));
    if (sizes) json_object_set_new(section, "supported", sizes);
    const_eval_set_list(section, "conditions", const_eval_list(f, job->supported, job->supported_count));
    json_object_set_new(section, "buffers", buffers);
    if (space_parse(job->space, trial->config, config, f->err)) return -1;
    job_options(job, config, add_text, options);
    for (size_t i = 0; i < job->buffer_count; i++) {
        if (!header_has_address(job, i)) continue;
        json_array_append_new(buffers, describe_buffer(f, &job->buffers[i]));
        if (f->failed) return error_prefix(f->err, "buffer '%s'", job->buffers[i].name);
    }
    return header_bindings_add(section, f);
}

// A number: a scalar argument, or a member of one.
static json_t *describe_scalar(struct const_eval *f, const char *name, enum element type, const struct expr *value,
                               double real)
{
    if (!value)
        return json_pack("{s:s, s:s, s:s, s:f}", "kind", "scalar", "name", name, "type", element_name(type), "real",
                         real);
    return json_pack("{s:s, s:s, s:s, s:s, s:o}", "kind", "scalar", "name", name, "type", element_name(type), "from",
                     expr_text(value), "value", const_eval_text(f, value, "0"));
}

// A struct or a vector by value. Members have their names without the argument's.
static json_t *describe_struct(struct const_eval *f, const struct argument *a)
{
    json_t *members = json_array();
    for (size_t i = 0; i < a->member_count; i++) {
        const struct value_member *m = &a->members[i];
        json_t *one = describe_scalar(f, m->name + strlen(a->name) + 1, m->type, m->value, m->real);
        json_object_set_new(one, "offset", json_integer((json_int_t)m->offset));
        json_array_append_new(members, one);
    }
    return json_pack("{s:s, s:s, s:s, s:I, s:o}", "kind", "struct", "name", a->name, "type",
                     a->vector ? a->vector : "struct", "bytes", (json_int_t)a->bytes, "members", members);
}

json_t *contract_arguments(struct const_eval *f, const struct stage *stage)
{
    json_t *list = json_array();
    for (size_t i = 0; i < stage->argument_count && !f->failed; i++) {
        const struct argument *a = &stage->arguments[i];
        const struct buffer *b = a->buffer >= 0 ? &f->job->buffers[a->buffer] : NULL;
        const char *kind = a->map                    ? "map"
                           : a->view == VIEW_TEXTURE ? "texture"
                           : a->view == VIEW_SURFACE ? "surface"
                                                     : "buffer";
        json_array_append_new(list, b ? json_pack("{s:s, s:s, s:s, s:s}", "kind", kind, "name", b->name, "type",
                                                  element_name(b->type), "direction", direction_word(b))
                                    : a->member_count ? describe_struct(f, a)
                                                      : describe_scalar(f, a->name, a->type, a->value, a->real));
        if (f->failed) error_prefix(f->err, "argument '%s'", a->name);
    }
    return list;
}
