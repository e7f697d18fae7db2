// See symbol_bindings.h.
#include "tuner/gpu/symbol_bindings.h"

#include "tuner/base/elf_file.h"

// Finds a variable by its name. CUDA_REFUSED if there is none, or if there are several.
static int find_variable(const struct module_state *all, const char *name, struct module_variable **found,
                         struct error *err)
{
    *found = NULL;
    for (size_t i = 0; i < all->count; i++) {
        if (!symbol_is(all->variables[i].name, name)) continue;
        if (*found)
            return cuda_refuse(err, "the compiled code has several variables '%s': %s and %s; name one by its symbol",
                               name, (*found)->name, all->variables[i].name);
        *found = &all->variables[i];
    }
    if (*found) return 0;
    // Compares the names one by one to find the nearest, because a list of all names may need much memory.
    char text[SYMBOL_TEXT_SIZE], best[SYMBOL_TEXT_SIZE] = "";
    for (size_t i = 0; i < all->count; i++) {
        const char *names[] = {symbol_text(all->variables[i].name, text), *best ? best : NULL, NULL};
        const char *nearest = text_nearest(name, names);
        if (nearest == names[0]) snprintf(best, sizeof best, "%s", nearest);
    }
    return cuda_refuse(err,
                       "the compiled code has no variable '%s'%s%s%s; if only some configurations have it, write "
                       "optional = true",
                       name, *best ? " (did you mean '" : "", best, *best ? "'?)" : "");
}

static void add(struct symbol_bindings *p, unsigned buffer, uint64_t address, bool taken)
{
    p->list[p->count++] = (struct symbol_binding){buffer, address, taken};
}

// Binds buffer i to its variable in one unit. *found: the unit has the variable.
static int place_in_unit(struct symbol_bindings *p, unsigned i, struct module_unit *unit, bool pointer, bool *found,
                         struct error *err)
{
    const struct device_buffer *b = &p->buffers->list[i];
    struct module_variable *v;
    uint64_t address;
    size_t bytes;
    int failed = find_variable(&unit->state, b->name, &v, err);
    *found = v != NULL;
    if (!v || failed) return failed;
    if (b->bytes > v->declared)
        return cuda_refuse(err, "constant '%s' has %zu bytes, but the variable of the compiled code %zu", b->name,
                           b->bytes, v->declared);
    if (v->constant && b->direction != DIRECTION_IN)
        return cuda_refuse(err,
                           "constant '%s' is an output, but kernels cannot write a __constant__ variable: use "
                           "direction \"in\", or a __device__ variable",
                           b->name);
    failed = cuda_module_global(unit->module, v->name, &address, &bytes, err);
    if (failed) return failed;
    if (b->bytes > v->placed) v->placed = b->bytes; // module_state.c leaves these bytes alone from now on
    add(p, i, address, !v->constant && !pointer);
    return 0;
}

// `pointer`: some stage accesses the buffer by its address; a reference that lacks the variable may do so.
static int place_variable(struct symbol_bindings *p, unsigned i, struct module_unit *units, size_t unit_count,
                          bool pointer, struct error *err)
{
    const struct device_buffer *b = &p->buffers->list[i];
    size_t in = 0;
    int missing = 0;
    for (size_t u = 0; u < unit_count; u++) {
        bool found = false;
        if (!units[u].module) continue;
        int failed = place_in_unit(p, i, &units[u], pointer, &found, err);
        if (failed && found) return failed;
        missing = failed ? failed : missing;
        in += found;
    }
    if (in > 1 && (b->direction != DIRECTION_IN || b->restored))
        return cuda_refuse(err,
                           "constant '%s' is an output, but %zu parts of the candidate, compiled with different "
                           "macros, each have a variable of that name",
                           b->name, in);
    return in || b->seen.optional || pointer ? 0 : missing;
}

static int make_texture(struct symbol_bindings *p, unsigned buffer, int64_t shift, uint64_t *object, struct error *err)
{
    const struct device_buffer *b = &p->buffers->list[buffer];
    uint64_t address = b->view.device + (uint64_t)shift;
    struct bound_texture *grown = memory_try_grow(p->textures, p->texture_count + 1, sizeof *grown, err);
    if (!grown) return -1;
    p->textures = grown;
    int failed = cuda_texture_create(&b->seen.image.about, b->view.type, NULL, address, object, err);
    if (failed) return error_prefix(err, "texture '%s'", b->name), failed;
    p->textures[p->texture_count++] = (struct bound_texture){buffer, address, *object};
    return 0;
}

int symbol_bindings_open(struct symbol_bindings *p, struct cuda *cuda, struct buffers *buffers,
                         struct module_unit *units, size_t unit_count, const unsigned char views[BUFFERS_MAX],
                         bool kernels, struct error *err)
{
    *p = (struct symbol_bindings){.cuda = cuda, .buffers = buffers};
    for (unsigned i = 0; i < buffers->count; i++) {
        const struct device_buffer *b = &buffers->list[i];
        uint64_t object;
        int failed = 0;
        if (b->seen.symbol && kernels)
            failed = place_variable(p, i, units, unit_count, views[i] & BINDING_POINTER, err);
        else if (b->seen.image.array && views[i] & (BINDING_TEXTURE | BINDING_SURFACE))
            add(p, i, 0, views[i] & BINDING_SURFACE);
        else if (b->seen.has_image && views[i] & BINDING_TEXTURE) // now, since a timed launch must not wait for it
            for (unsigned set = 0; set < buffers->sets && !failed; set++)
                failed = make_texture(p, i, buffers->shift[set], &object, err);
        if (failed) return failed;
    }
    return 0;
}

void symbol_bindings_release(struct symbol_bindings *p)
{
    for (size_t i = 0; i < p->texture_count; i++) cuda_texture_destroy(p->textures[i].object);
    free(p->textures);
    *p = (struct symbol_bindings){0};
}

int symbol_bindings_copy(const struct symbol_bindings *p, int64_t shift, bool back, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < p->count && !failed; i++) {
        const struct device_buffer *b = &p->buffers->list[p->list[i].buffer];
        uint64_t ours = b->view.device + (uint64_t)shift, theirs = p->list[i].address;
        if (back && !p->list[i].taken) continue;
        if (theirs)
            failed = cuda_copy(p->cuda, back ? ours : theirs, back ? theirs : ours, b->bytes, err);
        else
            failed =
                cuda_array_copy(p->cuda, b->seen.image.array, &b->seen.image.about, b->view.type, ours, !back, err);
    }
    return failed;
}

int symbol_bindings_object(struct symbol_bindings *p, unsigned buffer, bool surface, int64_t shift, uint64_t *object,
                           struct error *err)
{
    const struct device_buffer *b = &p->buffers->list[buffer];
    const struct device_image *image = &b->seen.image;
    *object = surface ? image->surface : image->texture;
    if (image->array) return 0;
    for (size_t i = 0; i < p->texture_count; i++) {
        if (p->textures[i].buffer != buffer || p->textures[i].address != b->view.device + (uint64_t)shift) continue;
        *object = p->textures[i].object;
        return 0;
    }
    return make_texture(p, buffer, shift, object, err);
}
