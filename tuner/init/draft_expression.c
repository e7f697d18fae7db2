// See draft_parts.h: expressions of the source as a job file writes them. A name is a size, a parameter, or a constant:
// a macro, a const of the file, a variable of the host that is set once. Calls of macros and of functions that are one
// `return` are put in their place.
#include <ctype.h>

#include "search/space/expr.h"
#include "tuner/base/base.h"
#include "tuner/init/draft_parts.h"

enum { MOST_DEPTH = 8, MOST_ARGUMENTS = 8, MOST_TEXT = 2000 };

struct expression_writer {
    const struct job_draft *draft;
    const struct draft_scope *scope;
    FILE *out;
    int depth; // of constants that are made of constants
};

static bool write_tokens(struct expression_writer *, const struct cuda_token *first, const struct cuda_token *end);

static bool write_text(struct expression_writer *w, const char *text)
{
    struct cuda_tokens t;
    if (w->depth == MOST_DEPTH || strlen(text) > MOST_TEXT) return false;
    w->depth++;
    cuda_tokens_init(&t, text);
    bool bare = t.count > 1 && (!cuda_token_is(t.items, "(") || cuda_tokens_close(&t, 0, t.count) < t.count);
    if (bare) fputc('(', w->out);
    bool good = t.count && write_tokens(w, t.items, t.items + t.count);
    if (bare) fputc(')', w->out);
    cuda_tokens_release(&t);
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

static bool is_one_of(const struct cuda_token *t, const char *const *words)
{
    for (; *words; words++)
        if (cuda_token_is(t, *words)) return true;
    return false;
}

// Whether the statement around token i is a declaration: it begins with a type and a name.
static bool declares(const struct job_draft *d, size_t i, size_t begin)
{
    static const char *const ends[] = {";", "{", "}", NULL}, *const no_types[] = {"return", "else", "case", "new",
                                                                                  NULL};
    while (i > begin + 1 && !is_one_of(draft_token(d, i - 1), ends)) i--;
    static const char *const first[] = {"const", "constexpr", "static", NULL};
    while (is_one_of(draft_token(d, i), first)) i++;
    return draft_is_name(d, i) && draft_is_name(d, i + 1) && !is_one_of(draft_token(d, i), no_types);
}

bool draft_host_value(const struct job_draft *d, const struct draft_scope *s, const struct cuda_token *name,
                      struct cuda_range *value)
{
    static const char *const changes[] = {"+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", "++", "--", ".", NULL},
                             *const before[] = {"++", "--", "&", NULL}, *const member[] = {".", "->", "::", NULL};
    char *word = cuda_token_copy(name);
    size_t found = 0;
    for (size_t i = s->host.begin + 1; i + 1 < s->host.end; i++) {
        const struct cuda_token *t = draft_token(d, i);
        if (t->kind != CUDA_NAME || !cuda_token_is(t, word) || is_one_of(t - 1, member)) continue;
        bool typed = (t[-1].kind == CUDA_NAME || cuda_token_is(t - 1, ",")) && declares(d, i, s->host.begin);
        if (is_one_of(t + 1, changes) || is_one_of(t - 1, before)) found = 2; // it may change
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
    free(word);
    return found == 1 && value->begin < value->end;
}

static bool write_name(struct expression_writer *w, const struct cuda_token *t)
{
    const struct job_draft *d = w->draft;
    for (size_t i = 0; i < w->scope->rename_count; i++) {
        char *host = cuda_token_copy(w->scope->renames[i].host);
        bool same = cuda_token_is(t, host);
        free(host);
        if (same) return fputs(w->scope->renames[i].job, w->out) >= 0;
    }
    for (size_t i = 0; i < d->parameter_count; i++)
        if (cuda_token_is(t, d->parameters[i].source))
            return w->scope->parameters && fputs(d->parameters[i].name, w->out) >= 0;
    const struct cuda_macro *constant = find_constant(d, t);
    if (constant) return !constant->function && write_text(w, constant->value);
    struct cuda_range value;
    if (!draft_host_value(d, w->scope, t, &value)) return false;
    char *text = cuda_token_text(draft_token(d, value.begin), draft_token(d, value.end));
    bool good = write_text(w, text);
    free(text);
    return good;
}

// The parameters and the body of a macro, or of a function that is one `return`: "(a, b) a + b". NULL if there is
// neither. malloc'ed.
static char *find_body(const struct job_draft *d, const struct cuda_token *name)
{
    const struct cuda_macro *macro = find_constant(d, name);
    if (macro) return macro->function ? text_copy(macro->value) : NULL;
    for (size_t n = 0; n <= d->included_count; n++) {
        const struct cuda_tokens *t = n ? &d->included[n - 1].tokens : &d->file->tokens;
        char *word = cuda_token_copy(name);
        size_t i = 0, close = 0;
        for (; i + 1 < t->count; i++) {
            if (!cuda_token_is(&t->items[i], word) || !cuda_token_is(&t->items[i + 1], "(")) continue;
            close = cuda_tokens_close(t, i + 1, t->count);
            if (close + 1 < t->count && cuda_token_is(&t->items[close], "{") &&
                cuda_token_is(&t->items[close + 1], "return"))
                break;
        }
        free(word);
        if (i + 1 >= t->count) continue;
        size_t end = close + 2;
        while (end < t->count && !cuda_token_is(&t->items[end], ";")) end++;
        if (end + 1 >= t->count || !cuda_token_is(&t->items[end + 1], "}")) return NULL;
        char *list = cuda_token_text(&t->items[i + 1], &t->items[close]),
             *body = cuda_token_text(&t->items[close + 2], &t->items[end]), *all = text_format("%s %s", list, body);
        free(list);
        free(body);
        return all;
    }
    return NULL;
}

// Puts the arguments of a call, [open, close) with its brackets, into the body of what is called.
static bool write_call(struct expression_writer *w, const struct cuda_token *name, const struct cuda_token *open,
                       const struct cuda_token *close)
{
    char *body = find_body(w->draft, name), *arguments[MOST_ARGUMENTS] = {0}, *text = text_copy("");
    struct cuda_tokens t;
    if (!body) return free(text), false;
    cuda_tokens_init(&t, body);
    size_t given = 0, taken = 0, stop = cuda_tokens_close(&t, 0, t.count);
    int depth = 0;
    const struct cuda_token *begin = open + 1, *parameters[MOST_ARGUMENTS];
    for (const struct cuda_token *at = begin; at < close && given < MOST_ARGUMENTS; at++) {
        depth += cuda_token_is(at, "(") - (cuda_token_is(at, ")") && at + 1 < close);
        if (depth || (!cuda_token_is(at, ",") && at + 1 < close)) continue;
        arguments[given++] = cuda_token_text(begin, at);
        begin = at + 1;
    }
    for (size_t i = 1; i < stop && taken < MOST_ARGUMENTS; i++)
        if (t.items[i].kind == CUDA_NAME && (cuda_token_is(&t.items[i + 1], ",") || i + 2 == stop))
            parameters[taken++] = &t.items[i];
    for (size_t i = stop; i < t.count; i++) {
        char *word = cuda_token_copy(&t.items[i]), *longer = NULL;
        for (size_t k = 0; k < taken && k < given && !longer; k++)
            if (cuda_token_is(parameters[k], word))
                longer = text_format(strpbrk(arguments[k], " +-*/%<?") ? "%s (%s)" : "%s %s", text, arguments[k]);
        if (!longer) longer = text_format("%s %s", text, word);
        free(word);
        free(text);
        text = longer;
        if (strlen(text) > MOST_TEXT) break;
    }
    bool good = given == taken && given && given < MOST_ARGUMENTS && write_text(w, text);
    for (size_t k = 0; k < given; k++) free(arguments[k]);
    cuda_tokens_release(&t);
    free(body);
    free(text);
    return good;
}

static bool write_number(struct expression_writer *w, const struct cuda_token *t)
{
    char *text = cuda_token_copy(t);
    size_t digits = strlen(text);
    bool hexadecimal = digits > 1 && tolower((unsigned char)text[1]) == 'x';
    while (digits && strchr("uUlL", text[digits - 1])) digits--;
    text[digits] = 0;
    const char *known = hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
    bool octal = !hexadecimal && digits > 1 && *text == '0';
    bool good = digits && !octal && strspn(text + 2 * hexadecimal, known) == digits - 2 * hexadecimal;
    if (good) fputs(text, w->out);
    free(text);
    return good;
}

// The place after the bracket that closes the one at `open`; `end` if there is none.
static const struct cuda_token *close_of(const struct cuda_token *open, const struct cuda_token *end)
{
    struct cuda_tokens t = {(size_t)(end - open), (struct cuda_token *)(uintptr_t)open};
    return open + cuda_tokens_close(&t, 0, t.count);
}

// The size of a builtin type in brackets.
static size_t size_of(const struct cuda_token *open, const struct cuda_token *close)
{
    char *name = cuda_token_text(open + 1, close - 1);
    const struct kernel_type *type = kernel_type_find(name);
    free(name);
    return type ? type->bytes : 0;
}

static bool is_cast(const struct cuda_token *open, const struct cuda_token *close)
{
    static const char *const words[] = {"int",     "unsigned", "long",     "short",    "size_t", "uint",
                                        "int32_t", "int64_t",  "uint32_t", "uint64_t", "signed", NULL};
    bool cast = close > open + 2;
    for (const struct cuda_token *t = open + 1; t < close - 1; t++) cast &= is_one_of(t, words);
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
            size_t bytes = size_of(t + 1, close);
            if (!bytes) return false;
            fprintf(w->out, "%zu", bytes);
            t = close - 1;
        } else if (call && is_one_of(t, functions) && !find_constant(w->draft, t)) {
            fprintf(w->out, "%.*s", (int)t->length, t->text);
        } else if (call) {
            if (!write_call(w, t, t + 1, close)) return false;
            t = close - 1;
        } else if (cuda_token_is(t, "std") && t + 2 < end && is_one_of(t + 2, functions)) {
            t++;
        } else if (t->kind == CUDA_NAME) {
            if (!write_name(w, t)) return false;
        } else if (is_one_of(t, marks)) {
            const char *blank = t > first && !strchr("(),", *t->text) ? " " : "";
            fprintf(w->out, "%s%.*s%s", blank, (int)t->length, t->text, *t->text == ',' ? " " : blank);
        } else {
            return false;
        }
    }
    return first < end;
}

char *draft_expression(const struct job_draft *d, const struct draft_scope *s, size_t begin, size_t end)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct expression_writer w = {d, s, out, 0};
    bool good = begin < end && write_tokens(&w, draft_token(d, begin), draft_token(d, end));
    fclose(out);
    struct symbols *known = symbols_new();
    // The names are the job's. A text that is not an expression was not one in the source either.
    for (size_t i = 0; i < s->rename_count; i++) symbols_add(known, s->renames[i].job, EXPR_INT, NULL);
    for (size_t i = 0; i < d->parameter_count; i++) symbols_add(known, d->parameters[i].name, EXPR_INT, NULL);
    struct expr *parsed = good && strlen(text) < MOST_TEXT ? expr_parse(text, known, NULL) : NULL;
    good = parsed != NULL;
    expr_free(parsed);
    symbols_free(known);
    if (good) return text;
    free(text);
    return NULL;
}

bool draft_number(const struct job_draft *d, const struct draft_scope *s, size_t begin, size_t end, int64_t *number)
{
    const struct draft_scope alone = {.host = s->host};
    char *text = draft_expression(d, &alone, begin, end);
    struct symbols *none = symbols_new();
    struct expr *parsed = text ? expr_parse(text, none, NULL) : NULL;
    bool good = parsed && !expr_eval(parsed, NULL, number, NULL);
    expr_free(parsed);
    symbols_free(none);
    free(text);
    return good;
}
