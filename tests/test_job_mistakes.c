// Job files that are refused: every mistake is reported with its line. A misspelt name is reported with the nearest
// valid name. The exit status is 2.
#include "tests/sound_job.h"

// The line of the valid job to be replaced, its new text, and the line of the mistake.
#define ARGUMENTS(text) 8, "arguments = ( " text " );", 8
#define PARAMETERS(text) 3, "parameters = ( " text " );", 3
#define CONSTANTS(text) 12, "constants = ( " text " );", 12
#define REFERENCE(text) 9, "reference = { " text " };", 9
#define PROBLEMS(text) 6, "problems = ( " text " );", 6
#define MEASURE(text) 12, "measure = { " text " };", 12
#define WORK(text) 10, "work = { " text " };", 10
#define KERNEL(text) 2, "kernel = { " text " };", 2
#define LAUNCH(text) 7, "launch = { " text " };", 7
#define COUNTERS(text) 12, "metrics = [" text "];", 12
#define TENSOR_MAP(shape, members) \
    ARGUMENTS("{ buffer = \"r\"; type = \"f32\"; shape = " shape "; direction = \"out\"; tma = { " members " }; }")
#define TEXTURE(members) ARGUMENTS("{ buffer = \"x\"; type = \"f32\"; " members " }; }")
#define CONSTANT(members) CONSTANTS("{ name = \"c\"; type = " members " }")
#define SECOND_STAGE(members)                                                                                        \
    7,                                                                                                               \
        "stages = ( { entry = \"x\"; launch = { grid = [1]; block = [1]; }; arguments = ( { buffer = \"x\"; type = " \
        "\"f32\"; shape = [\"N\"]; }, { buffer = \"r\"; type = \"f32\"; shape = [1]; direction = \"out\"; } ); }, "  \
        "{ " members " } );",                                                                                        \
        7

static const struct {
    int line; // replaced
    const char *text;
    int at;               // line of the mistake
    const char *expected; // part of its text
} mistakes_table[] = {
    {2, "kernal = { };", 2, "unknown setting 'kernal' in the job file; did you mean 'kernel'?"},
    {KERNEL("template = \"nosuch.cu\"; entry = \"x\";"), "cannot read template 'nosuch.cu'"},
    {KERNEL("entry = \"x\";"), "lacks 'template'"},
    {KERNEL("template = \"x.cu\";"), "'entry', the kernel's name, is missing"},
    {KERNEL("template = 5; entry = \"x\";"), "'template' must be a string"},
    {PARAMETERS("{ name = \"BLOCK\"; values = [32, 32]; }"), "has the value 32 twice"},
    {PARAMETERS("{ name = \"BLOCK\"; values = []; }"), "has no values"},
    {PARAMETERS("{ name = \"BLOCK\"; values = [1]; }, { name = \"BLOCK\"; values = [2]; }"),
     "'BLOCK' is already taken"},
    {PARAMETERS("{ name = \"BLOCK\"; values = (32, \"x\"); }"), "all integers or all strings"},
    {PARAMETERS("{ name = \"BLOCK\"; unroll = [-1]; }"), "unroll factor -1"},
    {PARAMETERS("{ name = \"BLOCK\"; values = [1]; unroll = [1]; }"), "exactly one of"},
    {PARAMETERS("{ name = \"BLOCK\"; range = [5, 1]; }"), "must be [first, last]"},
    {PARAMETERS("{ values = [1]; }"), "a parameter lacks 'name'"},
    {4, "derived = { DOUBLE = \"2 * BLOK\"; };", 4, "did you mean 'BLOCK'?"},
    {5, "constraints = ( \"DUOBLE <= 128\" );", 5,
     "unknown name 'DUOBLE' at column 1: 'DUOBLE <= 128'; did you mean 'DOUBLE'?"},
    {5, "constraints = ( \"BLOCK *\" );", 5, "unexpected end"},
    {5, "constraints = ( \"KIND > \\\"a\\\"\" );", 5, "string"},
    {6, "problems = ();", 6, "'problems' is missing"},
    {PROBLEMS("{ N = 1.5; }"), "size 'N' must be an integer"},
    {PROBLEMS("{ N = [0, 8]; }"), "an integer, or a range of positive integers: [low, high]"},
    {PROBLEMS("{ N = [8, 8]; }"), "an integer, or a range of positive integers: [low, high]"},
    {PROBLEMS("{ N = [1, 2, 3]; }"), "an integer, or a range of positive integers: [low, high]"},
    {PROBLEMS("{ N = [1, 900]; }, { N = [2, 901]; }, { N = [3, 902]; }, { N = [4, 903]; }, { N = [5, 904]; }, "
              "{ N = [6, 905]; }"),
     "more than 64 problems: a range adds several"},
    {PROBLEMS("{ N = 1; }, { N = 2; M = 3; }"), "the first problem has no size 'M'"},
    {PROBLEMS("{ N = 1; M = 3; }, { N = 2; }"), "lacks size 'M'"},
    {11, "budget = { patience = 5; };", 11, "setting 'patience' in 'budget' was removed: use 'until'"},
    {11, "budget = { noise = 0.005; };", 11, "setting 'noise' in 'budget' was removed: use 'until'"},
    {11, "guide = { N = 100; };", 11, "setting 'guide' in the job file was removed: every candidate is timed on all"},
    {LAUNCH("grid = [1];"), "lacks 'block'"},
    {LAUNCH("grid = [1]; block = [1]; clustre = [1];"), "did you mean 'cluster'?"},
    {LAUNCH("grid = [1, 1, 1, 1]; block = [1];"), "one to three dimensions"},
    {LAUNCH("grid = [1]; block = [1]; overlap = 1;"), "no launch comes before it"},
    {SECOND_STAGE("operation = \"gem\"; A = \"x\";"), "unknown operation 'gem'; did you mean 'gemm'?"},
    {SECOND_STAGE("operation = \"gemm\"; A = \"q\"; B = \"x\"; C = \"r\";"),
     "'A' must name a buffer that an earlier stage's arguments declare"},
    {SECOND_STAGE("operation = \"gemm\"; A = \"x\"; C = \"r\"; D = \"r\";"), "operation 'gemm' has no role 'D'"},
    {SECOND_STAGE("operation = \"gemm\"; A = \"x\"; C = \"r\";"), "operation 'gemm' needs the buffer 'B'"},
    {SECOND_STAGE("operation = \"sum\"; by = \"cublas_asum\"; x = \"x\"; result = \"r\";"),
     "no library computes 'sum' by 'cublas_asum'"},
    {SECOND_STAGE("operation = \"gemm\"; by = \"cublasLt_2\"; A = \"x\"; B = \"x\"; C = \"r\";"),
     "no library computes 'gemm' by 'cublasLt_2'"},
    {REFERENCE("operation = \"iamax\"; by = \"cublas\";"), "has a reference only on the CPU"},
    {ARGUMENTS("{ buffer = \"r\"; type = \"f33\"; shape = [1]; direction = \"out\"; }"), "'type' must be one of"},
    {ARGUMENTS("{ buffer = \"r\"; type = \"f32\"; shape = [1]; direction = \"sideways\"; }"),
     "'direction' must be one of"},
    {ARGUMENTS("{ buffer = \"r\"; type = \"f32\"; shape = [\"BLOCK\"]; direction = \"out\"; }"),
     "differs between configurations"},
    {ARGUMENTS("{ scalar = \"q\"; type = \"i32\"; }"), "needs 'value'"},
    {ARGUMENTS("{ scalar = \"N\"; type = \"i32\"; value = 1.5; }"), "is not an integer"},
    {ARGUMENTS("{ buffer = \"x\"; type = \"f32\"; shape = [\"N\"]; }"), "nothing could be verified"},
    {ARGUMENTS("{ buffer = \"r\"; type = \"i32\"; shape = [1]; direction = \"inout\"; fill = \"nonfinite\"; }"),
     "is for floating-point buffers"},
    {TENSOR_MAP("[8]", ""), "needs 'tma.box'"},
    {TENSOR_MAP("[8]", "box = [4, 4];"), "the buffer is a vector"},
    {TENSOR_MAP("[8]", "box = [4]; swizle = 128;"), "unknown setting 'swizle' in 'tma'; did you mean 'swizzle'?"},
    {TENSOR_MAP("[8]", "box = [4, 4]; view = [8];"), "'tma.view' of 'r' has 1"},
    {TENSOR_MAP("[8, 8]", "box = [4, 4]; strides = [8, 8];"), "must have one number fewer than 'tma.box', 1"},
    {TENSOR_MAP("[8]", "box = [1, 1, 1, 1, 1, 1];"), "'tma.box' has 6 dimensions; a tensor map has one to 5"},
    {TENSOR_MAP("[8]", "box = 8;"), "'tma.box' must be a list"},
    {TENSOR_MAP("[8]", "box = [8]; out_of_bounds = \"zeros\";"),
     "'tma.out_of_bounds' must be one of \"zero\", \"nan\""},
    {ARGUMENTS("{ buffer = \"r\"; type = \"f32\"; shape = [8]; tma = 128; }"), "'tma' must be a group"},
    {ARGUMENTS("{ buffer = \"r\"; type = \"f32\"; shape = [8]; tma = { box = [8]; }; swizzle = 32; }"),
     "setting 'swizzle' in a buffer argument was removed: it belongs in 'tma' now"},
    {ARGUMENTS("{ buffer = \"r\"; type = \"i32\"; shape = [8]; direction = \"out\"; tma = { box = [4]; out_of_bounds = "
               "\"nan\"; }; }"),
     "floating-point"},
    {ARGUMENTS("{ buffer = \"r\"; type = \"bf16\"; shape = [8]; direction = \"out\"; tma = { box = [8]; convert = "
               "\"tf32\"; }; }"),
     "needs type f32, but it is bf16"},
    {ARGUMENTS("{ buffer = \"r\"; tma = { box = [4]; }; }"), "where it is first named"},
    {ARGUMENTS("{ tensor_map = \"r\"; buffer = \"r\"; }"), "it is the 'buffer' now, and 'tma' describes the map"},
    {WORK("flops = \"N\"; pipe = \"wgma bf16\";"), "unknown execution unit 'wgma bf16'; did you mean 'wgmma bf16'?"},
    {WORK("flops = \"N\"; pipe = \"l2\";"), "the execution unit 'l2' does no arithmetic"},
    {WORK("flops = \"N\"; operations = \"2*N\";"), "'operations' needs a 'pipe'"},
    {WORK("flops = \"N\"; pipe = \"memory\"; operations = \"2*N\";"), "'operations' needs a 'pipe'"},
    {WORK("flop = \"N\";"), "did you mean 'flops'?"},
    {REFERENCE("operation = \"smu\";"), "unknown operation 'smu'; did you mean 'sum'?"},
    {REFERENCE("operation = \"sum\"; n = \"N\";"), "needs the buffer 'result'"},
    {REFERENCE("operation = \"sum\"; result = \"r\"; n = \"N\"; rsult = \"r\";"), "has no role 'rsult'"},
    {REFERENCE("operation = \"sum\"; result = \"r\"; n = true;"), "'n' of operation 'sum' must name a size or scalar"},
    {REFERENCE("operation = \"sum\"; result = true; n = \"N\";"), "'result' of operation 'sum' must name a buffer"},
    {REFERENCE("operation = \"gemm\"; compute = \"tf23\";"),
     "unknown compute class 'tf23'; did you mean 'tf32'? (known: full, tf32, 3xtf32)"},
    {REFERENCE("operation = \"gemm\"; compute = 1;"), "'compute' must be a word, e.g. \"full\""},
    {REFERENCE("operation = \"gemm\"; A = \"x\"; B = \"x\"; C = \"r\"; M = \"N\"; K = \"N\"; beta = 0.5;"),
     "'beta' is not 0, so the old 'r' is read: its direction must be \"inout\""},
    {REFERENCE("operation = \"sum\"; result = \"r\"; n = \"N\"; compute = \"tf32\";"), "has no role 'compute'"},
    {REFERENCE("files = { q = \"x.npy\"; };"), "there is no buffer 'q'"},
    {REFERENCE(""), "exactly one of"},
    {9, "budget2 = { };", 0, "'reference' is missing"},
    {11, "budget = { time = \"8 hours\"; };", 11, "must be a time such as"},
    {11, "budget = { evaluations = -1; };", 11, "must be at least 0"},
    {MEASURE("cache = \"tepid\";"), "must be one of \"cold\", \"warm\""},
    {MEASURE("race = 0.5;"), "must be between"},
    {MEASURE("precision = 0.1;"), "setting 'precision' in 'measure' was removed: 1% is enough"},
    {MEASURE("min_samples = 50; max_samples = 10;"), "below 'min_samples'"},
    {12, "measure = { cache = \"cold\" ", 14, "syntax error"},
    {12, "strategy = \"defualt\";", 12, "unknown strategy 'defualt'; did you mean 'default'? (known: default, "},
    {12, "strategy = \"nonsense\";", 12, "unknown strategy 'nonsense' (known: default, "},
    {12, "options = \"initial=3\"; seed = 2;", 12,
     "setting 'options' in the job file was removed: a strategy has no options; choose another 'strategy'"},
    {12, "search = { seed = 2; };", 12, "setting 'search' in the job file was removed: 'strategy' belongs outside"},
    {COUNTERS("\"stals\""), "unknown metric set 'stals'; did you mean 'stalls'? (known: basic, stalls, "},
    {COUNTERS("\"dram_bytes\""), "'dram_bytes' is the key of a metric; ask for"},
    {COUNTERS("\"dram__bytes\""), "metric 'dram__bytes' needs a roll-up"},
    {COUNTERS("\"\""), "unknown metric set ''"},
    {1, "name = \"a b\";", 1, "name \"a b\" must be 1 to 100 letters, digits, '_' or '-'"},
    {PARAMETERS("{ name = \"BLOCK\"; range = [1, 65536]; }"), "'range' of 'BLOCK' has 65536 values; at most 65535"},
    {PARAMETERS("{ name = \"BLOCK\"; range = (-9223372036854775807, 9223372036854775807, 1); }"),
     "'range' of 'BLOCK' has 18446744073709551615 values"},
    // Values that libconfig would read as another number or text.
    {PROBLEMS("{ N = 99999999999999999999; }"), "99999999999999999999 does not fit into a 64-bit integer"},
    {PROBLEMS("{ N = 0x8000000000000000; }"), "0x8000000000000000 does not fit into a 64-bit integer"},
    {PROBLEMS("{ N = 99999999999999999999L; }"), "does not fit into a 64-bit integer"},
    {MEASURE("cache = \"c\xf6ld\";"), "a string is not UTF-8"},
    {12, "description = \"\xc3\x28\";", 12, "a string is not UTF-8"},
    {MEASURE("slow_factor = 1e999;"), "a number is too large"},
    {ARGUMENTS("{ scalar = \"a\"; type = \"f32\"; value = 1e999; }"), "a number is too large"},
    {ARGUMENTS("{ scalar = \"a\"; type = \"f32\"; value = 1e39; }"), "'a' is 1e+39, more than an f32 holds"},
    {ARGUMENTS("{ scalar = \"a\"; type = \"f16\"; value = 65536.0; }"), "'a' is 65536, more than an f16 holds"},
    {KERNEL("template = \"x.cu\"; entry = \"x\"; options = [\"-DA\\x00B\"];"),
     "a string cannot hold the character \\x00"},
    {PROBLEMS("{ N = 5; held = true; }"), "setting 'held' in a problem was removed: it is called 'holdout' now"},
    {PROBLEMS("{ N = 5; name = \"x\"; }"), "setting 'name' in a problem was removed: problems are named after their"},
    {PROBLEMS("{ N = 5; holdout = true; }"), "'holdout' needs 'objective'"},
    {PROBLEMS("{ N = 5; holdout = 3; }"), "'holdout' must be true or false"},
    {13, "verification = { problems = ( { M = 7; } ); };", 13, "the first problem has no size 'M'"},
    {13, "verification = { problems = ( { N = [1, 7]; } ); };", 13, "only 'problems' can have ranges"},
    // Values that do not fit into a configuration's text, a macro or a file name.
    {PARAMETERS("{ name = \"P\"; values = [\"1\", \"1,Q=1\"]; }, { name = \"Q\"; values = [\"1\", \"2\"]; }"),
     "parameter 'P' has the value '1,Q=1', which would look like another parameter"},
    {PARAMETERS("{ name = \"P\"; values = [\"1\", \"a\\nb\"]; }"), "a value of 'P' has a line break"},
    {PARAMETERS("{ name = \"P\"; values = [\"1\", \"/*\"]; }"), "a value of 'P' has a comment's beginning"},
    {PARAMETERS("{ name = \"P\"; values = [\"1\", \"x */\"]; }"), "a value of 'P' has a comment's beginning"},
    {PARAMETERS("{ name = \"P\"; values = [\"1\", \"a\\\\\"]; }"), "a value of 'P' ends in '\\'"},
    {KERNEL("template = \"x.cu\"; entry = \"x\"; defines = { D = \"1\\n\"; };"),
     "the value of macro 'D' has a line break"},
    {1, "name = \"-t\";", 1, "not begin with '-'"},
    // Constants, textures and surfaces. The other mistakes with these are in tests/job_mistakes.txt.
    {CONSTANTS("\"coef\""), "a constant must be a group { name = \"coef\";"},
    {CONSTANTS("{ type = \"f32\"; }"), "a constant lacks 'name'"},
    {CONSTANTS("{ name = \"coef\"; }"), "constant 'coef' needs 'type'"},
    {CONSTANTS("{ name = \"a:b\"; type = \"f32\"; }"), "'a:b' is not a variable's name"},
    {CONSTANTS("{ name = \"a::\"; type = \"f32\"; }"), "'a::' is not a variable's name"},
    {CONSTANTS("{ name = \"9a\"; type = \"f32\"; }"), "'9a' is not a variable's name"},
    {CONSTANTS("{ name = \"c\"; type = \"f32\"; }, { name = \"c\"; type = \"f32\"; }"), "buffer 'c' is declared twice"},
    {CONSTANT("\"i32\"; fill = \"BLOCK\";"), "the fill of buffer 'c' depends on 'BLOCK'"},
    {CONSTANT("\"f16\"; fill = 1e6;"), "'c' is 1e+06, more than an f16 holds"},
    {CONSTANT("\"i32\"; fill = 0.5;"), "'c' is of type i32, but its value is not an integer"},
    {CONSTANT("\"i64\"; fill = 9007199254740993;"), "the fill 9007199254740993 of 'c' cannot be represented exactly"},
    {CONSTANT("\"f32\"; ld = 5;"), "unknown setting 'ld' in a constant"},
    {CONSTANT("\"f32\"; shape = [ \"Q\" ];"), "unknown name 'Q'"},
    {CONSTANT("\"i32\"; direction = \"out\"; compare = [0, 1];"),
     "first index and count, for each of its 0 dimensions"},
    {12, "cmem_args = ( );", 12, "it is 'constants' here"},
    {12, "texmem_args = ( );", 12, "a texture is an argument here"},
    {ARGUMENTS("{ buffer = \"x\"; texture = { }; }"), "buffer 'x' needs 'type' and 'shape' where it is first named"},
    {ARGUMENTS("{ buffer = \"x\"; type = \"f32\"; shape = [8]; }, { buffer = \"x\"; texture = { }; }"),
     "buffer 'x' is not a texture: add 'texture = { ... };' where it is first named"},
    {ARGUMENTS("{ texture = \"x\"; surface = \"x\"; }"), "an argument must be"},
    {ARGUMENTS("{ buffer = \"x\"; type = \"f32\"; shape = [8]; texture = { }; surface = { }; }"),
     "an argument has only one of 'tma', 'texture' and 'surface'"},
    {TEXTURE("shape = [8, 8, 8, 8]; texture = {"),
     "'shape' of texture 'x' has 4 dimensions; one to three are possible"},
    {TEXTURE("shape = [8]; texture = { address = [\"clamp\"];"), "'texture.address' must be one of"},
    {TEXTURE("shape = [8]; texture = { memory = \"pitch\";"),
     "texture.memory \"pitch\" is for two dimensions, but 'x' has 1"},
    {TEXTURE("shape = [8]; direction = \"out\"; texture = {"),
     "'x' is an output, but kernels see it as a texture, which cannot be written"},
    {TEXTURE("shape = [8]; direction = \"out\"; texture = { memory = \"linear\";"),
     "texture 'x' is only read, but it is an output"},
    {ARGUMENTS("{ buffer = \"x\"; type = \"f32\"; shape = [8]; texture = { }; }, { buffer = \"x\"; texture = { filter "
               "= \"linear\"; }; }"),
     "how texture 'x' is read must be set where the buffer is first named"},
    {ARGUMENTS(
         "{ buffer = \"x\"; type = \"f32\"; shape = [8]; direction = \"out\"; surface = { filter = \"point\"; }; }"),
     "unknown setting 'filter' in 'surface'"},
    {ARGUMENTS("{ buffer = \"x\"; type = \"f32\"; shape = [8]; direction = \"out\"; surface = { channels = 5; }; }"),
     "'surface.channels' is 5, but must be between 1 and 4"},
};

TEST(every_mistake_is_reported_with_its_line)
{
    for (size_t i = 0; i < sizeof mistakes_table / sizeof *mistakes_table; i++) {
        sound_write(mistakes_table[i].line, mistakes_table[i].text);
        if (!reports(sound_path, mistakes_table[i].at, mistakes_table[i].expected))
            fail_msg("'%s' at line %d is not reported for: %s", mistakes_table[i].expected, mistakes_table[i].at,
                     mistakes_table[i].text);
    }
}

// `before`, then `count` times `each`, then `after`; %d in `each` is the number.
static char *repeated(const char *before, int count, const char *each, const char *after)
{
    struct text all = {0};
    const char *at = strstr(each, "%d"), *rest = at ? at + 2 : each;
    text_add(&all, "%s", before);
    for (int i = 0; i < count; i++) {
        text_add(&all, "%s", i ? ", " : "");
        if (at) text_add(&all, "%.*s%d", (int)(at - each), each, i);
        text_add(&all, "%s", rest);
    }
    text_add(&all, "%s", after);
    return all.text;
}

// Limits on the size of a job: the maximum is accepted. One more is refused, and its line is named.
TEST(what_there_is_too_much_of_is_refused_by_name)
{
    static const char argument[] = "{ buffer = \"b%d\"; type = \"f32\"; shape = [1]; direction = \"out\"; }";
    static const struct {
        int line;
        const char *before, *each, *after;
        int most; // 0: no limit
        const char *expected;
    } cases[] = {
        {6, "problems = ( ", "{ N = 1%d; }", " );", 64 - 1, "more than 64 problems"}, // and one for verification
        {8, "arguments = ( ", argument, " );", 32, "buffer 'b32' is one too many: at most 32 are possible"},
        {8, "arguments = ( { buffer = \"r\"; type = \"f32\"; shape = [1]; direction = \"out\"; }, ",
         "{ scalar = \"s%d\"; type = \"i32\"; value = 1; }", " );", 64 - 1, "more than 64 arguments"},
        {8, "arguments = ( { buffer = \"r\"; type = \"f32\"; shape = [64]; direction = \"out\"; }, ",
         "{ buffer = \"r\"; tma = { box = [4]; }; }", " );", 8, "more than 8 tensor maps"},
        {3, "parameters = ( ", "{ name = \"P%d\"; values = [1, 2]; }", " );", 64, "more than 64 parameters"},
        {2, "kernel = { template = \"x.cu\"; entry = \"x\"; options = [ ", "\"-DOPTION%d\"", " ]; };", 0, NULL},
        {2, "kernel = { template = \"x.cu\"; entry = \"x\"; include = [ ", "\"folder%d\"", " ]; };", 0, NULL},
        {12, "metrics = [ ", "\"sm__m%d.sum\"", " ];", 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int more = 0; more < 2; more++) {
            int count = cases[i].most ? cases[i].most + more : 3000 + more, line = cases[i].line;
            autofree char *text = repeated(cases[i].before, count, cases[i].each, cases[i].after);
            struct job *job;
            struct mistakes m = {0};
            sound_write(line, text);
            bool refused = job_load(sound_path, &job, &m) != 0, expected = cases[i].most && more, found = false,
                 limit = false;
            for (size_t k = 0; k < m.count; k++) {
                bool is_it = cases[i].expected && strstr(m.list[k].text, cases[i].expected);
                found |= is_it && expected && m.list[k].line == (line == 6 ? 13 : line);
                limit |= is_it;
            }
            if (found != expected || limit != expected || (!cases[i].most && refused))
                fail_msg("%d of: %s: %s", count, cases[i].each, m.count ? m.list[0].text : "no mistake");
            if (!refused && !cases[i].most)
                assert_int_equal(job->code.option_count + job->code.include_count + job->search.metric_count, count);
            if (!refused) job_free(job);
            mistakes_release(&m);
        }
}

TEST(names_that_are_too_long_are_refused)
{
    char name[3001];
    for (int length = 63; length <= 64; length++) {
        struct job *job;
        struct mistakes m = {0};
        memset(name, 'b', sizeof name);
        name[length] = 0;
        char *text = test_text("arguments = ( { buffer = \"x\"; type = \"f32\"; shape = [1]; }, { buffer = \"%s\"; "
                               "type = \"f32\"; shape = [1]; direction = \"out\"; } );",
                               name);
        sound_write(8, text);
        job_load(sound_path, &job, &m);
        bool refused = false;
        for (size_t k = 0; k < m.count; k++)
            refused |= m.list[k].line == 8 && strstr(m.list[k].text, "a buffer's name has 1 to 63 characters, not 64");
        assert_int_equal(refused, length == 64);
        job_free(job);
        mistakes_release(&m);
    }
    // Stores identify a configuration by its text, however long the text is.
    struct error err = {""};
    memset(name, 'v', sizeof name);
    name[sizeof name - 1] = 0;
    char *text = test_text("parameters = ( { name = \"BLOCK\"; values = [32, 64]; }, { name = \"KIND\"; values = "
                           "[\"a\", \"%s\"]; }, { name = \"U\"; unroll = [0, 1, 4]; } );",
                           name);
    sound_write(3, text);
    struct job *job = sound_build();
    uint16_t config[SPACE_MAX_PARAMETERS] = {1, 1, 2}, back[SPACE_MAX_PARAMETERS];
    char *whole = test_owned(space_text(job->space, config));
    assert_int_equal(strlen(whole), strlen("BLOCK=64,KIND=,U=4") + strlen(name));
    assert_int_equal(space_parse(job->space, whole, back, &err), 0);
    assert_memory_equal(config, back, 3 * sizeof *config);
}

TEST(text_from_outside_that_is_not_utf_8_is_refused)
{
    static const char *const commands[][2] = {
        {"cp tests/golden/job.cfg \"$(printf '%s/\\366.txt' $FOLDER)\" && $BIN/sweetspot check $FOLDER/*.txt",
         "sweetspot: argument 2 is not UTF-8: '"},
        {"$BIN/sweetspot check tests/golden/job.cfg --arch \"$(printf 'caf\\351')\"",
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
        struct e2e_result r = e2e_run(folder, "FOLDER=$DIR; %s", commands[i][0]);
        if (r.status != 2) fail_msg("%s: status %d", commands[i][0], r.status);
        assert_contains(r.err, commands[i][1]);
    }
}

// A job without a name is named after its file.
TEST(a_file_whose_name_is_none_of_a_job_needs_a_name)
{
    char longest[JOB_MAX_NAME + 2];
    memset(longest, 'a', JOB_MAX_NAME + 1);
    longest[JOB_MAX_NAME + 1] = 0;
    const char *const names[] = {"-dash", "a b", "line\nbreak", "a;b", "\xc3\xbc", ".", "a.b", longest};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *to = test_text("%s/%s.cfg", folder, names[i]);
        sound_write(1, "");
        assert_int_equal(rename(sound_path, to), 0);
        assert_int_equal(reports(to, 0, "there is no 'name', and the file's name, "), 1);
    }
}

// libconfig compares every name with all others in its group; 60,000 names took half a minute.
TEST(a_group_of_many_settings_is_refused)
{
    autofree char *all = memory_new(1, 60001 * 16);
    for (int deep = 0; deep < 2; deep++) {
        char *at = all;
        for (int i = 0; i < 60000; i++) at += sprintf(at, deep ? "a={" : "s%d = 1;\n", i);
        sound_write(13, all);
        assert_int_equal(reports(sound_path, deep ? 13 : 13 + 988,
                                 deep ? "more than 64 nested groups" : "a group has more than 1000 settings"),
                         1);
    }
}

TEST(an_integer_that_libconfig_would_lose_is_refused_in_the_included_file)
{
    static const struct {
        const char *number, *expected; // NULL: valid
    } cases[] = {{"3000000000", NULL},
                 {"0xFFFFFFFF", NULL},
                 {"99999999999999999999", "/deep.inc:2: 99999999999999999999 does not fit into"},
                 {"3000000000L", NULL},
                 {"2147483647", NULL}};
    sound_write(6, "@include \"common.inc\"");
    e2e_write(folder, "common.inc", "// 99999999999999999999\n  @include \"deep.inc\"\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        e2e_write(folder, "deep.inc", test_text("\nproblems = ( { N = 1; }, { N = %s; } );\n", cases[i].number));
        sound_run("header --hash", cases[i].expected);
    }
}

TEST(a_file_with_a_nul_byte_is_refused)
{
    sound_write(0, NULL);
    FILE *file = fopen(sound_path, "a");
    assert_non_null(file);
    fwrite("\0x = 1;\n", 1, 8, file);
    fclose(file);
    assert_true(reports(sound_path, SOUND_LINES + 1, "the file has a NUL byte"));
}

TEST(several_mistakes_are_all_reported_in_order_and_the_exit_status_is_2)
{
    e2e_write(folder, "job.cfg",
              "kernel = { template = \"no.cu\"; };\nparameters = ( { name = \"A\"; values = [1]; } );\nconstraints = ( "
              "\"B\" );\nproblems = ( { N = 1; } );\nlaunch = { };\n");
    struct e2e_result r = e2e_ended(2, e2e_run(folder, "$BIN/sweetspot check %s --compile 0", sound_path));
    static const char *const expected[] = {"job.cfg:1: cannot read template", "job.cfg:1: 'entry'",
                                           "job.cfg:3: unknown name 'B'", "job.cfg:5: 'launch' lacks 'grid'"};
    const char *at = r.err;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        at = strstr(at, expected[i]);
        if (!at) fail_msg("'%s' is missing or out of order in:\n%s", expected[i], r.err);
    }
}

// For a matrix product, shapes that are not a matrix or that do not fit into memory are refused before anything is
// launched.
TEST(shapes_that_cannot_be_are_refused)
{
    static const struct {
        const char *problem, *ld, *expected;
    } cases[] = {
        {"M = 0; N = 5; K = 3;", "K", "buffer 'A' of problem M=0,N=5,K=3: 0 rows of 3 elements"},
        {"M = 4; N = 5; K = 0;", "K", "4 rows of 0 elements"},
        {"M = 4; N = 5; K = -1;", "K", "4 rows of -1 elements"},
        {"M = 4; N = 5; K = 3;", "K - 1", "4 rows of 3 elements, 2 apart"},
        {"M = 3000000000; N = 5; K = 4000000000;", "K", "more bytes than an address can reach"},
        {"M = 4000000000; N = 1; K = 1;", "K", "argument 'M': 4000000000 does not fit into type i32"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autofree char *text =
            text_format("kernel = { template = \"x.cu\"; entry = \"x\"; };\nparameters = ( { name = \"BLOCK\"; values "
                        "= [32]; } );\nproblems = ( { %s } );\n"
                        "launch = { grid = [1]; block = [32]; };\narguments = ( { scalar = \"M\"; type = \"i32\"; },\n"
                        "  { buffer = \"A\"; type = \"f32\"; shape = [ \"M\", \"K\" ]; ld = \"%s\"; }, { buffer = "
                        "\"B\"; type = \"f32\"; shape = [ \"K\", \"N\" ]; },\n"
                        "  { buffer = \"C\"; type = \"f32\"; shape = [ \"M\", \"N\" ]; direction = \"out\"; } "
                        ");\nreference = { operation = \"gemm\"; };\n",
                        cases[i].problem, cases[i].ld);
        e2e_write(folder, "job.cfg", text);
        sound_run("check --compile 0", cases[i].expected);
    }
}

TEST(mistakes_in_an_included_file_are_shown_there)
{
    static const struct {
        const char *constraint, *expected;
    } cases[] = {
        {"\nconstraints = ( \"BLOC <= 32\" );\n", "/common.inc:2: unknown name 'BLOC'"},
        {"\nconstraints = ( \"BLOCK > 64\" );\n", "/common.inc:2: "}, // excludes all configurations
        {"\nconstraints = ;\n", "/common.inc:2: syntax error"},
    };
    sound_write(5, "@include \"common.inc\"");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        e2e_write(folder, "common.inc", cases[i].constraint);
        sound_run("check --compile 0", cases[i].expected);
    }
}

TEST(what_only_the_built_space_shows_is_reported_with_its_line)
{
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
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sound_write(cases[i].line, cases[i].text);
        sound_run("check --compile 0", cases[i].expected);
    }
}

TEST_MAIN(sound_setup, sound_teardown)
