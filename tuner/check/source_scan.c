// See source_scan.h.
#include "tuner/check/source_scan.h"

#include <unistd.h>

#include "tuner/base/base.h"
#include "tuner/source/cuda_tokens.h"

enum { DEPTH_MOST = 64 };

struct scanner {
    struct source_scan *scan;
    char *const *include;
    size_t include_count;
    const char *file; // the scan's own copy of its path; NULL: a text
    struct cuda_reader reader;
    size_t depth;
    // Of each #if that is open: the name of #ifndef NAME, or of #if !defined(NAME); NULL: another condition.
    char *guards[DEPTH_MOST];
};

static bool is(const struct cuda_token *t, const char *text)
{
    return cuda_token_is(t, text);
}

static struct source_word word_of(const struct scanner *s, const struct cuda_token *t)
{
    return (struct source_word){s->file, cuda_token_copy(t), t->line};
}

static void add_use(struct scanner *s, const struct cuda_token *t)
{
    struct source_scan *scan = s->scan;
    if ((scan->word_count & (scan->word_count - 1)) == 0)
        scan->words = memory_grow(scan->words, scan->word_count ? 2 * scan->word_count : 1, sizeof *scan->words);
    scan->words[scan->word_count++] = word_of(s, t);
}

static bool guarded(const struct scanner *s, const struct cuda_token *name)
{
    for (size_t i = 0; i < s->depth; i++)
        if (s->guards[i] && cuda_token_is(name, s->guards[i])) return true;
    return false;
}

static void add_macro(struct scanner *s, const struct cuda_token *t)
{
    struct source_scan *scan = s->scan;
    struct source_macro m = {.at = word_of(s, t)};
    struct text guards = {0};
    text_add(&guards, " ");
    for (size_t i = 0; i < s->depth; i++) {
        m.conditional |= !s->guards[i];
        if (s->guards[i]) text_add(&guards, "%s ", s->guards[i]);
    }
    m.guards = guards.text;
    memory_add(scan->macros, scan->macro_count) = m;
}

static void scan_path(struct scanner *s, const char *path);

static void open_include(struct scanner *s, const struct cuda_token *t, const char *name)
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
    } else if (*t->text == '"' && !s->scan->missing.line) {
        s->scan->missing = (struct source_word){s->file, text_copy(name), t->line};
    }
    free(path);
}

// The next token, which may end the line of a directive.
static struct cuda_token next_token(struct scanner *s)
{
    struct cuda_token t = cuda_next(&s->reader);
    s->scan->pastes |= cuda_token_is(&t, "##");
    return t;
}

// #include "x", <x> or a macro's name.
static void read_include(struct scanner *s)
{
    struct cuda_token t = cuda_next_header(&s->reader);
    if (t.kind == CUDA_TEXT) {
        char *quoted = cuda_token_copy(&t), *name = text_format("%.*s", (int)strlen(quoted) - 2, quoted + 1);
        open_include(s, &t, name);
        free(name);
        free(quoted);
        return;
    }
    struct cuda_reader ahead = s->reader;
    t = cuda_next(&ahead);
    if (t.kind == CUDA_NAME && !s->scan->missing.line) s->scan->missing = word_of(s, &t);
}

// #ifndef NAME, or #if !defined(NAME) and nothing else: the name of the guard. NULL: another condition.
static char *read_guard(const struct scanner *s, bool ifndef)
{
    static const char *const forms[][5] = {{""}, {"!", "defined", ""}, {"!", "defined", "(", "", ")"}};
    for (size_t form = ifndef ? 0 : 1; form < (ifndef ? 1 : 3); form++) {
        struct cuda_reader ahead = s->reader;
        struct cuda_token name = {0}, t;
        bool fits = true;
        for (size_t i = 0; i < 5 && forms[form][i] && fits; i++) {
            t = cuda_next(&ahead);
            if (!*forms[form][i]) name = t;
            fits = *forms[form][i] ? is(&t, forms[form][i]) : t.kind == CUDA_NAME;
        }
        if (fits && cuda_next(&ahead).kind == CUDA_LINE_END) return cuda_token_copy(&name);
    }
    return NULL;
}

static void push(struct scanner *s, char *guard)
{
    if (s->depth == DEPTH_MOST)
        free(guard);
    else
        s->guards[s->depth++] = guard;
}

static void pop(struct scanner *s)
{
    if (s->depth) free(s->guards[--s->depth]);
}

// Behind the sign of a directive. The names on its line are uses, but that of a guard and that which is defined.
static void read_directive(struct scanner *s)
{
    struct cuda_token t = next_token(s);
    bool guard = false;
    if (is(&t, "else") || is(&t, "elif") || is(&t, "endif")) pop(s);
    if (is(&t, "else") || is(&t, "elif")) push(s, NULL);
    if (is(&t, "ifndef") || is(&t, "if") || is(&t, "ifdef")) {
        char *name = is(&t, "ifdef") ? NULL : read_guard(s, is(&t, "ifndef"));
        guard = name != NULL;
        push(s, name);
    } else if (is(&t, "include")) {
        read_include(s);
    } else if (is(&t, "define") || is(&t, "undef")) {
        bool define = is(&t, "define");
        t = next_token(s);
        if (define && t.kind == CUDA_NAME) add_macro(s, &t);
    }
    while (t.kind != CUDA_LINE_END) {
        t = next_token(s);
        if (t.kind == CUDA_NAME && !guard) add_use(s, &t);
    }
}

static bool is_type_word(const struct cuda_token *t)
{
    static const char *const words[] = {"int",     "unsigned", "long",    "short",    "char",    "float",   "double",
                                        "size_t",  "bool",     "auto",    "int8_t",   "uint8_t", "int16_t", "uint16_t",
                                        "int32_t", "uint32_t", "int64_t", "uint64_t", "half",    "__half",  "float2",
                                        "float4",  "typename", "class",   NULL};
    for (size_t i = 0; words[i]; i++)
        if (is(t, words[i])) return true;
    return false;
}

// A kernel's head as it is read: __global__ [attributes(...)] void [attributes(...)] name (
struct head {
    bool open;
    int depth; // of parentheses
    struct cuda_token last;
};

static void follow_head(struct scanner *s, struct head *h, const struct cuda_token *t, bool is_template)
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
        bool attribute = h->depth > 0 || h->last.kind != CUDA_NAME;
        for (size_t i = 0; attributes[i]; i++) attribute |= is(&h->last, attributes[i]);
        if (!attribute) {
            struct source_scan *scan = s->scan;
            memory_add(scan->kernels, scan->kernel_count) =
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
    struct cuda_token name;
};

static void follow_declaration(struct scanner *s, struct declaration *d, const struct cuda_token *t)
{
    bool between = is(t, "*") || is(t, "&") || is(t, "const") || is(t, "__restrict__");
    bool ends = t->length == 1 && strchr(",)=;[>", *t->text);
    if (is_type_word(t)) {
        d->state = TYPE_SEEN;
    } else if (d->state == TYPE_SEEN && between) {
    } else if (d->state == TYPE_SEEN && t->kind == CUDA_NAME) {
        d->state = NAME_SEEN;
        d->name = *t;
    } else {
        struct source_scan *scan = s->scan;
        if (d->state == NAME_SEEN && ends && !guarded(s, &d->name)) {
            memory_add(scan->declarations, scan->declaration_count) = word_of(s, &d->name);
        }
        d->state = NO_DECLARATION;
    }
}

static void scan_tokens(struct scanner *s, const char *text)
{
    struct declaration declaration = {0};
    struct head head = {0};
    bool is_template = false;
    s->reader = cuda_reader_of(text);
    s->reader.fresh = s->file != NULL; // a word of a job has no directives
    for (struct cuda_token t = next_token(s); t.kind != CUDA_END; t = next_token(s)) {
        if (t.kind == CUDA_SIGN) {
            read_directive(s);
            continue;
        }
        if (t.kind == CUDA_NAME) add_use(s, &t);
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
    s->file = memory_add(s->scan->files, s->scan->file_count) = text_copy(path);
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
