// sweetspot judge with a scripted worker: verdicts, exit statuses, the document. tests/test_gpu_judge.c uses real
// kernels.
#include "tests/e2e.h"
#include "tests/loaded_job.h"

#include "tuner/base/json.h"
#include "tuner/base/protocol.h"
#include "tuner/job/job_triton.h"

#define JOB(parameters, problems)                                                                  \
    "name = \"fake\"; kernel = { template = \"x.cu\"; entry = \"x\"; };\n" parameters problems     \
    "launch = { grid = [\"N\"]; block = [512]; };\n"                                               \
    "arguments = ( { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } );\n" \
    "measure = { timeout = \"2s\"; final = { candidates = 2; rounds = 10; }; };\n"
#define REFERENCE "reference = { kernel = \"x\"; launch = { grid = [\"N\"]; block = [512]; }; };\n"
#define MODES                                                                                                         \
    "parameters = ( { name = \"X\"; values = [1, 2, 7]; }, { name = \"MODE\"; values = [ \"good\", \"wrong\", "       \
    "\"out_of_bounds\", \"nondeterministic\", \"launch_error\", \"hang\", \"abort\", \"says_crashed\", "              \
    "\"compile_error\", \"compile_timeout\", \"compile_nonsense\", \"registers\", \"final_wrong\", \"final_crash\", " \
    "\"count_crash\", \"sanitize_memcheck\", \"sanitize_racecheck\", \"sanitize_crash\", \"restart\", "               \
    "\"other_word\" ]; } );\nconstraints = ( \"X < 7 || MODE == \\\"good\\\"\" );\n"
#define PROBLEMS "problems = ( { N = 1024; } );\n"

// Part of the metadata that Triton 3.6 writes.
#define TRITON(global, more)                                                                                      \
    "{\"hash\": \"ab\", \"target\": {\"backend\": \"cuda\", \"arch\": 90, \"warp_size\": 32}, \"num_warps\": 8, " \
    "\"shared\": 49152, \"name\": \"mine\", \"triton_version\": \"3.6.0\", \"global_scratch_size\": " global      \
    ", \"profile_scratch_size\": " more "}"

static void write_jobs(const char *folder)
{
    e2e_write(folder, "job.cfg", JOB(MODES, PROBLEMS) REFERENCE "verification = { problems = ( { N = 64; } ); };\n");
    e2e_write(folder, "plain.cfg", JOB("", PROBLEMS) REFERENCE);
    e2e_write(folder, "empty.cfg", JOB("parameters = ();\n", PROBLEMS) REFERENCE);
    e2e_write(folder, "none.cfg", JOB("", PROBLEMS));
    e2e_write(folder, "unverified.cfg", JOB("", PROBLEMS) REFERENCE "verification = { enabled = false; };\n");
    e2e_write(folder, "two.cfg",
              "name = \"two\"; kernel = { template = \"x.cu\"; };\n" PROBLEMS
              "reference = { kernel = \"x\"; launch = { grid = [\"N\"]; block = [512]; };\n"
              "  arguments = ( { buffer = \"y\"; } ); };\n"
              "stages = ( { entry = \"x\"; launch = { grid = [\"N\"]; block = [512]; };\n"
              "  arguments = ( { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } ); },\n"
              "  { entry = \"second\"; launch = { grid = [\"N\"]; block = [512]; }; arguments = ( { buffer = \"y\"; } "
              "); } );\n");
    e2e_write(folder, "x.cu", "extern \"C\" __global__ void x(float *y) {} // X MODE\n");
    e2e_write(folder, "other.cu", "extern \"C\" __global__ void other(float *y) {} // X MODE\n");
    e2e_write(folder, "x.ptx",
              "// made by hand\n/* twice */ .version 9.0\n.target sm_90\n.visible .entry x(.param .u64 y)\n");
    e2e_write(folder, "one.ptx", ".version 9.0\n.entry other\n(.param .u64 y)\n");
    e2e_write(folder, "many.ptx", ".version 9.0\n.entry other(.param .u64 y)\n.entry one(.param .u64 y)\n");
    e2e_write(folder, "made.fatbin", "\x50\xed\x55\xba and so on");
    e2e_pass(folder, "cd $DIR && echo 'int mine(void) { return 0; } int crash(void) { return 1; }' >lib.c && "
                     "cc -shared -fPIC lib.c -o lib.so && head -c 200 lib.so >cut.so");
    e2e_write(folder, "one.json", "{ \"name\": 7 }"); // not Triton's
    e2e_write(folder, "many.json", "not even JSON");
    e2e_write(folder, "tri.ptx", ".version 9.0\n.entry mine(.param .u64 y, .param .u64 g, .param .u64 p)\n");
    e2e_write(folder, "tri.json", TRITON("0", "0, \"tensordesc_meta\": null"));
}

#define FAKE                                                                                         \
    "export SWEETSPOT_SANITIZER=$PWD/tests/fake_sanitizer.sh SWEETSPOT_GPU_WORKER=$BIN/fake_worker " \
    "SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker; "
#define NO_TOOL "export SWEETSPOT_SANITIZER=none;"

static struct e2e_result run(const char *folder, const char *before, const char *options)
{
    return e2e_run(folder, FAKE "%s cd $DIR && $BIN/sweetspot judge %s --cache cache", before, options);
}

static const struct {
    const char *before, *options;
    int status;
    const char *out, *err; // parts of the output
} cases[] = {
    {"", "plain.cfg", 0, "fake: right\n", "timing it"},
    {"", "empty.cfg", 0, "fake: right\n", ""},
    {"", "job.cfg", 0, "MODE=good", ""},
    {"", "plain.cfg", 0, "  racecheck: clean\n", ""},
    {"", "plain.cfg", 0, "1.100 ms  0.737 [0.736, 0.738]", ""},
    {"", "plain.cfg", 0, "bank_conflicts: line 1 needs 2.00 times", ""},
    {"", "job.cfg", 0, "N=64 (verified only)  ok", ""},
    {"", "job.cfg --set X=2 --set MODE=wrong", 1, "fake: wrong\n  scripted\n", ""},
    {"", "job.cfg --set X=2,MODE=wrong", 1, "X=2,MODE=wrong", ""},
    {"", "job.cfg --set MODE=out_of_bounds", 1, "fake: out_of_bounds\n", ""},
    {"", "job.cfg --set MODE=nondeterministic", 1, "fake: nondeterministic\n", ""},
    {"", "job.cfg --set MODE=launch_error", 1, "fake: launch_error\n", ""},
    {"", "job.cfg --set MODE=hang", 1, "fake: timeout\n", ""},
    {"", "job.cfg --set MODE=abort", 1, "fake: crashed\n", ""},
    {"", "job.cfg --set MODE=says_crashed", 1, "fake: crashed\n  CUDA_ERROR_ILLEGAL_ADDRESS", ""},
    {"", "job.cfg --set MODE=compile_error", 1, "fake: compile_error\n  x.cu(3): error: expected", ""},
    {"", "job.cfg --set MODE=compile_timeout", 1, "fake: compile_timeout\n", ""},
    {"", "job.cfg --set MODE=registers", 1, "fake: pruned\n", ""},
    {"", "job.cfg --set MODE=final_wrong", 1, "fake: wrong\n  scripted\n", ""},
    {"", "job.cfg --set MODE=final_crash", 1, "fake: crashed\n", ""},
    {"", "job.cfg --set MODE=sanitize_memcheck", 1, "fake: out_of_bounds\n  compute-sanitizer's memcheck: Invalid", ""},
    {"", "job.cfg --set MODE=sanitize_memcheck", 1, "N=64 (verified only)  out_of_bounds", ""},
    {"", "job.cfg --set MODE=sanitize_racecheck", 0, "racecheck (warning): 1 error, 1 warning: Error: Race", ""},
    {"", "job.cfg --set MODE=sanitize_crash", 0, "memcheck: failed: ", ""},
    {NO_TOOL, "job.cfg --set MODE=sanitize_memcheck", 0, "fake: right\n", ""},
    {"", "job.cfg --set MODE=count_crash", 0, "note: no counters: ", ""},
    {"", "job.cfg --set MODE=restart", 0, "fake: right\n", ""},
    {"export FAKE_NO_COUNTERS='ERR_NVGPUCTRPERM: no permission';", "plain.cfg", 0, "note: ERR_NVGPUCTRPERM", ""},
    {"", "plain.cfg --implementation other.cu --entry other", 0, "other.cu", ""},
    {"", "plain.cfg --template other.cu --entry other", 0, "other.cu", ""}, // the option's older name
    {"", "plain.cfg --implementation nothing.cu", 2, "", "cannot read 'nothing.cu'"},
    {"", "job.cfg --implementation x.ptx --set MODE=good", 0, "/x.ptx  X=1,MODE=good\n", ""},
    {"", "job.cfg --implementation x.ptx --set MODE=wrong", 1, "fake: wrong\n", ""},
    {"", "job.cfg --implementation x.ptx --set MODE=compile_error", 0, "fake: right\n", ""}, // nothing is compiled
    {"", "plain.cfg --implementation one.ptx", 0, "/one.ptx\n", ""},
    {"", "plain.cfg --implementation made.fatbin", 0, "/made.fatbin\n", ""},
    {"", "plain.cfg --implementation many.ptx --entry one", 0, "/many.ptx\n", ""},
    {"", "plain.cfg --implementation many.ptx", 2, "",
     "many.ptx: unknown kernel 'x' (known: other, one): name its symbol with --entry"},
    {"", "plain.cfg --implementation x.ptx --entry y", 2, "", "x.ptx: unknown kernel 'y' (known: x)"},
    {"", "two.cfg --implementation one.ptx", 2, "", "one.ptx: unknown kernel 'x' (known: other)"},
    {"", "two.cfg --entry other", 2, "", "launches several kernels"},
    {"", "plain.cfg --implementation tri.ptx", 0, "/tri.ptx\n", ""},
    {"", "two.cfg --implementation tri.ptx", 2, "", "/tri.json: the job must launch a single kernel"},
    {"", "plain.cfg --implementation lib.so --entry mine", 0, "/lib.so\n", ""},
    {"", "plain.cfg --implementation lib.so --entry mine", 0, "note: trusted host code: the function ran in", ""},
    {"", "plain.cfg --implementation lib.so --entry crash", 1, "fake: crashed\n  its own code crashed (SIGSEGV)", ""},
    {"", "plain.cfg --implementation lib.so", 2, "", "lib.so: name the function with --entry"},
    {"", "plain.cfg --implementation lib.so --entry mime", 2, "", "no function 'mime'; did you mean 'mine'?"},
    {"", "two.cfg --implementation lib.so --entry mine", 2, "", "two.cfg has several stages"},
    {"", "plain.cfg --implementation cut.so --entry mine", 2, "", "cut.so is truncated"},
    {"", "job.cfg --set X=3", 2, "", "X cannot be 3; its values are 1, 2, 7"},
    {"", "job.cfg --set Y=3", 2, "", "no parameter 'Y'"},
    {"", "plain.cfg --set X=3", 2, "", "no parameter 'X'"},
    {"", "job.cfg --set X=7 --set MODE=wrong", 2, "", "constraints exclude X=7,MODE=wrong"},
    {"", "none.cfg", 2, "", "'reference' is missing"},
    {"", "unverified.cfg", 2, "", "judging a kernel needs a reference"},
    {"", "nothing.cfg", 2, "", "nothing.cfg"},
    {"", "plain.cfg -d replay:x.json", 2, "", "needs a GPU"},
    {"export FAKE_ENVIRONMENT='no CUDA driver';", "plain.cfg", 3, "", "no CUDA driver"},
    {"", "job.cfg --set MODE=other_word", 3, "", "the GPU worker answered 'excellent'"},
    {"", "job.cfg --set MODE=compile_nonsense", 3, "", ""},
};

static int64_t number(const struct job *job, const struct expr *e)
{
    int64_t value, *values = test_owned(memory_new(symbols_count(job->symbols), sizeof *values));
    struct error err;
    if (expr_eval(e, values, &value, &err)) fail_msg("%s", err.message);
    return value;
}

// The block, the shared memory and the pointers after the job's arguments come from the metadata. The reference uses
// the job's.
TEST(a_kernel_of_triton_is_launched_as_its_metadata_says)
{
    static const struct {
        const char *metadata, *said;
    } refused[] = {
        {TRITON("64", "0"), "needs 64 bytes of global_scratch for each block"},
        {TRITON("0", "8"), "needs 8 bytes of profile_scratch"},
        {TRITON("0", "0, \"num_ctas\": 2"), "clusters of blocks (num_ctas = 2) are not supported"},
        {TRITON("0", "0, \"tensordesc_meta\": [{}]"), "tensor descriptors are not supported"},
        {"{\"triton_version\": \"3.6.0\", \"name\": \"mine\", \"num_warps\": 99, \"shared\": 0}", "num_warps"},
        {"{\"triton_version\": \"3.6.0\", \"name\": \"mine\", \"num_warps\": 4}", "shared"},
    };
    char *folder = e2e_folder("judge_triton"), *binary = test_text("%s/tri.ptx", folder);
    struct error err = {""};
    write_jobs(folder);
    struct job *job = loaded_job(test_text("%s/plain.cfg", folder));
    if (job_follow_triton(job, binary, &err)) fail_msg("%s", err.message);
    const struct stage *stage = job->stages;
    assert_string_equal(stage->entry, "mine");
    assert_int_equal(number(job, stage->block[0]), 256);
    assert_int_equal(number(job, stage->shared), 49152);
    assert_int_equal(stage->argument_count, 3);
    assert_int_equal(number(job, stage->arguments[2].value), 0);
    const struct stage reference = job_stage_of(job, &job->others.reference);
    assert_true(reference.argument_count == 1 && !strcmp(reference.entry, "x"));
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        e2e_write(folder, "tri.json", refused[i].metadata);
        job = loaded_job(test_text("%s/plain.cfg", folder));
        if (!job_follow_triton(job, binary, &err)) fail_msg("case %zu", i);
        assert_contains(err.message, "/tri.json: ", refused[i].said);
    }
}

TEST(the_table_of_verdicts_and_exit_statuses_holds)
{
    char *folder = e2e_folder("judge");
    write_jobs(folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct e2e_result r = run(folder, cases[i].before, cases[i].options);
        if (r.status != cases[i].status) fail_msg("%s: status %d\n%s\n%s", cases[i].options, r.status, r.out, r.err);
        assert_contains(r.out, cases[i].out);
        assert_contains(r.err, cases[i].err);
    }
    assert_int_equal(rmdir(test_text("%s/out", folder)), 0); // empty, so there is no store
}

static json_t *judge(const char *folder, const char *options, int status)
{
    struct e2e_result r = run(folder, "", test_text("%s -f json", options));
    struct error err;
    if (r.status != status) fail_msg("%s: status %d\n%s\n%s", options, r.status, r.out, r.err);
    json_t *document = json_parse(r.out, &err);
    if (!document) fail_msg("%s: %s\n%s", options, err.message, r.out);
    return test_json(document);
}

static const char *const members[] = {"format",        "version",         "job",       "template", "template_hash",
                                      "configuration", "device",          "driver",    "compiler", "right",
                                      "status",        "reason",          "error",     "seed",     "compute",
                                      "problems",      "sanitizers",      "sanitizer", "counters", "findings",
                                      "notes",         "launches_judged", "depth"};

TEST(the_document_has_these_members)
{
    char *folder = e2e_folder("judge_document");
    write_jobs(folder);
    json_t *document = judge(folder, "job.cfg", 0);
    assert_int_equal(json_object_size(document), sizeof members / sizeof *members);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!json_object_get(document, members[i])) fail_msg("no %s", members[i]);
}

static const json_t *problem_of(const json_t *document, size_t p)
{
    return json_array_get(json_object_get(document, "problems"), p);
}

static const char *depth_of(const json_t *document)
{
    const char *all = "";
    json_array_each(json_object_get(document, "depth"), i, step) all = test_text("%s%s ", all, json_string_value(step));
    return all;
}

TEST(the_document_of_a_right_kernel_has_times_and_ratios)
{
    char *folder = e2e_folder("judge_right");
    write_jobs(folder);
    json_t *document = judge(folder, "job.cfg --set X=2,MODE=good", 0);
    assert_int_equal(json_get_integer(document, "version", 0), 1);
    assert_true(json_get_bool(document, "right", false));
    assert_string_equal(json_get_string(document, "status", ""), "ok");
    assert_string_equal(json_get_string(document, "configuration", ""), "X=2,MODE=good");
    assert_string_equal(json_get_string(document, "device", ""), "Fake GPU");
    assert_int_equal(strlen(json_get_string(document, "template_hash", "")), 32);
    assert_true(json_get_integer(document, "seed", -1) >= 0);
    const json_t *tuned = problem_of(document, 0), *verified = problem_of(document, 1),
                 *baseline = json_array_get(json_object_get(tuned, "baselines"), 0);
    assert_int_equal(json_array_size(json_object_get(document, "problems")), 2);
    assert_int_equal(json_array_size(json_object_get(tuned, "time")), 3);
    assert_int_equal(json_array_size(json_object_get(tuned, "samples")), 10);
    assert_string_equal(json_get_string(baseline, "name", ""), "cublas");
    double ratio = json_number_value(json_array_get(json_object_get(baseline, "ratio"), 0));
    assert_true(ratio > 0.87 && ratio < 0.89); // 1.1 ms over 1.25 ms
    assert_string_equal(json_get_string(verified, "status", ""), "ok");
    assert_null(json_object_get(verified, "time"));
    assert_int_equal(json_array_size(json_object_get(document, "sanitizers")), 4);
    assert_true(json_array_size(json_object_get(document, "findings")) > 0);
    assert_string_equal(depth_of(document), "compiled verified sanitized timed counted ");
}

TEST(the_document_of_a_wrong_kernel_has_no_times)
{
    char *folder = e2e_folder("judge_wrong");
    write_jobs(folder);
    static const char *const modes[][2] = {{"wrong", "compiled verified sanitized "},
                                           {"sanitize_memcheck", "compiled verified sanitized "},
                                           {"final_wrong", "compiled verified sanitized timed "},
                                           {"abort", "compiled sanitized "},
                                           {"says_crashed", "compiled sanitized "},
                                           {"compile_error", ""},
                                           {"registers", ""},
                                           {"hang", "compiled "}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        json_t *document = judge(folder, test_text("job.cfg --set MODE=%s", modes[i][0]), 1);
        assert_false(json_get_bool(document, "right", true));
        assert_true(*json_get_string(document, "reason", "") != 0);
        assert_null(json_object_get(problem_of(document, 0), "time"));
        assert_int_equal(json_array_size(json_object_get(document, "counters")), 0);
        assert_int_equal(json_object_size(document), sizeof members / sizeof *members);
        assert_string_equal(depth_of(document), modes[i][1]);
    }
}

// The other commands accept such a job as well.
TEST(a_job_without_parameters_is_one_configuration)
{
    char *folder = e2e_folder("judge_plain");
    write_jobs(folder);
    static const struct {
        const char *command, *out;
    } commands[] = {{"check plain.cfg", "0 parameters, 1 valid configurations of 1"},
                    {"check empty.cfg", "0 parameters, 1 valid configurations of 1"},
                    {"tune plain.cfg -q --store p.db", "winner: trial 1, "},
                    {"compare plain.cfg --store p.db", "compute-sanitizer 2025.3.1.0 on N=1024: "},
                    {"header plain.cfg --store p.db --output p.h", "p.h"},
                    {"profile plain.cfg --store p.db --cache cache", "Findings"}};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct e2e_result r = e2e_run(folder, FAKE "cd $DIR && $BIN/sweetspot %s", commands[i].command);
        if (r.status) fail_msg("%s: status %d\n%s\n%s", commands[i].command, r.status, r.out, r.err);
        assert_contains(r.out, commands[i].out);
    }
}

// The seed of the final's data is random, not the job's.
TEST(no_two_judgements_use_the_same_data)
{
    char *folder = e2e_folder("judge_seed");
    write_jobs(folder);
    json_t *one = judge(folder, "plain.cfg", 0), *other = judge(folder, "plain.cfg", 0);
    assert_true(json_get_integer(one, "seed", -1) != json_get_integer(other, "seed", -1));
}

TEST_MAIN(NULL, NULL)
