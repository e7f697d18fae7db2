// Small functions for strings that several layers need: nearest names, durations, formatted strings.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "tuner/base/memory.h"

// A malloc'ed formatted string; aborts when memory is exhausted.
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *text_format_list(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
// Declares `text`, formatted from the last named parameter of a variadic function and the arguments after it.
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration
#define TEXT_FROM(format, text)                                       \
    va_list text##_arguments;                                         \
    va_start(text##_arguments, format);                               \
    autofree char *text = text_format_list(format, text##_arguments); \
    va_end(text##_arguments)
// NOLINTEND(bugprone-macro-parentheses)
// strdup that aborts when memory is exhausted.
char *text_copy(const char *text);

// A growing string. Zeroed: empty; `text` is NULL until something is added. The caller frees `text`.
struct text {
    char *text;
    size_t length, room;
};
void text_add(struct text *, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void text_release(struct text *t)
{
    free(t->text);
}

// Whether a string begins with one of the strings of a NULL-terminated list.
bool text_begins(const char *text, const char *const *beginnings);

// A list that owns its strings, such as a compiler's options.
struct text_list {
    char **list; // NULL-terminated; NULL while it is empty
    size_t count;
};
void text_list_add(struct text_list *, char *text); // takes ownership
void text_list_release(struct text_list *);

// The text after a byte order mark of UTF-8, which some editors write, if it begins with one.
const char *text_after_mark(const char *text);

// A pattern for glob() that matches only this path, without slashes at its end, followed by `rest`. malloc'ed.
char *text_pattern(const char *path, const char *rest);

// Edit distance (insert, delete, substitute, swap of neighbours: Damerau-Levenshtein, restricted), case-insensitive.
size_t text_distance(const char *a, const char *b);
// The word of a NULL-terminated list that is nearest to `word`. NULL if its distance is more than a third of the length
// of `word`, and more than 1.
const char *text_nearest(const char *word, const char *const *words);
// The words of a NULL-terminated list, joined by a separator. malloc'ed.
char *text_join(const char *const *words, const char *separator);
// The message for a word that is not in the list: "unknown strategy 'rendom'; did you mean 'random'? (known: default,
// random)", or, if no word is near, "unknown strategy 'x' (known: default, random)". malloc'ed.
char *text_unknown(const char *what, const char *word, const char *const *words);

// Finds where the next NAME=VALUE begins in a configuration's string such as "A=1,B=x": after a comma that is followed
// by a name and '='. NULL if there is none. No value of a parameter contains such a comma (space_add_parameter), so the
// string can be split without a list of the names. *length (`length` may be NULL) is the length of the part before the
// comma, or of the whole string if there is none.
const char *text_next_item(const char *text, size_t *length);

// The number of bytes of the control character that the text begins with: C0, DEL, or C1 as UTF-8. 0: there is none.
size_t text_control(const char *text);
// The text on one line, without control characters: tabs and line breaks become blanks, others '?'. malloc'ed.
char *text_plain(const char *text);

// A command line from the words of a NULL-terminated list, quoted for the shell where necessary. malloc'ed.
char *text_command(const char *const *words);

// "8h", "90s", "1h30m", "250ms", "20us", "2d", or a plain number of seconds. 0 with *seconds set, or -1.
int text_duration(const char *text, double *seconds);
// A buffer to pass as `out` and `size` to the functions below; it lives until the end of the enclosing block.
#define TEXT_ROOM (char[192]){0}, 192
// The reverse of text_duration, shortened: "8h", "1h30m", "42s", "61.4us". Returns `out`.
char *text_show_duration(double seconds, char *out, size_t size);
// A number with the fewest digits that read back as the same number: "0.0013". Returns `out`; 32 bytes suffice.
char *text_show_number(double value, char *out, size_t size);

// The absolute, normalised form of `path`, relative to `directory` unless it is absolute. malloc'ed. The file need not
// exist.
char *text_join_path(const char *directory, const char *path);
// An architecture's number, which has at most four digits and perhaps a letter: 90 for "sm_90a"; 0 for any other form.
int text_architecture(const char *arch);
// The folder of a path ("." when it has none). malloc'ed.
char *text_directory(const char *path);
// The part of a path after its last slash.
const char *text_file_name(const char *path);
// The length of `text` without `ending`: 4 for "file.cfg" and ".cfg"; 0 if `text` does not end with `ending` or has
// nothing before it.
size_t text_before(const char *text, const char *ending);

// The bytes of a regular file with a NUL after them, malloc'ed; NULL with errno set. *size may be NULL. Use
// input_file.h for files that the user names, because its messages say what is wrong.
char *text_read_file(const char *path, size_t *size);

// The shortest decimal form that reads back as this finite number, with a point or an exponent: "0.5", "1.0".
// malloc'ed.
char *text_of_number(double value);
