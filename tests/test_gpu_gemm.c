// Matrix products that need a GPU: templates/gemm_simt.cu, gemm_wgmma.cu, gemm_mma.cu, gemm_rows.cu, gemm_dmma.cu and
// gemv.cu against cuBLAS in double precision (or with twice its bits) where nothing is a multiple of anything.
// Skipped, and counted as skipped, where there is no GPU; with SWEETSPOT_GPU_REQUIRED set (make test-gpu) its absence
// is a failure.
#include "tests/gpu.h"

// Tunes a job after a sed script, with further options, and requires that every candidate is right.
static void all_right(const char *what, const char *job, const char *script, const char *options)
{
    char *folder = e2e_folder("gemm");
    struct e2e_result r = e2e_run(
        folder,
        "sed -e 's|\"\\.\\./\\.\\./templates|\"'$PWD'/templates|; "
        "s|\"\\([a-z]*_shifted.cu\\)|\"'$PWD'/tests/jobs/\\1|; s|\"\\.\\./templates|\"'$PWD'/templates|' -e "
        "'%s' %s >$DIR/job.cfg && $BIN/sweetspot tune $DIR/job.cfg --store $DIR/g.db -q --no-counters --no-final %s && "
        "$BIN/sweetspot status $DIR/job.cfg --store $DIR/g.db && { grep -aE ' trial [0-9]+ [a-z_]+: ' $DIR/g.log; :; }",
        script, job, options);
    if (r.status) fail_msg("%s: status %d: %.3000s", what, r.status, r.err);
    static const char *const bad[] = {" wrong",         " out_of_bounds", " nondeterministic", " crashed", " timeout",
                                      " compile_error", " launch_error",  " implausible",      " pruned"};
    // Of a random sample some may be pruned.
    for (size_t i = 0; i < sizeof bad / sizeof *bad - (*options != 0); i++)
        if (strstr(r.out, bad[i])) {
            puts(r.out); // longer than what cmocka prints
            fail_msg("%s: %s", what, bad[i]);
        }
    assert_contains(r.out, " ok");
}

// sed scripts for the jobs.
#define C_NOT_READ "s/value = 0.75/value = 0.0/; s/direction = \"inout\"/direction = \"out\"/"
#define FEW_LAUNCHES "s/^search/measure = { cache = \"warm\"; warmup = 0; min_samples = 3; max_samples = 3; }; search/"
// Few candidates and launches: each means reading 12 GiB, to see that nothing was written between the rows.
#define FEW_SHIFTED                                                                                \
    "s/M = 5/M = 3/; s/values = .1, 2, 4./values = [4]/; s/values = .0, 1.; .$/values = [1]; }/; " \
    "s/^search/measure = { warmup = 0; min_samples = 3; max_samples = 3; }; search/"
// The inputs, and nothing else, are dense or have ld and no direction.
#define NOT_FINITE "s/\\(buffer = \"[AB]\".*ld = [^;]*\\); }/\\1; fill = \"nonfinite\"; }/"

// Only of jobs for gemm_wgmma.
#define IN_TF32                                                                                                     \
    "s/INPUT = \"bf16\"; OUTPUT = \"bf16\"; BYTES = 2; BYTES_C = 2/INPUT = \"tf32\"; OUTPUT = \"f32\"; BYTES = 4; " \
    "BYTES_C = 4/; s/BLOCK_K = 64/BLOCK_K = 32/; "                                                                  \
    "s/type = \"bf16\"/type = \"f32\"/; s/compute = \"full\"/compute = \"tf32\"/"

// Only of mma_cases.cfg.
#define MMA_TF32                                                                                                      \
    "s/INPUT = \"bf16\"; OUTPUT = \"bf16\"/INPUT = \"tf32\"; OUTPUT = \"f32\"/; s/type = \"bf16\"/type = \"f32\"/; "  \
    "s/\\(BLOCK_K\".*values = \\).32, 64./\\1[16, 32]/; s/SIZE = 2; BYTES_C = 2/SIZE = 4; BYTES_C = 4/; s/operation " \
    "= \"gemm\";/& compute = "                                                                                        \
    "\"tf32\";/"
#define MMA_INT8                                                                                                       \
    "s/INPUT = \"bf16\"; OUTPUT = \"bf16\"/INPUT = \"i8\"; OUTPUT = \"i32\"/; s/\\(\"[AB]\"; type = "                  \
    "\\)\"bf16\"/\\1\"i8\"/; "                                                                                         \
    "s/type = \"\\(bf16\\|f32\\)\"/type = \"i32\"/; s/-1.5/-2/; s/0.75/3/; s/SIZE = 2; BYTES_C = 2/SIZE = 1; BYTES_C " \
    "= 4/; "                                                                                                           \
    "s/\\(BLOCK_K\".*values = \\).32, 64./\\1[64, 128]/"

#define TRANSPOSED                                                                                                    \
    "s/TRANSPOSE_C = 0/TRANSPOSE_C = 1/; s/shape = . \"ROWS\", \"COLS\" .; ld = \"round_up(COLS, 8) + 8\"/shape = [ " \
    "\"COLS\", \"ROWS\" ]; ld = \"round_up(ROWS, 8) + 8\"/; "                                                         \
    "s/box = . \"64\", \"STORE_COLS\" .; swizzle = \"BYTES_C . STORE_COLS\"/box = [ \"STORE_COLS\", \"64\" ]; "       \
    "swizzle = 128/; "                                                                                                \
    "s/value = \"round_up(COLS, 8) + 8\"/value = \"round_up(ROWS, 8) + 8\"/; s/M = \"ROWS\"; N = \"COLS\"/M = "       \
    "\"COLS\"; N = \"ROWS\"; A = \"B\"; B = \"A\"/; s/ROWS = 1;/ROWS = 8;/; s/ROWS = 300/ROWS = 304/"

static const struct {
    const char *what, *job, *script, *options; // no options: the job's strategy is exhaustive
} products[] = {
    {"ragged sizes, batches, split", "tests/jobs/gemm_cases.cfg", "", ""},
    {"B transposed", "tests/jobs/gemm_cases.cfg", "s/TB = 0/TB = 1/", ""},
    {"A transposed", "tests/jobs/gemm_cases.cfg", "s/TA = 0/TA = 1/", ""},
    {"A and B transposed", "tests/jobs/gemm_cases.cfg", "s/TA = 0; TB = 0/TA = 1; TB = 1/", ""},
    // An output starts as NaN, which beta times would keep.
    {"with beta 0 C is not read", "tests/jobs/gemm_cases.cfg", C_NOT_READ, ""},
    {"unaligned addresses", "tests/jobs/gemm_shifted.cfg", "", ""},
    {"unaligned addresses of larger products", "tests/jobs/gemm_shifted.cfg",
     "s/SHIFT = 1/SHIFT = 3/; s/M = 5; N = 72/M = 64; N = 128/; s/LDA = 80; LDC = 88/LDA = 132; LDC = 132/", ""},
    {"a sum of no terms leaves beta times C", "tests/jobs/gemm_shifted.cfg", "s/DEPTH = 24/DEPTH = 0/", ""},
    {"offsets in A beyond 2^31", "tests/jobs/gemm_shifted.cfg", FEW_SHIFTED "; s/LDA = 80/LDA = 1073741824/", ""},
    {"offsets in C beyond 2^31", "tests/jobs/gemm_shifted.cfg", FEW_SHIFTED "; s/LDC = 88/LDC = 1073741824/", ""},
    {"few vectors", "tests/jobs/rows_cases.cfg", "", ""},
    {"few vectors of f16", "tests/jobs/rows_cases.cfg", "s/bf16/f16/g", ""},
    {"few vectors of f32, beta 0", "tests/jobs/rows_cases.cfg", "s/bf16/f32/g; " C_NOT_READ, ""},
    {"few vectors at unaligned addresses", "tests/jobs/rows_shifted.cfg", "", ""},
    {"few vectors, no terms", "tests/jobs/rows_shifted.cfg", "s/DEPTH = 600/DEPTH = 0/", ""},
    {"few vectors, great offsets", "tests/jobs/rows_shifted.cfg",
     "s/LDB = 608/LDB = 1073741824/; s/N = 5/N = 3/; s/values = .1, 2./values = [2]/; " FEW_LAUNCHES, ""},
    {"FP64", "tests/jobs/dmma_cases.cfg", "", ""},
    {"FP64, beta 0", "tests/jobs/dmma_cases.cfg", C_NOT_READ, ""},
    {"FP64 at unaligned addresses", "tests/jobs/dmma_shifted.cfg", "", ""},
    {"FP64, no terms", "tests/jobs/dmma_shifted.cfg", "s/DEPTH = 24/DEPTH = 0/", ""},
    {"FP64, great offsets", "tests/jobs/dmma_shifted.cfg",
     "s/LDA = 80/LDA = 536870912/; s/values = .8, 16./values = [8]/; s/values = .2, 3./values = [3]/; " FEW_LAUNCHES,
     ""},
    {"mma.sync", "tests/jobs/mma_cases.cfg", "", ""},
    {"mma.sync, A transposed, beta 0", "tests/jobs/mma_cases.cfg", "s/TA = 0/TA = 1/; " C_NOT_READ, ""},
    {"mma.sync, FP16, B not transposed", "tests/jobs/mma_cases.cfg", "s/TB = 1/TB = 0/; s/bf16/f16/g", ""},
    {"mma.sync, TF32", "tests/jobs/mma_cases.cfg", MMA_TF32, ""},
    {"mma.sync, TF32, A transposed, B not", "tests/jobs/mma_cases.cfg", MMA_TF32 "; s/TA = 0; TB = 1/TA = 1; TB = 0/",
     ""},
    {"mma.sync, INT8", "tests/jobs/mma_cases.cfg", MMA_INT8, ""},
    {"mma.sync at unaligned addresses", "tests/jobs/mma_shifted.cfg", "", ""},
    {"mma.sync, no terms", "tests/jobs/mma_shifted.cfg", "s/DEPTH = 200/DEPTH = 0/", ""},
    {"mma.sync, great offsets", "tests/jobs/mma_shifted.cfg",
     "s/LDA = 208/LDA = 1073741824/; s/SHIFT = 1/SHIFT = 0/; s/values = .32, 64./values = [64]/; s/values = .2, "
     "3./values = [3]/; " FEW_LAUNCHES,
     ""},
    {"infinities and NaN come out where cuBLAS has them", "tests/jobs/gemm_cases.cfg", NOT_FINITE, ""},
    {"infinities and NaN, few vectors", "tests/jobs/rows_cases.cfg", NOT_FINITE "; " C_NOT_READ, ""},
    {"infinities and NaN, FP64", "tests/jobs/dmma_cases.cfg", NOT_FINITE "; " C_NOT_READ, ""},
    {"infinities and NaN, mma.sync", "tests/jobs/mma_cases.cfg", NOT_FINITE "; " C_NOT_READ, ""},
    {"infinities and NaN, mma.sync, TF32", "tests/jobs/mma_cases.cfg", NOT_FINITE "; " MMA_TF32, ""},
    // TMA's maps declare the inputs of gemm_wgmma.
    {"infinities and NaN on tensor cores", "configs/bgemm_1024.cfg",
     "s/problems  *= ( { M = 1024; N = 1024; K = 1024; } )/problems = ( { M = 200; N = 136; K = 264; } )/; "
     "s/\\(tensor_map = \"[AB]\";.*shape = [^;]*;\\)/\\1 fill = \"nonfinite\";/",
     "--strategy random -n 24"},
    {"tensor cores: tiles ordered, divided and stored in all ways", "tests/jobs/wgmma_cases.cfg", "", ""},
    {"tensor cores: rows of C that TMA does not store", "tests/jobs/wgmma_cases.cfg",
     "s/.tma., //; s/ROWS = 136; COLS = 88/ROWS = 133; COLS = 95/", ""},
    {"tensor cores, beta 0", "tests/jobs/wgmma_cases.cfg", C_NOT_READ "; s/% 6 == 4/% 6 == 1/", ""},
    {"tensor cores: the transpose", "tests/jobs/wgmma_cases.cfg", TRANSPOSED "; s/% 6 == 4/% 6 == 2/", ""},
    {"TF32", "tests/jobs/wgmma_cases.cfg", IN_TF32, ""},
    {"TF32, rounded as it is loaded instead of cut off", "tests/jobs/wgmma_cases.cfg",
     IN_TF32 "; s/swizzle = 128; }/swizzle = 128; convert = \"tf32\"; }/; s/% 6 == 4/% 6 == 3/", ""},
    {"FP32 by three products of TF32", "configs/sgemm_3xtf32.cfg",
     "s/^problems .*/problems = ( { M = 648; N = 904; K = 1096; } );/; /^objective/d; s/value = 1.0/value = -2.0/; "
     "s/value = 0.0/value = 0.5/; s/direction = \"out\"/direction = \"inout\"/; s/^budget.*/search = { strategy = "
     "\"random\"; }; budget = { evaluations = 60; };/",
     ""},
    {"a second launch adds the parts", "tests/jobs/wgmma_two_pass.cfg", "", ""},
    {"a second launch, TF32, beta 0", "tests/jobs/wgmma_two_pass.cfg", IN_TF32 "; " C_NOT_READ, ""},
    {"a second launch, the transpose", "tests/jobs/wgmma_two_pass.cfg", TRANSPOSED, ""},
    {"a second launch: rows of C that begin in the middle of two elements; no map of C",
     "tests/jobs/wgmma_two_pass.cfg",
     "s/.tma., //; s/WORKSPACE = 1;/& MAP_C = 0;/; s/round_up(COLS, 8) + 8/COLS/; s/COLS = 776/COLS = 773/; "
     "s/COLS = 264/COLS = 263/; s/COLS = 96/COLS = 97/; /tensor_map = \"C\"/{N; s/.*/{ buffer = \"C\"; type = "
     "\"bf16\"; shape = [ \"ROWS\", \"COLS\" ]; direction = \"inout\"; },/}",
     ""},
};

GPU_TEST(products_are_right)
{
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        all_right(products[i].what, products[i].job, products[i].script, products[i].options);
}

GPU_TEST(a_product_in_tf32_is_not_one_in_fp32)
{
    char *folder = e2e_folder("tf32");
    struct e2e_result r = e2e_run(
        folder,
        "sed -e 's|\"\\.\\./\\.\\./templates|\"'$PWD'/templates|' -e '" IN_TF32
        "; s/compute = \"tf32\"/compute = \"full\"/' tests/jobs/wgmma_cases.cfg >$DIR/job.cfg && $BIN/sweetspot tune "
        "$DIR/job.cfg --store $DIR/g.db -q --no-counters --no-final -n 8; $BIN/sweetspot status $DIR/job.cfg --store "
        "$DIR/g.db");
    if (!strstr(r.out, " wrong") || strstr(r.out, " ok ")) fail_msg("%.3000s\n%.3000s", r.out, r.err);
}

// Copies with aligned rows, launches that overlap, warp tiles of all heights: random candidates of the suite's space at
// odd sizes, all four transpositions.
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

// The places are those of a race, and the final's processes use the same algorithms: so the first is hardly slower than
// the third, and no two are the same.
GPU_TEST(the_three_fastest_algorithms_of_cublaslt_are_compared)
{
    static const char *const sizes[] = {"M = 512; N = 512; K = 512", "M = 1024; N = 2048; K = 4096"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *folder = e2e_folder("cublaslt");
        struct e2e_result r = e2e_pass(
            folder,
            "sed 's|\"\\.\\./templates|\"'$PWD'/templates|; s/^problems.*/problems = ( { %s; } );/' "
            "configs/sgemm_2048.cfg "
            ">$DIR/job.cfg && $BIN/sweetspot tune $DIR/job.cfg --store $DIR/g.db -q -n 3 --no-counters --no-checks "
            ">$DIR/said && $BIN/sweetspot compare $DIR/job.cfg --store $DIR/g.db -f json",
            sizes[i]);
        json_t *document = test_json(json_loads(r.out, 0, NULL)),
               *entries = json_object_get(json_array_get(json_object_get(document, "problems"), 0), "entries");
        const char *detail[3] = {"", "", ""};
        double time[3] = {0};
        json_array_each(entries, k, entry)
            for (int place = 0; place < 3; place++) {
                const char *name = place ? test_text("cublasLt_%d", place + 1) : "cublasLt";
                if (strcmp(json_get_string(entry, "name", ""), name) != 0) continue;
                detail[place] = json_get_string(entry, "detail", "");
                assert_true(json_is_number(json_object_get(entry, "error_rms_ratio")));
                time[place] = json_number_value(json_array_get(json_object_get(entry, "time"), 0));
                print_message("  %-10s %8.2f us  %s\n", name, 1e6 * time[place], detail[place]);
                assert_contains(detail[place], "heuristic ", ": algorithm ", test_text("; place %d of ", place + 1),
                                " in 10 rounds");
            }
        if (!(time[0] > 0 && time[0] < 1.1 * time[2])) fail_msg("%g and %g s", time[0], time[2]);
        for (int place = 0; place < 3; place++) // up to the place
            assert_false(strncmp(detail[place], detail[(place + 1) % 3], strcspn(detail[place], ";")) == 0);
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
        struct e2e_result r =
            e2e_run(folder,
                    "{ sed -e '/@include/d' configs/gemv%s.cfg; sed 's|\"\\.\\./templates|\"'$PWD'/templates|' "
                    "configs/gemv.inc; } | sed '%s' >$DIR/job.cfg && $BIN/sweetspot tune $DIR/job.cfg --store "
                    "$DIR/g%d.db -q --no-counters --no-final --strategy random -n 200 && $BIN/sweetspot status "
                    "$DIR/job.cfg --store $DIR/g%d.db",
                    t ? "_t" : "", small, t, t);
        if (r.status) fail_msg("status %d: %.3000s", r.status, r.err);
        if (strstr(r.out, " wrong") || strstr(r.out, " out_of_bounds") || strstr(r.out, " crashed") ||
            strstr(r.out, " pruned"))
            fail_msg("%.3000s", r.out);
    }
}

TEST_MAIN(NULL, NULL)
