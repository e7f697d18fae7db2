// The minimum work of every operation (kernels/least.c), compared with figures worked out by hand, and the minimum time
// that follows from a device's peaks (tuner/gpu/peaks.c).
#include "tests/operation_problem.h"

#include "kernels/least.h"
#include "tuner/base/text.h"
#include "tuner/gpu/peaks.h"

static const struct operand_data random_data = {1, true, true};

// An operand without memory.
static struct operand shape(enum element type, int64_t rows, int64_t cols)
{
    return (struct operand){.type = type, .rows = rows, .cols = cols, .ld = cols, .data = random_data};
}

static struct operation_problem make(const struct operation *op)
{
    struct operation_problem p = {0};
    for (int i = 0; op->roles[i].name; i++) p.value[i] = op->roles[i].fallback;
    return p;
}

static void set(const struct operation *op, struct operation_problem *p, const char *role, struct operand o)
{
    assert_true(operation_role(op, role) >= 0);
    p->operand[operation_role(op, role)] = o;
}

static struct operation_least least_of(const struct operation *op, const struct operation_problem *p)
{
    struct operation_least least = {0};
    struct error err = {""};
    if (op->check(p, &err)) fail_msg("%s: %s", op->name, err.message);
    op->least(p, &least);
    return least;
}

TEST(every_operation_declares_its_least_work)
{
    for (size_t i = 0; operations[i]; i++)
        if (!operations[i]->least) fail_msg("%s does not", operations[i]->name);
}

TEST(one_pass_reads_every_input_and_writes_every_output)
{
    static const struct {
        const char *operation;
        struct {
            const char *role;
            enum element type;
            int64_t rows, cols;
        } operand[3];
        double read, written;
    } cases[] = {
        {"sum", {{"x", ELEMENT_F32, 1, 1000}, {"result", ELEMENT_F32, 1, 1}}, 4000, 4},
        {"sum", {{"x", ELEMENT_I8, 10, 100}, {"result", ELEMENT_I32, 1, 1}}, 1000, 4},
        {"asum", {{"x", ELEMENT_F64, 1, 1000}, {"result", ELEMENT_F64, 1, 1}}, 8000, 8},
        {"nrm2", {{"x", ELEMENT_F16, 1, 1000}, {"result", ELEMENT_F32, 1, 1}}, 2000, 4},
        {"dot", {{"x", ELEMENT_F32, 1, 1000}, {"y", ELEMENT_F32, 1, 1000}, {"result", ELEMENT_F32, 1, 1}}, 8000, 4},
        {"iamax", {{"x", ELEMENT_F32, 1, 1000}, {"value", ELEMENT_F32, 1, 1}, {"index", ELEMENT_I64, 1, 1}}, 4000, 12},
        {"row_sums", {{"A", ELEMENT_F32, 30, 50}, {"sums", ELEMENT_F32, 1, 30}}, 6000, 120},
        {"column_sums", {{"A", ELEMENT_F32, 30, 50}, {"sums", ELEMENT_F32, 1, 50}}, 6000, 200},
        {"softmax", {{"x", ELEMENT_F32, 30, 50}, {"y", ELEMENT_F16, 30, 50}}, 6000, 3000},
        {"prefix_sum", {{"x", ELEMENT_F32, 1, 1000}, {"y", ELEMENT_F64, 1, 1000}}, 4000, 8000},
        {"transpose", {{"A", ELEMENT_F32, 30, 50}, {"B", ELEMENT_F32, 50, 30}}, 6000, 6000},
        {"transpose_in_place", {{"A", ELEMENT_F32, 50, 50}}, 9800, 9800}, // the diagonal stays
        {"smith_waterman",
         {{"a", ELEMENT_I8, 8, 100}, {"b", ELEMENT_I8, 8, 100}, {"score", ELEMENT_I32, 1, 100}},
         0,
         400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct operation *op = operation_find(cases[i].operation, NULL);
        struct operation_problem p = make(op);
        for (int k = 0; k < 3 && cases[i].operand[k].role; k++)
            set(op, &p, cases[i].operand[k].role,
                shape(cases[i].operand[k].type, cases[i].operand[k].rows, cases[i].operand[k].cols));
        struct operation_least least = least_of(op, &p);
        if (least.read != cases[i].read || least.written != cases[i].written)
            fail_msg("case %zu, %s: reads %g and writes %g", i, op->name, least.read, least.written);
        // If infinities or NaN can decide the result early, no read is certain.
        for (int k = 0; k < OPERATION_ROLES_MAX; k++) p.operand[k].data.finite = false;
        assert_true(least_of(op, &p).read == 0);
    }
}

static struct operation_problem product(enum element type, enum element result, int64_t batch, int64_t m, int64_t n,
                                        int64_t k)
{
    const struct operation *op = operation_find("gemm", NULL);
    struct operation_problem p = make(op);
    p.value[operation_role(op, "batch")] = (double)batch;
    set(op, &p, "A", shape(type, batch * m, k));
    set(op, &p, "B", shape(type, batch * k, n));
    set(op, &p, "C", shape(result, batch * m, n));
    return p;
}

TEST(a_product_reads_its_factors_once_and_its_old_result_only_with_beta)
{
    const struct operation *op = operation_find("gemm", NULL);
    struct operation_problem p = product(ELEMENT_F32, ELEMENT_F32, 3, 20, 30, 40);
    struct operation_least least = least_of(op, &p);
    assert_true(least.read == 3 * 4 * (20 * 40 + 40 * 30));
    assert_true(least.written == 3 * 4 * 20 * 30);
    assert_true(fabs(least.flops - 2.0 * 3 * 20 * 30 * 40 * 49 / 64) < 1e-6);
    p.value[operation_role(op, "beta")] = 1;
    least = least_of(op, &p);
    assert_true(least.read == 3 * 4 * (20 * 40 + 40 * 30 + 20 * 30));
    assert_int_equal(least.bits, 1); // an old C of unknown size may hide the product
    p.value[operation_role(op, "beta")] = 0;
    p.value[operation_role(op, "alpha")] = 0; // then neither factor matters
    least = least_of(op, &p);
    assert_true(least.read == 0 && least.flops == 0 && least.written == 3 * 4 * 20 * 30);
}

TEST(zeros_one_buffer_for_two_and_unknown_data_need_less)
{
    const struct operation *op = operation_find("gemm", NULL), *dot = operation_find("dot", NULL);
    int a = operation_role(op, "A"), b = operation_role(op, "B");
    struct operation_problem p = product(ELEMENT_F32, ELEMENT_F32, 1, 64, 64, 64);
    double whole = least_of(op, &p).flops;
    p.operand[a].data = (struct operand_data){0, true, false}; // A is all zero, so B need not be read
    struct operation_least least = least_of(op, &p);
    assert_true(least.read == 4 * 64 * 64 && least.flops == 0 && least.bits == 1);
    p.operand[a].data = (struct operand_data){0.5, true, false};
    least = least_of(op, &p);
    assert_true(fabs(least.flops - whole / 2) < 1e-6 && fabs(least.read - 2 * 4 * 64 * 64) < 1e-6);
    p.operand[a].data = (struct operand_data){0};
    assert_true(least_of(op, &p).read == 0 && least_of(op, &p).flops == 0);
    p = product(ELEMENT_F32, ELEMENT_F32, 1, 64, 64, 64);
    p.operand[a].device = p.operand[b].device = 0x1000;
    least = least_of(op, &p);
    assert_true(least.read == 4 * 64 * 64 && least.flops == whole / 2);
    struct operation_problem d = make(dot);
    set(dot, &d, "x", shape(ELEMENT_F32, 1, 100));
    set(dot, &d, "y", shape(ELEMENT_F32, 1, 100));
    set(dot, &d, "result", shape(ELEMENT_F32, 1, 1));
    d.operand[operation_role(dot, "x")].data.nonzero = 0.25;
    assert_true(least_of(dot, &d).read == 400 + 100);
}

TEST(a_vector_product_reads_the_matrix)
{
    const struct operation *op = operation_find("gemv", NULL);
    struct operation_problem p = make(op);
    set(op, &p, "A", shape(ELEMENT_F32, 300, 500));
    set(op, &p, "x", shape(ELEMENT_F32, 1, 500));
    set(op, &p, "y", shape(ELEMENT_F32, 1, 300));
    struct operation_least least = least_of(op, &p);
    assert_true(least.read == 4.0 * (300 * 500 + 500) && least.written == 4 * 300);
    p.value[operation_role(op, "beta")] = 2;
    assert_true(least_of(op, &p).read == 4.0 * (300 * 500 + 500 + 300));
    p.operand[operation_role(op, "x")].data.nonzero = 0.5; // columns of A that meet a zero may be skipped
    assert_true(least_of(op, &p).read == 4.0 * (300 * 500 / 2.0 + 500 + 300));
}

// The minimum number of bits that the factors need for a kernel to pass. Longer sums need fewer bits, and no sum needs
// more bits than the type has.
TEST(factors_need_bits_for_the_bound)
{
    static const struct {
        enum element type, result;
        int64_t k;
        double compute;
        int bits;
    } cases[] = {
        {ELEMENT_F32, ELEMENT_F32, 64, 0, 14},   // 6*8*20*2^-24 = 2^-14.09
        {ELEMENT_F32, ELEMENT_F32, 2048, 0, 9},  // 6*45.3*94.5*2^-24 = 2^-9.35
        {ELEMENT_F32, ELEMENT_F32, 16384, 0, 6}, // 6*128*260*2^-24 = 2^-6.39: TF32 passes there
        {ELEMENT_F32, ELEMENT_F32, 2048, 1, 3},  // with TF32's own bound 2^-9 relative to results
        {ELEMENT_F64, ELEMENT_F64, 2048, 0, 38}, {ELEMENT_BF16, ELEMENT_F32, 64, 0, 8}, // all bits of the type
        {ELEMENT_I8, ELEMENT_I32, 64, 0, 7},
    };
    const struct operation *op = operation_find("gemm", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct operation_problem p = product(cases[i].type, cases[i].result, 1, 64, 64, cases[i].k);
        p.value[operation_role(op, "compute")] = cases[i].compute;
        int bits = least_of(op, &p).bits;
        if (bits != cases[i].bits) fail_msg("case %zu: %d bits, expected %d", i, bits, cases[i].bits);
    }
}

TEST(fills_say_what_is_known_of_data)
{
    static const struct {
        enum element type;
        enum fill_kind fill;
        double low, high;
        struct operand_data data;
    } cases[] = {
        {ELEMENT_F32, FILL_UNIFORM, -1, 1, {1, true, true}},
        {ELEMENT_F32, FILL_NORMAL, 0, 1, {1, true, true}},
        {ELEMENT_F32, FILL_UNIFORM, 2, 2, {0, false, false}},
        {ELEMENT_F32, FILL_UNIFORM, -1e30, 1e30, {0, false, false}}, // products overflow
        {ELEMENT_I8, FILL_UNIFORM, -1, 1, {0, true, false}},         // truncated to 0
        {ELEMENT_I8, FILL_INTEGER, -4, 3, {0.75, true, false}},
        {ELEMENT_F32, FILL_INTEGER, 1, 8, {1, true, false}},
        {ELEMENT_F32, FILL_CONSTANT, 3, 1, {1, true, false}},
        {ELEMENT_F32, FILL_CONSTANT, 0, 1, {0, false, false}},
        {ELEMENT_F32, FILL_ZERO, 0, 1, {0, true, false}},
        {ELEMENT_F32, FILL_NONFINITE, -1, 1, {0, false, false}},
        {ELEMENT_F32, FILL_NPY, 0, 1, {0, false, false}},
        {ELEMENT_I32, FILL_NPY, 0, 1, {0, true, false}},
        {ELEMENT_F16, FILL_INDEX, 0, 1, {0, false, false}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct operand_data d = operand_data_of(cases[i].type, cases[i].fill, cases[i].low, cases[i].high);
        if (d.nonzero != cases[i].data.nonzero || d.finite != cases[i].data.finite || d.full != cases[i].data.full)
            fail_msg("case %zu: %g %d %d", i, d.nonzero, d.finite, d.full);
    }
}

// An H200 as the driver describes it.
static const struct peak_attributes h200 = {.compute = 90,
                                            .sm_count = 132,
                                            .clock_mhz = 1980,
                                            .memory_clock_mhz = 3201,
                                            .memory_bus_bits = 6144,
                                            .l2_bytes = 62914560};

TEST(the_data_sheet_follows_from_the_attributes)
{
    struct peaks p;
    peaks_of_device(&p, &h200);
    assert_true(fabs(p.memory_bytes - 4.917e12) < 1e9);
    assert_true(fabs(p.chip_bytes - 64 * 132 * 1.98e9) < 1e6);
    assert_true(fabs(p.flops[PEAK_FP32] - 66.9e12) < 1e11 && fabs(p.flops[PEAK_FP64_TENSOR] - 66.9e12) < 1e11);
    assert_true(fabs(p.flops[PEAK_HALF] - 1070.5e12) < 1e12 && fabs(p.flops[PEAK_BYTE] - 2141e12) < 1e12);
    // An unknown architecture is assumed to be as fast as the fastest known architecture.
    struct peak_attributes later = h200;
    struct peaks q;
    later.compute = 140;
    peaks_of_device(&q, &later);
    for (int k = 0; k < PEAK_PRODUCTS; k++) assert_true(q.flops[k] >= p.flops[k]);
    assert_true(q.flops[PEAK_HALF] == 2 * p.flops[PEAK_HALF] && q.chip_bytes == 2 * p.chip_bytes);
}

TEST(measured_ceilings_raise_peaks_and_never_lower_them)
{
    struct peaks p, sheet;
    peaks_of_device(&p, &h200);
    sheet = p;
    autojson json_t *ceilings =
        json_pack("{s:f, s:f, s:f, s:f, s:s}", "bytes_per_second", 4.6e12, "copy_bytes_per_second", 4.8e12,
                  "wgmma_fp8_flops_per_second", 3e15, "tensor_int8_flops_per_second", 1e15, "l2_bytes_per_second", "?");
    peaks_raise(&p, ceilings);
    assert_true(fabs(p.memory_bytes - 1.05 * 4.8e12) < 1e6); // from the measured copy
    assert_true(fabs(p.flops[PEAK_BYTE] - 1.05 * 3e15) < 1e6);
    assert_true(p.flops[PEAK_HALF] == sheet.flops[PEAK_HALF] && p.chip_bytes == sheet.chip_bytes);
    json_t *lower = test_json(json_pack("{s:f}", "flops_per_second", 5e13));
    peaks_raise(&p, lower);
    assert_true(p.flops[PEAK_FP32] == sheet.flops[PEAK_FP32]);
}

static double time_of(const struct peaks *p, struct operation_least least, bool cold, double tolerance, double absolute,
                      struct error *why)
{
    struct measure_settings set = {.cold = cold};
    struct verify_settings verify = {.enabled = true, .tolerance = tolerance, .absolute = absolute};
    return peaks_least_time(p, &least, &set, &verify, why);
}

static bool near(double x, double y)
{
    return fabs(x - y) <= 1e-9 * fabs(y);
}

TEST(least_times_are_those_of_the_slowest_part)
{
    struct peaks p = {.memory_bytes = 4e12, .chip_bytes = 16e12, .l2_bytes = 60e6};
    struct error why;
    p.flops[PEAK_FP32] = 50e12;
    p.flops[PEAK_HALF] = 1000e12;
    p.flops[PEAK_BYTE] = 2000e12;
    // With a cold cache, inputs may still fill a quarter of the L2, and outputs may stay in the whole L2.
    assert_true(near(time_of(&p, (struct operation_least){.read = 415e6, .bits = 1}, true, 1, 0, &why), 1e-4));
    assert_string_equal(why.message, "moving 400 MB takes at 4 TB/s");
    assert_true(near(
        time_of(&p, (struct operation_least){.read = 415e6, .written = 460e6, .bits = 1}, true, 1, 0, &why), 2e-4));
    // With a warm cache, data that fit into the L2 are read from there and not from memory.
    assert_true(near(time_of(&p, (struct operation_least){.read = 48e6, .bits = 1}, false, 1, 0, &why), 3e-6));
    assert_string_equal(why.message, "bringing 48 MB from the L2 to the multiprocessors, or back, takes at 16 TB/s");
    // Arithmetic with 7 bits runs on INT8, and FP32's lanes do four operations of this kind at a time. 11 bits run on
    // FP16, because INT8 would need three products. 14 bits run as three products of INT8, and 24 bits as seven.
    static const struct {
        int bits;
        double tolerance, absolute, rate;
    } cases[] = {
        {7, 1, 0, 2000e12 + 200e12},     {8, 1, 0, 1000e12 + 100e12},     {11, 1, 0, 1000e12 + 100e12},
        {14, 1, 0, 2000e12 / 3 + 50e12}, {14, 128, 0, 2000e12 + 200e12}, // a job with a loose tolerance
        {14, 1, 1e-3, 2000e12 + 200e12}, {24, 1, 0, 2000e12 / 7 + 50e12},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct operation_least least = {.flops = 1e12, .bits = cases[i].bits};
        double t = time_of(&p, least, true, cases[i].tolerance, cases[i].absolute, &why);
        if (!near(t, 1e12 / cases[i].rate)) fail_msg("case %zu: %g operations a second", i, 1e12 / t);
        assert_non_null(strstr(why.message, "1 T operations take at "));
    }
    // If a peak is unknown, every time is doubtful.
    p.memory_bytes = 0;
    assert_true(isinf(time_of(&p, (struct operation_least){.read = 415e6, .bits = 1}, true, 1, 0, &why)));
}

TEST(a_time_below_the_least_is_refused_with_both_numbers)
{
    struct error reason = {""};
    assert_false(peaks_refuse(45.6e-6, 45.6e-6, "moving 201 MB takes at 4.4 TB/s", &reason));
    assert_false(peaks_refuse(44.7e-6, 45.6e-6, "", &reason)); // within the resolution of events
    assert_false(peaks_refuse(1e-7, 1e-6, "", &reason));
    assert_false(peaks_refuse(NAN, 1, "", &reason));
    assert_true(peaks_refuse(12.3e-6, 45.6e-6, "moving 201 MB takes at 4.4 TB/s", &reason));
    assert_string_equal(reason.message, "12.3us is less than the 45.6us that moving 201 MB takes at 4.4 TB/s: "
                                        "look for work that the kernel skips");
}

// Times that the vendor's libraries or the kernels of docs/experiments reach on an H200 must all pass. Times that are
// impossible on it must be refused.
TEST(real_times_pass_and_impossible_ones_do_not)
{
    static const struct {
        enum element type;
        int64_t size;
        double real, impossible;
    } products[] = {
        {ELEMENT_F32, 4096, 137e9 / 60e12, 137e9 / 1700e12},
        {ELEMENT_BF16, 8192, 1100e9 / 800e12, 1100e9 / 3500e12},
        {ELEMENT_F64, 4096, 137e9 / 64e12, 137e9 / 500e12},
    };
    struct peaks p;
    struct error why, reason;
    const struct operation *gemm = operation_find("gemm", NULL), *sum = operation_find("sum", NULL);
    peaks_of_device(&p, &h200);
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        int64_t n = products[i].size;
        struct operation_problem problem = product(products[i].type, products[i].type, 1, n, n, n);
        double least = time_of(&p, least_of(gemm, &problem), true, 1, 0, &why);
        if (peaks_refuse(products[i].real, least, why.message, &reason)) fail_msg("%zu: %s", i, reason.message);
        if (!peaks_refuse(products[i].impossible, least, why.message, &reason)) fail_msg("%zu is let through", i);
    }
    struct operation_problem s = make(sum);
    set(sum, &s, "x", shape(ELEMENT_F32, 1, 1 << 28));
    set(sum, &s, "result", shape(ELEMENT_F32, 1, 1));
    double least = time_of(&p, least_of(sum, &s), true, 1, 0, &why), bytes = 4.0 * (1 << 28);
    assert_false(peaks_refuse(bytes / 4.67e12, least, why.message, &reason));
    assert_true(peaks_refuse(bytes / 5.1e12, least, why.message, &reason));
    assert_true(peaks_refuse(bytes / 180e12, least, why.message, &reason));
}

TEST_MAIN(NULL, NULL)
