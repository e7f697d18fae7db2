// See header_bindings.h.
#include "tuner/header/header_bindings.h"

#include "tuner/base/base.h"
#include "tuner/base/elf_file.h"

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

bool header_has_address(const struct job *job, size_t buffer)
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
    json_t *object = describe(b), *rows = const_eval_text(f, b->rows, "1"), *cols = const_eval_text(f, b->cols, "1");
    json_object_set_new(
        object, "bytes",
        json_sprintf("%zu * (%s) * (%s)", element_size(b->type), json_string_value(rows), json_string_value(cols)));
    if (b->optional) json_object_set_new(object, "optional", json_true());
    json_decref(rows);
    json_decref(cols);
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
    char *about =
        surface ? text_format("memory array, %d channel%s", a->channels, a->channels == 1 ? "" : "s") : texture_text(a);
    json_object_set_new(object, "kind", json_string(surface ? "surface" : "texture"));
    json_object_set_new(object, "about", json_string(about));
    json_object_set_new(object, "size", const_eval_list(f, b->image->size, (size_t)a->rank));
    free(about);
    return object;
}

int header_bindings_add(json_t *section, struct const_eval *f)
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

// The names of a cubin lie in it one after the other, each ended by a zero.
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

int header_bindings_symbols(json_t *section, const unsigned char *binary, size_t size, struct error *err)
{
    json_t *constant;
    size_t i;
    json_array_foreach(json_object_get(section, "constants"), i, constant)
    {
        const char *name = json_get_string(constant, "name", ""), *symbol = find_symbol(binary, size, name);
        if (symbol)
            json_object_set_new(constant, "symbol", json_string(symbol));
        else if (!json_get_bool(constant, "optional", false))
            return error_set(err, "the stored binary has no variable '%s'", name);
    }
    return 0;
}

void header_comment_bindings(struct renderer *r, const json_t *section)
{
    static const char no_guards[] = ", verified without guards around it";
    const json_t *one, *size;
    size_t i, k;
    json_array_foreach(json_object_get(section, "constants"), i, one)
    {
        const char *direction = json_get_string(one, "direction", "in");
        if (!i) header_comment(r, "   variables of the module, to be set before a launch (cudaMemcpyToSymbol):");
        header_comment(r, "         %-4s %s, %s, %s bytes%s", json_get_string(one, "type", "?"),
                       json_get_string(one, "name", "?"), direction, json_get_string(one, "bytes", "?"),
                       strcmp(direction, "in") != 0 ? no_guards : "");
    }
    json_array_foreach(json_object_get(section, "objects"), i, one)
    {
        struct text sizes = {0};
        const char *kind = json_get_string(one, "kind", "?");
        json_array_foreach(json_object_get(one, "size"), k, size)
            text_add(&sizes, "%s%s", k ? " x " : "", json_string_value(size));
        if (!i) header_comment(r, "   objects, which the caller makes:");
        header_comment(r, "         %s %s: %s, %s, %s%s", kind, json_get_string(one, "name", "?"),
                       json_get_string(one, "type", "?"), sizes.text ? sizes.text : "",
                       json_get_string(one, "about", ""), !strcmp(kind, "surface") ? no_guards : "");
        free(sizes.text);
    }
}

char *header_object_name(const json_t *argument)
{
    char *identifier = header_identifier(json_get_string(argument, "name", "?")),
         *name = text_format("%s_%s", json_get_string(argument, "kind", "texture"), identifier);
    free(identifier);
    return name;
}

const json_t *header_objects(const struct renderer *r)
{
    return json_object_get(json_array_get(r->sections, 0), "objects");
}
