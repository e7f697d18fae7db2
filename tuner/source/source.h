// A kernel's source: the program and every user file that it may include. All files have one content hash, which is
// part of the key of trials and of the compile cache. The compiler gets the files from here (source_text.c), so only
// hashed text can be compiled.
#pragma once

#include <sys/types.h>

#include "tuner/base/hash.h"
#include "tuner/base/text_edit.h"

enum { SOURCE_FILES_MOST = 10000 };

// Finds the files that a source text may include. This is a scanner for C++, not a preprocessor: it ignores conditions,
// so that every file that may be included is found. (include_scan.c)
enum include_kind {
    INCLUDE_DIRECTIVE, // #include "x.h", #include <x.h>, #include MACRO
    INCLUDE_ASKED,     // __has_include with such an operand
};

struct include {
    enum include_kind kind;
    bool real;            // in the program; false: in a comment or string, listed to be on the safe side
    bool computed;        // named by a macro; only a preprocessor can tell which file
    bool next;            // include_next, __has_include_next
    size_t word, operand; // where "include" or "__has_include" begins, and its operand
    size_t end;           // after the header's name; if computed, after "include" or "__has_include"
    const char *name;     // the header's, with quotes or brackets; if computed, the macro's or ""
};

struct includes {
    size_t count;
    struct include *list; // in the order of the text
    struct arena memory;  // memory of the names
};

// Handles comments, continued lines, digraphs and trigraphs. The caller releases the result.
void includes_find(struct includes *, const char *text);
void includes_release(struct includes *);

// The program to compile. Borrowed.
struct source_request {
    const char *path, *text; // of the program; if there is a text, it replaces the file
    size_t include_count, option_count;
    const char *const *include; // folders, after those that the options name
    const char *const *option;  // NVRTC options of the job
    bool host_headers;          // use stand-ins for headers of the host (host_headers.h)
    size_t edit_count;
    const struct text_edit *edits; // applied to files that are read
};

struct source_file {
    char *path, *text; // path: absolute, except for a program without a file and a stand-in
    dev_t device;      // identity of the file, whatever its path
    ino_t inode;
    struct includes includes;
    size_t *target; // for each entry of `includes`, its file; SOURCE_NONE: not one of these files
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
    struct text_list options; // the request's options without the user's folders, and stand-ins to include first
};

#define SOURCE_NONE ((size_t)-1)

// Reads and hashes the program and, transitively, every file that an #include or a __has_include names and that is
// found next to the including file or in one of the folders. Conditional compilation is ignored, so the hash may cover
// too many files, but never too few. An include that is named by a macro is unknown, and the compiler gets an error in
// its place. An include that is not found in these places is assumed to be a vendor's, as is every file in a toolkit's
// folder. For vendors' files, the compiler's version counts instead of the content. Stand-ins for headers of the host
// are treated like other files. They are used for headers that are named but not found, and for names that programs for
// nvcc can use without an #include. Returns -1 with a message that names the file. The caller releases the source, even
// after a failure.
int source_open(struct source *, const struct source_request *, struct error *);
void source_release(struct source *);
// Whether a file is part of the source.
bool source_has(const struct source *, const char *path);

// The source with all recognisable host functions replaced by declarations on the same lines; NULL if there are none.
// If it compiles, its device code is the same, because all declarations are kept. (host_bodies.c)
char *source_without_host(const char *text);

// Computes only the hash.
int source_hash(const struct source_request *, char hash[HASH_TEXT_SIZE], struct error *);

// Rewrites a request's options in place for another machine. The path of each folder that the user named becomes
// `root` + PATH, where that machine has a copy of the folder. The toolkit's folders stay unchanged.
void source_options_move(json_t *options, const char *root);
// Whether a folder is a toolkit's, whose headers belong to the compiler.
bool source_options_toolkit(const char *folder);

// A source as a compiler gets it: the program and its headers from memory, each header under its path. Where a text
// includes a header by name, the name is replaced by the path, because a compiler identifies headers only by name, and
// one name may mean different files. An #include whose file is unknown becomes an #error. (source_text.c)
struct source_texts {
    char *program;
    size_t header_count;
    char **name, **text; // of each header
};

// Returns -1 with a message if a path cannot be written in an #include. The caller releases the texts, even after a
// failure.
int source_texts_make(struct source_texts *, const struct source *, struct error *);
void source_texts_release(struct source_texts *);
