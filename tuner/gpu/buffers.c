// See buffers.h.
#include "tuner/gpu/buffers.h"

#include "kernels/host_fill.h"
#include "kernels/npy.h"
#include "tuner/base/entropy.h"
#include "tuner/gpu/addresses.h"

enum { ALIGNMENT = 1024 };

// `fill`: NULL if the job promises nothing about the buffer.
static int read_fill(struct device_buffer *b, const struct fill_request *fill, struct error *err)
{
    static const struct fill_request none = {FILL_UNIFORM, NAN, NAN, NAN, NAN, ""};
    const struct fill_request *f = fill ? fill : &none;
    b->filled = fill != NULL;
    b->fill = f->kind;
    if (b->fill == FILL_ZERO) { // the constant 0: `low` is already 0
        b->fill = FILL_CONSTANT;
        return 0;
    }
    b->low = !isnan(f->low) ? f->low : !isnan(f->value) ? f->value : b->fill == FILL_UNIFORM ? -1 : 0;
    b->high = b->fill == FILL_OFFSETS ? isnan(f->total) ? 0 : f->total : isnan(f->high) ? 1 : f->high;
    // A uniform fill of an integer buffer draws uniform integers.
    if (b->fill == FILL_UNIFORM && !element_is_float(b->view.type)) b->fill = FILL_INTEGER;
    if (b->fill == FILL_INTEGER && b->high < b->low)
        return error_set(err, "an integer fill cannot go from %g to %g", b->low, b->high);
    b->path = f->path;
    return 0;
}

// `from`: NULL if all elements are compared.
static int read_part(struct device_buffer *b, const struct compare_request *from, struct error *err)
{
    int64_t n = b->view.rows * b->view.cols, left = n;
    b->expected.part.leading = b->expected.compared = n;
    if (!from) return 0;
    if (from->rank < 1 || from->rank > PART_RANK_MAX)
        return error_set(err, "at most %d dimensions can be compared in part", PART_RANK_MAX);
    if (from->first_count != from->rank || from->count_count != from->rank) left = 0;
    b->expected.part.rank = (int64_t)from->rank;
    b->expected.compared = 1;
    for (size_t i = 0; i < from->rank && left; i++) {
        int64_t size = from->sizes[i], first = from->first[i], count = from->count[i];
        bool within =
            size >= 1 && left % size == 0 && first >= 0 && first < size && count >= 1 && count <= size - first;
        left = within ? left / size : 0;
        b->expected.part.size[i] = size;
        b->expected.part.first[i] = first;
        b->expected.part.end[i] = within ? first + count : first;
        b->expected.compared *= within ? count : 1;
    }
    return left == 1 ? 0 : error_set(err, "the part that is compared is not within the buffer");
}

static int read_buffer(struct device_buffer *b, const struct buffer_request *from, struct error *err)
{
    const char *name = b->name = from->name;
    int found = element_find(from->type);
    if (!*name) return error_set(err, "a buffer has no name");
    if (found < 0) return error_set(err, "buffer %s: unknown type '%s'", name, from->type);
    b->direction = from->direction;
    struct operand *v = &b->view;
    v->type = (enum element)found;
    v->rows = from->rows;
    v->cols = from->cols;
    v->ld = from->ld < from->cols ? from->cols : from->ld;
    if (v->rows < 1 || v->cols < 1)
        return error_set(err, "buffer %s cannot have %lldx%lld elements", name, (long long)v->rows, (long long)v->cols);
    size_t cells;
    if (__builtin_mul_overflow((size_t)v->rows, (size_t)v->ld, &cells) || cells > SIZE_MAX / 16 / element_size(v->type))
        return error_set(err, "buffer %s: %lldx%lld elements are too many", name, (long long)v->rows, (long long)v->ld);
    b->bytes = cells * element_size(v->type);
    b->restored = b->direction == DIRECTION_IN && from->restore;
    struct device_buffer with = *b;
    if (read_fill(b, from->fill, err) || read_part(b, from->compare, err) || read_fill(&with, from->other, err))
        return error_prefix(err, "buffer %s", name);
    bool holds = b->fill == FILL_ADDRESSES, plain = b->direction == DIRECTION_IN && !b->restored && v->ld == v->cols;
    if (with.fill == FILL_ADDRESSES || (holds && (v->type != ELEMENT_U64 || !plain || from->image)))
        return error_set(err, "buffer %s: addresses are dense inputs of type u64", name);
    b->other.given = with.filled;
    b->other.fill = with.fill;
    b->other.low = with.low;
    b->other.high = with.high;
    b->seen.symbol = from->symbol != SYMBOL_NONE;
    b->seen.optional = from->symbol == SYMBOL_OPTIONAL;
    if (b->seen.symbol && v->rows > 1 && v->ld != v->cols)
        return error_set(err, "buffer %s: the rows of a variable are dense", name);
    b->seen.has_image = from->image != NULL;
    if (b->seen.has_image && device_image_read(&b->seen.image, from->image, v, err))
        return error_prefix(err, "buffer %s", name);
    return 0;
}

// Sets where a slot's parts are. The data is aligned; the slot's size is a multiple of the alignment.
static size_t slot_bytes(struct device_buffer *b, size_t guard)
{
    b->front = round_up(guard, ALIGNMENT);
    return b->front + round_up(b->bytes + guard, ALIGNMENT);
}

// Whether the job promises contents that a launch may overwrite. A constant does not count: it is filled like a
// pattern.
static bool has_origin(const struct device_buffer *b)
{
    return b->direction == DIRECTION_INOUT || b->restored ||
           (b->direction == DIRECTION_SCRATCH && b->filled && b->fill != FILL_CONSTANT);
}

size_t buffers_bytes(const struct buffer_request *list, size_t count, size_t guard_bytes, struct error *err)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        struct device_buffer b = {0};
        if (read_buffer(&b, &list[i], err)) return 0;
        total += slot_bytes(&b, guard_bytes) + (has_origin(&b) ? b.bytes : 0) +
                 (b.seen.has_image ? device_image_bytes(&b.seen.image, b.view.type) : 0);
    }
    return total;
}

static void guard_regions(struct buffers *s, size_t guard)
{
    struct region *regions = s->guards.regions;
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct device_buffer *b = &s->list[i];
        const struct operand *v = &b->view;
        size_t size = element_size(v->type), pitch = (size_t)v->ld * size, used = (size_t)v->cols * size;
        struct element_format f = support_format(v->type);
        if (b->front) regions[n++] = (struct region){b->slot, 1, b->front, 0, 0, i, v->device, f};
        if (pitch > used)
            regions[n++] = (struct region){
                v->device + used, (uint64_t)v->rows, pitch - used, pitch, b->front + used, i, v->device, f};
        size_t end = round_up(b->bytes + guard, ALIGNMENT);
        s->guards.padded |= pitch > used && b->direction == DIRECTION_IN;
        if (end > b->bytes)
            regions[n++] =
                (struct region){v->device + b->bytes, 1, end - b->bytes, 0, b->front + b->bytes, i, v->device, f};
    }
    s->guards.region_count = n;
}

// Checks the fill of a buffer, if it is computed on the host.
static int check_host_fill(const struct device_buffer *b, struct error *err)
{
    struct host_fill f = {b->fill, b->low, b->high};
    if (!fill_is_on_host(b->fill)) return 0;
    return host_fill_check(&f, &b->view, err) ? error_prefix(err, "buffer %s", b->name) : 0;
}

// Reads the addresses in buffer i, one for each element. All buffers must be known.
static int read_addresses(struct buffers *s, size_t i, const struct buffer_request *from, struct error *err)
{
    struct device_buffer *b = &s->list[i];
    size_t count = 0, next = 0;
    if (b->fill != FILL_ADDRESSES) return 0;
    int failed = addresses_read(s, (int)i, from->addresses, from->address_count, b->bytes, &b->addresses, err);
    for (size_t k = 0; k < from->address_count && !failed; k++) {
        failed = b->addresses[k].place == next ? 0 : error_set(err, "its addresses do not follow each other");
        count += b->addresses[k].count;
        next = count * sizeof(uint64_t);
    }
    if (!failed && count != buffer_elements(b)) failed = error_set(err, "%zu addresses are not all elements", count);
    b->address_count = from->address_count;
    return failed ? error_prefix(err, "buffer %s", b->name) : 0;
}

// Allocates the origins of a set of data.
static int open_origins(struct buffers *s, unsigned set, struct error *err)
{
    int failed = s->origin_bytes ? cuda_alloc(s->origin_bytes, &s->origins[set], err) : 0;
    uint64_t at = s->origins[set];
    for (size_t i = 0; i < s->count && !failed; i++) {
        if (!has_origin(&s->list[i])) continue;
        s->list[i].origin[set] = at;
        at += round_up(s->list[i].bytes, ALIGNMENT);
    }
    return failed;
}

int buffers_open(struct buffers *s, struct cuda *cuda, struct support *support, const struct buffer_request *list,
                 size_t count, size_t guard_bytes, struct error *err)
{
    size_t offset = 0;
    int failed;
    memset(s, 0, sizeof *s);
    s->cuda = cuda;
    s->support = support;
    s->sets = s->copy_count = 1;
    s->guards.written = (unsigned)entropy_below(3);
    if (count > BUFFERS_MAX) return error_set(err, "%zu buffers; at most %d are possible", count, BUFFERS_MAX);
    for (size_t i = 0; i < count; i++) {
        struct device_buffer *b = &s->list[s->count];
        if (read_buffer(b, &list[i], err) || check_host_fill(b, err)) return -1;
        s->count++;
        b->slot = offset;
        for (int n = 0; n < CONTENT_NEAR_COUNT; n++) b->expected.near[n] = support_near(b->view.type, 0);
        offset += slot_bytes(b, guard_bytes);
        if (has_origin(b)) s->origin_bytes += round_up(b->bytes, ALIGNMENT);
    }
    for (size_t i = 0; i < count; i++)
        if (read_addresses(s, i, &list[i], err)) return -1;
    s->arena_bytes = offset;
    if ((failed = cuda_alloc(s->arena_bytes + ALIGNMENT, &s->memory, err)) || (failed = open_origins(s, 0, err)) ||
        (failed = cuda_alloc(BUFFERS_MAX * sizeof(struct verify_finding), &s->findings, err)) ||
        // Otherwise, initcheck reports every copy of bytes that were never written.
        (failed = cuda_zero(cuda, s->memory, s->arena_bytes + ALIGNMENT, err)))
        return failed;
    s->arena = round_up(s->memory, ALIGNMENT);
    for (size_t i = 0; i < s->count; i++) {
        struct device_buffer *b = &s->list[i];
        b->slot += s->arena;
        b->view.device = b->slot + b->front;
        if (b->seen.has_image && (failed = device_image_open(&b->seen.image, cuda, b->view.type, err))) {
            error_prefix(err, "buffer %s", b->name);
            return failed;
        }
    }
    guard_regions(s, guard_bytes);
    return 0;
}

void buffers_move(struct buffers *to, const struct buffers *from, const uint64_t address[BUFFERS_MAX],
                  size_t guard_bytes)
{
    *to = *from;
    to->memory = to->second = to->arena = to->arena_bytes = to->slab_count = 0;
    to->shift[0] = to->set[0] = 0;
    to->sets = to->copy_count = 1;
    for (size_t i = 0; i < to->count; i++) {
        struct device_buffer *b = &to->list[i];
        b->front = guard_bytes;
        b->view.device = address[i];
        b->slot = address[i] - b->front;
    }
    guard_regions(to, guard_bytes);
}

// A random multiple of the alignment, so that the address of one copy says little about the addresses of others.
static size_t gap(void)
{
    return ALIGNMENT * (size_t)entropy_below(64);
}

int buffers_second(struct buffers *s, struct error *err)
{
    size_t before = gap();
    int failed = cuda_alloc(s->arena_bytes + ALIGNMENT + before, &s->second, err);
    if (!failed) failed = open_origins(s, 1, err);
    if (failed) return failed;
    s->shift[1] = (int64_t)(round_up(s->second + before, ALIGNMENT) - s->arena);
    s->set[1] = 1;
    s->sets = s->copy_count = 2;
    return 0;
}

void buffers_single(struct buffers *s)
{
    s->sets = s->copy_count = 1;
    cuda_free(s->second);
    cuda_free(s->origins[1]);
    s->second = s->origins[1] = 0;
    for (size_t i = 0; i < s->count; i++) s->list[i].origin[1] = 0;
}

void buffers_release(struct buffers *s)
{
    cuda_free(s->memory);
    cuda_free(s->second);
    for (unsigned i = 0; i < s->slab_count; i++) cuda_free(s->slabs[i]);
    for (int set = 0; set < 2; set++) cuda_free(s->origins[set]);
    cuda_free(s->findings);
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].seen.has_image) device_image_release(&s->list[i].seen.image);
    for (size_t i = 0; i < s->count; i++) free(s->list[i].addresses);
    memset(s, 0, sizeof *s);
}

int buffers_find(const struct buffers *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (!strcmp(s->list[i].name, name)) return (int)i;
    return -1;
}

int buffer_download(struct cuda *cuda, const struct device_buffer *b, void **to, struct error *err)
{
    *to = memory_try(b->bytes, 1, err);
    return *to ? cuda_fetch(cuda, *to, b->view.device, b->bytes, err) : -1;
}

// Uploads dense rows; waits.
static int upload_rows(struct buffers *s, const struct operand *v, const char *from, struct error *err)
{
    size_t size = element_size(v->type), row = (size_t)v->cols * size;
    int failed = 0;
    if (v->ld == v->cols) failed = cuda_upload(s->cuda, v->device, from, (size_t)v->rows * row, err);
    for (int64_t i = 0; v->ld != v->cols && i < v->rows && !failed; i++)
        failed = cuda_upload(s->cuda, v->device + (size_t)(i * v->ld) * size, from + (size_t)i * row, row, err);
    int ended = cuda_sync(s->cuda, failed ? NULL : err); // `from` is the caller's
    return failed ? failed : ended;
}

// Dense rows from a file, into to->host.
static int read_file(const char *path, const char *name, const struct operand *to, struct error *err)
{
    autorelease(npy_release) struct npy npy;
    const size_t size = element_size(to->type), count = (size_t)(to->rows * to->cols);
    if (npy_read(&npy, path, err)) return -1;
    if (npy.count != count)
        return error_set(err, "%s has %zu elements, buffer %s has %lldx%lld", path, npy.count, name,
                         (long long)to->rows, (long long)to->cols);
    if (npy_check(&npy, path, to->type, err)) return -1;
    for (size_t i = 0; i < count; i++) npy_element(&npy, i, to->type, (char *)to->host + i * size);
    return 0;
}

// Fills a buffer with data that is computed on the host or read from a file.
static int fill_on_host(struct buffers *s, const struct device_buffer *b, uint64_t seed, struct error *err)
{
    struct operand to = b->view;
    const struct host_fill f = {b->fill, b->low, b->high};
    autofree void *host = to.host = memory_try((size_t)(to.rows * to.cols), element_size(to.type), err);
    int failed = !host                 ? -1
                 : b->fill == FILL_NPY ? read_file(b->path, b->name, &to, err)
                                       : host_fill_compute(&f, &to, seed, err);
    return failed ? failed : upload_rows(s, &b->view, host, err);
}

static int fill(struct buffers *s, const struct device_buffer *b, unsigned set, uint64_t seed, struct error *err)
{
    if (set == 1 && b->other.given)
        return support_fill(s->support, &b->view, b->other.fill, b->other.low, b->other.high, seed, err);
    if (b->fill == FILL_NPY || fill_is_on_host(b->fill)) return fill_on_host(s, b, seed, err);
    return support_fill(s->support, &b->view, b->fill, b->low, b->high, seed, err);
}

int buffers_fill(struct buffers *s, unsigned set, uint64_t seed, struct error *err)
{
    int failed = buffers_write_guards(s, 0, CONTENT_NAN, err);
    s->set[0] = (unsigned char)set;
    for (size_t i = 0; i < s->count && !failed; i++) {
        struct device_buffer *b = &s->list[i];
        if ((b->direction != DIRECTION_IN && !has_origin(b)) || b->address_count) continue;
        failed = fill(s, b, set, seed + (i + 1) * 0x632be59bd9b4e019ull, err);
        if (!failed && has_origin(b)) failed = cuda_copy(s->cuda, b->origin[set], b->view.device, b->bytes, err);
    }
    return failed ? failed : addresses_store(s, 0, err);
}

int buffers_keep(struct buffers *s, unsigned set, struct error *err)
{
    int failed = set ? cuda_copy(s->cuda, s->arena + (uint64_t)s->shift[1], s->arena, s->arena_bytes, err) : 0;
    for (unsigned c = s->sets; c < s->copy_count && !failed; c++)
        if (s->set[c] == set)
            failed = cuda_copy(s->cuda, s->arena + (uint64_t)s->shift[c], s->arena, s->arena_bytes, err);
    for (unsigned c = 1; c < s->copy_count && !failed; c++) failed = addresses_store(s, c, err);
    return failed ? failed : buffers_write_guards(s, BUFFERS_ALL, CONTENT_NAN, err);
}

uint64_t buffers_key(unsigned flags)
{
    return ((entropy_draw() | 32) & ~3ull) | flags; // greater than any kind's number
}

// splitmix64's finaliser, like mix() in support_elements.cuh.
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// The key of one copy. It is derived from the copy's distance, which is different for every copy.
static uint64_t copy_key(const struct buffers *s, unsigned copy, uint64_t key)
{
    return key <= CONTENT_PROMISED ? key : mix(key + (uint64_t)s->shift[copy]);
}

// Whether an output may hold numbers close to those expected. In timed launches, only outputs in the first `sets`
// copies may hold such numbers, because filling each output takes a separate kernel launch.
static bool may_be_close(const struct buffers *s, size_t i, unsigned copy, uint64_t key)
{
    const struct device_buffer *b = &s->list[i];
    return b->direction == DIRECTION_OUT && b->expected.bound[s->set[copy]] && (copy < s->sets || key & BUFFERS_LEAVE);
}

// The kind of content that buffer i gets in a copy with this key.
static enum content_kind kind_of(const struct buffers *s, size_t i, unsigned copy, uint64_t key, uint64_t copy_key)
{
    const struct device_buffer *b = &s->list[i];
    static const struct {
        unsigned char until; // of 64
        enum content_kind kind;
    } chances[] = {{20, CONTENT_NAN},     {35, CONTENT_RANDOM}, {40, CONTENT_ZEROS}, {45, CONTENT_INFINITE},
                   {50, CONTENT_EXTREME}, {56, CONTENT_NEAR},   {64, CONTENT_CLOSE}};
    const bool scratch = b->direction == DIRECTION_SCRATCH;
    if (b->direction != DIRECTION_OUT && (!scratch || b->filled)) return CONTENT_PROMISED;
    if (key <= CONTENT_PROMISED) return (enum content_kind)key;
    uint64_t drawn = mix(copy_key + i);
    if (scratch && key & BUFFERS_LEAVE && drawn >> 63) return CONTENT_LEFT;
    size_t k = 0;
    drawn %= !scratch && key & BUFFERS_TELLTALE ? 35 : 64;
    while (drawn >= chances[k].until) k++;
    if (chances[k].kind == CONTENT_CLOSE && !may_be_close(s, i, copy, key)) return CONTENT_NEAR;
    return chances[k].kind;
}

// An integer of 1 to 16 random bits, like a counter or a flag; larger numbers occur in CONTENT_RANDOM. A buffer of
// bytes gets four-byte integers.
static uint64_t small_integer(enum element type, uint64_t drawn)
{
    return support_repeat(element_size(type) == 8 ? ELEMENT_U64 : ELEMENT_U32, mix(drawn) >> (63 - drawn % 16));
}

// The contents of buffer i in a launch with this key, for support_restore() and support_compare().
static struct content content_of(const struct device_buffer *b, size_t i, enum content_kind kind, uint64_t key,
                                 uint64_t copy_key)
{
    struct content c = {copy_key + i, kind, support_format(b->view.type), {0}};
    memcpy(c.near, b->expected.near, sizeof c.near);
    if (b->direction == DIRECTION_SCRATCH && b->filled) {
        uint64_t bits = 0;
        element_store(b->view.type, b->low, &bits);
        c.near[0] = support_repeat(b->view.type, bits);
    } else if (b->direction == DIRECTION_SCRATCH && !element_is_float(b->view.type)) {
        for (size_t n = 0; n < CONTENT_NEAR_COUNT; n++)
            c.near[n] = small_integer(b->view.type, mix(key + i * CONTENT_NEAR_COUNT + n));
    }
    return c;
}

struct content buffers_content(const struct buffers *s, size_t i, unsigned copy, uint64_t key)
{
    const struct device_buffer *b = &s->list[i];
    uint64_t mine = copy_key(s, copy, key);
    return content_of(b, i, kind_of(s, i, copy, key, mine), key, mine);
}

int buffers_restore(struct buffers *s, const unsigned *copies, size_t n, uint64_t key, struct error *err)
{
    struct restored list[SUPPORT_RESTORED_MAX];
    struct copies to = {{0}};
    struct restored_kinds contents = {{0}, {0}};
    size_t count = 0;
    int failed = 0;
    for (size_t c = 0; c < n; c++) {
        to.shift[c] = s->shift[copies[c]] | s->set[copies[c]];
        contents.key[c] = copy_key(s, copies[c], key);
    }
    for (size_t i = 0; i < s->count && !failed; i++) {
        const struct device_buffer *b = &s->list[i];
        const struct operand *v = &b->view;
        size_t size = element_size(v->type);
        bool whole = v->ld == v->cols; // otherwise its padding is a guard and is not touched
        if (b->direction == DIRECTION_IN && !b->restored) continue;
        for (size_t c = 0; c < n; c++)
            contents.kinds[c] |= (uint32_t)kind_of(s, i, copies[c], key, contents.key[c]) << 4 * count;
        list[count++] = (struct restored){
            .address = v->device,
            .rows = whole ? 1 : (uint64_t)v->rows,
            .bytes = whole ? b->bytes : (uint64_t)v->cols * size,
            .pitch = (uint64_t)v->ld * size,
            .origin = {b->origin[0], b->origin[1]},
            .content = content_of(b, i, CONTENT_PROMISED, key, 0),
        };
        if (count < SUPPORT_RESTORED_MAX) continue;
        failed = support_restore(s->support, list, count, &to, &contents, n, err);
        memset(contents.kinds, 0, sizeof contents.kinds);
        count = 0;
    }
    if (!failed && count) failed = support_restore(s->support, list, count, &to, &contents, n, err);
    for (size_t c = 0; c < n && !failed; c++)
        for (size_t i = 0; i < s->count && !failed; i++) {
            const struct device_buffer *b = &s->list[i];
            struct operand view = b->view;
            if (!buffer_is_output(b) || kind_of(s, i, copies[c], key, contents.key[c]) != CONTENT_CLOSE) continue;
            view.device += (uint64_t)s->shift[copies[c]];
            failed = support_disturb(s->support, &view, b->expected.bound[s->set[copies[c]]], s->mask_key,
                                     contents.key[c], err);
        }
    return failed;
}

// Writes the guards of one copy or of all, or checks them and adds to the findings.
static int guards(struct buffers *s, int copy, uint64_t findings, struct error *err)
{
    struct copies in;
    struct guard_contents held;
    unsigned first = copy == BUFFERS_ALL ? 0 : (unsigned)copy, n = copy == BUFFERS_ALL ? s->copy_count : 1;
    for (unsigned c = 0; c < n; c++) {
        in.shift[c] = s->shift[first + c];
        held.key[c] = s->guards.held.key[first + c];
        held.kind[c] = s->guards.held.kind[first + c];
    }
    return support_guards(s->support, s->guards.regions, s->guards.region_count, &in, &held, n, findings, err);
}

int buffers_guards(struct buffers *s, int copy, struct error *err)
{
    return guards(s, copy, s->findings, err);
}

int buffers_write_guards(struct buffers *s, int copy, uint64_t key, struct error *err)
{
    static const enum content_kind kinds[] = {CONTENT_NAN, CONTENT_HIGH, CONTENT_LOW};
    const struct guard_contents before = s->guards.held;
    for (unsigned c = 0; c < s->copy_count; c++) {
        if (copy != BUFFERS_ALL && c != (unsigned)copy) continue;
        s->guards.held.key[c] = copy_key(s, c, key);
        s->guards.held.kind[c] = (unsigned char)kinds[key == CONTENT_NAN ? 0 : s->guards.written++ % 3];
    }
    int failed = guards(s, copy, 0, err);
    if (failed) s->guards.held = before;
    return failed;
}

int buffers_clone(struct buffers *s, unsigned copies, struct error *err)
{
    size_t place[BUFFERS_COPIES_MAX], total = ALIGNMENT;
    if (copies <= s->copy_count) return 0;
    if (copies > BUFFERS_COPIES_MAX || s->slab_count == BUFFERS_SLABS_MAX) {
        error_set(err, "%u copies of the memory are too many", copies);
        return CUDA_MEMORY;
    }
    unsigned wanted = copies - s->copy_count;
    for (unsigned i = 0; i < wanted; i++) {
        total += gap();
        place[i] = total;
        total += s->arena_bytes;
    }
    uint64_t *slab = &s->slabs[s->slab_count];
    int failed = cuda_alloc(total, slab, err);
    if (failed) return failed;
    s->slab_count++;
    for (unsigned i = 0; i < wanted && !failed; i++) { // each copy at a random place
        unsigned j = i + (unsigned)entropy_below(wanted - i), c = s->copy_count + i;
        size_t at = place[j];
        place[j] = place[i];
        s->set[c] = s->sets == 2 ? (unsigned char)entropy_below(2) : s->set[0];
        s->shift[c] = (int64_t)(round_up(*slab, ALIGNMENT) - ALIGNMENT + at - s->arena);
        failed = cuda_copy(s->cuda, s->arena + (uint64_t)s->shift[c], s->arena + (uint64_t)s->shift[s->set[c]],
                           s->arena_bytes, err);
        if (!failed) failed = addresses_store(s, c, err);
        s->guards.held.key[c] = s->guards.held.key[s->set[c]];
        s->guards.held.kind[c] = s->guards.held.kind[s->set[c]];
    }
    if (!failed) s->copy_count = copies;
    return failed;
}
