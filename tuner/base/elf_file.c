// See elf_file.h.
#include "tuner/base/elf_file.h"
#include "tuner/base/buffer_kind.h"
#include <ctype.h>

const char *elf_open(struct elf_file *e, const void *bytes, size_t size)
{
    *e = (struct elf_file){.bytes = bytes, .size = size};
    if (size < sizeof e->head || memcmp(bytes, ELFMAG, SELFMAG) != 0) return "is not a 64-bit ELF file";
    memcpy(&e->head, bytes, sizeof e->head);
    const Elf64_Ehdr *h = &e->head;
    if (h->e_ident[EI_CLASS] != ELFCLASS64) return "is not a 64-bit ELF file";
    if (!h->e_shnum) return NULL;
    if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shoff > size ||
        h->e_shnum > (size - h->e_shoff) / sizeof(Elf64_Shdr) || h->e_shstrndx >= h->e_shnum)
        return "is truncated";
    Elf64_Shdr s;
    for (size_t i = 0; elf_section(e, i, &s); i++)
        if (s.sh_type != SHT_NOBITS && (s.sh_offset > size || s.sh_size > size - s.sh_offset)) return "is truncated";
    elf_section(e, h->e_shstrndx, &e->names);
    return NULL;
}

bool elf_section(const struct elf_file *e, size_t index, Elf64_Shdr *section)
{
    if (index >= e->head.e_shnum) return false;
    memcpy(section, e->bytes + e->head.e_shoff + index * sizeof *section, sizeof *section);
    return true;
}

uint32_t elf_find(const struct elf_file *e, const char *prefix, const char *name, Elf64_Shdr *section)
{
    size_t length = strlen(prefix);
    for (uint32_t i = 1; elf_section(e, i, section); i++) {
        const char *found = elf_text(e, &e->names, section->sh_name);
        if (found && !strncmp(found, prefix, length) && !strcmp(found + length, name)) return i;
    }
    return 0;
}

const unsigned char *elf_bytes(const struct elf_file *e, const Elf64_Shdr *section)
{
    return section->sh_type == SHT_NOBITS || section->sh_type == SHT_NULL ? NULL : e->bytes + section->sh_offset;
}

const char *elf_text(const struct elf_file *e, const Elf64_Shdr *table, uint64_t offset)
{
    const char *texts = (const char *)elf_bytes(e, table);
    bool whole = texts && offset < table->sh_size && memchr(texts + offset, 0, table->sh_size - offset);
    return whole ? texts + offset : NULL;
}

bool elf_symbol(const struct elf_file *e, const Elf64_Shdr *table, size_t index, Elf64_Sym *symbol, const char **name)
{
    const unsigned char *symbols = elf_bytes(e, table);
    Elf64_Shdr names;
    if (!symbols || index >= table->sh_size / sizeof *symbol) return false;
    memcpy(symbol, symbols + index * sizeof *symbol, sizeof *symbol);
    if (name) *name = elf_section(e, table->sh_link, &names) ? elf_text(e, &names, symbol->st_name) : NULL;
    return true;
}

bool shared_library_is_source(const char *path)
{
    static const char *const endings[] = {".cu", ".c", ".cc", ".cpp", ".cxx", NULL};
    return word_find(endings, strrchr(path, '.')) >= 0;
}

// Whether a file is for the kind of machine that this program runs on.
static bool same_machine(const Elf64_Ehdr *head)
{
    Elf64_Ehdr own;
    size_t size;
    autofree char *program = text_read_file("/proc/self/exe", &size);
    bool same = !program || size < sizeof own;
    if (!same) {
        memcpy(&own, program, sizeof own);
        same = own.e_machine == head->e_machine && own.e_ident[EI_CLASS] == head->e_ident[EI_CLASS];
    }
    return same;
}

const char *shared_library_read(struct shared_library *l, const char *path)
{
    struct elf_file e;
    Elf64_Shdr table;
    Elf64_Sym symbol;
    const char *name;
    *l = (struct shared_library){0};
    l->bytes = (unsigned char *)text_read_file(path, &l->size);
    if (!l->bytes) return "cannot be read";
    const char *wrong = elf_open(&e, l->bytes, l->size);
    if (memcmp(e.head.e_ident, ELFMAG, SELFMAG) != 0) return "is not a shared library";
    if (!same_machine(&e.head)) return "is a library for another kind of machine";
    if (e.head.e_type != ET_DYN) return "is not a shared library: link it with -shared";
    if (wrong) return "is truncated";
    for (size_t i = 0; elf_section(&e, i, &table); i++) {
        for (size_t k = 0; table.sh_type == SHT_DYNSYM && elf_symbol(&e, &table, k, &symbol, &name); k++) {
            unsigned type = ELF64_ST_TYPE(symbol.st_info);
            if (symbol.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC) || !name) continue;
            l->functions = memory_grow(l->functions, l->function_count + 2, sizeof *l->functions);
            l->functions[l->function_count++] = name;
            l->functions[l->function_count] = NULL;
        }
    }
    return NULL;
}

void shared_library_release(struct shared_library *l)
{
    free(l->functions);
    free(l->bytes);
    *l = (struct shared_library){0};
}

const char *elf_code_name(const struct elf_file *elf, const Elf64_Shdr *section)
{
    const char *name = elf_text(elf, &elf->names, section->sh_name);
    bool code = section->sh_flags & SHF_EXECINSTR ||
                (name && (!strncmp(name, ".nv.constant", 12) || !strncmp(name, ".nv.info", 8)));
    return code ? name : NULL;
}

const char *elf_kernel(const void *cubin, size_t size, size_t index)
{
    static const char prefix[] = ".text.";
    struct elf_file e;
    Elf64_Shdr section;
    if (elf_open(&e, cubin, size)) return NULL;
    for (size_t i = 0; elf_section(&e, i, &section); i++) {
        const char *name = elf_text(&e, &e.names, section.sh_name);
        if (name && !strncmp(name, prefix, strlen(prefix)) && !index--) return name + strlen(prefix);
    }
    return NULL;
}

bool symbol_mangles(const char *symbol, const char *name)
{
    autofree char *part = text_format("%zu%s", strlen(name), name);
    return !strncmp(symbol, "_Z", 2) && strstr(symbol, part);
}

char *shared_library_lacks(const struct shared_library *l, const char *path, const char *function)
{
    const char *mangled = NULL;
    bool found = false;
    for (size_t i = 0; i < l->function_count; i++) {
        found |= !strcmp(l->functions[i], function);
        if (symbol_mangles(l->functions[i], function)) mangled = l->functions[i];
    }
    if (found) return NULL;
    const char *nearest = l->functions ? text_nearest(function, l->functions) : NULL;
    if (mangled)
        return text_format("library '%s' has the function '%s' only under C++'s name '%s': declare it extern \"C\"",
                           path, function, mangled);
    return text_format("library '%s' has no function '%s'%s%s%s", path, function, nearest ? "; did you mean '" : "",
                       nearest ? nearest : "", nearest ? "'?" : "");
}

// Only names of variables are read (Itanium C++ ABI): <length><name>, or several of these between N and E, with an L
// before names with internal linkage.
static bool is_unnamed(const char *part, size_t length)
{
    return (length > 10 && !strncmp(part, "_INTERNAL_", 10)) || (length > 9 && !memcmp(part, "_GLOBAL__", 9)) ||
           memmem(part, length, "_GLOBAL__N_", 11);
}

// Reads a part such as "4coef" at *at; 0: there is none.
static size_t read_part(const char **at, const char **part)
{
    char *end;
    if (**at == 'L') ++*at;
    if (!isdigit((unsigned char)**at)) return 0;
    unsigned long length = strtoul(*at, &end, 10);
    if (!length || length > strlen(end)) return 0;
    *part = end;
    *at = end + length;
    return length;
}

const char *symbol_text(const char *symbol, char out[SYMBOL_TEXT_SIZE])
{
    const char *at = symbol + 2, *part;
    size_t filled = 0;
    if (strncmp(symbol, "_Z", 2) != 0) return symbol;
    bool nested = *at == 'N';
    at += nested;
    do {
        size_t length = read_part(&at, &part);
        if (!length) return symbol;
        if (is_unnamed(part, length)) continue;
        if (filled + 2 + length >= SYMBOL_TEXT_SIZE) return symbol;
        if (filled) memcpy(out + filled, "::", 2), filled += 2;
        memcpy(out + filled, part, length);
        filled += length;
    } while (nested && *at != 'E');
    out[filled] = 0;
    return filled && !strcmp(at, nested ? "E" : "") ? out : symbol;
}

bool symbol_is(const char *symbol, const char *name)
{
    char text[SYMBOL_TEXT_SIZE];
    if (!strncmp(name, "::", 2)) name += 2;
    return !strcmp(symbol, name) || !strcmp(symbol_text(symbol, text), name);
}
