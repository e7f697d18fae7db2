// The parts of a draft, in the order in which each uses what stands before it. For the files of this folder.
#pragma once

#include "tuner/init/draft.h"

// draft_expression.c: words, notes, names.
char *draft_copy(const struct job_draft *, const struct cuda_token *);
char *draft_range(const struct job_draft *, struct cuda_range); // as text
const struct cuda_token *draft_token(const struct job_draft *, size_t i);
bool draft_is(const struct job_draft *, size_t i, const char *text); // false after the source's end
// Whether the range is another kernel's. One of the same name is the same kernel, under another `#if`.
bool draft_of_another_kernel(const struct job_draft *, const struct cuda_range *);
const struct draft_parameter *draft_find_parameter(const struct job_draft *, const char *source);
void draft_note(struct job_draft *, const char *format, ...)
    __attribute__((format(printf, 2, 3))); // the same only once
// Whether it can be the name of a setting, a macro and a C identifier.
bool draft_plain_name(const char *);
// The comma outside of all brackets from `begin` on, or `end`.
size_t draft_item_end(const struct job_draft *, size_t begin, size_t end);

// draft_expression.c: expressions of the source as a job writes them.
struct draft_rename {
    const struct cuda_token *host; // a name of the host's
    const char *job;               // the job's for the same
};
struct draft_scope {
    struct cuda_range host; // the function around a launch; empty: none
    size_t rename_count;
    struct draft_rename *renames;
    bool parameters; // they may be used
};
// The tokens [begin, end) as an expression of sizes and parameters. NULL where anything else is among them.
const char *draft_expression(const struct job_draft *, const struct draft_scope *, size_t begin, size_t end);
// The number that they are; false: they are none.
bool draft_number(const struct job_draft *, const struct draft_scope *, size_t begin, size_t end, int64_t *number);
// What a variable of the host has for its whole life: where that stands, without brackets. False: it cannot be told.
bool draft_host_value(const struct job_draft *, const struct draft_scope *, const struct cuda_token *name,
                      struct cuda_range *);

// draft_parameters.c: macros and template parameters; the entry. `given`: the template's arguments in a launch.
void draft_parameters(struct job_draft *, const struct draft_scope *, const struct cuda_range *given,
                      size_t given_count);

// draft_answers.c: answers, and what may be assumed.
enum draft_form { DRAFT_TEXT, DRAFT_TEXTS, DRAFT_NUMBER, DRAFT_VALUES };
// The answer, or NULL.
const char *draft_answer(const struct job_draft *, const char *what, const char *name);
// Notes the question. The value to be written, as libconfig has it: of the answer, else of what may be assumed (NULL:
// nothing). NULL: a blank.
const char *draft_fill(struct job_draft *, const char *what, const char *name, enum draft_form, const char *assumed,
                       const char *hint);
// What is usual, or NULL where it is not the only thing that makes sense.
const char *draft_usual_direction(const struct job_draft *, const struct draft_argument *);
const char *draft_usual_size(const struct job_draft *); // the kernel's only integer
bool draft_usual_launch(struct job_draft *, const char **grid, const char **block);
// The answer to what results are verified against, as the job has it. NULL: there is none, or a mistake.
const char *draft_reference(struct job_draft *);
// Answers that nothing asked for are mistakes.
void draft_check_answers(struct job_draft *);
bool draft_is_object(const struct draft_argument *, const char *type); // a texture's or surface's
// An integer by value is a size of the problems, whatever the kernel makes of it.
bool draft_is_size(const struct draft_argument *);

// draft_launch.c: the whole draft, by the launches in the source.
void draft_read(struct job_draft *);
