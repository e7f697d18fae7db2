// See module_state.h.
#include "tuner/gpu/module_state.h"

#include <elf.h>
#include <string.h>

// A part of the image, or NULL when it lies outside.
static const void *part(const unsigned char *image, size_t size, uint64_t offset, uint64_t bytes)
{
    return offset <= size && bytes <= size - offset ? image + offset : NULL;
}

// The text at `offset` of a string table, or NULL when it does not end within it.
static const char *text_at(const char *table, uint64_t bytes, uint64_t offset)
{
    return offset < bytes && memchr(table + offset, 0, bytes - offset) ? table + offset : NULL;
}

struct elf {
    const unsigned char *image;
    size_t size;
    const Elf64_Shdr *sections;
    size_t section_count;
    const char *names;
    uint64_t names_bytes;
};

static int open_elf(struct elf *e, const void *image, size_t size, struct error *err)
{
    const Elf64_Ehdr *head = part(image, size, 0, sizeof *head);
    *e = (struct elf){.image = image, .size = size};
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != ELFCLASS64)
        return error_set(err, "the cubin is not a 64-bit ELF file");
    e->section_count = head->e_shnum;
    e->sections = part(image, size, head->e_shoff, (uint64_t)head->e_shnum * sizeof *e->sections);
    if (!e->sections || head->e_shentsize != sizeof *e->sections || head->e_shstrndx >= head->e_shnum)
        return error_set(err, "the cubin is cut off");
    const Elf64_Shdr *names = &e->sections[head->e_shstrndx];
    e->names = part(image, size, names->sh_offset, names->sh_size);
    e->names_bytes = names->sh_size;
    return e->names ? 0 : error_set(err, "the cubin is cut off");
}

static bool is_writable(const struct elf *e, size_t section)
{
    const char *name =
        section < e->section_count ? text_at(e->names, e->names_bytes, e->sections[section].sh_name) : NULL;
    return name && (!strcmp(name, ".nv.global") || !strncmp(name, ".nv.global.", 11));
}

int module_state_scan(const void *image, size_t size, bool *heap, bool *prints,
                      int (*visit)(void *user, const char *name, size_t bytes, struct error *err), void *user,
                      struct error *err)
{
    struct elf e;
    *heap = *prints = false;
    if (open_elf(&e, image, size, err)) return -1;
    for (size_t i = 0; i < e.section_count; i++) {
        const Elf64_Shdr *s = &e.sections[i];
        if (s->sh_type != SHT_SYMTAB) continue;
        const Elf64_Sym *symbols = part(image, size, s->sh_offset, s->sh_size);
        const Elf64_Shdr *strings = s->sh_link < e.section_count ? &e.sections[s->sh_link] : NULL;
        const char *table = strings ? part(image, size, strings->sh_offset, strings->sh_size) : NULL;
        if (!symbols || !table) return error_set(err, "the cubin is cut off");
        for (size_t k = 0; k < s->sh_size / sizeof *symbols; k++) {
            const char *name = text_at(table, strings->sh_size, symbols[k].st_name);
            if (!name) return error_set(err, "the cubin is cut off");
            if (symbols[k].st_shndx == SHN_UNDEF) {
                *heap |= !strcmp(name, "malloc") || !strcmp(name, "free");
                *prints |= !strcmp(name, "vprintf");
            } else if (ELF64_ST_TYPE(symbols[k].st_info) == STT_OBJECT && symbols[k].st_size && *name != '$' &&
                       is_writable(&e, symbols[k].st_shndx)) { // '$': texts of printf
                int result = visit(user, name, symbols[k].st_size, err);
                if (result) return result;
            }
        }
    }
    return 0;
}

struct address_range {
    struct cuda *cuda;
    struct cuda_module *module;
    uint64_t low, high;
};

static int widen(void *user, const char *name, size_t bytes, struct error *err)
{
    struct address_range *r = user;
    uint64_t address;
    size_t known;
    int failed = cuda_module_global(r->cuda, r->module, name, &address, &known, err);
    if (failed) return failed;
    if (known < bytes) known = bytes;
    if (address < r->low) r->low = address;
    if (address + known > r->high) r->high = address + known;
    return 0;
}

int module_state_open(struct module_state *s, struct cuda *cuda, struct cuda_module *module, const void *image,
                      size_t size, struct error *err)
{
    struct address_range r = {cuda, module, UINT64_MAX, 0};
    *s = (struct module_state){0};
    int failed = module_state_scan(image, size, &s->heap, &s->prints, widen, &r, err);
    if (failed || r.high <= r.low) return failed;
    // The driver lays a module's variables side by side, each at a multiple of 256 bytes; what lies between is theirs
    // too.
    s->address = r.low;
    s->bytes = (size_t)(r.high - r.low);
    void *first = NULL;
    if ((failed = cuda_host_alloc(cuda, s->bytes, &first, err)) ||
        (failed = cuda_download(cuda, first, s->address, s->bytes, err)) || (failed = cuda_sync(cuda, err)))
        s->bytes = 0;
    s->first = first;
    return failed;
}

void module_state_release(struct module_state *s, struct cuda *cuda)
{
    cuda_host_free(cuda, s->first);
    *s = (struct module_state){0};
}

int module_state_restore(const struct module_state *s, struct cuda *cuda, struct error *err)
{
    return s->bytes ? cuda_upload(cuda, s->address, s->first, s->bytes, err) : 0;
}
