// Matrix products on tensor cores, which need a GPU: templates/gemm_mma.cu and gemm_wgmma.cu, tested like
// test_gpu_gemm.c.
#include "tests/gpu_products.h"

// A sed script for jobs with gemm_wgmma.
#define IN_TF32                                                                                                     \
    "s/INPUT = \"bf16\"; OUTPUT = \"bf16\"; BYTES = 2; BYTES_C = 2/INPUT = \"tf32\"; OUTPUT = \"f32\"; BYTES = 4; " \
    "BYTES_C = 4/; s/BLOCK_K = 64/BLOCK_K = 32/; "                                                                  \
    "s/type = \"bf16\"/type = \"f32\"/; s/compute = \"full\"/compute = \"tf32\"/"

// A sed script for mma_cases.cfg.
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

// For TMA's stores, the rows of C must be multiples of 16 bytes, even for drawn sizes.
#define TRANSPOSED                                                                                                    \
    "s/TRANSPOSE_C = 0/TRANSPOSE_C = 1/; s/shape = . \"ROWS\", \"COLS\" .; ld = \"round_up(COLS, 8) + 8\"/shape = [ " \
    "\"COLS\", \"ROWS\" ]; ld = \"round_up(ROWS, 8) + 8\"/; "                                                         \
    "s/box = . \"64\", \"STORE_COLS\" .; swizzle = \"BYTES_C . STORE_COLS\"/box = [ \"STORE_COLS\", \"64\" ]; "       \
    "swizzle = 128/; "                                                                                                \
    "s/value = \"round_up(COLS, 8) + 8\"/value = \"round_up(ROWS, 8) + 8\"/; s/M = \"ROWS\"; N = \"COLS\"/M = "       \
    "\"COLS\"; N = \"ROWS\"; A = \"B\"; B = \"A\"/; s/ROWS = 1;/ROWS = 8;/; s/ROWS = 300/ROWS = 304/; s/ROWS = "      \
    "65/ROWS = 72/"

GPU_TEST(products_by_mma_are_right)
{
    static const struct product products[] = {
        {"mma.sync", "tests/jobs/mma_cases.cfg", "", ""},
        {"mma.sync, A transposed, beta 0", "tests/jobs/mma_cases.cfg", "s/TA = 0/TA = 1/; " C_NOT_READ, ""},
        {"mma.sync, FP16, B not transposed", "tests/jobs/mma_cases.cfg", "s/TB = 1/TB = 0/; s/bf16/f16/g", ""},
        {"mma.sync, TF32", "tests/jobs/mma_cases.cfg", MMA_TF32, ""},
        {"mma.sync, TF32, A transposed, B not", "tests/jobs/mma_cases.cfg",
         MMA_TF32 "; s/TA = 0; TB = 1/TA = 1; TB = 0/", ""},
        {"mma.sync, INT8", "tests/jobs/mma_cases.cfg", MMA_INT8, ""},
        {"mma.sync at unaligned addresses", "tests/jobs/mma_shifted.cfg", "", ""},
        {"mma.sync, no terms", "tests/jobs/mma_shifted.cfg", "s/DEPTH = 200/DEPTH = 0/", ""},
        {"mma.sync, great offsets", "tests/jobs/mma_shifted.cfg",
         "s/LDA = 208/LDA = 1073741824/; s/SHIFT = 1/SHIFT = 0/; s/values = .32, 64./values = [64]/; s/values = .2, "
         "3./values = [3]/; " FEW_LAUNCHES,
         ""},
        {"infinities and NaN, mma.sync", "tests/jobs/mma_cases.cfg", NOT_FINITE "; " C_NOT_READ, ""},
        {"infinities and NaN, mma.sync, TF32", "tests/jobs/mma_cases.cfg", NOT_FINITE "; " MMA_TF32, ""},
    };
    products_right(products, sizeof products / sizeof *products);
}

GPU_TEST(products_by_wgmma_are_right)
{
    static const struct product products[] = {
        // The job declares the inputs of gemm_wgmma through their tensor maps.
        {"infinities and NaN on tensor cores", "configs/bgemm_1024.cfg",
         "s/problems  *= ( { M = 1024; N = 1024; K = 1024; } )/problems = ( { M = 200; N = 136; K = 264; } )/; "
         "s/\\(buffer = \"[AB]\";.*shape = [^;]*;\\)/\\1 fill = \"nonfinite\";/",
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
         "s/value = 0.0/value = 0.5/; s/direction = \"out\"/direction = \"inout\"/; s/^budget.*/strategy = "
         "\"random\"; budget = { evaluations = 60; };/",
         ""},
        {"a second launch adds the parts", "tests/jobs/wgmma_two_pass.cfg", "", ""},
        {"a second launch, TF32, beta 0", "tests/jobs/wgmma_two_pass.cfg", IN_TF32 "; " C_NOT_READ, ""},
        {"a second launch, the transpose", "tests/jobs/wgmma_two_pass.cfg", TRANSPOSED, ""},
        {"a second launch: rows of C that begin in the middle of two elements; no map of C",
         "tests/jobs/wgmma_two_pass.cfg",
         "s/.tma., //; s/WORKSPACE = 1;/& MAP_C = 0;/; s/round_up(COLS, 8) + 8/COLS/; s/COLS = 776/COLS = 773/; "
         "s/COLS = 264/COLS = 263/; s/COLS = 96/COLS = 97/; /buffer = \"C\"; type/{N; s/.*/{ buffer = \"C\"; type = "
         "\"bf16\"; shape = [ \"ROWS\", \"COLS\" ]; direction = \"inout\"; },/}",
         ""},
    };
    products_right(products, sizeof products / sizeof *products);
}

GPU_TEST(a_product_in_tf32_is_not_one_in_fp32)
{
    char *folder = e2e_folder("tf32");
    struct e2e_result r = e2e_run(
        folder,
        "sed -e 's|\"\\.\\./\\.\\./templates|\"'$PWD'/templates|' -e '" IN_TF32
        "; s/compute = \"tf32\"/compute = \"full\"/' tests/jobs/wgmma_cases.cfg >$DIR/job.cfg && $BIN/sweetspot tune "
        "$DIR/job.cfg --store $DIR/g.db --cache $CACHE -q --no-counters --no-final -n 8; $BIN/sweetspot status "
        "$DIR/job.cfg --store "
        "$DIR/g.db");
    if (!strstr(r.out, " wrong") || strstr(r.out, " ok ")) fail_msg("%.3000s\n%.3000s", r.out, r.err);
}

TEST_MAIN(share_cache, NULL)
