// A kernel's source: the program and every file of the user's that it may include, with one content hash: trials are
// filed under it and the compile cache is keyed by it. The compiler gets the files from here (source_text.c), so that
// what was not hashed cannot be compiled.
#pragma once

#include <sys/types.h>

#include "tuner/base/hash.h"
#include "tuner/base/text_edit.h"

enum { SOURCE_FILES_MOST = 10000 };

// What a text says of files to include: a scan of C++, not a preprocessor. Conditions are not looked at, so that every
// file that may be included is found. (include_scan.c)
enum include_kind {
    INCLUDE_DIRECTIVE, // #include "x.h", #include <x.h>, #include MACRO
    INCLUDE_ASKED,     // __has_include with one of these
};

struct include {
    enum include_kind kind;
    bool real;            // in the program; else in a comment or a string, where it is found to be on the safe side
    bool computed;        // by a macro: which file, only a preprocessor can tell
    bool next;            // include_next, __has_include_next
    size_t word, operand; // where "include" or "__has_include" begins, and what it is about
    size_t end;           // after the header's name; for a computed one after "include" or "__has_include"
    const char *name;     // the header's, with its quotes or brackets; where computed, the macro's or ""
};

struct includes {
    size_t count;
    struct include *list; // in the order of the text
    struct arena memory;  // of the names
};

// Comments, continued lines, digraphs and trigraphs are seen through. Release in any case.
void includes_find(struct includes *, const char *text);
void includes_release(struct includes *);

// What is to be compiled. Borrowed.
struct source_request {
    const char *path, *text; // of the program; where there is a text, it is that
    size_t include_count, option_count;
    const char *const *include; // folders, after those that the options name
    const char *const *option;  // NVRTC's, those of the job
    bool host_headers;          // stand-ins for headers of the host are offered (host_headers.h)
    size_t edit_count;
    const struct text_edit *edits; // of files that are read
};

struct source_file {
    char *path, *text; // path: absolute, but that of a program without a file and of a stand-in
    dev_t device;      // which file it is, under whatever path
    ino_t inode;
    struct includes includes;
    size_t *target; // for each mention the file that it means; SOURCE_NONE: none of these
};

// A stand-in that a toolkit's header includes by its name.
struct source_alias {
    const char *name;
    size_t file;
};

struct source {
    char hash[HASH_TEXT_SIZE];
    size_t file_count, alias_count;
    struct source_file *files; // the program is the first
    struct source_alias *aliases;
    struct text_list
        options; // the request's, without folders of the user's; and stand-ins that are included before all
};

#define SOURCE_NONE ((size_t)-1)

// Reads and hashes the program and, transitively, every file that an #include or a __has_include names and that is
// found next to the including file or in one of the folders. Conditional compilation is not looked at, so the hash may
// cover a file too many, never one too few. What a macro includes is unknown, and the compiler gets an error in its
// place. An include that is found nowhere there is a vendor's, and so is what lies in a toolkit's folder: the
// compiler's version stands for it. Stand-ins for headers of the host are files like others: those that are named and
// found nowhere, and those of words that nvcc's programs know without an #include.
// -1 with a message that names the file. Release in any case.
int source_open(struct source *, const struct source_request *, struct error *);
void source_release(struct source *);
// Whether a file is part of it.
bool source_has(const struct source *, const char *path);

// A text with declarations in place of the host's functions, as far as they can be told, on the same lines; NULL:
// there is none. Its device code is the same if it compiles, because all that is declared stays so. (host_bodies.c)
char *source_without_host(const char *text);

// Only the hash.
int source_hash(const struct source_request *, char hash[HASH_TEXT_SIZE], struct error *);

// The options of a request for another place, where the user's files lie below `root` under the paths that they have
// here: changed in place.
void source_options_move(json_t *options, const char *root);
// Whether a folder is a toolkit's, whose headers belong to the compiler.
bool source_options_toolkit(const char *folder);

// A source as a compiler gets it: the program and its headers from memory, each header under its path. Where a text
// includes one by name, the name is replaced by the path, because a compiler only goes by the name and the same one
// may mean different files. An #include whose file is unknown becomes an #error. (source_text.c)
struct source_texts {
    char *program;
    size_t header_count;
    char **name, **text; // of each header
};

// -1 with a message where a path cannot be written into an #include. Release in any case.
int source_texts_make(struct source_texts *, const struct source *, struct error *);
void source_texts_release(struct source_texts *);
