// What the files that make the header's text share: header_render.c (comment, sections, macros), header_functions.c,
// header_maps.c and header_select.c.
#ifndef SWEETSPOT_HEADER_PARTS_H
#define SWEETSPOT_HEADER_PARTS_H

#include <stdbool.h>

#include "tuner/output/finals.h"
#include "tuner/output/header.h"

struct renderer {
    FILE *file;
    const json_t *sections, *sizes;
    char *lower, *upper; // sgemm, SGEMM
    json_t *prefixes;    // of the geometry functions, one a stage
    json_t *macros;      // of the section at work: a set, so that none is defined twice
    bool failed;
    struct error *err;
};

// Writes text inside a comment: what would end or open one is taken apart.
void put_comment(FILE *, const char *text);
// The text as a C string literal; malloc'ed.
char *literal(const char *text);
// The array [value, low, high] of a member.
struct interval interval_at(const json_t *object, const char *key);
// Of a section: 90 for "sm_90a", 0 unknown.
int compute_of(const json_t *section);
size_t stage_count(const json_t *section);
// Whether some device has several kernels; and the first section of a section's device.
bool several_kernels(const json_t *sections);
size_t first_of_device(const json_t *sections, size_t section);

// The selector where a device has several kernels. (header_select.c)
void header_select(struct renderer *);

// Launch geometry and results as inline functions.
void header_functions(struct renderer *);
// "long long size_M, long long size_N", after `first` ("int section"); "void" when there is nothing.
void header_put_arguments(struct renderer *, const char *first);
// "size_M, size_N" after `first`; nothing where there are no sizes.
void header_put_sizes(struct renderer *, const char *first);

// The type of tensor maps, where any stage takes one, and a stage's tensor maps in all sections, names beginning with
// `prefix`. (header_maps.c)
enum { HEADER_ARGUMENTS_MAX = 64 };
void header_tensor_map_type(struct renderer *);
void header_tensor_maps(struct renderer *, const char *stage, const char *prefix);

#endif
