// See reference_library.h.
#include "tuner/gpu/reference_library.h"

static struct sweetspot_array in_own_layout(const struct device_buffer *b, int output)
{
    return (struct sweetspot_array){b->name, element_name(b->view.type), output, b->view.rows, b->view.cols, b->view.ld,
                                    NULL};
}

// Adds an array for each buffer that holds contents before a launch, but none for scratch.
static void add_contents(struct library_call *c, const struct device_problem *p, int output, bool written)
{
    for (size_t i = 0; i < p->buffers.count; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        struct sweetspot_array a = in_own_layout(b, output);
        if (buffer_is_input(b)) library_call_add(c, &a, b->bytes, written);
    }
}

static int read_contents(struct workload *w, const struct device_problem *p, struct library_call *c, struct error *err)
{
    size_t n = 0;
    int failed = 0;
    for (size_t i = 0; i < p->buffers.count && !failed; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        if (buffer_is_input(b)) failed = cuda_fetch(w->cuda, c->list[n++].about.data, b->view.device, b->bytes, err);
    }
    return failed;
}

static int reports_failure(const struct workload *w, const char *function, struct error *err)
{
    return error_set(err, "the reference function %s in %s reports failure", function, w->reference.library.path);
}

// ---- expected values -----------------------------------------------------------------------------------------------

// Converts data in the buffer's layout to dense rows of double or int64_t.
static void widen(const struct device_buffer *b, const void *data, void *wide)
{
    bool floats = element_is_float(b->view.type);
    size_t size = element_size(b->view.type), n = 0;
    for (int64_t r = 0; r < b->view.rows; r++)
        for (int64_t c = 0; c < b->view.cols; c++, n++) {
            const char *from = (const char *)data + (size_t)(r * b->view.ld + c) * size;
            if (floats)
                ((double *)wide)[n] = element_load(b->view.type, from);
            else
                ((int64_t *)wide)[n] = element_load_integer(b->view.type, from);
        }
}

// Reads inputs as they are on the device; outputs are dense rows of double or int64_t, with initial contents if they
// are inputs too.
static int read_arrays(struct workload *w, const struct device_problem *p, struct library_call *c, struct error *err)
{
    int failed = 0;
    size_t n = 0;
    for (size_t i = 0; i < p->buffers.count && !failed; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        autofree void *own = NULL;
        if (b->direction == DIRECTION_SCRATCH) continue;
        void *data = c->list[n++].about.data;
        if (b->direction == DIRECTION_IN) failed = cuda_fetch(w->cuda, data, b->view.device, b->bytes, err);
        if (b->direction == DIRECTION_INOUT && !(failed = buffer_download(w->cuda, b, &own, err))) widen(b, own, data);
    }
    return failed;
}

int reference_library_compute(struct workload *w, size_t problem, struct error *err)
{
    struct device_problem *p = &w->problems[problem];
    const char *function = w->reference.library.function;
    struct library_answer answer;
    const unsigned first = 0;
    size_t n = 0;
    if (!*function) return 0;
    autofree struct library_call *c = memory_try(1, sizeof *c, err);
    if (!c) return -1;
    for (size_t i = 0; i < p->buffers.count; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        struct sweetspot_array a = in_own_layout(b, buffer_is_output(b));
        if (b->direction == DIRECTION_SCRATCH) continue;
        if (a.output) {
            a.type = element_is_float(b->view.type) ? "f64" : "i64";
            a.ld = a.cols;
        }
        library_call_add(c, &a, a.output ? buffer_elements(b) * 8 : b->bytes, a.output);
    }
    int failed = library_call_open(c, err);
    if (!failed) failed = buffers_restore(&p->buffers, &first, 1, CONTENT_ZEROS, err);
    if (!failed) failed = read_arrays(w, p, c, err);
    if (!failed) failed = library_call_run(c, &w->reference, LIBRARY_REFERENCE, function, p->request, 0, &answer, err);
    if (!failed && answer.returned) failed = reports_failure(w, function, err);
    for (size_t i = 0; i < p->buffers.count && !failed; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        if (b->direction == DIRECTION_SCRATCH) continue;
        const struct library_array *a = &c->list[n++];
        if (a->written) failed = cuda_store(w->cuda, p->filled->bound[i].expected, a->about.data, a->bytes, err);
    }
    library_call_release(c);
    return failed;
}

// ---- inputs --------------------------------------------------------------------------------------------------------

// Checks whether the padding of each row, which is a guard, is unchanged. If not, -1 with the row in the message.
static int check_padding(const struct device_buffer *b, const char *now, const char *before, const char *function,
                         struct error *err)
{
    size_t size = element_size(b->view.type), used = (size_t)b->view.cols * size, pitch = (size_t)b->view.ld * size;
    for (int64_t r = 0; r < b->view.rows; r++)
        if (memcmp(now + (size_t)r * pitch + used, before + (size_t)r * pitch + used, pitch - used) != 0)
            return error_set(err, "'%s' wrote after the %lld columns of row %lld of %s", function,
                             (long long)b->view.cols, (long long)r, b->name);
    return 0;
}

// Calls "generate" on the contents of `before`. The result is in `c`.
static int generate(struct workload *w, const struct device_problem *p, struct library_call *c,
                    const unsigned char *before, uint64_t seed, struct error *err)
{
    const char *function = w->reference.library.generate;
    struct library_answer answer;
    for (size_t i = 0; i < c->count; i++) memcpy(c->list[i].about.data, before + c->list[i].offset, c->list[i].bytes);
    int failed = library_call_run(c, &w->reference, LIBRARY_GENERATE, function, p->request, seed, &answer, err);
    return !failed && answer.returned ? reports_failure(w, function, err) : failed;
}

// Names the array whose bytes differ from those of the previous call.
static int compare_calls(const struct library_call *c, const unsigned char *once, const char *function,
                         struct error *err)
{
    for (size_t i = 0; i < c->count; i++)
        if (memcmp(c->list[i].about.data, once + c->list[i].offset, c->list[i].bytes) != 0)
            return error_set(err, "'%s' makes different values for %s when it is called again with the same seed",
                             function, c->list[i].about.name);
    return 0;
}

int reference_library_generate(struct workload *w, struct device_problem *p, unsigned set, struct error *err)
{
    const char *function = w->reference.library.generate;
    size_t n = 0;
    if (!*function) return 0;
    autofree struct library_call *c = memory_try(1, sizeof *c, err);
    if (!c) return -1;
    add_contents(c, p, 1, true);
    int failed = library_call_open(c, err);
    autofree unsigned char *before = failed ? NULL : memory_try(c->size, 1, err),
                           *once = before ? memory_try(c->size, 1, err) : NULL;
    if (!once) failed = -1;
    if (!failed) failed = read_contents(w, p, c, err);
    if (!failed) memcpy(before, c->memory, c->size);
    if (!failed) failed = generate(w, p, c, before, p->filled->seed, err);
    if (!failed) memcpy(once, c->memory, c->size);
    if (!failed) failed = generate(w, p, c, before, p->filled->seed, err);
    if (!failed) failed = compare_calls(c, once, function, err);
    for (size_t i = 0; i < p->buffers.count && !failed; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        if (!buffer_is_input(b)) continue;
        const struct library_array *a = &c->list[n++];
        failed = check_padding(b, a->about.data, (const char *)before + a->offset, function, err);
        if (!failed) failed = cuda_store(w->cuda, b->view.device, a->about.data, b->bytes, err);
        if (!failed && b->origin[set]) failed = cuda_copy(w->cuda, b->origin[set], b->view.device, b->bytes, err);
    }
    library_call_release(c);
    return failed;
}

// ---- verdicts ------------------------------------------------------------------------------------------------------

bool reference_library_judges(const struct workload *w)
{
    return w->settings.verify.enabled && *w->reference.library.verify;
}

int reference_library_keep(struct workload *w, struct device_problem *p, struct error *err)
{
    struct host_verifier *judge = &p->filled->judge;
    const unsigned first = 0;
    if (!reference_library_judges(w)) return 0;
    library_call_release(&judge->call);
    judge->known_count = 0;
    add_contents(&judge->call, p, 0, false);
    for (size_t i = 0; i < p->buffers.count; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        struct sweetspot_array a = in_own_layout(b, 1);
        if (buffer_is_output(b)) library_call_add(&judge->call, &a, b->bytes, false);
    }
    int failed = library_call_open(&judge->call, err);
    if (!failed) failed = buffers_restore(&p->buffers, &first, 1, CONTENT_ZEROS, err);
    return failed ? failed : read_contents(w, p, &judge->call, err);
}

// The verdict on these bits, if it is known.
static bool recall(const struct host_verifier *judge, const char *hash, struct host_verdict *verdict)
{
    size_t known = judge->known_count < HOST_VERDICTS_KNOWN ? judge->known_count : HOST_VERDICTS_KNOWN;
    for (size_t i = 0; i < known; i++)
        if (!strcmp(judge->known[i].hash, hash)) {
            *verdict = judge->known[i].verdict;
            return true;
        }
    return false;
}

int reference_library_verify(struct workload *w, struct device_problem *p, const struct buffers *in, unsigned copy,
                             struct host_verdict *verdict, struct error *err)
{
    struct host_verifier *judge = &p->set[in->set[copy]].judge;
    struct library_call *c = &judge->call;
    struct library_answer answer;
    char hash[HASH_TEXT_SIZE];
    struct hash *h = hash_new();
    size_t n = 0;
    int failed = 0;
    while (n < c->count && !c->list[n].about.output) n++;
    hash_bytes(h, &w->checksums.key, sizeof w->checksums.key);
    for (size_t i = 0; i < in->count && !failed; i++) {
        const struct device_buffer *b = &in->list[i];
        if (!buffer_is_output(b)) continue;
        const struct library_array *a = &c->list[n++];
        failed = cuda_fetch(w->cuda, a->about.data, b->view.device + (uint64_t)in->shift[copy], b->bytes, err);
        hash_bytes(h, a->about.data, a->bytes);
    }
    hash_finish(h, hash);
    if (failed || recall(judge, hash, verdict)) return failed;
    *verdict = (struct host_verdict){0};
    const char *function = w->reference.library.verify;
    failed = library_call_run(c, &w->reference, LIBRARY_VERIFY, function, p->request, 0, &answer, &verdict->why);
    verdict->wrong = failed || answer.returned;
    if (!failed && answer.returned)
        error_set(&verdict->why, "%s: %s", function, *answer.why.message ? answer.why.message : "it gives no reason");
    struct host_known *known = &judge->known[judge->known_count++ % HOST_VERDICTS_KNOWN];
    memcpy(known->hash, hash, sizeof hash);
    known->verdict = *verdict;
    return 0;
}

void reference_library_release(struct device_problem *p)
{
    for (int set = 0; set < 2; set++) library_call_release(&p->set[set].judge.call);
}
