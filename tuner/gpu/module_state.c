// See module_state.h.
#include "tuner/gpu/module_state.h"

#include "tuner/base/elf_file.h"

// Whether a section holds variables, and whether these are writable or `__constant__`.
static bool has_variables(const struct elf_file *e, size_t index, bool *constant)
{
    static const char *const kinds[] = {".nv.global", ".nv.constant3"};
    Elf64_Shdr section;
    const char *name = elf_section(e, index, &section) ? elf_text(e, &e->names, section.sh_name) : NULL;
    for (int i = 0; i < 2 && name; i++) {
        size_t length = strlen(kinds[i]);
        if (strncmp(name, kinds[i], length) != 0 || (name[length] && name[length] != '.')) continue;
        *constant = i == 1;
        return true;
    }
    return false;
}

int module_state_scan(const void *image, size_t size, bool *heap, bool *prints, module_visitor *visit, void *user,
                      struct error *err)
{
    struct elf_file e;
    Elf64_Shdr table;
    Elf64_Sym symbol;
    const char *name, *wrong = elf_open(&e, image, size);
    *heap = *prints = false;
    if (wrong) return error_set(err, "the cubin %s", wrong);
    for (size_t i = 0; elf_section(&e, i, &table); i++) {
        for (size_t k = 0; table.sh_type == SHT_SYMTAB && elf_symbol(&e, &table, k, &symbol, &name); k++) {
            bool constant;
            if (!name) return error_set(err, "the cubin is truncated");
            if (symbol.st_shndx == SHN_UNDEF) {
                *heap |= !strcmp(name, "malloc") || !strcmp(name, "free");
                *prints |= !strcmp(name, "vprintf");
            } else if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size &&
                       strncmp(name, "$str", 4) != 0 && // format strings of printf
                       has_variables(&e, symbol.st_shndx, &constant)) {
                int result = visit(user, name, symbol.st_size, constant, err);
                if (result) return result;
            }
        }
    }
    return 0;
}

struct finder {
    struct cuda_module *module;
    struct module_state *state;
};

static int add(void *user, const char *name, size_t bytes, bool constant, struct error *err)
{
    struct finder *f = user;
    struct module_state *s = f->state;
    struct module_variable *grown = memory_try_grow(s->variables, s->count + 1, sizeof *grown, err);
    if (!grown) return -1;
    s->variables = grown;
    struct module_variable *v = &grown[s->count];
    size_t length = strlen(name) + 1;
    *v = (struct module_variable){memory_try(length, 1, err), bytes, constant, 0, 0, 0, 0, false};
    if (!v->name) return -1;
    memcpy(v->name, name, length);
    s->count++;
    int failed = constant ? 0 : cuda_module_global(f->module, name, &v->address, &v->bytes, err);
    if (!constant && v->bytes < bytes) v->bytes = bytes;
    return failed;
}

// Each variable is copied separately, because the driver refuses copies that span several variables.
static void place(struct module_state *s)
{
    for (size_t i = 0; i < s->count; i++) {
        s->variables[i].at = s->bytes;
        s->bytes += s->variables[i].bytes;
    }
}

static int read_all(const struct module_state *s, struct cuda *cuda, unsigned char *to, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < s->count && !failed; i++) {
        const struct module_variable *v = &s->variables[i];
        if (!v->constant) failed = cuda_download(cuda, to + v->at, v->address, v->bytes, err);
    }
    return failed ? failed : cuda_sync(cuda, err);
}

int module_state_open(struct module_state *s, struct cuda *cuda, struct cuda_module *module, const void *image,
                      size_t size, struct error *err)
{
    struct finder f = {module, s};
    *s = (struct module_state){0};
    int failed = module_state_scan(image, size, &s->heap, &s->prints, add, &f, err);
    if (failed) return failed;
    place(s);
    if (!s->bytes) return 0;
    void *both = NULL;
    if ((failed = cuda_host_alloc(2 * s->bytes, &both, err))) return failed;
    s->first = both;
    s->now = s->first + s->bytes;
    return read_all(s, cuda, s->first, err);
}

void module_state_release(struct module_state *s)
{
    cuda_host_free(s->first);
    for (size_t i = 0; i < s->count; i++) free(s->variables[i].name);
    free(s->variables);
    *s = (struct module_state){0};
}

int module_state_restore(const struct module_state *s, struct cuda *cuda, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < s->count && !failed; i++) {
        const struct module_variable *v = &s->variables[i];
        if (v->changes)
            failed = cuda_upload(cuda, v->address + v->placed, s->first + v->at + v->placed, v->bytes - v->placed, err);
    }
    return failed;
}

int module_state_inspect(struct module_state *s, struct cuda *cuda, bool *late, struct error *err)
{
    *late = false;
    int failed = s->bytes ? read_all(s, cuda, s->now, err) : 0;
    for (size_t i = 0; i < s->count && !failed; i++) {
        struct module_variable *v = &s->variables[i];
        size_t at = v->at + v->placed;
        if (v->constant || v->changes || !memcmp(s->first + at, s->now + at, v->bytes - v->placed)) continue;
        v->changes = s->changes = *late = true;
    }
    return failed;
}
