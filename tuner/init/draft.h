// A job for a kernel, as far as its source tells. Parameters come from its tokens, arguments from the compiler, and the
// launch from a <<<...>>> in the file. Everything else is left blank.
#pragma once

#include "tuner/base/base.h"
#include "tuner/check/signature.h"
#include "tuner/source/cuda_file.h"

// A tuning parameter, or a macro that is fixed. Those of templates get names that the source does not have.
struct draft_parameter {
    const char *name;   // of the macro
    const char *source; // what the source calls it: a macro, a template's parameter
    const char *values; // "[64, 128, 256]"; NULL: blank
    const char *why;    // for a comment
    int64_t first;      // a value with which the source may compile
    bool pragma;        // the macro stands before a loop, as a whole pragma would
    bool choice;        // on or off, or a factor of unrolling: no launch depends on it
};

struct draft_argument {
    const char *name;                   // the job's; unique
    const struct cuda_argument *source; // NULL: only the compiler knows it
    struct kernel_parameter known;      // what the compiler says, or else the name of a builtin type
    bool is_known;
    const char *value; // that a launch gives it: a number; NULL: blank
};

// What the user says of a setting. `value` in words: a size's number, a parameter's values "64, 128", a shape "m, n".
struct draft_answer {
    const char *what, *name, *value;
};

struct draft_launch {
    const char *grid[3], *block[3]; // NULL: as 1
    const char *shared;             // bytes, or NULL
    int line;                       // 0: none in the source
    bool known;                     // else what stands there cannot be told
    const char *reason;             // why it is not known; NULL: no reason
};

// A setting of the job that the source does not tell: "shape" of "x".
struct draft_question {
    const char *what, *name; // name: "" where there is only one
    const char *hint;        // what belongs there
    const char *value;       // what was written; NULL: a blank
    bool assumed;            // the value is an assumption
};

struct job_draft {
    struct arena *memory; // of all texts
    const struct cuda_file *file;
    const struct cuda_kernel *kernel;
    struct cuda_file *included; // files that the source includes, those of the program for host headers among them
    size_t included_count;
    size_t parameter_count, define_count, argument_count, constraint_count, note_count;
    struct draft_parameter *parameters;
    struct draft_parameter *defines; // macros that only other kernels of the source need; no values
    struct draft_argument *arguments;
    const char **constraints; // expressions
    const char **notes;       // worth a look
    struct {
        const char *entry;  // the name, or a name expression
        bool entry_known;   // else a type is missing in it, or may not be one
        const char *sample; // the entry with float for what is missing
        bool is_compiled;   // the compiler knows its arguments
        const char *nvcc;   // why it takes nvcc; NULL: NVRTC compiles it, or no compiler was asked
        const char *log;    // why no compiler takes it; NULL: one does, or none was asked
    } code;
    struct draft_launch launch;
    struct signatures signatures;
    struct {
        size_t answer_count, question_count;
        struct draft_answer *answers;
        bool assumes;                     // blanks are filled in where only one thing is usual
        struct draft_question *questions; // of the last time that it was written
        const char *mistake;              // in an answer; NULL: none
    } dialog;
};

// Everything except the compiler's part. It lives no longer than the file. `path`: the source's, to read what it
// includes; NULL: nothing is read. Release it in any case.
void job_draft_open(struct job_draft *, const struct cuda_file *, const struct cuda_kernel *, const char *path);
// Answers a question; the texts are copied. Of parameters, before the compiler is asked. The last answer counts.
void job_draft_answer(struct job_draft *, const char *what, const char *name, const char *value);
// Asks a compile worker (its command line) what the kernel takes: the source's path. -1 with a message where it cannot
// be asked; the draft then has more blanks.
int job_draft_ask(struct job_draft *, const char *source, char *const *compiler, struct error *);
// Writes the job file: its name, and the source's path from its folder. Blanks are strings that begin with ?; a text
// that libconfig or the job could not have is never written. Then the questions and `mistake` are set.
void job_draft_write(FILE *, struct job_draft *, const char *name, const char *template);
void job_draft_release(struct job_draft *);
