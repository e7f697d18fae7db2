// A job's data: structs and vectors by value, fills with relations, restored inputs, and outputs that are compared in
// part. Tests the requests to the GPU worker, and the mistakes that are refused. Mistakes within a single setting are
// in tests/job_mistakes.txt.
#include "tests/e2e.h"
#include "tests/loaded_job.h"

#include "tuner/base/memory.h"
#include "tuner/job/job.h"
#include "tuner/setup/request.h"

static struct error err; // of the last call that failed

static char *folder;

static void setup(void)
{
    folder = e2e_folder("job_data");
    e2e_write(folder, "x.cu", "extern \"C\" __global__ void x() {}\n");
}

static void teardown(void)
{
}

// Loads a job with these arguments and an output y, and builds its space. Returns NULL with the first mistake or with
// the error.
static struct job *job_with(const char *arguments, char **mistake)
{
    char *path = test_text("%s/job.cfg", folder);
    char *text =
        test_text("name = \"t\"; kernel = { template = \"x.cu\"; entry = \"x\"; };\n"
                  "parameters = ( { name = \"BLOCK\"; values = [64, 128]; } );\nproblems = ( { N = 1000; M = 8; } );\n"
                  "launch = { grid = [ \"ceil_div(N, BLOCK)\" ]; block = [ \"BLOCK\" ]; };\narguments = (\n  %s,\n"
                  "  { buffer = \"y\"; type = \"f32\"; shape = [\"M\", \"N\"]; direction = \"out\"; } );\n"
                  "reference = { kernel = \"x\"; launch = { grid = [ 1 ]; block = [ 64 ]; }; };\n",
                  arguments);
    struct mistakes mistakes = {0};
    struct job *job = NULL;
    e2e_write(folder, "job.cfg", text);
    *mistake = NULL;
    if (job_load(path, &job, &mistakes)) {
        *mistake = text_format("%d: %s", mistakes.list[0].line, mistakes.list[0].text);
    } else if (job_build_space(job, &device_limits_h200, &err)) {
        *mistake = text_copy(err.message);
        job_free(job);
        job = NULL;
    }
    mistakes_release(&mistakes);
    return job;
}

static struct job *sound_job(const char *arguments)
{
    char *mistake;
    struct job *job = job_with(arguments, &mistake);
    if (!job) fail_msg("%s: %s", arguments, mistake);
    return test_job(job);
}

// The request's part for problem 0, a new reference. NULL with a message on failure.
static json_t *problem_of(const struct job *job)
{
    json_t *request = test_json(request_job(job, 0, NULL, 1, &err));
    return json_incref(json_array_get(json_object_get(request, "problems"), 0));
}

TEST(fills_and_parts_are_asked_for_in_numbers)
{
    static const struct {
        const char *argument, *buffer; // in the request, without its name
    } cases[] = {
        {"{ buffer = \"a\"; type = \"i32\"; shape = [\"N\"]; fill = { kind = \"integer\"; low = \"-M\"; high = \"N - "
         "1\"; }; }",
         "{\"type\":\"i32\",\"rows\":1,\"cols\":1000,\"ld\":1000,\"direction\":\"in\",\"fill\":{\"kind\":\"integer\","
         "\"low\":-8.0,\"high\":999.0}}"},
        {"{ buffer = \"a\"; type = \"i32\"; shape = [\"M + 1\"]; fill = { kind = \"offsets\"; high = \"N * M\"; }; }",
         "{\"type\":\"i32\",\"rows\":1,\"cols\":9,\"ld\":9,\"direction\":\"in\",\"fill\":{\"kind\":\"offsets\","
         "\"total\":8000.0}}"},
        {"{ buffer = \"a\"; type = \"i32\"; shape = [\"N\"]; fill = \"permutation\"; direction = \"restored\"; }",
         "{\"type\":\"i32\",\"rows\":1,\"cols\":1000,\"ld\":1000,\"direction\":\"in\",\"fill\":{\"kind\":"
         "\"permutation\"},\"restore\":true}"},
        {"{ buffer = \"a\"; type = \"e4m3\"; shape = [\"N\"]; fill = { kind = \"sorted\"; low = 0; high = 4; }; }",
         "{\"type\":\"e4m3\",\"rows\":1,\"cols\":1000,\"ld\":1000,\"direction\":\"in\",\"fill\":{\"kind\":"
         "\"sorted\",\"low\":0.0,\"high\":4.0}}"},
        {"{ buffer = \"a\"; type = \"f32\"; shape = (2, \"M\", \"N\"); direction = \"out\"; compare = (0, 2, 1, "
         "\"M - 2\", \"M\", 10); }",
         "{\"type\":\"f32\",\"rows\":16,\"cols\":1000,\"ld\":1000,\"direction\":\"out\",\"fill\":{\"kind\":\"uniform\","
         "\"low\":-1.0,\"high\":1.0},\"compare\":{\"sizes\":[2,8,1000],\"first\":[0,1,8],\"count\":[2,6,10]}}"},
        {"{ buffer = \"a\"; type = \"f16\"; shape = [\"M\", \"N\"]; direction = \"out\"; surface = { channels = 4; }; "
         "compare = [1, 3, 2, 5]; }",
         "{\"type\":\"f16\",\"rows\":8,\"cols\":4000,\"ld\":4000,\"direction\":\"out\",\"fill\":{\"kind\":\"uniform\","
         "\"low\":-1.0,\"high\":1.0},\"compare\":{\"sizes\":[8,1000,4],\"first\":[1,2,0],\"count\":[3,5,4]},"
         "\"image\":{\"memory\":\"array\",\"size\":[1000,8],\"channels\":4,\"surface\":true,\"filter\":\"point\","
         "\"address\":[\"clamp\",\"clamp\"],\"normalized\":false,\"read\":\"element\"}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job *job = sound_job(cases[i].argument);
        json_t *problem = problem_of(job), *expected = test_json(json_parse(cases[i].buffer, &err));
        json_t *buffer = json_array_get(json_object_get(problem, "buffers"), 0);
        json_object_del(buffer, "name");
        if (!expected || !json_equal(buffer, expected))
            fail_msg("case %zu: %s %s", i, json_dumps(buffer, JSON_COMPACT), err.message);
        json_decref(problem);
    }
}

TEST(what_does_not_fit_a_problem_is_refused_before_it_runs)
{
    static const struct {
        const char *arguments, *said;
    } cases[] = {
        {"{ buffer = \"a\"; type = \"u8\"; shape = [\"N\"]; fill = \"permutation\"; }", "u8 holds them only up to 255"},
        {"{ buffer = \"a\"; type = \"u8\"; shape = [\"N\"]; fill = { kind = \"integer\"; high = \"N - 1\"; }; }",
         "fill of buffer 'a': 0 to 999 is more than the type u8 holds"},
        {"{ buffer = \"a\"; type = \"i32\"; shape = [\"N\"]; fill = { kind = \"integer\"; low = \"N\"; high = \"M\"; "
         "}; }",
         "fill of buffer 'a': 'low' is 1000 and 'high' 8"},
        {"{ buffer = \"a\"; type = \"i8\"; shape = [\"N\"]; fill = { kind = \"offsets\"; high = \"N\"; }; }",
         "fill \"offsets\" cannot end in 1000: i8 holds 0 to 127"},
        {"{ buffer = \"a\"; type = \"f32\"; shape = [\"M\"]; direction = \"out\"; compare = (8, \"M - 8\"); }",
         "'compare' of buffer 'a' leaves nothing: 0 of the 8 elements in dimension 1"},
        {"{ buffer = \"a\"; type = \"f32\"; shape = [\"N\", \"M\"]; direction = \"out\"; compare = (0, \"N\", 0, "
         "\"M - 8\"); }",
         "'compare' of buffer 'a' leaves nothing: 0 of the 8 elements in dimension 2"},
        {"{ buffer = \"a\"; type = \"f32\"; shape = [\"M\"]; direction = \"out\"; compare = [2, 7]; }",
         "'compare' of buffer 'a' is not within it: 7 from 2 on in dimension 1, which has 8"},
        {"{ buffer = \"a\"; type = \"f32\"; shape = [\"M\"]; direction = \"out\"; compare = [-1, 2]; }",
         "'compare' of buffer 'a' is not within it: 2 from -1 on"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *mistake;
        struct job *job = job_with(cases[i].arguments, &mistake);
        json_t *problem = job ? problem_of(job) : NULL;
        const char *said = job ? err.message : mistake;
        if (problem || !strstr(said, cases[i].said)) fail_msg("case %zu: '%s'", i, said);
        if (job && !strstr(said, "job.cfg:3")) fail_msg("case %zu: no line: '%s'", i, said);
        free(mistake);
        job_free(job);
    }
}

TEST(mistakes_that_involve_two_buffers_have_their_line)
{
    static const struct {
        const char *arguments, *said;
    } cases[] = {
        {"{ buffer = \"a\"; type = \"f32\"; shape = (1, 1, 1, 1, 1, \"N\"); direction = \"out\"; compare = [1]; }",
         "6: 'compare' is possible for at most 5 dimensions"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *mistake;
        struct job *job = job_with(cases[i].arguments, &mistake);
        if (job || !strstr(mistake, cases[i].said)) fail_msg("case %zu: '%s'", i, job ? "sound" : mistake);
        free(mistake);
    }
}

// Corresponds to the job's description below.
struct inner {
    int8_t flag;
    double weight;
};
struct params {
    int8_t small;
    int32_t width;
    float scale[3];
    int64_t many;
    struct inner inner[2];
    int16_t last;
    uint8_t fp8;
};

TEST(structs_are_laid_out_as_in_c)
{
    struct job *job = sound_job(
        "{ scalar = \"p\"; members = ( { scalar = \"small\"; type = \"i8\"; value = -1; }, { scalar = \"width\"; type "
        "= "
        "\"i32\"; value = \"N + M\"; },\n { scalar = \"scale\"; type = \"f32\"; shape = [3]; value = (0.5, 2, \"M\"); "
        "}, { "
        "scalar = \"many\"; type = \"i64\"; value = \"N << 40\"; },\n { scalar = \"inner\"; shape = [2]; members = ( { "
        "scalar "
        "= \"flag\"; type = \"i8\"; value = 1; }, { scalar = \"weight\"; type = \"f64\"; value = 0.1; } ); },\n { "
        "scalar = "
        "\"last\"; type = \"i16\"; value = \"BLOCK\"; }, { scalar = \"fp8\"; type = \"e4m3\"; value = 1.0; } ); },\n"
        "{ scalar = \"v\"; type = \"float3\"; value = 2.5; }, { scalar = \"q\"; type = \"int4\"; value = (1, \"M\", 3, "
        "\"N\"); },\n"
        "{ scalar = \"gap\"; members = ( { scalar = \"a\"; type = \"i8\"; value = 1; }, { scalar = \"gap\"; type = "
        "\"u8\"; "
        "shape = [7]; value = 0; }, { scalar = \"M\"; type = \"i16\"; }, { scalar = \"end\"; type = \"u8\"; shape = "
        "[6]; value "
        "= 0; } ); }");
    const struct argument *a = job->stages[0].arguments;
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    unsigned char bytes[ARGUMENT_BYTES_MAX];
    struct params expected;
    assert_int_equal(job_problem_values(job, NULL, 0, values, &err), 0);
    memset(&expected, 0, sizeof expected);
    expected.small = -1;
    expected.width = 1008;
    expected.scale[0] = 0.5f;
    expected.scale[1] = 2;
    expected.scale[2] = 8;
    expected.many = 1000ll << 40;
    for (int i = 0; i < 2; i++) {
        expected.inner[i].flag = 1;
        expected.inner[i].weight = 0.1;
    }
    expected.last = 64;
    expected.fp8 = 0x38;
    assert_int_equal(a[0].bytes, sizeof expected);
    assert_int_equal(a[0].alignment, _Alignof(struct params));
    assert_int_equal(job_argument_bytes(&a[0], values, bytes, &err), 0);
    assert_memory_equal(bytes, &expected, sizeof expected);
    autofree char *layout = job_argument_layout(&a[0]);
    assert_string_equal(
        layout, "small at 0, width at 4, scale[0] at 8, scale[1] at 12, scale[2] at 16, many at 24, inner[0].flag at "
                "32, inner[0].weight at 40, inner[1].flag at 48, inner[1].weight at 56, last at 64, fp8 at 66");
    const float three[] = {2.5f, 2.5f, 2.5f};
    const int32_t four[] = {1, 8, 3, 1000};
    assert_true(a[1].bytes == sizeof three && a[1].alignment == 4 && a[2].bytes == sizeof four && a[2].alignment == 16);
    assert_int_equal(job_argument_bytes(&a[1], values, bytes, &err), 0);
    assert_memory_equal(bytes, three, sizeof three);
    assert_int_equal(job_argument_bytes(&a[2], values, bytes, &err), 0);
    assert_memory_equal(bytes, four, sizeof four);
    static const unsigned char gap[16] = {1, 0, 0, 0, 0, 0, 0, 0, 8};
    assert_true(a[3].bytes == 16 && a[3].alignment == 2);
    assert_int_equal(job_argument_bytes(&a[3], values, bytes, &err), 0);
    assert_memory_equal(bytes, gap, sizeof gap);

    size_t count;
    json_t *problems = test_json(request_problems(job, (uint16_t[]){0}, NULL, true, NULL, &count, &err));
    json_t *stage = json_array_get(json_object_get(json_array_get(problems, 0), "stages"), 0);
    assert_string_equal(json_get_string(json_array_get(json_object_get(stage, "args"), 3), "bytes", ""),
                        "01000000000000000800000000000000");
}

TEST(members_that_cannot_be_are_refused_by_name)
{
    static const struct {
        const char *members, *said;
    } cases[] = {
        {"{ scalar = \"a\"; type = \"f64\"; value = 1; }, { scalar = \"b\"; type = \"i32\"; value = 1; offset = 4; }",
         "setting 'offset' in a member was removed: members of type \"u8\""},
        {"{ scalar = \"a\"; type = \"f64\"; value = 1; }, { scalar = \"a\"; type = \"i32\"; value = 1; }",
         "there are two members 'p.a'"},
        {"{ scalar = \"a\"; type = \"float5\"; value = 1; }", "'type' must be one of \"f32\""},
        {"{ scalar = \"a\"; type = \"i32\"; }", "member 'a' needs 'value': unknown name 'a'"},
        {"{ scalar = \"a\"; type = \"i32\"; value = (1); }", "'p.a' is one number, so its 'value' cannot be a list"},
        {"{ scalar = \"a\"; type = \"float4\"; }", "'p.a' needs 'value' with its 4 numbers"},
        {"{ scalar = \"a\"; type = \"float2\"; shape = [2]; value = (1, 2, 3); }",
         "'value' of 'p.a' has 3 numbers, but there are 4"},
        {"{ scalar = \"a\"; type = \"i32\"; buffer = \"y\"; }", "unknown setting 'buffer' in a member"},
        {"{ scalar = \"a\"; members = ( { scalar = \"b\"; type = \"e4m3\"; value = 449.0; } ); }",
         "member 'p.a.b' is 449, more than an e4m3 holds"},
        {"{ scalar = \"a\"; type = \"i32\"; value = 1; members = ( { scalar = \"b\"; type = \"i32\"; value = 1; } ); }",
         "'p.a' has members, so it has no 'type' of its own"},
        {"5", "a member must be { scalar = \"width\"; type = \"i32\"; }"},
        {"{ scalar = \"a\"; type = \"f64\"; shape = [256]; value = 1; }, { scalar = \"b\"; type = \"f64\"; shape = "
         "[256]; "
         "value = 1; }",
         "'p' has more than 256 members"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *arguments = test_text("{ scalar = \"p\"; members = ( %s ); }", cases[i].members), *mistake;
        struct job *job = job_with(arguments, &mistake);
        if (job || !strstr(mistake, cases[i].said)) fail_msg("case %zu: '%s'", i, job ? "sound" : mistake);
        free(mistake);
    }
    // Known only with the sizes.
    struct job *job = sound_job("{ scalar = \"p\"; members = ( { scalar = \"a\"; type = \"i8\"; value = \"N\"; } ); }");
    assert_null(request_problems(job, (uint16_t[]){0}, NULL, true, NULL, &(size_t){0}, &err));
    assert_contains(err.message, "argument 'p': member 'p.a': 1000 is more than an i8 holds");
}

#define ZEROS "0000000000000000"
#define A "{ buffer = \"a\"; type = \"f32\"; shape = [\"M\"]; }"
#define MEMBER(type, value) \
    "{ scalar = \"s\"; members = ( { name = \"m\"; type = \"" type "\"; value = \"" value "\"; } ); }"

// Addresses in a struct and in buffers, as the request describes them.
TEST(addresses_are_asked_for_as_places_in_buffers)
{
    struct job *job = sound_job(
        "{ buffer = \"a\"; type = \"f32\"; shape = [\"M\", \"N\"]; ld = 1024; }, { buffer = \"v\"; type = \"f16\"; "
        "shape = "
        "[\"N\"]; direction = \"scratch\"; },\n"
        "{ scalar = \"p\"; members = ( { name = \"n\"; type = \"i32\"; value = \"N\"; }, { name = \"a\"; type = "
        "\"u64\"; "
        "value = \"&a\"; }, { name = \"v\"; type = \"u64\"; count = 3; value = (\"&v[BLOCK]\", 0, \"&v\"); } ); },\n"
        "{ buffer = \"rows\"; type = \"u64\"; shape = [\"M\"]; fill = \"&a\"; },\n"
        "{ buffer = \"both\"; type = \"u64\"; shape = [2, 3]; fill = (\"&a[N - 1]\", 0, \"&v[2]\", \"&v\", 0, 0); },\n"
        "{ buffer = \"halves\"; type = \"u64\"; shape = [4]; fill = [\"&v\", \"&a\"]; }");
    static const char *const expected[] = {
        "[{\"to\":\"a\",\"step\":4096,\"count\":8}]",
        ("[{\"to\":\"a\",\"at\":3996},{\"place\":8},{\"to\":\"v\",\"place\":16,\"at\":4},{\"to\":\"v\",\"place\":24},"
         "{\"place\":32},{\"place\":40}]"),
        "[{\"to\":\"v\",\"step\":1000,\"count\":2},{\"to\":\"a\",\"place\":16,\"step\":16384,\"count\":2}]"};
    json_t *problem = test_json(problem_of(job));
    if (!problem) fail_msg("%s", err.message);
    for (size_t i = 0; i < 3; i++) {
        json_t *held = json_object_get(json_array_get(json_object_get(problem, "buffers"), 2 + i), "addresses");
        if (!json_equal(held, test_json(json_parse(expected[i], &err))))
            fail_msg("%zu: %s", i, json_dumps(held, JSON_COMPACT));
    }
    json_t *problems = test_json(request_problems(job, (uint16_t[]){0}, NULL, true, NULL, &(size_t){0}, &err));
    json_t *stage = json_array_get(json_object_get(json_array_get(problems, 0), "stages"), 0),
           *argument = json_array_get(json_object_get(stage, "args"), 2),
           *held = test_json(json_parse("[{\"to\":\"a\",\"place\":8},{\"to\":\"v\",\"place\":16,\"at\":128},"
                                        "{\"to\":\"v\",\"place\":32}]",
                                        &err));
    if (!json_equal(json_object_get(argument, "addresses"), held)) fail_msg("%s", json_dumps(argument, JSON_COMPACT));
    assert_string_equal(json_get_string(argument, "bytes", ""), "e803000000000000" ZEROS ZEROS ZEROS ZEROS);
}

TEST(addresses_that_lead_nowhere_are_refused)
{
    static const struct {
        const char *arguments, *said;
    } cases[] = {
        {MEMBER("u64", "&none"), "no buffer 'none' is declared before this; 'buffers' can declare it"},
        {MEMBER("u64", "&y"), "no buffer 'y' is declared before this"}, // it comes later
        {"{ buffer = \"t\"; type = \"f32\"; shape = [8]; texture = { }; }, " MEMBER("u64", "&t"),
         "'t' is a texture or surface"},
        {A ", " MEMBER("i64", "&a"), "an address has the type u64, not i64"},
        {A ", " MEMBER("u64", "&a[M"), "'&a[M' must be \"&BUFFER\" or \"&BUFFER[expression]\""},
        {A ", " MEMBER("u64", "&a[]"), "'&a[]' must be"},
        {A ", " MEMBER("u64", "&a[K]"), "unknown name 'K'"},
        {A ", { scalar = \"p\"; type = \"u64\"; value = \"&a\"; }", "to pass 'a' itself write { buffer = \"a\"; }"},
        {"{ buffer = \"p\"; type = \"u64\"; shape = [1]; fill = \"&p\"; }", "'p' cannot hold its own address"},
        {A ", { buffer = \"p\"; type = \"u64\"; shape = [1]; fill = [\"a\"]; }", "a list as 'fill' has addresses"},
        {A ", { buffer = \"p\"; type = \"u64\"; shape = [1]; fill = []; }", "'fill' is an empty list"},
        {A ", { buffer = \"p\"; type = \"u64\"; shape = [1]; fill = \"addresses\"; }", "written as the addresses them"},
        {A ", { buffer = \"p\"; type = \"u64\"; shape = [1]; fill = \"&a[BLOCK]\"; }",
         "depends on 'BLOCK', which differs"},
        {A ", { buffer = \"p\"; type = \"u64\"; shape = [1]; fill = \"&a\"; direction = \"inout\"; }",
         "buffer 'p' holds addresses, so it has the direction"},
        {A ", { buffer = \"p\"; type = \"u64\"; shape = [1]; fill = \"&a\"; restore = true; }",
         "so it has the direction"},
        // Known only with the sizes.
        {A ", { buffer = \"p\"; type = \"u64\"; shape = [3]; fill = \"&a\"; }",
         "fill of buffer 'p': '&a' stands for 3 addresses, but its 8 elements cannot be divided into as many pieces"},
        {A ", { buffer = \"p\"; type = \"u64\"; shape = [4]; fill = \"&a[1]\"; }", "4 addresses share one '&a[..]'"},
        {A ", { buffer = \"p\"; type = \"u64\"; shape = [3]; fill = (\"&a\", 0); }",
         "3 elements cannot have 2 addresses"},
        {A ", { buffer = \"p\"; type = \"u64\"; shape = [1]; fill = \"&a[M]\"; }",
         "element 8 is not within buffer 'a'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *mistake;
        struct job *job = job_with(cases[i].arguments, &mistake);
        json_t *request = job ? request_job(job, 0, NULL, 1, &err) : NULL;
        if (request) fail_msg("case %zu is sound", i);
        if (job) mistake = text_copy(err.message);
        if (!strstr(mistake, cases[i].said)) fail_msg("case %zu: '%s'", i, mistake);
        free(mistake);
        job_free(job);
    }
    struct job *job = sound_job(A ", " MEMBER("u64", "&a[-1]"));
    assert_null(request_problems(job, (uint16_t[]){0}, NULL, true, NULL, &(size_t){0}, &err));
    assert_contains(err.message, "argument 's': member 's.m': element -1 is not within buffer 'a', which has 8");
}

// The reference's "hash" in the request.
static char *hash_of_reference(const struct job *job)
{
    json_t *request = test_json(request_job(job, 0, NULL, 1, &err));
    if (!request) fail_msg("%s", err.message);
    char *hash = text_copy(json_get_string(json_object_get(request, "reference"), "hash", ""));
    return test_owned(hash);
}

TEST(a_reference_library_counts_by_what_it_holds)
{
    autofree char *bin = realpath(e2e_bin(), NULL);
    struct job *job = sound_job("{ scalar = \"M\"; type = \"i32\"; }");
    char *copy = test_text("%s/lib.so", folder), *command = test_text("cp %s/reference_library.so %s", bin, copy),
         *longer = test_text("echo >>%s", copy);
    assert_int_equal(system(command), 0);
    job->others.reference.kind = IMPLEMENTATION_LIBRARY;
    job->others.reference.path = copy;
    job->others.reference.functions[FUNCTION_RESULT] = "scale_reference";
    char *first = hash_of_reference(job), *same = hash_of_reference(job);
    assert_int_equal(strlen(first), 32);
    assert_string_equal(first, same);
    assert_int_equal(system(longer), 0);
    char *other = hash_of_reference(job);
    assert_string_not_equal(first, other);
}

TEST_MAIN(setup, teardown)
