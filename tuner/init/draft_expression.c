// See draft_parts.h: words of the source, notes, and expressions of the source in the syntax of a job file. A name in
// an expression is a size, a parameter, or a constant. A constant is a macro, a const in the file, or a host variable
// that is set once. Calls to macros are expanded, and so are calls to functions that consist of one `return`.
#include <ctype.h>

#include "search/space/expr.h"
#include "tuner/init/draft_parts.h"

// Words and notes -----------------------------------------------------------------------------------------------------

const struct cuda_token *draft_token(const struct job_draft *d, size_t i)
{
    return &d->file->tokens.items[i];
}

char *draft_copy(const struct job_draft *d, const struct cuda_token *t)
{
    return cuda_token_copy(d->memory, t);
}

char *draft_range(const struct job_draft *d, struct cuda_range r)
{
    return cuda_token_text(d->memory, draft_token(d, r.begin), draft_token(d, r.end));
}

bool draft_is(const struct job_draft *d, size_t i, const char *text)
{
    return i < d->file->tokens.count && cuda_token_is(draft_token(d, i), text);
}

static bool is_name(const struct job_draft *d, size_t i)
{
    return i < d->file->tokens.count && draft_token(d, i)->kind == CUDA_NAME;
}

const struct draft_parameter *draft_find_parameter(const struct job_draft *d, const char *source)
{
    for (size_t i = 0; i < d->parameter_count; i++)
        if (!strcmp(d->parameters[i].source, source)) return &d->parameters[i];
    return NULL;
}

void draft_note(struct job_draft *d, const char *format, ...)
{
    TEXT_FROM(format, text);
    const char *note = arena_copy(d->memory, text);
    for (size_t i = 0; i < d->note_count; i++)
        if (!strcmp(d->notes[i], note)) return;
    memory_add(d->notes, d->note_count) = note;
}

bool draft_plain_name(const char *name)
{
    if (!isalpha((unsigned char)*name)) return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_') return false;
    return true;
}

size_t draft_item_end(const struct job_draft *d, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        if (draft_is(d, i, ",")) return i;
        if (draft_is(d, i, "(") || draft_is(d, i, "[") || draft_is(d, i, "{"))
            i = cuda_tokens_close(&d->file->tokens, i, end) - 1;
    }
    return end;
}

// Expressions ---------------------------------------------------------------------------------------------------------

enum { MOST_DEPTH = 8, MOST_ARGUMENTS = 8, MOST_TEXT = 2000 };

struct expression_writer {
    const struct job_draft *draft;
    const struct draft_scope *scope;
    FILE *out;
    int depth; // of constants that are defined with other constants
};

static bool write_tokens(struct expression_writer *, const struct cuda_token *first, const struct cuda_token *end);

static bool write_text(struct expression_writer *w, const char *text)
{
    if (w->depth == MOST_DEPTH || strlen(text) > MOST_TEXT) return false;
    w->depth++;
    autorelease(cuda_tokens_release) struct cuda_tokens t;
    cuda_tokens_init(&t, text);
    bool bare = t.count > 1 && (!cuda_token_is(t.items, "(") || cuda_tokens_close(&t, 0, t.count) < t.count);
    if (bare) fputc('(', w->out);
    bool good = t.count && write_tokens(w, t.items, t.items + t.count);
    if (bare) fputc(')', w->out);
    w->depth--;
    return good;
}

static const struct cuda_macro *constant_of(const struct cuda_file *f, const struct cuda_token *name)
{
    for (size_t i = 0; i < f->macro_count; i++)
        if (cuda_token_is(name, f->macros[i].name)) return &f->macros[i];
    for (size_t i = 0; i < f->constant_count; i++)
        if (cuda_token_is(name, f->constants[i].name)) return &f->constants[i];
    return NULL;
}

static const struct cuda_macro *find_constant(const struct job_draft *d, const struct cuda_token *name)
{
    const struct cuda_macro *found = constant_of(d->file, name);
    for (size_t i = 0; i < d->included_count && !found; i++) found = constant_of(&d->included[i], name);
    return found;
}

// Whether the statement around token i is a declaration: it begins with a type and a name.
static bool declares(const struct job_draft *d, size_t i, size_t begin)
{
    static const char *const ends[] = {";", "{", "}", NULL}, *const no_types[] = {"return", "else", "case", "new",
                                                                                  NULL};
    while (i > begin + 1 && !cuda_token_in(draft_token(d, i - 1), ends)) i--;
    static const char *const first[] = {"const", "constexpr", "static", NULL};
    while (cuda_token_in(draft_token(d, i), first)) i++;
    return is_name(d, i) && is_name(d, i + 1) && !cuda_token_in(draft_token(d, i), no_types);
}

bool draft_host_value(const struct job_draft *d, const struct draft_scope *s, const struct cuda_token *name,
                      struct cuda_range *value)
{
    static const char *const changes[] = {"+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", "++", "--", ".", NULL},
                             *const before[] = {"++", "--", "&", NULL}, *const member[] = {".", "->", "::", NULL};
    const char *word = draft_copy(d, name);
    size_t found = 0;
    for (size_t i = s->host.begin + 1; i + 1 < s->host.end; i++) {
        const struct cuda_token *t = draft_token(d, i);
        if (t->kind != CUDA_NAME || !cuda_token_is(t, word) || cuda_token_in(t - 1, member)) continue;
        bool typed = (t[-1].kind == CUDA_NAME || cuda_token_is(t - 1, ",")) && declares(d, i, s->host.begin);
        if (cuda_token_in(t + 1, changes) || cuda_token_in(t - 1, before)) found = 2; // the variable may change
        if (cuda_token_is(t + 1, "=")) {
            size_t end = i + 2;
            while (end < s->host.end && !draft_is(d, end, ";")) end++;
            *value = (struct cuda_range){i + 2, draft_item_end(d, i + 2, end)};
            found++;
        } else if (typed && (cuda_token_is(t + 1, "(") || cuda_token_is(t + 1, "{"))) {
            *value = (struct cuda_range){i + 2, cuda_tokens_close(&d->file->tokens, i + 1, s->host.end) - 1};
            found++;
        }
    }
    return found == 1 && value->begin < value->end;
}

static bool write_name(struct expression_writer *w, const struct cuda_token *t)
{
    const struct job_draft *d = w->draft;
    for (size_t i = 0; i < w->scope->rename_count; i++)
        if (cuda_token_is(t, draft_copy(d, w->scope->renames[i].host)))
            return fputs(w->scope->renames[i].job, w->out) >= 0;
    for (size_t i = 0; i < d->parameter_count; i++)
        if (cuda_token_is(t, d->parameters[i].source))
            return w->scope->parameters && fputs(d->parameters[i].name, w->out) >= 0;
    const struct cuda_macro *constant = find_constant(d, t);
    if (constant) return !constant->function && write_text(w, constant->value);
    struct cuda_range value;
    return draft_host_value(d, w->scope, t, &value) && write_text(w, draft_range(d, value));
}

// The parameters and the body of a macro, or of a function that consists of one `return`: "(a, b) a + b". NULL if the
// name is neither.
static const char *find_body(const struct job_draft *d, const struct cuda_token *name)
{
    const struct cuda_macro *macro = find_constant(d, name);
    const char *word = draft_copy(d, name);
    if (macro) return macro->function ? macro->value : NULL;
    for (size_t n = 0; n <= d->included_count; n++) {
        const struct cuda_tokens *t = n ? &d->included[n - 1].tokens : &d->file->tokens;
        for (size_t i = 0; i + 1 < t->count; i++) {
            if (!cuda_token_is(&t->items[i], word) || !cuda_token_is(&t->items[i + 1], "(")) continue;
            size_t close = cuda_tokens_close(t, i + 1, t->count), end = close + 2;
            if (end >= t->count || !cuda_token_is(&t->items[close], "{") ||
                !cuda_token_is(&t->items[close + 1], "return"))
                continue;
            while (end < t->count && !cuda_token_is(&t->items[end], ";")) end++;
            if (end + 1 >= t->count || !cuda_token_is(&t->items[end + 1], "}")) return NULL;
            return arena_format(d->memory, "%s %s", cuda_token_text(d->memory, &t->items[i + 1], &t->items[close]),
                                cuda_token_text(d->memory, &t->items[close + 2], &t->items[end]));
        }
    }
    return NULL;
}

// Writes the body of a called macro or function with the call's arguments inserted. The call's brackets are `open` and
// `close`.
static bool write_call(struct expression_writer *w, const struct cuda_token *name, const struct cuda_token *open,
                       const struct cuda_token *close)
{
    const char *body = find_body(w->draft, name), *arguments[MOST_ARGUMENTS];
    const struct cuda_token *begin = open + 1, *parameters[MOST_ARGUMENTS];
    autorelease(text_release) struct text text = {0};
    int depth = 0;
    if (!body) return false;
    autorelease(cuda_tokens_release) struct cuda_tokens t;
    cuda_tokens_init(&t, body);
    size_t given = 0, taken = 0, stop = cuda_tokens_close(&t, 0, t.count);
    for (const struct cuda_token *at = begin; at < close && given < MOST_ARGUMENTS; at++) {
        depth += cuda_token_is(at, "(") - (cuda_token_is(at, ")") && at + 1 < close);
        if (depth || (!cuda_token_is(at, ",") && at + 1 < close)) continue;
        arguments[given++] = cuda_token_text(w->draft->memory, begin, at);
        begin = at + 1;
    }
    for (size_t i = 1; i + 1 < stop && taken < MOST_ARGUMENTS; i++)
        if (t.items[i].kind == CUDA_NAME && (cuda_token_is(&t.items[i + 1], ",") || i + 2 == stop))
            parameters[taken++] = &t.items[i];
    for (size_t i = stop; i < t.count && text.length <= MOST_TEXT; i++) {
        const char *word = draft_copy(w->draft, &t.items[i]);
        size_t k = 0;
        while (k < taken && k < given && !cuda_token_is(parameters[k], word)) k++;
        bool replaced = k < taken && k < given, several = replaced && strpbrk(arguments[k], " +-*/%<?");
        text_add(&text, several ? " (%s)" : " %s", replaced ? arguments[k] : word);
    }
    return given == taken && given && given < MOST_ARGUMENTS && text.text && write_text(w, text.text);
}

static bool write_number(struct expression_writer *w, const struct cuda_token *t)
{
    char *text = draft_copy(w->draft, t);
    size_t digits = strlen(text);
    bool hexadecimal = digits > 1 && tolower((unsigned char)text[1]) == 'x';
    while (digits && strchr("uUlL", text[digits - 1])) digits--;
    text[digits] = 0;
    const char *known = hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
    bool octal = !hexadecimal && digits > 1 && *text == '0';
    bool good = digits && !octal && strspn(text + 2 * hexadecimal, known) == digits - 2 * hexadecimal;
    if (good) fputs(text, w->out);
    return good;
}

// The token after the bracket that matches the bracket at `open`; `end` if there is none.
static const struct cuda_token *close_of(const struct cuda_token *open, const struct cuda_token *end)
{
    struct cuda_tokens t = {(size_t)(end - open), (struct cuda_token *)(uintptr_t)open};
    return open + cuda_tokens_close(&t, 0, t.count);
}

static bool is_cast(const struct cuda_token *open, const struct cuda_token *close)
{
    static const char *const words[] = {"int",     "unsigned", "long",     "short",    "size_t", "uint",
                                        "int32_t", "int64_t",  "uint32_t", "uint64_t", "signed", NULL};
    bool cast = close > open + 2;
    for (const struct cuda_token *t = open + 1; t < close - 1; t++) cast &= cuda_token_in(t, words);
    return cast;
}

static bool write_tokens(struct expression_writer *w, const struct cuda_token *first, const struct cuda_token *end)
{
    static const char *const marks[] = {"+", "-", "*", "/", "%", "(", ")", "<<", "?", ":", ",", NULL},
                             *const functions[] = {"min", "max", NULL};
    if (w->depth == MOST_DEPTH) return false;
    for (const struct cuda_token *t = first; t < end; t++) {
        if (ftell(w->out) > MOST_TEXT) return false;
        bool call = t + 1 < end && t->kind == CUDA_NAME && cuda_token_is(t + 1, "(");
        const struct cuda_token *close = call ? close_of(t + 1, end) : cuda_token_is(t, "(") ? close_of(t, end) : t;
        if (t->kind == CUDA_NUMBER) {
            if (!write_number(w, t)) return false;
        } else if (cuda_token_is(t, "(") && is_cast(t, close)) {
            t = close - 1;
        } else if (call && cuda_token_is(t, "sizeof")) {
            const struct kernel_type *type = kernel_type_find(cuda_token_text(w->draft->memory, t + 2, close - 1));
            if (!type || !type->bytes) return false;
            fprintf(w->out, "%zu", type->bytes);
            t = close - 1;
        } else if (call && cuda_token_in(t, functions) && !find_constant(w->draft, t)) {
            fprintf(w->out, "%.*s", (int)t->length, t->text);
        } else if (call) {
            if (!write_call(w, t, t + 1, close)) return false;
            t = close - 1;
        } else if (cuda_token_is(t, "std") && t + 2 < end && cuda_token_in(t + 2, functions)) {
            t++;
        } else if (t->kind == CUDA_NAME) {
            if (!write_name(w, t)) return false;
        } else if (cuda_token_in(t, marks)) {
            const char *blank = t > first && !strchr("(),", *t->text) ? " " : "";
            fprintf(w->out, "%s%.*s%s", blank, (int)t->length, t->text, *t->text == ',' ? " " : blank);
        } else {
            return false;
        }
    }
    return first < end;
}

// Returns the string if it is an expression over names in the scope, otherwise NULL. If `value` is not NULL, the
// expression must be a constant, whose value is computed.
static const char *parse(const struct job_draft *d, const struct draft_scope *s, const char *text, int64_t *value)
{
    struct symbols *known = symbols_new();
    for (size_t i = 0; i < s->rename_count; i++) symbols_add(known, s->renames[i].job, EXPR_INT, NULL);
    for (size_t i = 0; i < d->parameter_count && s->parameters; i++)
        symbols_add(known, d->parameters[i].name, EXPR_INT, NULL);
    struct expr *parsed = expr_parse(text, known, NULL);
    bool good = parsed && (!value || !expr_eval(parsed, NULL, value, NULL));
    expr_free(parsed);
    symbols_free(known);
    return good ? arena_copy(d->memory, text) : NULL;
}

static const char *write_expression(const struct job_draft *d, const struct draft_scope *s, size_t begin, size_t end,
                                    int64_t *value)
{
    autofree char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct expression_writer w = {d, s, out, 0};
    bool good = begin < end && write_tokens(&w, draft_token(d, begin), draft_token(d, end));
    fclose(out);
    // If the string is not an expression, the source's text was not one either.
    return good && strlen(text) < MOST_TEXT ? parse(d, s, text, value) : NULL;
}

const char *draft_expression(const struct job_draft *d, const struct draft_scope *s, size_t begin, size_t end)
{
    return write_expression(d, s, begin, end, NULL);
}

bool draft_number(const struct job_draft *d, const struct draft_scope *s, size_t begin, size_t end, int64_t *number)
{
    return write_expression(d, &(struct draft_scope){.host = s->host}, begin, end, number) != NULL;
}
