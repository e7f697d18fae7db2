// The parts of a draft, each of which uses only the parts above it. Private to this folder.
#pragma once

#include "tuner/init/draft.h"

// draft_expression.c: words, notes, names.
char *draft_copy(const struct job_draft *, const struct cuda_token *);
char *draft_range(const struct job_draft *, struct cuda_range); // as a string
const struct cuda_token *draft_token(const struct job_draft *, size_t i);
bool draft_is(const struct job_draft *, size_t i, const char *text); // false after the source's end
// Whether the range belongs to another kernel. A kernel with the same name is the same kernel, under another `#if`.
bool draft_of_another_kernel(const struct job_draft *, const struct cuda_range *);
const struct draft_parameter *draft_find_parameter(const struct job_draft *, const char *source);
void draft_note(struct job_draft *, const char *format, ...)
    __attribute__((format(printf, 2, 3))); // repeated notes are added once
// Whether a name can be the name of a setting, of a macro and of a C variable.
bool draft_plain_name(const char *);
// The first comma from `begin` on that is outside all brackets, or `end`.
size_t draft_item_end(const struct job_draft *, size_t begin, size_t end);

// draft_expression.c: expressions of the source in the syntax of a job file.
struct draft_rename {
    const struct cuda_token *host; // a name in host code
    const char *job;               // the job's name for the same value
};
struct draft_scope {
    struct cuda_range host; // the function around a launch; empty: none
    size_t rename_count;
    struct draft_rename *renames;
    bool parameters; // the job's parameters may be used
};
// The tokens [begin, end) as an expression of sizes and parameters. NULL if they contain anything else.
const char *draft_expression(const struct job_draft *, const struct draft_scope *, size_t begin, size_t end);
// Reads the number that the tokens form; false if they do not form a number.
bool draft_number(const struct job_draft *, const struct draft_scope *, size_t begin, size_t end, int64_t *number);
// If a host variable is set only once, finds the tokens of its value, without an initializer's brackets. False if the
// value is unknown.
bool draft_host_value(const struct job_draft *, const struct draft_scope *, const struct cuda_token *name,
                      struct cuda_range *);

// draft_parameters.c: macros, template parameters and the entry. `given`: the template's arguments in a launch.
void draft_parameters(struct job_draft *, const struct draft_scope *, const struct cuda_range *given,
                      size_t given_count);

// draft_answers.c: answers and assumptions.
enum draft_form { DRAFT_TEXT, DRAFT_TEXTS, DRAFT_NUMBER, DRAFT_VALUES };
// The answer, or NULL.
const char *draft_answer(const struct job_draft *, const char *what, const char *name);
// Records the question and returns the value to write, in libconfig's syntax: the answer, otherwise `assumed` (which
// may be NULL) if assumptions are allowed. Returns NULL for a blank.
const char *draft_fill(struct job_draft *, const char *what, const char *name, enum draft_form, const char *assumed,
                       const char *hint);
// The usual value, or NULL if other values make sense as well.
const char *draft_usual_direction(const struct job_draft *, const struct draft_argument *);
const char *draft_usual_size(const struct job_draft *); // the kernel's only integer
bool draft_usual_launch(struct job_draft *, const char **grid, const char **block);
// The answer about the reference that results are verified against, as it is written in a job file. NULL if there is no
// answer, or if it contains a mistake.
const char *draft_reference(struct job_draft *);
// Reports a mistake for each answer that does not belong to a question.
void draft_check_answers(struct job_draft *);
bool draft_is_object(const struct draft_argument *, const char *type); // a texture or surface object
// Whether the argument is an integer that is passed by value. It is then a size of the problems, however the kernel
// uses it.
bool draft_is_size(const struct draft_argument *);

// draft_launch.c: makes the whole draft, from the launches in the source.
void draft_read(struct job_draft *);
