// See source_scan.h.
#include "tuner/check/source_scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"

enum { DEPTH_MOST = 64 };

// An #if that is open.
struct condition {
    char *guard; // the name of #ifndef NAME, or of #if !defined(NAME); NULL: another condition
};

struct scanner {
    struct source_scan *scan;
    char *const *include;
    size_t include_count;
    const char *file; // the scan's own copy of its path; NULL: a text
    int line;
    size_t depth;
    struct condition open[DEPTH_MOST];
};

struct token {
    const char *at;
    size_t length;
    int line;
    enum { TOKEN_END, TOKEN_NAME, TOKEN_OTHER, TOKEN_LINE_END } kind;
};

// The next token within `p`. A directive ends with its line (TOKEN_LINE_END), where `directive` is set.
static const char *next_token(struct scanner *s, const char *p, bool directive, struct token *t)
{
    for (;;) {
        if (p[0] == '\\' && p[1] == '\n') {
            s->line++;
            p += 2;
        } else if (p[0] == '\\' && p[1] == '\r' && p[2] == '\n') {
            s->line++;
            p += 3;
        } else if (*p == '\n' && directive) {
            *t = (struct token){.at = p, .length = 1, .line = s->line, .kind = TOKEN_LINE_END};
            return p; // whoever reads on counts it
        } else if (isspace((unsigned char)*p)) {
            s->line += *p++ == '\n';
        } else if (p[0] == '/' && p[1] == '/') {
            while (*p && *p != '\n') {
                if (p[0] == '\\' && p[1] == '\n') {
                    s->line++;
                    p++;
                }
                p++;
            }
        } else if (p[0] == '/' && p[1] == '*') {
            for (p += 2; *p && !(p[0] == '*' && p[1] == '/'); p++) s->line += *p == '\n';
            if (*p) p += 2;
        } else {
            break;
        }
    }
    *t = (struct token){.at = p, .line = s->line, .kind = *p ? TOKEN_OTHER : TOKEN_END};
    if (!*p) return p;
    if (isalpha((unsigned char)*p) || *p == '_') {
        while (isalnum((unsigned char)*p) || *p == '_') p++;
        t->kind = TOKEN_NAME;
    } else if (isdigit((unsigned char)*p)) { // 1e5f, 0x1F, 1'000
        while (isalnum((unsigned char)*p) || *p == '_' || *p == '.' || (*p == '\'' && isalnum((unsigned char)p[1])))
            p++;
    } else if (*p == '"' || *p == '\'') {
        char quote = *p++;
        while (*p && *p != quote && *p != '\n') p += *p == '\\' && p[1] ? 2 : 1;
        p += *p == quote;
    } else if (p[0] == '#' && p[1] == '#') {
        p += 2;
        s->scan->pastes = true;
    } else {
        p++;
    }
    t->length = (size_t)(p - t->at);
    return p;
}

static bool is(const struct token *t, const char *text)
{
    return t->length == strlen(text) && !memcmp(t->at, text, t->length);
}

static struct source_word word_of(const struct scanner *s, const struct token *t)
{
    return (struct source_word){s->file, text_format("%.*s", (int)t->length, t->at), t->line};
}

static void add_use(struct scanner *s, const struct token *t)
{
    struct source_scan *scan = s->scan;
    if ((scan->word_count & (scan->word_count - 1)) == 0)
        scan->words = memory_grow(scan->words, scan->word_count ? 2 * scan->word_count : 1, sizeof *scan->words);
    scan->words[scan->word_count++] = word_of(s, t);
}

static bool guarded(const struct scanner *s, const char *name, size_t length)
{
    for (size_t i = 0; i < s->depth; i++)
        if (s->open[i].guard && strlen(s->open[i].guard) == length && !memcmp(s->open[i].guard, name, length))
            return true;
    return false;
}

static void add_macro(struct scanner *s, const struct token *t)
{
    struct source_scan *scan = s->scan;
    struct source_macro m = {.at = word_of(s, t), .guards = text_copy(" ")};
    for (size_t i = 0; i < s->depth; i++) {
        m.conditional |= !s->open[i].guard;
        if (!s->open[i].guard) continue;
        char *longer = text_format("%s%s ", m.guards, s->open[i].guard);
        free(m.guards);
        m.guards = longer;
    }
    scan->macros = memory_grow(scan->macros, scan->macro_count + 1, sizeof *scan->macros);
    scan->macros[scan->macro_count++] = m;
}

static void scan_path(struct scanner *s, const char *path);

static void open_include(struct scanner *s, const struct token *t, const char *name)
{
    char *folder = text_directory(s->file ? s->file : "."), *path = text_join_path(folder, name);
    free(folder);
    for (size_t i = 0; access(path, R_OK); i++) {
        free(path);
        path = NULL;
        if (i == s->include_count) break;
        path = text_join_path(s->include[i], name);
    }
    if (path) {
        struct scanner inner = {.scan = s->scan, .include = s->include, .include_count = s->include_count};
        scan_path(&inner, path);
    } else if (*t->at == '"' && !s->scan->missing.line) {
        s->scan->missing = (struct source_word){s->file, text_copy(name), t->line};
    }
    free(path);
}

// #include "x", <x> or a macro's name.
static const char *read_include(struct scanner *s, const char *p)
{
    struct token t;
    p = next_token(s, p, true, &t);
    if (t.kind == TOKEN_NAME) {
        add_use(s, &t);
        if (!s->scan->missing.line) s->scan->missing = word_of(s, &t);
    } else if (t.kind == TOKEN_OTHER && (*t.at == '"' || *t.at == '<')) {
        size_t length = strcspn(t.at + 1, *t.at == '"' ? "\"\n" : ">\n");
        char *name = text_format("%.*s", (int)length, t.at + 1);
        open_include(s, &t, name);
        free(name);
        p = t.at + 1 + length;
        p += *p && *p != '\n';
    }
    return p;
}

// #ifndef NAME, or #if !defined(NAME) and nothing else: the name of the guard. NULL: another condition; uses are added.
static char *read_condition(struct scanner *s, const char **p, bool ifndef)
{
    struct token t[6] = {0};
    size_t count = 0;
    for (;;) {
        struct token next;
        *p = next_token(s, *p, true, &next);
        if (next.kind == TOKEN_END || next.kind == TOKEN_LINE_END) break;
        if (count < 6) t[count] = next;
        count++;
        if (count > 6 && next.kind == TOKEN_NAME) add_use(s, &next);
    }
    const struct token *name = NULL;
    if (ifndef && count == 1)
        name = &t[0];
    else if (!ifndef && count == 3 && is(&t[0], "!") && is(&t[1], "defined"))
        name = &t[2];
    else if (!ifndef && count == 5 && is(&t[0], "!") && is(&t[1], "defined") && is(&t[2], "("))
        name = &t[3];
    if (name && name->kind == TOKEN_NAME) return text_format("%.*s", (int)name->length, name->at);
    for (size_t i = 0; i < count && i < 6; i++)
        if (t[i].kind == TOKEN_NAME) add_use(s, &t[i]);
    return NULL;
}

static void push(struct scanner *s, char *guard)
{
    if (s->depth == DEPTH_MOST)
        free(guard);
    else
        s->open[s->depth++].guard = guard;
}

static void pop(struct scanner *s)
{
    if (s->depth) free(s->open[--s->depth].guard);
}

// Behind a '#' at the beginning of a line.
static const char *read_directive(struct scanner *s, const char *p)
{
    struct token t;
    p = next_token(s, p, true, &t);
    if (is(&t, "include")) {
        p = read_include(s, p);
    } else if (is(&t, "ifndef")) {
        push(s, read_condition(s, &p, true));
    } else if (is(&t, "if")) {
        push(s, read_condition(s, &p, false));
    } else if (is(&t, "ifdef")) {
        push(s, NULL);
    } else if (is(&t, "else") || is(&t, "elif")) {
        pop(s);
        push(s, NULL);
    } else if (is(&t, "endif")) {
        pop(s);
    } else if (is(&t, "define")) {
        p = next_token(s, p, true, &t);
        if (t.kind == TOKEN_NAME) add_macro(s, &t);
    } else if (is(&t, "undef")) {
        p = next_token(s, p, true, &t);
    }
    while (t.kind != TOKEN_END && t.kind != TOKEN_LINE_END) {
        p = next_token(s, p, true, &t);
        if (t.kind == TOKEN_NAME) add_use(s, &t);
    }
    return p;
}

static bool is_type_word(const struct token *t)
{
    static const char *const words[] = {"int",     "unsigned", "long",    "short",    "char",    "float",   "double",
                                        "size_t",  "bool",     "auto",    "int8_t",   "uint8_t", "int16_t", "uint16_t",
                                        "int32_t", "uint32_t", "int64_t", "uint64_t", "half",    "__half",  "float2",
                                        "float4",  "typename", "class",   NULL};
    for (size_t i = 0; words[i]; i++)
        if (is(t, words[i])) return true;
    return false;
}

// What is read of a kernel's head: __global__ [attributes(...)] void [attributes(...)] name (
struct head {
    bool open;
    int depth; // of parentheses
    struct token last;
};

static void follow_head(struct scanner *s, struct head *h, const struct token *t, bool is_template)
{
    static const char *const attributes[] = {
        "__launch_bounds__", "__cluster_dims__", "__attribute__",     "__maxnreg__",
        "alignas",           "__block_size__",   "__grid_constant__", NULL};
    if (is(t, "__global__")) {
        *h = (struct head){.open = true};
        return;
    }
    if (!h->open) return;
    if (is(t, "(")) {
        bool attribute = h->depth > 0 || h->last.kind != TOKEN_NAME;
        for (size_t i = 0; attributes[i]; i++) attribute |= is(&h->last, attributes[i]);
        if (!attribute) {
            struct source_scan *scan = s->scan;
            scan->kernels = memory_grow(scan->kernels, scan->kernel_count + 1, sizeof *scan->kernels);
            scan->kernels[scan->kernel_count++] =
                (struct source_kernel){.at = word_of(s, &h->last), .is_template = is_template};
            h->open = false;
            return;
        }
        h->depth++;
    } else if (is(t, ")")) {
        h->depth--;
    } else if (is(t, ";") || is(t, "{")) {
        h->open = false;
    } else if (!h->depth) {
        h->last = *t;
    }
}

// Follows "int NAME," or "const float *__restrict__ NAME)".
struct declaration {
    enum { NO_DECLARATION, TYPE_SEEN, NAME_SEEN } state;
    struct token name;
};

static void follow_declaration(struct scanner *s, struct declaration *d, const struct token *t)
{
    bool between = is(t, "*") || is(t, "&") || is(t, "const") || is(t, "__restrict__");
    bool ends = t->length == 1 && strchr(",)=;[>", *t->at);
    if (is_type_word(t)) {
        d->state = TYPE_SEEN;
    } else if (d->state == TYPE_SEEN && between) {
    } else if (d->state == TYPE_SEEN && t->kind == TOKEN_NAME) {
        d->state = NAME_SEEN;
        d->name = *t;
    } else {
        struct source_scan *scan = s->scan;
        if (d->state == NAME_SEEN && ends && !guarded(s, d->name.at, d->name.length)) {
            scan->declarations =
                memory_grow(scan->declarations, scan->declaration_count + 1, sizeof *scan->declarations);
            scan->declarations[scan->declaration_count++] = word_of(s, &d->name);
        }
        d->state = NO_DECLARATION;
    }
}

static void scan_tokens(struct scanner *s, const char *p)
{
    struct declaration declaration = {0};
    struct head head = {0};
    struct token t;
    bool is_template = false;
    int line = 0; // of the token before
    s->line = 1;
    for (p = next_token(s, p, false, &t); t.kind != TOKEN_END; p = next_token(s, p, false, &t)) {
        if (s->file && t.line != line && is(&t, "#")) {
            p = read_directive(s, p);
            continue;
        }
        line = t.line;
        if (t.kind == TOKEN_NAME) add_use(s, &t);
        if (is(&t, "template")) is_template = true;
        if (is(&t, ";") || is(&t, "}") || is(&t, "{")) is_template = false;
        follow_declaration(s, &declaration, &t);
        follow_head(s, &head, &t, is_template);
    }
    while (s->depth) pop(s);
}

static void scan_path(struct scanner *s, const char *path)
{
    for (size_t i = 0; i < s->scan->file_count; i++)
        if (!strcmp(s->scan->files[i], path)) return;
    char *text = text_read_file(path, NULL);
    if (!text) return;
    s->scan->files = memory_grow(s->scan->files, s->scan->file_count + 1, sizeof *s->scan->files);
    s->file = s->scan->files[s->scan->file_count++] = text_copy(path);
    scan_tokens(s, text);
    free(text);
}

void source_scan_file(struct source_scan *scan, const char *path, char *const *include, size_t include_count)
{
    struct scanner s = {.scan = scan, .include = include, .include_count = include_count};
    scan_path(&s, path);
}

void source_scan_text(struct source_scan *scan, const char *text)
{
    struct scanner s = {.scan = scan};
    scan_tokens(&s, text);
}

// By name; where it stands in a file comes first.
static int by_name(const void *a, const void *b)
{
    const struct source_word *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->file == NULL) - (y->file == NULL);
}

void source_scan_finish(struct source_scan *scan)
{
    if (scan->word_count) qsort(scan->words, scan->word_count, sizeof *scan->words, by_name);
    size_t kept = 0;
    for (size_t i = 0; i < scan->word_count; i++) {
        if (kept && !strcmp(scan->words[kept - 1].name, scan->words[i].name))
            free(scan->words[i].name);
        else
            scan->words[kept++] = scan->words[i];
    }
    scan->word_count = kept;
}

static void free_word(struct source_word *w)
{
    free(w->name);
}

void source_scan_release(struct source_scan *scan)
{
    for (size_t i = 0; i < scan->word_count; i++) free_word(&scan->words[i]);
    for (size_t i = 0; i < scan->declaration_count; i++) free_word(&scan->declarations[i]);
    for (size_t i = 0; i < scan->kernel_count; i++) free_word(&scan->kernels[i].at);
    for (size_t i = 0; i < scan->macro_count; i++) {
        free_word(&scan->macros[i].at);
        free(scan->macros[i].guards);
    }
    for (size_t i = 0; i < scan->file_count; i++) free(scan->files[i]);
    free_word(&scan->missing);
    free(scan->words);
    free(scan->declarations);
    free(scan->kernels);
    free(scan->macros);
    free(scan->files);
    *scan = (struct source_scan){0};
}

static int compare_name(const void *name, const void *word)
{
    return strcmp(name, ((const struct source_word *)word)->name);
}

const struct source_word *source_scan_uses(const struct source_scan *scan, const char *name)
{
    if (!scan->word_count) return NULL;
    return bsearch(name, scan->words, scan->word_count, sizeof *scan->words, compare_name);
}
