// See shared_library.h.
#include "tuner/base/shared_library.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"

bool shared_library_is_source(const char *path)
{
    static const char *const endings[] = {".cu", ".c", ".cc", ".cpp", ".cxx"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (!strcmp(dot, endings[i])) return true;
    return false;
}

const char *shared_library_read(struct shared_library *l, const char *path)
{
    Elf64_Ehdr head, own;
    *l = (struct shared_library){0};
    l->bytes = (unsigned char *)text_read_file(path, &l->size);
    if (!l->bytes) return "cannot be read";
    if (l->size < sizeof head) return "is not a shared library";
    memcpy(&head, l->bytes, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return "is not a shared library";
    size_t own_size;
    char *program = text_read_file("/proc/self/exe", &own_size);
    bool same = !program || own_size < sizeof own;
    if (!same) {
        memcpy(&own, program, sizeof own);
        same = own.e_machine == head.e_machine && own.e_ident[EI_CLASS] == head.e_ident[EI_CLASS];
    }
    free(program);
    if (!same) return "is a library for another kind of machine";
    if (head.e_type != ET_DYN) return "is not a shared library: link it with -shared";
    if (head.e_shentsize != sizeof(Elf64_Shdr) || head.e_shoff > l->size ||
        head.e_shnum > (l->size - head.e_shoff) / sizeof(Elf64_Shdr))
        return "is cut off";
    for (size_t i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr table, names;
        memcpy(&table, l->bytes + head.e_shoff + i * sizeof table, sizeof table);
        if (table.sh_type != SHT_DYNSYM || table.sh_link >= head.e_shnum) continue;
        memcpy(&names, l->bytes + head.e_shoff + table.sh_link * sizeof names, sizeof names);
        if (table.sh_offset > l->size || table.sh_size > l->size - table.sh_offset || names.sh_offset > l->size ||
            names.sh_size > l->size - names.sh_offset)
            return "is cut off";
        const char *text = (const char *)l->bytes + names.sh_offset;
        for (size_t k = 0; k < table.sh_size / sizeof(Elf64_Sym); k++) {
            Elf64_Sym symbol;
            memcpy(&symbol, l->bytes + table.sh_offset + k * sizeof symbol, sizeof symbol);
            unsigned type = ELF64_ST_TYPE(symbol.st_info);
            if (symbol.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
                symbol.st_name >= names.sh_size || !memchr(text + symbol.st_name, 0, names.sh_size - symbol.st_name))
                continue;
            l->functions = memory_grow(l->functions, l->function_count + 2, sizeof *l->functions);
            l->functions[l->function_count++] = text + symbol.st_name;
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

char *shared_library_lacks(const struct shared_library *l, const char *path, const char *function)
{
    const char *mangled = NULL;
    bool found = false;
    char *part = text_format("%zu%s", strlen(function), function);
    for (size_t i = 0; i < l->function_count; i++) {
        found |= !strcmp(l->functions[i], function);
        if (!strncmp(l->functions[i], "_Z", 2) && strstr(l->functions[i], part)) mangled = l->functions[i];
    }
    free(part);
    if (found) return NULL;
    const char *nearest = l->functions ? text_nearest(function, l->functions) : NULL;
    if (mangled)
        return text_format("library '%s' has the function '%s' only under C++'s name '%s': declare it extern \"C\"",
                           path, function, mangled);
    return text_format("library '%s' has no function '%s'%s%s%s", path, function, nearest ? "; did you mean '" : "",
                       nearest ? nearest : "", nearest ? "'?" : "");
}
