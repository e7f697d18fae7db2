// Job files: every mistake with its line, the nearest name for a misspelt one, exit status 2; and the shipped jobs are
// sound.
#include "tests/e2e.h"
#include "tests/sanitized.h"

#include <math.h>

#include "tuner/base/memory.h"
#include "tuner/job/job.h"

// A sound job, line by line; a case replaces one line (from 1) and expects mistakes.
static const char *const sound[] = {
    /* 1 */ "name = \"t\";",
    /* 2 */ "kernel = { template = \"x.cu\"; entry = \"x\"; };",
    /* 3 */ // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one long line
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
    {3, "parameters = ( { name = \"BLOCK\"; values = [32, 32]; } );", 3, "has the value 32 twice"},
    {3, "parameters = ( { name = \"BLOCK\"; values = []; } );", 3, "has no values"},
    {3, "parameters = ( { name = \"BLOCK\"; values = [1]; }, { name = \"BLOCK\"; values = [2]; } );", 3,
     "'BLOCK' is already taken"},
    {3, "parameters = ( { name = \"BLOCK\"; values = (32, \"x\"); } );", 3, "all integers or all strings"},
    {3, "parameters = ( { name = \"BLOCK\"; unroll = [-1]; } );", 3, "unroll factor -1"},
    {3, "parameters = ( { name = \"BLOCK\"; values = [1]; unroll = [1]; } );", 3, "exactly one of"},
    {3, "parameters = ( { name = \"BLOCK\"; range = [5, 1]; } );", 3, "must be [first, last]"},
    {3, "parameters = ( { values = [1]; } );", 3, "a parameter lacks 'name'"},
    {4, "derived = { DOUBLE = \"2 * BLOK\"; };", 4, "did you mean 'BLOCK'?"},
    {5, "constraints = ( \"DUOBLE <= 128\" );", 5, "unknown name 'DUOBLE'; did you mean 'DOUBLE'?"},
    {5, "constraints = ( \"BLOCK *\" );", 5, "unexpected end"},
    {5, "constraints = ( \"KIND > \\\"a\\\"\" );", 5, "string"},
    {6, "problems = ();", 6, "'problems' is missing"},
    {6, "problems = ( { N = 1.5; } );", 6, "size 'N' must be an integer"},
    {6, "problems = ( { N = 1; }, { N = 2; M = 3; } );", 6, "the first problem has no size 'M'"},
    {6, "problems = ( { N = 1; M = 3; }, { N = 2; } );", 6, "lacks size 'M'"},
    {11, "budget = { patience = 5; };", 11, "setting 'patience' in 'budget' was removed: use 'until'"},
    {11, "budget = { noise = 0.005; };", 11, "setting 'noise' in 'budget' was removed: use 'until'"},
    {11, "guide = { N = 100; };", 11, "setting 'guide' in the job file was removed: every candidate is timed on all"},
    {7, "launch = { grid = [1]; };", 7, "lacks 'block'"},
    {7, "launch = { grid = [1]; block = [1]; clustre = [1]; };", 7, "did you mean 'cluster'?"},
    {7, "launch = { grid = [1, 1, 1, 1]; block = [1]; };", 7, "one to three dimensions"},
    {7, "launch = { grid = [1]; block = [1]; overlap = 1; };", 7, "no launch comes before it"},
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
    {9, "reference = { operation = \"iamax\"; by = \"cublas\"; };", 9, "has a reference only on the CPU"},
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
     8, "must have one number fewer than 'box', 1"},
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
     8, "needs type f32, but it is bf16"},
    {8, "arguments = ( { tensor_map = \"r\"; box = [4]; } );", 8, "where it is first named"},
    {8, "arguments = ( { tensor_map = \"r\"; buffer = \"r\"; } );", 8, "an argument must be"},
    {10, "work = { flops = \"N\"; pipe = \"wgma bf16\"; };", 10,
     "unknown execution unit 'wgma bf16'; did you mean 'wgmma bf16'?"},
    {10, "work = { flops = \"N\"; pipe = \"l2\"; };", 10, "the execution unit 'l2' does no arithmetic"},
    {10, "work = { flops = \"N\"; operations = \"2*N\"; };", 10, "'operations' needs a 'pipe'"},
    {10, "work = { flops = \"N\"; pipe = \"memory\"; operations = \"2*N\"; };", 10, "'operations' needs a 'pipe'"},
    {10, "work = { flop = \"N\"; };", 10, "did you mean 'flops'?"},
    {9, "reference = { operation = \"smu\"; };", 9, "unknown operation 'smu'; did you mean 'sum'?"},
    {9, "reference = { operation = \"sum\"; n = \"N\"; };", 9, "needs the buffer 'result'"},
    {9, "reference = { operation = \"sum\"; result = \"r\"; n = \"N\"; rsult = \"r\"; };", 9, "has no role 'rsult'"},
    {9, "reference = { operation = \"sum\"; result = \"r\"; n = true; };", 9,
     "'n' of operation 'sum' must name a size or scalar"},
    {9, "reference = { operation = \"sum\"; result = true; n = \"N\"; };", 9,
     "'result' of operation 'sum' must name a buffer"},
    {9, "reference = { operation = \"gemm\"; compute = \"tf23\"; };", 9,
     "unknown compute class 'tf23'; did you mean 'tf32'? (known: full, tf32, 3xtf32)"},
    {9, "reference = { operation = \"gemm\"; compute = 1; };", 9, "'compute' must be a word, e.g. \"full\""},
    {9, "reference = { operation = \"sum\"; result = \"r\"; n = \"N\"; compute = \"tf32\"; };", 9,
     "has no role 'compute'"},
    {9, "reference = { files = { q = \"x.npy\"; }; };", 9, "there is no buffer 'q'"},
    {9, "reference = { };", 9, "exactly one of"},
    {9, "budget2 = { };", 0, "'reference' is missing"},
    {11, "budget = { time = \"8 hours\"; };", 11, "must be a time such as"},
    {11, "budget = { evaluations = -1; };", 11, "must be at least 0"},
    {12, "measure = { cache = \"tepid\"; };", 12, "must be one of \"cold\", \"warm\""},
    {12, "measure = { race = 0.5; };", 12, "must be between"},
    {12, "measure = { precision = 0.1; };", 12, "setting 'precision' in 'measure' was removed: 1% is enough"},
    {12, "measure = { min_samples = 50; max_samples = 10; };", 12, "below 'min_samples'"},
    {12, "measure = { cache = \"cold\" ", 14, "syntax error"},
    {12, "search = { strategy = \"defualt\"; };", 12,
     "unknown strategy 'defualt'; did you mean 'default'? (known: default, "},
    {12, "search = { strategy = \"nonsense\"; };", 12, "unknown strategy 'nonsense' (known: default, "},
    {12, "search = { options = \"initial=3\"; seed = 2; };", 12,
     "setting 'options' in 'search' was removed: the option --strategy-options of 'tune' sets them"},
    {12, "counters = { metrics = [\"stals\"]; };", 12,
     "unknown metric set 'stals'; did you mean 'stalls'? (known: basic, stalls, "},
    {12, "counters = { metrics = [\"dram_bytes\"]; };", 12, "'dram_bytes' is the key of a metric; ask for"},
    {12, "counters = { metrics = [\"dram__bytes\"]; };", 12, "metric 'dram__bytes' needs a roll-up"},
    {12, "counters = { metrics = [\"\"]; };", 12, "unknown metric set ''"},
    {1, "name = \"a b\";", 1, "name \"a b\" must be 1 to 100 letters, digits, '_' or '-'"},
    {3, "parameters = ( { name = \"BLOCK\"; range = [1, 65536]; } );", 3,
     "'range' of 'BLOCK' has 65536 values; at most 65535"},
    {3, "parameters = ( { name = \"BLOCK\"; range = (-9223372036854775807, 9223372036854775807, 1); } );", 3,
     "'range' of 'BLOCK' has 18446744073709551615 values"},
    // What libconfig itself would read as another number, or another text.
    {6, "problems = ( { N = 99999999999999999999; } );", 6, "99999999999999999999 does not fit into a 64-bit integer"},
    {6, "problems = ( { N = 0x8000000000000000; } );", 6, "0x8000000000000000 does not fit into a 64-bit integer"},
    {6, "problems = ( { N = 99999999999999999999L; } );", 6, "does not fit into a 64-bit integer"},
    {12, "measure = { cache = \"c\xf6ld\"; };", 12, "a string is not UTF-8"},
    {12, "description = \"\xc3\x28\";", 12, "a string is not UTF-8"},
    {12, "measure = { slow_factor = 1e999; };", 12, "a number is too large"},
    {8, "arguments = ( { scalar = \"a\"; type = \"f32\"; value = 1e999; } );", 8, "a number is too large"},
    {8, "arguments = ( { scalar = \"a\"; type = \"f32\"; value = 1e39; } );", 8,
     "'a' is 1e+39, more than an f32 holds"},
    {8, "arguments = ( { scalar = \"a\"; type = \"f16\"; value = 65536.0; } );", 8,
     "'a' is 65536, more than an f16 holds"},
    {2, "kernel = { template = \"x.cu\"; entry = \"x\"; options = [\"-DA\\x00B\"]; };", 2,
     "a string cannot hold the character \\x00"},
    {6, "problems = ( { N = 5; held = true; holdout = true; } );", 6,
     "'held' is the old name of 'holdout', which is also given"},
    {6, "problems = ( { N = 5; held = true; } );", 6, "'holdout' needs objective"},
    {6, "problems = ( { N = 5; held = 3; } );", 6, "'holdout' must be true or false"},
    {13, "verification = { problems = ( { M = 7; } ); };", 13, "lacks size 'N'"},
    // What no configuration's text, no macro and no file could hold.
    {3, "parameters = ( { name = \"P\"; values = [\"1\", \"1,Q=1\"]; }, { name = \"Q\"; values = [\"1\", \"2\"]; } );",
     3, "parameter 'P' has the value '1,Q=1', which a configuration's text"},
    {3, "parameters = ( { name = \"P\"; values = [\"1\", \"a\\nb\"]; } );", 3, "a value of 'P' has a line break"},
    {3, "parameters = ( { name = \"P\"; values = [\"1\", \"/*\"]; } );", 3, "a value of 'P' has a comment's beginning"},
    {3, "parameters = ( { name = \"P\"; values = [\"1\", \"x */\"]; } );", 3,
     "a value of 'P' has a comment's beginning"},
    {3, "parameters = ( { name = \"P\"; values = [\"1\", \"a\\\\\"]; } );", 3, "a value of 'P' ends in '\\'"},
    {2, "kernel = { template = \"x.cu\"; entry = \"x\"; defines = { D = \"1\\n\"; }; };", 2,
     "the value of macro 'D' has a line break"},
    {1, "name = \"-t\";", 1, "not begin with '-'"},
    // Constants, textures and surfaces: job-file.md has the others.
    {12, "constants = ( \"coef\" );", 12, "a constant must be a group { name = \"coef\";"},
    {12, "constants = ( { type = \"f32\"; } );", 12, "a constant lacks 'name'"},
    {12, "constants = ( { name = \"coef\"; } );", 12, "constant 'coef' needs 'type'"},
    {12, "constants = ( { name = \"a:b\"; type = \"f32\"; } );", 12, "'a:b' is not a variable's name"},
    {12, "constants = ( { name = \"a::\"; type = \"f32\"; } );", 12, "'a::' is not a variable's name"},
    {12, "constants = ( { name = \"9a\"; type = \"f32\"; } );", 12, "'9a' is not a variable's name"},
    {12, "constants = ( { name = \"c\"; type = \"f32\"; }, { name = \"c\"; type = \"f32\"; } );", 12,
     "buffer 'c' is declared twice"},
    {12, "constants = ( { name = \"c\"; type = \"i32\"; value = 1; fill = 2; } );", 12,
     "constant 'c' has both 'value' and 'fill'"},
    {12, "constants = ( { name = \"c\"; type = \"i32\"; value = 1; direction = \"out\"; } );", 12,
     "constant 'c' is an output, so it has no value"},
    {12, "constants = ( { name = \"c\"; type = \"i32\"; value = \"BLOCK\"; } );", 12,
     "the value of buffer 'c' depends on 'BLOCK'"},
    {12, "constants = ( { name = \"c\"; type = \"f16\"; value = 1e6; } );", 12, "'c' is 1e+06, more than an f16 holds"},
    {12, "constants = ( { name = \"c\"; type = \"f32\"; ld = 5; } );", 12, "unknown setting 'ld' in a constant"},
    {12, "constants = ( { name = \"c\"; type = \"f32\"; shape = [ \"Q\" ]; } );", 12, "unknown name 'Q'"},
    {12, "constants = ( { name = \"c\"; type = \"i32\"; direction = \"out\"; compare = { count = [1]; }; } );", 12,
     "'first' and 'count' have no meaning for a single number, which 'c' is"},
    {12, "cmem_args = ( );", 12, "it is 'constants' here"},
    {12, "texmem_args = ( );", 12, "a texture is an argument here"},
    {8, "arguments = ( { texture = \"x\"; } );", 8, "buffer 'x' needs 'type' and 'shape' where it is first named"},
    {8, "arguments = ( { buffer = \"x\"; type = \"f32\"; shape = [8]; }, { texture = \"x\"; } );", 8,
     "buffer 'x' is no texture: give its 'type', 'shape' and 'memory' where it is first named"},
    {8, "arguments = ( { texture = \"x\"; surface = \"x\"; } );", 8, "an argument must be"},
    {8, "arguments = ( { texture = \"x\"; type = \"f32\"; shape = [8, 8, 8, 8]; } );", 8,
     "'shape' of texture 'x' has 4 dimensions; one to three are possible"},
    {8, "arguments = ( { texture = \"x\"; type = \"f32\"; shape = [8, 8]; address = [\"clamp\"]; } );", 8,
     "'address' has 1 words, but the texture has 2 dimensions"},
    {8, "arguments = ( { texture = \"x\"; type = \"f32\"; shape = [8]; address = [\"clamb\"]; } );", 8,
     "'address' must be one of"},
    {8, "arguments = ( { texture = \"x\"; type = \"f32\"; shape = [8]; memory = \"pitch\"; } );", 8,
     "memory \"pitch\" is for two dimensions, but texture 'x' has 1"},
    {8, "arguments = ( { texture = \"x\"; type = \"f32\"; shape = [8]; direction = \"out\"; } );", 8,
     "'x' is an output, but kernels see it as a texture, which cannot be written"},
    {8, "arguments = ( { texture = \"x\"; type = \"f32\"; shape = [8]; memory = \"linear\"; direction = \"out\"; } );",
     8, "texture 'x' is only read, but it is an output"},
    {8, "arguments = ( { texture = \"x\"; type = \"f32\"; shape = [8]; }, { texture = \"x\"; filter = \"linear\"; } );",
     8, "how texture 'x' is read is said where it is first named"},
    {8, "arguments = ( { surface = \"x\"; type = \"f32\"; shape = [8]; direction = \"out\"; filter = \"point\"; } );",
     8, "unknown setting 'filter' in a surface argument"},
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
    e2e_write(folder, "x.cu", "BLOCK KIND U\n");
    free(all);
    return text_format("%s/job.cfg", folder);
}

// Of the first problem, N = 1000.
static void constants_and_images_are_buffers_with_a_place(void **state)
{
    static const char text[] =
        "constants = ( { name = \"ns::coef\"; type = \"f32\"; shape = ( \"N\", 2 ); }, "
        "{ name = \"count\"; type = \"i32\"; value = \"N\"; } );\n"
        "arguments = ( { texture = \"t\"; type = \"u8\"; shape = [ 5, 6, 7 ]; channels = 4; filter = \"linear\"; "
        "read = \"normalized\"; normalized = true; address = ( \"wrap\", \"clamp\", \"mirror\" ); }, "
        "{ surface = \"s\"; type = \"f32\"; shape = ( 3, \"N\" ); ld = 1024; direction = \"inout\"; }, "
        "{ texture = \"s\"; filter = \"linear\"; }, { buffer = \"r\"; type = \"f32\"; shape = [1]; direction = "
        "\"out\"; } ); reference = { kernel = \"x\"; launch = { grid = 1; block = 1; }; arguments = ( { buffer = "
        "\"t\"; }, { buffer = \"s\"; }, { buffer = \"ns::coef\"; } ); };";
    (void)state;
    char *folder = e2e_folder("placed"), *whole = text_format("%s// ", text), *path = write_job(folder, 8, whole);
    char *command = text_format("sed -i '/^reference/d' '%s'", path);
    assert_int_equal(system(command), 0);
    struct job *job;
    struct mistakes m = {0};
    struct error err;
    int result = job_load(path, &job, &m);
    for (size_t i = 0; i < m.count; i++) print_message("%d: %s\n", m.list[i].line, m.list[i].text);
    assert_int_equal(result, 0);
    if (job_build_space(job, &device_limits_h200, &err)) fail_msg("%s", err.message);
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    assert_int_equal(job_problem_values(job, NULL, 0, values, &err), 0);
    assert_int_equal(job->buffer_count, 5);
    assert_true(job->buffers[0].symbol && job->buffers[1].symbol && !job->buffers[2].symbol);
    struct image_layout t, s;
    assert_int_equal(job_image_resolve(&job->buffers[2], values, &t, &err), 0);
    assert_int_equal(job_image_resolve(&job->buffers[3], values, &s, &err), 0);
    assert_true(t.rank == 3 && t.size[0] == 7 && t.size[1] == 6 && t.size[2] == 5 && t.pitch == 28 && t.channels == 4);
    assert_true(t.address[0] == IMAGE_MIRROR && t.address[1] == IMAGE_CLAMP && t.address[2] == IMAGE_WRAP);
    assert_true(t.normalized && t.read == IMAGE_NORMALIZED && t.filter == IMAGE_INTERPOLATED && !t.surface);
    assert_true(s.rank == 2 && s.size[0] == 1000 && s.size[1] == 3 && s.size[2] == 1 && s.pitch == 4096);
    assert_true(s.surface && s.filter == IMAGE_INTERPOLATED && job->buffers[3].image->texture);
    // ns::coef, count, t twice, s twice, r: the arrays are beside the buffers.
    assert_int_equal(job_problem_bytes(job, 0, &err), 8000 + 4 + 2 * 840 + 2 * 3 * 4096 + 4);
    free(values);
    free(command);
    free(whole);
    free(path);
    job_free(job);
    mistakes_release(&m);
    e2e_remove(folder);
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

// `before`, then `count` times `each`, then `after`; %d in `each` is the number.
static char *repeated(const char *before, int count, const char *each, const char *after)
{
    char *all = text_copy(before);
    for (int i = 0; i < count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        const char *at = strstr(each, "%d"), *rest = at ? at + 2 : each;
        char *longer =
            text_format("%s%s%.*s%s%s", all, i ? ", " : "", at ? (int)(at - each) : 0, each, at ? number : "", rest);
        free(all);
        all = longer;
    }
    char *whole = text_format("%s%s", all, after);
    free(all);
    return whole;
}

// How much a job may hold: the most is taken as it is, one more is refused with its line.
static void what_there_is_too_much_of_is_refused_by_name(void **state)
{
    (void)state;
    static const char argument[] = "{ buffer = \"b%d\"; type = \"f32\"; shape = [1]; direction = \"out\"; }";
    static const struct {
        int line;
        const char *before, *each, *after;
        int most; // 0: no limit
        const char *expected;
    } cases[] = {
        {6, "problems = ( ", "{ N = 1%d; }", " );", 64 - 1, "more than 64 problems"}, // and one that is verified
        {8, "arguments = ( ", argument, " );", 32, "buffer 'b32' is one too many: at most 32 are possible"},
        {8, "arguments = ( { buffer = \"r\"; type = \"f32\"; shape = [1]; direction = \"out\"; }, ",
         "{ scalar = \"s%d\"; type = \"i32\"; value = 1; }", " );", 64 - 1, "more than 64 arguments"},
        {8, "arguments = ( { buffer = \"r\"; type = \"f32\"; shape = [64]; direction = \"out\"; }, ",
         "{ tensor_map = \"r\"; box = [4]; }", " );", 8, "more than 8 tensor maps"},
        {3, "parameters = ( ", "{ name = \"P%d\"; values = [1, 2]; }", " );", 64, "more than 64 parameters"},
        {2, "kernel = { template = \"x.cu\"; entry = \"x\"; options = [ ", "\"-DOPTION%d\"", " ]; };", 0, NULL},
        {2, "kernel = { template = \"x.cu\"; entry = \"x\"; include = [ ", "\"folder%d\"", " ]; };", 0, NULL},
        {12, "counters = { metrics = [ ", "\"sm__m%d.sum\"", " ]; };", 0, NULL},
    };
    char *folder = e2e_folder("limits");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int more = 0; more < 2; more++) {
            int count = cases[i].most ? cases[i].most + more : 3000 + more;
            char *text = repeated(cases[i].before, count, cases[i].each, cases[i].after);
            char *path = write_job(folder, cases[i].line, text);
            struct job *job;
            struct mistakes m = {0};
            bool refused = job_load(path, &job, &m) != 0, expected = cases[i].most && more, found = false,
                 limit = false;
            for (size_t k = 0; k < m.count; k++) {
                found |= expected &&
                         m.list[k].line == (cases[i].most == 63 && cases[i].line == 6 ? 13 : cases[i].line) &&
                         strstr(m.list[k].text, cases[i].expected);
                limit |= cases[i].expected && strstr(m.list[k].text, cases[i].expected);
            }
            if (found != expected || limit != expected || (!cases[i].most && refused)) {
                for (size_t k = 0; k < m.count; k++) print_message("%d: %s\n", m.list[k].line, m.list[k].text);
                fail_msg("%d of: %s", count, cases[i].each);
            }
            if (!refused && !cases[i].most)
                assert_int_equal(job->option_count + job->include_count + job->metric_count, count);
            if (!refused) job_free(job);
            mistakes_release(&m);
            free(path);
            free(text);
        }
    }
    e2e_remove(folder);
}

static void names_that_are_too_long_are_refused(void **state)
{
    (void)state;
    char *folder = e2e_folder("long"), name[3001];
    for (int length = 63; length <= 64; length++) {
        struct job *job;
        struct mistakes m = {0};
        memset(name, 'b', sizeof name);
        name[length] = 0;
        char *text = text_format("arguments = ( { buffer = \"x\"; type = \"f32\"; shape = [1]; }, { buffer = \"%s\"; "
                                 "type = \"f32\"; shape = [1]; direction = \"out\"; } );",
                                 name);
        char *path = write_job(folder, 8, text);
        job_load(path, &job, &m);
        bool refused = false;
        for (size_t k = 0; k < m.count; k++)
            refused |= m.list[k].line == 8 && strstr(m.list[k].text, "a buffer's name has 1 to 63 characters, not 64");
        assert_int_equal(refused, length == 64);
        job_free(job);
        mistakes_release(&m);
        free(path);
        free(text);
    }
    // By its text a configuration is known in stores, however long it is.
    struct job *job;
    struct mistakes m = {0};
    struct error err = {""};
    memset(name, 'v', sizeof name);
    name[sizeof name - 1] = 0;
    char *text = text_format("parameters = ( { name = \"BLOCK\"; values = [32, 64]; }, { name = \"KIND\"; values = "
                             "[\"a\", \"%s\"]; }, { name = \"U\"; unroll = [0, 1, 4]; } );",
                             name);
    char *path = write_job(folder, 3, text);
    if (job_load(path, &job, &m)) fail_msg("%s", m.list[0].text);
    if (job_build_space(job, &device_limits_h200, &err)) fail_msg("%s", err.message);
    uint16_t config[SPACE_MAX_PARAMETERS] = {1, 1, 2}, back[SPACE_MAX_PARAMETERS];
    char *whole = space_text(job->space, config);
    assert_int_equal(strlen(whole), strlen("BLOCK=64,KIND=,U=4") + strlen(name));
    assert_int_equal(space_parse(job->space, whole, back, &err), 0);
    assert_memory_equal(config, back, 3 * sizeof *config);
    free(whole);
    job_free(job);
    free(path);
    free(text);
    e2e_remove(folder);
}

// libconfig takes integers beyond 32 bits only with an L, and cuts others silently.
static void a_path_that_is_not_utf_8_is_refused(void **state)
{
    (void)state;
    char *folder = e2e_folder("latin");
    struct outcome_of_command r =
        e2e_run(folder, "cp tests/golden/job.cfg \"$(printf '%s/j\\366b.cfg')\" && $BIN/sweetspot check %s/*.cfg",
                folder, folder);
    assert_int_equal(r.status, 2);
    e2e_expect(r.err, "sweetspot: argument 2 is not UTF-8: '");
    e2e_done(&r);
    e2e_remove(folder);
}

static void text_from_outside_that_is_not_utf_8_is_refused(void **state)
{
    (void)state;
    static const char *const commands[][2] = {
        {"$BIN/sweetspot space tests/golden/job.cfg --device \"$(printf 'caf\\351')\"",
         "argument 4 is not UTF-8: 'caf?'"},
        {"$BIN/sweetspot \"$(printf 'caf\\351')\"", "argument 1 is not UTF-8: 'caf?'"},
        {"SWEETSPOT_NVCC=\"$(printf '/\\351')\" $BIN/sweetspot list",
         "an environment variable is not UTF-8: 'SWEETSPOT_NVCC=/?'"},
        {"CUDA_HOME=\"$(printf '/\\351')\" $BIN/sweetspot list",
         "an environment variable is not UTF-8: 'CUDA_HOME=/?'"},
        {"mkdir -p \"$(printf '%s/\\351' $FOLDER)\" && cd \"$(printf '%s/\\351' $FOLDER)\" && $BIN/sweetspot list",
         "the path of the working folder is not UTF-8"},
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char *folder = e2e_folder("utf8");
        struct outcome_of_command r = e2e_run(folder, "FOLDER='%s'; %s", folder, commands[i][0]);
        if (r.status != 2) fail_msg("%s: status %d", commands[i][0], r.status);
        e2e_expect(r.err, commands[i][1]);
        e2e_done(&r);
        e2e_remove(folder);
    }
}

// The file's name stands for a name that the job does not give.
static void a_file_whose_name_is_none_of_a_job_needs_a_name(void **state)
{
    (void)state;
    static const char *const names[] = {"-dash", "a b", "line\nbreak", "a;b", "\xc3\xbc", ".", "a.b"};
    char *folder = e2e_folder("names"), longest[JOB_MAX_NAME + 2];
    memset(longest, 'a', JOB_MAX_NAME + 1);
    longest[JOB_MAX_NAME + 1] = 0;
    for (size_t i = 0; i <= sizeof names / sizeof *names; i++) {
        char *name = text_format("%s.cfg", i < sizeof names / sizeof *names ? names[i] : longest),
             *path = write_job(folder, 1, ""), *to = text_format("%s/%s", folder, name);
        struct job *job;
        struct mistakes m = {0};
        assert_int_equal(rename(path, to), 0);
        assert_int_equal(job_load(to, &job, &m), -1);
        assert_int_equal(m.count, 1);
        e2e_expect(m.list[0].text, "there is no 'name', and the file's, ");
        mistakes_release(&m);
        free(name);
        free(path);
        free(to);
    }
    e2e_remove(folder);
}

// libconfig compares every name with all others of its group: 60,000 took half a minute.
static void a_group_of_many_settings_is_refused(void **state)
{
    (void)state;
    char *folder = e2e_folder("many"), *all = memory_new(1, 60001 * 16);
    struct job *job;
    for (int deep = 0; deep < 2; deep++) {
        char *at = all;
        for (int i = 0; i < 60000; i++) at += sprintf(at, deep ? "a={" : "s%d = 1;\n", i);
        char *path = write_job(folder, 13, all);
        struct mistakes m = {0};
        assert_int_equal(job_load(path, &job, &m), -1);
        assert_int_equal(m.count, 1);
        e2e_expect(m.list[0].text,
                   deep ? "more than 64 groups within each other" : "a group has more than 1000 settings");
        assert_int_equal(m.list[0].line, deep ? 13 : 13 + 988);
        mistakes_release(&m);
        free(path);
    }
    free(all);
    e2e_remove(folder);
}

static void integers_are_read_as_they_are_written(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t expected;
    } cases[] = {
        {"2147483647", 2147483647},         {"2147483648", 2147483648},        {"-3000000000", -3000000000},
        {"9223372036854775807", INT64_MAX}, {"3000000000L", 3000000000},       {"0xFF", 255},
        {"0x7fffffff", 2147483647},         {"0xFFFFFFFF", 4294967295},        {"0X1FFFFFFFF", 8589934591},
        {"0x1FFFFFFFFL", 8589934591},       {"0x7FFFFFFFFFFFFFFF", INT64_MAX}, {"/* 99999999999999999999 */ 7", 7},
    };
    char *folder = e2e_folder("integers");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = text_format("problems = ( { N = %s; } );", cases[i].text);
        char *path = write_job(folder, 6, text);
        struct job *job;
        struct mistakes m = {0};
        if (job_load(path, &job, &m)) fail_msg("%s: %s", cases[i].text, m.list[0].text);
        if (job->problems[0].sizes[0] != cases[i].expected)
            fail_msg("%s is read as %lld", cases[i].text, (long long)job->problems[0].sizes[0]);
        job_free(job);
        free(path);
        free(text);
    }
    e2e_remove(folder);
}

// An included file is libconfig's to read: what it would cut is refused there.
static void an_integer_that_an_included_file_would_lose_is_refused_there(void **state)
{
    (void)state;
    static const struct {
        const char *number, *expected; // NULL: sound
    } cases[] = {{"3000000000", "/deep.inc:2: 3000000000 needs an L at its end"},
                 {"0xFFFFFFFF", "/deep.inc:2: 0xFFFFFFFF needs an L at its end"},
                 {"99999999999999999999", "/deep.inc:2: 99999999999999999999 does not fit into"},
                 {"3000000000L", NULL},
                 {"2147483647", NULL}};
    char *folder = e2e_folder("deep"), *path = write_job(folder, 6, "@include \"common.inc\"");
    e2e_write(folder, "common.inc", "// 99999999999999999999\n  @include \"deep.inc\"\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = text_format("\nproblems = ( { N = 1; }, { N = %s; } );\n", cases[i].number);
        e2e_write(folder, "deep.inc", text);
        struct outcome_of_command r = e2e_run(folder, "$BIN/sweetspot space %s/job.cfg", folder);
        assert_int_equal(r.status, cases[i].expected ? 2 : 0);
        if (cases[i].expected) e2e_expect(r.err, cases[i].expected);
        e2e_done(&r);
        free(text);
    }
    free(path);
    e2e_remove(folder);
}

static void a_file_with_a_nul_byte_is_refused(void **state)
{
    (void)state;
    char *folder = e2e_folder("nul"), *path = write_job(folder, 0, NULL);
    struct job *job;
    struct mistakes m = {0};
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fwrite("\0x = 1;\n", 1, 8, file);
    fclose(file);
    assert_int_equal(job_load(path, &job, &m), -1);
    assert_int_equal(m.list[0].line, LINES + 1);
    assert_string_equal(m.list[0].text, "the file has a NUL byte");
    mistakes_release(&m);
    free(path);
    e2e_remove(folder);
}

// The check of a reference by an operation sees every scalar of every stage.
static void a_scalar_behind_many_others_is_found(void **state)
{
    (void)state;
    char *folder = e2e_folder("scalars");
    char *scalars =
        repeated("arguments = ( { buffer = \"x\"; type = \"f32\"; shape = [\"N\"]; }, { buffer = \"r\"; type "
                 "= \"f32\"; shape = [1]; direction = \"out\"; }, ",
                 60, "{ scalar = \"s%d\"; type = \"i32\"; value = 1; }", " );");
    char *stages =
        text_format("stages = ( { entry = \"x\"; launch = { grid = [1]; block = [1]; }; %s }, { entry = \"y\"; "
                    "launch = { grid = [1]; block = [1]; }; arguments = ( { buffer = \"x\"; }, { scalar = "
                    "\"a\"; type = \"i32\"; value = 1; }, { scalar = \"b\"; type = \"i32\"; value = 1; }, { scalar "
                    "= \"c\"; type = \"i32\"; value = 1; }, { scalar = \"late\"; type = \"i32\"; value = \"N\"; "
                    "} ); } );",
                    scalars);
    e2e_write(folder, "x.cu", "\n");
    char *text =
        text_format("kernel = { template = \"x.cu\"; };\nparameters = ( { name = \"BLOCK\"; values = [32]; } "
                    ");\nproblems = ( { N = 1000; } );\n%s\nreference = { operation = \"sum\"; result = \"r\"; n = "
                    "\"late\"; };\n",
                    stages);
    e2e_write(folder, "job.cfg", text);
    char *path = text_format("%s/job.cfg", folder);
    struct job *job;
    struct mistakes m = {0};
    if (job_load(path, &job, &m)) fail_msg("%s", m.list[0].text);
    job_free(job);
    free(path);
    free(text);
    free(stages);
    free(scalars);
    e2e_remove(folder);
}

// Old job files go on, with a note that names file and line, also of an included file; the new name needs none.
static void settings_under_their_old_names_are_taken_with_a_note(void **state)
{
    (void)state;
    char *folder = e2e_folder("renamed");
    char *path =
        write_job(folder, 6, "@include \"sizes.inc\"\nproblems = ( { N = 1000; }, { N = 10; held = true; } );");
    e2e_write(folder, "sizes.inc", "\nobjective = \"each\";\n");
    struct outcome_of_command r = e2e_run(folder, "$BIN/sweetspot space %s/job.cfg", folder);
    assert_int_equal(r.status, 0);
    e2e_expect(r.err, "/job.cfg:7: note: 'held' is an old name: write 'holdout'\n");
    e2e_done(&r);
    struct job *job;
    struct mistakes m = {0};
    if (job_load(path, &job, &m)) fail_msg("%s", m.list[0].text);
    assert_false(job->problems[0].holdout);
    assert_true(job->problems[1].holdout);
    assert_int_equal(job->notes.count, 1);
    assert_int_equal(job->size_count, 1); // 'held' is not a size
    job_free(job);
    free(path);
    path = write_job(folder, 6, "@include \"sizes.inc\"");
    e2e_write(
        folder, "sizes.inc",
        "objective = \"each\";\nproblems = ( { N = 1000; }, { N = 10; held = true; }, { N = 9;\n held = false; } );\n");
    r = e2e_run(folder, "$BIN/sweetspot space %s/job.cfg", folder);
    assert_int_equal(r.status, 0);
    e2e_expect(r.err, "/sizes.inc:2: note: 'held' is an old name: write 'holdout'\n");
    e2e_expect(r.err, "/sizes.inc:3: note: 'held' is an old name: write 'holdout'\n");
    e2e_done(&r);
    free(path);
    path = write_job(folder, 6, "objective = \"each\"; problems = ( { N = 1000; }, { N = 10; holdout = true; } );");
    r = e2e_run(folder, "$BIN/sweetspot space %s/job.cfg", folder);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.err, "");
    e2e_done(&r);
    free(path);
    // Elsewhere the word is free.
    path = write_job(folder, 4, "derived = { DOUBLE = \"2 * BLOCK\"; held = 7; };");
    if (job_load(path, &job, &m)) fail_msg("%s", m.list[0].text);
    assert_int_equal(job->notes.count, 0);
    assert_true(symbols_find(job->symbols, "held") >= 0);
    job_free(job);
    free(path);
    e2e_remove(folder);
}

static void several_mistakes_are_all_reported_in_order_and_the_exit_status_is_2(void **state)
{
    (void)state;
    char *folder = e2e_folder("several");
    e2e_write(folder, "job.cfg",
              "kernel = { template = \"no.cu\"; };\nparameters = ( { name = \"A\"; values = [1]; } );\nconstraints = ( "
              "\"B\" );\nproblems = ( { N = 1; } );\nlaunch = { };\n");
    struct outcome_of_command r = e2e_run(folder, "$BIN/sweetspot check %s/job.cfg --compile 0", folder);
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

// Of a matrix product: what is not a matrix, or fits no memory, is refused before anything is launched.
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
        {"M = 3000000000; N = 5; K = 4000000000;", "K", "more bytes than an address can reach"},
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
        struct outcome_of_command r = e2e_run(folder, "$BIN/sweetspot check %s/job.cfg --compile 0", folder);
        if (r.status != 2 || !strstr(r.err, cases[i].expected))
            fail_msg("%s, ld %s: status %d: %s%s", cases[i].problem, cases[i].ld, r.status, r.out, r.err);
        e2e_done(&r);
        free(text);
    }
    e2e_remove(folder);
}

// Each size of a shape counts as a whole, whatever operators are in it.
static void sizes_of_a_shape_are_multiplied_as_wholes(void **state)
{
    static const struct {
        const char *shape, *memory;
    } cases[] = {
        {"\"N + 1\", \"1024\"", ", 0.5 MiB of buffers"},
        {"\"N + 1\", \"N + 1\", \"1024\"", ", 64 MiB of buffers"},
        {"\"N > 5 ? 4 : 2\", \"N - 1\", \"N + 1 - 1\", \"1024\"", ", 250 MiB of buffers"},
    };
    (void)state;
    char *folder = e2e_folder("whole_sizes");
    e2e_write(folder, "x.cu", "\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = text_format("kernel = { template = \"x.cu\"; entry = \"x\"; };\n"
                                 "problems = ( { N = 127; } );\nlaunch = { grid = [1]; block = [32]; };\n"
                                 "arguments = ( { buffer = \"A\"; type = \"f32\"; shape = [ %s ]; direction = "
                                 "\"out\"; } );\nverification = { enabled = false; };\n",
                                 cases[i].shape);
        e2e_write(folder, "job.cfg", text);
        struct outcome_of_command r = e2e_run(folder, "$BIN/sweetspot check %s/job.cfg --compile 0", folder);
        if (r.status || !strstr(r.out, cases[i].memory)) fail_msg("%s: %s%s", cases[i].shape, r.out, r.err);
        e2e_done(&r);
        free(text);
    }
    e2e_remove(folder);
}

static void a_constraint_with_quotes_is_one_field_of_csv(void **state)
{
    (void)state;
    char *folder = e2e_folder("csv");
    free(write_job(folder, 0, NULL));
    struct outcome_of_command r = e2e_run(folder, "$BIN/sweetspot space %s/job.cfg --format csv", folder);
    assert_int_equal(r.status, 0);
    e2e_expect(r.out, "removed,\"KIND == \"\"a\"\" || BLOCK == 32\",3,5\n");
    e2e_done(&r);
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
        struct outcome_of_command r = e2e_run(folder, "$BIN/sweetspot check %s/job.cfg --compile 0", folder);
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
    e2e_write(folder, "x.cu", "KIB CLUSTER\n");
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
            e2e_run(folder, "$BIN/sweetspot check %s/job.cfg --compile 0 --arch %s", folder, cases[i].arch);
        assert_int_equal(r.status, 0);
        e2e_expect(r.out, cases[i].said);
        assert_string_equal(r.err, "");
        e2e_done(&r);
    }
    struct outcome_of_command r = e2e_run(folder, "$BIN/sweetspot check %s/job.cfg --compile 0 --arch sm_77", folder);
    assert_int_equal(r.status, 0);
    e2e_expect(r.err, "the limits of 'sm_77' are unknown");
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
        struct outcome_of_command r = e2e_run(folder, "$BIN/sweetspot check %s/job.cfg --compile 0", folder);
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
        {"shape = [100, 63]; box = [4, 8];", "its stride must be a multiple of 16 bytes below 2^40, but is 252", {0}},
        {"shape = [100, 64]; box = [257, 8];", "257 wide in dimension 1 from the last", {0}},
        {"shape = [100, 64]; box = [8, 3];", "12 bytes; TMA needs a multiple of 16", {0}},
        {"shape = [100, 64]; box = [8, 32]; swizzle = 64;", "128 bytes, wider than the swizzle of 64", {0}},
        {"shape = [100, 64]; box = [8, 8]; swizzle = 48;", "swizzle is 48", {0}},
        {"shape = [100, 64]; box = [8, 8]; promotion = 16;", "promotion is 16", {0}},
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
            assert_true(s.swizzle == e->swizzle && s.promotion == e->promotion && s.nan == e->nan && s.tf32 == e->tf32);
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
        e2e_run(folder,
                "n=0; for job in configs/*.cfg %s; do $BIN/sweetspot check $job --compile 0 || exit 1; "
                "n=$((n+1)); done; echo jobs $n; test $n -ge 40",
                SANITIZED ? "" : "configs/layers/*.cfg configs/suite/*.cfg"); // made of the same pieces
    if (r.status) fail_msg("%s", r.err);
    e2e_done(&r);
    e2e_remove(folder);
}

static void the_objective_weighs_the_problems_that_are_tuned(void **state)
{
    (void)state;
    struct problem problems[3] = {{.weight = 3}, {.weight = 1}, {.weight = 100}};
    static const struct {
        enum objective objective;
        double times[2], expected;
    } cases[] = {
        {OBJECTIVE_GEOMEAN, {1, 16}, 2},    {OBJECTIVE_MEAN, {1, 16}, 19.0 / 4}, {OBJECTIVE_WORST, {6, 16}, 18},
        {OBJECTIVE_EACH, {1, 16}, 2},       {OBJECTIVE_EACH, {NAN, 16}, 16},     {OBJECTIVE_EACH, {NAN, NAN}, NAN},
        {OBJECTIVE_GEOMEAN, {NAN, 1}, NAN}, {OBJECTIVE_MEAN, {0, 1}, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct job job = {.objective = cases[i].objective, .tuned_count = 2, .problems = problems};
        double found = job_objective(&job, cases[i].times);
        if (isnan(cases[i].expected) ? !isnan(found) : !(fabs(found - cases[i].expected) < 1e-12))
            fail_msg("case %zu: %g, expected %g", i, found, cases[i].expected);
    }
}

static void how_far_behind_a_candidate_is_follows_the_objective(void **state)
{
    (void)state;
    const double weights[] = {3, 1}, best[] = {1, 4};
    static const struct {
        enum objective objective;
        double times[2], expected;
    } cases[] = {
        {OBJECTIVE_GEOMEAN, {2, 8}, 2},       {OBJECTIVE_GEOMEAN, {1, 64}, 2}, {OBJECTIVE_MEAN, {2, 8}, 2},
        {OBJECTIVE_MEAN, {1, 11}, 2},         {OBJECTIVE_WORST, {4, 4}, 3},    {OBJECTIVE_EACH, {9, 6}, 1.5},
        {OBJECTIVE_EACH, {INFINITY, 6}, 1.5}, // the problem that it does not do
        {OBJECTIVE_GEOMEAN, {9, 0}, 0},       {OBJECTIVE_EACH, {0, 9}, 0},     {OBJECTIVE_WORST, {0, 9}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double found = objective_ratio(cases[i].objective, weights, cases[i].times, best, 2);
        if (!(fabs(found - cases[i].expected) < 1e-12))
            fail_msg("case %zu: %g, expected %g", i, found, cases[i].expected);
    }
    const double none[] = {1, 0};
    assert_true(objective_ratio(OBJECTIVE_GEOMEAN, weights, best, none, 2) == 0); // no best is known
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_objective_weighs_the_problems_that_are_tuned),
        cmocka_unit_test(how_far_behind_a_candidate_is_follows_the_objective),
        cmocka_unit_test(a_sound_job_loads_and_its_space_is_built),
        cmocka_unit_test(constants_and_images_are_buffers_with_a_place),
        cmocka_unit_test(unroll_factors_become_pragmas),
        cmocka_unit_test(every_mistake_is_reported_with_its_line),
        cmocka_unit_test(several_mistakes_are_all_reported_in_order_and_the_exit_status_is_2),
        cmocka_unit_test(what_there_is_too_much_of_is_refused_by_name),
        cmocka_unit_test(names_that_are_too_long_are_refused),
        cmocka_unit_test(a_path_that_is_not_utf_8_is_refused),
        cmocka_unit_test(text_from_outside_that_is_not_utf_8_is_refused),
        cmocka_unit_test(a_file_whose_name_is_none_of_a_job_needs_a_name),
        cmocka_unit_test(a_group_of_many_settings_is_refused),
        cmocka_unit_test(integers_are_read_as_they_are_written),
        cmocka_unit_test(an_integer_that_an_included_file_would_lose_is_refused_there),
        cmocka_unit_test(a_file_with_a_nul_byte_is_refused),
        cmocka_unit_test(a_scalar_behind_many_others_is_found),
        cmocka_unit_test(settings_under_their_old_names_are_taken_with_a_note),
        cmocka_unit_test(shapes_that_cannot_be_are_refused),
        cmocka_unit_test(sizes_of_a_shape_are_multiplied_as_wholes),
        cmocka_unit_test(a_constraint_with_quotes_is_one_field_of_csv),
        cmocka_unit_test(mistakes_in_an_included_file_are_shown_there),
        cmocka_unit_test(check_holds_the_limits_of_the_architecture),
        cmocka_unit_test(what_only_the_built_space_shows_is_reported_with_its_line),
        cmocka_unit_test(tensor_maps_are_worked_out_and_refused_as_tma_would),
        cmocka_unit_test(the_shipped_jobs_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
