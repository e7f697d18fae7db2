// See compilation.h. Spills are read from ptxas's messages in the log (--ptxas-options=-v), the rest from the cubin.
#include "tuner/compiler/compilation.h"

#include "tuner/base/elf_file.h"
#include "tuner/trial/trial_field.h"

// The cubin -----------------------------------------------------------------------------------------------------------

// A kernel's code is in section ".text.<symbol>"; its static shared memory is the size of ".nv.shared.<symbol>".
// Section ".nv.info" has attributes of symbols: one byte for the format, one for the kind, two for the size, then the
// values.
enum {
    FORMAT_VALUES = 4,
    KIND_FRAME_SIZE = 0x11,
    KIND_REGISTERS = 0x2f,
    SYSTEM_SHARED = 1024, // for every block, from compute capability 9.0 on, if ".nv.shared.reserved.0" exists
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

static void read_info(const struct elf_file *e, const char *name, struct trial_stage *figures)
{
    Elf64_Shdr info;
    const unsigned char *at = elf_find(e, "", ".nv.info", &info) ? elf_bytes(e, &info) : NULL;
    if (!at) return;
    const unsigned char *end = at + info.sh_size;
    while (end - at >= 4) {
        uint32_t values[2]; // symbol, value
        size_t size = at[0] == FORMAT_VALUES ? (size_t)at[2] | (size_t)at[3] << 8 : 0;
        int64_t *figure = at[1] == KIND_REGISTERS    ? &figures->registers
                          : at[1] == KIND_FRAME_SIZE ? &figures->stack
                                                     : NULL;
        if (size > (size_t)(end - at) - 4) return;
        if (figure && size == sizeof values) {
            memcpy(values, at + 4, sizeof values);
            if (is_symbol(e, values[0], name)) *figure = values[1];
        }
        at += 4 + size;
    }
}

// Sets the figures that the cubin has. Never reads beyond `size`, whatever the bytes are.
static void read_cubin(const void *cubin, size_t size, const char *symbol, struct trial_stage *figures)
{
    struct elf_file e;
    Elf64_Shdr section, reserved;
    if (elf_open(&e, cubin, size) || !elf_find(&e, ".text.", symbol, &section)) return;
    figures->code_bytes = (int64_t)section.sh_size;
    read_info(&e, symbol, figures);
    if (!elf_find(&e, ".nv.shared.", symbol, &section) || section.sh_size > INT32_MAX) return;
    uint64_t system = elf_find(&e, "", ".nv.shared.reserved.0", &reserved) ? SYSTEM_SHARED : 0;
    if (section.sh_size >= system) figures->shared_static = (int64_t)(section.sh_size - system);
}

// The log -------------------------------------------------------------------------------------------------------------

// The number before `words`; -1 if there is none, or it is too large for a figure.
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

// Whether a line comes from ptxas. Messages from pragmas in the program follow a file's name or are indented.
static bool of_ptxas(const char *line)
{
    return !strncmp(line, "ptxas ", 6);
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : NULL;
}

// The last line from ptxas before `end` that contains these words; NULL: none. ptxas writes its lines after all
// messages about the program.
static const char *last_line(const char *log, const char *end, const char *words)
{
    const char *found = NULL;
    size_t length = strlen(words);
    for (const char *line = log; line && line < end; line = next_line(line)) {
        const char *at = of_ptxas(line) ? strstr(line, words) : NULL;
        if (at && at + length <= line + strcspn(line, "\n")) found = line;
    }
    return found;
}

// ptxas writes, for every entry:
//   ptxas info    : Compiling entry function 'NAME' for 'sm_90a'
//   ptxas info    : Function properties for NAME
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 128 registers, used 1 barriers, 33792 bytes smem, ...
static void read_log(const char *log, const char *symbol, struct trial_stage *figures)
{
    autofree char *start = text_format("Compiling entry function '%s'", symbol),
                  *own = text_format("Function properties for %s", symbol);
    const char *p = last_line(log, log + strlen(log), start), *end = p ? next_line(p) : NULL, *properties;
    while (end && !(of_ptxas(end) && !strncmp(end + strcspn(end, ":"), ": Compiling entry", 17))) end = next_line(end);
    if (p && !end) end = p + strlen(p);
    if (p && (properties = last_line(p, end, own)) && (properties = next_line(properties))) {
        const char *stop = properties + strcspn(properties, "\n");
        figures->stack = number_before(properties, stop, " bytes stack frame");
        figures->spill_stores = number_before(properties, stop, " bytes spill stores");
        figures->spill_loads = number_before(properties, stop, " bytes spill loads");
    }
    const char *used = p ? last_line(p, end, " registers") : NULL;
    if (used) {
        const char *stop = used + strcspn(used, "\n");
        figures->registers = number_before(used, stop, " registers");
        figures->shared_static = number_before(used, stop, " bytes smem");
        if (figures->shared_static < 0 && figures->registers >= 0) figures->shared_static = 0;
    }
}

// Takes the figures from the cubin, and figures that the cubin lacks from ptxas's log.
static void read_figures(const struct compilation *c, const char *symbol, struct trial_stage *figures)
{
    read_log(c->log, symbol, figures);
    read_cubin(c->cubin, c->cubin_size, symbol, figures);
}

// Lines of the log with a ptxas advisory or warning "C75xx" (wgmma serialised, setmaxnreg ignored).
char *compilation_warnings(const char *log)
{
    struct text warnings = {0};
    text_add(&warnings, "%s", "");
    for (const char *line = log; line && *line; line = next_line(line)) {
        autofree char *text = text_format("%.*s", (int)strcspn(line, "\n"), line);
        if (of_ptxas(text) && strstr(text, "(C75")) text_add(&warnings, "%s%s", warnings.length ? "\n" : "", text);
    }
    return warnings.text;
}

json_t *compilation_refuse(const char *log)
{
    enum { REASON_MAX = 4000 };
    const char *start = strstr(log, "error");
    while (start && start > log && start[-1] != '\n') start--;
    if (!start) start = log;
    size_t length = strlen(start), shown;
    if (length <= REASON_MAX) return answer_refuse(status_name(STATUS_COMPILE_ERROR), start);
    for (shown = REASON_MAX; shown && start[shown] != '\n'; shown--) { // whole lines
    }
    if (!shown) shown = REASON_MAX; // a single long line
    autofree char *reason = text_format("%.*s\n(and %zu bytes more)", (int)shown, start, length - shown);
    return answer_refuse(status_name(STATUS_COMPILE_ERROR), reason);
}

json_t *compilation_refuse_late(void)
{
    return answer_refuse(status_name(STATUS_COMPILE_TIMEOUT),
                         "still compiling at the deadline: raise the job's compile.timeout if it is too short");
}

void compilation_add(struct compilation *c, const char *entry, const char *symbol)
{
    struct entry_answer *answer = &c->entries[c->entry_count++];
    *answer = (struct entry_answer){.entry = arena_copy(&c->memory, entry), .symbol = arena_copy(&c->memory, symbol)};
    trial_clear(FIELD_STAGE, &answer->figures);
    read_figures(c, symbol, &answer->figures);
}

void compilation_release(struct compilation *c)
{
    free(c->log);
    free(c->warnings);
    free(c->cubin);
    free(c->entries);
    arena_release(&c->memory);
    *c = (struct compilation){.result = COMPILE_FAILED};
}
