// Names that are not settings of a job file, but were or are elsewhere. The reader refuses them with a hint.
#ifndef SWEETSPOT_SETTING_HINTS_H
#define SWEETSPOT_SETTING_HINTS_H

// What to use instead of a setting that earlier versions had: "use 'until'". `group` is the group's path in the table
// of settings ("" is the job file itself). Static text, or NULL: no version had it.
const char *setting_removed(const char *group, const char *name);

// How to say here what a setting of this name says in another tuner: "it is 'constraints' here". Static text, or NULL.
const char *setting_foreign(const char *name);

// The word here for a value that others write: "f32" for "float" and "const float *". Static text, or NULL.
const char *setting_foreign_word(const char *value);

#endif
