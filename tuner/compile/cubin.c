// See cubin.h. A kernel's code is section ".text.<symbol>", its static shared memory the size of ".nv.shared.<symbol>",
// and the section ".nv.info" has attributes of symbols: a byte of format, one of kind, two of size, then the values.
#include "tuner/compile/cubin.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

enum {
    FORMAT_VALUES = 4,
    KIND_FRAME_SIZE = 0x11,
    KIND_REGISTERS = 0x2f,
    SYSTEM_SHARED = 1024, // of every block from compute capability 9.0 on, where there is ".nv.shared.reserved.0"
};

struct cubin_image {
    const unsigned char *bytes;
    size_t size;
    Elf64_Ehdr head;
    Elf64_Shdr names;
};

static bool section_at(const struct cubin_image *m, size_t i, Elf64_Shdr *section)
{
    if (i >= m->head.e_shnum) return false;
    memcpy(section, m->bytes + m->head.e_shoff + i * sizeof *section, sizeof *section);
    return section->sh_type == SHT_NOBITS ||
           (section->sh_offset <= m->size && section->sh_size <= m->size - section->sh_offset);
}

static bool open_image(struct cubin_image *m, const void *cubin, size_t size)
{
    *m = (struct cubin_image){.bytes = cubin, .size = size};
    if (size < sizeof m->head) return false;
    memcpy(&m->head, cubin, sizeof m->head);
    const Elf64_Ehdr *h = &m->head;
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shoff > size ||
        h->e_shnum > (size - h->e_shoff) / sizeof(Elf64_Shdr))
        return false;
    return section_at(m, h->e_shstrndx, &m->names) && m->names.sh_type != SHT_NOBITS;
}

// Whether the text at `offset` of a section of names is `prefix` and `name`.
static bool named(const struct cubin_image *m, const Elf64_Shdr *names, size_t offset, const char *prefix,
                  const char *name)
{
    size_t first = strlen(prefix), length = strlen(name) + 1;
    if (offset > names->sh_size || names->sh_size - offset < first + length) return false;
    const unsigned char *at = m->bytes + names->sh_offset + offset;
    return !memcmp(at, prefix, first) && !memcmp(at + first, name, length);
}

static bool find_section(const struct cubin_image *m, const char *prefix, const char *name, Elf64_Shdr *section)
{
    for (size_t i = 0; i < m->head.e_shnum; i++)
        if (section_at(m, i, section) && named(m, &m->names, section->sh_name, prefix, name)) return true;
    return false;
}

// Whether symbol `index` is `name`.
static bool is_symbol(const struct cubin_image *m, uint32_t index, const char *name)
{
    Elf64_Shdr symbols, names;
    Elf64_Sym symbol;
    if (!find_section(m, "", ".symtab", &symbols) || symbols.sh_type == SHT_NOBITS ||
        index >= symbols.sh_size / sizeof symbol || !section_at(m, symbols.sh_link, &names) ||
        names.sh_type == SHT_NOBITS)
        return false;
    memcpy(&symbol, m->bytes + symbols.sh_offset + index * sizeof symbol, sizeof symbol);
    return named(m, &names, symbol.st_name, "", name);
}

static void read_info(const struct cubin_image *m, const char *name, struct cubin_kernel *kernel)
{
    Elf64_Shdr info;
    if (!find_section(m, "", ".nv.info", &info) || info.sh_type == SHT_NOBITS) return;
    const unsigned char *at = m->bytes + info.sh_offset, *end = at + info.sh_size;
    while (end - at >= 4) {
        uint32_t values[2]; // symbol, value
        size_t size = at[0] == FORMAT_VALUES ? (size_t)at[2] | (size_t)at[3] << 8 : 0;
        int64_t *figure = at[1] == KIND_REGISTERS    ? &kernel->registers
                          : at[1] == KIND_FRAME_SIZE ? &kernel->stack
                                                     : NULL;
        if (size > (size_t)(end - at) - 4) return;
        if (figure && size == sizeof values) {
            memcpy(values, at + 4, sizeof values);
            if (is_symbol(m, values[0], name)) *figure = values[1];
        }
        at += 4 + size;
    }
}

struct cubin_kernel cubin_kernel(const void *cubin, size_t size, const char *symbol)
{
    struct cubin_kernel kernel = {-1, -1, -1, -1};
    struct cubin_image m;
    Elf64_Shdr section, reserved;
    if (!open_image(&m, cubin, size) || !find_section(&m, ".text.", symbol, &section)) return kernel;
    kernel.code_bytes = (int64_t)section.sh_size;
    read_info(&m, symbol, &kernel);
    if (find_section(&m, ".nv.shared.", symbol, &section) && section.sh_size <= INT32_MAX) {
        int64_t system = find_section(&m, "", ".nv.shared.reserved.0", &reserved) ? SYSTEM_SHARED : 0;
        kernel.shared = (int64_t)section.sh_size >= system ? (int64_t)section.sh_size - system : -1;
    }
    return kernel;
}

const char *cubin_symbol(const void *cubin, size_t size, size_t index)
{
    static const char prefix[] = ".text.";
    struct cubin_image m;
    Elf64_Shdr section;
    if (!open_image(&m, cubin, size)) return NULL;
    for (size_t i = 0; i < m.head.e_shnum; i++) {
        if (!section_at(&m, i, &section) || section.sh_name >= m.names.sh_size) continue;
        const char *name = (const char *)m.bytes + m.names.sh_offset + section.sh_name;
        bool whole = memchr(name, 0, m.names.sh_size - section.sh_name) != NULL;
        if (whole && !strncmp(name, prefix, strlen(prefix)) && !index--) return name + strlen(prefix);
    }
    return NULL;
}
