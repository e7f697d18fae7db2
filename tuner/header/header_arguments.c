// See header_parts.h. As in header_functions.c: no includes, no allocation, the strictest warnings.
#include "tuner/base/base.h"
#include "tuner/header/header_parts.h"
#include "tuner/job/job.h"

// The argument of a stage in a section; NULL where it has none.
static const json_t *find_argument(const json_t *section, const char *stage, size_t place)
{
    return json_array_get(json_object_get(header_find_stage(section, stage), "arguments"), place);
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
    header_put(r, "/* Argument %zu, ", place);
    header_put_comment(r->file, own ? own : "");
    header_put(r, own ? "." : "");
    header_put_comment(r->file, json_get_string(like, "name", "?"));
    header_put(r, " (%s)", json_get_string(like, "type", "?"));
    if (own) header_put(r, ", at byte %" PRId64, json_get_integer(like, "offset", 0));
    header_put(r, ". */\n");
    header_begin(r, type, name, "", "");
    json_array_foreach(r->sections, i, section)
    {
        const json_t *each = find_argument(section, stage, place), *members = json_object_get(each, "members");
        if (members) each = json_array_get(members, member);
        if (!each || (!members && member)) continue; // it is something else there
        if (real)
            header_put(r, "    case %zu: return %.17g;\n", i, json_get_number(each, "real", 0));
        else
            header_put(r, "    case %zu: return %s;\n", i, json_get_string(each, "value", "0"));
    }
    header_end(r, type, name, " return 0;\n    }\n");
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
        if (json_object_get(seen, name))
            header_refuse(r, "two members of '%s' would have one name in the header, %s",
                          json_get_string(like, "name", "?"), name);
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
            const json_t *own = find_argument(section, stage, place);
            const char *kind = json_get_string(own, "kind", "");
            if (!like && (!strcmp(kind, "scalar") || !strcmp(kind, "struct"))) like = own;
        }
        if (json_object_get(like, "members"))
            put_members(r, stage, place, like, prefix);
        else if (like)
            put_scalar(r, stage, place, 0, like, NULL, prefix);
    }
}

static void put_bytes(struct renderer *r)
{
    const json_t *section, *buffer, *other;
    size_t i, k, n;
    json_t *seen = json_object();
    json_array_foreach(r->sections, i, section) json_array_foreach(json_object_get(section, "buffers"), k, buffer)
    {
        const char *name = json_get_string(buffer, "name", "?");
        if (json_object_get(seen, name)) continue;
        if (!json_object_size(seen)) header_put(r, "/* The least size of each buffer, in bytes. */\n");
        json_object_set_new(seen, name, json_true());
        char *identifier = header_identifier(name), *function = text_format("%s_bytes_%s", r->lower, identifier);
        header_begin(r, "long long", function, "", "");
        json_array_foreach(r->sections, n, other)
        {
            const json_t *own = header_find(json_object_get(other, "buffers"), name);
            if (own) header_put(r, "    case %zu: return %s;\n", n, json_get_string(own, "bytes", "0"));
        }
        header_end(r, "long long", function, " return 0;\n    }\n");
        free(identifier);
        free(function);
    }
    json_decref(seen);
}

static void put_supported(struct renderer *r)
{
    const json_t *section, *limit, *condition;
    size_t i, k;
    char *name = text_format("%s_supported", r->lower);
    header_put(r, "/* Whether a problem is within the sizes that the kernel was verified on: each size between the "
                  "smallest and the largest, and a multiple of their\n * greatest common divisor. */\n");
    header_begin(r, "int", name, "", "");
    json_array_foreach(r->sections, i, section)
    {
        const json_t *limits = json_object_get(section, "supported");
        header_put(r, "    case %zu: return %s", i, limits ? "1" : "0 /* it was not verified */");
        json_array_foreach(limits, k, limit)
        {
            const char *size = json_string_value(json_array_get(r->sizes, k));
            int64_t multiple = json_get_integer(limit, "multiple", 1);
            header_put(r, " && size_%s >= %" PRId64 " && size_%s <= %" PRId64, size,
                       json_get_integer(limit, "least", 0), size, json_get_integer(limit, "most", 0));
            if (multiple > 1) header_put(r, " && size_%s %% %" PRId64 " == 0", size, multiple);
        }
        json_array_foreach(json_object_get(section, "conditions"), k, condition)
            header_put(r, " && (%s)", json_is_string(condition) ? json_string_value(condition) : "0");
        header_put(r, ";\n");
    }
    header_end(r, "int", name, " return 0;\n    }\n");
    free(name);
    header_put(r, "\n");
}

void header_limits(struct renderer *r)
{
    put_bytes(r);
    put_supported(r);
}
