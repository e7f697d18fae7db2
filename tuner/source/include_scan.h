// What a text says of files to include: a scan of C++, not a preprocessor. Conditions are not looked at, so that every
// file that may be included is found.
#ifndef SWEETSPOT_INCLUDE_SCAN_H
#define SWEETSPOT_INCLUDE_SCAN_H

#include <stdbool.h>
#include <stddef.h>

enum mention_kind {
    MENTION_INCLUDE, // #include "x.h", #include <x.h>, #include MACRO
    MENTION_ASKED,   // __has_include with one of these
    MENTION_DEFINE,  // #define NAME value
};

struct mention {
    enum mention_kind kind;
    bool real;            // in the program; else in a comment or a string, where it is found to be on the safe side
    bool computed;        // which file, only a preprocessor can tell
    bool next;            // include_next, __has_include_next
    size_t word, operand; // where "include" or "__has_include" begins, and what it is about
    size_t end;           // behind the header's name; of a computed one behind "include" or "__has_include"
    char *name;  // the header's, with its quotes or brackets; where computed, and of a #define, the macro's or ""
    char *value; // of a #define: its text without blanks around it, NULL if it has arguments; else NULL
};

struct mentions {
    size_t count;
    struct mention *list; // in the order of the text
};

// Comments, continued lines, digraphs and trigraphs are seen through. Release in any case.
void mentions_find(struct mentions *, const char *text);
void mentions_release(struct mentions *);

// Whether a text is a header's name with its quotes or brackets, and nothing else.
bool mention_is_header(const char *text);
// Whether it is one identifier.
bool mention_is_identifier(const char *text);

#endif
