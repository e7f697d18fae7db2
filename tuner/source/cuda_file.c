// See cuda_file.h.
#include "tuner/source/cuda_file.h"

#include <limits.h>

enum { MAX_SCOPES = 64, MAX_CONDITIONS = 64 };

struct declaration_reader {
    struct cuda_file *file;
    const char *scopes[MAX_SCOPES]; // names of namespaces, or NULL
    size_t depth;
};

static const struct cuda_token *token(const struct cuda_file *f, size_t i)
{
    return &f->tokens.items[i];
}

static bool is(const struct cuda_file *f, size_t i, size_t end, const char *text)
{
    return i < end && cuda_token_is(token(f, i), text);
}

static bool is_name(const struct cuda_file *f, size_t i, size_t end)
{
    return i < end && token(f, i)->kind == CUDA_NAME;
}

// Preprocessor lines --------------------------------------------------------------------------------------------------

// Open conditions, by their indices in the file's list.
struct open_conditions {
    size_t depth, list[MAX_CONDITIONS];
};

static bool word_is(const struct cuda_tokens *words, size_t i, const char *text)
{
    return i < words->count && cuda_token_is(&words->items[i], text);
}

// The index of the guard's name among the line's words; 0: the line is not a guard.
static size_t guard_of(const struct cuda_tokens *w)
{
    bool negated = word_is(w, 0, "if") && word_is(w, 1, "!") && word_is(w, 2, "defined");
    if (word_is(w, 0, "ifndef") && w->count == 2) return 1;
    return negated && w->count == 4 ? 3 : negated && w->count == 6 && word_is(w, 3, "(") ? 4 : 0;
}

static void read_condition(struct cuda_file *f, struct open_conditions *open, const struct cuda_tokens *w, int line)
{
    bool other = word_is(w, 0, "else") || word_is(w, 0, "elif");
    size_t guard = guard_of(w);
    if ((other || word_is(w, 0, "endif")) && open->depth) f->conditions[open->list[--open->depth]].last = line;
    if (!other && !word_is(w, 0, "if") && !word_is(w, 0, "ifdef") && !word_is(w, 0, "ifndef")) return;
    if (open->depth < MAX_CONDITIONS) open->list[open->depth++] = f->condition_count;
    memory_add(f->conditions, f->condition_count) =
        (struct cuda_condition){guard ? cuda_token_copy(&f->memory, &w->items[guard]) : NULL, line, INT_MAX};
}

static void read_line_names(struct cuda_file *f, const struct cuda_tokens *w, int line)
{
    bool unroll = word_is(w, 0, "pragma") && word_is(w, 1, "unroll"), defines = word_is(w, 0, "define"),
         tested = word_is(w, 0, "if") || word_is(w, 0, "elif");
    bool header = word_is(w, 0, "include") && !(w->count > 1 && w->items[1].kind == CUDA_NAME);
    for (size_t i = unroll || defines || word_is(w, 0, "undef") ? 2 : 1; i < w->count && !header && !guard_of(w); i++) {
        const struct cuda_token *t = &w->items[i];
        tested &= !cuda_token_is(t, "defined"); // with `defined`, an undefined name has a meaning too
        if (t->kind != CUDA_NAME) continue;
        bool number = tested && word_is(w, i + 1, "==") && i + 2 < w->count && t[2].kind == CUDA_NUMBER;
        memory_add(f->line_names, f->line_name_count) = (struct cuda_line_name){
            .name = cuda_token_copy(&f->memory, t),
            .value = number ? cuda_token_copy(&f->memory, &t[2]) : NULL,
            .kind = unroll   ? NAME_UNROLL
                    : tested ? NAME_TESTED
                             : NAME_USED,
            .ordered = i + 1 < w->count && (*t[1].text == '<' || *t[1].text == '>'),
            .line = line,
        };
    }
}

static void read_line(struct cuda_file *f, struct open_conditions *open, const struct cuda_token *directive)
{
    autorelease(cuda_tokens_release) struct cuda_tokens w;
    cuda_tokens_line(&w, directive);
    for (size_t i = 0; i < w.count; i++) f->pastes |= word_is(&w, i, "##");
    read_condition(f, open, &w, directive->line);
    read_line_names(f, &w, directive->line);
    if (word_is(&w, 0, "define") && w.count > 1 && w.items[1].kind == CUDA_NAME)
        memory_add(f->macros, f->macro_count) = (struct cuda_macro){
            .name = cuda_token_copy(&f->memory, &w.items[1]),
            .value = cuda_token_text(&f->memory, &w.items[2], &w.items[w.count]),
            .function = word_is(&w, 2, "(") && w.items[2].text == w.items[1].text + w.items[1].length,
            .line = directive->line,
        };
}

// Removes the preprocessor lines from the tokens, as they would interfere with declarations.
static void read_lines(struct cuda_file *f)
{
    struct open_conditions open = {0};
    size_t kept = 0;
    for (size_t i = 0; i < f->tokens.count; i++)
        if (f->tokens.items[i].kind == CUDA_DIRECTIVE)
            read_line(f, &open, &f->tokens.items[i]);
        else
            f->tokens.items[kept++] = f->tokens.items[i];
    f->tokens.items[kept] = f->tokens.items[f->tokens.count]; // the end
    f->tokens.count = kept;
}

// Declarations --------------------------------------------------------------------------------------------------------

// The index after the > that closes the < at `open`.
static size_t close_angle(const struct cuda_file *f, size_t open, size_t end)
{
    int depth = 0;
    for (size_t i = open; i < end; i++) {
        if (is(f, i, end, "(") || is(f, i, end, "[") || is(f, i, end, "{")) {
            i = cuda_tokens_close(&f->tokens, i, end) - 1;
            continue;
        }
        depth += is(f, i, end, "<") - is(f, i, end, ">");
        if (!depth) return i + 1;
    }
    return end;
}

// The index of the next comma after `from` outside of all brackets, or `end`.
static size_t list_item_end(const struct cuda_file *f, size_t from, size_t end)
{
    bool value = false; // after =, where < is a comparison
    for (size_t i = from; i < end; i++) {
        if (is(f, i, end, ",")) return i;
        value |= is(f, i, end, "=");
        if (is(f, i, end, "(") || is(f, i, end, "[") || is(f, i, end, "{"))
            i = cuda_tokens_close(&f->tokens, i, end) - 1;
        else if (!value && is(f, i, end, "<"))
            i = close_angle(f, i, end) - 1;
    }
    return end;
}

static bool is_attribute(const struct cuda_file *f, size_t i)
{
    static const char *const words[] = {"alignas", "decltype", NULL};
    const struct cuda_token *t = token(f, i);
    return t->kind == CUDA_NAME && ((t->length > 2 && !memcmp(t->text, "__", 2)) || cuda_token_in(t, words));
}

static void read_template(struct cuda_file *f, struct cuda_kernel *k, size_t open, size_t end)
{
    for (size_t i = open + 1; i < end;) {
        size_t stop = list_item_end(f, i, end), value = stop;
        struct cuda_template_parameter p = {.line = token(f, i)->line};
        for (size_t j = i; j < stop; j++) {
            if (is(f, j, stop, "=")) {
                p.value = cuda_token_text(&f->memory, token(f, j + 1), token(f, stop));
                value = j;
                break;
            }
            p.is_pack |= is(f, j, stop, "...");
            p.is_bool |= is(f, j, stop, "bool");
        }
        p.is_type = is(f, i, stop, "typename") || is(f, i, stop, "class");
        p.name = "";
        for (size_t j = i + 1; j < value; j++)
            if (is_name(f, j, value)) p.name = cuda_token_copy(&f->memory, token(f, j));
        memory_add(k->templates, k->template_count) = p;
        i = stop + 1;
    }
}

static void read_argument(struct cuda_file *f, struct cuda_kernel *k, size_t begin, size_t end)
{
    static const char *const dropped[] = {"const",    "*",        "&",        "__restrict__",      "__restrict",
                                          "restrict", "volatile", "register", "__grid_constant__", "struct",
                                          "typename", NULL},
                             *const types[] = {"int",    "long",  "short",  "char", "unsigned",
                                               "signed", "float", "double", "bool", NULL};
    struct cuda_argument a = {.line = token(f, begin)->line};
    autorelease(text_release) struct text type = {0};
    size_t stop = begin, words = 0;
    while (stop < end && !is(f, stop, end, "=") && !is(f, stop, end, "[")) stop++;
    a.stars = is(f, stop, end, "[");
    // The name is the last word, unless this word is the only one or a part of the type.
    size_t last = stop;
    for (size_t i = begin; i < stop; i++) {
        if (is(f, i, stop, "<")) i = close_angle(f, i, stop) - 1;
        if (!is_name(f, i, stop) || cuda_token_in(token(f, i), dropped)) continue;
        words += i == begin || !is(f, i - 1, stop, "::");
        last = i;
    }
    bool named = words > 1 && !cuda_token_in(token(f, last), types);
    for (size_t i = begin; i < stop; i++) {
        const struct cuda_token *t = token(f, i);
        a.constant |= is(f, i, stop, "const") && !a.stars;
        a.reference |= is(f, i, stop, "&");
        a.stars += is(f, i, stop, "*");
        if ((named && i == last) || cuda_token_in(t, dropped)) continue;
        if (is_attribute(f, i) && is(f, i + 1, stop, "(")) {
            i = cuda_tokens_close(&f->tokens, i + 1, stop) - 1;
            continue;
        }
        bool apart = type.text && t->kind == CUDA_NAME && !is(f, i - 1, stop, "::") && !is(f, i - 1, stop, "<");
        text_add(&type, "%s%.*s", apart ? " " : "", (int)t->length, t->text);
    }
    a.type = arena_copy(&f->memory, type.text);
    a.name = named ? cuda_token_copy(&f->memory, token(f, last))
                   : arena_format(&f->memory, "argument_%zu", k->argument_count + 1);
    memory_add(k->arguments, k->argument_count) = a;
}

// The index of the ( after a function's name at i; `body` if there is none. The name may be an operator (`operator +`)
// or an explicit specialisation (`sum<int>`).
static size_t behind_name(const struct cuda_file *f, size_t i, size_t body)
{
    size_t after = i + 1;
    if (is(f, i, body, "operator"))
        for (after += is(f, after, body, "("); after < body && !is(f, after, body, "(");) after++;
    else if (is(f, after, body, "<"))
        after = close_angle(f, after, body);
    return is(f, after, body, "(") ? after : body;
}

// The index of the function's name, a word that is followed by ( and is not an attribute. `body` if there is none.
static size_t function_name(const struct cuda_file *f, size_t begin, size_t body)
{
    for (size_t i = begin; i < body; i++) {
        if (is(f, i, body, "template") && is(f, i + 1, body, "<")) {
            i = close_angle(f, i + 1, body) - 1;
        } else if (is_name(f, i, body) && behind_name(f, i, body) < body) {
            if (!is_attribute(f, i)) return i;
            i = cuda_tokens_close(&f->tokens, behind_name(f, i, body), body) - 1;
        } else if (is(f, i, body, "=")) {
            return body;
        }
    }
    return body;
}

static void read_kernel(struct declaration_reader *p, size_t begin, size_t body, size_t end, size_t name)
{
    struct cuda_file *f = p->file;
    struct cuda_kernel k = {.head = begin, .body = body, .end = end, .line = token(f, name)->line};
    k.name = cuda_token_copy(&f->memory, token(f, name));
    for (size_t i = p->depth; i-- > 0;)
        if (p->scopes[i]) k.name = arena_format(&f->memory, "%s::%s", p->scopes[i], k.name);
    for (size_t i = begin; i < name; i++) {
        if (is(f, i, name, "template") && is(f, i + 1, name, "<")) {
            size_t stop = close_angle(f, i + 1, name);
            read_template(f, &k, i + 1, stop - 1);
            i = stop - 1;
        }
    }
    size_t stop = cuda_tokens_close(&f->tokens, name + 1, body) - 1;
    bool none = stop == name + 2 || (stop == name + 3 && is(f, name + 2, stop, "void"));
    for (size_t i = name + 2; !none && i < stop;) {
        size_t next = list_item_end(f, i, stop);
        if (next > i) read_argument(f, &k, i, next);
        i = next + 1;
    }
    memory_add(f->kernels, f->kernel_count) = k;
}

static void add_constant(struct cuda_file *f, size_t name, const char *value)
{
    memory_add(f->constants, f->constant_count) = (struct cuda_macro){
        .name = cuda_token_copy(&f->memory, token(f, name)), .value = value, .line = token(f, name)->line};
}

// Reads a declaration that ends in ; or has a body: tokens [begin, end). `body` is its first { outside of brackets, or
// `end`.
static void read_declaration(struct declaration_reader *p, size_t begin, size_t body, size_t end)
{
    struct cuda_file *f = p->file;
    static const char *const devices[] = {"__device__", "__constant__", NULL},
                             *const constants[] = {"constexpr", "const", NULL},
                             *const records[] = {"struct", "class", "union", "enum", NULL};
    const struct cuda_range range = {begin, end};
    bool global = false, device = false, constant = false;
    for (size_t i = begin; i < body; i++) {
        global |= is(f, i, body, "__global__");
        device |= cuda_token_in(token(f, i), devices);
        constant |= cuda_token_in(token(f, i), constants);
    }
    if (is(f, begin, end, "typedef") && body == end && end > begin + 3)
        add_constant(f, end - 2, "");
    else if (is(f, begin, end, "using") && is(f, begin + 2, end, "="))
        add_constant(f, begin + 1, "");
    size_t name = function_name(f, begin, body);
    bool record = false;
    for (size_t i = begin; i < body && i < name; i++) record |= cuda_token_in(token(f, i), records);
    if (body < end && name < body) {
        // An explicit specialisation is launched by its template's name.
        if (global && is(f, name + 1, body, "(")) read_kernel(p, begin, body, end, name);
        // A template, or a function that the compiler may evaluate, is considered host code only if it launches a
        // kernel.
        bool evaluated = is(f, begin, end, "template"), launches = false;
        for (size_t i = begin; i < name; i++) evaluated |= is(f, i, name, "constexpr");
        for (size_t i = body; i < end; i++) launches |= is(f, i, end, "<<") && is(f, i + 1, end, "<");
        if (!global && !device && (!evaluated || launches))
            memory_add(f->host, f->host_count) = range;
        else
            memory_add(f->device, f->device_count) = range;
        return;
    }
    if (name == body || device || record) memory_add(f->device, f->device_count) = range;
    for (size_t i = begin; record && i < end; i++) {
        if (!is(f, i, end, "enum")) continue;
        while (i < end && !is(f, i, end, "{")) i++;
        for (; i < end && !is(f, i, end, "}"); i++)
            if (is_name(f, i, end) && (is(f, i - 1, end, "{") || is(f, i - 1, end, ","))) add_constant(f, i, "");
    }
    for (size_t i = begin; constant && i + 1 < end; i++)
        if (is_name(f, i, end) && is(f, i + 1, end, "="))
            add_constant(f, i,
                         cuda_token_text(&f->memory, token(f, i + 2), token(f, list_item_end(f, i + 2, end - 1))));
}

// The end of the declaration at `begin`; *body is its first {, or the end.
static size_t declaration_end(const struct cuda_file *f, size_t begin, size_t *body)
{
    size_t count = f->tokens.count, i = begin;
    *body = count;
    for (; i < count; i++) {
        if (is(f, i, count, ";")) {
            if (*body > i) *body = i + 1;
            return i + 1;
        }
        if (is(f, i, count, "{")) {
            bool first = *body == count;
            if (first) *body = i;
            size_t after = cuda_tokens_close(&f->tokens, i, count);
            if (first && function_name(f, begin, i) < i) return after;
            i = after - 1;
        } else if (is(f, i, count, "(") || is(f, i, count, "[")) {
            i = cuda_tokens_close(&f->tokens, i, count) - 1;
        }
    }
    return count;
}

static void read_declarations(struct declaration_reader *p)
{
    struct cuda_file *f = p->file;
    size_t count = f->tokens.count;
    for (size_t i = 0; i < count;) {
        if (token(f, i)->kind == CUDA_DIRECTIVE || is(f, i, count, ";")) {
            i++;
            continue;
        }
        if (is(f, i, count, "}")) {
            p->depth -= p->depth > 0;
            i++;
            continue;
        }
        size_t named = i + is(f, i, count, "inline");
        bool space = is(f, named, count, "namespace"), block = is(f, i, count, "extern") && is(f, i + 2, count, "{");
        size_t open = block ? i + 2 : named + 1;
        while (space && open < count && (is_name(f, open, count) || is(f, open, count, "::"))) open++;
        if ((space || block) && is(f, open, count, "{") && p->depth < MAX_SCOPES) {
            bool has_name = space && open > named + 1;
            p->scopes[p->depth++] = has_name ? cuda_token_text(&f->memory, token(f, named + 1), token(f, open)) : NULL;
            i = open + 1;
            continue;
        }
        size_t body, end = declaration_end(f, i, &body);
        read_declaration(p, i, body < end ? body : end, end);
        i = end;
    }
}

void cuda_file_init(struct cuda_file *f, char *source)
{
    *f = (struct cuda_file){.source = source};
    struct declaration_reader p = {.file = f};
    cuda_tokens_init(&f->tokens, source);
    read_lines(f);
    read_declarations(&p);
}

void cuda_file_release(struct cuda_file *f)
{
    for (size_t i = 0; i < f->kernel_count; i++) {
        free(f->kernels[i].templates);
        free(f->kernels[i].arguments);
    }
    arena_release(&f->memory);
    free(f->line_names);
    free(f->conditions);
    free(f->macros);
    free(f->constants);
    free(f->kernels);
    free(f->device);
    free(f->host);
    cuda_tokens_release(&f->tokens);
    free(f->source);
    *f = (struct cuda_file){0};
}

const struct cuda_token *cuda_file_next_kernel(const struct cuda_file *f, size_t *from, bool *is_template)
{
    size_t count = f->tokens.count;
    *is_template = false;
    for (size_t i = *from; i < count; i++) {
        *is_template |= is(f, i, count, "template");
        *is_template &= !is(f, i, count, ";") && !is(f, i, count, "{") && !is(f, i, count, "}");
        if (!is(f, i, count, "__global__")) continue;
        size_t end = i + 1;
        while (end < count && !is(f, end, count, ";") && !is(f, end, count, "{") && !is(f, end, count, "__global__"))
            end++;
        *from = function_name(f, i + 1, end);
        if (*from < end) return token(f, (*from)++);
    }
    return NULL;
}

bool cuda_file_guards(const struct cuda_file *f, const char *name, int line)
{
    for (size_t i = 0; i < f->condition_count; i++) {
        const struct cuda_condition *c = &f->conditions[i];
        if (c->guard && !strcmp(c->guard, name) && c->first <= line && line <= c->last) return true;
    }
    return false;
}

const struct cuda_kernel *cuda_file_find_kernel(const struct cuda_file *f, const char *name)
{
    for (size_t i = 0; i < f->kernel_count; i++) {
        const char *whole = f->kernels[i].name, *colon = strrchr(whole, ':');
        if (!strcmp(whole, name) || (colon && !strcmp(colon + 1, name))) return &f->kernels[i];
    }
    return NULL;
}

const struct cuda_macro *cuda_file_find_macro(const struct cuda_file *f, const char *name)
{
    for (size_t i = 0; i < f->macro_count; i++)
        if (!strcmp(f->macros[i].name, name)) return &f->macros[i];
    return NULL;
}

bool cuda_file_uses(const struct cuda_file *f, const char *name)
{
    if (cuda_file_find_macro(f, name)) return true;
    for (size_t i = 0; i < f->tokens.count; i++)
        if (token(f, i)->kind == CUDA_NAME && cuda_token_is(token(f, i), name)) return true;
    for (size_t i = 0; i < f->macro_count; i++)
        if (strstr(f->macros[i].value, name)) return true;
    return false;
}

// Whether the name at i is declared there: a type precedes it, such as another name, `float *`, or `vector<int>`.
static bool declared_at(const struct cuda_file *f, size_t i)
{
    static const char *const no_types[] = {"return", "case", "else", "sizeof", "goto", "new", NULL},
                             *const types[] = {"int",      "float",  "double", "char", "short", "long",
                                               "unsigned", "void",   "half",   "auto", "const", "__restrict__",
                                               "float4",   "size_t", "bool",   NULL};
    size_t count = f->tokens.count;
    if (!i) return false;
    while (i > 2 && is(f, i - 1, count, ",") && is_name(f, i - 2, count)) i -= 2; // `float a, b;`
    if (is_name(f, i - 1, count)) return !cuda_token_in(token(f, i - 1), no_types);
    size_t before = i;
    while (before && (is(f, before - 1, count, "*") || is(f, before - 1, count, "&"))) before--;
    return before < i && before && cuda_token_in(token(f, before - 1), types);
}

const struct cuda_token *cuda_file_next_declaration(const struct cuda_file *f, size_t *from, const char *name)
{
    while (*from < f->tokens.count) {
        const struct cuda_token *t = token(f, *from);
        size_t at = (*from)++;
        if (t->kind == CUDA_NAME && cuda_token_is(t, name) && declared_at(f, at)) return t;
    }
    return NULL;
}

bool cuda_file_declares(const struct cuda_file *f, const char *name)
{
    if (cuda_file_find_macro(f, name)) return true;
    for (size_t i = 0; i < f->constant_count; i++)
        if (!strcmp(f->constants[i].name, name)) return true;
    for (size_t i = 0; i < f->kernel_count; i++)
        for (size_t j = 0; j < f->kernels[i].argument_count; j++)
            if (!strcmp(f->kernels[i].arguments[j].name, name)) return true;
    return cuda_file_next_declaration(f, &(size_t){0}, name) != NULL;
}
