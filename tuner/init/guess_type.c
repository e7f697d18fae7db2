// See guess_parts.h: a source's types, as a job file knows them.
#include <stdlib.h>
#include <string.h>

#include "kernels/element.h"
#include "tuner/base/text.h"
#include "tuner/init/guess_parts.h"

enum { MOST_DEPTH = 8 };

// `wanted` where job files know it, else `other`, which has the same size.
static const struct {
    const char *source, *wanted, *other;
} types[] = {
    {"float", "f32", NULL},
    {"double", "f64", NULL},
    {"half", "f16", NULL},
    {"__half", "f16", NULL},
    {"__nv_bfloat16", "bf16", NULL},
    {"nv_bfloat16", "bf16", NULL},
    {"__nv_fp8_e4m3", "e4m3", NULL},
    {"__nv_fp8_e5m2", "e5m2", NULL},
    {"__nv_fp8_storage_t", "u8", NULL},
    {"bool", "u8", "i8"},
    {"char", "i8", NULL},
    {"signed char", "i8", NULL},
    {"int8_t", "i8", NULL},
    {"unsigned char", "u8", "i8"},
    {"uint8_t", "u8", "i8"},
    {"uchar", "u8", "i8"},
    {"short", "i16", "f16"},
    {"int16_t", "i16", "f16"},
    {"unsigned short", "u16", "f16"},
    {"uint16_t", "u16", "f16"},
    {"ushort", "u16", "f16"},
    {"int", "i32", NULL},
    {"signed int", "i32", NULL},
    {"signed", "i32", NULL},
    {"int32_t", "i32", NULL},
    {"unsigned int", "u32", NULL},
    {"unsigned", "u32", NULL},
    {"uint32_t", "u32", NULL},
    {"uint", "u32", NULL},
    {"long", "i64", NULL},
    {"long int", "i64", NULL},
    {"long long", "i64", NULL},
    {"long long int", "i64", NULL},
    {"int64_t", "i64", NULL},
    {"ptrdiff_t", "i64", NULL},
    {"ssize_t", "i64", NULL},
    {"size_t", "u64", "i64"},
    {"unsigned long", "u64", "i64"},
    {"unsigned long int", "u64", "i64"},
    {"unsigned long long", "u64", "i64"},
    {"unsigned long long int", "u64", "i64"},
    {"uint64_t", "u64", "i64"},
};

// Vector types are their elements in a row: float4, half2, __nv_bfloat162.
static const char *const vectors[][2] = {
    {"float", "float"},
    {"double", "double"},
    {"int", "int"},
    {"uint", "unsigned int"},
    {"char", "char"},
    {"uchar", "unsigned char"},
    {"short", "short"},
    {"ushort", "unsigned short"},
    {"half", "half"},
    {"__half", "half"},
    {"__nv_bfloat16", "__nv_bfloat16"},
    {"nv_bfloat16", "__nv_bfloat16"},
    {"longlong", "long long"},
    {"ulonglong", "unsigned long long"},
};

static const char *find(const char *type, bool *same_bits)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].source, type) != 0) continue;
        bool known = element_find(types[i].wanted) >= 0;
        if (same_bits) *same_bits = !known;
        return known ? types[i].wanted : types[i].other;
    }
    return NULL;
}

static const char *alias_of(const struct cuda_file *f, const char *type)
{
    for (size_t i = 0; i < f->alias_count; i++)
        if (!strcmp(f->aliases[i].name, type)) return f->aliases[i].type;
    return NULL;
}

// Through the names that the file and the template give to types.
static const char *plain_type(const struct guess *g, const char *type)
{
    for (int depth = 0; depth < MOST_DEPTH; depth++) {
        const char *next = NULL;
        if (!strncmp(type, "std::", 5)) type += 5;
        if (!strncmp(type, "const ", 6)) type += 6;
        next = guess_constant(g, type);
        if (!next) next = alias_of(g->file, type);
        for (size_t i = 0; i < g->included_count && !next; i++) next = alias_of(&g->included[i], type);
        for (size_t i = 0; i < g->kernel->template_count && !next; i++)
            if (g->kernel->templates[i].is_type && !strcmp(g->kernel->templates[i].name, type))
                next = g->kernel->templates[i].value ? g->kernel->templates[i].value : "float";
        if (!next || !strcmp(next, type)) break;
        type = next;
    }
    return type;
}

const char *guess_type(const struct guess *g, const char *type, int *factor, bool *same_bits)
{
    type = plain_type(g, type);
    *factor = 1;
    *same_bits = false;
    const char *found = find(type, same_bits);
    size_t length = strlen(type);
    if (found || length < 2 || type[length - 1] < '2' || type[length - 1] > '4') return found;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        if (strlen(vectors[i][0]) != length - 1 || strncmp(vectors[i][0], type, length - 1) != 0) continue;
        *factor = type[length - 1] - '0';
        return find(vectors[i][1], same_bits);
    }
    return NULL;
}

size_t guess_type_size(const struct guess *g, const char *type)
{
    int factor;
    bool same_bits;
    const char *found = guess_type(g, type, &factor, &same_bits);
    return found ? (size_t)factor * element_size((enum element)element_find(found)) : 0;
}

bool guess_is_integer(const char *job_type)
{
    return job_type && !element_is_float((enum element)element_find(job_type));
}
