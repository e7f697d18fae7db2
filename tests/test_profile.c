// Profiles without a GPU: line tables of real cubins, recorded profiles of the classic bank conflict, and the commands
// against a scripted worker.
#include "tests/scripted.h"
#include "tests/stored_text.h"

#include "tuner/base/json.h"
#include "tuner/base/protocol.h"
#include "tuner/counting/linetable.h"
#include "tuner/explain/explain.h"
#include "tuner/explain/findings.h"
#include "tuner/explain/limiter.h"
#include "tuner/explain/profile.h"
#include "tuner/libraries/cupti_library.h"
#include "tuner/store/store.h"

static struct error err; // from the last call that failed

// The helper `load` is called in lines 5 and 9, in functions that are inlined into k in lines 14 and 15.
static const char inlined[] =
    "template <int N> __device__ __forceinline__ void load(float *to, const float *from)\n"  // 1
    "{\n"                                                                                    // 2
    "    for (int i = 0; i < N; i++) to[i] = __ldg(from + 64 * i);\n"                        // 3
    "}\n"                                                                                    // 4
    "__device__ __forceinline__ void first(float *to, const float *a) { load<2>(to, a); }\n" // 5
    "__device__ __forceinline__ void second(float *to, const float *b)\n"                    // 6
    "{\n"                                                                                    // 7
    "    to += 2;\n"                                                                         // 8
    "    load<2>(to, b);\n"                                                                  // 9
    "}\n"                                                                                    // 10
    "extern \"C\" __global__ void k(const float *a, const float *b, float *c)\n{\n"          // 11, 12
    "    float x[4];\n"                                                                      // 13
    "    first(x, a + threadIdx.x);\n"                                                       // 14
    "    second(x, b + threadIdx.x);\n"                                                      // 15
    "    c[threadIdx.x] = x[0] + x[1] * x[2] + x[3];\n"                                      // 16
    "}\n";

static char *compile_inlined(char *folder, size_t *size)
{
    e2e_write(folder, "inlined.cu", inlined);
    struct e2e_result r = e2e_run(folder,
                                  "echo "
                                  "'{\"id\":1,\"op\":\"compile\",\"arch\":\"sm_90a\",\"source\":\"%s/"
                                  "inlined.cu\",\"include\":[],\"entries\":[\"k\"],\"options\":[],"
                                  "\"defines\":{},\"cache\":\"%s/cache\",\"deadline\":60}' | $BIN/sweetspot-compile",
                                  folder, folder);
    json_t *answer = test_json(json_parse(r.out, &err));
    char *cubin = answer ? text_read_file(json_get_string(answer, "cubin", ""), size) : NULL;
    if (!cubin) fail_msg("no cubin: %s%s", r.out, r.err);
    return cubin;
}

TEST(a_line_table_follows_inlined_calls_outwards)
{
    char *folder = e2e_folder("linetable");
    size_t size, helper[17] = {0}, all = 0;
    autofree char *cubin = compile_inlined(folder, &size);
    struct linetable *table;
    if (linetable_read(&table, cubin, size, "k", &err)) fail_msg("%s", err.message);
    assert_int_equal(linetable_depth(table), 3);
    for (size_t at = 0; at < linetable_code_bytes(table); at += 16) {
        struct source_place places[3];
        size_t depth = linetable_find(table, at, places);
        if (!depth) continue;
        all++;
        assert_string_equal(places[0].file, "inlined.cu");
        if (places[0].line != 3) continue;
        assert_int_equal(depth, 3); // the load, its call, and that function's call
        assert_true((places[1].line == 5 && places[2].line == 14) || (places[1].line == 9 && places[2].line == 15));
        helper[places[1].line]++;
    }
    assert_true(helper[5] >= 1 && helper[9] >= 1);
    assert_true(all > 10);
    linetable_free(table);
    if (!linetable_read(&table, cubin, size, "nobody", &err)) fail_msg("a kernel that is not there was found");
    assert_contains(err.message, "no kernel 'nobody'");
}

TEST(a_damaged_cubin_is_refused_or_read_but_never_a_crash)
{
    char *folder = e2e_folder("damaged");
    size_t size;
    autofree char *cubin = compile_inlined(folder, &size), *copy = memory_new(size, 1);
    struct linetable *table;
    assert_true(size > 0);
    for (size_t cut = 0; cut < size; cut += 1 + size / 397) {
        autofree char *part = memory_new(cut + 1, 1); // exact size, so that a sanitizer sees every overrun
        memcpy(part, cubin, cut);
        if (!linetable_read(&table, part, cut, "k", &err)) linetable_free(table);
    }
    unsigned random = 1;
    for (int round = 0; round < 2000; round++) {
        memcpy(copy, cubin, size);
        for (int i = 0; i < 8; i++) {
            random = random * 1103515245 + 12345;
            copy[(random >> 8) % size] = (char)random;
        }
        if (linetable_read(&table, copy, size, "k", &err)) continue;
        autofree struct source_place *places = memory_new(linetable_depth(table), sizeof *places);
        for (size_t at = 0; at < 4096; at += 16) linetable_find(table, at, places);
        linetable_free(table);
    }
    assert_int_equal(linetable_read(&table, "hello", 5, "k", &err), -1);
}

static json_t *recorded(int tile_col)
{
    char *path = test_text("tests/profiles/sgemm_2048_h200_tile_col_%d.json", tile_col),
         *text = test_owned(text_read_file(path, NULL));
    json_t *document = text ? json_parse(text, &err) : NULL;
    if (!document) fail_msg("%s: %s", path, text ? err.message : "cannot be read");
    return test_json(document);
}

TEST(the_line_that_loads_b_is_named_with_tile_col_size_8_and_clean_with_4)
{
    struct profile_culprit blame[4];
    json_t *eight = recorded(8), *four = recorded(4);
    const json_t *stage = profile_main_stage(json_object_get(eight, "profile"));
    assert_true(profile_culprit(stage, EXCESS_SHARED, blame, 4) >= 1);
    assert_contains(json_get_string(blame[0].line, "text", ""), "load<TILE_COL_SIZE>(b + ");
    assert_true(fabs(blame[0].ratio - 2) < 0.01);
    assert_int_equal(profile_culprit(profile_main_stage(json_object_get(four, "profile")), EXCESS_SHARED, blame, 4), 0);
}

TEST(the_sum_over_lines_is_the_kernels_total)
{
    for (int tile_col = 4; tile_col <= 8; tile_col += 4) {
        json_t *document = recorded(tile_col);
        const json_t *stage = profile_main_stage(json_object_get(document, "profile"));
        json_object_each(json_object_get(stage, "totals"), key, value) {
            double sum = 0, total = json_number_value(value);
            json_array_each(json_object_get(stage, "lines"), i, line)
                sum += json_get_number(json_object_get(line, "self"), key, 0);
            assert_true(fabs(sum - total) <= 1e-6 * total);
        }
        // CUPTI's instrumented code and the hardware count the same number of instructions.
        double executed = profile_number(stage, "executed"), instructions = profile_number(stage, "instructions");
        assert_true(fabs(json_get_number(json_object_get(stage, "totals"), "instructions", NAN) / executed - 1) < 0.01);
        assert_true(fabs(instructions / executed - 1) < 0.01);
    }
}

TEST(the_recorded_conflict_is_a_finding_that_proposes_tile_col_size_4)
{
    struct job *job;
    struct mistakes mistakes = {0};
    struct finding list[FINDINGS_MAX];
    json_t *eight = recorded(8), *four = recorded(4);
    if (job_load("configs/sgemm_2048.cfg", &job, &mistakes) || job_build_space(job, &device_limits_h200, &err))
        fail_msg("the job does not load");
    assert_true(findings_make(json_object_get(eight, "profile"), job, &device_limits_h200, list) >= 1);
    assert_string_equal(list[0].rule, "bank_conflicts");
    assert_contains(list[0].advice, "TILE_COL_SIZE=4");
    double gain = 1 - json_get_number(json_object_get(four, "profile"), "time", NAN) /
                          json_get_number(json_object_get(eight, "profile"), "time", NAN);
    assert_true(list[0].gain >= gain); // the estimate is an upper bound
    size_t count = findings_make(json_object_get(four, "profile"), job, &device_limits_h200, list);
    for (size_t i = 0; i < count; i++) assert_string_not_equal(list[i].rule, "bank_conflicts");
    job_free(job);
}

TEST(a_place_under_the_roofline_is_data)
{
    json_t *document = recorded(4), *profile = json_object_get(document, "profile"),
           *location = profile_roofline(profile);
    const json_t *ceilings = json_object_get(profile, "ceilings");
    double rate = json_get_number(profile, "flops", NAN) / json_get_number(profile, "time", NAN),
           flat = json_get_number(ceilings, "flops_per_second", NAN);
    char text[64];
    assert_true(fabs(json_get_number(location, "flops_per_second", NAN) / rate - 1) < 1e-9);
    assert_true(json_get_number(location, "roof", NAN) == flat); // far to the right of the ridge
    assert_true(fabs(json_get_number(location, "reached", NAN) - rate / flat) < 1e-9);
    assert_string_equal(profile_occupancy_limit(profile_main_stage(profile), text, sizeof text), "registers");
    json_decref(location);
}

static char *printed(const json_t *profile)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    profile_print(out, profile, NULL, "templates/gemm_simt.cu");
    fclose(out);
    return text;
}

TEST(tensor_ceilings_are_shown_to_kernels_that_use_the_pipe_alone)
{
    json_t *document = recorded(4), *profile = json_object_get(document, "profile"), *location;
    json_object_set_new(json_object_get(profile, "ceilings"), "tensor_bf16_flops_per_second", json_real(6.3e14));
    json_object_set_new(json_object_get(profile, "ceilings"), "wgmma_bf16_flops_per_second", json_real(8.1e14));
    char *text = printed(profile);
    assert_null(strstr(text, "by mma.sync"));
    assert_contains(text, "roofline at that intensity");
    free(text);
    json_object_set_new(json_object_get((json_t *)(uintptr_t)profile_main_stage(profile), "counters"), "pipe_tensor",
                        json_real(60));
    text = printed(profile);
    const char *mma = strstr(text, "bf16 by mma.sync "), *wgmma = strstr(text, "bf16 by wgmma ");
    assert_true(mma && strstr(mma, " 630.0 TFLOP/s") && wgmma && strstr(wgmma, " 810.0 TFLOP/s") && mma < wgmma);
    assert_null(strstr(text, "tf32 by mma.sync"));           // not measured
    assert_null(strstr(text, "roofline at that intensity")); // FP32's does not apply
    free(text);
    location = profile_roofline(profile);
    assert_true(json_is_null(json_object_get(location, "roof")));
    json_decref(location);
}

TEST(shares_of_the_time_sum_up_to_all_of_it)
{
    json_t *document = recorded(8);
    struct profile_share shares[PROFILE_SHARES];
    double sum = 0;
    size_t count = profile_shares(profile_main_stage(json_object_get(document, "profile")), shares, PROFILE_SHARES);
    for (size_t i = 0; i < count; i++) sum += shares[i].share;
    assert_true(count > 5 && fabs(sum - 1) < 1e-9);
    assert_string_equal(shares[0].reason, "short_scoreboard");
}

TEST(three_times_say_what_limits_a_kernel)
{
    double overlap;
    assert_int_equal(limiter_decide(10, 9.8, 3, &overlap), LIMITER_MEMORY);
    assert_true(overlap > 0.9);
    assert_int_equal(limiter_decide(10, 3, 9.8, NULL), LIMITER_MATH);
    assert_int_equal(limiter_decide(10, 9.5, 9.6, NULL), LIMITER_BALANCED);
    assert_int_equal(limiter_decide(19, 9.5, 9.6, &overlap), LIMITER_LATENCY);
    assert_true(overlap < 0.1);
    assert_int_equal(limiter_decide(13, 9, 4, NULL), LIMITER_LATENCY);
    assert_int_equal(limiter_decide(NAN, 9, 4, NULL), LIMITER_UNKNOWN);
    assert_int_equal(limiter_decide(1, 0, 4, NULL), LIMITER_UNKNOWN);
}

static void write_job(const char *folder)
{
    SCRIPTED_JOB(folder, .block = "512", .source = "extern \"C\" __global__ void x(float *y) {} // X\n",
                 .parameters = "{ name = \"X\"; values = [1, 2, 7]; }, { name = \"MODE\"; values = [\"good\", "
                               "\"wrong\", \"compile_error\", \"nondeterministic\", \"implausible\", \"hang\", "
                               "\"abort\", \"profile_crash\", \"registers\", \"irreproducible\"]; }",
                 .more = "constraints = ( \"X < 7 || MODE == \\\"good\\\"\" ); measure = { timeout = \"4s\"; };\n"
                         "metrics = [\"dram__cycles.avg\"]; strategy = \"exhaustive\";");
}

#define FAKE SCRIPTED "$BIN/sweetspot "

static const struct {
    const char *before, *options;
    int status;
    const char *out, *err; // parts of the output
} cases[] = {
    {"", "profile --trial X=2,MODE=good", 0, "Findings", ""},
    {"", "profile --trial X=2,MODE=good", 0, "1. bank_conflicts: line 1 needs 2.00 times", ""},
    {"", "profile --trial X=2,MODE=good", 0, "X=1 makes that line's accesses", ""},
    {"", "profile --trial X=2,MODE=good -a X=1,MODE=good", 0, "against candidate", ""},
    {"", "profile --trial X=2,MODE=good -f json", 0, "\"rule\": \"bank_conflicts\"", ""},
    {"", "profile", 1, "", "no trial of fake has been measured yet"},
    {"", "profile --trial 17", 1, "", "no trial of fake has been measured yet"},
    {"", "profile --trial Y=2", 2, "", "no parameter 'Y'"},
    {"", "profile --trial X=3", 2, "", "X cannot be 3; its values are 1, 2, 7"},
    {"", "profile --trial X=7,MODE=wrong", 2, "", "constraints exclude X=7,MODE=wrong"},
    {"", "profile --trial X=1,MODE=good -p 2", 2, "", "has no problem 2 that is tuned; the last is 1"},
    {"", "profile --trial X=1,MODE=good -d replay:x", 2, "", "needs a GPU"},
    {"", "profile --trial X=1,MODE=wrong", 1, "", "cannot be profiled: wrong: scripted"},
    {"", "profile --trial X=1,MODE=compile_error", 1, "", "cannot be profiled: compile_error: x.cu(3): error"},
    {"", "profile --trial X=1,MODE=registers", 1, "", "cannot be profiled: pruned: "},
    {"", "profile --trial X=1,MODE=hang", 1, "", "within 4 s"},
    {"", "profile --trial X=1,MODE=abort", 1, "", "signal 6"},
    {"", "profile --trial X=1,MODE=profile_crash", 1, "", "signal 6"},
    {"", "profile --trial X=1,MODE=nondeterministic", 0, "two runs of this candidate differ", ""},
    {"", "profile --trial X=1,MODE=implausible", 0, "the time is impossible", ""},
    {"", "profile --trial X=1,MODE=good -a nolibrary", 1, "", "no baseline 'nolibrary'"},
    {"", "profile --trial X=1,MODE=good -a cublas", 0, "against cublas", ""},
    {"export FAKE_NO_COUNTERS='ERR_NVGPUCTRPERM: no permission';", "profile --trial X=1,MODE=good", 3, "limited by",
     "no hardware counters: ERR_NVGPUCTRPERM"},
    {"export FAKE_MISSING='chip GH100 lacks x_misses (sm__x.sum)';", "profile --trial X=1,MODE=good", 0,
     "note: chip GH100 lacks x_misses (sm__x.sum)", ""},
    {"", "profile --trial X=1,MODE=good -f json", 0, "\"dram__cycles.avg\": 7", ""},
    {"", "profile --trial X=1,MODE=irreproducible", 0,
     "x is not reproducible between passes: it executed 3e+08 instructions in one launch and 2e+08 in another", ""},
    {"export FAKE_TIME=2e-6;", "profile --trial X=1,MODE=good", 0,
     "the kernel takes 2.00 us: launch overhead dominates", ""},
    {"export FAKE_TIME=20;", "profile --trial X=1,MODE=good", 0, "20.0",
     "counting a kernel of 20 s: every pass launches it twice, about 34 minutes in all (at most 110)"},
    {"", "profile --trial X=1,MODE=hang", 1, "", "the job's measure.timeout is too short"},
    {"export SWEETSPOT_COUNTERS=none FAKE_NO_COUNTERS=none FAKE_TIME=20;", "profile --trial X=1,MODE=good", 0,
     "theoretical", ""},
    {"export FAKE_ENVIRONMENT='no CUDA driver';", "profile --trial X=1,MODE=good", 3, "", "no CUDA driver"},
    {"", "profile --limits --trial X=1,MODE=good", 1, "", "has no variants"},
    {"", "profile --limits --trial cublas", 1, "", "has no variants"},
};

TEST(the_commands_say_what_is_wrong)
{
    char *folder = e2e_folder("profile");
    write_job(folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char command[16];
        const char *rest = strchr(cases[i].options, ' ');
        snprintf(command, sizeof command, "%.*s", rest ? (int)(rest - cases[i].options) : 15, cases[i].options);
        struct e2e_result r = e2e_run(folder, "%s " FAKE "%s $DIR/job.cfg --cache $DIR/cache %s", cases[i].before,
                                      command, rest ? rest : "");
        if (r.status != cases[i].status) fail_msg("%s: status %d\n%s\n%s", cases[i].options, r.status, r.out, r.err);
        assert_contains(r.out, cases[i].out);
        assert_contains(r.err, cases[i].err);
    }
}

TEST(the_best_and_the_runner_up_come_from_the_store)
{
    char *folder = e2e_folder("best");
    write_job(folder);
    e2e_pass(folder, FAKE "tune $DIR/job.cfg --store $DIR/job.db -q --no-final");
    struct e2e_result r =
        e2e_pass(folder, FAKE "profile $DIR/job.cfg --store $DIR/job.db --cache $DIR/cache -a runner-up");
    assert_contains(r.out, "X=7,MODE=good"); // the fake worker's fastest
    assert_contains(r.out, "against trial ", "X=2,MODE=");
    r = e2e_run(folder, FAKE "profile $DIR/job.cfg --store $DIR/job.db --cache $DIR/cache --trial X=1");
    assert_contains(r.out, "X=1,MODE=good"); // the other parameters as in the best
    r = e2e_ended(2, e2e_run(folder, FAKE "profile $DIR/job.cfg --store $DIR/job.db --cache $DIR/cache --trial 999"));
    assert_contains(r.err, "no trial 999");
}

TEST(a_reproducible_long_kernel_has_no_such_notes)
{
    char *folder = e2e_folder("clean");
    write_job(folder);
    struct e2e_result r = e2e_pass(folder, FAKE "profile $DIR/job.cfg --cache $DIR/cache --trial X=1,MODE=good");
    assert_null(strstr(r.out, "not reproducible"));
    assert_null(strstr(r.out, "launch overhead"));
    assert_null(strstr(r.err, "counting a kernel"));
    assert_true(explain_timeout(20) > 20 * 2 * 100);
    assert_true(explain_timeout(NAN) == explain_timeout(0) && explain_timeout(0) >= 60);
}

TEST(the_device_rests_unless_the_job_says_otherwise)
{
    static const struct {
        const char *setting, *expected;
    } rests[] = {{"", "rest 0.0004\n"}, {"rest = \"0us\"; ", "rest 0\n"}, {"rest = \"1ms\"; ", "rest 0.001\n"}};
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++) {
        char *folder = e2e_folder("rest");
        write_job(folder);
        struct e2e_result r = e2e_run(
            folder,
            "sed -i 's/measure = { /measure = { %s/' $DIR/job.cfg; export FAKE_LOG=$DIR/log FAKE_LOG_REST=1; " FAKE
            "profile $DIR/job.cfg --cache $DIR/cache --trial X=1,MODE=good >$DIR/profile; grep rest $DIR/log",
            rests[i].setting);
        assert_string_equal(r.out, rests[i].expected);
    }
}

TEST(a_failed_trial_is_shown_with_its_stored_reason)
{
    char *folder = e2e_folder("failed");
    bool seen = false;
    write_job(folder);
    e2e_pass(folder, FAKE "tune $DIR/job.cfg --store $DIR/job.db -q --no-final");
    for (int trial = 1; trial < 20 && !seen; trial++) {
        struct e2e_result r =
            e2e_run(folder, FAKE "profile $DIR/job.cfg --store $DIR/job.db --cache $DIR/cache --trial %d", trial);
        seen = strstr(r.err, "MODE=wrong) failed when it was tried: wrong: scripted") != NULL;
        if (seen) assert_int_equal(r.status, 1);
    }
    assert_true(seen);
}

static int log_lines(const char *folder, const char *word)
{
    struct e2e_result r = e2e_run(folder, "grep -c %s $DIR/log", word);
    return atoi(r.out);
}

static void profile_with_ceilings(const char *folder)
{
    struct e2e_result r = e2e_pass(folder, "export FAKE_LOG=$DIR/log FAKE_LOG_CEILINGS=1; " FAKE
                                           "profile $DIR/job.cfg --store $DIR/job.db --cache $DIR/cache -f json");
    assert_contains(r.out, "\"flops_per_second\": 60000000000000");
}

TEST(ceilings_are_measured_once_and_kept_in_the_store)
{
    char *folder = e2e_folder("ceilings");
    write_job(folder);
    e2e_pass(folder, FAKE "tune $DIR/job.cfg --store $DIR/job.db -q --no-final");
    for (int round = 0; round < 2; round++) profile_with_ceilings(folder); // `tune` has stored them
    assert_int_equal(log_lines(folder, "ceilings"), 0);
    struct store *store;
    struct environment environment;
    assert_int_equal(store_open(&store, test_text("%s/job.db", folder), false, &err), 0);
    assert_int_equal(store_last_environment(store, &environment, &err), 0);
    assert_int_equal(put_text(store, 0, "ceilings", "{}", &err), 0); // as from a version without ceilings
    store_close(store);
    for (int round = 0; round < 2; round++) {
        profile_with_ceilings(folder);
        assert_int_equal(log_lines(folder, "ceilings"), 1); // the first measures them, the second reuses them
    }
}

TEST(missing_counters_are_reported_with_how_to_fix_it)
{
    static const struct {
        CUptiResult result;
        const char *words;
    } failures[] = {
        {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "NVreg_RestrictProfilingToAdminUsers=0"},
        {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, "NVreg_RestrictProfilingToAdminUsers=0"},
        {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "virtual GPU whose counters are not passed through"},
        {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, "slice of a GPU (MIG)"},
        {CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, "confidential computing is on"},
        {CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, "WSL passes no counters"},
        {CUPTI_ERROR_NOT_SUPPORTED, "has no such counters"},
        {CUPTI_ERROR_HARDWARE_BUSY, "another profiler"},
    };
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        char number[16];
        snprintf(number, sizeof number, "(%d)", failures[i].result);
        assert_int_equal(cupti_library_fail(&err, "cuptiSomething", failures[i].result), -1);
        assert_contains(err.message, failures[i].words, number);
    }
}

TEST(metrics_are_listed_without_a_gpu)
{
    char *folder = e2e_folder("metrics");
    struct e2e_result r = e2e_run(folder, "$BIN/sweetspot list counters --chip GH100 icache");
    // CUPTI is missing, or a sanitizer keeps it from loading its own libraries.
    if (r.status == EXIT_ENVIRONMENT && (strstr(r.err, "libcupti") || strstr(r.err, "sanitizer"))) skip();
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    assert_contains(r.out, "sm__icc_requests_lookup_miss", "icache_misses (.sum)");
    r = e2e_run(folder, "$BIN/sweetspot list counters --chip GH100 'dram__bytes*' -f csv");
    assert_contains(r.out, "dram__bytes_read,counter,");
    r = e2e_run(folder, "$BIN/sweetspot list counters --chip GH100 nothing_like_it");
    assert_int_equal(r.status, EXIT_NOTHING);
    r = e2e_run(folder, "$BIN/sweetspot list counters --chip XX999");
    assert_int_equal(r.status, EXIT_ENVIRONMENT);
    assert_contains(r.err, "install a newer CUPTI");
}

// For included files, NVRTC writes its working folder before the path.
TEST(a_line_of_an_included_file_has_its_text)
{
    static const struct {
        const char *directory, *file, *text;
    } lines[] = {
        {"/proc/sys/kernel/gemm_simt", "mainloop.cuh", "load<TILE_COL_SIZE>(b + j * TILE_COL_SIZE, b_row"},
        {"/proc/sys/kernel/gemm_simt/../gemm_simt", "mainloop.cuh", "load<TILE_COL_SIZE>(b + "},
        {"templates/gemm_simt", "mainloop.cuh", "load<TILE_COL_SIZE>(b + "},
        {"/proc/sys/kernel/gemm_simt", "missing.cuh", NULL},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        json_t *line =
            test_json(json_pack("{s:s, s:s, s:i}", "directory", lines[i].directory, "file", lines[i].file, "line", 27));
        autofree char *text = profile_source("templates/gemm_simt.cu", line);
        if (lines[i].text)
            assert_contains(text, lines[i].text);
        else
            assert_string_equal(text, "");
    }
}

TEST_MAIN(NULL, NULL)
