// See elf_file.h.
#include "tuner/base/elf_file.h"

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
        return "is cut off";
    Elf64_Shdr s;
    for (size_t i = 0; elf_section(e, i, &s); i++)
        if (s.sh_type != SHT_NOBITS && (s.sh_offset > size || s.sh_size > size - s.sh_offset)) return "is cut off";
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
