// The soak (tuner/gpu/soak.c) and the placement of buffers at drawn addresses, on a fake device, whose memory is host
// memory (tests/fuzz/fake_cuda.h). Here candidates are functions that compute y[i] = 2 * x[i] + s[i], most of them
// wrong in some way.
#include <unistd.h>

#include "tests/fuzz/fake_cuda.h"
#include "tests/opened_buffers.h"
#include "tuner/gpu/graph_check.h"
#include "tuner/gpu/mixed_data.h"
#include "tuner/gpu/placement.h"
#include "tuner/gpu/soak.h"
#include "tuner/gpu/zeros_needed.h"

enum { X, S, Y, SCRATCH, BUFFERS, PROBLEMS = 2, LARGEST = 300 };
static const int sizes[PROBLEMS] = {300, 77};

struct bench {
    struct workload w;
    struct device_problem problems[PROBLEMS];
    struct pipeline pipeline;
    double expected[PROBLEMS][SETS_MAX][LARGEST];
};

typedef void candidate(const float *x, const float *s, float *y, float *scratch, int n);
static candidate *kernel;
static int launches;

static const float *floats(uint64_t address)
{
    return (const float *)(uintptr_t)address;
}

// Stands for both the candidate's kernel and the worker's comparison kernel. As the latter, it only counts wrong
// elements.
static void run_kernel(void **args)
{
    if (!strcmp(fake_launched, "candidate")) {
        launches++;
        kernel(*(const float **)args[X], *(const float **)args[S], *(float **)args[Y], *(float **)args[SCRATCH],
               *(const int *)args[BUFFERS]);
    } else if (!strcmp(fake_launched, "support_compare_f32")) {
        const float *out = *(const float **)args[0];
        const double *expected = *(const double **)args[4];
        int64_t n = *(const int64_t *)args[1] * *(const int64_t *)args[2];
        struct verify_finding *to = *(struct verify_finding **)args[14];
        for (int64_t i = 0; i < n; i++) to->bad += !(out[i] == expected[i]);
    }
}

static void open_problem(struct bench *b, int k)
{
    struct device_problem *p = &b->problems[k];
    struct error err = {""};
    char text[512];
    snprintf(text, sizeof text,
             "[{\"name\":\"x\",\"type\":\"f32\",\"cols\":%d},{\"name\":\"s\",\"type\":\"f32\",\"cols\":%d},"
             "{\"name\":\"y\",\"type\":\"f32\",\"cols\":%d,\"direction\":\"out\",\"fill\":{\"kind\":\"uniform\"}},"
             "{\"name\":\"scratch\",\"type\":\"f32\",\"cols\":%d,\"direction\":\"scratch\"}]",
             sizes[k], sizes[k], sizes[k], sizes[k]);
    p->workload = &b->w;
    p->name = k ? "small" : "large";
    if (open_buffers(&p->buffers, b->w.support, text, &err) || buffers_second(&p->buffers, &err))
        fail_msg("%s", err.message);
    for (unsigned set = 0; set < 2; set++)
        for (int i = 0; i < sizes[k]; i++) {
            ((float *)floats(p->buffers.list[X].view.device + (uint64_t)p->buffers.shift[set]))[i] =
                (float)(1000 * k + i + (set ? 7 * i + 5 : 0));
            ((float *)floats(p->buffers.list[S].view.device + (uint64_t)p->buffers.shift[set]))[i] =
                (float)(3 * i + (set ? 11 : 0));
        }
    assert_true(mixed_data_draw(p));
    p->mixed.known = 2;
    for (unsigned set = 0; set < SETS_MAX; set++) {
        p->set[set].bound[Y].expected = (uint64_t)(uintptr_t)b->expected[k][set];
        p->set[set].compared[Y] = sizes[k];
        for (int i = 0; i < sizes[k]; i++) {
            const size_t buffer = p->mixed.piece[set & 1].buffer, offset = p->mixed.piece[set & 1].offset;
            bool changed = (size_t)i * 4 >= offset && (size_t)i * 4 < offset + p->mixed.piece[set & 1].bytes;
            unsigned of[2];
            for (size_t in = X; in <= S; in++) of[in] = (set & 1) ^ (set >= SET_MIXED && changed && buffer == in);
            b->expected[k][set][i] = 2 * floats(p->buffers.list[X].view.device + (uint64_t)p->buffers.shift[of[X]])[i] +
                                     floats(p->buffers.list[S].view.device + (uint64_t)p->buffers.shift[of[S]])[i];
        }
    }
}

static void open_part(struct bench *b, int k)
{
    struct pipeline_part *part = &b->pipeline.parts[k];
    struct error err = {""};
    *part = (struct pipeline_part){.cuda = &fake_device, .pipeline = &b->pipeline, .home = &b->problems[k].buffers};
    part->symbol_bindings.buffers = part->home;
    part->launch = calloc(2, sizeof *part->launch);
    struct pipeline_launch *l = part->launch;
    l->geometry = (struct cuda_geometry){.grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
    if (cuda_module_kernel(NULL, "candidate", &l->kernel, &err)) fail_msg("%s", err.message);
    for (l->count = 0; l->count < BUFFERS; l->count++) {
        l->argument[l->count].value = part->home->list[l->count].view.device;
        l->argument[l->count].pointer = true;
    }
    l->argument[l->count++].value = (uint64_t)sizes[k];
    part->count = part->stage_count = 1;
}

static void bench_open(struct bench *b, bool placed)
{
    struct error err = {""};
    memset(b, 0, sizeof *b);
    b->w.cuda = &fake_device;
    b->w.problem_count = PROBLEMS;
    b->w.problems = b->problems;
    b->w.settings.verify = (struct verify_settings){.enabled = true, .deterministic = true, .guard_bytes = 64};
    b->w.events.list = calloc(2 * PROBLEMS, sizeof *b->w.events.list);
    b->w.judged.samples = calloc(MEASURE_BATCH, sizeof *b->w.judged.samples);
    if (support_open(&b->w.support, &fake_device,
                     "\x7f"
                     "ELF",
                     &err) ||
        measure_open(&b->w.measure, &fake_device, b->w.support, NULL, &b->w.settings.measure, &err))
        fail_msg("%s", err.message);
    for (int k = 0; k < PROBLEMS; k++) open_problem(b, k);
    if (placed && placement_open(&b->w.placement, &b->w, &err)) fail_msg("%s", err.message);
    b->pipeline.cuda = &fake_device;
    b->pipeline.problem_count = PROBLEMS;
    b->pipeline.parts = calloc(PROBLEMS, sizeof *b->pipeline.parts);
    for (int k = 0; k < PROBLEMS; k++) open_part(b, k);
    fake_kernel = run_kernel;
    launches = 0;
}

static void bench_close(struct bench *b)
{
    fake_kernel = NULL;
    pipeline_release(&b->pipeline);
    placement_close(b->w.placement);
    for (int k = 0; k < PROBLEMS; k++) buffers_release(&b->problems[k].buffers);
    measure_close(b->w.measure);
    support_close(b->w.support);
    free(b->w.judged.samples);
    free(b->w.events.list);
}

// ---- candidates

static void right(const float *x, const float *s, float *y, float *scratch, int n)
{
    for (int i = 0; i < n; i++) y[i] = 2 * x[i] + s[i];
    for (int i = 0; i < n; i++) scratch[i] = -1;
}

// Remembers answers under a key that each candidate derives from its inputs.
static struct {
    const void *key[2];
    float first;
    int n;
    float y[LARGEST];
} remembered[64];
static int remembered_count;

static void remember(const void *a, const void *b, float first, const float *x, const float *s, float *y, int n)
{
    for (int m = 0; m < remembered_count; m++)
        if (remembered[m].key[0] == a && remembered[m].key[1] == b && remembered[m].first == first &&
            remembered[m].n == n) {
            memcpy(y, remembered[m].y, (size_t)n * sizeof *y);
            return;
        }
    for (int i = 0; i < n; i++) y[i] = 2 * x[i] + s[i];
    if (remembered_count == 64) return;
    remembered[remembered_count].key[0] = a;
    remembered[remembered_count].key[1] = b;
    remembered[remembered_count].first = first;
    remembered[remembered_count].n = n;
    memcpy(remembered[remembered_count++].y, y, (size_t)n * sizeof *y);
}

static void by_address(const float *x, const float *s, float *y, float *scratch, int n)
{
    (void)scratch;
    remember(x, s, 0, x, s, y, n);
}

static void by_sample(const float *x, const float *s, float *y, float *scratch, int n)
{
    (void)scratch;
    remember(NULL, NULL, x[0] + s[0], x, s, y, n);
}

static void by_samples(const float *x, const float *s, float *y, float *scratch, int n)
{
    float sum = 0;
    (void)scratch;
    for (int i = 0; i < 8; i++) sum += x[n * i / 8] + s[n * i / 8];
    remember(NULL, NULL, sum, x, s, y, n);
}

static void by_size(const float *x, const float *s, float *y, float *scratch, int n)
{
    (void)scratch;
    remember(NULL, NULL, 0, x, s, y, n);
}

static void wide_accesses(const float *x, const float *s, float *y, float *scratch, int n)
{
    (void)scratch;
    const float *a = floats((uint64_t)(uintptr_t)x & ~(uint64_t)255); // as if x were aligned
    for (int i = 0; i < n; i++) y[i] = 2 * a[i] + s[i];
}

static void aligned_alike(const float *x, const float *s, float *y, float *scratch, int n)
{
    const uintptr_t before = ((uintptr_t)s - (uintptr_t)x) % 32; // what a loop over whole vectors would skip
    right(x, s, y, scratch, n);
    for (size_t i = 0; i < before / sizeof *y; i++) y[i] = 0;
}

static void counter_wraps(const float *x, const float *s, float *y, float *scratch, int n)
{
    right(x, s, y, scratch, n);
    if (launches > 40) y[n - 1] += 1;
}

// Mistakes its own mark for the mark of an unfinished launch with more elements.
static void flag_in_scratch(const float *x, const float *s, float *y, float *scratch, int n)
{
    right(x, s, y, scratch, n);
    if (launches > 1 && scratch[LARGEST / 2] == -1 && n < LARGEST / 2) y[0] = 0;
}

static const struct {
    candidate *kernel;
    const char *said; // NULL: the candidate passes
} cases[] = {
    {right, NULL},
    {by_address, "in one loaded module (unlike the first: "},
    {by_sample, "a part of one input changed"},
    {by_samples, "a part of one input changed"},
    {by_size, "in one loaded module (unlike the first: "},
    {wide_accesses, "in one loaded module"},
    {aligned_alike, "in one loaded module"},
    {counter_wraps, " of 64 in one loaded module"},
    {flag_in_scratch, "problem small: in launch "},
};

TEST(what_works_in_one_state_of_memory_only_is_found)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench *b = malloc(sizeof *b);
        enum trial_status status = STATUS_WRONG;
        struct error reason = {""}, err = {""};
        char said[sizeof reason.message] = "";
        int wrong = 0, failed = 0;
        kernel = cases[i].kernel;
        for (int n = 0; n < 60 && !failed; n++) { // a single run may miss it by chance
            bench_open(b, true);
            remembered_count = 0;
            failed = soak_run(&b->w, &b->pipeline, &(struct soak_budget){64, 64, 10}, &status, &reason, &err);
            if (status == STATUS_OK) assert_int_equal(launches, 64);
            wrong += status != STATUS_OK;
            if (cases[i].said && strstr(reason.message, cases[i].said)) strcpy(said, reason.message);
            bench_close(b);
        }
        if (failed) fail_msg("case %zu: %s", i, err.message);
        if (!cases[i].said && wrong) fail_msg("a right kernel is refused: %s", reason.message);
        if (cases[i].said && (wrong < 45 || !*said)) fail_msg("case %zu: %d of 60: %s", i, wrong, reason.message);
        free(b);
    }
}

static void slow(const float *x, const float *s, float *y, float *scratch, int n)
{
    right(x, s, y, scratch, n);
    usleep(500000);
}

TEST(of_a_slow_kernel_one_launch_is_soaked_and_counted)
{
    struct bench *b = malloc(sizeof *b);
    enum trial_status status;
    struct error reason, err = {""};
    bench_open(b, true);
    kernel = slow;
    fake_seconds = 0.5;
    for (int k = 0; k < PROBLEMS; k++) b->problems[k].ran[0] = true;
    assert_int_equal(soak_run(&b->w, &b->pipeline, &soak_of_best, &status, &reason, &err), 0);
    fake_seconds = 1e-3;
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(launches, 1);
    assert_int_equal(b->w.judged.launches, 1);
    bench_close(b);
    free(b);
}

TEST(placed_buffers_are_aligned_as_promised_and_no_better)
{
    struct bench *b = malloc(sizeof *b);
    struct error err = {""};
    bool moved = false, odd[BUFFERS] = {false}, even[BUFFERS] = {false};
    bench_open(b, true);
    uint64_t before[BUFFERS] = {0};
    int pattern[BUFFERS] = {0};
    for (int n = 0; n < 60; n++) {
        const struct placement *p = b->w.placement;
        placement_draw(b->w.placement, &b->w, (unsigned)n);
        if (n % PLACEMENT_TURNS == 0) { // a series begins: all patterns of the previous series have been seen
            for (size_t i = 0; i < BUFFERS && n; i++) assert_true(pattern[i] & 3);
            for (size_t i = 0; i < BUFFERS && n; i++)
                for (size_t j = 0; j < i; j++) assert_int_not_equal(pattern[i], pattern[j]);
            memset(pattern, 0, sizeof pattern);
        }
        for (size_t i = 0; i < BUFFERS; i++) {
            const struct device_buffer *large = &p->placed[0].list[i], *small = &p->placed[1].list[i];
            assert_int_equal(large->view.device, small->view.device);
            assert_int_equal(large->view.device % 16, 0);
            pattern[i] |= (large->view.device % 32 != 0) << n % PLACEMENT_TURNS;
            (large->view.device % 32 ? odd : even)[i] = true;
            moved |= before[i] && before[i] != large->view.device;
            before[i] = large->view.device;
            for (size_t j = 0; j < i; j++) { // the buffers and their guards do not overlap
                const struct device_buffer *other = &p->placed[0].list[j];
                assert_true(large->slot >= other->view.device + other->bytes + 64 ||
                            other->slot >= large->view.device + large->bytes + 64);
            }
        }
    }
    assert_true(moved);
    for (size_t i = 0; i < BUFFERS; i++) assert_true(odd[i] && even[i]);
    // Inputs are copied, including those of the mixed set; outputs are not touched.
    for (unsigned set = 0; set < SETS_MAX; set++) {
        struct buffers *to = &b->w.placement->placed[1];
        float *y = (float *)floats(to->list[Y].view.device);
        y[0] = 42;
        if (placement_fill(b->w.placement, &b->w, 1, set, &err)) fail_msg("%s", err.message);
        const float *x = floats(to->list[X].view.device), *s = floats(to->list[S].view.device);
        for (int i = 0; i < sizes[1]; i++) assert_true(2 * x[i] + s[i] == b->expected[1][set][i]);
        assert_true(y[0] == 42 && to->set[0] == set);
    }
    bench_close(b);
    free(b);
}

TEST(without_room_elsewhere_the_problems_own_copies_are_soaked)
{
    struct bench *b = malloc(sizeof *b);
    enum trial_status status;
    struct error reason, err = {""};
    bench_open(b, false);
    kernel = by_size;
    remembered_count = 0;
    assert_int_equal(soak_run(&b->w, &b->pipeline, &soak_of_best, &status, &reason, &err), 0);
    assert_int_equal(status, STATUS_WRONG);
    bench_close(b);
    free(b);
}

TEST(a_soak_without_memory_is_left_out)
{
    static const char *const without[] = {"support_load", "candidate"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        struct bench *b = malloc(sizeof *b);
        enum trial_status status;
        struct error reason, err = {""};
        bench_open(b, true);
        kernel = right;
        fake_memory_for.kernel = without[i];
        fake_memory_for.launches = i ? 20 : 0;
        assert_int_equal(soak_run(&b->w, &b->pipeline, &soak_of_best, &status, &reason, &err), 0);
        fake_memory_for.kernel = NULL;
        assert_int_equal(status, STATUS_OK);
        bench_close(b);
        free(b);
    }
}

static void counter_in_scratch(const float *x, const float *s, float *y, float *scratch, int n)
{
    for (int i = 0; i < n; i++) y[i] = 2 * x[i] + s[i] + scratch[0];
    scratch[0] = 1;
}

static void adds_to_output(const float *x, const float *s, float *y, float *scratch, int n)
{
    (void)scratch;
    for (int i = 0; i < n; i++) y[i] += 2 * x[i] + s[i];
}

static void off_by_one(const float *x, const float *s, float *y, float *scratch, int n)
{
    (void)scratch;
    for (int i = 0; i < n; i++) y[i] = 2 * x[i] + s[i] + 1;
}

TEST(a_kernel_that_needs_zeros_is_told_what_to_write_in_the_job)
{
    static const struct {
        candidate *kernel;
        const char *said;
    } needs[] = {{counter_in_scratch,
                  "'scratch' holds zeros before the launch: if the kernel needs these zeros, write fill = \"zero\""},
                 {adds_to_output,
                  "'y' holds zeros before the launch: if the kernel needs these zeros, write direction = \"inout\""},
                 {off_by_one, NULL},
                 {right, NULL}}; // the cause was another state of the module, or other sizes
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        struct bench *b = malloc(sizeof *b);
        struct error reason = {"y[0] is 1"}, err = {""};
        bench_open(b, true);
        kernel = needs[i].kernel;
        for (int k = 0; k < PROBLEMS; k++) // the previous contents
            for (int buffer = Y; buffer <= SCRATCH; buffer++)
                *(float *)floats(b->problems[k].buffers.list[buffer].view.device) = 7;
        if (zeros_needed(&b->w, &b->pipeline, &reason, &err)) fail_msg("%s", err.message);
        if (needs[i].said ? !strstr(reason.message, needs[i].said) : strcmp(reason.message, "y[0] is 1") != 0)
            fail_msg("case %zu: %s", i, reason.message);
        bench_close(b);
        free(b);
    }
}

TEST(a_time_that_needs_what_earlier_launches_left_is_refused)
{
    assert_true(graph_check_agrees(5e-6, 5e-6) && graph_check_agrees(5e-6, 7e-6) && graph_check_agrees(5e-6, 1e-6));
    assert_false(graph_check_agrees(5e-6, 12e-6));
    assert_false(graph_check_agrees(20e-6, 40e-6));
}

TEST_MAIN(NULL, NULL)
