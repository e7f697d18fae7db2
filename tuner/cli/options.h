// Each command has one table of options at the top of its file. The table drives both parsing and --help, so that the
// two cannot differ.
//
//     static struct { const char *job, *store; double time; int64_t count; bool force; int format; }
//         given = {.count = 10};
//
//     static const struct option_spec specs[] = {
//         OPTION_JOB(&given.job),
//         OPTION_STORE(&given.store),
//         OPTION_FORMAT(&given.format),
//         OPTION(seconds, &given.time, "time", 't', "TIME", "stop after TIME: 90s, 1h30m"),
//         OPTION(integer, &given.count, "count", 'n', "N", "how many (10)", .low = 1, .high = 1000),
//         FLAG(&given.force, "force", 0, "do it anyway"),
//         OPTION_END,
//     };
//
// Accepted: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, several flags in one word (-fq), "--" before positional
// arguments that begin with a dash, positional arguments and options in any order. A variable keeps its initial value
// (the default) if its option is not given; if an option is repeated, its last value counts. -h and --help are built
// in.
#pragma once

#include "tuner/base/base.h"

enum { OPTIONS_MAX_LIST = 1024 };

// Values of a repeatable option or of a repeatable last positional argument.
struct option_list {
    size_t count;
    const char *items[OPTIONS_MAX_LIST + 1]; // borrowed from argv; NULL-terminated
};

// Exactly one of the pointers from `flag` to `list` is set. It determines the type.
struct option_spec {
    const char *name;           // without dashes ("time"); for a positional argument the name shown ("JOB")
    char letter;                // short form, or 0
    bool positional;            // in the table's order; only string and list
    bool optional;              // a positional argument may be missing; options always may
    bool *flag;                 // becomes true
    const char **string;        // borrowed from argv
    int64_t *integer;           // decimal, within [low, high]; low == high == 0: any from 0 up
    double *real;               // finite; within [low, high] unless both are 0
    double *seconds;            // duration: 90s, 8h, 1h30m (text_duration)
    int *choice;                // index into choices
    struct option_list *list;   // repeatable string
    const char *const *choices; // NULL-terminated; for a string: usual values, offered by completion
    int64_t low, high;
    const char *group;    // a heading above this option and the following ones; NULL: none
    const char *shown;    // the value's name in --help ("FILE"); for a choice, --help lists the choices
    const char *help;     // one line, begins in lower case, no full stop; states the default
    char *(*words)(void); // malloc'ed names to add to the help, after ": "; NULL: none
};

enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };
extern const char *const format_names[], *const document_formats[]; // document_formats: without csv

// Rows of a table. The type is the name of the member that points to the target: OPTION(string, &given.file, "file",
// 'f', "FILE", "help"). Further members may follow the help: .low = 1, .high = 9.
// clang-format off
#define OPTION(type, target, word, initial, value, ...) \
    {.type = (target), .name = (word), .letter = (initial), .shown = (value), .help = __VA_ARGS__}
#define FLAG(target, word, initial, ...) {.flag = (target), .name = (word), .letter = (initial), .help = __VA_ARGS__}
#define ARGUMENT(type, target, value, ...) {.type = (target), .name = (value), .positional = true, .help = __VA_ARGS__}
#define OPTION_END {.name = NULL}
// clang-format on

// Options that several commands share.
#define OPTION_JOB(target) ARGUMENT(string, target, "JOB", "job file (configs/NAME.cfg)")
#define OPTION_STORE(target) \
    OPTION(string, target, "store", 's', "FILE", "the job's database (out/<job name>.db, here or above the job file)")
#define OPTION_FORMAT(target) \
    OPTION(choice, target, "format", 'f', NULL, "how results are printed (table)", .choices = format_names)
#define OPTION_DOCUMENT_FORMAT(target) \
    OPTION(choice, target, "format", 'f', NULL, "how results are printed (table)", .choices = document_formats)
#define OPTION_GPU(target) OPTION(string, target, "device", 'd', "N", "the GPU (0)")
#define OPTION_CACHE(target) OPTION(string, target, "cache", 0, "FOLDER", "the compile cache (out/cache)")

// Parses argv[1..]; argv[0] is the command's name. Returns -1 if the command may continue, otherwise its exit status: 0
// after --help (printed on stdout), EXIT_USAGE after a mistake (reported on stderr with the nearest name).
int options_parse(const struct option_spec *, const char *description, int argc, char **argv);

// These functions print a line on stderr. complain prints "sweetspot: <message>", in red on a terminal, and returns
// `status`. command_refuse prints "sweetspot <command>: <message>" for the most recently parsed command, and returns
// EXIT_USAGE.
int complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
// complain_foreign says that a command does not replace this file (output_is_foreign), and returns EXIT_USAGE.
int complain_foreign(const char *path);
int command_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
// 0 if the option's files, at most `most`, can be read, otherwise -1 with a message.
int option_check_files(const char *option, const struct option_list *files, size_t most, struct error *err);
// Refuses a word with "unknown strategy 'x'; did you mean ...". `words` ends with NULL.
int command_refuse_unknown(const char *what, const char *word, const char *const *words);

// The most recently parsed command line, in a form that can be entered again. malloc'ed.
char *options_command_line(void);

// The help of one option, followed by its words. malloc'ed.
char *option_help(const struct option_spec *);
