// See guess_parts.h: what can be tuned. These are macros that nobody defines, macros with a default behind #ifndef, and
// the parameters of a template. Values go by the default and by the usual names.
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/init/guess_parts.h"
#include "tuner/job/header_names.h"

// Names that headers define, which no job has to.
static bool of_headers(const char *name)
{
    static const char *const known[] = {
        "NULL",       "EOF",         "INFINITY",    "NAN",       "HUGE_VAL", "HUGE_VALF", "TRUE",     "FALSE",
        "RAND_MAX",   "M_PI",        "M_PI_2",      "M_PI_4",    "M_E",      "M_SQRT2",   "M_LN2",    "M_SQRT1_2",
        "M_2_SQRTPI", "M_LOG2E",     "INT_MAX",     "INT_MIN",   "UINT_MAX", "LONG_MAX",  "LONG_MIN", "ULONG_MAX",
        "LLONG_MAX",  "LLONG_MIN",   "ULLONG_MAX",  "FLT_MAX",   "FLT_MIN",  "DBL_MAX",   "DBL_MIN",  "CHAR_BIT",
        "CHAR_MAX",   "FLT_EPSILON", "DBL_EPSILON", "SIZE_MAX",  "FLT_DIG",  "DBL_DIG",   "SHRT_MAX", "SHRT_MIN",
        "USHRT_MAX",  "UCHAR_MAX",   "SCHAR_MAX",   "SCHAR_MIN", "CHAR_MIN",
    };
    static const char *const beginnings[] = {"CUDA",   "CUDART_", "CU_",     "INT8_",   "INT16_",  "INT32_",
                                             "INT64_", "UINT8_",  "UINT16_", "UINT32_", "UINT64_", "SWEETSPOT_"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i], name)) return true;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (!strncmp(beginnings[i], name, strlen(beginnings[i]))) return true;
    return false;
}

static bool in_capitals(const char *name)
{
    bool letter = false;
    for (const char *c = name; *c; c++) {
        if (islower((unsigned char)*c)) return false;
        letter |= isupper((unsigned char)*c) != 0;
    }
    // A name that ends in _ is mostly the first part of another one (GRID_##x).
    return letter && name[0] != '_' && name[1] && name[strlen(name) - 1] != '_';
}

// Kernel Tuner's names for sizes, which its users write in small letters.
static bool of_kernel_tuner(const char *name)
{
    static const char *const beginnings[] = {"block_size_", "tile_size_", "tile_stride_", "loop_unroll_factor_"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (!strncmp(beginnings[i], name, strlen(beginnings[i]))) return true;
    return false;
}

static bool has(const char *name, const char *part)
{
    return strcasestr(name, part) != NULL;
}

// Whether the kernel makes two indices of one by `threadIdx.x / name`.
static bool side_of_block(const struct guess *g, const char *name)
{
    if (!has(name, "BLOCK") && !has(name, "TILE") && !has(name, "SIZE")) return false;
    for (size_t i = g->kernel->body + 1; i < g->kernel->end; i++)
        if (guess_is(g, i, "threadIdx") && (guess_is(g, i + 3, "/") || guess_is(g, i + 3, "%")) &&
            guess_is(g, i + 4, name))
            return true;
    return false;
}

// Whether the name stands before a loop: it is a whole pragma, `UNROLL for (...)`.
static bool before_loop(const struct guess *g, const char *name)
{
    for (size_t i = g->kernel->body + 1; i < g->kernel->end; i++)
        if (guess_is(g, i, name) &&
            (guess_is(g, i + 1, "for") || guess_is(g, i + 1, "while") || guess_is(g, i + 1, "do")))
            return true;
    return false;
}

// A value of a macro or a template: a whole number, perhaps in brackets. False: something else.
static bool whole_number(const char *text, int64_t *value)
{
    char *end;
    while (*text == '(' || *text == ' ') text++;
    *value = strtoll(text, &end, 0);
    if (end == text) return false;
    end += strspn(end, "uUlL) ");
    return !*end;
}

// What #if says of a name.
struct tested {
    bool unroll, choice; // a #pragma unroll has it; #if asks whether it is something
    int64_t values[8];   // that it is compared with by ==
    size_t count;
};

static struct tested read_tests(const struct cuda_file *f, const char *name)
{
    struct tested t = {.count = 0};
    for (size_t i = 0; i < f->line_name_count; i++) {
        const struct cuda_line_name *n = &f->line_names[i];
        int64_t value;
        if (strcmp(n->name, name) != 0) continue;
        t.unroll |= n->unroll;
        t.choice |= !n->unroll && !n->ordered;
        if (!n->value || !whole_number(n->value, &value) || t.count == sizeof t.values / sizeof *t.values) continue;
        bool known = false;
        for (size_t k = 0; k < t.count; k++) known |= t.values[k] == value;
        if (!known) t.values[t.count++] = value;
    }
    return t;
}

// Values for a name without a default; malloc'ed.
static char *usual_values(const struct guess *g, const char *name, int64_t *first)
{
    struct tested tests = read_tests(g->file, name);
    bool unroll = has(name, "UNROLL") || tests.unroll;
    static const struct {
        const char *part, *values;
        int64_t first;
    } table[] = {
        {"_X", "[16, 32, 64]", 16},
        {"_Y", "[2, 4, 8, 16]", 2},
        {"_Z", "[1, 2, 4]", 1},
        {"BLOCK_ROWS", "[2, 4, 8]", 2},
        {"TILE", "[8, 16, 32]", 8},
        {"PER_THREAD", "[1, 2, 4, 8]", 1},
        {"ELEMENTS", "[1, 2, 4, 8]", 1},
        {"ITEMS", "[1, 2, 4, 8]", 1},
        {"COARSE", "[1, 2, 4, 8]", 1},
        {"VEC", "[1, 2, 4]", 1},
        {"WIDTH", "[1, 2, 4]", 1},
        {"WARPS", "[2, 4, 8, 16]", 2},
        {"THREADS", "[64, 128, 256, 512, 1024]", 64},
        {"BLOCK_SIZE", "[64, 128, 256, 512, 1024]", 64},
        {"BLOCKSIZE", "[64, 128, 256, 512, 1024]", 64},
        {"BLOCK_DIM", "[8, 16, 32]", 8},
        {"STAGES", "[2, 3, 4]", 2},
        {"PAD", "[0, 1]", 0},
        {"USE", "[0, 1]", 0},
        {"ENABLE", "[0, 1]", 0},
        {"BM", "[32, 64, 128]", 32},
        {"BN", "[32, 64, 128]", 32},
        {"BK", "[8, 16]", 8},
        {"TM", "[4, 8]", 4},
        {"TN", "[4, 8]", 4},
        {"BLOCK", "[64, 128, 256, 512]", 64},
        {"", "[1, 2, 4, 8]", 1},
    };
    *first = 0;
    if (before_loop(g, name)) return text_copy("[0, 1, 2, 4, 8]");
    *first = 1;
    if (unroll) return text_copy("[1, 2, 4, 8]");
    if (tests.count > 1) {
        char *text = NULL;
        *first = tests.values[0];
        for (size_t i = 0; i < tests.count; i++) guess_append(&text, "%s%" PRId64, i ? ", " : "[", tests.values[i]);
        guess_append(&text, "]");
        return text;
    }
    *first = 0;
    if (tests.choice && (!tests.count || tests.values[0] == 0 || tests.values[0] == 1)) return text_copy("[0, 1]");
    if (side_of_block(g, name)) {
        *first = 16;
        return text_copy("[16, 32]");
    }
    size_t i = 0;
    while (table[i].part[0] && !has(name, table[i].part)) i++;
    *first = table[i].first;
    return text_copy(table[i].values);
}

// Powers of two around a default: a quarter of it to four times as much; 0 and 1 are a choice.
static char *values_around(const char *name, int64_t value, int64_t *first)
{
    if (value <= 1 && value >= 0 && !has(name, "UNROLL") && !has(name, "VEC") && !has(name, "PER")) {
        *first = 0;
        return text_copy("[0, 1]");
    }
    char *text = NULL;
    *first = 0;
    for (int shift = -2; shift <= 2; shift++) {
        int64_t v = shift < 0 ? value >> -shift : value << shift;
        bool whole = shift >= 0 || v << -shift == value;
        if (v < 1 || !whole || (v > 1024 && shift > 0)) continue;
        if (!*first) *first = v;
        guess_append(&text, "%s%" PRId64, text ? ", " : "[", v);
    }
    guess_append(&text, "%s", text ? "]" : "[1]");
    return text;
}

static struct guess_parameter *add(struct guess *g, char *name, const char *source, char *values, int64_t first,
                                   char *why)
{
    g->parameters = memory_grow(g->parameters, g->parameter_count + 1, sizeof *g->parameters);
    struct guess_parameter *p = &g->parameters[g->parameter_count++];
    *p = (struct guess_parameter){name,  source ? text_copy(source) : NULL, values, why,
                                  first, source && before_loop(g, source)};
    return p;
}

// A name for a parameter that the source does not have, and that the job's header can have.
static char *free_name(const struct guess *g, const char *wanted)
{
    char *upper = header_upper(wanted), *name = text_copy(upper);
    for (int i = 0;; i++) {
        bool taken = cuda_file_uses(g->file, name) || header_macro_taken(name);
        for (size_t p = 0; p < g->parameter_count; p++) taken |= !strcmp(g->parameters[p].name, name);
        if (!taken) break;
        free(name);
        name = i ? text_format("TUNE_%s_%d", upper, i + 1) : text_format("TUNE_%s", upper);
    }
    free(upper);
    return name;
}

const char *guess_launch_parameter(struct guess *g, const char *wanted, const char *values, int64_t fixed)
{
    return add(g, free_name(g, wanted), NULL, text_copy(values), fixed, text_copy("threads of a block"))->name;
}

static void add_macro(struct guess *g, const char *name, char *values, int64_t first, char *why)
{
    if (header_macro_taken(name)) {
        guess_note(g, "%s could be tuned, but the job's header has a macro of that name: rename it in the source",
                   name);
        free(values);
        free(why);
        return;
    }
    add(g, text_copy(name), name, values, first, why);
}

// Adds a name that nobody defines: as a parameter, or (`other`: only another kernel uses it) as a macro that is fixed.
// `line`: a preprocessor's line has it, so that it is a macro in small letters too.
static void undefined_name(struct guess *g, const struct cuda_token *t, bool called, bool other, bool line)
{
    char *name = cuda_token_copy(t);
    bool macro = in_capitals(name) || of_kernel_tuner(name) || (line && name[0] != '_');
    bool known = !macro || of_headers(name) || guess_find_parameter(g, name) || cuda_file_declares(g->file, name);
    for (size_t i = 0; i < g->included_count && !known; i++) known = cuda_file_declares(&g->included[i], name);
    for (size_t i = 0; i < g->define_count && !known; i++) known = !strcmp(g->defines[i].name, name);
    int64_t first;
    if (!known && called) {
        guess_note(g, "fill in: line %d uses %s(), which the source does not define: kernel.defines or kernel.include",
                   t->line, name);
    } else if (!known && other) {
        free(usual_values(g, name, &first));
        g->defines = memory_grow(g->defines, g->define_count + 1, sizeof *g->defines);
        g->defines[g->define_count++] = (struct guess_parameter){.name = text_copy(name), .first = first};
    } else if (!known) {
        char *values = usual_values(g, name, &first);
        add_macro(g, name, values, first, text_copy("the source does not define it"));
    }
    free(name);
}

static void undefined_names(struct guess *g, const struct cuda_token *first, size_t count, int line, bool other)
{
    for (size_t i = 0; i < count; i++) {
        struct cuda_token t = first[i];
        bool member = i && (cuda_token_is(&first[i - 1], "::") || cuda_token_is(&first[i - 1], ".") ||
                            cuda_token_is(&first[i - 1], "->"));
        bool scope = i + 1 < count && cuda_token_is(&first[i + 1], "::");
        if (line) t.line = line;
        if (t.kind == CUDA_NAME && !member && !scope)
            undefined_name(g, &t, i + 1 < count && cuda_token_is(&first[i + 1], "("), other, false);
    }
}

// One of the same name is the same kernel, under another `#if`.
static bool of_another_kernel(const struct guess *g, const struct cuda_range *range)
{
    const struct cuda_file *f = g->file;
    for (size_t k = 0; k < f->kernel_count; k++)
        if (f->kernels[k].head == range->begin && strcmp(f->kernels[k].name, g->kernel->name) != 0) return true;
    return false;
}

static void undefined(struct guess *g)
{
    const struct cuda_file *f = g->file;
    for (int other = 0; other < 2; other++)
        for (size_t d = 0; d < f->device_count; d++)
            if (of_another_kernel(g, &f->device[d]) == other)
                undefined_names(g, f->tokens.items + f->device[d].begin, f->device[d].end - f->device[d].begin, 0,
                                other);
    for (size_t i = 0; i < f->macro_count; i++) {
        struct cuda_tokens words;
        if (f->macros[i].function) continue; // its arguments are names too
        cuda_tokens_init(&words, f->macros[i].value);
        undefined_names(g, words.items, words.count, f->macros[i].line, false);
        cuda_tokens_release(&words);
    }
    for (size_t i = 0; i < f->line_name_count; i++) {
        const char *name = f->line_names[i].name;
        struct cuda_token t = {CUDA_NAME, f->line_names[i].line, strlen(name), name};
        undefined_name(g, &t, false, false, true);
    }
}

// Whether anything but another kernel has the macro's name.
static bool used(const struct guess *g, const char *name)
{
    const struct cuda_file *f = g->file;
    for (size_t d = 0; d < f->device_count; d++)
        for (size_t t = f->device[d].begin; t < f->device[d].end && !of_another_kernel(g, &f->device[d]); t++)
            if (cuda_token_is(&f->tokens.items[t], name)) return true;
    for (size_t i = 0; i < f->macro_count; i++)
        if (strstr(f->macros[i].value, name)) return true;
    for (size_t i = 0; i < f->line_name_count; i++)
        if (!strcmp(f->line_names[i].name, name)) return true;
    return false;
}

static void defaults(struct guess *g)
{
    for (size_t i = 0; i < g->file->macro_count; i++) {
        const struct cuda_macro *m = &g->file->macros[i];
        int64_t value, first;
        if (m->function || guess_find_parameter(g, m->name) || !used(g, m->name) || of_headers(m->name)) continue;
        if (!whole_number(m->value, &value)) {
            if (m->guarded && m->value[0])
                guess_note(g,
                           "%s is '%s' by default (line %d); to tune it, make it a parameter with such words as values",
                           m->name, m->value, m->line);
            continue;
        }
        if (!m->guarded) {
            if (in_capitals(m->name))
                guess_note(g, "%s is defined in line %d; to tune it, put `#ifndef %s` and `#endif` around that line",
                           m->name, m->line, m->name);
            continue;
        }
        char *values = values_around(m->name, value, &first);
        add_macro(g, m->name, values, first, text_format("the source's default is %s", m->value));
    }
}

// The template's parameters, and the entry that names them.
static void templates(struct guess *g)
{
    const struct cuda_kernel *k = g->kernel;
    if (!k->template_count) {
        g->entry = text_copy(k->name);
        return;
    }
    char *entry = text_format("%s<", k->name);
    for (size_t i = 0; i < k->template_count; i++) {
        const struct cuda_template_parameter *t = &k->templates[i];
        const char *comma = i ? ", " : "";
        if (t->is_pack) {
            guess_note(g, "fill in: the entry's values for the template's '%s'", t->name);
            break;
        }
        if (t->is_type) {
            const char *type = t->value ? t->value : "float";
            guess_append(&entry, "%s%s", comma, type);
            if (!t->value) guess_note(g, "guess: the template's type %s is %s in kernel.entry", t->name, type);
            continue;
        }
        int64_t value, first;
        char *values;
        if (t->is_bool) {
            values = text_copy("[0, 1]");
            first = 0;
        } else if (t->value && whole_number(t->value, &value)) {
            values = values_around(t->name, value, &first);
        } else {
            values = usual_values(g, t->name, &first);
        }
        char *wanted = t->name[0] ? text_format("TUNE_%s", t->name) : text_format("TUNE_%zu", i + 1),
             *name = free_name(g, wanted);
        free(wanted);
        guess_append(&entry, "%s%s", comma, name);
        add(g, name, t->name, values, first, text_format("the template's %s", t->name));
    }
    guess_append(&entry, ">");
    g->entry = entry;
}

void guess_parameters(struct guess *g)
{
    templates(g);
    defaults(g);
    undefined(g);
}
