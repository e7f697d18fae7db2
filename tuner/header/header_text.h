// Shared by the files that write the header's text: names, comments, literals, arguments.
//
// The files build on each other: header_section.c and header_text.c use none of the others, the parts (header_parts.h)
// use these two, then comes header.c, which reads, merges and writes whole headers.
#pragma once

#include "tuner/base/json.h"
#include "tuner/job/header_names.h"

struct renderer {
    FILE *file;
    const json_t *sections, *sizes;
    int fallback;         // its section (header_fallback_of), or -1
    char *lower, *upper;  // sgemm, SGEMM
    json_t *prefixes;     // of the functions, by stage, the same in all sections: {"mini": "sgemm_mini_"}
    const char *repeated; // the prefix of a stage that runs again and again, while its functions are written; else NULL
    const json_t *loops;  // the names of its loops: an object
    size_t section;       // of which macros are written
    json_t *macros;       // those defined so far, as "section NAME": a set, so that none is defined twice
    bool collided;        // no header can be made: `err` says why
    struct error *err;
};

// The number that stands for a source hash where the preprocessor must compare it: "0x" and its first 16 digits. Writes
// into `out`.
const char *header_hash_number(const char *source_hash, char out[32]);

// Whether a text is a number without a sign.
bool header_is_number(const char *text);

// Writes text inside a comment: sequences that would end or open one are split.
void header_put_comment(FILE *, const char *text);
// The text as a C string literal; malloc'ed.
char *header_literal(const char *text);
// Writes a template: the job's name stands for `name` and `NAME` at the beginning of a word. Other words:
//   name_declared_sizes     ", long long size_M, long long size_N"; in a repeated stage ", long long run" follows
//   name_given_sizes        ", size_M, size_N"; in a repeated stage ", run" follows
//   name_parameters         name_declared_sizes without the first comma; "void" without any
//   name_sizes              name_given_sizes without the first comma
//   name_unused_sizes       "(void)size_M;" and so on, each on a line
//   name_timed_sizes        the sizes of times[i]
//   name_fallback_section   its number, or -1
//   FN(x), FN_FUNCTION, FN_INTEGER (search/space/fn.h)   name_fn_x, NAME_FUNCTION, long long
// header_put_template writes a text of the program after its first empty line, followed by an empty line. header_put
// writes a printf format, whose arguments are written as they are.
void header_put_template(struct renderer *, const char *text);
__attribute__((format(printf, 2, 3))) void header_put(struct renderer *, const char *format, ...);
// A line of a comment, " *" and the text. Nothing in it can end the comment.
__attribute__((format(printf, 2, 3))) void header_comment(struct renderer *, const char *format, ...);
// The #if or #elif of a section, whose macros follow, and the #endif of the last; nothing where there is one section.
void header_put_condition(struct renderer *, size_t section);
void header_end_conditions(struct renderer *);
// Begins a function of a section and the sizes, up to the assignments of each section. `name` is without "_on"; `type`
// and `variables` are templates. In a repeated stage it has the values of the loops, and `there`, whether there is such
// a run.
void header_begin(struct renderer *, const char *type, const char *name, const char *variables);
// Ends it, with the variable that it returns, and adds the shorter function for the chosen section.
void header_end(struct renderer *, const char *type, const char *name, const char *result);
// Writes a function whose value is an expression of the sizes in some sections and 0 in the others, and the shorter
// one. `values`: "section == 0 ? size_N : section == 2 ? 2 * size_N : "
void header_put_values(struct renderer *, const char *type, const char *name, const char *values);

// Says why no header can be made; the first reason counts.
__attribute__((format(printf, 2, 3))) void header_refuse(struct renderer *, const char *format, ...);

// Whether a macro of the section was taken already; it is afterwards.
bool header_take(struct renderer *, const char *macro);
// One macro of the section, prefixed. `name` may be lower case and have any characters. A second one of that name is a
// collision.
__attribute__((format(printf, 3, 4))) void header_define(struct renderer *, const char *name, const char *format, ...);
void header_define_text(struct renderer *, const char *name, const char *text);
void header_define_function(struct renderer *, const char *name, const char *parameters, const char *value); // "(X)"
