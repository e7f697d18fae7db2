// See header_bindings.h.
#include "tuner/header/header_bindings.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/symbol_name.h"
#include "tuner/base/text.h"

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

static int add_constant(json_t *list, const struct const_eval *f, const struct buffer *b, struct error *err)
{
    json_t *object = describe(b);
    json_array_append_new(list, object);
    if (const_eval_set(object, "rows", f, b->rows, "1", err) || const_eval_set(object, "cols", f, b->cols, "1", err))
        return error_prefix(err, "constant '%s'", b->name);
    char *bytes = text_format("%zu * (%s) * (%s)", element_size(b->type), json_get_string(object, "rows", "1"),
                              json_get_string(object, "cols", "1"));
    json_object_set_new(object, "bytes", json_string(bytes));
    json_object_del(object, "rows");
    json_object_del(object, "cols");
    if (b->optional) json_object_set_new(object, "optional", json_true());
    free(bytes);
    return 0;
}

static char *texture_text(const struct image_layout *a)
{
    char *address = text_copy("");
    for (int i = a->rank - 1; i >= 0; i--) {
        char *longer = text_format("%s%s%s", address, *address ? ", " : "", image_address_text[a->address[i]]);
        free(address);
        address = longer;
    }
    char *text = text_format("memory %s, %d channel%s, filter %s, address %s, %s coordinates, read as %s",
                             image_memory_text[a->memory], a->channels, a->channels == 1 ? "" : "s",
                             image_filter_text[a->filter], address, a->normalized ? "normalized" : "texel",
                             image_read_text[a->read]);
    free(address);
    return text;
}

static int add_object(json_t *list, const struct const_eval *f, const struct buffer *b, bool surface, struct error *err)
{
    json_t *object = describe(b), *sizes = json_array(), *one = json_object();
    const struct image_layout *a = &b->image->about;
    char *about =
        surface ? text_format("memory array, %d channel%s", a->channels, a->channels == 1 ? "" : "s") : texture_text(a);
    json_array_append_new(list, object);
    json_object_set_new(object, "kind", json_string(surface ? "surface" : "texture"));
    json_object_set_new(object, "about", json_string(about));
    json_object_set_new(object, "size", sizes);
    free(about);
    int failed = 0;
    for (int i = 0; i < a->rank && !failed; i++) {
        failed = const_eval_set(one, "size", f, b->image->size[i], "1", err);
        json_array_append(sizes, json_object_get(one, "size"));
    }
    json_decref(one);
    return failed ? error_prefix(err, "image '%s'", b->name) : 0;
}

int header_bindings_add(json_t *section, const struct const_eval *f, struct error *err)
{
    const struct job *job = f->job;
    json_t *constants = json_array(), *objects = json_array();
    int failed = 0;
    for (size_t i = 0; i < job->buffer_count && !failed; i++) {
        const struct buffer *b = &job->buffers[i];
        if (b->symbol) failed = add_constant(constants, f, b, err);
        if (!failed && sees(job, i, VIEW_TEXTURE)) failed = add_object(objects, f, b, false, err);
        if (!failed && sees(job, i, VIEW_SURFACE)) failed = add_object(objects, f, b, true, err);
    }
    if (json_array_size(constants)) json_object_set(section, "constants", constants);
    if (json_array_size(objects)) json_object_set(section, "objects", objects);
    json_decref(constants);
    json_decref(objects);
    return failed;
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
    const json_t *one, *size;
    size_t i, k;
    FILE *f = r->file;
    json_array_foreach(json_object_get(section, "constants"), i, one)
    {
        const char *direction = json_get_string(one, "direction", "in");
        fputs(i ? "" : " *   variables of the module, to be set before a launch (cudaMemcpyToSymbol):\n", f);
        fprintf(f, " *         %-4s ", json_get_string(one, "type", "?"));
        header_put_comment(f, json_get_string(one, "name", "?"));
        fprintf(f, ", %s, ", direction);
        header_put_comment(f, json_get_string(one, "bytes", "?"));
        fprintf(f, " bytes%s\n", strcmp(direction, "in") != 0 ? ", verified without guards around it" : "");
    }
    json_array_foreach(json_object_get(section, "objects"), i, one)
    {
        bool surface = !strcmp(json_get_string(one, "kind", ""), "surface");
        fputs(i ? "" : " *   objects, which the caller makes:\n", f);
        fprintf(f, " *         %s ", json_get_string(one, "kind", "?"));
        header_put_comment(f, json_get_string(one, "name", "?"));
        fprintf(f, ": %s, ", json_get_string(one, "type", "?"));
        json_array_foreach(json_object_get(one, "size"), k, size)
        {
            fputs(k ? " x " : "", f);
            header_put_comment(f, json_string_value(size));
        }
        fprintf(f, ", %s%s\n", json_get_string(one, "about", ""), surface ? ", verified without guards around it" : "");
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
