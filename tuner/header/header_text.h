// Shared by the files that write the header's text: names, comments, literals, arguments.
//
// The files build on each other: header_section.c and header_text.c use none of the others, header_maps.c and
// header_select.c use these two, then come header_functions.c, header_render.c, and header.c, which reads, merges and
// writes whole headers.
#ifndef SWEETSPOT_HEADER_TEXT_H
#define SWEETSPOT_HEADER_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "tuner/base/error.h"
#include "tuner/base/json.h"
#include "tuner/job/header_names.h"

struct renderer {
    FILE *file;
    const json_t *sections, *sizes;
    int fallback;         // its section (header_fallback_of), or -1
    char *lower, *upper;  // sgemm, SGEMM
    json_t *prefixes;     // of the functions, by stage: {"mini": "sgemm_mini_"}
    const char *repeated; // the prefix of a stage that runs again and again, while its functions are written; else NULL
    const json_t *loops;  // the names of its loops: an object
    json_t *macros;       // of the current section: a set, so that none is defined twice
    json_t *all_macros;   // those sets, by section
    bool collided;        // a macro would be defined twice: `err` says which
    struct error *err;
};

// The prefix of the header's functions for expressions: "sgemm_fn_". malloc'ed.
char *header_prefix(const char *job);
// The number that stands for a source hash where the preprocessor must compare it: "0x" and its first 16 digits. Writes
// into `out`.
const char *header_hash_number(const char *source_hash, char out[32]);

// Writes text inside a comment: sequences that would end or open one are split.
void header_put_comment(FILE *, const char *text);
// The text as a C string literal; malloc'ed.
char *header_literal(const char *text);
// "long long size_M, long long size_N", after `first` ("int section"); "void" when there is nothing. A repeated stage's
// functions have "long long run" behind the sizes.
void header_put_arguments(struct renderer *, const char *first);
// "size_M, size_N" after `first`; nothing where there are no sizes. Likewise.
void header_put_sizes(struct renderer *, const char *first);
// In a function of a repeated stage: the values of its loops in this run as variables, and `there`, whether there is
// such a run.
void header_put_loops(struct renderer *);
// Writes functions that the driver also has (search/space/fn.h), from their text in the program: all after its first
// empty line, FN(name) as sgemm_fn_name, FN_FUNCTION as SGEMM_FUNCTION, FN_INTEGER as long long.
void header_put_shared(struct renderer *, const char *text);
// Writes a text of tuner/header/*.in, all after its first empty line, with the job's name for name_ and NAME_.
// name_declared_sizes stands for ", long long size_M ..", name_given_sizes for ", size_M ..", name_timed_sizes for the
// sizes of times[i], name_fallback_section for that section or -1.
void header_put_template(struct renderer *, const char *text);

// One macro of the section, prefixed. `name` may be lower case and have any characters. A second one of that name is a
// collision.
__attribute__((format(printf, 3, 4))) void header_define(struct renderer *, const char *name, const char *format, ...);
void header_define_text(struct renderer *, const char *name, const char *text);
void header_define_function(struct renderer *, const char *name, const char *parameters, const char *value); // "(X)"

#endif
