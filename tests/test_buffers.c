// A problem's memory (tuner/gpu/buffers.c) on a fake device, whose memory is host memory (tests/fuzz/fake_cuda.h). Only
// the part that the host fills is tested: relations hold in both data sets and in any layout, and padding is unchanged.
#include "tests/fuzz/fake_cuda.h"
#include "tests/opened_buffers.h"
#include "tuner/gpu/addresses.h"

static struct error err; // of the last call that failed

static double at(const struct buffers *s, int i, unsigned set, int64_t row, int64_t col)
{
    const struct operand *v = &s->list[i].view;
    uint64_t address = v->device + (uint64_t)s->shift[set] + (uint64_t)(row * v->ld + col) * element_size(v->type);
    return element_load(v->type, (const void *)(uintptr_t)address);
}

enum { A, ROWS, ORDER, IN_PLACE };

TEST(relations_hold_in_both_sets_and_every_layout)
{
    static const char list[] =
        "[{\"name\":\"A\",\"type\":\"f32\",\"rows\":30,\"cols\":20,\"ld\":24,\"fill\":{\"kind\":\"sorted\",\"low\":-1,"
        "\"high\":1}},{\"name\":\"rows\",\"type\":\"i32\",\"cols\":101,\"ld\":101,\"fill\":{\"kind\":\"offsets\","
        "\"total\":5000}},{\"name\":\"order\",\"type\":\"u16\",\"cols\":600,\"ld\":600,\"fill\":{\"kind\":"
        "\"permutation\"},\"restore\":true},{\"name\":\"in_place\",\"type\":\"f32\",\"rows\":30,\"cols\":20,\"ld\":20,"
        "\"direction\":\"inout\",\"fill\":{\"kind\":\"sorted\",\"low\":-1,\"high\":1}}]";
    struct buffers s;
    struct support *support;
    if (support_open(&support, &fake_device,
                     "\x7f"
                     "ELF",
                     &err) ||
        open_buffers(&s, support, list, &err) || buffers_second(&s, &err))
        fail_msg("%s", err.message);
    // A second set has its own memory, which can be freed.
    assert_true(s.list[ORDER].origin[1] && s.list[ORDER].origin[1] != s.list[ORDER].origin[0]);
    buffers_single(&s);
    assert_true(s.sets == 1 && s.list[ORDER].origin[0] && !s.list[ORDER].origin[1]);
    if (buffers_second(&s, &err)) fail_msg("%s", err.message);
    memset((void *)(uintptr_t)s.arena, 0xff, s.arena_bytes); // guards are written by a kernel
    for (unsigned set = 2; set-- > 0;)
        if (buffers_fill(&s, set, 7 + set, &err) || buffers_keep(&s, set, &err)) fail_msg("%s", err.message);
    for (unsigned set = 0; set < 2; set++) {
        char seen[600] = {0};
        for (int64_t i = 0; i < 600; i++) {
            double x = at(&s, A, set, i / 20, i % 20);
            assert_true(i == 0 || x >= at(&s, A, set, (i - 1) / 20, (i - 1) % 20));
            seen[(int)at(&s, ORDER, set, 0, i)]++;
        }
        for (int i = 0; i < 600; i++) assert_int_equal(seen[i], 1);
        assert_true(at(&s, ROWS, set, 0, 0) == 0 && at(&s, ROWS, set, 0, 100) == 5000);
        for (int64_t r = 0; r < 30; r++) // guards between the rows
            for (int64_t c = 20; c < 24; c++) assert_true(isnan(at(&s, A, set, r, c)));
        // Buffers that launches may change have a pristine copy.
        for (int i = ORDER; i <= IN_PLACE; i++)
            assert_memory_equal((const void *)(uintptr_t)s.list[i].origin[set],
                                (const void *)(uintptr_t)(s.list[i].view.device + (uint64_t)s.shift[set]),
                                s.list[i].bytes);
        assert_int_equal(s.list[A].origin[set], 0);
    }
    int differ = 0;
    for (int64_t i = 0; i < 600; i++) differ += at(&s, ORDER, 0, 0, i) < at(&s, ORDER, 1, 0, i);
    assert_true(differ > 100);
    buffers_release(&s);
    support_close(support);
}

// The addresses in each copy lead to that copy's buffers, wherever the copy lies and from whichever copy it was made.
TEST(addresses_lead_to_the_buffers_of_their_copy)
{
    enum { LIST, COPIES = 6 };
    static const char list[] =
        "[{\"name\":\"list\",\"type\":\"u64\",\"cols\":7,\"fill\":{\"kind\":\"addresses\"},\"addresses\":[{\"to\":"
        "\"x\","
        "\"step\":96,\"count\":5},{\"to\":\"y\",\"place\":40,\"at\":4},{\"place\":48}]},"
        "{\"name\":\"x\",\"type\":\"f32\",\"rows\":5,\"cols\":20,\"ld\":24,\"fill\":{\"kind\":\"sorted\"}},"
        "{\"name\":\"y\",\"type\":\"f32\",\"cols\":8,\"direction\":\"out\"}]";
    struct buffers s, placed;
    struct support *support;
    const char *changed;
    if (support_open(&support, &fake_device,
                     "\x7f"
                     "ELF",
                     &err) ||
        open_buffers(&s, support, list, &err) || buffers_second(&s, &err))
        fail_msg("%s", err.message);
    assert_true(!buffer_is_input(&s.list[LIST]) && buffer_is_input(&s.list[LIST + 1]));
    for (int again = 0; again < 2; again++) {
        for (unsigned set = 2; set-- > 0;)
            if (buffers_fill(&s, set, 7, &err) || buffers_keep(&s, set, &err)) fail_msg("%s", err.message);
        if (buffers_clone(&s, COPIES, &err)) fail_msg("%s", err.message);
        for (unsigned c = 0; c < COPIES; c++) {
            uint64_t *held = (uint64_t *)(uintptr_t)(s.list[LIST].view.device + (uint64_t)s.shift[c]);
            for (uint64_t i = 0; i < 5; i++)
                assert_int_equal(held[i], s.list[1].view.device + (uint64_t)s.shift[c] + 96 * i);
            assert_int_equal(held[5], s.list[2].view.device + (uint64_t)s.shift[c] + 4);
            assert_int_equal(held[6], 0);
            assert_true(!addresses_check(&s, c, &changed, &err) && !changed);
            held[c]++; // a kernel's change is found, and repaired when all data are filled again
            assert_true(!addresses_check(&s, c, &changed, &err) && changed && !strcmp(changed, "list"));
        }
    }
    uint64_t elsewhere[BUFFERS_MAX], held[7];
    for (size_t i = 0; i < s.count; i++) elsewhere[i] = (uint64_t)(1 + i) << 40;
    buffers_move(&placed, &s, elsewhere, 64);
    addresses_write(&placed, placed.list[LIST].addresses, placed.list[LIST].address_count, 0, held);
    assert_true(held[4] == (2ull << 40) + 384 && held[5] == (3ull << 40) + 4 && !held[6]);
    buffers_release(&s);
    support_close(support);
}

// The members of a buffer that holds two addresses.
#define ADDRESSES(to, count) \
    "\"type\":\"u64\",\"cols\":2,\"fill\":{\"kind\":\"addresses\"},\"addresses\":[{" to ",\"count\":" count "}]"

TEST(requests_that_do_not_fit_are_refused)
{
    static const struct {
        const char *second, *said;
    } cases[] = {
        {"\"type\":\"f32\",\"cols\":8,\"fill\":{\"kind\":\"copy\"}", "'kind' of a fill is the unknown word 'copy'"},
        {"\"type\":\"f32\",\"cols\":8,\"fill\":{\"kind\":\"offsets\",\"total\":8}", "needs an integer type"},
        {"\"type\":\"u64\",\"cols\":2,\"fill\":{\"kind\":\"addresses\"}", "0 addresses are not all elements"},
        {ADDRESSES("\"to\":\"A\"", "2,\"place\":8"), "addresses of 'A' that are not within their buffers"},
        {ADDRESSES("\"to\":\"A\",\"at\":32", "2"), "addresses of 'A' that are not within their buffers"},
        {ADDRESSES("\"to\":\"A\",\"step\":32", "2"), "addresses of 'A' that are not within their buffers"},
        {ADDRESSES("\"to\":\"A\",\"step\":4611686018427387904", "2"), "that are not within their buffers"},
        {ADDRESSES("\"to\":\"A\"", "1,\"place\":8"), "its addresses do not follow each other"},
        {ADDRESSES("\"to\":\"A\"", "1"), "1 addresses are not all elements"},
        {ADDRESSES("\"to\":\"C\"", "2"), "no buffer 'C' to lead to"},
        {ADDRESSES("\"to\":\"B\"", "2"), "no buffer 'B' to lead to"},
        {"\"type\":\"f64\",\"cols\":2,\"fill\":{\"kind\":\"addresses\"}", "addresses are dense inputs of type u64"},
        {"\"type\":\"u64\",\"cols\":2,\"direction\":\"out\",\"fill\":{\"kind\":\"addresses\"}", "are dense inputs"},
        {"\"type\":\"u64\",\"cols\":2,\"other\":{\"kind\":\"addresses\"}", "addresses are dense inputs"},
        {"\"type\":\"f32\",\"cols\":8,\"direction\":\"out\",\"compare\":{\"sizes\":[8],\"first\":[3],\"count\":[6]}",
         "the part that is compared is not within the buffer"},
        {"\"type\":\"f32\",\"cols\":8,\"direction\":\"out\",\"compare\":{\"sizes\":[4],\"first\":[0],\"count\":[4]}",
         "the part that is compared is not within the buffer"},
        {"\"type\":\"f32\",\"cols\":8,\"direction\":\"out\",\"compare\":{\"sizes\":[8],\"first\":[],\"count\":[]}",
         "the part that is compared is not within the buffer"},
        {"\"type\":\"f32\",\"cols\":8,\"direction\":\"out\",\"compare\":{\"sizes\":[1,1,1,1,1,8],\"first\":[0,0,0,0,0,"
         "0],\"count\":[1,1,1,1,1,8]}",
         "at most 5 dimensions"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        struct buffers s;
        snprintf(text, sizeof text,
                 "[{\"name\":\"A\",\"type\":\"f32\",\"cols\":8},{\"name\":\"out\",\"type\":\"f32\",\"cols\":8,"
                 "\"direction\":\"out\"},{\"name\":\"B\",%s}]",
                 cases[i].second);
        assert_int_not_equal(open_buffers(&s, NULL, text, &err), 0);
        // The first case is rejected before buffers are read, so its message names no buffer.
        if (!strstr(err.message, cases[i].said) || (i && !strstr(err.message, "buffer B")))
            fail_msg("case %zu: %s", i, err.message);
        buffers_release(&s);
    }
}

TEST(a_part_says_how_much_is_compared)
{
    static const char list[] = "[{\"name\":\"y\",\"type\":\"f32\",\"rows\":12,\"cols\":10,\"direction\":\"out\","
                               "\"compare\":{\"sizes\":[3,4,10],\"first\":[0,1,2],\"count\":[3,2,5]}}]";
    struct buffers s;
    if (open_buffers(&s, NULL, list, &err)) fail_msg("%s", err.message);
    const struct part *p = &s.list[0].expected.part;
    assert_int_equal(s.list[0].expected.compared, 30);
    assert_true(p->rank == 3 && p->leading == 120 && p->first[2] == 2 && p->end[2] == 7 && p->size[1] == 4);
    buffers_release(&s);
}

// For each kind of contents, the number of launches, out of 10,000, that had it.
struct kinds {
    int of[CONTENT_PROMISED + 1];
};

static struct kinds count_kinds(const struct buffers *s, size_t i, unsigned copy, unsigned flags)
{
    struct kinds k = {{0}};
    for (int n = 0; n < 10000; n++) k.of[buffers_content(s, i, copy, buffers_key(flags)).kind]++;
    return k;
}

TEST(launches_begin_with_every_content_and_mostly_with_nan_or_random_bits)
{
    enum { OUT, PLAIN, FILLED, INOUT };
    static const char list[] = "[{\"name\":\"out\",\"type\":\"f32\",\"cols\":10,\"direction\":\"out\"},{\"name\":"
                               "\"plain\",\"type\":\"f32\",\"cols\":10,\"direction\":\"scratch\"},{\"name\":\"filled\","
                               "\"type\":\"f32\",\"cols\":10,\"direction\":\"scratch\",\"fill\":{\"kind\":\"zero\"}},{"
                               "\"name\":\"inout\",\"type\":\"f32\",\"cols\":10,\"direction\":\"inout\"}]";
    struct buffers s;
    if (open_buffers(&s, NULL, list, &err) || buffers_second(&s, &err)) fail_msg("%s", err.message);
    for (unsigned copy = 0; copy < 2; copy++) {
        struct kinds out = count_kinds(&s, OUT, copy, BUFFERS_LEAVE), timed = count_kinds(&s, PLAIN, copy, 0),
                     left = count_kinds(&s, PLAIN, copy, BUFFERS_LEAVE);
        assert_true(out.of[CONTENT_NAN] + out.of[CONTENT_RANDOM] > 5200);
        for (int kind = CONTENT_ZEROS; kind <= CONTENT_NEAR; kind++)
            assert_true(out.of[kind] > 500 && timed.of[kind] > 500 && left.of[kind] > 200);
        // Outputs never keep their contents, because these would already be correct. Scratch does not keep its contents
        // in timed launches, where results left in it would save time.
        assert_int_equal(out.of[CONTENT_LEFT] + timed.of[CONTENT_LEFT], 0);
        assert_true(left.of[CONTENT_LEFT] > 4000 && left.of[CONTENT_LEFT] < 6000);
        struct kinds first = count_kinds(&s, OUT, copy, BUFFERS_LEAVE | BUFFERS_TELLTALE);
        assert_int_equal(first.of[CONTENT_NAN] + first.of[CONTENT_RANDOM], 10000);
        // Contents that the job promises are never random.
        assert_int_equal(count_kinds(&s, FILLED, copy, BUFFERS_LEAVE).of[CONTENT_PROMISED], 10000);
        assert_int_equal(count_kinds(&s, INOUT, copy, 0).of[CONTENT_PROMISED], 10000);
        assert_int_equal(buffers_content(&s, OUT, copy, CONTENT_NAN).kind, CONTENT_NAN);
    }
    int same = 0;
    for (int n = 0; n < 1000; n++) {
        uint64_t key = buffers_key(0);
        struct content a = buffers_content(&s, OUT, 0, key), b = buffers_content(&s, OUT, 1, key);
        assert_true(a.key != b.key);
        same += a.kind == b.kind;
    }
    assert_true(same > 100 && same < 500); // copies and buffers differ
    buffers_release(&s);
}

// For example, counters left by a launch with another grid.
TEST(scratch_of_integers_begins_with_small_ones)
{
    static const char *const types[] = {"u8", "i32", "u64"};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        struct buffers s;
        int small = 0;
        if (open_buffers(
                &s, NULL,
                test_text("[{\"name\":\"s\",\"type\":\"%s\",\"cols\":16,\"direction\":\"scratch\"}]", types[t]), &err))
            fail_msg("%s", err.message);
        for (int n = 0; n < 1000; n++) {
            struct content c = buffers_content(&s, 0, 0, buffers_key(0));
            for (int k = 0; k < CONTENT_NEAR_COUNT; k++) {
                const bool wide = t == 2;
                const uint64_t number = wide ? c.near[k] : (uint32_t)c.near[k];
                assert_true(number < 1 << 16 && (wide || c.near[k] >> 32 == number));
                small += number < 1000;
            }
        }
        assert_in_range(small, 2600, 2880); // of 4,000; 0.685 expected
        buffers_release(&s);
    }
}

// Numbers of the expected size are never equal to the expected value.
TEST(near_numbers_have_the_size_of_what_is_expected_and_are_wrong)
{
    static const double values[] = {1, -1, 3.25, -0.25, 100, 0};
    for (int type = 0; type < ELEMENT_COUNT; type++)
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            const bool floats = element_is_float((enum element)type);
            double value = floats ? values[i] : trunc(values[i]);
            uint64_t bits = 0, one = 0;
            element_store((enum element)type, value, &bits);
            uint64_t near = support_near((enum element)type, bits);
            double x = element_load((enum element)type, &near);
            assert_true(x != element_load((enum element)type, &bits));
            if (floats && value != 0) assert_true(x / value > 0.6 && x / value < 1.6);
            if (floats && value == 0) assert_true(fabs(x) > 0.1 && fabs(x) < 10);
            if (!floats) assert_true(fabs(x - element_load((enum element)type, &bits)) <= 3);
            memcpy(&one, &near, element_size((enum element)type));
            assert_int_equal(support_repeat((enum element)type, one), near); // in every element of a word
        }
}

TEST_MAIN(NULL, NULL)
