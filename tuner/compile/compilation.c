// See compilation.h. Registers and spills are read from ptxas's own words in the log (--ptxas-options=-v), the code's
// size from the cubin's .text section.
#include "tuner/compile/compilation.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/text.h"
#include "tuner/trial/trial_field.h"

// The size of section ".text.<symbol>", or -1.
static int64_t code_bytes(const unsigned char *cubin, size_t size, const char *symbol)
{
    Elf64_Ehdr head;
    if (size < sizeof head) return -1;
    memcpy(&head, cubin, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_shentsize != sizeof(Elf64_Shdr) || head.e_shoff > size ||
        head.e_shnum > (size - head.e_shoff) / sizeof(Elf64_Shdr) || head.e_shstrndx >= head.e_shnum)
        return -1;
    const unsigned char *table = cubin + head.e_shoff;
    Elf64_Shdr names, section;
    memcpy(&names, table + head.e_shstrndx * sizeof names, sizeof names);
    if (names.sh_offset > size || names.sh_size > size - names.sh_offset) return -1;
    char *wanted = text_format(".text.%s", symbol);
    int64_t bytes = -1;
    for (unsigned i = 0; i < head.e_shnum && bytes < 0; i++) {
        memcpy(&section, table + i * sizeof section, sizeof section);
        if (section.sh_name >= names.sh_size) continue;
        const char *name = (const char *)cubin + names.sh_offset + section.sh_name;
        bool fits = strlen(wanted) < names.sh_size - section.sh_name && section.sh_size <= size;
        if (fits && !strcmp(name, wanted)) bytes = (int64_t)section.sh_size;
    }
    free(wanted);
    return bytes;
}

// -1 where it is none, or more than any figure is.
static int64_t number_before(const char *line, const char *end, const char *words)
{
    const char *p = strstr(line, words);
    if (!p || p >= end) return -1;
    while (p > line && p[-1] == ' ') p--;
    while (p > line && p[-1] >= '0' && p[-1] <= '9') p--;
    const char *digits = p;
    int64_t number = strtoll(p, (char **)&p, 10);
    return p > digits && p - digits <= 12 ? number : -1;
}

// ptxas writes, for every entry:
//   ptxas info    : Compiling entry function 'NAME' for 'sm_90a'
//   ptxas info    : Function properties for NAME
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 128 registers, used 1 barriers, 33792 bytes smem, ...
static void read_figures(const char *log, const char *symbol, struct trial_stage *figures)
{
    char *start = text_format("entry function '%s'", symbol);
    const char *p = strstr(log, start);
    free(start);
    if (!p) return;
    const char *end = strstr(p + 1, "Compiling entry function");
    if (!end) end = p + strlen(p);
    figures->stack = number_before(p, end, " bytes stack frame");
    figures->spill_stores = number_before(p, end, " bytes spill stores");
    figures->spill_loads = number_before(p, end, " bytes spill loads");
    figures->registers = number_before(p, end, " registers");
    figures->shared_static = number_before(p, end, " bytes smem");
    if (figures->shared_static < 0 && figures->registers >= 0) figures->shared_static = 0;
}

// Lines of the log with a ptxas advisory or warning "C75xx" (wgmma serialised, setmaxnreg ignored).
char *compilation_warnings(const char *log)
{
    char *warnings = text_copy("");
    for (const char *line = log; line && *line;) {
        size_t length = strcspn(line, "\n");
        char *text = text_format("%.*s", (int)length, line);
        if (strstr(text, "(C75")) {
            char *longer = text_format("%s%s%s", warnings, *warnings ? "\n" : "", text);
            free(warnings);
            warnings = longer;
        }
        free(text);
        line += length;
        line += *line == '\n';
    }
    return warnings;
}

void compilation_add(struct compilation *c, const char *entry, const char *symbol)
{
    struct entry_facts *facts = &c->entries[c->entry_count++];
    *facts = (struct entry_facts){.entry = text_copy(entry), .symbol = text_copy(symbol)};
    trial_clear(FIELD_STAGE, &facts->figures);
    read_figures(c->log, symbol, &facts->figures);
    facts->figures.code_bytes = code_bytes(c->cubin, c->cubin_size, symbol);
}

void compilation_release(struct compilation *c)
{
    free(c->log);
    free(c->warnings);
    free(c->cubin);
    for (size_t i = 0; i < c->entry_count; i++) {
        free(c->entries[i].entry);
        free(c->entries[i].symbol);
    }
    free(c->entries);
    *c = (struct compilation){.result = COMPILE_FAILED};
}
