// The header's tensor maps: the arguments of cuTensorMapEncodeTiled for every tensor map of a stage, as inline
// functions of the sizes.
//
// The header includes nothing, so the fields have plain types; CUDA's enumerations are given as their numbers (cuda.h,
// stable since CUDA 12.0).
#include "tuner/base/base.h"
#include "tuner/base/embedded.h"
#include "tuner/header/header_parts.h"
#include "tuner/job/job.h"

static int element_number(const char *type)
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
    const json_t *text;
    size_t i;
    json_array_foreach(json_object_get(map, key), i, text)
        header_put(r, "        t.%s[%zu] = (%s)(%s);\n", member, i, type, json_string_value(text));
}

// 32, 64, 128 bytes as CUDA's numbers: the logarithm over `unit`, where 0 bytes are 0.
static void put_bytes(struct renderer *r, const json_t *map, const char *key, int unit)
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
    header_put(r, "        t.type = %d;\n        t.rank = %zu;\n", element_number(json_get_string(map, "type", "")),
               json_array_size(json_object_get(map, "box")));
    put_list(r, map, "sizes", "size", "unsigned long long");
    put_list(r, map, "strides", "stride", "unsigned long long");
    put_list(r, map, "box", "box", "unsigned");
    put_bytes(r, map, "interleave", 16);
    put_bytes(r, map, "swizzle", 32);
    put_bytes(r, map, "promotion", 64);
    header_put(r, "        t.fill = %d;\n        t.used = 1;\n        break;\n", json_get_bool(map, "nan", false));
}

static const json_t *find_map(const json_t *section, const char *stage, size_t argument)
{
    const json_t *map;
    size_t k;
    json_array_foreach(json_object_get(header_find_stage(section, stage), "tensor_maps"), k,
                       map) if ((size_t)json_get_integer(map, "argument", -1) == argument) return map;
    return NULL;
}

void header_tensor_maps(struct renderer *r, const char *stage, const char *prefix)
{
    static const char type[] = "struct name_tensor_map";
    for (size_t argument = 0; argument < JOB_MAX_ARGUMENTS; argument++) {
        const json_t *section, *map = NULL;
        size_t i;
        json_array_foreach(r->sections, i, section) if ((map = find_map(section, stage, argument))) break;
        if (!map) continue;
        char *name = text_format("%stensor_map_%zu", prefix, argument);
        header_put(r, "/* Argument %zu, a tensor map of ", argument);
        header_put_comment(r->file, json_get_string(map, "buffer", "?"));
        header_put(r, ". */\n");
        header_begin(r, type, name, "    struct name_tensor_map t;\n    int i;\n",
                     "    for (i = 0; i < 5; i++) {\n        t.size[i] = 1;\n        t.stride[i] = 0;\n"
                     "        t.box[i] = 1;\n        t.element_stride[i] = 1;\n    }\n"
                     "    t.type = t.rank = t.interleave = t.swizzle = t.promotion = t.fill = 0;\n    t.used = 0;\n");
        json_array_foreach(r->sections, i, section)
        {
            const json_t *own = find_map(section, stage, argument);
            if (!own) continue;
            header_put(r, "    case %zu:\n", i);
            put_map(r, own);
        }
        header_end(r, type, name, "\n        break;\n    }\n    return t;\n");
        free(name);
    }
}

void header_tensor_map_type(struct renderer *r)
{
    const json_t *section, *stage;
    size_t i, k, count = 0;
    json_array_foreach(r->sections, i, section) json_array_foreach(json_object_get(section, "stages"), k, stage)
        count += json_array_size(json_object_get(stage, "tensor_maps"));
    if (count || header_embeds(r->sections)) header_put_template(r, embedded_header_tensor_map());
}
