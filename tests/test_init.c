// `sweetspot init` on kernels of the kinds that are public (tests/init): what it says of each, and that `check` accepts
// it, compiled, as it is or after what its comments say is left to do.
#include "tests/e2e.h"

#include "tuner/source/cuda_tokens.h"

enum { MOST_WORDS = 12 };

// The end of what is written in the place of an argument that `init` cannot know.
#define WINDOW_END "type = \"i32\"; value = 0; }, { name = \"end\"; type = \"i32\"; value = \"n\"; } ); },|"

static const struct {
    const char *source, *options;
    const char *replace; // what a comment leaves to fill in, done by sed; or NULL
    const char *words[MOST_WORDS];
} cases[] = {
    {"add",
     "",
     NULL,
     {"entry = \"vector_add\"", "{ name = \"BLOCK\"; values = [32, 64, 128, 256, 512, 1024]; }",
      "problems = ( { n = 16777216; } )", "grid  = [ \"ceil_div(n, BLOCK)\" ];", "block = [ \"BLOCK\" ];",
      "{ buffer = \"a\"; type = \"f32\"; shape = [ \"n\" ]; direction = \"in\"; }",
      "{ buffer = \"c\"; type = \"f32\"; shape = [ \"n\" ]; direction = \"out\"; }",
      "{ scalar = \"n\"; type = \"i32\"; }\n", "verification = { enabled = false; };",
      "fill in: one of these references"}},
    {"pragma", "--kernel add", NULL, {"{ name = \"UNROLL\"; unroll = [0, 1, 2, 4, 8]; }", "kernel = \"add_naive\";"}},
    {"sgemm",
     "--kernel sgemm_2d",
     NULL,
     {"entry = \"sgemm_2d<TUNE_BM, TUNE_BN, TUNE_BK, TUNE_TM, TUNE_TN>\"",
      "\"4 * (TUNE_BM * TUNE_BK) + 4 * (TUNE_BK * TUNE_BN) <= 49152\"",
      "grid  = [ \"ceil_div(N, TUNE_BN)\", \"ceil_div(M, TUNE_BM)\" ];",
      "block = [ \"((TUNE_BM * TUNE_BN) / (TUNE_TM * TUNE_TN))\" ];",
      "{ scalar = \"beta\"; type = \"f32\"; value = 0.5; }",
      "{ buffer = \"B\"; type = \"f32\"; shape = [ \"K\", \"N\" ]; direction = \"in\"; }",
      "{ buffer = \"C\"; type = \"f32\"; shape = [ \"M\", \"N\" ]; direction = \"inout\"; }",
      "kernel = \"sgemm_naive\";", "verification = { absolute = 1e-5; relative = 1e-4; };"}},
    {"coalesced",
     "",
     NULL,
     {"entry = \"sgemm_coalesced<TUNE_BLOCKSIZE>\"; compiler = \"nvcc\";", "values = [16, 32]; }",
      "block = [ \"TUNE_BLOCKSIZE * TUNE_BLOCKSIZE\" ];", "grid  = [ \"ceil_div(M, TUNE_BLOCKSIZE)\""}},
    {"softmax",
     "",
     NULL,
     {"grid  = [ \"N\" ];", "shared = \"4 * BLOCK\";",
      "{ buffer = \"inp\"; type = \"f32\"; shape = [ \"N\", \"C\" ]; direction = \"in\"; }",
      "{ buffer = \"out\"; type = \"f32\"; shape = [ \"N\", \"C\" ]; direction = \"out\"; }"}},
    {"layernorm",
     "",
     NULL,
     {"{ buffer = \"mean\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"inout\"; }",
      "{ buffer = \"weight\"; type = \"f32\"; shape = [ \"C\" ]; direction = \"in\"; }",
      "{ buffer = \"inp\"; type = \"f32\"; shape = [ \"N\", \"C\" ]; direction = \"in\"; }"}},
    {"transpose",
     "",
     NULL,
     {"{ name = \"TILE_DIM\"; values = [8, 16, 32, 64, 128]; }, // the source's default is 32",
      "\"TILE_DIM % BLOCK_ROWS == 0\"", "\"4 * (TILE_DIM) * (TILE_DIM + 1) <= 49152\"",
      "block = [ \"TILE_DIM\", \"BLOCK_ROWS\" ];",
      "grid  = [ \"ceil_div(width, TILE_DIM)\", \"ceil_div(height, TILE_DIM)\" ];"}},
    {"reduce",
     "",
     NULL,
     {"entry = \"reduce6<float, TUNE_BLOCKSIZE, TUNE_NISPOW2>\"", "{ name = \"TUNE_NISPOW2\"; values = [0, 1]; }",
      "guess: the template's type T is float", "{ scalar = \"n\"; type = \"u32\"; }"}},
    {"stencil",
     "",
     NULL,
     {"{ name = \"BLOCK_X\"; values = [16, 32, 64]; }", "{ name = \"UNROLL\"; values = [1, 2, 4, 8]; }",
      "grid  = [ \"ceil_div(nx, BLOCK_X)\", \"ceil_div(ny, BLOCK_Y)\" ];",
      "{ buffer = \"out\"; type = \"f32\"; shape = [ \"ny\", \"nx\" ]; direction = \"out\"; }",
      "{ scalar = \"nx\"; type = \""}},
    {"histogram",
     "",
     NULL,
     {"entry = \"histogram\"", "{ name = \"THREADS\"; values = [64, 128, 256, 512, 1024]; }",
      "{ name = \"USE_AGGREGATION\"; values = [0, 1]; }", "BINS is defined in line 2; to tune it, put `#ifndef BINS`",
      "ORDER is 'forwards' by default (line 4); to tune it, make it a parameter", "block = [ \"THREADS\" ];",
      "{ scalar = \"n\"; type = \"i64\"; }", "direction = \"inout\"; }"}},
    {"filter",
     "--kernel convolve",
     "s/type = .i32.; }, \\/\\/ fill in/type = \"i32\"; shape = [ 4, 4 ]; optional = true; }, \\/\\//",
     {"{ name = \"coef\"; type = \"f32\"; shape = [ \"7 * 7\" ]; },", "{ name = \"deep::shift\"; type = \"i32\"; },",
      "{ name = \"deep::table\"; type = \"i32\"; }, // fill in: 'shape'",
      "{ name = \"hits\"; type = \"u32\"; direction = \"inout\"; fill = 0; }\n",
      "fill in: 'two' of type 'Two' (line 16), which a job file cannot describe",
      "{ texture = \"image\"; type = \"f32\"; shape = [ \"height\", \"width\" ]; },",
      "{ surface = \"out\"; type = \"f32\"; shape = [ \"height\", \"width\" ]; direction = \"out\"; },",
      "files = { out = \"out.npy\"; };"}},
    {"alternatives",
     "",
     NULL,
     {"entry = \"shift\"; compiler = \"nvcc\";", "{ name = \"WIDTH_OF_LOAD\"; values = [1, 2, 4]; }",
      "{ name = \"ROWS_A_THREAD\"; values = [1, 2, 4, 8]; }", "{ name = \"STAGED\"; values = [0, 1]; }",
      "{ name = \"use_loaded\"; values = [0, 1]; }", "{ name = \"block_size_x\"; values = [16, 32, 64]; }",
      "problems = ( { M = 4096; N = 4096; } )", "block = [ \"block_size_x\", \"block_size_x\" ];",
      "grid  = [ \"ceil_div(N, block_size_x)\", \"ceil_div(M, block_size_x)\" ];"}},
    {"spmv",
     "",
     NULL,
     {"entry = \"sparse::csr::multiply<float>\"", "{ name = \"UNROLL\"; values = [1, 2, 4, 8]; }",
      "{ buffer = \"y\"; type = \"f32\"; shape = [ \"rows\" ]; direction = \"out\"; }"}},
    {"mixed",
     "-k blend",
     "s|.*argument .window. of type.*|{ scalar = \"window\"; members = ( { name = \"begin\"; " WINDOW_END,
     {"entry = \"blend<float, TUNE_ITEMS, TUNE_CLAMP>\"; defines = { FILL_VALUE = 1; };",
      "{ buffer = \"out\"; type = \"f32\"; shape = [ \"n\", \"4\" ]; direction = \"out\"; }",
      "{ buffer = \"weights\"; type = \"f16\"; shape = [ \"n\" ]; direction = \"in\"; }",
      "source's argument 'window' of type 'Window', if that is a struct: { scalar = \"window\"; members = (",
      "{ scalar = \"eps\"; type = \"f32\"; value = 1e-5; }",
      "{ scalar = \"argument_7\"; type = \"f32\"; value = 1.0; }",
      "{ scalar = \"tint\"; type = \"float3\"; value = 1; }"}},
};

static bool nvcc_is_here(void)
{
    return !system("command -v nvcc >/dev/null");
}

static void jobs_say_what_their_sources_say_and_compile(void **state)
{
    (void)state;
    char *folder = e2e_folder("init");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *name = cases[i].source;
        struct outcome_of_command r = e2e_run(folder,
                                              "cp tests/init/lanes.h tests/init/%s.cu %s && cd %s && "
                                              "$BIN/sweetspot init %s.cu %s",
                                              name, folder, folder, name, cases[i].options);
        if (r.status) fail_msg("%s: status %d\n%s", name, r.status, r.err);
        e2e_expect(r.err, "sweetspot check ");
        e2e_done(&r);
        char *path = text_format("%s/%s.cfg", folder, name), *text = text_read_file(path, NULL);
        assert_non_null(text);
        for (size_t w = 0; w < MOST_WORDS && cases[i].words[w]; w++) e2e_expect(text, cases[i].words[w]);
        free(text);
        if (strstr(cases[i].words[0], "nvcc") && !nvcc_is_here()) {
            free(path);
            continue;
        }
        r = e2e_run(folder, "sed -i '%s' %s && $BIN/sweetspot check %s --compile 1 --cache %s/cache",
                    cases[i].replace ? cases[i].replace : "", path, path, folder);
        if (r.status) fail_msg("check %s: status %d\n%s%s", path, r.status, r.out, r.err);
        e2e_expect(r.out, "no mistakes found");
        e2e_done(&r);
        free(path);
    }
    e2e_remove(folder);
}

static void sources_without_a_choice_of_kernel_are_refused_with_what_is_in_them(void **state)
{
    (void)state;
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
        {"tests/init/add.cu -o $F/there.cfg", "is there already; --output names another file, --force replaces it"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct outcome_of_command r = e2e_run(folder, "F=%s; $BIN/sweetspot init %s", folder, refused[i].arguments);
        assert_int_equal(r.status, 2);
        assert_string_equal(r.out, "");
        e2e_expect(r.err, refused[i].message);
        e2e_done(&r);
    }
    struct outcome_of_command r = e2e_run(folder, "cat %s/there.cfg && ls %s", folder, folder);
    e2e_expect(r.out, "precious\n");
    assert_null(strstr(r.out, "none.cfg"));
    e2e_done(&r);
    e2e_remove(folder);
}

static void a_job_elsewhere_finds_its_source(void **state)
{
    (void)state;
    char *folder = e2e_folder("init_elsewhere");
    struct outcome_of_command r = e2e_run(
        folder,
        "cd %s && mkdir -p src jobs/deep && cp ../../../tests/init/add.cu src/a.b.cu && $BIN/sweetspot init "
        "src/a.b.cu -o jobs/deep/my-add.cfg && $BIN/sweetspot check jobs/deep/my-add.cfg && $BIN/sweetspot init "
        "src/a.b.cu && $BIN/sweetspot check src/a.b.cfg && $BIN/sweetspot init src/a.b.cu -o - && cat "
        "jobs/deep/my-add.cfg",
        folder);
    if (r.status) fail_msg("status %d\n%s%s", r.status, r.out, r.err);
    e2e_expect(r.out, "template = \"../../src/a.b.cu\"");
    e2e_expect(r.out, "template = \"src/a.b.cu\"");
    e2e_expect(r.out, "name = \"my-add\"");
    e2e_expect(r.out, "name = \"a_b\"");
    e2e_done(&r);
    e2e_remove(folder);
}

// What a tokenizer is easily wrong about.
static void tokens_leave_out_what_is_no_code(void **state)
{
    (void)state;
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
        char *all = text_copy("");
        for (size_t k = 0; k < t.count; k++) {
            char *longer = text_format("%s%s%.*s", all, k ? " " : "", (int)t.items[k].length, t.items[k].text);
            free(all);
            all = longer;
        }
        assert_string_equal(all, texts[i].tokens);
        free(all);
        cuda_tokens_release(&t);
    }
}

// A source is cut off anywhere: init answers, and does not crash.
static void broken_sources_are_read_to_their_end(void **state)
{
    (void)state;
    char *folder = e2e_folder("init_broken"), *text = text_read_file("tests/init/stencil.cu", NULL);
    assert_non_null(text);
    for (size_t length = strlen(text); length > 20; length -= 19) {
        text[length] = 0;
        e2e_write(folder, "cut.cu", text);
        struct outcome_of_command r = e2e_run(folder, "$BIN/sweetspot init %s/cut.cu -o -", folder);
        if (r.status != 0 && r.status != 2) fail_msg("%zu bytes: status %d\n%s", length, r.status, r.err);
        e2e_done(&r);
    }
    free(text);
    e2e_remove(folder);
}

int main(void)
{
    unsetenv("SWEETSPOT_NVCC"); // of the runner of tests, which says none
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_leave_out_what_is_no_code),
        cmocka_unit_test(jobs_say_what_their_sources_say_and_compile),
        cmocka_unit_test(sources_without_a_choice_of_kernel_are_refused_with_what_is_in_them),
        cmocka_unit_test(a_job_elsewhere_finds_its_source),
        cmocka_unit_test(broken_sources_are_read_to_their_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
