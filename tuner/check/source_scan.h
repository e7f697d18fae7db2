// The words of a source and of the files that it includes, as far as they are files of the user's: which identifiers it
// uses, which macros it defines, and its kernels. Reads text, not C++: code that the preprocessor leaves out counts.
#ifndef SWEETSPOT_SOURCE_SCAN_H
#define SWEETSPOT_SOURCE_SCAN_H

#include "tuner/base/base.h"

// Where a word stands. The file is the scan's.
struct source_word {
    const char *file;
    char *name;
    int line;
};

struct source_macro { // a #define
    struct source_word at;
    char *guards;     // the names of the #ifndef around it, each between blanks: " A B "
    bool conditional; // within another condition
};

struct source_kernel { // __global__
    struct source_word at;
    bool is_template;
};

struct source_scan {
    size_t file_count, word_count, macro_count, declaration_count, kernel_count;
    char **files;
    struct source_word *words; // uses, sorted by name, each once; not in `#ifndef NAME` before its own #define
    struct source_macro *macros;
    struct source_word *declarations; // "int NAME" followed by one of , ) = ; [ >, outside #ifndef NAME
    struct source_kernel *kernels;
    bool pastes;                // has ##, so that identifiers may be made that are not among the words
    struct source_word missing; // an #include "file" that was not found, or of a macro; line 0: none
};

// `text` of the words that no file has (an option, an entry's name) may be added by source_scan_text. Files that cannot
// be read are left out.
void source_scan_file(struct source_scan *, const char *path, char *const *include, size_t include_count);
void source_scan_text(struct source_scan *, const char *text);
// Call it after the last text and before source_scan_uses.
void source_scan_finish(struct source_scan *);
void source_scan_release(struct source_scan *);

// The first use of a name, or NULL.
const struct source_word *source_scan_uses(const struct source_scan *, const char *name);

#endif
