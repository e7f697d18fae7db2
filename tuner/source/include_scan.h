// What a text says of files to include: a scan of C++, not a preprocessor. Conditions are not looked at, so that every
// file that may be included is found.
#ifndef SWEETSPOT_INCLUDE_SCAN_H
#define SWEETSPOT_INCLUDE_SCAN_H

#include "tuner/base/arena.h"
#include "tuner/base/base.h"

enum include_kind {
    INCLUDE_DIRECTIVE, // #include "x.h", #include <x.h>, #include MACRO
    INCLUDE_ASKED,     // __has_include with one of these
    INCLUDE_DEFINE,    // #define NAME value
};

struct include {
    enum include_kind kind;
    bool real;            // in the program; else in a comment or a string, where it is found to be on the safe side
    bool computed;        // which file, only a preprocessor can tell
    bool next;            // include_next, __has_include_next
    size_t word, operand; // where "include" or "__has_include" begins, and what it is about
    size_t end;           // behind the header's name; of a computed one behind "include" or "__has_include"
    const char *name;  // the header's, with its quotes or brackets; where computed, and of a #define, the macro's or ""
    const char *value; // of a #define: its text without blanks around it, NULL if it has arguments; else NULL
};

struct includes {
    size_t count;
    struct include *list; // in the order of the text
    struct arena memory;  // of the names and values
};

// Comments, continued lines, digraphs and trigraphs are seen through. Release in any case.
void includes_find(struct includes *, const char *text);
void includes_release(struct includes *);

// Whether a text is a header's name with its quotes or brackets, and nothing else.
bool include_is_header(const char *text);
// Whether it is one identifier.
bool include_is_identifier(const char *text);

#endif
