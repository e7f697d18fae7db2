// See header_arguments.h. As in header_functions.c: no includes, no allocation, the strictest warnings.
#include "tuner/header/header_arguments.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/text.h"
#include "tuner/job/job.h"

const json_t *header_find_stage(const json_t *section, const char *name)
{
    const json_t *stage;
    size_t i;
    json_array_foreach(json_object_get(section, "stages"), i,
                       stage) if (!strcmp(json_get_string(stage, "name", ""), name)) return stage;
    return NULL;
}

// A function of a section and the sizes, and the short one for the chosen section. `name` without "_on".
static void begin(struct renderer *r, const char *type, const char *name)
{
    const json_t *size;
    size_t i;
    fprintf(r->file, "%s_FUNCTION %s %s_on(", r->upper, type, name);
    header_put_arguments(r, "int section");
    fputs(")\n{\n", r->file);
    header_put_loops(r);
    json_array_foreach(r->sizes, i, size) fprintf(r->file, "    (void)size_%s;\n", json_string_value(size));
    fputs("    switch (section) {\n", r->file);
}

static void end(struct renderer *r, const char *type, const char *name, const char *absent)
{
    fprintf(r->file, "    default: return %s;\n    }\n}\n%s_FUNCTION %s %s(", absent, r->upper, type, name);
    header_put_arguments(r, "");
    fprintf(r->file, ") { return %s_on(%s_SECTION", name, r->upper);
    header_put_sizes(r, ", ");
    fputs("); }\n", r->file);
}

// A scalar argument of a stage in a section, or one of a struct's members; NULL: it is something else there.
static const json_t *find_scalar(const json_t *section, const char *stage, size_t place, size_t member)
{
    const json_t *own = json_array_get(json_object_get(header_find_stage(section, stage), "arguments"), place);
    const json_t *members = json_object_get(own, "members");
    return members ? json_array_get(members, member) : member ? NULL : own;
}

char *header_scalar_name(const char *prefix, size_t place, const json_t *member)
{
    if (!member) return text_format("%sargument_%zu", prefix, place);
    char *identifier = header_identifier(json_get_string(member, "name", "?")),
         *name = text_format("%sargument_%zu_%s", prefix, place, identifier);
    free(identifier);
    return name;
}

// `own`: the name of the struct's, where `like` is a member.
static void put_scalar(struct renderer *r, const char *stage, size_t place, size_t member, const json_t *like,
                       const char *own, const char *prefix)
{
    const json_t *section;
    size_t i;
    bool real = json_object_get(like, "real") != NULL;
    const char *type = real ? "double" : "long long";
    char *name = header_scalar_name(prefix, place, own ? like : NULL);
    fprintf(r->file, "/* Argument %zu, ", place);
    if (own) {
        header_put_comment(r->file, own);
        fputc('.', r->file);
    }
    header_put_comment(r->file, json_get_string(like, "name", "?"));
    fprintf(r->file, " (%s)", json_get_string(like, "type", "?"));
    if (own) fprintf(r->file, ", at byte %" PRId64, json_get_integer(like, "offset", 0));
    fputs(". */\n", r->file);
    begin(r, type, name);
    json_array_foreach(r->sections, i, section)
    {
        const json_t *each = find_scalar(section, stage, place, member);
        if (!each) continue;
        if (real)
            fprintf(r->file, "    case %zu: return %.17g;\n", i, json_get_number(each, "real", 0));
        else
            fprintf(r->file, "    case %zu: return %s;\n", i, json_get_string(each, "value", "0"));
    }
    end(r, type, name, "0");
    free(name);
}

// The functions of a struct's members, whose names must differ as identifiers too.
static void put_members(struct renderer *r, const char *stage, size_t place, const json_t *like, const char *prefix)
{
    const json_t *member;
    size_t i;
    json_t *seen = json_object();
    json_array_foreach(json_object_get(like, "members"), i, member)
    {
        char *name = header_scalar_name(prefix, place, member);
        if (json_object_get(seen, name) && !r->collided) {
            error_set(r->err, "two members of '%s' would have one name in the header, %s",
                      json_get_string(like, "name", "?"), name);
            r->collided = true;
        }
        json_object_set_new(seen, name, json_true());
        put_scalar(r, stage, place, i, member, json_get_string(like, "name", "?"), prefix);
        free(name);
    }
    json_decref(seen);
}

void header_scalars(struct renderer *r, const char *stage, const char *prefix)
{
    const json_t *section;
    size_t i;
    for (size_t place = 0; place < JOB_MAX_ARGUMENTS; place++) {
        const json_t *like = NULL;
        json_array_foreach(r->sections, i, section)
        {
            const json_t *own = json_array_get(json_object_get(header_find_stage(section, stage), "arguments"), place);
            const char *kind = json_get_string(own, "kind", "");
            if (!like && (!strcmp(kind, "scalar") || !strcmp(kind, "struct"))) like = own;
        }
        if (json_object_get(like, "members"))
            put_members(r, stage, place, like, prefix);
        else if (like)
            put_scalar(r, stage, place, 0, like, NULL, prefix);
    }
}

static const json_t *find_buffer(const json_t *section, const char *name)
{
    const json_t *buffer;
    size_t i;
    json_array_foreach(json_object_get(section, "buffers"), i,
                       buffer) if (!strcmp(json_get_string(buffer, "name", ""), name)) return buffer;
    return NULL;
}

static void put_bytes(struct renderer *r)
{
    const json_t *section, *buffer;
    size_t i, k, n;
    json_t *seen = json_object();
    json_array_foreach(r->sections, i, section) json_array_foreach(json_object_get(section, "buffers"), k, buffer)
    {
        const char *name = json_get_string(buffer, "name", "?");
        const json_t *other;
        if (json_object_get(seen, name)) continue;
        if (!json_object_size(seen)) fputs("/* The least size of each buffer, in bytes. */\n", r->file);
        json_object_set_new(seen, name, json_true());
        char *identifier = header_identifier(name), *function = text_format("%s_bytes_%s", r->lower, identifier);
        begin(r, "long long", function);
        json_array_foreach(r->sections, n, other)
        {
            const json_t *own = find_buffer(other, name);
            if (own) fprintf(r->file, "    case %zu: return %s;\n", n, json_get_string(own, "bytes", "0"));
        }
        end(r, "long long", function, "0");
        free(identifier);
        free(function);
    }
    json_decref(seen);
}

static void put_supported(struct renderer *r)
{
    const json_t *section, *limit;
    size_t i, k;
    char *name = text_format("%s_supported", r->lower);
    fputs("/* Whether a problem is within the sizes that the kernel was verified on: each size between the smallest "
          "and the "
          "largest, and a multiple of their\n * greatest common divisor. */\n",
          r->file);
    begin(r, "int", name);
    json_array_foreach(r->sections, i, section)
    {
        const json_t *limits = json_object_get(section, "supported");
        fprintf(r->file, "    case %zu: return %s", i, limits ? "1" : "0 /* it was not verified */");
        json_array_foreach(limits, k, limit)
        {
            const char *size = json_string_value(json_array_get(r->sizes, k));
            int64_t multiple = json_get_integer(limit, "multiple", 1);
            fprintf(r->file, " && size_%s >= %" PRId64 " && size_%s <= %" PRId64, size,
                    json_get_integer(limit, "least", 0), size, json_get_integer(limit, "most", 0));
            if (multiple > 1) fprintf(r->file, " && size_%s %% %" PRId64 " == 0", size, multiple);
        }
        fputs(";\n", r->file);
    }
    end(r, "int", name, "0");
    free(name);
    fputc('\n', r->file);
}

void header_limits(struct renderer *r)
{
    put_bytes(r);
    put_supported(r);
}
