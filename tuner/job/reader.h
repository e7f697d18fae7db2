// Typed access to a libconfig file that collects mistakes instead of stopping at the first. The only module that
// includes libconfig; everything above sees `struct node`.
#ifndef SWEETSPOT_READER_H
#define SWEETSPOT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/job/job.h"

struct reader;
struct node; // a setting of the file; belongs to the reader

// Opens and parses. NULL after adding the mistakes (cannot read, syntax error, a number too large) to the list.
// A setting under an old name (the table `renamed` in reader.c) appears under its new name everywhere, and adds a note.
struct reader *reader_open(const char *path, struct mistakes *, struct mistakes *notes);
void reader_close(struct reader *);
const struct node *reader_root(const struct reader *);

// Adds a mistake at a node, in its file and at its line (NULL: the whole job file).
void reader_mistake(struct reader *, const struct node *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void mistakes_add(struct mistakes *, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
void mistakes_sort(struct mistakes *);

int node_line(const struct node *);
// The path of the included file that the node is in, malloc'ed; NULL: the job file itself.
char *reader_file(const struct reader *, const struct node *);
const char *node_name(const struct node *); // of a member of a group, its present name; NULL in lists
bool node_is_group(const struct node *);
bool node_is_sequence(const struct node *); // an array [ ] or a list ( )
bool node_is_string(const struct node *);
bool node_is_integer(const struct node *);
bool node_is_number(const struct node *); // integer or real
bool node_is_bool(const struct node *);
size_t node_count(const struct node *); // members of a group or sequence
const struct node *node_at(const struct node *, size_t i);
const struct node *node_member(const struct node *group, const char *name); // or NULL
const char *node_string(const struct node *);                               // of a string; borrowed
int64_t node_integer(const struct node *);
double node_real(const struct node *); // of a number
bool node_bool(const struct node *);

// Reports members that are not among `known` (NULL-terminated), with the nearest known name. `what` names the group.
void reader_check_members(struct reader *, const struct node *group, const char *what, const char *const *known);

// Members by type. A missing member gives the fallback; one of the wrong type adds a mistake and gives the fallback.
const char *reader_string(struct reader *, const struct node *group, const char *name,
                          const char *fallback); // borrowed
int64_t reader_integer(struct reader *, const struct node *group, const char *name, int64_t low, int64_t high,
                       int64_t fallback);
double reader_number(struct reader *, const struct node *group, const char *name, double low, double high,
                     double fallback);
bool reader_bool(struct reader *, const struct node *group, const char *name, bool fallback);
double reader_duration(struct reader *, const struct node *group, const char *name, double fallback); // "8h" or seconds
// One word of a NULL-terminated list. Returns its index.
int reader_word(struct reader *, const struct node *group, const char *name, const char *const *words, int fallback);
// A group or sequence member, or NULL (with a mistake when it is something else).
const struct node *reader_group(struct reader *, const struct node *group, const char *name);
const struct node *reader_sequence(struct reader *, const struct node *group, const char *name);
// An expression: a string or an integer. NULL with a mistake when it does not parse.
struct expr *reader_expression(struct reader *, const struct node *, struct symbols *);

#endif
