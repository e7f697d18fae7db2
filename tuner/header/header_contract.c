// See header_contract.h.
#include "tuner/header/header_contract.h"

#include "tuner/base/elf_file.h"
#include "tuner/job/header_names.h"

// Expressions as C or Python text
// ---------------------------------------------------------------------------------------------

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
    if (!f->prefix) return expr_to_python(expression, name_text, constant_value, (void *)f, err);
    return expr_to_c(expression, f->prefix, name_text, constant_value, (void *)f, err);
}

int const_eval_init(struct const_eval *f, const struct job *job, const uint16_t *config, bool python, struct error *err)
{
    size_t count = symbols_count(job->symbols);
    int64_t *values = memory_new(count, sizeof *values);
    autofree char *name = header_identifier(job->name);
    *f = (struct const_eval){.job = job,
                             .prefix = python ? NULL : text_format("%s_fn_", name),
                             .values = values,
                             .err = err,
                             .varies = memory_new(count, sizeof *f->varies),
                             .text = memory_new(count, sizeof *f->text)};
    if (job_problem_values(job, config, 0, values, err)) return -1;
    for (size_t i = 0; i < job->names.size_count; i++) {
        int slot = symbols_find(job->symbols, job->names.size_names[i]);
        f->varies[slot] = true;
        f->text[slot] = text_format("size_%s", job->names.size_names[i]);
    }
    for (size_t s = 0; s < job->stage_count; s++)
        for (size_t i = 0; i < job->stages[s].repeat.loop_count; i++) {
            int slot = job->stages[s].repeat.loops[i].slot;
            if (!f->varies[slot]) f->text[slot] = text_format("loop_%s", symbols_name(job->symbols, slot));
            f->varies[slot] = true;
        }
    for (size_t i = 0; i < job->names.derived_count; i++) { // in this order, because each may use earlier names
        size_t read;
        int slot = job->names.derived[i].slot;
        const int *slots = expr_slots(job->names.derived[i].value, &read);
        for (size_t k = 0; k < read; k++) f->varies[slot] |= f->varies[slots[k]];
        if (!f->varies[slot]) continue;
        autofree char *inner = to_c(f, job->names.derived[i].value, err);
        if (!inner) return -1;
        f->text[slot] = text_format("(%s)", inner);
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
    autofree char *text = to_c(f, expression, f->err);
    f->failed = !text;
    if (f->failed) error_prefix(f->err, "cannot write '%s' as %s", expr_text(expression), f->prefix ? "C" : "Python");
    return json_string(text ? text : "0");
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

// The contract ------------------------------------------------------------------------------------------------------

static bool was_verified(const struct trial *trial, const char *problem)
{
    for (size_t i = 0; i < trial->problem_count; i++)
        if (!strcmp(trial->problems[i].name, problem)) return !isnan(trial->problems[i].error);
    return false;
}

// The supported sizes; NULL if nothing was verified.
static json_t *supported(const struct job *job, const struct trial *trial)
{
    autojson json_t *list = json_array();
    for (size_t s = 0; s < job->names.size_count; s++) {
        struct size_range r = {0};
        for (size_t p = 0; p < job->problem_count; p++)
            if (was_verified(trial, job->problems[p].name)) size_range_add(&r, job->problems[p].sizes[s]);
        json_array_append_new(list, json_pack("{s:I, s:I, s:I}", "least", (json_int_t)r.least, "most",
                                              (json_int_t)r.most, "multiple", (json_int_t)r.multiple));
    }
    bool any = false;
    for (size_t p = 0; p < job->problem_count; p++) any |= was_verified(trial, job->problems[p].name);
    return any ? json_incref(list) : NULL;
}

// The word for a buffer's direction. It is "inout" for an input that the kernel may change and the caller must restore.
static const char *direction_word(const struct buffer *b)
{
    return direction_text[b->restore ? DIRECTION_INOUT : b->direction];
}

// Says what a fill puts into a buffer. malloc'ed.
static char *fill_words(const struct fill *f)
{
    static const char *const words[] = {
        [FILL_ZERO] = "0 in every element",
        [FILL_CONSTANT] = "%s in every element",
        [FILL_INDEX] = "each element's number, from 0",
        [FILL_NPY] = "the values of %s",
        [FILL_NORMAL] = "normally distributed random numbers",
        [FILL_UNIFORM] = "random numbers from %s to %s",
        [FILL_INTEGER] = "random integers from %s to %s",
        [FILL_ZEROS] = "random numbers from %s to %s, half of them 0 or -0",
        [FILL_NONFINITE] = "random numbers from %s to %s, infinities and NaN",
        [FILL_SORTED] = "ascending random numbers from %s to %s",
        [FILL_PERMUTATION] = "a random permutation of the elements' numbers, from 0",
        [FILL_OFFSETS] = "ascending random offsets from %s to %s",
        [FILL_ADDRESSES] = "the addresses %s; several addresses of one buffer point to equal pieces of it",
    };
    autorelease(text_release) struct text addresses = {0};
    for (size_t i = 0; i < f->address_count; i++) text_add(&addresses, "%s%s", i ? ", " : "", f->addresses[i].text);
    const char *from = f->kind == FILL_NPY       ? text_file_name(f->path)
                       : f->kind == FILL_OFFSETS ? "0"
                       : addresses.text          ? addresses.text
                       : f->low_value            ? expr_text(f->low_value)
                                                 : text_show_number(f->low, TEXT_ROOM),
               *to = f->high_value ? expr_text(f->high_value) : text_show_number(f->high, TEXT_ROOM);
    return text_format(words[f->kind], from, to);
}

// Says what a buffer contains before every launch. malloc'ed.
static char *contents_text(const struct buffer *b)
{
    autofree char *fill = fill_words(&b->fill);
    if (b->fill.kind == FILL_ADDRESSES) return text_format("your input: %s", fill);
    if (b->direction == DIRECTION_IN && b->restore)
        return text_format("your input, again before every launch, since a launch may change it; verified with %s",
                           fill);
    if (b->direction == DIRECTION_IN) return text_format("your input; verified with %s", fill);
    if (b->direction == DIRECTION_INOUT)
        return text_format("what the launch reads and changes; verified with %s", fill);
    if (b->direction == DIRECTION_SCRATCH && b->fill.given) return text_format("%s: fill it before every launch", fill);
    return text_copy(b->compared ? "anything; only a part of it is verified" : "anything");
}

// C code for the size in bytes of a buffer whose rows have this width.
static json_t *bytes_of(struct const_eval *f, const struct buffer *b, const struct expr *width)
{
    autojson json_t *rows = const_eval_text(f, b->rows, "1"), *cols = const_eval_text(f, width, "1");
    return json_sprintf("%zu * (%s) * (%s)", element_size(b->type), json_string_value(rows), json_string_value(cols));
}

static json_t *describe_buffer(struct const_eval *f, const struct buffer *b)
{
    autofree char *before = contents_text(b);
    json_t *object = json_pack("{s:s, s:s, s:s, s:o, s:s}", "name", b->name, "type", element_name(b->type), "direction",
                               direction_word(b), "bytes", bytes_of(f, b, b->ld ? b->ld : b->cols), "before", before);
    if (f->prefix) return object;
    json_object_set_new(object, "shape", const_eval_list(f, b->shape, b->rank));
    if (b->ld) json_object_set_new(object, "ld", const_eval_text(f, b->ld, "1"));
    if (b->direction == DIRECTION_SCRATCH && b->fill.given)
        json_object_set_new(object, b->fill.kind == FILL_ZERO ? "zero" : "filled", json_true());
    return object;
}

static bool sees(const struct job *job, size_t buffer, enum argument_view view)
{
    for (size_t s = 0; s < job->stage_count; s++) {
        const struct stage *stage = &job->stages[s];
        for (size_t i = 0; i < stage->argument_count; i++)
            if (stage->arguments[i].buffer == (int)buffer && stage->arguments[i].view == view) return true;
        for (size_t i = 0; i < stage->role_count && view == VIEW_POINTER; i++)
            if (stage->roles[i].buffer == (int)buffer) return true;
    }
    return false;
}

static bool has_address(const struct job *job, size_t buffer)
{
    const struct buffer *b = &job->buffers[buffer];
    return (!b->symbol && !b->image) || sees(job, buffer, VIEW_POINTER);
}

static json_t *describe(const struct buffer *b)
{
    return json_pack("{s:s, s:s, s:s}", "name", b->name, "type", element_name(b->type), "direction",
                     direction_text[b->direction]);
}

static json_t *describe_constant(struct const_eval *f, const struct buffer *b)
{
    json_t *object = describe(b);
    json_object_set_new(object, "bytes", bytes_of(f, b, b->cols));
    if (b->optional) json_object_set_new(object, "optional", json_true());
    return object;
}

static char *texture_text(const struct image_layout *a)
{
    struct text text = {0};
    text_add(&text, "memory %s, %d channel%s, filter %s, address ", image_memory_text[a->memory], a->channels,
             a->channels == 1 ? "" : "s", image_filter_text[a->filter]);
    for (int i = a->rank - 1; i >= 0; i--) text_add(&text, "%s%s", image_address_text[a->address[i]], i ? ", " : "");
    text_add(&text, ", %s coordinates, read as %s", a->normalized ? "normalized" : "texel", image_read_text[a->read]);
    return text.text;
}

static json_t *describe_object(struct const_eval *f, const struct buffer *b, bool surface)
{
    json_t *object = describe(b);
    const struct image_layout *a = &b->image->about;
    autofree char *about =
        surface ? text_format("memory array, %d channel%s", a->channels, a->channels == 1 ? "" : "s") : texture_text(a);
    json_object_set_new(object, "kind", json_string(surface ? "surface" : "texture"));
    json_object_set_new(object, "about", json_string(about));
    json_object_set_new(object, "size", const_eval_list(f, b->image->size, (size_t)a->rank));
    return object;
}

static int add_bindings(json_t *section, struct const_eval *f)
{
    const struct job *job = f->job;
    json_t *constants = json_array(), *objects = json_array();
    for (size_t i = 0; i < job->buffer_count && !f->failed; i++) {
        const struct buffer *b = &job->buffers[i];
        if (b->symbol) json_array_append_new(constants, describe_constant(f, b));
        if (f->failed) error_prefix(f->err, "constant '%s'", b->name);
        for (int surface = 0; surface < 2 && !f->failed; surface++) {
            if (!sees(job, i, surface ? VIEW_SURFACE : VIEW_TEXTURE)) continue;
            json_array_append_new(objects, describe_object(f, b, surface));
            if (f->failed) error_prefix(f->err, "image '%s'", b->name);
        }
    }
    const_eval_set_list(section, "constants", constants);
    const_eval_set_list(section, "objects", objects);
    return f->failed ? -1 : 0;
}

static void add_text(void *list, const char *text)
{
    json_array_append_new(list, json_string(text));
}

// Edits as sentences: "add.cu: '#define TILE 4' becomes ''".
static json_t *list_edits(const struct job *job)
{
    json_t *list = json_array();
    for (size_t i = 0; i < job->code.edit_count; i++) {
        const struct text_edit *e = &job->code.edits[i];
        json_array_append_new(list,
                              json_sprintf("%s: '%s' becomes '%s'", text_file_name(e->file), e->find, e->replace));
    }
    return list;
}

int contract_add(json_t *section, struct const_eval *f, const struct trial *trial, const char *arch)
{
    const struct job *job = f->job;
    json_t *options = json_array(), *buffers = json_array(), *sizes = supported(job, trial);
    uint16_t config[SPACE_MAX_PARAMETERS];
    if (job->code.edit_count) json_object_set_new(section, "edits", list_edits(job));
    json_object_set_new(section, "options", options);
    json_object_set_new(section, "includes", json_integer((json_int_t)job->code.include_count));
    json_object_set_new(section, "alignment", json_integer(promised_alignment(arch)));
    if (sizes) json_object_set_new(section, "supported", sizes);
    if (!f->prefix) json_object_set_new(section, "python", json_true());
    const_eval_set_list(section, "conditions", const_eval_list(f, job->sizes.supported, job->sizes.supported_count));
    json_object_set_new(section, "buffers", buffers);
    if (space_parse(job->space, trial->config, config, f->err)) return -1;
    job_options(job, config, add_text, options);
    for (size_t i = 0; i < job->buffer_count; i++) {
        if (!has_address(job, i)) continue;
        json_array_append_new(buffers, describe_buffer(f, &job->buffers[i]));
        if (f->failed) return error_prefix(f->err, "buffer '%s'", job->buffers[i].name);
    }
    return add_bindings(section, f);
}

// Describes a number: a scalar argument, or a member of a struct.
static json_t *describe_scalar(struct const_eval *f, const char *name, enum element type, const struct expr *value,
                               double real)
{
    if (!value)
        return json_pack("{s:s, s:s, s:s, s:f}", "kind", "scalar", "name", name, "type", element_name(type), "real",
                         real);
    return json_pack("{s:s, s:s, s:s, s:s, s:o}", "kind", "scalar", "name", name, "type", element_name(type), "from",
                     expr_text(value), "value", const_eval_text(f, value, "0"));
}

// Describes an address in a buffer, `at` bytes from its beginning.
static json_t *describe_address(struct const_eval *f, const char *name, const struct address *a)
{
    const struct buffer *b = &f->job->buffers[a->buffer];
    autojson json_t *at = const_eval_text(f, a->at, "0");
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "kind", "address", "name", name, "type",
                     element_name(ELEMENT_U64), "buffer", b->name, "from", a->text, "value",
                     json_sprintf("(%s) * %zu", json_string_value(at), element_size(b->type)));
}

// Describes a struct or a vector by value. Members are named without the argument's name as a prefix.
static json_t *describe_struct(struct const_eval *f, const struct argument *a)
{
    json_t *members = json_array();
    for (size_t i = 0; i < a->member_count; i++) {
        const struct value_member *m = &a->members[i];
        const char *name = m->name + strlen(a->name) + 1;
        json_t *one = m->is_address ? describe_address(f, name, &m->address)
                                    : describe_scalar(f, name, m->type, m->value, m->real);
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

// Finds a symbol's name in a cubin, which contains names one after another, each followed by a NUL.
static const char *find_symbol(const unsigned char *binary, size_t size, const char *name)
{
    for (size_t i = 0, begin = 0; i < size; i++) {
        if (binary[i]) continue;
        const char *text = (const char *)binary + begin;
        if (i > begin && symbol_is(text, name)) return text;
        begin = i + 1;
    }
    return NULL;
}

int contract_symbols(json_t *section, const unsigned char *binary, size_t size, struct error *err)
{
    json_array_each(json_object_get(section, "constants"), i, constant) {
        const char *name = json_get_string(constant, "name", ""), *symbol = find_symbol(binary, size, name);
        if (symbol)
            json_object_set_new(constant, "symbol", json_string(symbol));
        else if (!json_get_bool(constant, "optional", false))
            return error_set(err, "the stored binary has no variable '%s'", name);
    }
    return 0;
}
