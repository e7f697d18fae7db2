// Typed access to a libconfig file that collects mistakes instead of stopping at the first. This is the only module
// that includes libconfig; everything above sees `struct node`.
#pragma once

#include "tuner/job/job.h"
#include "tuner/job/job_settings.h"

struct reader;
struct node; // a setting of the file; belongs to the reader

// Opens and parses. NULL, with the mistakes in the list, if the file cannot be read, its syntax is wrong, or it
// contains blanks (strings that begin with ?; each is in the list). Other mistakes (such as a number that is too large)
// are added to the list as well, but do not make it return NULL.
struct reader *reader_open(const char *path, struct mistakes *);
void reader_close(struct reader *);
const struct node *reader_root(const struct reader *);
// Notes about settings of earlier versions in the file, with their file and line. The caller releases them.
struct mistakes reader_old_spellings(struct reader *);

// Writes the file with another job name and other tuned problems. `sizes` holds the sizes of `count` problems, one
// problem after the other. Comments are left out.
void reader_write_problems(struct reader *, FILE *, const char *name, const struct job *, const int64_t *sizes,
                           size_t count);

// Records the location of every setting in the file, for job_location.
void reader_places(const struct reader *, struct job *);

// Adds a mistake at a node, in its file and at its line (NULL: the whole job file). Always returns -1.
int reader_mistake(struct reader *, const struct node *, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Notes that a mistake leaves a name undefined (NULL: any name, because a whole group is misspelt). Mistakes about
// later uses of the name are then only consequences of this mistake. reader_drop_consequences removes them, and
// repeated mistakes about an unknown name, and adds a line that says how many were removed.
void reader_undefined(struct reader *, const char *name);
// Notes that the last mistake explains why a group lacks a setting or a valid value for it. Mistakes about the group,
// its members or the list that contains it are then consequences if they name the setting.
void reader_explains(struct reader *, const struct node *group, const char *name);
void reader_drop_consequences(struct reader *);

int node_line(const struct node *);
const char *node_name(const struct node *); // of a member of a group; NULL in lists
// The name for messages. In a group that belongs to an element of a list, the group's name comes first: "tma.box".
// malloc'ed.
char *node_full_name(const struct node *);
bool node_is_group(const struct node *);
bool node_is_sequence(const struct node *); // an array [ ] or a list ( )
bool node_is_string(const struct node *);
bool node_is_integer(const struct node *);
bool node_is_number(const struct node *); // integer or real
bool node_is_bool(const struct node *);
const struct node *node_parent(const struct node *);
size_t node_count(const struct node *); // members of a group or sequence
const struct node *node_at(const struct node *, size_t i);
const struct node *node_member(const struct node *group, const char *name); // or NULL
const char *node_string(const struct node *);                               // of a string; borrowed
int64_t node_integer(const struct node *);
double node_real(const struct node *); // of a number
bool node_bool(const struct node *);

// Reports members that are not among `known` (NULL-terminated), with the nearest known name. `what` names the group.
void reader_check_members(struct reader *, const struct node *group, const char *what, const char *const *known);
// For a group without any of the members `known`: reports only members that resemble one of them. Returns whether it
// reported any.
bool reader_suggest(struct reader *, const struct node *group, const char *what, const char *const *known);
// Like reader_check_members for a group in the table of settings and one of its forms (NULL: all). The group may be
// NULL.
void reader_check_group(struct reader *, const struct node *group, const char *what, const char *path,
                        const char *form);

// Members by type. `path` selects a row of the table of settings (job_settings.h) with the type that the function
// returns. The row gives the name, the range, the words and the default. For a missing member, the functions return the
// default, or NULL, 0 or the first word if the row has no default. For a member of the wrong type or out of range, they
// return the same after adding a mistake.
const char *reader_string(struct reader *, const struct node *group, const char *path); // borrowed
int64_t reader_integer(struct reader *, const struct node *group, const char *path);
double reader_number(struct reader *, const struct node *group, const char *path);
bool reader_bool(struct reader *, const struct node *group, const char *path);
double reader_duration(struct reader *, const struct node *group, const char *path); // "8h" or seconds
int reader_word(struct reader *, const struct node *group, const char *path);        // the word's index
// A member that is a group or a sequence, or NULL (with a mistake if it is something else).
const struct node *reader_member(struct reader *, const struct node *group, const char *path);
// Whether the node is a group, as every element of a list of groups must be. If not, adds the mistake `must`, which
// describes the right form.
bool reader_is_group(struct reader *, const struct node *, const char *must);
// An expression from a string or an integer; the job keeps it. NULL with a mistake if it does not parse, and NULL
// without a mistake if the node is NULL.
struct expr *reader_expression(struct reader *, const struct node *, struct job *);
