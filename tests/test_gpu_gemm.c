// Matrix products on CUDA cores and in FP64, which need a GPU. Compares templates/gemm_simt.cu, gemm_rows.cu,
// gemm_dmma.cu and gemv.cu with cuBLAS in double precision (FP64 products: with a reference of twice that precision) at
// sizes that are not multiples of any tile. Without a GPU these tests are skipped, and counted as skipped; with
// SWEETSPOT_GPU_REQUIRED set (make test-gpu) they fail instead.
#include "tests/gpu_products.h"

// Few candidates and launches, because the check that nothing was written between the rows reads 12 GiB each time.
#define FEW_SHIFTED                                                                                \
    "s/M = 5/M = 3/; s/values = .1, 2, 4./values = [4]/; s/values = .0, 1.; .$/values = [1]; }/; " \
    "s/^search/measure = { warmup = 0; min_samples = 3; max_samples = 3; }; search/"
GPU_TEST(products_of_cuda_cores_are_right)
{
    static const struct product products[] = {
        {"ragged sizes, batches, split", "tests/jobs/gemm_cases.cfg", "", ""},
        {"B transposed", "tests/jobs/gemm_cases.cfg", "s/TB = 0/TB = 1/", ""},
        {"A transposed", "tests/jobs/gemm_cases.cfg", "s/TA = 0/TA = 1/", ""},
        {"A and B transposed", "tests/jobs/gemm_cases.cfg", "s/TA = 0; TB = 0/TA = 1; TB = 1/", ""},
        // An output starts as NaN, and beta times NaN would be NaN.
        {"with beta 0 C is not read", "tests/jobs/gemm_cases.cfg", C_NOT_READ, ""},
        {"unaligned addresses", "tests/jobs/gemm_shifted.cfg", "", ""},
        {"unaligned addresses of larger products", "tests/jobs/gemm_shifted.cfg",
         "s/SHIFT = 1/SHIFT = 3/; s/M = 5; N = 72/M = 64; N = 128/; s/LDA = 80; LDC = 88/LDA = 132; LDC = 132/", ""},
        {"a sum of no terms leaves beta times C", "tests/jobs/gemm_shifted.cfg", "s/DEPTH = 24/DEPTH = 0/", ""},
        {"offsets in A beyond 2^31", "tests/jobs/gemm_shifted.cfg", FEW_SHIFTED "; s/LDA = 80/LDA = 1073741824/", ""},
        {"offsets in C beyond 2^31", "tests/jobs/gemm_shifted.cfg", FEW_SHIFTED "; s/LDC = 88/LDC = 1073741824/", ""},
        {"infinities and NaN come out where cuBLAS has them", "tests/jobs/gemm_cases.cfg", NOT_FINITE, ""},
    };
    products_right(products, sizeof products / sizeof *products);
}

GPU_TEST(products_with_few_vectors_are_right)
{
    static const struct product products[] = {
        {"few vectors", "tests/jobs/rows_cases.cfg", "", ""},
        {"few vectors of f16", "tests/jobs/rows_cases.cfg", "s/bf16/f16/g", ""},
        {"few vectors of f32, beta 0", "tests/jobs/rows_cases.cfg", "s/bf16/f32/g; " C_NOT_READ, ""},
        {"few vectors at unaligned addresses", "tests/jobs/rows_shifted.cfg", "", ""},
        {"few vectors, no terms", "tests/jobs/rows_shifted.cfg", "s/DEPTH = 600/DEPTH = 0/", ""},
        {"few vectors, great offsets", "tests/jobs/rows_shifted.cfg",
         "s/LDB = 608/LDB = 1073741824/; s/N = 5/N = 3/; s/values = .1, 2./values = [2]/; " FEW_LAUNCHES, ""},
        {"infinities and NaN, few vectors", "tests/jobs/rows_cases.cfg", NOT_FINITE "; " C_NOT_READ, ""},
    };
    products_right(products, sizeof products / sizeof *products);
}

GPU_TEST(products_in_fp64_are_right)
{
    static const struct product products[] = {
        {"FP64", "tests/jobs/dmma_cases.cfg", "", ""},
        {"FP64, beta 0", "tests/jobs/dmma_cases.cfg", C_NOT_READ, ""},
        {"FP64 at unaligned addresses", "tests/jobs/dmma_shifted.cfg", "", ""},
        {"FP64, no terms", "tests/jobs/dmma_shifted.cfg", "s/DEPTH = 24/DEPTH = 0/", ""},
        {"FP64, great offsets", "tests/jobs/dmma_shifted.cfg",
         "s/LDA = 80/LDA = 536870912/; s/values = .8, 16./values = [8]/; s/values = .2, 3./values = "
         "[3]/; " FEW_LAUNCHES,
         ""},
        {"infinities and NaN, FP64", "tests/jobs/dmma_cases.cfg", NOT_FINITE "; " C_NOT_READ, ""},
    };
    products_right(products, sizeof products / sizeof *products);
}

// Copies with aligned rows, overlapping launches, warp tiles of all heights: random candidates from the suite's space
// at odd sizes, in all four transpositions.
GPU_TEST(candidates_of_the_suite_are_right)
{
    static const char *const scripts[] = {"", "s/TA = 0/TA = 1/g", "s/TB = 0/TB = 1/g",
                                          "s/TA = 0; TB = 0/TA = 1; TB = 1/g"};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        char *folder = e2e_folder("suite-flat"), *path = test_text("%s/flat.cfg", folder);
        e2e_pass(folder,
                 "cat configs/suite/fp32_2047.cfg configs/suite/fp32_gemm.inc | sed '/^@include/d; s/M = 2047; N = "
                 "2047; K = 2047/M = 715; N = 681; K = 531/; s/\"!ALIGNED || /\"ALIGNED\", &/' >$DIR/flat.cfg");
        all_right(scripts[i], path, scripts[i], "--strategy random -n 40 --time 15s");
    }
}

GPU_TEST(buffers_that_do_not_fit_are_refused_with_their_size)
{
    char *folder = e2e_folder("large");
    struct e2e_result r = e2e_run(
        folder,
        "sed -e 's|\"\\.\\./\\.\\./templates|\"'$PWD'/templates|; s/WORKSPACE = 4194304/WORKSPACE = 1073741824/; "
        "s/shape = . \"WORKSPACE\" ./shape = [ \"1024\", \"WORKSPACE\" ]/' tests/jobs/gemm_cases.cfg >$DIR/job.cfg && "
        "$BIN/sweetspot tune $DIR/job.cfg --store $DIR/g.db -q --no-counters");
    assert_int_not_equal(r.status, 0);
    assert_contains(r.err, "take 4096.0 GiB; the device has");
}

GPU_TEST(matrix_times_vector_is_right_at_all_shapes)
{
    static const char *const small = "s/M = 16384; N = 16384/M = 1000; N = 3000/; /budget/d; s/value = 1.0/value = "
                                     "-2.0/; s/value = 0.0/value = 0.5/; s/y\"; type = \"f32\"; shape = \\(.*\\); "
                                     "direction = \"out\"/y\"; type = \"f32\"; shape = \\1; direction = \"inout\"/";
    char *folder = e2e_folder("gemv");
    for (int t = 0; t < 2; t++) {
        struct e2e_result r = e2e_run(
            folder,
            "{ sed -e '/@include/d' configs/gemv%s.cfg; sed 's|\"\\.\\./templates|\"'$PWD'/templates|' "
            "configs/gemv.inc; } | sed '%s' >$DIR/job.cfg && $BIN/sweetspot tune $DIR/job.cfg --store "
            "$DIR/g%d.db --cache $CACHE -q --no-counters --no-final --strategy random -n 200 && $BIN/sweetspot status "
            "$DIR/job.cfg --store $DIR/g%d.db",
            t ? "_t" : "", small, t, t);
        if (r.status) fail_msg("status %d: %.3000s", r.status, r.err);
        if (strstr(r.out, " wrong") || strstr(r.out, " out_of_bounds") || strstr(r.out, " crashed") ||
            strstr(r.out, " pruned"))
            fail_msg("%.3000s", r.out);
    }
}

TEST_MAIN(share_cache, NULL)
