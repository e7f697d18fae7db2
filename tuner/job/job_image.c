// Reads the textures and surfaces of a job file. Kernels access buffers through them (tuner/base/image.h). See
// job_launch.c for the other arguments. `n` is the group 'texture' or 'surface' of an argument.
#include "tuner/job/job_parts.h"

// The settings of a texture that determine how it is read.
static const char *const modes[] = {"filter", "address", "normalized", "read", NULL};

static const struct node *first_mode(const struct node *n)
{
    for (int i = 0; modes[i]; i++)
        if (node_member(n, modes[i])) return node_member(n, modes[i]);
    return NULL;
}

static bool is_image_type(enum element type)
{
    return element_size(type) <= 4 && type != ELEMENT_BF16;
}

// Reads the modes of a texture and refuses modes that the hardware does not support.
static void load_modes(struct reader *r, const struct node *n, const struct buffer *b, struct image_layout *image)
{
    bool floats = element_is_float(b->type), plain = image->memory == IMAGE_LINEAR;
    image->filter = (enum image_filter)reader_word(r, n, "arguments[].texture.filter");
    image->normalized = reader_bool(r, n, "arguments[].texture.normalized");
    image->read = (enum image_read)reader_word(r, n, "arguments[].texture.read");
    const enum image_address address = (enum image_address)reader_word(r, n, "arguments[].texture.address");
    for (int i = 0; i < IMAGE_DIMENSIONS; i++) image->address[i] = address;
    if (image->read == IMAGE_NORMALIZED && (floats || element_size(b->type) > 2))
        reader_mistake(r, node_member(n, "read"),
                       "texture.read \"normalized\" is for integers of 8 and 16 bits, but texture '%s' is of type %s",
                       b->name, element_name(b->type));
    else if (image->filter == IMAGE_INTERPOLATED && !floats && image->read == IMAGE_ELEMENT)
        reader_mistake(
            r, node_member(n, "filter"),
            "texture.filter \"linear\" interpolates floating-point numbers, but texture '%s' is of type %s%s", b->name,
            element_name(b->type), element_size(b->type) <= 2 ? ": add read = \"normalized\"" : "");
    if (plain && first_mode(n) &&
        (image->filter == IMAGE_INTERPOLATED || image->normalized || node_member(n, "address")))
        reader_mistake(r, first_mode(n),
                       "texture '%s' has memory \"linear\", which can only be read by tex1Dfetch: no filter "
                       "\"linear\", no 'address', no 'normalized'; memory \"array\" has them",
                       b->name);
    if (!image->normalized && !plain && (address == IMAGE_WRAP || address == IMAGE_MIRROR))
        reader_mistake(r, node_member(n, "address"), "texture.address \"%s\" of '%s' needs normalized = true",
                       image_address_text[address], b->name);
}

struct buffer_image *load_image(struct reader *r, struct job *job, const struct node *argument, const struct node *n,
                                const struct buffer *b)
{
    struct buffer_image *image = job_new(job, 1, sizeof *image);
    const struct node *shape = node_member(argument, "shape");
    size_t rank = node_count(shape);
    image->about.memory = (enum image_memory)reader_word(r, n, "arguments[].texture.memory");
    image->about.channels = (int)reader_integer(r, n, "arguments[].texture.channels");
    if (rank > IMAGE_DIMENSIONS) {
        reader_mistake(r, shape, "'shape' of %s '%s' has %zu dimensions; one to three are possible", node_name(n),
                       b->name, rank);
        rank = IMAGE_DIMENSIONS;
    }
    image->about.rank = (int)rank;
    for (size_t i = 0; i < rank; i++)
        image->size[i] = reader_expression(r, node_at(shape, node_count(shape) - 1 - i), job);
    if (image->about.channels == 3)
        reader_mistake(r, node_member(n, "channels"), "'%s.channels' is 1, 2 or 4", node_name(n));
    if (!is_image_type(b->type))
        reader_mistake(r, node_member(argument, "type"),
                       "a %s has elements of f32, f16 or integers of at most 32 bits, but '%s' is of type %s",
                       node_name(n), b->name, element_name(b->type));
    if (image->about.memory == IMAGE_LINEAR && rank != 1)
        reader_mistake(r, node_member(n, "memory"),
                       "%s.memory \"linear\" is for one dimension, but '%s' has %zu: \"pitch\" is for two",
                       node_name(n), b->name, rank);
    if (image->about.memory == IMAGE_PITCH && rank != 2)
        reader_mistake(r, node_member(n, "memory"), "%s.memory \"pitch\" is for two dimensions, but '%s' has %zu",
                       node_name(n), b->name, rank);
    return image;
}

void join_image(struct reader *r, const struct node *n, struct buffer *b, bool first)
{
    struct buffer_image *image = b->image;
    const char *what = node_name(n);
    const bool surface = !strcmp(what, "surface");
    if (!image) {
        reader_mistake(r, n, "buffer '%s' is not a %s: add '%s = { ... };' where it is first named", b->name, what,
                       what);
        return;
    }
    if (!first && node_member(n, "memory"))
        reader_mistake(r, node_member(n, "memory"), "'%s.memory' of '%s' must be set where it is first named", what,
                       b->name);
    if (surface && image->about.memory != IMAGE_ARRAY) {
        reader_mistake(r, n, "surface '%s' needs memory \"array\"", b->name);
    } else if (surface) {
        image->about.surface = true;
    } else if (!image->texture) {
        image->texture = true;
        load_modes(r, n, b, &image->about);
    } else if (first_mode(n)) {
        reader_mistake(r, first_mode(n), "how texture '%s' is read must be set where the buffer is first named",
                       b->name);
    }
    if (!surface && image->about.memory != IMAGE_ARRAY && b->direction == DIRECTION_OUT)
        reader_mistake(r, n, "texture '%s' is only read, but it is an output", b->name);
}

// Finds how the stages access a buffer: through a pointer, through a texture or surface object, as a surface.
static void look(const struct stage *stages, size_t count, int buffer, bool *pointer, bool *object, bool *surface)
{
    for (size_t s = 0; s < count; s++) {
        for (size_t i = 0; i < stages[s].role_count; i++) *pointer |= stages[s].roles[i].buffer == buffer;
        for (size_t i = 0; i < stages[s].argument_count; i++) {
            const struct argument *a = &stages[s].arguments[i];
            if (a->buffer != buffer) continue;
            *(a->view == VIEW_POINTER ? pointer : object) = true;
            *surface |= a->view == VIEW_SURFACE;
        }
    }
}

void check_views(struct reader *r, const struct job *job, const struct node *owner, const struct stage *stages,
                 size_t count, bool kernels)
{
    for (size_t i = 0; i < job->buffer_count; i++) {
        const struct buffer *b = &job->buffers[i];
        bool pointer = false, object = false, surface = false;
        bool elsewhere = (b->symbol && kernels) || (b->image && b->image->about.memory == IMAGE_ARRAY);
        if (!elsewhere) continue;
        look(stages, count, (int)i, &pointer, &object, &surface);
        if (b->direction != DIRECTION_IN && pointer && (object || b->symbol))
            reader_mistake(r, owner,
                           "'%s' is written, so kernels cannot see it both by its address in memory and as a %s, which "
                           "is a different place",
                           b->name,
                           b->symbol ? "variable of the module"
                           : surface ? "surface"
                                     : "texture");
        else if (direction_writes(b->direction) && b->image && object && !surface)
            reader_mistake(r, owner, "'%s' is an output, but kernels see it as a texture, which cannot be written",
                           b->name);
    }
}

int job_image_resolve(const struct buffer *b, const int64_t *values, struct image_layout *out, struct error *err)
{
    int64_t row = 0; // elements
    *out = b->image->about;
    for (int i = 0; i < IMAGE_DIMENSIONS; i++) {
        out->size[i] = 1;
        if (i < out->rank && expr_eval(b->image->size[i], values, &out->size[i], err)) return -1;
    }
    if (expr_eval(b->ld ? b->ld : b->cols, values, &row, err)) return -1;
    out->pitch = row * (int64_t)element_size(b->type);
    return 0;
}
