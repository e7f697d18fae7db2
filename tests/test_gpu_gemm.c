// Matrix products that need a GPU: templates/gemm_simt.cu, gemm_wgmma.cu, gemm_rows.cu, gemm_dmma.cu and gemv.cu
// against cuBLAS in double precision (or with twice its bits) where nothing is a multiple of anything.
// Skipped, and counted as skipped, where there is no GPU; with SWEETSPOT_GPU_REQUIRED set (make test-gpu) its absence
// is a failure.
#include "tests/gpu.h"

// Tunes a job after a sed script, with further options, and requires that every candidate is right.
static void all_right_of(const char *job, const char *script, const char *options)
{
    char *folder = e2e_folder("gemm");
    struct outcome_of_command r = e2e_run(
        folder,
        "sed -e 's|\"\\.\\./\\.\\./templates|\"'$PWD'/templates|; "
        "s|\"\\([a-z]*_shifted.cu\\)|\"'$PWD'/tests/jobs/\\1|; "
        "s|\"\\.\\./templates|\"'$PWD'/templates|' -e '%s' %s >%s/job.cfg && "
        "$BIN/sweetspot tune %s/job.cfg --store %s/g.db -q --no-counters --no-final %s && "
        "$BIN/sweetspot status %s/job.cfg --store %s/g.db && { grep -aE ' trial [0-9]+ [a-z_]+: ' %s/g.log; :; }",
        script, job, folder, folder, folder, options, folder, folder, folder);
    if (r.status) fail_msg("%s, %s: status %d: %.3000s", job, script, r.status, r.err);
    static const char *const bad[] = {" wrong",         " out_of_bounds", " nondeterministic", " crashed", " timeout",
                                      " compile_error", " launch_error",  " implausible",      " pruned"};
    // Of a random sample some may be pruned.
    for (size_t i = 0; i < sizeof bad / sizeof *bad - (*options != 0); i++)
        if (strstr(r.out, bad[i])) fail_msg("%s, %s:\n%.6000s\n%.3000s", job, script, r.out, r.err);
    assert_contains(r.out, " ok");
}

// The same of jobs whose strategy is exhaustive.
static void all_right(const char *job, const char *script)
{
    all_right_of(job, script, "");
}

TEST(products_are_right_at_ragged_sizes_in_batches_and_split)
{
    NEEDS_GPU();
    all_right("tests/jobs/gemm_cases.cfg", "");
}

TEST(products_are_right_with_transposed_operands)
{
    NEEDS_GPU();
    all_right("tests/jobs/gemm_cases.cfg", "s/TB = 0/TB = 1/");
    all_right("tests/jobs/gemm_cases.cfg", "s/TA = 0/TA = 1/");
    all_right("tests/jobs/gemm_cases.cfg", "s/TA = 0; TB = 0/TA = 1; TB = 1/");
}

TEST(with_beta_0_c_is_not_read)
{
    NEEDS_GPU();
    // An output starts as NaN, which beta times would keep.
    all_right("tests/jobs/gemm_cases.cfg", "s/value = 0.75/value = 0.0/; s/direction = \"inout\"/direction = \"out\"/");
}

TEST(products_at_unaligned_addresses_are_right)
{
    NEEDS_GPU();
    all_right("tests/jobs/gemm_shifted.cfg", "");
    all_right("tests/jobs/gemm_shifted.cfg",
              "s/SHIFT = 1/SHIFT = 3/; s/M = 5; N = 72/M = 64; N = 128/; s/LDA = 80; LDC = 88/LDA = 132; LDC = 132/");
}

// Copies with aligned rows, launches that overlap, warp tiles of all heights: random candidates of the suite's space at
// odd sizes, all four transpositions.
TEST(candidates_of_the_suite_are_right)
{
    NEEDS_GPU();
    static const char *const scripts[] = {"", "s/TA = 0/TA = 1/g", "s/TB = 0/TB = 1/g",
                                          "s/TA = 0; TB = 0/TA = 1; TB = 1/g"};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        char *folder = e2e_folder("suite-flat"), *path = test_text("%s/flat.cfg", folder);
        e2e_passed(
            e2e_run(folder,
                    "cat configs/suite/fp32_2047.cfg configs/suite/fp32_gemm.inc | sed '/^@include/d; s/M = 2047; N = "
                    "2047; K = 2047/M = 715; N = 681; K = 531/; "
                    "s/\"!ALIGNED || /\"ALIGNED\", &/' >%s/flat.cfg",
                    folder));
        all_right_of(path, scripts[i], "--strategy random -n 40 --time 15s");
    }
}

TEST(a_sum_of_no_terms_leaves_beta_times_c)
{
    NEEDS_GPU();
    all_right("tests/jobs/gemm_shifted.cfg", "s/DEPTH = 24/DEPTH = 0/");
}

TEST(offsets_beyond_two_to_the_31_are_right)
{
    NEEDS_GPU();
    // Few candidates and launches: each means reading 12 GiB, to see that nothing was written between the rows.
    static const char *const few =
        "s/M = 5/M = 3/; s/values = .1, 2, 4./values = [4]/; s/values = .0, 1.; .$/values = [1]; }/; "
        "s/^search/measure = { warmup = 0; min_samples = 3; max_samples = 3; }; search/";
    char *rows_of_a = test_text("%s; s/LDA = 80/LDA = 1073741824/", few),
         *rows_of_c = test_text("%s; s/LDC = 88/LDC = 1073741824/", few);
    all_right("tests/jobs/gemm_shifted.cfg", rows_of_a);
    all_right("tests/jobs/gemm_shifted.cfg", rows_of_c);
}

static const char *const as_f32 = "s/bf16/f32/g", *const as_f16 = "s/bf16/f16/g",
                         *const c_not_read =
                             "s/value = 0.75/value = 0.0/; s/direction = \"inout\"/direction = \"out\"/";

TEST(products_with_few_vectors_are_right)
{
    NEEDS_GPU();
    all_right("tests/jobs/rows_cases.cfg", "");
    all_right("tests/jobs/rows_cases.cfg", as_f16);
    char *script = test_text("%s; %s", as_f32, c_not_read);
    all_right("tests/jobs/rows_cases.cfg", script);
}

TEST(products_with_few_vectors_are_right_at_unaligned_addresses_and_great_offsets)
{
    NEEDS_GPU();
    all_right("tests/jobs/rows_shifted.cfg", "");
    all_right("tests/jobs/rows_shifted.cfg", "s/DEPTH = 600/DEPTH = 0/");
    all_right("tests/jobs/rows_shifted.cfg",
              "s/LDB = 608/LDB = 1073741824/; s/N = 5/N = 3/; s/values = .1, 2./values = [2]/; "
              "s/^search/measure = { cache = \"warm\"; warmup = 0; min_samples = 3; max_samples = 3; }; search/");
}

TEST(products_in_fp64_are_right)
{
    NEEDS_GPU();
    all_right("tests/jobs/dmma_cases.cfg", "");
    all_right("tests/jobs/dmma_cases.cfg", c_not_read);
}

TEST(products_in_fp64_are_right_at_unaligned_addresses_and_great_offsets)
{
    NEEDS_GPU();
    all_right("tests/jobs/dmma_shifted.cfg", "");
    all_right("tests/jobs/dmma_shifted.cfg", "s/DEPTH = 24/DEPTH = 0/");
    all_right("tests/jobs/dmma_shifted.cfg",
              "s/LDA = 80/LDA = 536870912/; s/values = .8, 16./values = [8]/; s/values = .2, 3./values = [3]/; "
              "s/^search/measure = { cache = \"warm\"; warmup = 0; min_samples = 3; max_samples = 3; }; search/");
}

TEST(infinities_and_nan_come_out_where_cublas_has_them)
{
    NEEDS_GPU();
    // The inputs, and nothing else, are dense or have ld and no direction.
    static const char *const inputs = "s/\\(buffer = \"[AB]\".*ld = [^;]*\\); }/\\1; fill = \"nonfinite\"; }/";
    char *script = test_text("%s; %s", inputs, c_not_read);
    all_right("tests/jobs/gemm_cases.cfg", inputs);
    all_right("tests/jobs/rows_cases.cfg", script);
    all_right("tests/jobs/dmma_cases.cfg", script);
    // TMA's maps declare the inputs of gemm_wgmma.
    all_right_of("configs/bgemm_1024.cfg",
                 "s/problems  *= ( { M = 1024; N = 1024; K = 1024; } )/problems = ( { M = 200; N = 136; K = 264; } )/; "
                 "s/\\(tensor_map = \"[AB]\";.*shape = [^;]*;\\)/\\1 fill = \"nonfinite\";/",
                 "--strategy random -n 24");
}

TEST(buffers_that_do_not_fit_are_refused_with_their_size)
{
    NEEDS_GPU();
    char *folder = e2e_folder("large");
    struct outcome_of_command r = e2e_run(
        folder,
        "sed -e 's|\"\\.\\./\\.\\./templates|\"'$PWD'/templates|; s/WORKSPACE = 4194304/WORKSPACE = 1073741824/; "
        "s/shape = . \"WORKSPACE\" ./shape = [ \"1024\", \"WORKSPACE\" ]/' tests/jobs/gemm_cases.cfg >%s/job.cfg && "
        "$BIN/sweetspot tune %s/job.cfg --store %s/g.db -q --no-counters",
        folder, folder, folder);
    assert_int_not_equal(r.status, 0);
    assert_contains(r.err, "take 4096.0 GiB; the device has");
}

TEST(matrix_times_vector_is_right_at_all_shapes)
{
    NEEDS_GPU();
    static const char *const small = "s/M = 16384; N = 16384/M = 1000; N = 3000/; /budget/d; s/value = 1.0/value = "
                                     "-2.0/; s/value = 0.0/value = 0.5/; "
                                     "s/y\"; type = \"f32\"; shape = \\(.*\\); direction = \"out\"/y\"; type = "
                                     "\"f32\"; shape = \\1; direction = \"inout\"/";
    char *folder = e2e_folder("gemv");
    for (int t = 0; t < 2; t++) {
        struct outcome_of_command r = e2e_run(
            folder,
            "{ sed -e '/@include/d' configs/gemv%s.cfg; sed 's|\"\\.\\./templates|\"'$PWD'/templates|' "
            "configs/gemv.inc; } | sed '%s' >%s/job.cfg && "
            "$BIN/sweetspot tune %s/job.cfg --store %s/g%d.db -q --no-counters --no-final --strategy random -n 200 && "
            "$BIN/sweetspot status %s/job.cfg --store %s/g%d.db",
            t ? "_t" : "", small, folder, folder, folder, t, folder, folder, t);
        if (r.status) fail_msg("status %d: %.3000s", r.status, r.err);
        if (strstr(r.out, " wrong") || strstr(r.out, " out_of_bounds") || strstr(r.out, " crashed") ||
            strstr(r.out, " pruned"))
            fail_msg("%.3000s", r.out);
    }
}

// sed scripts for tests/jobs/wgmma_cases.cfg and wgmma_two_pass.cfg.
#define IN_TF32                                                                                                     \
    "s/INPUT = \"bf16\"; OUTPUT = \"bf16\"; BYTES = 2; BYTES_C = 2/INPUT = \"tf32\"; OUTPUT = \"f32\"; BYTES = 4; " \
    "BYTES_C = 4/; s/BLOCK_K = 64/BLOCK_K = 32/; "                                                                  \
    "s/type = \"bf16\"/type = \"f32\"/; s/compute = \"full\"/compute = \"tf32\"/"

#define TRANSPOSED                                                                                                    \
    "s/TRANSPOSE_C = 0/TRANSPOSE_C = 1/; s/shape = . \"ROWS\", \"COLS\" .; ld = \"round_up(COLS, 8) + 8\"/shape = [ " \
    "\"COLS\", \"ROWS\" ]; ld = \"round_up(ROWS, 8) + 8\"/; "                                                         \
    "s/box = . \"64\", \"STORE_COLS\" .; swizzle = \"BYTES_C . STORE_COLS\"/box = [ \"STORE_COLS\", \"64\" ]; "       \
    "swizzle = 128/; "                                                                                                \
    "s/value = \"round_up(COLS, 8) + 8\"/value = \"round_up(ROWS, 8) + 8\"/; s/M = \"ROWS\"; N = \"COLS\"/M = "       \
    "\"COLS\"; N = \"ROWS\"; A = \"B\"; B = \"A\"/; s/ROWS = 1;/ROWS = 8;/; s/ROWS = 300/ROWS = 304/"

TEST(products_on_tensor_cores_are_right_however_tiles_are_ordered_divided_and_stored)
{
    NEEDS_GPU();
    all_right("tests/jobs/wgmma_cases.cfg", "");
    // Rows of C that are no multiples of 16 bytes, which TMA does not store.
    all_right("tests/jobs/wgmma_cases.cfg", "s/.tma., //; s/ROWS = 136; COLS = 88/ROWS = 133; COLS = 95/");
}

TEST(on_tensor_cores_too_c_is_not_read_with_beta_0)
{
    NEEDS_GPU();
    all_right("tests/jobs/wgmma_cases.cfg",
              "s/value = 0.75/value = 0.0/; s/direction = \"inout\"/direction = \"out\"/; s/% 6 == 4/% 6 == 1/");
}

TEST(the_transpose_of_a_product_on_tensor_cores_is_right)
{
    NEEDS_GPU();
    all_right("tests/jobs/wgmma_cases.cfg", TRANSPOSED "; s/% 6 == 4/% 6 == 2/");
}

TEST(products_in_tf32_are_right_and_are_not_fp32)
{
    NEEDS_GPU();
    all_right("tests/jobs/wgmma_cases.cfg", IN_TF32);
    // Rounded as they are loaded instead of cut off.
    all_right("tests/jobs/wgmma_cases.cfg",
              IN_TF32 "; s/swizzle = 128; }/swizzle = 128; convert = \"tf32\"; }/; s/% 6 == 4/% 6 == 3/");
    char *folder = e2e_folder("tf32");
    struct outcome_of_command r = e2e_run(folder,
                                          "sed -e 's|\"\\.\\./\\.\\./templates|\"'$PWD'/templates|' -e '" IN_TF32
                                          "; s/compute = \"tf32\"/compute = \"full\"/' "
                                          "tests/jobs/wgmma_cases.cfg >%s/job.cfg && "
                                          "$BIN/sweetspot tune %s/job.cfg --store %s/g.db -q --no-counters --no-final "
                                          "-n 8; $BIN/sweetspot status %s/job.cfg --store %s/g.db",
                                          folder, folder, folder, folder, folder);
    if (!strstr(r.out, " wrong") || strstr(r.out, " ok ")) fail_msg("%.3000s\n%.3000s", r.out, r.err);
}

TEST(fp32_by_three_products_of_tf32_is_right)
{
    NEEDS_GPU();
    static const char *const small = "s/^problems .*/problems = ( { M = 648; N = 904; K = 1096; } );/; /^objective/d; "
                                     "s/value = 1.0/value = -2.0/; s/value = 0.0/value = 0.5/; "
                                     "s/direction = \"out\"/direction = \"inout\"/; s/^budget.*/search = { strategy = "
                                     "\"random\"; }; budget = { evaluations = 60; };/";
    all_right("configs/sgemm_3xtf32.cfg", small);
}

TEST(parts_of_a_sum_that_a_second_launch_adds_are_right)
{
    NEEDS_GPU();
    all_right("tests/jobs/wgmma_two_pass.cfg", "");
    char *script = test_text("%s; %s", IN_TF32, c_not_read);
    all_right("tests/jobs/wgmma_two_pass.cfg", script);
    all_right("tests/jobs/wgmma_two_pass.cfg", TRANSPOSED);
    // Rows of C that begin in the middle of two elements; no map of C.
    all_right("tests/jobs/wgmma_two_pass.cfg",
              "s/.tma., //; s/WORKSPACE = 1;/& MAP_C = 0;/; s/round_up(COLS, 8) + 8/COLS/; s/COLS = 776/COLS = 773/; "
              "s/COLS = 264/COLS = 263/; s/COLS = 96/COLS = 97/; "
              "/tensor_map = \"C\"/{N; s/.*/{ buffer = \"C\"; type = \"bf16\"; shape = [ \"ROWS\", \"COLS\" ]; "
              "direction = \"inout\"; },/}");
}

TEST_MAIN(NULL, NULL)
