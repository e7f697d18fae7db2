// Shared libraries opened at run time, and tables of the functions that we call in them. A module that wraps a library
// lists the functions once:
//
//     #define FUNCTIONS(F) F(cuInit) F(cuDeviceGet) ...
//     static struct { FUNCTIONS(LIBRARY_MEMBER) } driver;
//     static const struct library_symbol symbols[] = {FUNCTIONS(LIBRARY_SYMBOL)};
//     library_find(opened, symbols, sizeof symbols / sizeof *symbols, &driver, err)
//
// and calls driver.cuInit(0). Where a vendor's header renames a function by a macro (cuMemAlloc stands for
// cuMemAlloc_v2), the symbol and the prototype both have the new name. Libraries are not closed, because the vendors'
// libraries start threads and hook themselves into the driver.
#pragma once

#include "tuner/base/base.h"

#define LIBRARY_TEXT(x) #x
// A member of the table: a pointer to the function that the header declares.
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define LIBRARY_MEMBER(f) __typeof__(f) *f;
// Its symbol.
#define LIBRARY_SYMBOL(f) {LIBRARY_TEXT(f), NULL},
// The symbol of a function that, in older libraries, still has the name that the header's macro replaces.
#define LIBRARY_SYMBOL_OR_OLDER(f) {LIBRARY_TEXT(f), #f},

struct library_symbol {
    const char *name, *older; // older: tried if `name` is missing; NULL: none
};

// Opens a library by its file name. Searches the loader's folders and then, if the library is part of the CUDA toolkit,
// the toolkit's folders (CUDA_HOME, CUDA_PATH, /usr/local/cuda). NULL with the loader's message. `global`: other
// libraries may find its symbols.
void *library_open(const char *name, bool toolkit, bool global, struct error *err);

// Finds the functions and writes their addresses to `table`, a struct of `count` function pointers in the same order.
// If a function is missing, writes nothing and returns -1, with the name of the first missing function as the message.
int library_find(void *library, const struct library_symbol *symbols, size_t count, void *table, struct error *err);
