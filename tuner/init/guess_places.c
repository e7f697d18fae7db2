// See guess_parts.h: texture and surface arguments, and variables of the module.
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/init/guess_parts.h"

bool guess_object(struct guess_argument *a)
{
    bool texture = !strcmp(a->argument->type, "cudaTextureObject_t"),
         surface = !strcmp(a->argument->type, "cudaSurfaceObject_t");
    if (a->argument->stars || !(texture || surface)) return false;
    a->role = texture ? GUESS_TEXTURE : GUESS_SURFACE;
    a->type = "f32";
    a->direction = texture ? "in" : "out";
    a->channels = 1;
    return true;
}

// "tex2D", "tex1Dfetch", "surf3Dwrite": the dimensions, 0 for other names.
static int dimensions_of(const struct cuda_token *t)
{
    size_t prefix = t->length > 4 && !memcmp(t->text, "tex", 3)    ? 3
                    : t->length > 5 && !memcmp(t->text, "surf", 4) ? 4
                                                                   : 0;
    if (!prefix || t->text[prefix] < '1' || t->text[prefix] > '3' || t->text[prefix + 1] != 'D') return 0;
    return t->text[prefix] - '0';
}

static bool ends_in(const struct cuda_token *t, const char *word)
{
    size_t length = strlen(word);
    return t->length > length && !memcmp(t->text + t->length - length, word, length);
}

// The sizes, the last one first, since a width comes before a height; a size that is missing is the first one.
static void shape_image(struct guess *g, struct guess_argument *a, int rank)
{
    for (int d = rank; d-- > 0;) {
        size_t size = (size_t)d < g->size_count ? (size_t)d : 0;
        guess_append(&a->shape, "%s\"%s\"", a->shape ? ", " : "", g->sizes[size].name);
    }
}

// The first access through an object: `tex2D<float4>(image, x, y)`, `surf2Dwrite(value, out, x, y)`.
static void look_at_object(struct guess *g, struct guess_argument *a)
{
    int rank = 2, factor = 1;
    bool same_bits, found = false, read = false;
    for (size_t i = g->kernel->body; i < g->kernel->end; i++) {
        const struct cuda_token *t = guess_token(g, i);
        int here = guess_is_name(g, i) ? dimensions_of(t) : 0;
        size_t open = i + 1;
        if (!here) continue;
        while (open < g->kernel->end && !guess_is(g, open, "(") && !guess_is(g, open, ";")) open++;
        size_t close = guess_is(g, open, "(") ? cuda_tokens_close(&g->file->tokens, open, g->kernel->end) : open;
        bool mine = false;
        for (size_t k = open; k < close; k++) mine |= cuda_token_is(guess_token(g, k), a->argument->name);
        if (!mine) continue;
        read |= ends_in(t, "read");
        if (found) continue;
        found = true;
        rank = here;
        a->fetched = ends_in(t, "fetch");
        if (!guess_is(g, i + 1, "<")) continue;
        char *type = cuda_token_text(guess_token(g, i + 2), guess_token(g, open - 1));
        const char *known = guess_type(g, type, &factor, &same_bits);
        if (known && factor != 3) {
            a->type = known;
            a->channels = factor;
        }
        free(type);
    }
    if (read) a->direction = "inout";
    shape_image(g, a, rank);
}

// Whether the kernel, or what is no kernel, uses the variable: its last name behind its declaration.
static bool is_used(const struct guess *g, const struct cuda_variable *v, bool *written)
{
    const struct cuda_file *f = g->file;
    const char *colon = strrchr(v->name, ':'), *name = colon ? colon + 1 : v->name;
    bool used = false;
    for (size_t i = 0; i < f->tokens.count; i++) {
        const struct cuda_token *t = &f->tokens.items[i];
        bool others = false;
        if (t->kind != CUDA_NAME || !cuda_token_is(t, name) || t->line == v->line) continue;
        for (size_t k = 0; k < f->kernel_count; k++)
            others |= &f->kernels[k] != g->kernel && i >= f->kernels[k].head && i < f->kernels[k].end;
        if (others) continue;
        used = true;
        size_t after = i + 1, count = f->tokens.count;
        while (after < count && cuda_token_is(&f->tokens.items[after], "["))
            after = cuda_tokens_close(&f->tokens, after, count);
        static const char *const marks[] = {"=", "+=", "-=", "*=", "|=", "&=", "^=", "++", "--"};
        for (size_t m = 0; m < sizeof marks / sizeof *marks && after < count; m++)
            *written |= cuda_token_is(&f->tokens.items[after], marks[m]);
        *written |= i > 0 && cuda_token_is(&f->tokens.items[i - 1], "&");
    }
    return used;
}

static void add_variable(struct guess *g, const struct cuda_variable *v, bool written)
{
    int factor;
    bool same_bits;
    struct guess_module_variable m = {.variable = v, .direction = written && !v->constant ? "inout" : "in"};
    m.type = guess_type(g, v->type, &factor, &same_bits);
    bool known = true;
    for (size_t i = 0; i < v->extent_count && known; i++) {
        char *extent = guess_expression(g, v->extents[i].begin, v->extents[i].end, false);
        known = extent != NULL;
        if (known) guess_append(&m.shape, "%s\"%s\"", m.shape ? ", " : "", extent);
        free(extent);
    }
    if (known && factor > 1) guess_append(&m.shape, "%s\"%d\"", m.shape ? ", " : "", factor);
    if (known && !m.shape) m.shape = text_copy("");
    if (!known) {
        free(m.shape);
        m.shape = NULL;
    }
    g->module = memory_grow(g->module, g->module_count + 1, sizeof m);
    g->module[g->module_count++] = m;
}

void guess_places(struct guess *g)
{
    for (size_t i = 0; i < g->argument_count; i++)
        if (g->arguments[i].role == GUESS_TEXTURE || g->arguments[i].role == GUESS_SURFACE)
            look_at_object(g, &g->arguments[i]);
    for (size_t i = 0; i < g->file->variable_count; i++) {
        bool written = false;
        if (is_used(g, &g->file->variables[i], &written)) add_variable(g, &g->file->variables[i], written);
    }
}

bool guess_places_written(const struct guess *g)
{
    bool written = false;
    for (size_t i = 0; i < g->argument_count; i++) written |= g->arguments[i].role == GUESS_SURFACE;
    for (size_t i = 0; i < g->module_count; i++) written |= strcmp(g->module[i].direction, "in") != 0;
    return written;
}
