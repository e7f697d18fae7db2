// Repeated stages: their launches, the exchange of buffers, and refusals. The header's functions and its embedded
// launch must do the same as the driver.
#include "tests/e2e.h"
#include "tests/finished_header.h"
#include "tests/loaded_job.h"
#include "tests/shared_job.h"
#include "tests/testing.h"

#include "tuner/job/job.h"
#include "tuner/setup/request.h"

static struct error err; // from the last call that failed

// The stage "mini" writes `y`; "halve" runs log2(M) times, exchanging y and t; "sort" has two loops.
static const char stages_text[] =
    "stages = (\n"
    "  { name = \"mini\"; entry = \"mini\"; launch = { grid = [ \"ceil_div(M, BLOCK_M)\" ]; block = [ \"BLOCK_M\" ]; "
    "};\n"
    "    arguments = ( { buffer = \"x\"; type = \"f32\"; shape = [\"M\"]; }, { buffer = \"y\"; type = \"f32\"; shape = "
    "[\"M\"]; direction = \"out\"; } ); },\n"
    "  { name = \"halve\"; entry = \"halve\";\n"
    "    repeat = \"STEP = M / 2; STEP > 0; STEP = STEP / 2\"; swap = [ \"y\", "
    "\"t\" ];\n"
    "    launch = { grid = [ \"ceil_div(STEP, BLOCK_M)\" ]; block = [ \"BLOCK_M\" ]; };\n"
    "    arguments = ( { buffer = \"y\"; }, { buffer = \"t\"; type = \"f32\"; shape = [\"M\"]; direction = "
    "\"scratch\"; }, { scalar = \"STEP\"; type = \"i32\"; } ); },\n"
    "  { name = \"sort\"; entry = \"sort\";\n"
    "    repeat = ( \"K = 2; K <= N / 1024; K = 2*K\",\n"
    "               \"STEP = K / 2; STEP >= 1; STEP = STEP / 2\" );\n"
    "    launch = { grid = [ \"M\", \"K\" ]; block = [ \"BLOCK_M\" ]; };\n"
    "    arguments = ( { buffer = \"y\"; }, { scalar = \"K\"; type = \"i32\"; }, { scalar = \"half\"; type = \"i32\"; "
    "value = \"STEP\"; } ); }\n"
    ");\n";

// The job with these stages instead of its single launch (malloc'ed).
static char *job_with(const char *stages)
{
    return finished_stages(stages, "kernel = \"mini_naive\"; launch = { grid = [1]; block = [1]; }; arguments = ( { "
                                   "buffer = \"y\"; } );");
}

static struct job *load(const char *stages)
{
    autofree char *text = job_with(stages);
    finished_write(job.job, text);
    return loaded_job(job.job);
}

// Returns one line, "symbol grid_x argument argument ..", per launch of a configuration on a problem.
static char *launches_of(const struct job *j, const uint16_t *config, size_t problem)
{
    json_t *problems = test_json(request_problems(j, config, NULL, false, NULL, NULL, &err));
    struct text text = {0};
    if (!problems) fail_msg("%s", err.message);
    json_array_each(json_object_get(json_array_get(problems, problem), "stages"), i, stage) {
        text_add(&text, "%s %d", json_get_string(stage, "symbol", "?"),
                 (int)json_integer_value(json_array_get(json_object_get(stage, "grid"), 0)));
        json_array_each(json_object_get(stage, "args"), k, argument) {
            const char *buffer = json_get_string(argument, "buffer", NULL);
            if (buffer)
                text_add(&text, " %s", buffer);
            else
                text_add(&text, " %d", (int)json_get_integer(argument, "value", -1));
        }
        text_add(&text, "\n");
    }
    return test_owned(text.text);
}

TEST_WITH(a_stage_runs_while_its_condition_holds_and_its_buffers_change_names, setup, teardown)
{
    struct job *j = load(stages_text);
    uint16_t config[SPACE_MAX_PARAMETERS];
    struct planned_launch *launches;
    size_t count;
    assert_int_equal(space_parse(j->space, "BLOCK_M=128,UNROLL_K=0,REDUCTION=shared", config, &err), 0);
    char *text = launches_of(j, config, 1); // M = 1000: nine runs, so that y means t before the first run
    assert_string_equal(text, "mini 8 x t\n"
                              "halve 4 t y 500\nhalve 2 y t 250\nhalve 1 t y 125\nhalve 1 y t 62\nhalve 1 t y 31\n"
                              "halve 1 y t 15\nhalve 1 t y 7\nhalve 1 y t 3\nhalve 1 t y 1\n");
    text = launches_of(j, config, 0); // M = N = 4096: twelve runs, then K = 2 and 4
    assert_memory_equal(text, "mini 32 x y\nhalve 16 y t 2048\nhalve 8 t y 1024\n", 47);
    assert_contains(text, "halve 1 t y 1\nsort 4096 y 2 1\nsort 4096 y 4 2\nsort 4096 y 4 1\n");
    json_t *problems = test_json(request_problems(j, config, NULL, false, &launches, &count, &err)), *stages;
    assert_int_equal(count, 1 + 12 + 3 + 1 + 9);
    assert_true(launches[1].stage == 1 && launches[1].run == 0 && launches[12].run == 11 && launches[13].run == 0);
    stages = json_object_get(json_array_get(problems, 0), "stages");
    assert_null(json_object_get(json_array_get(stages, 1), "again")); // the first run of its stage
    assert_true(json_get_bool(json_array_get(stages, 2), "again", false));
    assert_null(json_object_get(json_array_get(stages, 13), "again"));
    free(launches);
}

// Checks that the job is refused with `message` if `from` is replaced by `to` in its stages.
static void refused(const char *from, const char *to, const char *message)
{
    autofree char *stages = text_replaced(stages_text, from, to), *text = job_with(stages);
    struct mistakes mistakes = {0};
    struct job *out = NULL;
    finished_write(job.job, text);
    if (job_load(job.job, &out, &mistakes)) {
        bool found = false;
        for (size_t i = 0; i < mistakes.count; i++) found |= strstr(mistakes.list[i].text, message) != NULL;
        if (!found)
            fail_msg("'%s' is not among the mistakes, the first of which is: %s", message, mistakes.list[0].text);
        for (size_t i = 0; i < mistakes.count; i++)
            assert_true(mistakes.list[i].line > 0 || strstr(mistakes.list[i].text, " from these"));
    } else {
        json_t *problems = job_build_space(out, &device_limits_h200, &err)
                               ? NULL
                               : request_problems(out, (uint16_t[]){0, 0, 0}, NULL, false, NULL, NULL, &err);
        if (problems || !strstr(err.message, message)) fail_msg("not refused with '%s' but '%s'", message, err.message);
        job_free(out);
    }
    mistakes_release(&mistakes);
}

TEST_WITH(what_cannot_be_repeated_is_refused_with_its_line, setup, teardown)
{
    refused("[ \"ceil_div(M, BLOCK_M)\" ]", "[ \"STEP\" ]", "unknown name 'STEP'"); // belongs to another stage
    refused("STEP = M / 2;", "STEP = STEP / 2;", "unknown name 'STEP'");
    refused("STEP = M / 2; STEP > 0; STEP = STEP / 2", "M = M / 2; M > 0; M = M / 2", "the name 'M' is already taken");
    refused("STEP = M / 2; STEP > 0; STEP =", "BLOCK_M = M / 2; STEP > 0; BLOCK_M =",
            "the name 'BLOCK_M' is already taken");
    refused("STEP = M / 2; STEP > 0; STEP =", "a.b = M / 2; STEP > 0; a.b =", "must be a name without dots");
    refused("STEP > 0; STEP = STEP / 2", "STEP > 0", "a loop is written as in C");
    refused("STEP > 0; STEP = ", "STEP > 0; STEP == ", "a loop is written as in C");
    refused("STEP > 0; STEP = STEP / 2", "STEP > 0; K = STEP / 2", "a loop is written as in C");
    refused("swap = [ \"y\", \"t\" ]", "swap = [ \"y\" ]", "one to 8 pairs of buffers");
    refused("swap = [ \"y\", \"t\" ]", "swap = [ \"x\", \"t\" ]", "'x' is an input");
    refused("swap = [ \"y\", \"t\" ]", "swap = [ \"y\", \"u\" ]", "not u");
    refused("{ buffer = \"t\"; type = \"f32\"; shape = [\"M\"]; direction = \"scratch\"; }",
            "{ buffer = \"t\"; type = \"f32\"; shape = [\"M\"]; direction = \"scratch\"; surface = { }; }",
            "'t' is a texture or surface, which has its own memory");
    refused("swap = [ \"y\", \"t\" ]", "swap = [ \"y\", \"y\" ]", "cannot be exchanged with itself");
    refused("{ buffer = \"t\"; type = \"f32\"", "{ buffer = \"t\"; type = \"i32\"",
            "type, shape and ld must be the same");
    refused("arguments = ( { buffer = \"y\"; }, { scalar = \"K\"",
            "swap = [ \"y\", \"t\" ]; when = 0; arguments = ( { buffer = \"y\"; }, { scalar = \"K\"; value = \"L\"",
            "unknown name 'L'");
    refused("STEP > 0; STEP = STEP / 2", "STEP > 0; STEP = STEP", "stage 'halve' runs more than 1024 times");
    refused("K = 2*K\",\n               \"STEP = K / 2; STEP >= 1;", "K = K\", \"STEP = 1; 0;",
            "the loops do not end"); // although nothing runs
    refused("repeat = \"STEP = M / 2; STEP > 0; STEP = STEP / 2\"; swap", "swap", "'swap' needs 'repeat'");
    refused("STEP = M / 2", "STEP = M / (M - M)", "division by zero");
    refused("direction = \"scratch\"; }", "direction = \"inout\"; }", "buffer 't' holds data at the start");
    refused("direction = \"scratch\"; }",
            "direction = \"scratch\"; }, { buffer = \"p\"; type = \"u64\"; shape = [1]; fill = \"&t\"; }",
            "'t' cannot be exchanged, because 'p' holds its address");
}

TEST_WITH(stages_that_are_not_timed_come_first, setup, teardown)
{
    refused("name = \"sort\";", "name = \"sort\"; timed = false;", "the last stage, 'sort', must be timed");
    refused("name = \"sort\";", "name = \"sort\"; timed = false;", "it cannot come after one that is");
    refused("name = \"halve\";", "name = \"halve\"; timed = false;",
            "stage 'halve' is not timed, so it cannot come after");
    refused("name = \"halve\";", "name = \"halve\"; timed = false;", "is not timed, so it cannot exchange buffers");
    autofree char *text = text_replaced(stages_text, "name = \"mini\";", "name = \"mini\"; timed = false;");
    struct job *j = load(text);
    json_t *problems = test_json(request_problems(j, (uint16_t[]){1, 0, 0}, NULL, false, NULL, NULL, &err)),
           *stages = json_object_get(json_array_get(problems, 0), "stages");
    assert_true(json_get_bool(json_array_get(stages, 0), "untimed", false));
    assert_null(json_object_get(json_array_get(stages, 1), "untimed"));
}

// If a repeated stage exchanges buffers, an address in a struct follows the buffer's name. In each run, it is the
// address of the buffer that has this name in the run.
TEST_WITH(addresses_in_structs_follow_the_names, setup, teardown)
{
    autofree char *text = text_replaced(stages_text, "{ scalar = \"STEP\"; type = \"i32\"; }",
                                        "{ scalar = \"p\"; members = ( { name = \"y\"; type = \"u64\"; value = "
                                        "\"&y[STEP]\"; } ); }");
    struct job *j = load(text);
    json_t *problems = test_json(request_problems(j, (uint16_t[]){1, 0, 0}, NULL, false, NULL, NULL, &err)),
           *stages = json_object_get(json_array_get(problems, 0), "stages");
    for (size_t run = 0; run < 2; run++) {
        const json_t *arguments = json_object_get(json_array_get(stages, 1 + run), "args"),
                     *address = json_array_get(json_object_get(json_array_get(arguments, 2), "addresses"), 0);
        assert_string_equal(json_get_string(address, "to", ""),
                            json_get_string(json_array_get(arguments, 0), "buffer", ""));
        assert_string_equal(json_get_string(address, "to", ""), run ? "t" : "y");
        assert_int_equal(json_get_integer(address, "at", 0), 4 * (2048 >> run));
    }
}

TEST_WITH(the_loops_that_never_run_leave_the_stage_out, setup, teardown)
{
    struct job *j = load(stages_text);
    struct stage *sort = &j->stages[2];
    int64_t values[256] = {0};
    assert_true(symbols_count(j->symbols) <= 256);
    assert_int_equal(job_problem_values(j, NULL, 1, values, &err), 0);
    assert_int_equal(job_count_runs(sort, values, &err), 0);
    assert_int_equal(job_problem_values(j, NULL, 0, values, &err), 0);
    assert_int_equal(job_count_runs(sort, values, &err), 3);
    assert_int_equal(symbols_find(j->symbols, "STEP"), -1); // known only in its stages
}

// The program prints the launches in the form of launches_of, once by the embedded launch and once by the functions.
static const char program[] =
    "#include <stdio.h>\n#define MINI_GEMM_DRIVER_API\n#include \"fake_driver.h\"\n#include \"include/mini_best.h\"\n"
    "static const char *name(unsigned long long a) { return a == 0x1000 ? \"x\" : a == 0x2000 ? \"y\" : \"t\"; }\n"
    "static void embedded(long long m, long long n)\n{\n    static struct mini_gemm_kernels k;\n    int i, j;\n"
    "    for (i = 0; i < 64; i++) fake_sizes[i][0] = fake_sizes[i][1] = 8, fake_sizes[i][2] = 4;\n"
    "    fake_sizes[0][2] = 0;\n"
    "    if (m == 4096) for (i = 13; i < 16; i++) fake_sizes[i][1] = 4;\n"
    "    fake_launches = fake_symbol_count = 0;\n"
    "    if (mini_gemm_load(&k)) { printf(\"load\\n\"); return; }\n"
    "    if (mini_gemm_launch(&k, 0, m, n, 0x1000, 0x2000, 0x3000)) printf(\"launch\\n\");\n"
    "    for (i = 0; i < fake_launches; i++) {\n"
    "        printf(\"%s %u\", fake_launch[i].symbol, fake_launch[i].config.gridDimX);\n"
    "        for (j = 0; fake_sizes[i][j]; j++) {\n            unsigned long long a = fake_launch[i].arguments[j];\n"
    "            if (fake_sizes[i][j] == 8) printf(\" %s\", name(a));\n            else printf(\" %d\", (int)a);\n"
    "        }\n        printf(\"\\n\");\n    }\n}\n"
    "static void functions(long long m, long long n)\n{\n    const char *y = \"y\", *t = \"t\", *o;\n    long long r;\n"
    "    for (r = 0; mini_gemm_halve_geometry(m, n, r).used; r++) { o = y; y = t; t = o; }\n"
    "    printf(\"mini %u x %s\\n\", mini_gemm_mini_grid_x(m, n), y);\n"
    "    for (r = 0; mini_gemm_halve_geometry(m, n, r).used; r++) {\n"
    "        printf(\"halve %u %s %s %d\\n\", mini_gemm_halve_grid_x(m, n, r), y, t,\n"
    "               (int)mini_gemm_halve_argument_2(m, n, r));\n        o = y; y = t; t = o;\n    }\n"
    "    for (r = 0; mini_gemm_sort_geometry(m, n, r).used; r++)\n"
    "        printf(\"sort %u %s %d %d\\n\", mini_gemm_sort_grid_x(m, n, r), y, (int)mini_gemm_sort_argument_1(m, n, "
    "r),\n               (int)mini_gemm_sort_argument_2(m, n, r));\n}\n"
    "int main(void)\n{\n    embedded(1000, 77);\n    functions(1000, 77);\n    embedded(4096, 4096);\n"
    "    functions(4096, 4096);\n    return 0;\n}\n";

// Writes the header, with an embedded binary, for the job that was written last.
static void write_header(void)
{
    static const unsigned char cubin[64] = "\177ELF";
    finished_decided(&job);
    finished_binary(&job, cubin, sizeof cubin, "{\"mini\":\"mini\",\"halve\":\"halve\",\"sort\":\"sort\"}");
    finished_embed(&job);
}

// Compiles a program that includes the header, as C and as C++, and checks its output.
static void expect_printed(const char *text, const char *expected)
{
    static const char *const compilers[] = {"gcc -std=c99" STRICT, "g++ -std=c++11 -x c++" STRICT};
    char *main_c = test_text("%s/main.c", job.folder), *path = test_text("%s/found", job.folder),
         *sources = test_text("%s %s/include/mini_best_binary.c", main_c, job.folder), *run = test_text(">%s ", path);
    finished_write(main_c, text);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(finished_program(&job, compilers[i], sources, "", run), 0);
        assert_string_equal(test_owned(text_read_file(path, NULL)), expected);
    }
}

TEST_WITH(the_header_launches_what_the_driver_launched, setup, teardown)
{
    struct job *j = load(stages_text);
    uint16_t config[SPACE_MAX_PARAMETERS];
    struct error error;
    write_header();
    assert_int_equal(space_parse(j->space, "BLOCK_M=64,UNROLL_K=4,REDUCTION=shared", config, &error), 0);
    char *large = launches_of(j, config, 0), *small = launches_of(j, config, 1);
    expect_printed(program, test_text("%s%s%s%s", small, small, large, large));
}

// The arguments of "sort": its buffer, K, the texture object and the struct's first member.
static const char object_program[] =
    "#include <stdio.h>\n#define MINI_GEMM_DRIVER_API\n#include \"fake_driver.h\"\n#include \"include/mini_best.h\"\n"
    "int main(void)\n{\n    static struct mini_gemm_kernels k;\n    int i, j;\n"
    "    for (i = 0; i < 64; i++) fake_sizes[i][0] = fake_sizes[i][1] = 8, fake_sizes[i][2] = 4;\n"
    "    fake_sizes[0][2] = 0;\n"
    "    for (i = 13; i < 16; i++) fake_sizes[i][1] = 4, fake_sizes[i][2] = 8, fake_sizes[i][3] = 8;\n"
    "    if (mini_gemm_load(&k) || mini_gemm_launch(&k, 0, 4096, 4096, 0x1000, 0x2000, 0x3000, 0x77)) return 1;\n"
    "    for (i = 13; i < fake_launches; i++) {\n        printf(\"%s\", fake_launch[i].symbol);\n"
    "        for (j = 0; j < 4; j++) printf(\" %llx\", (unsigned long long)fake_launch[i].arguments[j]);\n"
    "        printf(\"\\n\");\n    }\n    return 0;\n}\n";

TEST_WITH(repeated_stages_take_textures_and_structs, setup, teardown)
{
    autofree char *stages = text_replaced(
        stages_text, "{ scalar = \"half\"; type = \"i32\"; value = \"STEP\"; }",
        "{ buffer = \"lut\"; type = \"f32\"; shape = [256]; texture = { }; }, { scalar = \"part\"; members = ( { "
        "scalar = \"half\"; "
        "type = \"i32\"; value = \"STEP\"; }, { scalar = \"end\"; type = \"i64\"; value = \"M + K\"; } ); }");
    load(stages);
    write_header();
    expect_printed(object_program, "sort 2000 2 77 1\nsort 2000 4 77 2\nsort 2000 4 77 1\n");
}

TEST_MAIN(NULL, NULL)
