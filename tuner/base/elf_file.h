// 64-bit ELF files in memory: cubins and shared libraries. Nothing in them is trusted: elf_open checks every section
// against the file's size, and the functions below check every index and offset against the sections.
#pragma once

#include "tuner/base/base.h"
#include <elf.h>

struct elf_file {
    const unsigned char *bytes; // borrowed
    size_t size;
    Elf64_Ehdr head;
    Elf64_Shdr names; // the section with the names of all sections
};

// NULL, or what is wrong with the file: "is not a 64-bit ELF file" or "is truncated". The ELF header in the struct is
// zero unless the file begins like an ELF file.
const char *elf_open(struct elf_file *, const void *bytes, size_t size);
// False: there is no such section.
bool elf_section(const struct elf_file *, size_t index, Elf64_Shdr *);
// Finds the first section whose name is `prefix` followed by `name`, and returns its index; 0: there is none.
uint32_t elf_find(const struct elf_file *, const char *prefix, const char *name, Elf64_Shdr *);
// The sh_size bytes of a section; NULL if the file has none.
const unsigned char *elf_bytes(const struct elf_file *, const Elf64_Shdr *);
// The string at an offset in a string table; NULL if it does not end within the table.
const char *elf_text(const struct elf_file *, const Elf64_Shdr *table, uint64_t offset);
// Reads a symbol of a symbol table, and its name. *name (`name` may be NULL) is NULL if the name lies outside its
// table. False: the table has fewer symbols.
bool elf_symbol(const struct elf_file *, const Elf64_Shdr *table, size_t index, Elf64_Sym *, const char **name);

// The name of a cubin's section if it has code, constants or attributes of kernels; NULL for other sections, such as
// those with source lines and paths.
const char *elf_code_name(const struct elf_file *, const Elf64_Shdr *);

// The symbol of kernel number `index` in a cubin, where each kernel has a section ".text.NAME". NULL after the last
// kernel, or if the file is not a cubin. Borrowed from the cubin.
const char *elf_kernel(const void *cubin, size_t size, size_t index);

// The functions that a shared library defines, read from its file (ELF), without loading it.
struct shared_library {
    unsigned char *bytes;
    size_t size, function_count;
    const char **functions; // names, NULL-terminated; NULL if it defines none
};

// Whether a file's name has the extension of a source that can be built into a library: .cu, .c, .cc, .cpp or .cxx.
bool shared_library_is_source(const char *path);
// Returns NULL if the file is a shared library for this machine, otherwise the reason as a static string ("is not a
// shared library"). Always release it.
const char *shared_library_read(struct shared_library *, const char *path);
void shared_library_release(struct shared_library *);
// The message that a library has no function with this name; it suggests the nearest name. malloc'ed; NULL if there is
// such a function. `path` is for the message.
char *shared_library_lacks(const struct shared_library *, const char *path, const char *function);

// Names of variables in compiled code: "_ZN2ns4coefE" is ns::coef.
// Whether a symbol is the variable with this name, which includes its namespaces ("ns::coef"; unnamed namespaces are
// left out). `name` may also be the symbol itself; an instance of a variable template can only be named in this way.
bool symbol_is(const char *symbol, const char *name);
// Writes the variable's name with its namespaces to `out`, or the symbol itself if it is not a variable's symbol or the
// text is too long.
enum { SYMBOL_TEXT_SIZE = 256 };
const char *symbol_text(const char *symbol, char out[SYMBOL_TEXT_SIZE]);
// Whether a mangled name contains this name, preceded by its length: "_Z5scalePKfPfi" contains `scale`.
bool symbol_mangles(const char *symbol, const char *name);
