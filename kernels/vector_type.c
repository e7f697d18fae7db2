// See vector_type.h.
#include "kernels/vector_type.h"

#include <string.h>

#define LANES(name, element)                        \
    {name "2", element, 2}, {name "3", element, 3}, \
    {                                               \
        name "4", element, 4                        \
    }

const struct vector_type vector_types[] = {
    LANES("float", ELEMENT_F32),
    LANES("double", ELEMENT_F64),
    LANES("char", ELEMENT_I8),
    LANES("uchar", ELEMENT_U8),
    LANES("short", ELEMENT_I16),
    LANES("ushort", ELEMENT_U16),
    LANES("int", ELEMENT_I32),
    LANES("uint", ELEMENT_U32),
    LANES("long", ELEMENT_I64),
    LANES("ulong", ELEMENT_U64),
    LANES("longlong", ELEMENT_I64),
    LANES("ulonglong", ELEMENT_U64),
    {"__half2", ELEMENT_F16, 2},
    {"half2", ELEMENT_F16, 2},
    {"__nv_bfloat162", ELEMENT_BF16, 2},
    {"nv_bfloat162", ELEMENT_BF16, 2},
    {"__nv_fp8x2_e4m3", ELEMENT_E4M3, 2},
    {"__nv_fp8x4_e4m3", ELEMENT_E4M3, 4},
    {"__nv_fp8x2_e5m2", ELEMENT_E5M2, 2},
    {"__nv_fp8x4_e5m2", ELEMENT_E5M2, 4},
    {0},
};

const struct vector_type *vector_type_find(const char *name)
{
    for (const struct vector_type *v = vector_types; name && v->name; v++)
        if (!strcmp(v->name, name)) return v;
    return NULL;
}

size_t vector_type_size(const struct vector_type *v)
{
    return (size_t)v->lanes * element_size(v->element);
}

size_t vector_type_alignment(const struct vector_type *v)
{
    size_t size = vector_type_size(v);
    return v->lanes == 3 ? element_size(v->element) : size < 16 ? size : 16;
}
