// Job files: every mistake with its line, the nearest name for a misspelt one, exit status 2; and the shipped jobs are
// sound.
#include "tests/e2e.h"

#include "tuner/base/memory.h"
#include "tuner/job/job.h"

// A sound job, line by line; a case replaces one line (from 1) and expects mistakes.
static const char *const sound[] = {
    /* 1 */ "name = \"t\";",
    /* 2 */ "kernel = { template = \"x.cu\"; entry = \"x\"; };",
    /* 3 */
    "parameters = ( { name = \"BLOCK\"; values = [32, 64]; }, { name = \"KIND\"; values = [\"a\", \"b\"]; }, { name = "
    "\"U\"; unroll = [0, 1, 4]; } );",
    /* 4 */ "derived = { DOUBLE = \"2 * BLOCK\"; };",
    /* 5 */ "constraints = ( \"DOUBLE <= 128\", \"KIND == \\\"a\\\" || BLOCK == 32\" );",
    /* 6 */ "problems = ( { N = 1000; } );",
    /* 7 */ "launch = { grid = [ \"ceil_div(N, BLOCK)\" ]; block = [ \"BLOCK\" ]; shared = \"4 * BLOCK\"; };",
    /* 8 */
    "arguments = ( { scalar = \"N\"; type = \"i32\"; }, { buffer = \"x\"; type = \"f32\"; shape = [\"N\"]; }, { buffer "
    "= \"r\"; type = \"f32\"; shape = [1]; direction = \"out\"; } );",
    /* 9 */ "reference = { operation = \"sum\"; result = \"r\"; n = \"N\"; };",
    /* 10 */ "work = { bytes = \"4 * N\"; };",
    /* 11 */ "budget = { time = \"1h\"; };",
    /* 12 */ "measure = { cache = \"cold\"; };",
    /* 13 */ "verification = { problems = ( { N = 7; } ); };",
};
enum { LINES = sizeof sound / sizeof *sound };

static const struct {
    int line; // replaced
    const char *text;
    int at;               // line of the mistake
    const char *expected; // part of its text
} mistakes_table[] = {
    {2, "kernal = { };", 2, "unknown setting 'kernal' in the job file; did you mean 'kernel'?"},
    {2, "kernel = { template = \"nosuch.cu\"; entry = \"x\"; };", 2, "cannot read template 'nosuch.cu'"},
    {2, "kernel = { entry = \"x\"; };", 2, "lacks 'template'"},
    {2, "kernel = { template = \"x.cu\"; };", 2, "'entry', the kernel's name, is missing"},
    {2, "kernel = { template = 5; entry = \"x\"; };", 2, "'template' must be a string"},
    {3, "parameters = ();", 3, "nothing to tune"},
    {3, "parameters = ( { name = \"BLOCK\"; values = [32, 32]; } );", 3, "has the value 32 twice"},
    {3, "parameters = ( { name = \"BLOCK\"; values = []; } );", 3, "has no values"},
    {3, "parameters = ( { name = \"BLOCK\"; values = [1]; }, { name = \"BLOCK\"; values = [2]; } );", 3,
     "'BLOCK' is already taken"},
    {3, "parameters = ( { name = \"BLOCK\"; values = (32, \"x\"); } );", 3, "all integers or all strings"},
    {3, "parameters = ( { name = \"BLOCK\"; unroll = [-1]; } );", 3, "unroll factor -1"},
    {3, "parameters = ( { name = \"BLOCK\"; values = [1]; unroll = [1]; } );", 3, "exactly one of"},
    {3, "parameters = ( { name = \"BLOCK\"; range = [5, 1]; } );", 3, "must be [first, last]"},
    {3, "parameters = ( { values = [1]; } );", 3, "without 'name'"},
    {4, "derived = { DOUBLE = \"2 * BLOK\"; };", 4, "did you mean 'BLOCK'?"},
    {5, "constraints = ( \"DUOBLE <= 128\" );", 5, "unknown name 'DUOBLE'; did you mean 'DOUBLE'?"},
    {5, "constraints = ( \"BLOCK *\" );", 5, "unexpected end"},
    {5, "constraints = ( \"KIND > \\\"a\\\"\" );", 5, "string"},
    {6, "problems = ();", 6, "no 'problems"},
    {6, "problems = ( { N = 1.5; } );", 6, "size 'N' must be an integer"},
    {6, "problems = ( { N = 1; }, { N = 2; M = 3; } );", 6, "the first problem has no size 'M'"},
    {6, "problems = ( { N = 1; M = 3; }, { N = 2; } );", 6, "lacks size 'M'"},
    {7, "launch = { grid = [1]; };", 7, "lacks 'block'"},
    {7, "launch = { grid = [1]; block = [1]; clustre = [1]; };", 7, "did you mean 'cluster'?"},
    {7, "launch = { grid = [1, 1, 1, 1]; block = [1]; };", 7, "one to three dimensions"},
    {7, "launch = { grid = [1]; block = [1]; overlap = 1; };", 7, "there is no launch before the first one"},
    {7,
     "stages = ( { entry = \"x\"; launch = { grid = [1]; block = [1]; }; arguments = ( { buffer = \"x\"; type = "
     "\"f32\"; shape = [\"N\"]; }, { buffer = \"r\"; type = \"f32\"; shape = [1]; direction = \"out\"; } ); }, { "
     "operation = \"gem\"; A = \"x\"; } );",
     7, "unknown operation 'gem'; did you mean 'gemm'?"},
    {7,
     "stages = ( { entry = \"x\"; launch = { grid = [1]; block = [1]; }; arguments = ( { buffer = \"x\"; type = "
     "\"f32\"; shape = [\"N\"]; }, { buffer = \"r\"; type = \"f32\"; shape = [1]; direction = \"out\"; } ); }, { "
     "operation = \"gemm\"; A = \"q\"; B = \"x\"; C = \"r\"; } );",
     7, "'A' must name a buffer that an earlier stage's arguments declare"},
    {7,
     "stages = ( { entry = \"x\"; launch = { grid = [1]; block = [1]; }; arguments = ( { buffer = \"x\"; type = "
     "\"f32\"; shape = [\"N\"]; }, { buffer = \"r\"; type = \"f32\"; shape = [1]; direction = \"out\"; } ); }, { "
     "operation = \"gemm\"; A = \"x\"; C = \"r\"; D = \"r\"; } );",
     7, "operation 'gemm' has no role 'D'"},
    {7,
     "stages = ( { entry = \"x\"; launch = { grid = [1]; block = [1]; }; arguments = ( { buffer = \"x\"; type = "
     "\"f32\"; shape = [\"N\"]; }, { buffer = \"r\"; type = \"f32\"; shape = [1]; direction = \"out\"; } ); }, { "
     "operation = \"gemm\"; A = \"x\"; C = \"r\"; } );",
     7, "operation 'gemm' needs the buffer 'B'"},
    {7,
     "stages = ( { entry = \"x\"; launch = { grid = [1]; block = [1]; }; arguments = ( { buffer = \"x\"; type = "
     "\"f32\"; shape = [\"N\"]; }, { buffer = \"r\"; type = \"f32\"; shape = [1]; direction = \"out\"; } ); }, { "
     "operation = \"sum\"; by = \"cublas_asum\"; x = \"x\"; result = \"r\"; } );",
     7, "no library computes 'sum' by 'cublas_asum'"},
    {9, "reference = { operation = \"iamax\"; by = \"cublas\"; };", 9, "has a reference on the CPU alone"},
    {8, "arguments = ( { buffer = \"r\"; type = \"f33\"; shape = [1]; direction = \"out\"; } );", 8,
     "'type' must be one of"},
    {8, "arguments = ( { buffer = \"r\"; type = \"f32\"; shape = [1]; direction = \"sideways\"; } );", 8,
     "'direction' must be one of"},
    {8, "arguments = ( { buffer = \"r\"; type = \"f32\"; shape = [\"BLOCK\"]; direction = \"out\"; } );", 8,
     "differs between configurations"},
    {8, "arguments = ( { scalar = \"q\"; type = \"i32\"; } );", 8, "needs 'value'"},
    {8, "arguments = ( { scalar = \"N\"; type = \"i32\"; value = 1.5; } );", 8, "is not an integer"},
    {8, "arguments = ( { buffer = \"x\"; type = \"f32\"; shape = [\"N\"]; } );", 8, "nothing could be verified"},
    {8,
     "arguments = ( { buffer = \"r\"; type = \"i32\"; shape = [1]; direction = \"inout\"; fill = \"nonfinite\"; } );",
     8, "is for floating-point buffers"},
    {8, "arguments = ( { tensor_map = \"r\"; type = \"f32\"; shape = [8]; direction = \"out\"; } );", 8, "needs 'box'"},
    {8, "arguments = ( { tensor_map = \"r\"; type = \"f32\"; shape = [8]; direction = \"out\"; box = [4, 4]; } );", 8,
     "the buffer is a vector"},
    {8,
     "arguments = ( { tensor_map = \"r\"; type = \"f32\"; shape = [8]; direction = \"out\"; box = [4]; swizle = 128; } "
     ");",
     8, "did you mean 'swizzle'?"},
    {8,
     "arguments = ( { tensor_map = \"r\"; type = \"f32\"; shape = [8]; direction = \"out\"; box = [4, 4]; view = [8]; "
     "} );",
     8, "'view' of tensor map 'r' has 1"},
    {8,
     "arguments = ( { tensor_map = \"r\"; type = \"f32\"; shape = [8, 8]; direction = \"out\"; box = [4, 4]; strides = "
     "[8, 8]; } );",
     8, "must be 1: one for every dimension"},
    {8,
     "arguments = ( { tensor_map = \"r\"; type = \"f32\"; shape = [8]; direction = \"out\"; box = [1, 1, 1, 1, 1, 1]; "
     "} );",
     8, "one to 5"},
    {8,
     "arguments = ( { tensor_map = \"r\"; type = \"i32\"; shape = [8]; direction = \"out\"; box = [4]; out_of_bounds = "
     "\"nan\"; } );",
     8, "floating-point"},
    {8,
     "arguments = ( { tensor_map = \"r\"; type = \"bf16\"; shape = [8]; direction = \"out\"; box = [8]; convert = "
     "\"tf32\"; } );",
     8, "needs type f32, it is bf16"},
    {8, "arguments = ( { tensor_map = \"r\"; box = [4]; } );", 8, "where it is first named"},
    {8, "arguments = ( { tensor_map = \"r\"; buffer = \"r\"; } );", 8, "an argument must be"},
    {9, "reference = { operation = \"smu\"; };", 9, "unknown operation 'smu'; did you mean 'sum'?"},
    {9, "reference = { operation = \"sum\"; n = \"N\"; };", 9, "needs the buffer 'result'"},
    {9, "reference = { operation = \"sum\"; result = \"r\"; n = \"N\"; rsult = \"r\"; };", 9, "has no role 'rsult'"},
    {9, "reference = { operation = \"sum\"; result = \"r\"; n = true; };", 9,
     "'n' of operation 'sum' must name a size or scalar"},
    {9, "reference = { operation = \"sum\"; result = true; n = \"N\"; };", 9,
     "'result' of operation 'sum' must name a buffer"},
    {9, "reference = { operation = \"gemm\"; compute = \"tf23\"; };", 9,
     "unknown compute class 'tf23'; did you mean 'tf32'?; there are full, tf32, 3xtf32"},
    {9, "reference = { operation = \"gemm\"; compute = 1; };", 9, "'compute' must be a word, e.g. \"full\""},
    {9, "reference = { operation = \"sum\"; result = \"r\"; n = \"N\"; compute = \"tf32\"; };", 9,
     "has no role 'compute'"},
    {9, "reference = { files = { q = \"x.npy\"; }; };", 9, "there is no buffer 'q'"},
    {9, "reference = { };", 9, "exactly one of"},
    {9, "budget2 = { };", 0, "there is no 'reference"},
    {11, "budget = { time = \"8 hours\"; };", 11, "must be a time such as"},
    {11, "budget = { evaluations = -1; };", 11, "must be between"},
    {12, "measure = { cache = \"tepid\"; };", 12, "must be one of \"cold\", \"warm\""},
    {12, "measure = { precision = 7; };", 12, "must be between"},
    {12, "measure = { min_samples = 50; max_samples = 10; };", 12, "below 'min_samples'"},
    {12, "measure = { cache = \"cold\" ", 14, "syntax error"},
    {13, "verification = { problems = ( { M = 7; } ); };", 13, "lacks size 'N'"},
};

static char *write_job(const char *folder, int line, const char *text)
{
    char *all = text_copy("");
    for (int i = 0; i < LINES; i++) {
        char *longer = text_format("%s%s\n", all, i + 1 == line ? text : sound[i]);
        free(all);
        all = longer;
    }
    e2e_write(folder, "job.cfg", all);
    e2e_write(folder, "x.cu", "\n");
    free(all);
    return text_format("%s/job.cfg", folder);
}

static void a_sound_job_loads_and_its_space_is_built(void **state)
{
    (void)state;
    char *folder = e2e_folder("sound"), *path = write_job(folder, 0, NULL);
    struct job *job;
    struct mistakes m = {0};
    struct error err;
    int result = job_load(path, &job, &m);
    for (size_t i = 0; i < m.count; i++) print_message("%d: %s\n", m.list[i].line, m.list[i].text);
    assert_int_equal(result, 0);
    if (job_build_space(job, &device_limits_h200, &err)) fail_msg("%s", err.message);
    assert_int_equal(space_size(job->space), 9); // (32 with a or b, 64 with a) times three unroll factors
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    uint16_t config[3] = {1, 0, 2};
    assert_int_equal(job_problem_values(job, config, 1, values, &err), 0);
    assert_int_equal(values[symbols_find(job->symbols, "N")], 7);
    assert_int_equal(values[symbols_find(job->symbols, "DOUBLE")], 128);
    assert_int_equal(values[symbols_find(job->symbols, "shared_bytes")], 256);
    assert_int_equal(job_problem_bytes(job, 0, &err), 4004);
    free(values);
    job_free(job);
    free(path);
    e2e_remove(folder);
}

static void check_define(void *user, const char *name, const char *value)
{
    char **all = user, *longer = text_format("%s%s=%s|", *all, name, value);
    free(*all);
    *all = longer;
}

static void unroll_factors_become_pragmas(void **state)
{
    (void)state;
    static const char *const expected[] = {"BLOCK=32|KIND=a|U=|", "BLOCK=32|KIND=a|U=_Pragma(\"unroll\")|",
                                           "BLOCK=32|KIND=a|U=_Pragma(\"unroll 4\")|"};
    char *folder = e2e_folder("unroll"), *path = write_job(folder, 0, NULL);
    struct job *job;
    struct mistakes m = {0};
    assert_int_equal(job_load(path, &job, &m), 0);
    for (uint16_t i = 0; i < 3; i++) {
        uint16_t config[3] = {0, 0, i};
        char *all = text_copy("");
        job_defines(job, config, check_define, &all);
        assert_string_equal(all, expected[i]);
        free(all);
    }
    job_free(job);
    free(path);
    e2e_remove(folder);
}

static void every_mistake_is_reported_with_its_line(void **state)
{
    (void)state;
    char *folder = e2e_folder("mistakes");
    for (size_t i = 0; i < sizeof mistakes_table / sizeof *mistakes_table; i++) {
        char *path = write_job(folder, mistakes_table[i].line, mistakes_table[i].text);
        struct job *job;
        struct mistakes m = {0};
        bool found = false;
        assert_int_equal(job_load(path, &job, &m), -1);
        assert_null(job);
        for (size_t k = 0; k < m.count; k++)
            found |= m.list[k].line == mistakes_table[i].at && strstr(m.list[k].text, mistakes_table[i].expected);
        if (!found) {
            for (size_t k = 0; k < m.count; k++) print_message("%d: %s\n", m.list[k].line, m.list[k].text);
            fail_msg("'%s' at line %d is not reported for: %s", mistakes_table[i].expected, mistakes_table[i].at,
                     mistakes_table[i].text);
        }
        mistakes_release(&m);
        free(path);
    }
    e2e_remove(folder);
}

static void several_mistakes_are_all_reported_in_order_and_the_exit_status_is_2(void **state)
{
    (void)state;
    char *folder = e2e_folder("several");
    e2e_write(folder, "job.cfg",
              "kernel = { template = \"no.cu\"; };\nparameters = ( { name = \"A\"; values = [1]; } );\nconstraints = ( "
              "\"B\" );\nproblems = ( { N = 1; } );\nlaunch = { };\n");
    struct outcome_of_command r = e2e_run(folder, "$BIN/sweetspot check %s/job.cfg", folder);
    assert_int_equal(r.status, 2);
    static const char *const expected[] = {"job.cfg:1: cannot read template", "job.cfg:1: 'entry'",
                                           "job.cfg:3: unknown name 'B'", "job.cfg:5: 'launch' lacks 'grid'"};
    const char *at = r.err;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        at = strstr(at, expected[i]);
        if (!at) fail_msg("'%s' is missing or out of order in:\n%s", expected[i], r.err);
    }
    e2e_done(&r);
    e2e_remove(folder);
}

// Of a matrix product: what is no matrix, or none that any memory holds, is refused before anything is launched.
static void shapes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *problem, *ld, *expected;
    } cases[] = {
        {"M = 0; N = 5; K = 3;", "K", "buffer 'A' of problem M=0,N=5,K=3: 0 rows of 3 elements"},
        {"M = 4; N = 5; K = 0;", "K", "4 rows of 0 elements"},
        {"M = 4; N = 5; K = -1;", "K", "4 rows of -1 elements"},
        {"M = 4; N = 5; K = 3;", "K - 1", "4 rows of 3 elements, 2 apart"},
        {"M = 3000000000; N = 5; K = 4000000000;", "K", "larger than any memory"},
        {"M = 4000000000; N = 1; K = 1;", "K", "argument 'M': 4000000000 is more than an i32 holds"},
    };
    char *folder = e2e_folder("shapes");
    e2e_write(folder, "x.cu", "\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text =
            text_format("kernel = { template = \"x.cu\"; entry = \"x\"; };\nparameters = ( { name = \"BLOCK\"; values "
                        "= [32]; } );\nproblems = ( { %s } );\n"
                        "launch = { grid = [1]; block = [32]; };\narguments = ( { scalar = \"M\"; type = \"i32\"; },\n"
                        "  { buffer = \"A\"; type = \"f32\"; shape = [ \"M\", \"K\" ]; ld = \"%s\"; }, { buffer = "
                        "\"B\"; type = \"f32\"; shape = [ \"K\", \"N\" ]; },\n"
                        "  { buffer = \"C\"; type = \"f32\"; shape = [ \"M\", \"N\" ]; direction = \"out\"; } "
                        ");\nreference = { operation = \"gemm\"; };\n",
                        cases[i].problem, cases[i].ld);
        e2e_write(folder, "job.cfg", text);
        struct outcome_of_command r = e2e_run(folder, "$BIN/sweetspot check %s/job.cfg", folder);
        if (r.status != 2 || !strstr(r.err, cases[i].expected))
            fail_msg("%s, ld %s: status %d: %s%s", cases[i].problem, cases[i].ld, r.status, r.out, r.err);
        e2e_done(&r);
        free(text);
    }
    e2e_remove(folder);
}

static void mistakes_in_an_included_file_are_shown_there(void **state)
{
    (void)state;
    static const struct {
        const char *constraint, *expected;
    } cases[] = {
        {"constraints = ( \"BLOC <= 32\" );", "/common.inc:2: unknown name 'BLOC'"},
        {"constraints = ( \"BLOCK > 64\" );", "/common.inc:2: "}, // leaves nothing
        {"constraints = ;", "/common.inc:2: syntax error"},
    };
    char *folder = e2e_folder("included");
    e2e_write(folder, "x.cu", "\n");
    e2e_write(folder, "job.cfg",
              "kernel = { template = \"x.cu\"; entry = \"x\"; };\nparameters = ( { name = \"BLOCK\"; values = [32, "
              "64]; } );\nproblems = ( { N = 5; } );\n"
              "@include \"common.inc\"\nlaunch = { grid = [1]; block = [\"BLOCK\"]; };\n"
              "arguments = ( { buffer = \"C\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"out\"; } "
              ");\nverification = { enabled = false; };\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = text_format("\n%s\n", cases[i].constraint);
        e2e_write(folder, "common.inc", text);
        struct outcome_of_command r = e2e_run(folder, "$BIN/sweetspot check %s/job.cfg", folder);
        assert_int_equal(r.status, 2);
        e2e_expect(r.err, cases[i].expected);
        e2e_done(&r);
        free(text);
    }
    e2e_remove(folder);
}

static void check_holds_the_limits_of_the_architecture(void **state)
{
    (void)state;
    char *folder = e2e_folder("limits");
    e2e_write(folder, "x.cu", "\n");
    e2e_write(folder, "job.cfg",
              "kernel = { template = \"x.cu\"; entry = \"x\"; };\nparameters = ( { name = \"KIB\"; values = [64, 128, "
              "192]; }, { name = \"CLUSTER\"; values = [1, 2]; } );\n"
              "problems = ( { N = 5; } );\nconstraints = ( \"KIB * 1024 <= device.max_shared\", \"CLUSTER <= "
              "device.max_cluster\" );\n"
              "launch = { grid = [1]; block = [32]; };\narguments = ( { buffer = \"C\"; type = \"f32\"; shape = [ "
              "\"N\" ]; direction = \"out\"; } );\n"
              "verification = { enabled = false; };\n");
    static const struct {
        const char *arch, *said;
    } cases[] = {{"sm_90a", "6 valid configurations of 6 on an H200"},
                 {"sm_80", "2 valid configurations of 6 on an A100"},
                 {"sm_86", "1 valid configurations of 6 on an A40"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome_of_command r =
            e2e_run(folder, "$BIN/sweetspot check %s/job.cfg --arch %s", folder, cases[i].arch);
        assert_int_equal(r.status, 0);
        e2e_expect(r.out, cases[i].said);
        assert_string_equal(r.err, "");
        e2e_done(&r);
    }
    struct outcome_of_command r = e2e_run(folder, "$BIN/sweetspot check %s/job.cfg --arch sm_77", folder);
    assert_int_equal(r.status, 0);
    e2e_expect(r.err, "the limits of 'sm_77' are not known here");
    e2e_done(&r);
    e2e_remove(folder);
}

static void what_only_the_built_space_shows_is_reported_with_its_line(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *text, *expected;
    } cases[] = {
        {5, "constraints = ( \"DOUBLE <= 128\", \"BLOCK / (BLOCK - 32) == 2\" );", "job.cfg:5: "},
        {5, "constraints = ( \"BLOCK > 1000\" );", "job.cfg:5: "},
        {6, "problems = ( { N = 100000000000; } );", "job.cfg:6: the buffers of problem N=100000000000 take 372.5 GiB"},
        {6, "problems = ( { N = 0; } );", "job.cfg:6: buffer 'x' of problem N=0: 1 rows of 0 elements"},
        {13, "verification = { problems = ( { N = -7; } ); };", "job.cfg:13: buffer 'x'"},
    };
    char *folder = e2e_folder("built");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        free(write_job(folder, cases[i].line, cases[i].text));
        struct outcome_of_command r = e2e_run(folder, "$BIN/sweetspot check %s/job.cfg", folder);
        assert_int_equal(r.status, 2);
        e2e_expect(r.err, cases[i].expected);
        e2e_done(&r);
    }
    e2e_remove(folder);
}

// A tensor map's numbers in CUDA's order, or what TMA does not allow of them; "@" stands for the argument's members.
static void tensor_maps_are_worked_out_and_refused_as_tma_would(void **state)
{
    (void)state;
    static const struct {
        const char *members, *refusal; // NULL: sound
        struct tensor_map_shape expected;
    } cases[] = {
        {"shape = [100, 64]; box = (\"BLOCK\", 8); swizzle = \"BLOCK\";",
         NULL,
         {.rank = 2, .size = {64, 100}, .box = {8, 32}, .stride = {256}, .swizzle = 32}},
        {"shape = [100, 62]; ld = 64; box = [4, 8];",
         NULL,
         {.rank = 2, .size = {62, 100}, .box = {8, 4}, .stride = {256}}},
        {"shape = [\"N\"]; box = [4]; promotion = 256; out_of_bounds = \"nan\";",
         NULL,
         {.rank = 1, .size = {1000}, .box = {4}, .promotion = 256, .nan = true}},
        {"shape = [100, 64]; box = [8, 8]; convert = \"tf32\";",
         NULL,
         {.rank = 2, .size = {64, 100}, .box = {8, 8}, .stride = {256}, .tf32 = true}},
        {"shape = [4800]; view = [3, 40, 40]; box = [1, 2, 4];",
         NULL,
         {.rank = 3, .size = {40, 40, 3}, .box = {4, 2, 1}, .stride = {160, 6400}}},
        {"shape = [4800]; view = [3, 40, 40]; strides = (\"N\", 48); box = [1, 2, 4];",
         NULL,
         {.rank = 3, .size = {40, 40, 3}, .box = {4, 2, 1}, .stride = {192, 4000}}},
        {"shape = [100, 63]; box = [4, 8];", "multiples of 16 bytes below 2^40, and this is 252", {0}},
        {"shape = [100, 64]; box = [257, 8];", "257 wide in dimension 1 from the last", {0}},
        {"shape = [100, 64]; box = [8, 3];", "12 bytes; TMA needs a multiple of 16", {0}},
        {"shape = [100, 64]; box = [8, 32]; swizzle = 64;", "128 bytes, wider than the swizzle of 64", {0}},
        {"shape = [100, 64]; box = [8, 8]; swizzle = 48;", "swizzle is 48", {0}},
        {"shape = [100, 64]; box = [8, 8]; promotion = 16;", "promotion is 16", {0}},
        {"shape = [100, 64]; box = [8, 8]; interleave = 16;", "three dimensions", {0}},
        {"shape = [100, 64]; view = [0, 64]; box = [8, 8];", "its size is 0", {0}},
    };
    char *folder = e2e_folder("maps");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = text_format("arguments = ( { tensor_map = \"x\"; type = \"f32\"; %s }, { buffer = \"r\"; type = "
                                 "\"f32\"; shape = [1]; direction = \"out\"; } );",
                                 cases[i].members);
        char *path = write_job(folder, 8, text);
        struct job *job;
        struct mistakes m = {0};
        struct error err = {""};
        uint16_t config[3] = {0, 0, 0};
        struct tensor_map_shape s;
        if (job_load(path, &job, &m)) fail_msg("%s: %s", text, m.list[0].text);
        if (job_build_space(job, &device_limits_h200, &err)) fail_msg("%s", err.message);
        int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
        assert_int_equal(job_problem_values(job, config, 0, values, &err), 0);
        int result = tensor_map_resolve(job, &job->stages[0].arguments[0], values, &s, &err);
        if (cases[i].refusal && (!result || !strstr(err.message, cases[i].refusal) || !strstr(err.message, "'x'")))
            fail_msg("%s: %s", text, err.message);
        if (!cases[i].refusal && result) fail_msg("%s: %s", text, err.message);
        const struct tensor_map_shape *e = &cases[i].expected;
        if (!cases[i].refusal) {
            assert_int_equal(s.rank, e->rank);
            assert_memory_equal(s.size, e->size, sizeof s.size);
            assert_memory_equal(s.box, e->box, sizeof s.box);
            assert_memory_equal(s.stride, e->stride, sizeof s.stride);
            assert_true(s.swizzle == e->swizzle && s.interleave == e->interleave && s.promotion == e->promotion &&
                        s.nan == e->nan && s.tf32 == e->tf32);
        }
        free(values);
        job_free(job);
        free(path);
        free(text);
    }
    e2e_remove(folder);
}

static void the_shipped_jobs_are_sound(void **state)
{
    (void)state;
    char *folder = e2e_folder("shipped");
    struct outcome_of_command r =
        e2e_run(folder, "n=0; for job in configs/*.cfg configs/layers/*.cfg configs/suite/*.cfg; do $BIN/sweetspot "
                        "check $job || exit 1; n=$((n+1)); done; echo jobs $n; test $n -ge 60");
    if (r.status) fail_msg("%s", r.err);
    e2e_done(&r);
    e2e_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_job_loads_and_its_space_is_built),
        cmocka_unit_test(unroll_factors_become_pragmas),
        cmocka_unit_test(every_mistake_is_reported_with_its_line),
        cmocka_unit_test(several_mistakes_are_all_reported_in_order_and_the_exit_status_is_2),
        cmocka_unit_test(shapes_that_cannot_be_are_refused),
        cmocka_unit_test(mistakes_in_an_included_file_are_shown_there),
        cmocka_unit_test(check_holds_the_limits_of_the_architecture),
        cmocka_unit_test(what_only_the_built_space_shows_is_reported_with_its_line),
        cmocka_unit_test(tensor_maps_are_worked_out_and_refused_as_tma_would),
        cmocka_unit_test(the_shipped_jobs_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
