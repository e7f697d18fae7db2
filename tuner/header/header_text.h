// Shared by the files that write the header's text: names, comments, literals, arguments.
//
// The files build on each other: header_section.c and header_text.c use no other files, and the parts (header_parts.h)
// use these two. header.c uses all of them to read, merge and write whole headers.
#pragma once

#include "tuner/base/json.h"
#include "tuner/job/header_names.h"

struct renderer {
    FILE *file;
    const json_t *sections, *sizes;
    int fallback;         // the fallback's section (header_fallback_of), or -1
    char *lower, *upper;  // sgemm, SGEMM
    json_t *prefixes;     // prefixes of the functions, by stage, the same in all sections: {"mini": "sgemm_mini_"}
    const char *repeated; // the prefix of a repeated stage while its functions are written; otherwise NULL
    const json_t *loops;  // the names of that stage's loops: an object
    size_t section;       // the section whose macros are being written
    json_t *macros;       // the set of macros defined so far, as "section NAME", so that none is defined twice
    bool collided;        // no header can be written, and `err` says why
    struct error *err;
};

// The number by which the preprocessor compares a source hash: "0x" and the first 16 digits of the hash. Written to
// `out`.
const char *header_hash_number(const char *source_hash, char out[32]);

// Whether a string is a number without a sign.
bool header_is_number(const char *text);

// Writes text inside a comment: sequences that would end or open a comment are split.
void header_put_comment(FILE *, const char *text);
// The text as a C string literal; malloc'ed.
char *header_literal(const char *text);
// Writes a template. The job's name replaces `name_` and `NAME_` at the beginning of a word. Other words are replaced
// too:
//   name_declared_sizes     ", long long size_M, long long size_N"; in a repeated stage ", long long run" follows
//   name_given_sizes        ", size_M, size_N"; in a repeated stage ", run" follows
//   name_parameters         name_declared_sizes without the first comma; "void" if nothing is left
//   name_sizes              name_given_sizes without the first comma
//   name_unused_sizes       "(void)size_M;" and so on, one per line
//   name_timed_sizes        the sizes of times[i]
//   name_fallback_section   the number of the fallback's section, or -1
//   FN(x), FN_FUNCTION, FN_INTEGER (search/space/fn.h)   name_fn_x, NAME_FUNCTION, long long
// header_put_template writes one of the program's texts from its first empty line on, followed by an empty line.
// header_put writes a template that is a printf format. Its arguments are written as they are.
void header_put_template(struct renderer *, const char *text);
__attribute__((format(printf, 2, 3))) void header_put(struct renderer *, const char *format, ...);
// Writes a line of a comment, " *" and the text. Nothing in the text can end the comment.
__attribute__((format(printf, 2, 3))) void header_comment(struct renderer *, const char *format, ...);
// Write the #if or #elif before a section's macros, and the #endif after the last section. They write nothing if there
// is only one section.
void header_put_condition(struct renderer *, size_t section);
void header_end_conditions(struct renderer *);
// Begins a function with the section and the sizes as arguments, up to the assignments for each section. `name` is
// without "_on"; `type` and `variables` are templates. In a repeated stage, the function has variables for the values
// of the loops, and `there`, which says whether this run exists.
void header_begin(struct renderer *, const char *type, const char *name, const char *variables);
// Ends the function by returning the variable `result`, and adds the shorter function for the chosen section.
void header_end(struct renderer *, const char *type, const char *name, const char *result);
// Writes a function that returns an expression of the sizes in some sections and 0 in the others. Also writes the
// shorter function. `values`: "section == 0 ? size_N : section == 2 ? 2 * size_N : "
void header_put_values(struct renderer *, const char *type, const char *name, const char *values);

// Notes why no header can be written. The first reason is kept.
__attribute__((format(printf, 2, 3))) void header_refuse(struct renderer *, const char *format, ...);

// Marks a macro of the section as taken, and returns whether it was already taken.
bool header_take(struct renderer *, const char *macro);
// Defines one macro of the section, with the prefix. `name` may be lower case and have any characters. A second macro
// with that name is a collision.
__attribute__((format(printf, 3, 4))) void header_define(struct renderer *, const char *name, const char *format, ...);
void header_define_text(struct renderer *, const char *name, const char *text);
void header_define_function(struct renderer *, const char *name, const char *parameters, const char *value); // "(X)"
