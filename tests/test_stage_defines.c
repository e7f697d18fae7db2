// Macros of one stage: stages with different macros are separate units of a candidate, compiled one by one and kept in
// one file. Tested with the real compile worker, and with a header's launch code on the fake driver.
#include "tests/e2e.h"
#include "tests/finished_header.h"
#include "tests/loaded_job.h"
#include "tests/shared_job.h"
#include "tests/testing.h"

#include "tuner/base/units.h"
#include "tuner/job/job.h"
#include "tuner/setup/request.h"

static struct error err; // from the last call that failed

// One kernel three times: with PHASE 1, 2, and 1 again.
#define LAUNCH "launch = { grid = [ \"ceil_div(M, BLOCK_M)\" ]; block = [ \"BLOCK_M\" ]; };"
static const char stages_text[] =
    "stages = (\n"
    "  { name = \"up\"; entry = \"scan\"; defines = { PHASE = 1; WEIGHT = \"2.5f\"; }; " LAUNCH "\n"
    "    arguments = ( { buffer = \"x\"; type = \"f32\"; shape = [\"M\"]; }, { buffer = \"y\"; type = \"f32\"; shape = "
    "[\"M\"]; direction = \"out\"; } ); },\n"
    "  { name = \"down\"; entry = \"scan\"; defines = { PHASE = 2; WEIGHT = 0.5; }; " LAUNCH "\n"
    "    arguments = ( { buffer = \"x\"; }, { buffer = \"y\"; } ); },\n"
    "  { name = \"again\"; entry = \"scan\"; defines = { WEIGHT = \"2.5f\"; PHASE = 1; }; " LAUNCH "\n"
    "    when = \"BLOCK_M < 256\"; arguments = ( { buffer = \"x\"; }, { buffer = \"y\"; } ); }\n"
    ");\n";
static const char source_text[] =
    "extern \"C\" __global__ void scan(const float *x, float *y)\n{\n#if PHASE == 1\n    y[threadIdx.x] = x[0] * "
    "WEIGHT;\n"
    "#elif PHASE == 2\n    y[threadIdx.x] += __sinf(x[1]) * WEIGHT;\n#else\n#error PHASE is missing\n#endif\n}\n"
    "extern \"C\" __global__ void mini_naive(const float *x, float *y) { y[0] = x[0]; }\n";

static void write_job(const char *stages)
{
    finished_write(job.job, test_owned(finished_stages(stages, "files = { y = \"y.npy\"; };")));
    finished_write(job.template, source_text);
    finished_write(test_text("%s/y.npy", job.folder), "");
}

static struct job *load(const char *stages)
{
    write_job(stages);
    return loaded_job(job.job);
}

// The worker's answer about a configuration. New reference.
static json_t *compile(const struct job *j, const char *configuration, struct compiled *compiled)
{
    uint16_t config[SPACE_MAX_PARAMETERS];
    char *cache = test_text("%s/cache", job.folder), *path = test_text("%s/request", job.folder);
    assert_int_equal(space_parse(j->space, configuration, config, &err), 0);
    json_t *request = test_json(request_compile(j, config, "sm_90a", NULL, cache));
    finished_write(path, test_owned(json_dumps(request, JSON_COMPACT)));
    struct e2e_result r = e2e_run(job.folder, "$BIN/sweetspot-compile <%s", path);
    json_t *answer = test_json(json_parse(r.out, &err));
    if (!answer) fail_msg("%s: %s", err.message, r.err);
    if (compiled && compiled_read(answer, compiled, &err)) fail_msg("%s: %s", err.message, r.out);
    return answer;
}

TEST_WITH(each_unit_is_compiled_with_its_own_macros_and_all_are_one_file, setup, teardown)
{
    struct job *j = load(stages_text);
    struct compiled c, again;
    assert_int_equal(j->code.unit_count, 2);
    assert_int_equal(j->stages[2].unit, 0); // the order of macros does not matter
    compile(j, "BLOCK_M=64,UNROLL_K=0,REDUCTION=shared", &c);
    assert_int_equal(c.entry_count, 2);
    assert_int_equal(c.entries[0].unit, 0);
    assert_int_equal(c.entries[1].unit, 1);
    assert_ptr_equal(compiled_find(&c, &j->stages[2]), &c.entries[0]);
    assert_ptr_equal(compiled_find(&c, &j->stages[1]), &c.entries[1]);
    size_t size, bytes[2];
    char *file = test_owned(text_read_file(c.cubin, &size));
    assert_int_equal(units_count(file, size, &err), 2);
    size_t first = units_offset(file, size, 0, &bytes[0]), second = units_offset(file, size, 1, &bytes[1]);
    assert_memory_equal(file + first, "\177ELF", 4);
    assert_memory_equal(file + second, "\177ELF", 4);
    assert_true(first % 16 == 0 && second % 16 == 0 && bytes[0] && bytes[1]);
    assert_true(bytes[0] != bytes[1] || memcmp(file + first, file + second, bytes[0]) != 0);
    assert_int_equal(units_count(file, 100, &err), -1); // truncated
    compile(j, "BLOCK_M=64,UNROLL_K=0,REDUCTION=shared", &again);
    assert_string_equal(again.cubin, c.cubin);
    assert_true(again.cached && !c.cached);
    compiled_release(&c);
    compiled_release(&again);
}

TEST_WITH(a_unit_that_does_not_compile_fails_the_candidate, setup, teardown)
{
    char *stages = test_owned(text_copy(stages_text)), *phase = strstr(stages, "PHASE = 2");
    phase[8] = '3';
    struct job *j = load(stages);
    json_t *answer = compile(j, "BLOCK_M=64,UNROLL_K=0,REDUCTION=shared", NULL);
    assert_string_equal(json_get_string(answer, "status", ""), "compile_error");
    assert_contains(json_get_string(answer, "reason", ""), "PHASE is missing");
}

TEST_WITH(launches_name_the_unit_of_their_kernel, setup, teardown)
{
    struct job *j = load(stages_text);
    uint16_t config[SPACE_MAX_PARAMETERS];
    assert_int_equal(space_parse(j->space, "BLOCK_M=64,UNROLL_K=0,REDUCTION=shared", config, &err), 0);
    json_t *problems = test_json(request_problems(j, config, NULL, false, NULL, NULL, &err)),
           *stages = json_object_get(json_array_get(problems, 0), "stages");
    assert_int_equal(json_get_integer(json_array_get(stages, 0), "unit", 0), 0);
    assert_int_equal(json_get_integer(json_array_get(stages, 1), "unit", 0), 1);
    assert_int_equal(json_get_integer(json_array_get(stages, 2), "unit", 0), 0);
}

static void refused(const char *from, const char *to, const char *message)
{
    autofree char *stages = text_replaced(stages_text, from, to);
    struct mistakes mistakes = {0};
    struct job *out = NULL;
    write_job(stages);
    assert_int_equal(job_load(job.job, &out, &mistakes), -1);
    assert_contains(mistakes.list[0].text, message);
    assert_true(mistakes.list[0].line > 0);
    mistakes_release(&mistakes);
}

TEST_WITH(macros_that_would_clash_are_refused, setup, teardown)
{
    refused("PHASE = 1", "ALPHA = 1", "macro 'ALPHA' is also a macro of all stages");
    refused("PHASE = 1", "while = 1", "macro 'while' cannot be the name of a macro: it is a keyword");
    refused("PHASE = 1", "PHASE = true", "the value of macro 'PHASE' must be a string or a number");
    refused("{ PHASE = 1; WEIGHT = \"2.5f\"; }", "[1]", "'defines' must be a group");
}

// A kernel is looked up in the library of its own unit, and this library is loaded from the bytes of this unit.
static const char program[] =
    "#include <stdio.h>\n#define MINI_GEMM_DRIVER_API\n#include \"fake_driver.h\"\n#include \"include/mini_best.h\"\n"
    "int main(void)\n{\n    static struct mini_gemm_kernels k;\n    int i;\n"
    "    if (mini_gemm_load(&k)) return 1;\n"
    "    if (fake_loads != 2 || ((const char *)k.library[0])[4] != 'a' || ((const char *)k.library[1])[4] != 'b') "
    "return 2;\n"
    "    for (i = 0; i < 3; i++) fake_sizes[i][0] = fake_sizes[i][1] = 8;\n"
    "    if (mini_gemm_launch(&k, 0, 4096, 4096, 0x1000, 0x2000) || fake_launches != 3) return 3;\n"
    "    for (i = 0; i < 3; i++) printf(\"%s \", fake_launch[i].symbol);\n"
    "    mini_gemm_unload(&k);\n    return fake_unloads != 2;\n}\n";

TEST_WITH(a_header_loads_every_unit_and_launches_from_each, setup, teardown)
{
    size_t size;
    const void *images[2] = {"\177ELFa..", "\177ELFb...."};
    autofree void *file = units_join(images, (size_t[]){8, 10}, 2, &size, &err);
    write_job(stages_text);
    finished_decided(&job);
    finished_binary(&job, file, size, "{\"scan\":\"scan\",\"1 scan\":\"second\"}");
    finished_embed(&job);
    char *main_c = test_text("%s/main.c", job.folder);
    finished_write(main_c, program);
    struct e2e_result r =
        e2e_run(job.folder,
                "gcc -std=c99 " STRICT
                "-I$DIR -Itests/launch %s $DIR/include/mini_best_binary.c -o $DIR/program && $DIR/program",
                main_c);
    if (r.status || strcmp(r.out, "scan second scan ")) fail_msg("status %d: %s%s", r.status, r.out, r.err);
    finished_write(main_c, "#define MINI_GEMM_DEFINE_PARAMETERS\n#define MINI_GEMM_STAGE_DOWN\n"
                           "#include \"include/mini_best.h\"\n#if PHASE != 2 || BLOCK_M != 64\n#error wrong\n#endif\n"
                           "double w = WEIGHT;\n"
                           "#define MINI_GEMM_UNDEFINE_PARAMETERS\n#include \"include/mini_best.h\"\n"
                           "#ifdef PHASE\n#error left\n#endif\nint main(void) { return w != 0.5; }\n");
    e2e_pass(job.folder, "gcc -I$DIR %s -o $DIR/program && $DIR/program", main_c);
    assert_contains(finished_says(&job, 3, "header JOB --store STORE -o %s/winner.cubin", job.folder).err,
                    "the stages have macros of their own, so that there is no single cubin");
}

TEST_WITH(a_stage_may_have_another_value_of_a_parameter, setup, teardown)
{
    const char *at = strstr(stages_text, "PHASE = 2;");
    char *stages = test_text("%.*sBLOCK_M = 7; %s", (int)(at - stages_text), stages_text, at);
    struct job *j = load(stages);
    struct compiled c;
    finished_write(job.template,
                   "#if (PHASE == 2) != (BLOCK_M == 7) || PHASE == 1 && BLOCK_M != 64\n#error wrong\n#endif\n"
                   "extern \"C\" __global__ void scan(const float *x, float *y) { y[0] = x[0]; }\n");
    compile(j, "BLOCK_M=64,UNROLL_K=0,REDUCTION=shared", &c);
    assert_int_equal(c.entry_count, 2);
    compiled_release(&c);
    finished_decided(&job);
    finished_says(&job, 0, "header JOB --store STORE -o HEADER");
    char *main_c = test_text("%s/main.c", job.folder);
    finished_write(main_c, "#define MINI_GEMM_DEFINE_PARAMETERS\n#include \"include/mini_best.h\"\n"
                           "#if BLOCK_M != WANTED\n#error wrong\n#endif\n#define MINI_GEMM_UNDEFINE_PARAMETERS\n"
                           "#include \"include/mini_best.h\"\n#ifdef BLOCK_M\n#error left\n#endif\n"
                           "int main(void) { return MINI_GEMM_BLOCK_M != 64; }\n");

    e2e_pass(job.folder,
             "for o in -DWANTED=64 '-DWANTED=7 -DMINI_GEMM_STAGE_DOWN'; do gcc -Wall -Wextra -Werror $o "
             "-I$DIR %s -o $DIR/program && $DIR/program || exit 1; done",
             main_c);
}

TEST_MAIN(NULL, NULL)
