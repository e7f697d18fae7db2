// See linetable.h. The line-number program is DWARF's (version 2 to 4, section 6.2 of the standard). Cubins are
// little-endian ELF64 with relocatable sections: a relocation says which kernel's code a DW_LNE_set_address refers to.
#include "tuner/counting/linetable.h"

#include "tuner/base/elf_file.h"

struct line_row {
    uint64_t address;
    uint32_t file, line;
    uint32_t call;    // index + 1 of the row for the call; 0: none
    uint32_t section; // of the code
    bool end;
};

struct file {
    const char *name; // in the cubin
    uint32_t directory;
};

struct linetable {
    size_t code_bytes;
    uint32_t section;
    size_t row_count;
    struct line_row *rows;
    size_t file_count, directory_count;
    struct file *files;
    const char **directories; // in the cubin
    size_t sorted_count;
    uint32_t *sorted; // rows of this kernel, by address
    size_t depth;     // of the longest chain of calls
    bool exhausted;   // memory ran out while reading; err says so
    struct error *err;
};

// A range of bytes being read; reading past its end yields zeros and sets `bad`.
struct cursor {
    const uint8_t *at, *end;
    bool bad;
};

static uint64_t take(struct cursor *c, size_t bytes)
{
    uint64_t value = 0;
    if ((size_t)(c->end - c->at) < bytes) {
        c->bad = true;
        c->at = c->end;
        return 0;
    }
    for (size_t i = 0; i < bytes; i++) value |= (uint64_t)c->at[i] << 8 * i;
    c->at += bytes;
    return value;
}

static uint64_t take_uleb(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = take(c, 1);
        value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80)) break;
    }
    return value;
}

static int64_t take_sleb(struct cursor *c)
{
    uint64_t value = 0, byte = 0x80;
    unsigned shift = 0;
    for (; shift < 64 && byte & 0x80; shift += 7) {
        byte = take(c, 1);
        value |= (byte & 0x7f) << shift;
    }
    if (byte & 0x40 && shift < 64) value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

static const char *take_string(struct cursor *c)
{
    const uint8_t *end = memchr(c->at, 0, (size_t)(c->end - c->at));
    const char *text = (const char *)c->at;
    if (!end) {
        c->bad = true;
        c->at = c->end;
        return "";
    }
    c->at = end + 1;
    return text;
}

// The section to which the address at `offset` of .debug_line belongs, from its relocation; 0: unknown.
static uint32_t relocated(const struct elf_file *e, uint64_t offset)
{
    for (int with_addend = 0; with_addend < 2; with_addend++) {
        Elf64_Shdr s, symbols;
        size_t entry = with_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
        if (!elf_find(e, with_addend ? ".rela" : ".rel", ".debug_line", &s) || !elf_section(e, s.sh_link, &symbols))
            continue;
        const unsigned char *bytes = elf_bytes(e, &s);
        for (size_t i = 0; bytes && i < s.sh_size / entry; i++) {
            Elf64_Rel r;
            Elf64_Sym found;
            memcpy(&r, bytes + i * entry, sizeof r);
            if (r.r_offset == offset && elf_symbol(e, &symbols, ELF64_R_SYM(r.r_info), &found, NULL))
                return found.st_shndx;
        }
    }
    return 0;
}

// Returns `list` with room for at least `count` + 1 elements. The room doubles at powers of two. If memory runs out,
// returns NULL and sets the table's `exhausted`.
static void *with_room(struct linetable *t, void *list, size_t count, size_t size)
{
    if (count & (count - 1)) return list;
    void *grown = memory_try_grow(list, count ? 2 * count : 1, size, t->err);
    if (!grown) t->exhausted = true;
    return grown;
}

// Adds an element to one of a table's lists, unless memory has run out.
#define ADD(t, list, count, ...)                                               \
    do {                                                                       \
        void *grown_ = with_room(t, (t)->list, (t)->count, sizeof *(t)->list); \
        if (!grown_) break;                                                    \
        (t)->list = grown_;                                                    \
        (t)->list[(t)->count++] = __VA_ARGS__;                                 \
    } while (0)

// Reads the header's lists of files and directories. The program numbers them from 1; in the table's lists, this unit's
// entries begin at `first_file` and `first_directory`.
static void read_lists(struct linetable *t, struct cursor *c, size_t first_directory)
{
    while (!c->bad && !t->exhausted && c->at < c->end && *c->at) ADD(t, directories, directory_count, take_string(c));
    take(c, 1);
    while (!c->bad && !t->exhausted && c->at < c->end && *c->at) {
        const char *name = take_string(c);
        uint64_t directory = take_uleb(c);
        take_uleb(c);
        take_uleb(c);
        ADD(t, files, file_count,
            (struct file){name, (uint32_t)(directory ? first_directory + directory : 0)}); // numbered from 1
    }
    take(c, 1);
}

// Runs one unit's program. Rows that calls refer to are numbered within the unit.
static void read_unit(struct linetable *t, const struct elf_file *image, struct cursor *c, const uint8_t *start)
{
    size_t first_row = t->row_count, first_file = t->file_count, first_directory = t->directory_count;
    uint64_t version = take(c, 2), header_length = take(c, 4);
    if (header_length > (uint64_t)(c->end - c->at)) return;
    const uint8_t *program = c->at + header_length;
    uint64_t unit = take(c, 1);
    if (version >= 4) take(c, 1);
    take(c, 1);
    int64_t line_base = (int8_t)take(c, 1);
    uint64_t line_range = take(c, 1), opcode_base = take(c, 1);
    const uint8_t *lengths = c->at;
    for (uint64_t i = 1; i < opcode_base; i++) take(c, 1);
    if (c->bad || version < 2 || version > 4 || !line_range || !opcode_base) return;
    read_lists(t, c, first_directory);
    c->at = program;
    const struct line_row fresh = {.file = (uint32_t)first_file, .line = 1};
    struct line_row row = fresh;
    while (!c->bad && !t->exhausted && c->at < c->end) {
        uint64_t opcode = take(c, 1);
        if (opcode >= opcode_base) {
            row.address += (opcode - opcode_base) / line_range * unit;
            row.line = (uint32_t)(row.line + line_base + (int64_t)((opcode - opcode_base) % line_range));
            ADD(t, rows, row_count, row);
        } else if (!opcode) {
            uint64_t length = take_uleb(c);
            if (!length || length > (uint64_t)(c->end - c->at)) break;
            struct cursor e = {c->at, c->at + length, false};
            c->at += length;
            switch (take(&e, 1)) {
            case 1: // end of sequence
                row.end = true;
                ADD(t, rows, row_count, row);
                row = fresh;
                break;
            case 2: // set address
                row.section = relocated(image, (uint64_t)(e.at - start));
                row.address = take(&e, (size_t)length - 1 > 8 ? 8 : (size_t)length - 1);
                break;
            case 0x90: { // inlined call
                uint64_t call = take_uleb(&e);
                row.call = call && first_row + call <= t->row_count ? (uint32_t)(first_row + call) : 0;
                break;
            }
            default:
                break;
            }
        } else {
            switch (opcode) {
            case 1:
                ADD(t, rows, row_count, row);
                break;
            case 2:
                row.address += take_uleb(c) * unit;
                break;
            case 3:
                row.line = (uint32_t)(row.line + take_sleb(c));
                break;
            case 4: {
                uint64_t file = take_uleb(c);
                row.file = (uint32_t)(first_file + (file ? file - 1 : 0));
                break;
            }
            case 8:
                row.address += (255 - opcode_base) / line_range * unit;
                break;
            case 9:
                row.address += take(c, 2);
                break;
            default:
                for (uint8_t i = 0; i < lengths[opcode - 1]; i++) take_uleb(c);
            }
        }
    }
}

// The places of row number `row` (from 1) and of the calls that lead to it, innermost first; returns how many.
static size_t chain(const struct linetable *t, uint32_t row, struct source_place *places)
{
    size_t count = 0;
    while (row) {
        const struct line_row *r = &t->rows[row - 1];
        if (r->file >= t->file_count) break;
        const struct file *file = &t->files[r->file];
        const char *directory =
            file->directory && file->directory <= t->directory_count ? t->directories[file->directory - 1] : "";
        if (places) places[count] = (struct source_place){file->name, directory, r->line};
        count++;
        if (r->call >= row) break; // calls come first; anything else is not a chain
        row = r->call;
    }
    return count;
}

static const struct line_row *sorting; // qsort passes no context; there is only one thread

static int by_address(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct line_row *p = &sorting[x], *q = &sorting[y];
    if (p->address != q->address) return p->address < q->address ? -1 : 1;
    return x < y ? -1 : x > y; // if several rows have the same address, the last one applies
}

int linetable_read(struct linetable **out, const void *cubin, size_t size, const char *symbol, struct error *err)
{
    struct elf_file image;
    Elf64_Shdr text, table;
    *out = NULL;
    const char *wrong = elf_open(&image, cubin, size);
    if (wrong) return error_set(err, "a cubin is needed, but this file %s", wrong);
    uint32_t code = elf_find(&image, ".text.", symbol, &text);
    if (!code) return error_set(err, "the cubin has no kernel '%s'", symbol);
    const uint8_t *start = elf_find(&image, "", ".debug_line", &table) ? elf_bytes(&image, &table) : NULL;
    if (!start) return error_set(err, "the cubin has no line table: compile with -lineinfo");
    struct linetable *t = memory_try(1, sizeof *t, err);
    if (!t) return -1;
    t->err = err;
    t->section = code;
    t->code_bytes = text.sh_size;
    struct cursor all = {start, start + table.sh_size, false};
    while (!all.bad && !t->exhausted && all.at < all.end) {
        uint64_t length = take(&all, 4);
        if (length > (uint64_t)(all.end - all.at)) break; // also DWARF's 64-bit form, which cubins do not use
        struct cursor unit = {all.at, all.at + length, false};
        all.at += length;
        read_unit(t, &image, &unit, start);
    }
    if (!t->exhausted) t->sorted = memory_try(t->row_count, sizeof *t->sorted, err);
    if (!t->sorted) {
        linetable_free(t);
        return -1;
    }
    for (size_t i = 0; i < t->row_count; i++)
        if (t->rows[i].section == code && t->rows[i].file < t->file_count) t->sorted[t->sorted_count++] = (uint32_t)i;
    sorting = t->rows;
    qsort(t->sorted, t->sorted_count, sizeof *t->sorted, by_address);
    for (size_t i = 0; i < t->sorted_count; i++) {
        size_t depth = chain(t, t->sorted[i] + 1, NULL);
        if (depth > t->depth) t->depth = depth;
    }
    t->err = NULL;
    *out = t;
    return 0;
}

void linetable_free(struct linetable *t)
{
    if (!t) return;
    free(t->files);
    free(t->directories);
    free(t->rows);
    free(t->sorted);
    free(t);
}

size_t linetable_code_bytes(const struct linetable *t)
{
    return t->code_bytes;
}

size_t linetable_depth(const struct linetable *t)
{
    return t->depth;
}

size_t linetable_find(const struct linetable *t, uint64_t offset, struct source_place *places)
{
    size_t low = 0, high = t->sorted_count;
    while (low < high) { // the last row at or before the offset
        size_t middle = low + (high - low) / 2;
        if (t->rows[t->sorted[middle]].address <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || t->rows[t->sorted[low - 1]].end) return 0;
    return chain(t, t->sorted[low - 1] + 1, places);
}
