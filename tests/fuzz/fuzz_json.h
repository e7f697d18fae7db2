// A mutator for inputs whose lines hold JSON: it changes a value, a member or a list of one line's object, so that the
// result is still JSON and gets past the parser. In one of three calls, libFuzzer mutates the bytes instead.
#pragma once

#include <float.h>
#include <jansson.h>

#include "tests/fuzz/fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static unsigned json_random; // state of a small generator

static unsigned json_draw(unsigned below)
{
    json_random = json_random * 1664525u + 1013904223u;
    return (json_random >> 8) % below;
}

static size_t json_nodes(const json_t *value)
{
    size_t count = 1, i;
    const char *key;
    json_t *each;
    json_array_foreach(value, i, each) count += json_nodes(each);
    json_object_foreach((json_t *)(uintptr_t)value, key, each) count += json_nodes(each);
    return count;
}

// Node number *at in depth-first order (*at counts down), and its place in its parent.
static json_t *json_node(json_t *value, size_t *at, json_t **parent, const char **name, size_t *index)
{
    size_t i;
    const char *key;
    json_t *each, *found;
    if (!(*at)--) return value;
    json_array_foreach(value, i, each) {
        *parent = value;
        *index = i;
        if ((found = json_node(each, at, parent, name, index))) return found;
    }
    json_object_foreach(value, key, each) {
        *parent = value;
        *name = key;
        if ((found = json_node(each, at, parent, name, index))) return found;
    }
    return NULL;
}

static json_t *json_mutated_text(const json_t *old)
{
    static const char *const words[] = {"", "ok", "slow", "wrong", "crashed", "error", "f32", "i64", "..", "\n", "*/"};
    size_t length = json_string_length(old);
    uint8_t bytes[300];
    if (json_draw(3) == 0) return json_string(words[json_draw(sizeof words / sizeof *words)]);
    if (json_draw(20) == 0) return json_sprintf("%0*d", (int)json_draw(5000), 0);
    if (length > 200) length = 200;
    memcpy(bytes, json_string_value(old), length);
    length = LLVMFuzzerMutate(bytes, length, sizeof bytes);
    return json_stringn((const char *)bytes, length); // NULL if it is not UTF-8
}

static json_t *json_mutated_number(const json_t *old)
{
    static const json_int_t whole[] = {0,
                                       1,
                                       -1,
                                       2,
                                       3,
                                       64,
                                       65,
                                       255,
                                       256,
                                       65536,
                                       INT32_MAX,
                                       INT32_MIN,
                                       UINT32_MAX,
                                       (json_int_t)UINT32_MAX + 1,
                                       INT64_MAX,
                                       INT64_MIN,
                                       (json_int_t)1 << 53};
    static const double real[] = {0, -0.0, 0.5, -1, 1e-9, DBL_MIN, 5e-324, 1e18, 1e19, -1e19, 1e300, DBL_MAX, -DBL_MAX};
    switch (json_draw(4)) {
    case 0:
        return json_integer(whole[json_draw(sizeof whole / sizeof *whole)]);
    case 1:
        return json_real(real[json_draw(sizeof real / sizeof *real)]);
    case 2:
        if (json_is_real(old)) return json_real(-json_real_value(old));
        return json_integer((json_int_t)((unsigned long long)json_integer_value(old) + json_draw(9) - 4));
    default:
        return json_integer((json_int_t)json_draw(100));
    }
}

static json_t *json_mutated(const json_t *old)
{
    switch (json_draw(10)) {
    case 0:
        return json_null();
    case 1:
        return json_boolean(json_draw(2));
    case 2:
        return json_draw(2) ? json_array() : json_object();
    case 3:
        return json_draw(2) ? json_mutated_number(json_null()) : json_string("x");
    default:
        return json_is_string(old)   ? json_mutated_text(old)
               : json_is_number(old) ? json_mutated_number(old)
                                     : json_deep_copy(old);
    }
}

// One change of a document.
static void json_mutate(json_t *document)
{
    size_t count = json_nodes(document), at = 1 + json_draw((unsigned)count), from = json_draw((unsigned)count);
    size_t index = 0, unused_index;
    const char *name = NULL, *unused_name;
    json_t *parent = NULL, *unused;
    if (at >= count) at = count - 1;
    if (!at) {
        json_object_set_new(document, "x", json_null());
        return;
    }
    json_t *node = json_node(document, &at, &parent, &name, &index), *other, *fresh = NULL;
    switch (json_draw(8)) {
    case 0: // a copy of another node
        other = json_node(document, &from, &unused, &unused_name, &unused_index);
        fresh = json_deep_copy(other);
        break;
    case 1:
        if (json_is_array(parent))
            json_array_remove(parent, index);
        else
            json_object_del(parent, name);
        return;
    case 2: // more of the same
        for (unsigned n = json_draw(3) ? 1 : 1 + json_draw(140); json_is_array(parent) && n; n--)
            json_array_insert_new(parent, index, json_deep_copy(node));
        if (json_is_array(parent)) return;
        fresh = json_mutated(node);
        break;
    default:
        fresh = json_mutated(node);
    }
    if (!fresh) return;
    if (json_is_array(parent))
        json_array_set_new(parent, index, fresh);
    else
        json_object_set_new(parent, name, fresh);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    json_random = seed;
    size_t lines = 1, line, begin = 0, end;
    for (size_t i = 0; i + 1 < size; i++) lines += data[i] == '\n';
    for (line = json_draw((unsigned)lines); line && begin < size; begin++) line -= data[begin] == '\n';
    for (end = begin; end < size && data[end] != '\n';) end++;
    while (begin < end && data[begin] != '{') begin++;
    while (end > begin && data[end - 1] != '}') end--;
    json_t *document =
        json_draw(3) && end > begin ? json_loadb((const char *)data + begin, end - begin, 0, NULL) : NULL;
    if (!document) return LLVMFuzzerMutate(data, size, max_size);
    for (unsigned n = 1 + json_draw(3); n; n--) json_mutate(document);
    char *text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(document);
    size_t length = text ? strlen(text) : 0, rest = size - end;
    if (!text || begin + length + rest > max_size) {
        free(text);
        return LLVMFuzzerMutate(data, size, max_size);
    }
    memmove(data + begin + length, data + end, rest);
    memcpy(data + begin, text, length);
    free(text);
    return begin + length + rest;
}
