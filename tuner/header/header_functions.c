// The header's inline functions that depend on the sizes: the launch geometry, scalar arguments and tensor maps of
// every stage in every section, the sizes of buffers in bytes, and which problem sizes are supported.
//
// They include nothing, allocate nothing, and compile as C99, C++11 and CUDA without warnings at the strictest level:
// no structure shares its name with a function (C++ warns about that), no argument is unused, and nothing is converted
// without a cast.
#include "tuner/base/embedded.h"
#include "tuner/header/header_parts.h"
#include "tuner/job/job.h"

static void put_unsigned(struct renderer *r, const char *member, const char *text)
{
    header_put(r, header_is_number(text) ? " g.%s = %s;" : " g.%s = name_fn_narrow(%s);", member, text);
}

static void put_case(struct renderer *r, const json_t *stage)
{
    const char *when = json_get_string(stage, "when", "1"), *overlap = json_get_string(stage, "overlap", "0");
    const json_t *library = json_object_get(stage, "library");
    if (library)
        header_put(r, "        /* no launch: a library call, %s by %s */\n", json_get_string(library, "operation", "?"),
                   json_get_string(library, "by", "?"));
    for (size_t k = 0; k < 9; k++) {
        const char *array = k < 3 ? "grid" : k < 6 ? "block" : "cluster";
        const json_t *text = json_array_get(json_object_get(stage, array), k % 3);
        autofree char *member = text_format("%s[%zu]", array, k % 3);
        if (k % 3 == 0) header_put(r, "       ");
        put_unsigned(r, member, json_is_string(text) ? json_string_value(text) : "1");
        if (k % 3 == 2) header_put(r, "\n");
    }
    header_put(r, "       ");
    put_unsigned(r, "shared_bytes", json_get_string(stage, "shared", "0"));
    header_put(r, " g.cooperative = %d;", json_get_bool(stage, "cooperative", false));
    header_put(r, header_is_number(overlap) ? " g.overlap = %s;" : " g.overlap = (%s) != 0;", overlap);
    header_put(r, header_is_number(when) ? " g.used = %s%s;\n" : " g.used = (%s) != 0%s;\n", when,
               r->repeated ? " && there" : "");
    header_put(r, "    }\n");
}

// Writes the function that returns whether a run with this number exists and, if so, sets the values of the run's loop
// variables. A stage without loops has one run.
static void put_runs(struct renderer *r, const char *name, const char *prefix)
{
    header_put(
        r,
        "/* This stage runs repeatedly. The functions below describe one of its runs, numbered from 0. The last run\n"
        " * is the one for which geometry(sizes, run + 1).used is 0. */\n"
        "NAME_FUNCTION int %srun_on(int section name_declared_sizes",
        prefix);
    json_object_each((json_t *)r->loops, key, value) header_put(r, ", long long *at_%s", key);
    header_put(r, ")\n{\n");
    json_object_each((json_t *)r->loops, key, value) header_put(r, "    long long loop_%s = 0;\n", key);
    header_put(r, "name_unused_sizes");
    json_object_each((json_t *)r->loops, key, value) header_put(r, "    *at_%s = loop_%s;\n", key, key);
    header_put(r, "    switch (section) {\n");
    json_array_each(r->sections, i, section) {
        const json_t *stage = header_find_stage(section, name), *loops = json_object_get(stage, "repeat");
        if (!stage) continue;
        header_put(r, loops ? "    case %zu:\n" : "    case %zu:\n        return run == 0;\n", i);
        if (!loops) continue;
        json_array_each(loops, k, loop) {
            const char *variable = json_get_string(loop, "name", "?");
            header_put(r, "        for (loop_%s = %s; %s; loop_%s = %s)\n", variable,
                       json_get_string(loop, "from", "0"), json_get_string(loop, "while", "0"), variable,
                       json_get_string(loop, "next", "0"));
        }
        header_put(r, "        {\n            if (run-- > 0) continue;\n");
        json_array_each(loops, k, loop) {
            const char *variable = json_get_string(loop, "name", "?");
            header_put(r, "            *at_%s = loop_%s;\n", variable, variable);
        }
        header_put(r, "            return 1;\n        }\n        return 0;\n");
    }
    header_put(r, "    default: return 0;\n    }\n}\n");
}

// A stage's argument in a section; NULL if there is none.
static const json_t *find_argument(const json_t *section, const char *stage, size_t place)
{
    return json_array_get(json_object_get(header_find_stage(section, stage), "arguments"), place);
}

char *header_scalar_name(const char *prefix, size_t place, const json_t *member)
{
    if (!member) return text_format("%sargument_%zu", prefix, place);
    autofree char *identifier = header_identifier(json_get_string(member, "name", "?"));
    return text_format("%sargument_%zu_%s", prefix, place, identifier);
}

// `own`: the struct's name if `like` is a member.
static void put_scalar(struct renderer *r, const char *stage, size_t place, size_t member, const json_t *like,
                       const char *own, const char *prefix)
{
    bool real = json_object_get(like, "real") != NULL;
    const char *type = real ? "double" : "long long";
    autofree char *name = header_scalar_name(prefix, place, own ? like : NULL);
    autorelease(text_release) struct text values = {0};
    header_put(r, "/* Argument %zu, ", place);
    header_put_comment(r->file, own ? own : "");
    header_put(r, own ? "." : "");
    header_put_comment(r->file, json_get_string(like, "name", "?"));
    header_put(r, " (%s)", json_get_string(like, "type", "?"));
    if (own) header_put(r, ", at byte %" PRId64, json_get_integer(like, "offset", 0));
    if (json_object_get(like, "buffer"))
        header_put(r, ": bytes into %s, whose address is added", json_get_string(like, "buffer", "?"));
    header_put(r, ". */\n");
    json_array_each(r->sections, i, section) {
        const json_t *each = find_argument(section, stage, place), *members = json_object_get(each, "members");
        if (members) each = json_array_get(members, member);
        if (!each || (!members && member)) continue; // this section's argument has another kind
        double number = json_get_number(each, "real", 0);
        if (real) // -0 would be an integer, without a sign
            text_add(&values, number == 0 ? "section == %zu ? %.1f : " : "section == %zu ? %.17g : ", i, number);
        else
            text_add(&values, "section == %zu ? %s : ", i, json_get_string(each, "value", "0"));
    }
    header_put_values(r, type, name, values.text);
}

// Writes the functions for a struct's members. The members' names must still differ when they are converted to
// identifiers.
static void put_members(struct renderer *r, const char *stage, size_t place, const json_t *like, const char *prefix)
{
    autojson json_t *seen = json_object();
    json_array_each(json_object_get(like, "members"), i, member) {
        autofree char *name = header_scalar_name(prefix, place, member);
        if (json_object_get(seen, name))
            header_refuse(r, "two members of '%s' would have one name in the header, %s",
                          json_get_string(like, "name", "?"), name);
        json_object_set_new(seen, name, json_true());
        put_scalar(r, stage, place, i, member, json_get_string(like, "name", "?"), prefix);
    }
}

static void put_scalars(struct renderer *r, const char *stage, const char *prefix)
{
    for (size_t place = 0; place < JOB_MAX_ARGUMENTS; place++) {
        const json_t *like = NULL;
        json_array_each(r->sections, i, section) {
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

// Tensor maps: the arguments of cuTensorMapEncodeTiled for every tensor map of a stage. The header includes nothing, so
// the fields have plain types, and CUDA's enumerations are given as numbers (from cuda.h; stable since CUDA 12.0).
int header_map_type(const char *type)
{
    static const struct {
        const char *name;
        int number;
    } types[] = {{"i8", 0},  {"u8", 0},  {"i16", 1}, {"u16", 1}, {"u32", 2},  {"i32", 3},  {"u64", 4},
                 {"i64", 5}, {"f16", 6}, {"f32", 7}, {"f64", 8}, {"bf16", 9}, {"tf32", 11}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, type)) return types[i].number;
    return 0;
}

static void put_list(struct renderer *r, const json_t *map, const char *key, const char *member, const char *type)
{
    json_array_each(json_object_get(map, key), i, text)
        header_put(r, "        t.%s[%zu] = (%s)(%s);\n", member, i, type, json_string_value(text));
}

// Writes 32, 64 or 128 bytes as CUDA's number, a logarithm relative to `unit`. 0 bytes become 0.
static void put_map_bytes(struct renderer *r, const json_t *map, const char *key, int unit)
{
    const char *text = json_get_string(map, key, "0");
    if (!strcmp(text, "0"))
        header_put(r, "        t.%s = 0;\n", key);
    else
        header_put(r, "        t.%s = (unsigned)((%s) == 0 ? 0 : name_fn_log2((%s) / %d) + 1);\n", key, text, text,
                   unit);
}

static void put_map(struct renderer *r, const json_t *map)
{
    header_put(r, "        t.type = %d;\n        t.rank = %zu;\n", header_map_type(json_get_string(map, "type", "")),
               json_array_size(json_object_get(map, "box")));
    put_list(r, map, "sizes", "size", "unsigned long long");
    put_list(r, map, "strides", "stride", "unsigned long long");
    put_list(r, map, "box", "box", "unsigned");
    put_map_bytes(r, map, "interleave", 16);
    put_map_bytes(r, map, "swizzle", 32);
    put_map_bytes(r, map, "promotion", 64);
    header_put(r, "        t.fill = %d;\n        t.used = 1;\n    }\n", json_get_bool(map, "nan", false));
}

static const json_t *find_map(const json_t *section, const char *stage, size_t argument)
{
    json_array_each(json_object_get(header_find_stage(section, stage), "tensor_maps"), k, map)
        if ((size_t)json_get_integer(map, "argument", -1) == argument) return map;
    return NULL;
}

static void put_tensor_maps(struct renderer *r, const char *stage, const char *prefix)
{
    static const char type[] = "struct name_tensor_map";
    for (size_t argument = 0; argument < JOB_MAX_ARGUMENTS; argument++) {
        const json_t *map = NULL;
        json_array_each(r->sections, i, section)
            if ((map = find_map(section, stage, argument))) break;
        if (!map) continue;
        autofree char *name = text_format("%stensor_map_%zu", prefix, argument);
        header_put(r, "/* Argument %zu, a tensor map of ", argument);
        header_put_comment(r->file, json_get_string(map, "buffer", "?"));
        header_put(r, ". */\n");
        header_begin(r, type, name,
                     "    struct name_tensor_map t = {0, 0, {1, 1, 1, 1, 1}, {0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}, "
                     "{1, 1, 1, 1, 1}, 0, 0, 0, 0, 0};\n");
        json_array_each(r->sections, i, section) {
            const json_t *own = find_map(section, stage, argument);
            if (!own) continue;
            header_put(r, "    if (section == %zu) {\n", i);
            put_map(r, own);
        }
        header_end(r, type, name, "t");
    }
}

// Writes the functions for one stage's geometry in all sections, and shorter functions for the chosen section.
static void put_stage(struct renderer *r, const char *stage, const char *prefix)
{
    static const char type[] = "struct name_launch_shape";
    autojson json_t *loops = header_loops(r->sections, stage);
    autofree char *name = text_format("%sgeometry", prefix);
    if (loops) {
        r->repeated = prefix;
        r->loops = loops;
        put_runs(r, stage, prefix);
    }
    header_begin(r, type, name, "    struct name_launch_shape g = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, 0, 0, 0};\n");
    json_array_each(r->sections, i, section) {
        const json_t *own = header_find_stage(section, stage);
        if (!own) continue;
        header_put(r, "    if (section == %zu) { /* ", i);
        header_put_comment(r->file, json_get_string(section, "device", "?"));
        header_put(r, " */\n");
        put_case(r, own);
    }
    header_end(r, type, name, "g");
    header_put(r,
               "#define NAME_CHOICE_MEMBER(function, member) NAME_FUNCTION unsigned function(name_parameters) { return "
               "%s(name_sizes).member; }\n",
               name);
    for (size_t i = 0; i < 3; i++) {
        const char *array = i < 1 ? "grid" : i < 2 ? "block" : "cluster";
        header_put(
            r,
            "NAME_CHOICE_MEMBER(%s%s_x, %s[0]) NAME_CHOICE_MEMBER(%s%s_y, %s[1]) NAME_CHOICE_MEMBER(%s%s_z, %s[2])\n",
            prefix, array, array, prefix, array, array, prefix, array, array);
    }
    header_put(r, "NAME_CHOICE_MEMBER(%sshared_bytes, shared_bytes)\n#undef NAME_CHOICE_MEMBER\n", prefix);
    put_scalars(r, stage, prefix);
    put_tensor_maps(r, stage, prefix);
    r->repeated = NULL;
    r->loops = NULL;
    header_put(r, "\n");
}

static void put_bytes(struct renderer *r)
{
    if (json_array_size(header_buffers(r))) header_put(r, "/* The smallest size of each buffer, in bytes. */\n");
    json_array_each(header_buffers(r), k, buffer) {
        autofree char *identifier = header_identifier(json_get_string(buffer, "name", "?")),
                      *function = text_format("%s_bytes_%s", r->lower, identifier);
        autorelease(text_release) struct text values = {0};
        json_array_each(r->sections, i, section) {
            const json_t *own = json_array_get(json_object_get(section, "buffers"), k);
            text_add(&values, "section == %zu ? %s : ", i, json_get_string(own, "bytes", "0"));
        }
        header_put_values(r, "long long", function, values.text);
    }
}

static void put_supported(struct renderer *r)
{
    autofree char *name = text_format("%s_supported", r->lower);
    autorelease(text_release) struct text values = {0};
    header_put(r, "/* Whether each size is between the smallest and the largest that were verified, and a multiple of "
                  "their greatest common divisor. */\n");
    json_array_each(r->sections, i, section) {
        const json_t *limits = json_object_get(section, "supported");
        text_add(&values, "section == %zu ? %s", i, limits ? "1" : "0 /* it was not verified */");
        json_array_each(limits, k, limit) {
            const char *size = json_string_value(json_array_get(r->sizes, k));
            int64_t multiple = json_get_integer(limit, "multiple", 1);
            text_add(&values, " && size_%s >= %" PRId64 " && size_%s <= %" PRId64, size,
                     json_get_integer(limit, "least", 0), size, json_get_integer(limit, "most", 0));
            if (multiple > 1) text_add(&values, " && size_%s %% %" PRId64 " == 0", size, multiple);
        }
        json_array_each(json_object_get(section, "conditions"), k, condition)
            text_add(&values, " && (%s)", json_is_string(condition) ? json_string_value(condition) : "0");
        text_add(&values, " : ");
    }
    header_put_values(r, "int", name, values.text);
    header_put(r, "\n");
}

static void put_tensor_map_type(struct renderer *r)
{
    size_t count = 0;
    json_array_each(r->sections, i, section)
        json_array_each(json_object_get(section, "stages"), k, stage)
            count += json_array_size(json_object_get(stage, "tensor_maps"));
    if (count || header_embeds(r->sections)) header_put_template(r, embedded_header_tensor_map());
}

void header_functions(struct renderer *r)
{
    header_put_template(r, embedded_header_function());
    header_put_template(r, embedded_fn_arithmetic());
    header_put_template(r, embedded_header_shape());
    put_tensor_map_type(r);
    json_object_each(r->prefixes, stage, prefix) put_stage(r, stage, json_string_value(prefix));
    put_bytes(r);
    put_supported(r);
}
