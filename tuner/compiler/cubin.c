// See cubin.h. A kernel's code is section ".text.<symbol>", its static shared memory the size of ".nv.shared.<symbol>",
// and the section ".nv.info" has attributes of symbols: a byte of format, one of kind, two of size, then the values.
#include "tuner/compiler/cubin.h"

#include "tuner/base/elf_file.h"

enum {
    FORMAT_VALUES = 4,
    KIND_FRAME_SIZE = 0x11,
    KIND_REGISTERS = 0x2f,
    SYSTEM_SHARED = 1024, // of every block from compute capability 9.0 on, where there is ".nv.shared.reserved.0"
};

// Whether symbol `index` is `name`.
static bool is_symbol(const struct elf_file *e, uint32_t index, const char *name)
{
    Elf64_Shdr table;
    Elf64_Sym symbol;
    const char *found;
    return elf_find(e, "", ".symtab", &table) && elf_symbol(e, &table, index, &symbol, &found) && found &&
           !strcmp(found, name);
}

static void read_info(const struct elf_file *e, const char *name, struct cubin_kernel *kernel)
{
    Elf64_Shdr info;
    const unsigned char *at = elf_find(e, "", ".nv.info", &info) ? elf_bytes(e, &info) : NULL;
    if (!at) return;
    const unsigned char *end = at + info.sh_size;
    while (end - at >= 4) {
        uint32_t values[2]; // symbol, value
        size_t size = at[0] == FORMAT_VALUES ? (size_t)at[2] | (size_t)at[3] << 8 : 0;
        int64_t *figure = at[1] == KIND_REGISTERS    ? &kernel->registers
                          : at[1] == KIND_FRAME_SIZE ? &kernel->stack
                                                     : NULL;
        if (size > (size_t)(end - at) - 4) return;
        if (figure && size == sizeof values) {
            memcpy(values, at + 4, sizeof values);
            if (is_symbol(e, values[0], name)) *figure = values[1];
        }
        at += 4 + size;
    }
}

struct cubin_kernel cubin_kernel(const void *cubin, size_t size, const char *symbol)
{
    struct cubin_kernel kernel = {-1, -1, -1, -1};
    struct elf_file e;
    Elf64_Shdr section, reserved;
    if (elf_open(&e, cubin, size) || !elf_find(&e, ".text.", symbol, &section)) return kernel;
    kernel.code_bytes = (int64_t)section.sh_size;
    read_info(&e, symbol, &kernel);
    if (elf_find(&e, ".nv.shared.", symbol, &section) && section.sh_size <= INT32_MAX) {
        int64_t system = elf_find(&e, "", ".nv.shared.reserved.0", &reserved) ? SYSTEM_SHARED : 0;
        kernel.shared = (int64_t)section.sh_size >= system ? (int64_t)section.sh_size - system : -1;
    }
    return kernel;
}
