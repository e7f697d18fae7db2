// kernels/support.cu, emulated (cuda.h): the contents of memory before a launch, guards, and the comparison with
// expected values. Exit status 0 and "ok" if all results are correct.
#include "support.h"

#define SUPPORT_F32
#define SUPPORT_U32
#define SUPPORT_U8
#include "support.cu"

namespace
{

int failures;

void expect(bool right, const char *what, long long where)
{
    if (right || ++failures > 10) return;
    std::printf("%s, %lld\n", what, where);
}

void (*called)();
void launch(unsigned x, unsigned y, unsigned z, void (*kernel)())
{
    blockDim = {256, 1, 1};
    called = kernel;
    for (unsigned i = 0; i < z; i++) {
        static unsigned now;
        now = i;
        emulation::launch(x, y, 256, [] {
            blockIdx.z = now;
            called();
        });
    }
}

// As in tuner/gpu/support.c.
const element_format f32 = {0x8000000080000000ull, 0x7f8000007f800000ull, 0x007fffff007fffffull, 0x7f0000007f000000ull};
const element_format u32s = {0, 0, 0x7fffffff7fffffffull, 0x6000000060000000ull};

enum { ROWS = 37, COLS = 19, LD = 23, N = 5003 };
struct memory {
    alignas(1024) unsigned char bytes[1 << 16];
} slots[2];
restored_list list;
restored_kinds kinds;
copies to;
guarded regions;
guard_contents guards;
finding found;
part kept;
content before;
double expected[N];
const float *compared;
i64 compared_rows, compared_cols, compared_ld;
int mode;

bool is_nan(float x)
{
    return x != x;
}

// A dense buffer with an odd number of floats, and one with padding, in two copies, for every kind of contents.
void contents_are_of_their_kind()
{
    for (int kind = CONTENT_ZEROS; kind <= CONTENT_CLOSE; kind++) {
        for (memory &m : slots) std::memset(m.bytes, 0x5a, sizeof m.bytes);
        const u64 near = 0x3fc000003fc00000ull;
        list.buffer[0] = {(u64)slots[0].bytes, 1, N * 4, N * 4, {0, 0}, {7, 0, f32, {near, near, near, near}}};
        list.buffer[1] = {(u64)slots[0].bytes + 32768,          ROWS, COLS * 4, LD * 4, {0, 0},
                          {8, 0, f32, {near, near, near, near}}};
        to.shift[0] = 0;
        to.shift[1] = (i64)(slots[1].bytes - slots[0].bytes) | 1;
        for (int c = 0; c < 2; c++)
            kinds.key[c] = 1234567890123ull * (unsigned)(c + 1), kinds.kinds[c] = (u32)(kind | kind << 4);
        launch(3, 2, 1, [] { support_restore(list, 2, to, kinds); });
        for (int c = 0; c < 2; c++) {
            const float *dense = (const float *)slots[c].bytes, *padded = dense + 8192;
            std::vector<float> seen(dense, dense + N);
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < LD; j++) {
                    if (j < COLS)
                        seen.push_back(padded[i * LD + j]);
                    else
                        expect(bits<u32>(padded[i * LD + j]) == 0x5a5a5a5a, "padding is written", i);
                }
            expect(bits<u32>(dense[N]) == 0x5a5a5a5a, "more is written", kind);
            long long negative = 0, same = 0;
            for (size_t i = 0; i < seen.size(); i++) {
                const float x = seen[i];
                const u32 b = bits<u32>(x);
                negative += std::signbit(x);
                same += i && b == bits<u32>(seen[i - 1]);
                const bool right[] = {
                    b == 0,
                    is_nan(x) && b != 0x7fffffff && (b & 0x7fffffff) != 0x7fc00000 && (b & 0x400000),
                    true,
                    std::isinf(x),
                    std::fabs(x) > 1e38f && std::isfinite(x),
                    x >= 1 && x<2, x> 1e38f && std::isfinite(x),
                    x < -1e38f && std::isfinite(x),
                    b == 0x5a5a5a5a,
                    b == 0x5a5a5a5a,
                };
                expect(right[kind], "an element has another content", kind * 10000 + (long long)i);
            }
            const long long n = (long long)seen.size();
            const bool signs =
                kind == CONTENT_NAN || kind == CONTENT_RANDOM || kind == CONTENT_INFINITE || kind == CONTENT_EXTREME;
            if (signs) expect(negative > n / 3 && negative < 2 * n / 3, "signs are not drawn", kind);
            const bool varied = kind != CONTENT_ZEROS && kind != CONTENT_INFINITE && kind < CONTENT_LEFT;
            if (varied) expect(same < n / 100, "neighbours are the same", kind);
        }
        if (kind == CONTENT_RANDOM)
            expect(std::memcmp(slots[0].bytes, slots[1].bytes, N * 4) != 0, "copies are alike", 0);
    }
}

// Promised contents come from the origin of the copy's set, or are a constant.
void promises_are_kept()
{
    static struct {
        alignas(16) float of[N];
    } origin[2];
    for (int i = 0; i < N; i++) origin[0].of[i] = (float)i, origin[1].of[i] = -(float)i;
    const content constant = {0, 0, f32, {0x4028000040280000ull, 0, 0, 0}};
    list.buffer[0] = {(u64)slots[0].bytes, 1, N * 4, N * 4, {(u64)origin[0].of, (u64)origin[1].of}, constant};
    list.buffer[1] = {(u64)slots[0].bytes + 32768, ROWS, COLS * 4, LD * 4, {0, 0}, constant};
    for (int c = 0; c < 2; c++) kinds.kinds[c] = CONTENT_PROMISED | CONTENT_PROMISED << 4;
    launch(3, 2, 1, [] { support_restore(list, 2, to, kinds); });
    for (int c = 0; c < 2; c++) {
        const float *dense = (const float *)slots[c].bytes, *padded = dense + 8192;
        expect(!std::memcmp(dense, origin[c].of, N * 4), "not what lies at the origin", c);
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLS; j++) expect(padded[i * LD + j] == 2.625f, "not the constant", i);
    }
}

void check_guards()
{
    std::memset(&found, 0, sizeof found);
    launch(2, 2, 2, [] { support_guards(regions, to, guards, &found); });
}

// One call writes guards, and another call checks them. Every changed byte is counted, including bytes before the data.
void guards_are_written_and_checked()
{
    const u64 data = (u64)slots[0].bytes + 1024;
    regions.list[0] = {data - 1000, 1, 1000, 0, 24, 0, data, f32};
    regions.list[1] = {data + COLS * 4, ROWS, (LD - COLS) * 4, LD * 4, 1024 + COLS * 4, 0, data, f32};
    for (int kind : {CONTENT_NAN, CONTENT_HIGH, CONTENT_LOW}) {
        for (memory &m : slots) std::memset(m.bytes, 0x5a, sizeof m.bytes);
        for (int c = 0; c < 2; c++) guards.key[c] = 99 + (u64)c, guards.kind[c] = (u8)kind;
        launch(2, 2, 2, [] { support_guards(regions, to, guards, nullptr); });
        for (const memory &m : slots) {
            const float *front = (const float *)(m.bytes + 24), *padding = (const float *)(m.bytes + 1024) + COLS;
            for (int i = 0; i < 250 + ROWS * (LD - COLS); i++) {
                const int j = i - 250;
                const float x = j < 0 ? front[i] : padding[j / (LD - COLS) * LD + j % (LD - COLS)];
                expect(kind == CONTENT_NAN ? is_nan(x) : kind == CONTENT_HIGH ? x > 1e38f : x < -1e38f, "a guard", i);
            }
            expect(m.bytes[23] == 0x5a && m.bytes[1024] == 0x5a, "a guard is too long", kind);
        }
        check_guards();
        expect(found.guard_bad == 0, "guards are not what was written", kind);
        slots[1].bytes[77] ^= 1;
        slots[0].bytes[1024 + (5 * LD + COLS) * 4 + 3] ^= 0x80;
        check_guards();
        expect(found.guard_bad == 2 && ~found.guard_first == 77, "changes are not seen", (long long)found.guard_bad);
    }
}

void compare_now()
{
    std::memset(&found, 0, sizeof found);
    launch(2, 1, 1, [] {
        support_compare_f32(compared, compared_rows, compared_cols, compared_ld, expected, nullptr, 0, 0, 0, nullptr,
                            mode, before, 0, kept, &found);
    });
}

// Elements that have not changed since before the launch are counted, with padding and without.
void unwritten_elements_are_recognised()
{
    kept = {0, N, {0}, {0}, {0}};
    for (int i = 0; i < N; i++) expected[i] = bits<double>(bits<u64>((double)i + 1) ^ mask(0, (u64)i));
    for (int kind = CONTENT_ZEROS; kind <= CONTENT_LOW; kind++) {
        for (int padded = 0; padded < 2; padded++) {
            const content held = {
                7,
                (u64)kind,
                f32,
                {0x3fc000003fc00000ull, 0x3f4000003f400000ull, 0xbfc00000bfc00000ull, 0x3fc000003fc00000ull}};
            list.buffer[0] = {
                (u64)slots[0].bytes, padded ? ROWS : 1ull, (padded ? COLS : N) * 4ull, LD * 4ull, {0, 0}, held};
            kinds.key[0] = 4321;
            kinds.kinds[0] = (u32)kind;
            launch(3, 1, 1, [] { support_restore(list, 1, to, kinds); });
            before = held;
            before.key += kinds.key[0];
            float *out = (float *)slots[0].bytes;
            compared = out;
            compared_rows = padded ? ROWS : 1;
            compared_cols = padded ? COLS : N;
            compared_ld = padded ? LD : N;
            const int n = padded ? ROWS * COLS : N, some = 100;
            for (int i = 0; i < n - some; i++) out[padded ? i / COLS * LD + i % COLS : i] = (float)i + 1;
            compare_now();
            expect(found.bad == some, "wrong elements", (long long)found.bad);
            expect(found.unwritten == (kind == CONTENT_ZEROS ? 0 : some), "unwritten elements",
                   kind * 1000 + (long long)found.unwritten);
            out[0] = -5;
            compare_now();
            expect(found.bad == some + 1, "wrong elements", (long long)found.bad);
            expect(found.unwritten == (kind == CONTENT_ZEROS ? 0 : some), "written elements",
                   (long long)found.unwritten);
        }
    }
}

// Where NaN is expected, the NaN of an element that was not written is wrong. If requested, zeros of different signs
// count as different.
void nan_and_signs()
{
    static float out[4];
    before = {5, CONTENT_NAN, f32, {0, 0, 0, 0}};
    const content_maker made = content_begin(before, before.key, CONTENT_NAN);
    const u64 word = content_word(made, 0);
    out[0] = __uint_as_float((u32)word);
    out[1] = __uint_as_float(0x7fffffff);
    out[2] = -0.0f;
    out[3] = INFINITY;
    const double want[] = {NAN, NAN, 0.0, (double)INFINITY};
    for (int i = 0; i < 4; i++) expected[i] = bits<double>(bits<u64>(want[i]) ^ mask(0, (u64)i));
    compared = out;
    compared_rows = 1;
    compared_cols = compared_ld = 4;
    compare_now();
    expect(found.bad == 1 && found.unwritten == 1, "NaN that was there", (long long)found.bad);
    mode = COMPARE_BITS;
    compare_now();
    expect(found.bad == 2, "a zero of the other sign", (long long)found.bad);
    mode = PREVIOUS_NONE;
}

// The lowest unsigned number is 0, even in a guard.
void low_numbers_without_a_sign_are_zero()
{
    const content c = {3, 0, u32s, {0, 0, 0, 0}};
    expect(content_word(content_begin(c, 3, CONTENT_LOW), 4) == 0, "not zero", 0);
    expect((content_word(content_begin(c, 3, CONTENT_HIGH), 4) >> 32) >= 0x60000000, "not high", 0);
    expect(content_word(content_begin(c, 3, CONTENT_NAN), 4) != content_word(content_begin(c, 3, CONTENT_NAN), 5),
           "not random", 0);
}

// No element is exactly correct, but all are close. The elements of a padded output are in their places.
void disturbed_elements_are_wrong_and_close()
{
    static u64 key;
    static double relative;
    float *out = (float *)slots[0].bytes;
    for (int i = 0; i < N; i++) expected[i] = bits<double>(bits<u64>((double)i + 1) ^ mask(0, (u64)i));
    before = {0, CONTENT_CLOSE, f32, {0, 0, 0, 0}};
    for (key = 0; key < 4; key++)
        for (double allowed : {0.0, 1e-9, 1e-6}) {
            relative = allowed;
            for (int i = 0; i < ROWS * LD; i++) out[i] = -1;
            launch(2, 1, 1, [] {
                support_disturb_f32((float *)slots[0].bytes, ROWS, COLS, LD, expected, nullptr, 0, relative, 0, 0, key);
            });
            for (int i = 0; i < ROWS * LD; i++) {
                const double want = i / LD * COLS + i % LD + 1, x = out[i];
                if (i % LD >= COLS) {
                    expect(x == -1, "padding is disturbed", i);
                    continue;
                }
                const int own = (int)want - 1, turned = own ^ (key & 1 ? 0 : key & 2 ? 1 : 32);
                const double from = (turned < ROWS * COLS ? turned : own) + 1;
                expect(std::fabs(x - from) > relative * from && std::fabs(x - from) <= 6e-4 * from, "disturbed", i);
            }
        }
}

double numbers[ROWS * COLS], sums2[2];
float sizes[ROWS * COLS];

void rows_have_their_sizes()
{
    for (int i = 0; i < ROWS * COLS; i++) numbers[i] = i % 2 ? i / COLS : -(i / COLS);
    numbers[3 * COLS + 1] = INFINITY;
    launch(2, 1, 1, [] { support_row_sizes(numbers, ROWS * COLS, ROWS, COLS, sizes, sums2); });
    for (int i = 0; i < ROWS * COLS; i++) expect(sizes[i] == (float)(i / COLS), "the size of a row", i);
    expect(sums2[1] == ROWS * COLS - 1, "how many are finite", (long long)sums2[1]);
    double squares = 0;
    for (int i = 0; i < ROWS; i++) squares += (i == 3 ? COLS - 1 : COLS) * (double)i * i;
    expect(sums2[0] == squares, "the sum of squares", (long long)sums2[0]);
}

} // namespace

int main()
{
    contents_are_of_their_kind();
    promises_are_kept();
    guards_are_written_and_checked();
    unwritten_elements_are_recognised();
    nan_and_signs();
    low_numbers_without_a_sign_are_zero();
    disturbed_elements_are_wrong_and_close();
    rows_have_their_sizes();
    if (!failures) std::printf("ok\n");
    return failures ? 1 : 0;
}
