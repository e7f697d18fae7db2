// The operations other than matrix products (kernels/*.c) without a GPU: references on the CPU are compared with the
// simplest loops. Bounds must accept the results of honest kernels and reject results that lack one term.
#include "tests/operation_problem.h"

static struct result sum_problem(enum element in, enum element out, int64_t rows, int64_t cols,
                                 double (*fill)(uint64_t *))
{
    const struct operation *op = operation_find("sum", NULL);
    struct result r;
    memset(&r, 0, sizeof r);
    r.out = operation_role(op, "result");
    r.problem.operand[operation_role(op, "x")] = matrix(in, rows, cols, rows > 1 ? cols + 1 : cols, fill, 4);
    r.problem.operand[r.out] = matrix(out, 1, 1, 1, integers, 5);
    return r;
}

TEST(the_sum_agrees_with_a_loop)
{
    const struct operation *op = operation_find("sum", NULL);
    struct result r = sum_problem(ELEMENT_F32, ELEMENT_F32, 13, 77, noise);
    double sum = 0, squares = 0;
    compute(op, &r);
    for (int64_t i = 0; i < 13; i++)
        for (int64_t j = 0; j < 77; j++) {
            double x = at(&r.problem.operand[operation_role(op, "x")], i, j);
            sum += x;
            squares += x * x;
        }
    assert_true(fabs(*r.expected[r.out].host_expected - sum) < 1e-10);
    assert_true(fabs((double)*r.expected[r.out].host_scale - sqrt(squares)) < 1e-4);
}

TEST(the_bound_of_a_sum_accepts_every_shape_of_kernel_and_rejects_a_missing_element)
{
    const struct operation *op = operation_find("sum", NULL);
    double (*const fills[])(uint64_t *) = {noise, positive};
    const int64_t n = 1000003;
    for (int f = 0; f < 2; f++) {
        struct result r = sum_problem(ELEMENT_F32, ELEMENT_F32, 1, n, fills[f]);
        const float *x = r.problem.operand[operation_role(op, "x")].host;
        const struct operation_expected *e = &r.expected[r.out];
        compute(op, &r);
        float strided = 0, blocked = 0;
        for (int64_t thread = 0; thread < 8192; thread++) { // a chain in each of 8192 threads
            float part = 0;
            for (int64_t i = thread; i < n; i += 8192) part += x[i];
            strided += part;
        }
        for (int64_t start = 0; start < n; start += 1024) { // one addition per block of 1024
            float part = 0;
            for (int64_t i = start; i < n && i < start + 1024; i++) part += x[i];
            blocked += part;
        }
        assert_true(fabs((double)strided - *e->host_expected) <= allowed(e, 0));
        assert_true(fabs((double)blocked - *e->host_expected) <= allowed(e, 0));
        int rejected = 0, tried = 0;
        for (int64_t i = 0; i < n; i += 997, tried++) rejected += !(fabs((double)x[i]) <= allowed(e, 0));
        if (f == 0) assert_true(rejected > 0.99 * tried);
        assert_true(allowed(e, 0) < 1024 * 0.5 / 10); // a missing block is detected with any data
    }
}

TEST(a_sum_that_cannot_round_must_be_exact)
{
    const struct operation *op = operation_find("sum", NULL);
    struct result r = sum_problem(ELEMENT_F32, ELEMENT_F32, 1, 1000003, integers);
    compute(op, &r);
    assert_true(allowed(&r.expected[r.out], 0) == 0);
    r = sum_problem(ELEMENT_F32, ELEMENT_F32, 1, 1000003, noise);
    compute(op, &r);
    assert_true(allowed(&r.expected[r.out], 0) > 0);
}

TEST(an_integer_sum_wraps_like_its_type)
{
    const struct operation *op = operation_find("sum", NULL);
    static const enum element outs[] = {ELEMENT_I32, ELEMENT_U32, ELEMENT_I64};
    for (int k = 0; k < 3; k++) {
        struct result r = sum_problem(ELEMENT_I32, outs[k], 1, 10001, large_integers);
        const int32_t *x = r.problem.operand[operation_role(op, "x")].host;
        int64_t sum = 0;
        compute(op, &r);
        for (int i = 0; i < 10001; i++) sum += x[i];
        int64_t want = k == 0 ? (int32_t)sum : k == 1 ? (int64_t)(uint32_t)sum : sum;
        assert_true(*r.expected[r.out].host_exact == want);
    }
}

// ---- operations on vectors and matrices -----------------------------------------------------------------------------

TEST(a_transpose_is_exact_in_and_out_of_place)
{
    static const enum element types[] = {ELEMENT_F32, ELEMENT_F16, ELEMENT_I32};
    for (int k = 0; k < 3; k++) {
        const struct operation *op = operation_find("transpose", NULL),
                               *in_place = operation_find("transpose_in_place", NULL);
        bool floats = element_is_float(types[k]);
        struct result r = {0}, s = {0};
        give(&r, op, "A", matrix(types[k], 70, 131, 133, floats ? noise : integers, 6));
        give(&r, op, "B", matrix(types[k], 131, 70, 70, integers, 7));
        compute(op, &r);
        give(&s, in_place, "A", matrix(types[k], 97, 97, 99, floats ? noise : integers, 8));
        compute(in_place, &s);
        const struct operand *a = &r.problem.operand[operation_role(op, "A")],
                             *b = &s.problem.operand[operation_role(in_place, "A")];
        struct operation_expected *e = expected_of(&r, op, "B"), *f = expected_of(&s, in_place, "A");
        for (int64_t i = 0; i < 131; i++)
            for (int64_t j = 0; j < 70; j++)
                assert_true((floats ? e->host_expected[i * 70 + j] : (double)e->host_exact[i * 70 + j]) == at(a, j, i));
        for (int64_t i = 0; i < 97; i++)
            for (int64_t j = 0; j < 97; j++)
                assert_true((floats ? f->host_expected[i * 97 + j] : (double)f->host_exact[i * 97 + j]) == at(b, j, i));
        if (floats) assert_true(allowed(e, 0) == 0 && allowed(f, 5) == 0);
    }
}

TEST(shapes_of_a_transpose_must_fit)
{
    const struct operation *op = operation_find("transpose", NULL),
                           *in_place = operation_find("transpose_in_place", NULL);
    struct error err = {""};
    struct result r = {0};
    give(&r, op, "A", matrix(ELEMENT_F32, 3, 4, 4, noise, 1));
    give(&r, op, "B", matrix(ELEMENT_F32, 3, 4, 4, noise, 1));
    assert_int_equal(op->check(&r.problem, &err), -1);
    assert_non_null(strstr(err.message, "shapes do not fit"));
    struct operation_problem p = {.operand = {[1] = r.problem.operand[operation_role(op, "A")]}};
    assert_int_equal(in_place->check(&p, &err), -1);
    assert_non_null(strstr(err.message, "square"));
}

// Compares asum, nrm2 and dot of x (and y) with a loop in long double, and with a sum in single precision that has one
// chain per thread.
TEST(reductions_agree_with_loops_and_reject_a_missing_element)
{
    static const char *const names[] = {"asum", "nrm2", "dot"};
    const int64_t n = 10007;
    for (int k = 0; k < 3; k++) {
        const struct operation *op = operation_find(names[k], NULL);
        struct result r = {0};
        give(&r, op, "x", matrix(ELEMENT_F32, 1, n, n, noise, 11));
        if (k == 2) give(&r, op, "y", matrix(ELEMENT_F32, 1, n, n, noise, 12));
        give(&r, op, "result", matrix(ELEMENT_F32, 1, 1, 1, integers, 13));
        compute(op, &r);
        const float *x = r.problem.operand[operation_role(op, "x")].host,
                    *y = k == 2 ? r.problem.operand[operation_role(op, "y")].host : x;
        const struct operation_expected *e = expected_of(&r, op, "result");
        long double sum = 0;
        float parts[64] = {0}, single = 0;
        for (int64_t i = 0; i < n; i++) {
            sum += k == 0 ? fabsl((long double)x[i]) : (long double)x[i] * y[i];
            parts[i % 64] += k == 0 ? fabsf(x[i]) : x[i] * y[i];
        }
        for (int i = 0; i < 64; i++) single += parts[i];
        if (k == 1) sum = sqrtl(sum), single = sqrtf(single);
        assert_true(fabs(*e->host_expected - (double)sum) < 1e-9);
        assert_true(fabs((double)single - *e->host_expected) <= allowed(e, 0));
        int rejected = 0;
        for (int64_t i = 0; i < n; i++) {
            double term = k == 0 ? fabs((double)x[i]) : (double)x[i] * (double)y[i],
                   without = k == 1 ? sqrt((double)(sum * sum) - term) : (double)sum - term;
            rejected += !(fabs(without - *e->host_expected) <= allowed(e, 0));
        }
        assert_true(rejected > 0.9 * (double)n);
    }
}

TEST(the_largest_magnitude_is_found_at_its_lowest_place)
{
    const struct operation *op = operation_find("iamax", NULL);
    struct result r = {0};
    const int64_t n = 3000001;
    give(&r, op, "x", matrix(ELEMENT_F32, 1, n, n, noise, 21));
    give(&r, op, "value", matrix(ELEMENT_F32, 1, 1, 1, integers, 22));
    give(&r, op, "index", matrix(ELEMENT_I64, 1, 1, 1, integers, 23));
    float *x = r.problem.operand[operation_role(op, "x")].host;
    x[2000003] = -5;
    x[2900000] = 5;
    x[n - 1] = 5;
    compute(op, &r);
    assert_true(*expected_of(&r, op, "index")->host_exact == 2000003);
    assert_true(*expected_of(&r, op, "value")->host_expected == 5);
    assert_true(allowed(expected_of(&r, op, "value"), 0) == 0);
}

TEST(sums_of_rows_and_columns_agree_with_loops)
{
    static const char *const names[] = {"row_sums", "column_sums"};
    for (int k = 0; k < 2; k++) {
        const struct operation *op = operation_find(names[k], NULL);
        struct result r = {0};
        const int64_t rows = 300, cols = 517, n = k ? cols : rows, length = k ? rows : cols;
        give(&r, op, "A", matrix(ELEMENT_F32, rows, cols, cols + 3, noise, 31));
        give(&r, op, "sums", matrix(ELEMENT_F32, 1, n, n, integers, 32));
        compute(op, &r);
        const struct operand *a = &r.problem.operand[operation_role(op, "A")];
        const struct operation_expected *e = expected_of(&r, op, "sums");
        int rejected = 0;
        for (int64_t i = 0; i < n; i++) {
            double sum = 0;
            float single = 0, last = 0;
            for (int64_t j = 0; j < length; j++) {
                last = (float)(k ? at(a, j, i) : at(a, i, j));
                sum += (double)last;
                single += last;
            }
            assert_true(fabs(sum - e->host_expected[i]) < 1e-11);
            assert_true(fabs((double)single - sum) <= allowed(e, (size_t)i));
            rejected += !(fabs((double)last) <= allowed(e, (size_t)i));
        }
        assert_true(rejected > 0.95 * (double)n);
    }
}

TEST(softmax_rows_add_to_one_and_a_missing_term_is_seen)
{
    const struct operation *op = operation_find("softmax", NULL);
    struct result r = {0};
    const int64_t rows = 20, cols = 1030;
    give(&r, op, "x", matrix(ELEMENT_F32, rows, cols, cols, noise, 41));
    give(&r, op, "y", matrix(ELEMENT_F32, rows, cols, cols, integers, 42));
    compute(op, &r);
    const struct operand *x = &r.problem.operand[operation_role(op, "x")];
    const struct operation_expected *e = expected_of(&r, op, "y");
    for (int64_t i = 0; i < rows; i++) {
        double all = 0;
        float largest = -2, sum = 0;
        for (int64_t j = 0; j < cols; j++) largest = fmaxf(largest, (float)at(x, i, j));
        for (int64_t j = 0; j < cols; j++) sum += expf((float)at(x, i, j) - largest);
        for (int64_t j = 0; j < cols; j++) {
            size_t place = (size_t)(i * cols + j);
            double single = (double)(expf((float)at(x, i, j) - largest) / sum),
                   without = (double)(expf((float)at(x, i, j) - largest) / (sum - 0.3f));
            all += e->host_expected[place];
            assert_true(fabs(single - e->host_expected[place]) <= allowed(e, place));
            assert_false(fabs(without - e->host_expected[place]) <= allowed(e, place));
        }
        assert_true(fabs(all - 1) < 1e-12);
    }
}

// Tests single precision and data far from 0. A term missing from the mean is detected.
TEST(normalised_rows_are_within_the_bound_and_a_missing_term_is_seen)
{
    static const enum element types[] = {ELEMENT_F32, ELEMENT_BF16};
    const int64_t rows = 20, cols = 1030;
    for (int layer = 0; layer < 2; layer++)
        for (int t = 0; t < 2; t++) {
            const struct operation *op = operation_find(layer ? "layer_norm" : "rms_norm", NULL);
            struct result r = {0};
            give(&r, op, "x", matrix(types[t], rows, cols, cols, noise, 61));
            give(&r, op, "y", matrix(types[t], rows, cols, cols, integers, 62));
            give(&r, op, "weight", matrix(types[t], 1, cols, cols, noise, 63));
            if (layer) give(&r, op, "bias", matrix(types[t], 1, cols, cols, noise, 64));
            r.problem.value[operation_role(op, "epsilon")] = 1e-5;
            compute(op, &r);
            const struct operand *x = &r.problem.operand[operation_role(op, "x")],
                                 *w = &r.problem.operand[operation_role(op, "weight")],
                                 *b = layer ? &r.problem.operand[operation_role(op, "bias")] : NULL;
            const struct operation_expected *e = expected_of(&r, op, "y");
            for (int64_t i = 0; i < rows; i++) {
                float sum = 0, squares = 0, missing = (float)at(x, i, 0);
                int seen = 0;
                for (int64_t j = 0; j < cols; j++) sum += (float)at(x, i, j);
                const float mean = layer ? sum / (float)cols : 0, n = (float)cols;
                for (int64_t j = 0; j < cols; j++) squares += ((float)at(x, i, j) - mean) * ((float)at(x, i, j) - mean);
                missing = layer ? missing / n : missing * missing / squares / 2;
                for (int64_t j = 0; j < cols; j++) {
                    const float weight = (float)at(w, 0, j), apart = (float)at(x, i, j) - mean;
                    float y = apart / sqrtf(squares / n + 1e-5f) * weight + (b ? (float)at(b, 0, j) : 0),
                          off = y + weight * (layer ? missing : apart * missing) / sqrtf(squares / n + 1e-5f), both[2];
                    element_store(types[t], (double)y, &both[0]);
                    element_store(types[t], (double)off, &both[1]);
                    const size_t place = (size_t)(i * cols + j);
                    assert_true(fabs(element_load(types[t], &both[0]) - e->host_expected[place]) <= allowed(e, place));
                    seen += !(fabs(element_load(types[t], &both[1]) - e->host_expected[place]) <= allowed(e, place));
                }
                if (types[t] == ELEMENT_F32 && fabs(at(x, i, 0)) > 0.1) assert_true(seen > cols / 2);
            }
        }
    struct error err;
    const struct operation *op = operation_find("layer_norm", NULL);
    struct operation_problem p = {0};
    p.operand[operation_role(op, "x")] = p.operand[operation_role(op, "y")] =
        (struct operand){.type = ELEMENT_F32, .rows = 3, .cols = 4, .ld = 4};
    p.operand[operation_role(op, "weight")] = p.operand[operation_role(op, "bias")] =
        (struct operand){.type = ELEMENT_F32, .rows = 1, .cols = 4, .ld = 4};
    assert_int_equal(op->check(&p, &err), 0);
    p.operand[operation_role(op, "bias")].cols = 3;
    assert_int_not_equal(op->check(&p, &err), 0);
    assert_string_equal(err.message, "x has 4 columns, but bias has 3 elements");
}

TEST(a_prefix_sum_agrees_with_a_loop_across_pieces)
{
    const struct operation *op = operation_find("prefix_sum", NULL);
    struct result r = {0};
    const int64_t n = 2500000; // more than two of the reference's pieces
    give(&r, op, "x", matrix(ELEMENT_F32, 1, n, n, noise, 51));
    give(&r, op, "y", matrix(ELEMENT_F32, 1, n, n, integers, 52));
    compute(op, &r);
    const float *x = r.problem.operand[operation_role(op, "x")].host;
    const struct operation_expected *e = expected_of(&r, op, "y");
    long double sum = 0;
    int64_t rejected = 0, tried = 0;
    float chain = 0, in_block = 0, blocks = 0; // 32 elements per thread, 1024 per block
    for (int64_t i = 0; i < n; i++) {
        sum += (long double)x[i];
        chain += x[i];
        assert_true(fabs(e->host_expected[i] - (double)sum) < 1e-9);
        assert_true(fabs((double)(blocks + (in_block + chain)) - (double)sum) <= allowed(e, (size_t)i));
        if (i % 32 == 31) in_block += chain, chain = 0;
        if (i % 1024 == 1023) blocks += in_block, in_block = 0;
        if (i < 100000) tried++, rejected += !(fabs((double)x[i]) <= allowed(e, (size_t)i)); // y[i] without x[i]
    }
    assert_true((double)rejected > 0.99 * (double)tried);

    memset(&r, 0, sizeof r); // integers are exact
    give(&r, op, "x", matrix(ELEMENT_F32, 1, 5000, 5000, integers, 53));
    give(&r, op, "y", matrix(ELEMENT_F32, 1, 5000, 5000, integers, 54));
    compute(op, &r);
    for (size_t i = 0; i < 5000; i++) assert_true(allowed(expected_of(&r, op, "y"), i) == 0);
}

// Computes the recurrence over whole matrices without the reference's shortcuts. It tries gaps of every length instead
// of using E and F.
static int score_of(const char *a, const char *b)
{
    static int h[16][16];
    int best = 0, n = (int)strlen(a), m = (int)strlen(b);
    memset(h, 0, sizeof h);
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int here = h[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 2 : -3);
            for (int k = 1; k <= i; k++)
                if (h[i - k][j] - 5 - 2 * (k - 1) > here) here = h[i - k][j] - 5 - 2 * (k - 1);
            for (int k = 1; k <= j; k++)
                if (h[i][j - k] - 5 - 2 * (k - 1) > here) here = h[i][j - k] - 5 - 2 * (k - 1);
            h[i][j] = here > 0 ? here : 0;
            if (h[i][j] > best) best = h[i][j];
        }
    return best;
}

TEST(alignments_have_the_scores_of_the_definition)
{
    static const char *const pairs[][2] = {{"ACGTACGTACGT", "ACGTACGTACGT"}, {"AAAAAAAAAAAA", "CCCCCCCCCCCC"},
                                           {"ACGTACGTTTGA", "ACGTACCCGTTT"}, {"GGATCGATCCTA", "TTGGATGATCCT"},
                                           {"ACGTTTGCAACG", "ACGTGCAACGAA"}, {"CAAAAAAAAAAC", "TTTTTCTTTTTT"}};
    enum { PAIRS = sizeof pairs / sizeof *pairs, LENGTH = 12 };
    const struct operation *op = operation_find("smith_waterman", NULL);
    for (int length = 0; length <= LENGTH; length += LENGTH) {
        struct result r = {0};
        give(&r, op, "a", matrix(ELEMENT_I8, LENGTH, PAIRS, PAIRS, integers, 61));
        give(&r, op, "b", matrix(ELEMENT_I8, LENGTH, PAIRS, PAIRS, integers, 62));
        give(&r, op, "score", matrix(ELEMENT_I32, 1, PAIRS, PAIRS, integers, 63));
        for (int p = 0; p < PAIRS; p++)
            for (int i = 0; i < LENGTH; i++) {
                ((signed char *)r.problem.operand[operation_role(op, "a")].host)[i * PAIRS + p] = pairs[p][0][i];
                ((signed char *)r.problem.operand[operation_role(op, "b")].host)[i * PAIRS + p] = pairs[p][1][i];
            }
        static const struct {
            const char *name;
            int value;
        } scores[] = {{"match", 2}, {"mismatch", 3}, {"open", 5}, {"extend", 2}};
        for (size_t i = 0; i < sizeof scores / sizeof *scores; i++)
            r.problem.value[operation_role(op, scores[i].name)] = scores[i].value;
        r.problem.value[operation_role(op, "length_a")] = length;
        r.problem.value[operation_role(op, "length_b")] = LENGTH;
        compute(op, &r);
        for (int p = 0; p < PAIRS; p++)
            assert_int_equal(expected_of(&r, op, "score")->host_exact[p],
                             length ? score_of(pairs[p][0], pairs[p][1]) : 0);
    }
}

TEST(elements_survive_storing_and_loading)
{
    static const struct {
        enum element type;
        double in, out;
    } table[] = {
        {ELEMENT_F16, 1.0, 1.0},
        {ELEMENT_F16, 65504, 65504},
        {ELEMENT_F16, 65519, 65504},
        {ELEMENT_F16, 65520, INFINITY},
        {ELEMENT_F16, 0x1p-24, 0x1p-24},
        {ELEMENT_F16, 0x1p-25, 0},
        {ELEMENT_F16, 0x1.8p-24, 0x1p-23},
        {ELEMENT_F16, 0x1.ffcp-15, 0x1p-14}, // rounds up to a normal number
        {ELEMENT_F16, 1 + 0x1p-11, 1},
        {ELEMENT_F16, 1 + 0x1.8p-10, 1 + 0x1p-9},
        {ELEMENT_BF16, 1 + 0x1p-8, 1},
        {ELEMENT_BF16, 1 + 0x1.8p-7, 1 + 0x1p-6},
        {ELEMENT_BF16, INFINITY, INFINITY},
        {ELEMENT_F32, 0.1, 0x1.99999ap-4},
        {ELEMENT_I8, -128, -128},
        {ELEMENT_U32, 4294967295.0, 4294967295.0},
        {ELEMENT_I64, -0x1p60, -0x1p60},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char bytes[8];
        element_store(table[i].type, table[i].in, bytes);
        assert_true(element_load(table[i].type, bytes) == table[i].out);
    }
    for (int bits = 0; bits < 65536; bits++) { // every f16 and bf16 comes back as it was
        uint16_t from = (uint16_t)bits, to;
        double half = element_load(ELEMENT_F16, &from), bfloat = element_load(ELEMENT_BF16, &from);
        element_store(ELEMENT_F16, half, &to);
        assert_true(isnan(half) || to == from);
        element_store(ELEMENT_BF16, bfloat, &to);
        assert_true(isnan(bfloat) || to == from);
    }
}

TEST(names_are_found_and_misspelt_ones_get_a_proposal)
{
    const char *nearest = NULL;
    assert_null(operation_find("gem", &nearest));
    assert_string_equal(nearest, "gemm");
    assert_null(operation_find("convolution", &nearest));
    assert_null(nearest);
    for (int i = 0; operations[i]; i++) {
        assert_ptr_equal(operation_find(operations[i]->name, NULL), operations[i]);
        assert_non_null(operations[i]->bound);
        int roles = 0;
        while (operations[i]->roles[roles].name) roles++;
        assert_true(roles <= OPERATION_ROLES_MAX);
    }
    assert_int_equal(operation_role(operation_find("sum", NULL), "nothing"), -1);
    assert_non_null(operation_baseline(operation_find("gemm", NULL), "cublasLt"));
    for (int i = 0; i < ELEMENT_COUNT; i++) assert_int_equal(element_find(element_name((enum element)i)), i);
    assert_int_equal(element_find("fp32"), -1);
}

TEST_MAIN(NULL, NULL)
