// See reference.h.
#include "tuner/gpu/reference.h"

#include "kernels/least.h"
#include "kernels/npy.h"
#include "tuner/base/clock.h"
#include "tuner/base/entropy.h"
#include "tuner/gpu/mixed_data.h"
#include "tuner/gpu/pipeline.h"
#include "tuner/gpu/reference_cache.h"
#include "tuner/gpu/reference_library.h"

enum { ALIGNMENT = 1024 };

static const double worth_keeping = 0.2; // s
static const double large_floor = 0.1;   // of a typical expected value

bool reference_is_slow(const struct workload *w)
{
    if (w->reference.kind == IMPLEMENTATION_COMMAND) return true;
    return w->operation && (!w->operation->reference || !strcmp(w->reference.by, "cpu"));
}

bool reference_is_fixed(const struct workload *w)
{
    return w->reference.kind == IMPLEMENTATION_FILES;
}

// The value that belongs to a name; `fallback` if the list has none.
static const char *pair_value(const struct record_named_text *list, size_t count, const char *name,
                              const char *fallback)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i].name, name)) return list[i].value;
    return fallback;
}

int reference_bind(struct workload *w, struct device_problem *p, struct error *err)
{
    const struct implementation_request *r = &w->reference;
    const struct operation_role *role = w->operation->roles;
    for (int i = 0; role[i].name; i++) {
        if (role[i].kind == ROLE_SIZE || role[i].kind == ROLE_SCALAR) {
            p->operation.value[i] =
                named_number(p->request->roles, p->request->role_count, role[i].name, role[i].fallback);
            continue;
        }
        const char *name = pair_value(r->buffers, r->buffer_count, role[i].name, role[i].name);
        int found = buffers_find(&p->buffers, name);
        if (found < 0) return error_set(err, "%s needs a buffer for its role %s", w->operation->name, role[i].name);
        const struct device_buffer *b = &p->buffers.list[found];
        if (buffer_is_output(b) != (role[i].kind == ROLE_OUTPUT))
            return error_set(err, "buffer %s has the wrong direction for the role %s of %s", name, role[i].name,
                             w->operation->name);
        p->operation.operand[i] = b->view;
        if (b->direction != DIRECTION_OUT)
            p->operation.operand[i].data = operand_data_of(b->view.type, b->fill, b->low, b->high);
    }
    if (w->operation->check(&p->operation, err))
        return error_prefix(err, "%s, problem %s", w->operation->name, p->name);
    return 0;
}

static bool has_role(const struct workload *w, const struct device_problem *p, const struct device_buffer *b)
{
    for (int i = 0; w->operation && w->operation->roles[i].name; i++)
        if (p->operation.operand[i].device == b->view.device) return true;
    return !w->operation;
}

// Whether an output without an operation's bound gets a bound for each row; a single row needs only one number.
static bool is_relative_to_rows(const struct workload *w, const struct device_buffer *b)
{
    const struct verify_settings *v = &w->settings.verify;
    return !v->exact && !(v->relative > 0) && !(v->absolute > 0) && b->view.rows > 1;
}

int reference_prepare(struct workload *w, struct device_problem *p, struct error *err)
{
    size_t total = 0;
    const bool kept =
        w->settings.verify.deterministic && p->filled < &p->set[SET_MIXED]; // bits of runs on mixed sets may differ
    bool none = w->reference.kind == IMPLEMENTATION_NONE ||
                (w->reference.kind == IMPLEMENTATION_LIBRARY && !*w->reference.library.function);
    for (int pass = 0; pass < 2; pass++) {
        uint64_t at = p->filled->results;
        for (size_t i = 0; i < p->buffers.count; i++) {
            const struct device_buffer *b = &p->buffers.list[i];
            if (!buffer_is_output(b)) continue;
            size_t n = buffer_elements(b), dense = round_up(n * element_size(b->view.type), ALIGNMENT);
            // An output that plays no role in the operation is only checked for changes from run to run.
            size_t expected = none || !has_role(w, p, b) ? 0 : round_up(n * 8, ALIGNMENT);
            bool scaled = element_is_float(b->view.type) && (w->operation || is_relative_to_rows(w, b));
            size_t scale = scaled && expected ? round_up(n * sizeof(float), ALIGNMENT) : 0;
            if (pass) {
                p->filled->bound[i].expected = expected ? at : 0;
                p->filled->bound[i].scale = scale ? at + expected : 0;
                p->filled->previous[i] = kept ? at + expected + scale : 0;
            }
            size_t mine = expected + scale + (kept ? dense : 0);
            at += mine;
            if (!pass) total += mine;
        }
        if (pass) break;
        int failed = total ? cuda_alloc(total, &p->filled->results, err) : 0;
        if (failed) return failed;
    }
    return 0;
}

// ---- operations ----------------------------------------------------------------------------------------------------

// The bound of the buffer that plays an output's role.
static struct bound *bound_of_role(struct device_problem *p, int role)
{
    return &p->filled->bound[device_problem_buffer(p, role) - p->buffers.list];
}

static void set_bound(const struct workload *w, struct bound *b, const struct operation_expected *from)
{
    const struct verify_settings *v = &w->settings.verify;
    b->per_scale = v->tolerance * from->per_scale;
    b->bits = v->exact;
    if (v->exact) {
        b->per_scale = b->per_value = b->floor = 0;
        return;
    }
    b->per_value = v->tolerance * from->per_value + v->relative;
    b->floor = v->tolerance * from->floor + v->absolute;
}

static int by_cpu(struct workload *w, struct device_problem *p, struct operation_expected *expected, struct error *err)
{
    struct operation_problem host = p->operation;
    const struct operation_role *role = w->operation->roles;
    char kept[REFERENCE_CACHE_PATH_MAX];
    bool keep = reference_cache_path(w, p, kept);
    int failed = 0;
    for (int i = 0; role[i].name && !failed; i++) {
        if (role[i].kind != ROLE_OUTPUT) continue;
        const struct device_buffer *b = device_problem_buffer(p, i);
        size_t n = buffer_elements(b);
        void *values = memory_try(n, 8, err);
        if (!values) {
            failed = -1;
        } else if (element_is_float(b->view.type)) {
            expected[i].host_expected = values;
            if (!(expected[i].host_scale = memory_try(n, sizeof(float), err))) failed = -1;
        } else {
            expected[i].host_exact = values;
        }
    }
    bool known = !failed && keep && reference_cache_read(kept, w, p, expected);
    for (int i = 0; role[i].name && !failed && !known; i++) {
        if (role[i].kind != ROLE_INPUT && role[i].kind != ROLE_OUTPUT) continue;
        const struct device_buffer *b = device_problem_buffer(p, i);
        if (b->direction != DIRECTION_OUT)
            failed = buffer_download(w->cuda, b, &host.operand[i].host, err);
        else if (!(host.operand[i].host = memory_try(b->bytes, 1, err))) // its contents are not read
            failed = -1;
    }
    if (!failed && !known) {
        double begin = clock_now();
        failed = w->operation->cpu(&host, expected, err);
        if (!failed && keep && clock_now() - begin > worth_keeping) reference_cache_write(kept, w, p, expected);
    }
    for (int i = 0; role[i].name; i++) {
        struct operation_expected *e = &expected[i];
        autofree void *values = e->host_expected ? (void *)e->host_expected : (void *)e->host_exact;
        if (role[i].kind == ROLE_OUTPUT && values && !failed) {
            size_t n = buffer_elements(device_problem_buffer(p, i));
            failed = cuda_store(w->cuda, e->expected, values, n * 8, err);
            if (!failed && e->host_scale) failed = cuda_store(w->cuda, e->scale, e->host_scale, n * sizeof(float), err);
        }
        if (role[i].kind == ROLE_INPUT || role[i].kind == ROLE_OUTPUT) free(host.operand[i].host);
        free(e->host_scale);
    }
    return failed;
}

static int by_operation(struct workload *w, size_t number, struct error *err)
{
    struct device_problem *p = &w->problems[number];
    struct operation_expected expected[OPERATION_ROLES_MAX] = {0};
    const struct operation_role *role = w->operation->roles;
    for (int i = 0; role[i].name; i++) {
        if (role[i].kind != ROLE_OUTPUT) continue;
        const struct bound *b = bound_of_role(p, i);
        expected[i].expected = b->expected;
        expected[i].scale = b->scale;
    }
    int failed = reference_is_slow(w) ? by_cpu(w, p, expected, err)
                                      : w->operation->reference(&w->device.operations, &p->operation, expected, err);
    int ended = cuda_sync(w->cuda, failed ? NULL : err); // temporaries may be freed only now
    device_operations_free_scratch(&w->device.context);
    if (failed || ended) return ended ? ended : failed;
    for (int i = 0; role[i].name; i++)
        if (role[i].kind == ROLE_OUTPUT) set_bound(w, bound_of_role(p, i), &expected[i]);
    return 0;
}

// ---- another kernel, and files -------------------------------------------------------------------------------------

// Sets bounds for references that have none of their own.
static int plain_bounds(struct workload *w, struct device_problem *p, struct error *err)
{
    const struct verify_settings *v = &w->settings.verify;
    for (size_t i = 0; i < p->buffers.count; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        if (!p->filled->bound[i].expected) continue;
        p->filled->bound[i].per_scale = 0;
        p->filled->bound[i].per_value = v->relative;
        p->filled->bound[i].floor = v->absolute;
        p->filled->bound[i].bits = v->exact;
        if (v->exact || v->relative > 0 || v->absolute > 0 || !element_is_float(b->view.type)) continue;
        double size;
        int failed = support_row_sizes(w->support, p->filled->bound[i].expected, b->view.rows, b->view.cols,
                                       p->filled->bound[i].scale, &size, err);
        if (failed) return failed;
        double u = element_roundoff(b->view.type);
        if (element_saturates(
                b->view.type)) { // allows a neighbour of the expected value, and FP32's error before rounding
            const unsigned char smallest = 1;
            p->filled->bound[i].per_value = v->tolerance * 2 * u;
            p->filled->bound[i].floor = v->tolerance * element_load(b->view.type, &smallest);
            u = element_roundoff(ELEMENT_F32);
        }
        if (p->filled->bound[i].scale)
            p->filled->bound[i].per_scale = v->tolerance * 64 * u;
        else
            p->filled->bound[i].floor += v->tolerance * 64 * u * size;
    }
    return 0;
}

static int by_kernel(struct workload *w, size_t number, struct error *err)
{
    struct device_problem *p = &w->problems[number];
    struct pipeline pipeline = {0};
    const unsigned first = 0;
    int failed = pipeline_open(&pipeline, w, &w->reference.candidate, err);
    if (!failed && !pipeline.parts[number].count)
        failed = error_set(err, "the reference has no stages for problem %s", p->name);
    if (!failed) failed = buffers_restore(&p->buffers, &first, 1, CONTENT_NAN, err);
    if (!failed) failed = mixed_data_restored(p, &p->buffers, first, err);
    if (!failed) failed = pipeline_prepare(&pipeline.parts[number], 0, err);
    if (!failed) failed = pipeline_enqueue(&pipeline.parts[number], 0, err);
    if (!failed) failed = symbol_bindings_copy(&pipeline.parts[number].symbol_bindings, 0, true, err);
    for (size_t i = 0; i < p->buffers.count && !failed; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        if (buffer_is_output(b))
            failed = support_widen(w->support, &b->view, WIDENED_VALUE, !element_is_float(b->view.type),
                                   p->filled->bound[i].expected, err);
    }
    int ended = cuda_sync(w->cuda, failed ? NULL : err);
    if (!failed) failed = ended;
    if (failed) error_prefix(err, "the reference kernel");
    if (failed != CUDA_CRASHED) pipeline_release(&pipeline);
    return failed;
}

static int by_files(struct workload *w, size_t number, struct error *err)
{
    struct device_problem *p = &w->problems[number];
    for (size_t i = 0; i < p->buffers.count; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        if (!buffer_is_output(b)) continue;
        const char *path = pair_value(w->reference.files, w->reference.file_count, b->name, NULL);
        if (!path) return error_set(err, "problem %s: no file with the expected values of %s", p->name, b->name);
        autorelease(npy_release) struct npy npy = {0};
        size_t n = buffer_elements(b);
        autofree void *values = memory_try(n, 8, err);
        int failed = values ? npy_read(&npy, path, err) : -1;
        if (!failed && npy.count != n)
            failed = error_set(err, "%s has %zu elements, %s has %zu", path, npy.count, b->name, n);
        if (!failed) failed = npy_check(&npy, path, b->view.type, err);
        for (size_t j = 0; j < n && !failed; j++) {
            if (element_is_float(b->view.type))
                ((double *)values)[j] = npy_value(&npy, j, b->view.type);
            else
                ((int64_t *)values)[j] = npy_integer(&npy, j);
        }
        if (!failed) failed = cuda_store(w->cuda, p->filled->bound[i].expected, values, n * 8, err);
        if (failed) return failed;
    }
    return 0;
}

// Sets which parts of the outputs are compared. Nothing is expected of the rest, because a reference may leave anything
// there.
static int set_parts(struct workload *w, struct device_problem *p, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < p->buffers.count && !failed; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        struct bound *bound = &p->filled->bound[i];
        struct part *part = &p->filled->part[i];
        int64_t *compared = &p->filled->compared[i], n = (int64_t)buffer_elements(b);
        *part = b->expected.part;
        *compared = b->expected.compared;
        bound->part = NULL;
        if (!buffer_is_output(b)) continue;
        if (*compared == n) continue;
        bound->part = part;
        p->unbounded = true; // elements that are not compared need not be computed
        if (bound->expected && (failed = support_drop(w->support, bound->expected, n, part, err))) break;
        if (p->filled == &p->set[0] && !p->said_part[i])
            fprintf(stderr, "problem %s: only %lld of the %lld elements of %s are compared\n", p->name,
                    (long long)*compared, (long long)n, b->name);
        p->said_part[i] |= p->filled == &p->set[0];
    }
    return failed;
}

// Warns if the error allowed for every element is about as large as the expected values. Also draws some expected
// values for CONTENT_NEAR.
static int look_at_sizes(struct workload *w, struct device_problem *p, struct error *err)
{
    int failed = 0;
    p->buffers.mask_key = w->mask_key;
    for (size_t i = 0; i < p->buffers.count && !failed; i++) {
        struct device_buffer *b = &p->buffers.list[i];
        const struct bound *bound = &p->filled->bound[i];
        const size_t n = buffer_elements(b);
        uint64_t some[CONTENT_NEAR_COUNT] = {0};
        double size = 0;
        b->expected.bound[p->filled - p->set] = bound->expected ? bound : NULL;
        if (!bound->expected) continue;
        for (int k = 0; k < CONTENT_NEAR_COUNT && !failed; k++)
            failed = cuda_download(w->cuda, &some[k], bound->expected + 8 * entropy_below(n), 8, err);
        if (!failed && element_is_float(b->view.type) && bound->floor > 0)
            failed = support_row_sizes(w->support, bound->expected, b->view.rows, b->view.cols, 0, &size, err);
        if (!failed) failed = cuda_sync(w->cuda, err);
        for (int k = 0; k < CONTENT_NEAR_COUNT && !failed; k++) {
            uint64_t bits = some[k];
            double value;
            memcpy(&value, &bits, sizeof value);
            if (element_is_float(b->view.type)) bits = 0, element_store(b->view.type, value, &bits);
            b->expected.near[k] = support_near(b->view.type, bits);
        }
        if (p->filled == &p->set[0] && !p->said_floor[i] && !failed && bound->floor > large_floor * size && size > 0) {
            fprintf(
                stderr,
                "problem %s: an error of %.3g is allowed in every element of %s, whose typical expected size is only "
                "%.3g\n",
                p->name, bound->floor, b->name, size);
            p->said_floor[i] = true;
        }
    }
    return failed;
}

// If inputs have values other than those of the job's fills, checks that the outputs' types have room for the expected
// values and for larger partial results. Otherwise a correct kernel could not be told from an incorrect one.
static int look_at_range(struct workload *w, struct device_problem *p, struct error *err)
{
    enum { ROOM = 16, CHUNK = 4096 };
    bool other = false;
    for (size_t i = 0; i < p->buffers.count; i++) other |= p->buffers.list[i].other.given;
    p->filled->too_large = false;
    for (size_t i = 0; i < p->buffers.count && other && p->filled != &p->set[0]; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        const uint64_t expected = p->filled->bound[i].expected;
        const size_t n = buffer_elements(b);
        if (!expected || !element_is_float(b->view.type)) continue;
        for (size_t at = 0; at < n && !p->filled->too_large; at += CHUNK) {
            double some[CHUNK];
            const size_t count = n - at < CHUNK ? n - at : CHUNK;
            int failed = cuda_fetch(w->cuda, some, expected + at * sizeof *some, count * sizeof *some, err);
            if (failed) return failed;
            for (size_t k = 0; k < count; k++)
                p->filled->too_large |= !(fabs(some[k]) <= element_largest(b->view.type) / ROOM);
        }
    }
    return 0;
}

// From here on, only the comparing kernels can read the expected values.
static int hide(struct workload *w, struct device_problem *p, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < p->buffers.count && !failed; i++)
        if (p->filled->bound[i].expected)
            failed = support_mask(w->support, p->filled->bound[i].expected, buffer_elements(&p->buffers.list[i]),
                                  w->mask_key, err);
    return failed;
}

int reference_compute(struct workload *w, size_t number, struct error *err)
{
    static int (*const compute[])(struct workload *, size_t, struct error *) = {
        [IMPLEMENTATION_OPERATION] = by_operation,
        [IMPLEMENTATION_KERNEL] = by_kernel,
        [IMPLEMENTATION_LIBRARY] = reference_library_compute,
        [IMPLEMENTATION_COMMAND] = reference_command_compute,
        [IMPLEMENTATION_FILES] = by_files,
    };
    const enum implementation_kind kind = w->reference.kind;
    struct device_problem *p = &w->problems[number];
    int failed = 0;
    if (kind != IMPLEMENTATION_NONE && !compute[kind])
        return error_set(err, "a reference cannot be a %s", implementation_words[kind]);
    if (kind != IMPLEMENTATION_NONE) failed = compute[kind](w, number, err);
    if (!failed) failed = set_parts(w, p, err);
    if (!failed && kind != IMPLEMENTATION_NONE && kind != IMPLEMENTATION_OPERATION) failed = plain_bounds(w, p, err);
    if (!failed) failed = look_at_sizes(w, p, err);
    if (!failed && kind != IMPLEMENTATION_NONE) failed = look_at_range(w, p, err);
    return failed ? failed : hide(w, p, err);
}
