// A draft of a job for a kernel, as far as the source determines it. Parameters come from the source's tokens,
// arguments from the compiler, and the launch from a <<<...>>> in the file. Everything else is left blank.
#pragma once

#include "tuner/base/base.h"
#include "tuner/check/signature.h"
#include "tuner/source/cuda_file.h"

// A tuning parameter or a fixed macro. Template parameters get names that the source does not use.
struct draft_parameter {
    const char *name;   // of the macro
    const char *source; // its name in the source, as a macro or template parameter
    const char *values; // "[64, 128, 256]"; NULL: blank
    const char *why;    // for a comment
    int64_t first;      // the source probably compiles with this value
    bool pragma;        // the macro comes before a loop and stands for a whole pragma
    bool choice;        // on/off, or an unroll factor: no launch depends on it
};

struct draft_argument {
    const char *name;                   // the job's; unique
    const struct cuda_argument *source; // NULL: known only to the compiler
    struct kernel_parameter known;      // from the compiler; without a compiler only a builtin type's name
    bool is_known;
    const char *value; // the number that a launch passes; NULL: blank
};

// The user's answer for a setting. `value` is text: a size's number, a parameter's values "64, 128", a shape "m, n".
struct draft_answer {
    const char *what, *name, *value;
};

struct draft_launch {
    const char *grid[3], *block[3]; // NULL: 1
    const char *shared;             // bytes, or NULL
    int line;                       // 0: none in the source
    bool known;                     // false: the launch cannot be taken from the source
    const char *reason;             // why it is not known; NULL: no reason
};

// A setting of the job that the source does not determine, such as "shape" of "x".
struct draft_question {
    const char *what, *name; // name: "" if there is only one
    const char *hint;        // describes the value
    const char *value;       // the value in the file; NULL: a blank
    bool assumed;            // the value is an assumption
};

struct job_draft {
    struct arena *memory; // of all strings
    const struct cuda_file *file;
    const struct cuda_kernel *kernel;
    struct cuda_file *included; // files that the source includes, with the program's stand-ins for host headers
    size_t included_count;
    size_t parameter_count, define_count, argument_count, constraint_count, note_count;
    struct draft_parameter *parameters;
    struct draft_parameter *defines; // macros that only other kernels in the source need; without values
    struct draft_argument *arguments;
    const char **constraints; // expressions
    const char **notes;       // for the user to check
    struct {
        const char *entry;  // a name or a name expression
        bool entry_known;   // false: a type in it is missing, or is perhaps not a type
        const char *sample; // the entry with float for missing types
        bool is_compiled;   // the compiler has reported the kernel's arguments
        const char *nvcc;   // why the kernel needs nvcc; NULL: NVRTC compiles it, or no compiler was asked
        const char *log;    // why no compiler accepts it; NULL: a compiler does, or none was asked
    } code;
    struct draft_launch launch;
    struct signatures signatures;
    struct {
        size_t answer_count, question_count;
        struct draft_answer *answers;
        bool assumes;                     // blanks are filled in if there is only one usual value
        struct draft_question *questions; // from the last draft_text()
        const char *mistake;              // in an answer; NULL: none
    } dialog;
};

// Makes the draft, except for the facts that the compiler reports. The draft refers to the file, so the file must
// outlive it. `path` is the source's path, for reading the files that the source includes. If `path` is NULL, no such
// files are read. The caller releases the draft.
void job_draft_open(struct job_draft *, const struct cuda_file *, const struct cuda_kernel *, const char *path);
// Answers a question; the strings are copied. Questions about parameters must be answered before the compiler is asked.
// The last answer counts.
void job_draft_answer(struct job_draft *, const char *what, const char *name, const char *value);
// Asks a compile worker (started with the command line `compiler`) for the kernel's arguments. `source` is the source's
// path. -1 with a message if the worker cannot be asked; the draft then has more blanks.
int job_draft_ask(struct job_draft *, const char *source, char *const *compiler, struct error *);
// Writes the job file. `name` is the job's name, `template` the source's path relative to the job's folder. Blanks are
// strings that begin with ?; text that is invalid in libconfig or in a job is never written. Sets the questions and
// `mistake`.
void job_draft_write(FILE *, struct job_draft *, const char *name, const char *template);
void job_draft_release(struct job_draft *);
