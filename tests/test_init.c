// `sweetspot init` on kernels that are typical of published code (tests/init). Tests the draft of each job: `check`
// refuses it only for its blanks, and names the line of each. Once they are filled in, `check` accepts and compiles it.
#include "tests/e2e.h"
#include "tests/testing.h"

#include "tuner/source/cuda_tokens.h"

enum { MOST_WORDS = 12 };

// A sed script, used for all sources, that fills in the blanks as a user would. `check` then tests more than the
// syntax.
#define FILL                                                                                                   \
    "s/= \"? the values[^\"]*\"/= [16, 32]/; s/\"? a number\"/64/g; s/grid = \"?.*\";/grid = [1];/; "          \
    "s/block = \"?.*\";/block = [32];/; s/shape = \"?[^\"]*\"/shape = [64]/g; s/\"? a value\"/1/g; "           \
    "s/direction = \"?[^\"]*\"/direction = \"inout\"/g; s/reference = \"?[^\"]*\"/verification = { enabled = " \
    "false; }/; s/problems = \"?[^\"]*\"/problems = ( { n = 64; } )/; s/entry = \"? a name expression: "       \
    "\\([^<]*\\)<T/entry = \"\\1<float/; s/type = \"? a type[^\"]*\"/type = \"f32\"/g; "                       \
    "s/type = \"? the elements.*of 4 bytes in all\"/type = \"i32\"/; "

#define CASE(source, options, fill, ...) \
    {                                    \
        source, options, fill,           \
        {                                \
            __VA_ARGS__                  \
        }                                \
    }
static const struct {
    const char *source, *options;
    const char *fill; // sed for the blanks that FILL leaves; NULL: some cannot be filled in
    const char *words[MOST_WORDS];
} cases[] = {
    CASE("add", "",
         "s/parameters = \"?[^\"]*\";/parameters = ( { name = \"BLOCK\"; values = [32]; } );/; "
         "s/\\[32\\];$/[\"BLOCK\"];/",
         "entry = \"vector_add\";", "parameters = \"? the source has no macro",
         "problems = ( { n = \"? a number\"; } )",
         "grid = \"? blocks, as in [ \\\"ceil_div(n, BLOCK)\\\" ]: the source has no <<<...>>> for it\";",
         "{ buffer = \"a\"; type = \"f32\"; shape = \"? its sizes, the slowest first\"; direction = \"in\"; }",
         ("{ buffer = \"c\"; type = \"f32\"; shape = \"? its sizes, the slowest first\"; direction = \"? out or "
          "inout\"; }"),
         "{ scalar = \"n\"; type = \"i32\"; }\n", "reference = \"? what computes the same result\";"),
    CASE("pragma", "--kernel add", "",
         "{ name = \"BLOCK_SIZE\"; values = \"? the values to try, as in [ 1, 2, 4 ]\"; }, // line 4 uses it",
         "{ name = \"UNROLL\"; unroll = [0, 1, 2, 4, 8]; }", "{ scalar = \"n\"; type = \"i64\"; }\n",
         "reference = \"? what computes the same result; kernels with as many arguments: add_naive\";"),
    CASE("sgemm", "--kernel sgemm_2d", "", "entry = \"sgemm_2d<TUNE_BM, TUNE_BN, TUNE_BK, TUNE_TM, TUNE_TN>\"",
         "\"4 * (TUNE_BM * TUNE_BK) + 4 * (TUNE_BK * TUNE_BN) <= 49152\"",
         "{ scalar = \"beta\"; type = \"f32\"; value = \"? a number\"; }",
         "kernels with as many arguments: sgemm_naive\""),
    CASE("coalesced", "", "", "compiler = \"nvcc\"; // NVRTC: ", "entry = \"sgemm_coalesced<TUNE_BLOCKSIZE>\";",
         "{ name = \"TUNE_BLOCKSIZE\"; values = [8, 16, 32, 64, 128]; }", "// From the launch in line 19.",
         "block = \"? threads of a block, as in [ \\\"BLOCK\\\" ]: its numbers may depend on the parameters\";",
         "problems = ( { M = 64; N = 64; K = 64; } )"),
    CASE("transpose", "", "", "{ name = \"TILE_DIM\"; values = [8, 16, 32, 64, 128]; }, // line 3 has the default",
         "\"4 * (TILE_DIM) * (TILE_DIM + 1) <= 49152\""),
    CASE("reduce", "", "", "entry = \"? a name expression: reduce6<T, TUNE_BLOCKSIZE, TUNE_NISPOW2>\"",
         "{ name = \"TUNE_NISPOW2\"; values = [0, 1]; }", "type = \"? a type, for the source's T\";",
         "{ scalar = \"n\"; type = \"u32\"; }"),
    CASE("stencil", "", "", "{ name = \"UNROLL\"; values = [1, 2, 4, 8]; }", "{ scalar = \"nx\"; type = \"u64\"; }",
         "{ buffer = \"out\"; type = \"f32\";"),
    CASE("histogram", "", "", "entry = \"histogram\"", "{ name = \"USE_AGGREGATION\"; values = [0, 1]; }",
         "{ name = \"FIRST\"; values = [-4]; }, // line 7 has the default",
         "BINS is defined in line 2; to tune it, make it a parameter, and add ",
         "`edits = ( { find = \"#define BINS 256\"; replace = \"\"; } );` to kernel",
         "ORDER is 'forwards' by default (line 4); to tune it, make it a parameter",
         "{ scalar = \"n\"; type = \"i64\"; }", "{ buffer = \"data\"; type = \"u8\";"),
    CASE("filter", "--kernel convolve",
         "s/in all\"; }/in all\"; shape = [2]; }/; s/type = \"? the elements[^\"]*\"/type = \"f32\"/; "
         "/coef/s/64/49/; /table/s/= .64/= [16/; /constants/,/);/s/\"inout\"/\"in\"/",
         "{ name = \"coef\"; type = \"? the elements' type, of 196 bytes in all\"; shape = \"?",
         "{ name = \"deep::shift\"; type = \"? the elements' type, of 4 bytes in all\"; }",
         "{ name = \"hits\"; type = \"? the elements' type, of 4 bytes in all\"; direction = \"? in, out or inout\"; }",
         "{ buffer = \"image\"; type = \"? a type\"; shape = ", "; texture = { }; }", "; surface = { }; direction = "),
    CASE("alternatives", "", "", "compiler = \"nvcc\"; // NVRTC: ", "{ name = \"WIDTH_OF_LOAD\"; values = [1, 2, 4]; }",
         "{ name = \"STAGED\"; values = [0, 1]; }", "{ name = \"use_loaded\"; values = [0, 1]; }",
         "{ name = \"block_size_x\"; values = \"?", "{ name = \"SIDE\"; values = [4096]; }"),
    CASE("spmv", "", "", "entry = \"? a name expression: sparse::csr::multiply<T>\"",
         "{ name = \"UNROLL\"; values = [1, 2, 4, 8]; }", "{ buffer = \"row_begin\"; type = \"i32\";"),
    CASE("mixed", "-k blend",
         "s/members = \"?.*)\"/members = ( { scalar = \"a\"; type = \"i32\"; value = 0; }, { scalar = \"b\"; type = "
         "\"i32\"; value = 1; } )/",
         "defines = { FILL_VALUE = \"? a value\"; };", "{ buffer = \"out\"; type = \"f32\";",
         "{ buffer = \"weights\"; type = \"f16\"; shape = \"? its sizes, the slowest first\"; direction = \"in\"; }",
         "{ scalar = \"window\"; members = \"? a struct of 8 bytes, as in",
         "{ scalar = \"eps\"; type = \"f32\"; value = \"? a number\"; }",
         "{ scalar = \"argument_7\"; type = \"? a type, for the source's T\"; value = \"? a number\"; }",
         "{ scalar = \"tint\"; type = \"float3\"; value = \"? a number\"; }"),
    CASE("launched", "-k transpose", "", "problems = ( { rows = 4096; cols = 2048; } );",
         "// From the launch in line 33.",
         "grid = [ \"(((cols) + (TILE) - 1) / (TILE))\", \"((rows + TILE - 1) / TILE)\" ];",
         "block = [ \"TILE\", \"TILE\" ];", "{ scalar = \"alpha\"; type = \"f32\"; value = 0.5; }"),
    CASE("launched", "-k scale", "", "entry = \"scale<TUNE_B, float>\";",
         "{ name = \"TUNE_B\"; values = [64, 128, 256, 512, 1024]; }", "problems = ( { n = 8388608; } );",
         "{ buffer = \"x\"; type = \"f32\";", ": the numbers of its grid may depend on the sizes\";"),
    CASE("grid", "", "s/shared = \"?[^\"]*\"/shared = 128/; s/parameters = \"?[^\"]*\";//",
         "shared = \"? bytes of dynamic shared memory of a block, as in 4 * BLOCK\";",
         "cooperative = true; // the kernel calls this_grid", "// As in type = \"f32\"; shape = [ \"n\" ];"),
    CASE("names", "", NULL,
         "problems = ( { n = \"? a number\"; argument_4 = \"? a number\"; argument_5 = \"? a number\"; ",
         "{ scalar = \"n\"; type = \"i32\"; }", "{ buffer = \"x\"; type = \"f32\";",
         "{ buffer = \"argument_3\"; type = \"i32\";", "{ buffer = \"argument_8\"; type = \"f32\";"),
};

static bool nvcc_is_here(void)
{
    return !system("command -v nvcc >/dev/null");
}

TEST(jobs_say_what_their_sources_say_and_compile)
{
    char *folder = e2e_folder("init");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *name = cases[i].source;
        struct e2e_result r = e2e_run(
            folder,
            "cp tests/init/lanes.h tests/init/%s.cu $DIR && cd $DIR && rm -f *.cfg && $BIN/sweetspot init %s.cu %s",
            name, name, cases[i].options);
        if (r.status) fail_msg("%s: status %d\n%s", name, r.status, r.err);
        assert_contains(r.err, "sweetspot check ");
        char *path = test_text("%s/%s.cfg", folder, name), *text = test_file("%s", path);
        for (size_t w = 0; w < MOST_WORDS && cases[i].words[w]; w++) assert_contains(text, cases[i].words[w]);
        if (strstr(cases[i].words[0], "nvcc") && !nvcc_is_here()) continue;
        r = e2e_ended(2, e2e_run(folder, "$BIN/sweetspot check %s", path));
        for (char *rest = r.err, *line; (line = strtok_r(rest, "\n", &rest)) != NULL;)
            if (strncmp(line, path, strlen(path)) != 0 || !strstr(line, " still has to be filled in: "))
                fail_msg("check %s: %s", path, line);
        if (cases[i].fill) {
            char *script = test_text("%s/fill.sed", folder), *fill = test_text("%s%s\n", FILL, cases[i].fill);
            e2e_write(folder, "fill.sed", fill);
            r = e2e_run(folder, "sed -i -f %s %s && $BIN/sweetspot check %s --compile 1 --cache $DIR/cache", script,
                        path, path);
            if (r.status) fail_msg("check %s: status %d\n%s%s", path, r.status, r.out, r.err);
            assert_contains(r.out, "no mistakes found");
        }
    }
}

TEST(sources_without_a_choice_of_kernel_are_refused_with_what_is_in_them)
{
    char *folder = e2e_folder("init_refused");
    e2e_write(folder, "none.cu", "// __global__ void f(int n) {}\nvoid g(int n);\n__global__ void declared(int n);\n");
    e2e_write(folder, "there.cfg", "precious\n");
    static const struct {
        const char *arguments, *message;
    } refused[] = {
        {"tests/init/sgemm.cu -o -", "several kernels; choose one with --kernel:\n  sgemm_2d (line "},
        {"tests/init/sgemm.cu -o -", "\n  sgemm_naive (line "},
        {"tests/init/sgemm.cu -k sgem_naive -o -", "unknown kernel 'sgem_naive'; did you mean 'sgemm_naive'?"},
        {"$F/none.cu", "defines no kernel"},
        {"$F/nosuch.cu", "cannot read '"},
        {"/dev/null", "'/dev/null' is not a regular file"},
        {"tests/init/add.cu -o $F/there.cfg", "already exists; remove it first, or name another file with --output"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct e2e_result r = e2e_ended(2, e2e_run(folder, "F=$DIR; $BIN/sweetspot init %s", refused[i].arguments));
        assert_string_equal(r.out, "");
        assert_contains(r.err, refused[i].message);
    }
    struct e2e_result r = e2e_run(folder, "cat $DIR/there.cfg && ls $DIR");
    assert_contains(r.out, "precious\n");
    assert_null(strstr(r.out, "none.cfg"));
}

TEST(a_job_elsewhere_finds_its_source)
{
    char *folder = e2e_folder("init_elsewhere"), *fill = test_text("%s%s\n", FILL, cases[0].fill);
    e2e_write(folder, "fill.sed", fill);
    struct e2e_result r = e2e_passed(e2e_in(
        folder, "mkdir -p src jobs/deep && cp ../../../tests/init/add.cu src/a.b.cu && $BIN/sweetspot init "
                "src/a.b.cu -o jobs/deep/my-add.cfg && $BIN/sweetspot init src/a.b.cu && sed -i -f fill.sed "
                "src/a.b.cfg jobs/deep/my-add.cfg && $BIN/sweetspot check jobs/deep/my-add.cfg && $BIN/sweetspot check "
                "src/a.b.cfg && $BIN/sweetspot init src/a.b.cu -o - && cat jobs/deep/my-add.cfg"));
    assert_contains(r.out, "template = \"../../src/a.b.cu\"", "template = \"src/a.b.cu\"", "name = \"my-add\"",
                    "name = \"a_b\"");
}

// Code that tokenizers often get wrong.
TEST(tokens_leave_out_what_is_no_code)
{
    static const struct {
        const char *source, *tokens;
    } texts[] = {
        {"a/*b*/c // d\ne", "a c e"},
        {"\"a\\\"b\" 'c' R\"x(d)\" e)x\" f", "\"a\\\"b\" 'c' R\"x(d)\" e)x\" f"},
        {"#define A b \\\n c\nd", "#define A b \\\n c d"},
        {"#if 0\na\n#if 1\nb\n#endif\n#else\nc\n#endif", "#if 0 #else c #endif"},
        {"1.0e-5f+0x1Fu a>>b", "1.0e-5f + 0x1Fu a > > b"},
        {"// a \\\nb\nc", "c"},
        {"/* open", ""},
        {"\"open\nb", "\"open b"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct cuda_tokens t;
        cuda_tokens_init(&t, texts[i].source);
        assert_int_equal(t.items[t.count].kind, CUDA_END);
        char *all = test_owned(text_copy(""));
        for (size_t k = 0; k < t.count; k++)
            all = test_text("%s%s%.*s", all, k ? " " : "", (int)t.items[k].length, t.items[k].text);
        assert_string_equal(all, texts[i].tokens);
        cuda_tokens_release(&t);
    }
}

TEST(without_a_compiler_there_are_more_blanks)
{
    char *folder = e2e_folder("init_alone");
    struct e2e_result r =
        e2e_pass(folder, "SWEETSPOT_COMPILE_WORKER=/none $BIN/sweetspot init tests/init/histogram.cu -o -");
    assert_contains(r.err, "no compiler can report the kernel's arguments: ");
    assert_contains(r.out, "{ buffer = \"counts\"; type = \"u32\"; shape = ",
                    "{ buffer = \"data\"; type = \"? a type, for the source's byte\"; shape = ",
                    "{ scalar = \"n\"; type = \"i64\"; }");
}

// Wherever a source is truncated, init must not crash.
TEST(broken_sources_are_read_to_their_end)
{
    char *folder = e2e_folder("init_broken"), *text = test_file("tests/init/stencil.cu");
    for (size_t length = strlen(text); length > 20; length -= 19) {
        text[length] = 0;
        e2e_write(folder, "cut.cu", text);
        struct e2e_result r = e2e_run(folder, "SWEETSPOT_COMPILE_WORKER=/none $BIN/sweetspot init $DIR/cut.cu -o -");
        if (r.status != 0 && r.status != 2) fail_msg("%zu bytes: status %d\n%s", length, r.status, r.err);
    }
}

// The test runner disables nvcc; this enables it again.
static void use_nvcc(void)
{
    unsetenv("SWEETSPOT_NVCC");
}

TEST_MAIN(use_nvcc, NULL)
