// Every setting of a job file, in one table. reader.c takes names, types, ranges and defaults from it, `sweetspot list
// settings` prints it, and tests/test_job_settings.c makes the rows of docs/job-file.md from it. The settings of
// verification and measurement are rows of the tables in tuner/base/settings.h, because GPU workers need them too.
#pragma once

#include "tuner/base/base.h"

enum job_setting_kind {
    KIND_STRING,
    KIND_WORD, // a string that is one of `words`
    KIND_BOOL,
    KIND_INTEGER,
    KIND_NUMBER,
    KIND_DURATION, // "8h", or a number of seconds
    KIND_EXPRESSION,
    KIND_STRINGS, // lists ( ) or arrays [ ]
    KIND_INTEGERS,
    KIND_VALUES, // a parameter's values: integers or strings
    KIND_EXPRESSIONS,
    KIND_GROUP,
    KIND_GROUPS, // a list of groups
};

struct job_setting {
    // Its place in a job file, such as "problems[].weight": members of groups follow a dot, elements of lists are
    // written []. A last part in capitals, as in "derived.NAME", stands for names that the job chooses.
    const char *path;
    enum job_setting_kind kind;
    const char *fallback;     // the default as in a job file, but strings and words without quotes; NULL: see `unset`
    const char *unset;        // if there is no default: "required", "none", or how the value is chosen
    double low, high;         // of integers, numbers and durations; infinite: no limit
    const char *const *words; // allowed for a word; ends with NULL
    const char *also;         // values allowed besides those of its kind; NULL: none
    const char *forms;        // if its group has several forms, those that have this setting: "buffer constant"
    const char *meaning;      // one line without a full stop
};

// The rows that are written by hand (job_setting_table.c), for job_settings.c only. A row without a path ends the
// table.
extern const struct job_setting job_setting_table[];
// The table of all settings. It lives as long as the program.
const struct job_setting *job_settings(size_t *count);
// The setting with this path, or NULL.
const struct job_setting *job_setting_find(const char *path);
// The part of a path after its last dot.
const char *job_setting_name(const struct job_setting *);
// Whether the name is in capitals and therefore stands for names that the job chooses.
bool job_setting_is_open(const struct job_setting *);
// The names of a group's settings ("" is the job file itself), except those that the job chooses. NULL-terminated.
// `form`: only settings of this form; NULL: of all forms. The array is malloc'ed, the names belong to the table.
const char **job_setting_names(const char *group, const char *form);
bool job_setting_has(const char *group, const char *form, const char *name);
// Where a setting of this name belongs, for one in the wrong group: "it belongs in 'measure.final'". malloc'ed. NULL if
// no setting has this name, or several groups do.
char *job_setting_place(const char *name);

// setting_removed: what to use instead of a setting of earlier versions ("use 'until'"), or NULL if no version had it.
// `group` is the group's path in the table ("" is the job file itself). setting_foreign: the name used here for a
// setting that comes from another tuner ("it is 'constraints' here"), or NULL. Static strings. (setting_hints.c)
const char *setting_removed(const char *group, const char *name);
const char *setting_foreign(const char *name);
// The word that job files use for a value that other programs write differently: "f32" for "float" and "const float *".
// Static string, or NULL.
const char *setting_foreign_word(const char *value);

// For people, malloc'ed: "time", "list of groups, or \"auto\""; "0.03" or "required"; "0 to 1" or "".
char *job_setting_type(const struct job_setting *);
char *job_setting_default(const struct job_setting *);
char *job_setting_range(const struct job_setting *);
