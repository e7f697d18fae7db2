// Expected values kept in files (tuner/gpu/reference_cache.c), and loops over all cores (kernels/parallel.c). No GPU is
// needed: addresses only serve as names here.
#include "tests/e2e.h"

#include "kernels/parallel.h"
#include "tuner/gpu/reference_cache.h"

enum { N = 1000 };

// A problem of iamax: x in, value and index out.
static void set_up(struct workload *w, struct device_problem *p, const char *folder)
{
    memset(w, 0, sizeof *w);
    memset(p, 0, sizeof *p);
    w->operation = operation_find("iamax", NULL);
    record_clear(&implementation_request_record, &w->reference);
    w->reference.cache = folder;
    static const char *const names[] = {"x", "value", "index"};
    static const enum element types[] = {ELEMENT_F32, ELEMENT_F32, ELEMENT_I64};
    for (int i = 0; i < 3; i++) {
        struct device_buffer *b = &p->buffers.list[p->buffers.count++];
        b->name = names[i];
        b->direction = i ? DIRECTION_OUT : DIRECTION_IN;
        b->view = (struct operand){
            .type = types[i], .rows = 1, .cols = i ? 1 : N, .ld = i ? 1 : N, .device = 4096u * (unsigned)(i + 1)};
        p->operation.operand[operation_role(w->operation, names[i])] = b->view;
    }
    p->buffers.list[0].content = 12345;
}

TEST(kept_values_come_back_for_the_same_data_and_no_other)
{
    char *folder = e2e_folder("kept");
    struct workload w;
    struct device_problem p;
    char path[REFERENCE_CACHE_PATH_MAX], other[REFERENCE_CACHE_PATH_MAX];
    set_up(&w, &p, folder);
    int value = operation_role(w.operation, "value"), index = operation_role(w.operation, "index");
    double largest = 0.75, largest_back = 0;
    float scale = 0.5f, scale_back = 0;
    int64_t location = 77, place_back = 0;
    struct operation_expected out[OPERATION_ROLES_MAX] = {0}, back[OPERATION_ROLES_MAX] = {0};
    out[value] = (struct operation_expected){
        .host_expected = &largest, .host_scale = &scale, .per_scale = 1, .per_value = 2, .floor = 3};
    out[index].host_exact = &location;
    back[value] = (struct operation_expected){.host_expected = &largest_back, .host_scale = &scale_back};
    back[index].host_exact = &place_back;

    assert_true(reference_cache_path(&w, &p, path));
    assert_false(reference_cache_read(path, &w, &p, back));
    reference_cache_write(path, &w, &p, out);
    assert_true(reference_cache_read(path, &w, &p, back));
    assert_true(largest_back == largest && scale_back == scale && place_back == location);
    assert_true(back[value].per_scale == 1 && back[value].per_value == 2 && back[value].floor == 3);

    p.buffers.list[0].content++; // other data
    assert_true(reference_cache_path(&w, &p, other));
    assert_string_not_equal(path, other);
    p.buffers.list[0].content--;
    p.operation.value[0] = N; // another size
    assert_true(reference_cache_path(&w, &p, other));
    assert_string_not_equal(path, other);
    p.operation.value[0] = 0;

    FILE *file = fopen(path, "r+b"); // one bit of a value
    assert_non_null(file);
    fseek(file, 40, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, 40, SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
    assert_false(reference_cache_read(path, &w, &p, back));
    reference_cache_write(path, &w, &p, out);
    assert_true(reference_cache_read(path, &w, &p, back));
    assert_int_equal(truncate(path, 20), 0); // truncated
    assert_false(reference_cache_read(path, &w, &p, back));
}

TEST(what_has_no_checksum_is_not_kept)
{
    struct workload w;
    struct device_problem p;
    char path[REFERENCE_CACHE_PATH_MAX];
    set_up(&w, &p, "somewhere");
    p.buffers.list[1].direction = DIRECTION_INOUT; // its old contents may matter
    assert_false(reference_cache_path(&w, &p, path));
    set_up(&w, &p, "");
    assert_false(reference_cache_path(&w, &p, path));
}

static void count(void *user, int64_t begin, int64_t end)
{
    unsigned char *seen = user;
    for (int64_t i = begin; i < end; i++) seen[i]++;
}

TEST(a_loop_over_all_cores_does_every_piece_once)
{
    static const int64_t sizes[] = {0, 1, 7, 1000, 100003}, grains[] = {0, 1, 64, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof grains / sizeof *grains; k++) {
            autofree unsigned char *seen = calloc((size_t)sizes[i] + 1, 1);
            parallel_for(sizes[i], grains[k], count, seen);
            for (int64_t j = 0; j < sizes[i]; j++) assert_int_equal(seen[j], 1);
            assert_int_equal(seen[sizes[i]], 0);
        }
}

// The number of pieces of the loop that are done.
static _Atomic int done;

static void take_a_tenth_of_a_second(void *user, int64_t begin, int64_t end)
{
    (void)user, (void)begin, (void)end;
    usleep(100000);
    done++;
}

struct reported {
    int times, pieces;
    double last;
};

static void note_share(void *user, double share)
{
    struct reported *t = user;
    assert_true(share > t->last && share <= 1);
    assert_true(share * t->pieces >= done - 0.5); // pieces handed out: those done, at most one more per thread
    assert_true(share * t->pieces <= done + 64.5 || share == 1);
    t->last = share;
    t->times++;
}

TEST(a_long_loop_says_how_far_it_is)
{
    struct reported reported = {0};
    long cores = sysconf(_SC_NPROCESSORS_ONLN), threads = cores < 64 ? cores : 64;
    parallel_watch(note_share, &reported);
    parallel_for(threads, 1, take_a_tenth_of_a_second, NULL); // too early for a report
    assert_int_equal(reported.times, 0);
    reported.pieces = (int)(35 * threads);
    done = 0;
    parallel_for(35 * threads, 1, take_a_tenth_of_a_second, NULL);
    parallel_watch(NULL, NULL);
    assert_true(reported.times >= 1);
}

TEST_MAIN(NULL, NULL)
