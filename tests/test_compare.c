// The output of `compare` and `status` about a job follows from its store, in all three formats. Without a final, the
// output says how to get one.
#include "tests/shared_job.h"
#include "tests/stored_text.h"
#include "tests/testing.h"

#include <signal.h>
#include <sys/wait.h>

#include "tuner/base/table.h"
#include "tuner/cli/commands.h"
#include "tuner/final/finals.h"

TEST_WITH(without_a_store_or_a_final_it_says_how_to_get_one, setup, teardown)
{
    assert_contains(finished_says(&job, 1, "compare JOB --store STORE").err, "there is no store", "sweetspot tune");
    assert_int_equal(symlink(job.store, job.store), 0);
    assert_contains(finished_says(&job, 3, "compare JOB --store STORE").err, "Too many levels of symbolic links");
    assert_int_equal(unlink(job.store), 0);
    struct store *store;
    assert_int_equal(store_open(&store, job.store, true, NULL), 0);
    store_close(store);
    assert_contains(finished_says(&job, 1, "compare JOB --store STORE").err, "no run yet");
    finished_trials(&job);
    assert_contains(finished_says(&job, 1, "compare JOB --store STORE").err, "has decided a winner yet",
                    "sweetspot tune");
}

TEST_WITH(the_table_has_times_ratios_and_their_intervals, setup, teardown)
{
    finished_decided(&job);
    struct said said = finished_says(&job, 0, "compare JOB --store STORE");
    assert_contains(said.out, "mini-gemm on NVIDIA H200 (driver 580.1, nvrtc 13.0)", "40 rounds",
                    "winner: trial 1  BLOCK_M=64,UNROLL_K=4,REDUCTION=shared",
                    "tie with trial 2  BLOCK_M=128,UNROLL_K=4,REDUCTION=shuffle", "ratio to cublas", "M=4096,N=4096",
                    "1.300 ms",             // the median round
                    "0.900 [0.900, 0.900]", // paired, so the rounds' variation cancels
                    "1.600 [1.600, 1.600]", "geometric mean",
                    "1.200 [1.200, 1.200]", // sqrt(0.9 * 1.6)
                    "GB/s",                 // half an operation per byte
                    "1.00e-06", "The tuned kernel's largest error is 2.5 times that of cublas: ");
    assert_contains(said.err, "cublasLt has no time: no heuristic");
    assert_null(strstr(said.out, "of ceiling")); // not measured, so there is no such column
}

TEST_WITH(json_has_one_entry_for_each_problem_and_kernel, setup, teardown)
{
    finished_decided(&job);
    char *out = finished_says(&job, 0, "compare JOB --format=json -s STORE").out;
    json_t *root = test_json(json_parse(out, NULL));
    const json_t *problems = json_object_get(root, "problems"), *problem = json_array_get(problems, 1);
    size_t libraries = 0;
    assert_int_equal(json_array_size(problems), 2);
    assert_string_equal(json_get_string(problem, "problem", ""), "M=1000,N=77");
    assert_int_equal(json_array_size(json_object_get(problem, "entries")), 4);
    json_array_each(json_object_get(problem, "entries"), i, entry) {
        bool known = !strcmp(json_get_string(entry, "name", ""), "cublas");
        struct interval ratio = json_get_interval(entry, "ratio");
        if (json_get_integer(entry, "trial", 0)) continue;
        libraries++;
        assert_int_equal(json_get_bool(entry, "ok", !known), known);
        assert_string_equal(json_get_string(entry, "reason", ""), known ? "" : "no heuristic");
        assert_int_equal(json_get_integer(entry, "rounds", -1), known ? 40 : 0);
        if (known) assert_true(fabs(ratio.value - 1.6) + fabs(ratio.low - 1.6) + fabs(ratio.high - 1.6) < 1e-12);
    }
    assert_int_equal(libraries, 2);
}

TEST_WITH(work_beyond_the_ceilings_is_doubted, setup, teardown)
{
    static const struct {
        const char *ceilings;
        bool doubted;
    } cases[] = {
        {"{\"bytes_per_second\":1e11,\"flops_per_second\":1e12}", false},
        {"{\"bytes_per_second\":1e11,\"flops_per_second\":1e9}", true}, // 33.6 MFLOP in 1.3 ms
        {"{\"bytes_per_second\":1e11,\"l2_bytes_per_second\":1e9}", true},
        // Measured before wgmma was supported, so the fastest pipe is unknown.
        {"{\"flops_per_second\":1e9,\"tensor_bf16_flops_per_second\":2e9}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct store *store;
        struct environment environment;
        struct error err = {""};
        if (!i) finished_trials(&job);
        if (!i) finished_final(&job);
        assert_int_equal(store_open(&store, job.store, false, &err), 0);
        assert_int_equal(store_last_environment(store, &environment, &err), 0);
        assert_int_equal(put_text(store, 0, "ceilings", cases[i].ceilings, &err), 0);
        store_close(store);
        char *errors = finished_says(&job, 0, "compare JOB --store STORE").err;
        if (!!strstr(errors, "'work' gives") != cases[i].doubted) fail_msg("case %zu: %s", i, errors);
    }
}

TEST_WITH(json_is_json_with_the_same_figures, setup, teardown)
{
    struct error err = {""};
    struct store *store;
    struct environment environment;
    finished_decided(&job);
    assert_int_equal(store_open(&store, job.store, false, &err), 0);
    assert_int_equal(store_last_environment(store, &environment, &err), 0);
    // 4096 x 4096: 67 MB at 134 GB/s take 0.5 ms, and 33.6 MFLOP at 1 TFLOP/s take 0.03 ms.
    assert_int_equal(
        put_text(store, 0, "ceilings", "{\"bytes_per_second\":134217728000,\"flops_per_second\":1e12}", &err), 0);
    store_close(store);
    char *out = finished_says(&job, 0, "compare JOB --format=json --store STORE").out;
    json_t *root = test_json(json_parse(out, &err)), *problem, *entry;
    assert_non_null(root);
    assert_string_equal(json_get_string(root, "device", ""), "NVIDIA H200");
    assert_int_equal(json_get_integer(root, "winner", 0), 1);
    assert_int_equal(json_array_size(json_object_get(root, "ties")), 1);
    problem = json_array_get(json_object_get(root, "problems"), 0);
    entry = json_array_get(json_object_get(problem, "entries"), 0);
    assert_true(fabs(json_get_number(entry, "ceiling_percent", 0) - 100 * 0.0005 / 0.0013) < 0.01);
    assert_true(fabs(json_get_number(entry, "bytes_per_second", 0) - 4 * 4096.0 * 4096 / 0.0013) < 1e6);
    problem = json_array_get(json_object_get(root, "problems"), 1);
    entry = json_array_get(json_object_get(problem, "entries"), 0);
    assert_int_equal(json_get_integer(entry, "rounds", 0), 39); // one round lacks a time
    double overall =
        json_number_value(json_array_get(json_object_get(json_object_get(root, "geometric_mean_ratio"), "cublas"), 0));
    assert_true(fabs(overall - 1.2) < 1e-6);
}

TEST_WITH(a_final_that_makes_no_sense_is_refused, setup, teardown)
{
    static const struct {
        const char *document, *message;
    } cases[] = {
        {"{}", "no entries"},
        {"{\"entries\":[],\"winner\":1}", "no winner"},
        {"{\"entries\":[{\"trial\":2,\"name\":\"2\",\"status\":\"wrong\"}],\"winner\":1}", "no winner"},
        {"{\"entries\":[{\"trial\":1,\"name\":\"1\",\"status\":\"ok\"}],\"winner\":1}", "without times"},
        {"{\"entries\":[1,null,\"x\"],\"winner\":1}", "'entries' of the final is not an object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct final final;
        struct error err = {""};
        json_t *document = test_json(json_parse(cases[i].document, &err));
        assert_int_equal(final_read(&final, document, 2, &err), -1);
        assert_contains(err.message, cases[i].message);
        final_release(&final);
    }
}

TEST_WITH(the_class_of_a_product_is_named, setup, teardown)
{
    static const struct {
        const char *compute, *text, *json;
    } cases[] = {{"", "compute class: full\n", "\"compute\": \"full\""},
                 {"compute = \"3xtf32\";", "compute class: 3xtf32; do not compare with results of other classes\n",
                  "\"compute\": \"3xtf32\""}};
    finished_decided(&job);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *begin = test_owned(text_copy(finished_job_text)), *reference = strstr(begin, "reference ="),
             *end = strstr(reference, "work =");
        *reference = 0;
        autofree char *changed =
            text_format("%sreference = { operation = \"gemm\"; A = \"x\"; B = \"x\"; C = \"y\"; K = \"N\"; %s };\n%s",
                        begin, cases[i].compute, end);
        finished_write(job.job, changed);
        assert_contains(finished_says(&job, 0, "compare JOB --store STORE").out, cases[i].text);
        assert_contains(finished_says(&job, 0, "compare JOB --format=json --store STORE").out, cases[i].json);
    }
}

TEST_WITH(a_final_about_other_problems_is_not_compared, setup, teardown)
{
    char *changed = test_owned(text_copy(finished_job_text));
    finished_decided(&job);
    memcpy(strstr(changed, "N = 77"), "N = 78", 6);
    finished_write(job.job, changed);
    assert_contains(finished_says(&job, 1, "compare JOB --store STORE").err, "did not have the problem");
    assert_contains(finished_says(&job, 2, "header JOB --store STORE --output HEADER").err,
                    "the job file has changed since");
}

TEST_WITH(status_shows_what_was_done_and_how_to_go_on, setup, teardown)
{
    char *out;
    finished_trials(&job);
    out = finished_says(&job, 0, "status JOB --store STORE").out;
    assert_contains(out, "3 of 18 configurations (16.7%): 2 ok, 1 wrong", "trial 2",
                    "BLOCK_M=128,UNROLL_K=4,REDUCTION=shuffle", "1.000 ms [0.990, 1.010]", "against cublas",
                    "ratio 1.100", "3 evaluations in 1m30s, 1 run\n", "stopped: budget", "sweetspot tune ");
    assert_null(strstr(out, "the template has changed"));
    finished_write(job.template, "// another kernel\n");
    out = finished_says(&job, 0, "status JOB --store STORE --format json").out;
    json_t *root = test_json(json_parse(out, NULL));
    assert_true(json_get_bool(root, "source_changed", false));
    assert_int_equal(json_get_integer(root, "tuned_by_process", -1), 0);
    assert_int_equal(json_get_integer(json_object_get(root, "trials"), "wrong", 0), 1);
    assert_int_equal(json_get_integer(root, "trials_total", 0), 3);
}

TEST_WITH(status_names_the_process_that_tunes, setup, teardown)
{
    int ready[2];
    char *out, byte = 0, line[64];
    finished_trials(&job);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        struct store *store;
        bool locked = !store_open(&store, job.store, true, NULL) && !store_lock(store, NULL);
        if (write(ready[1], locked ? "y" : "n", 1) == 1) pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    out = finished_says(&job, 0, "status JOB --store STORE").out;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
    snprintf(line, sizeof line, "process %ld is tuning it now", (long)child);
    assert_contains(out, line);
}

TEST_WITH(what_is_not_this_jobs_store_is_refused, setup, teardown)
{
    char *changed = test_owned(text_copy(finished_job_text)), *other = test_text("%s/other.cfg", job.folder);
    finished_trials(&job);
    memcpy(strstr(changed, "mini-gemm"), "mini-conv", 9);
    finished_write(other, changed);
    assert_contains(finished_says(&job, 2, "status %s --store STORE", other).err,
                    "belongs to the job 'mini-gemm', not to 'mini-conv'");
    finished_write(job.store, "this is a text");
    assert_contains(finished_says(&job, 3, "status JOB --store STORE").err, "is not a sweetspot store");
    finished_write(job.job, "name = 1;\n");
    assert_contains(finished_says(&job, 2, "status JOB --store STORE").err, "mini.cfg:1: ");
}

TEST_WITH(cells_are_aligned_by_what_a_terminal_shows_and_quoted_for_programs, setup, teardown)
{
    char text[512] = "";
    struct table *table = table_new((const char *[]){"name", ">n", "empty", "last", NULL});
    const char *const cells[] = {"a", "1", "", "x,y", "µs", "1000", "", "say \"so\""};
    for (size_t i = 0; i < 8; i++) table_cell(table, "%s", cells[i]);
    FILE *file = fmemopen(text, sizeof text, "w");
    table_print(table, file);
    table_print_csv(table, file);
    fclose(file);
    table_free(table);
    assert_string_equal(text, "name     n  last\n"
                              "a        1  x,y\n"
                              "µs    1000  say \"so\"\n"
                              "name,n,empty,last\n"
                              "a,1,,\"x,y\"\n"
                              "µs,1000,,\"say \"\"so\"\"\"\n");
}

// Two problems with a kernel each. The library takes twice as long as the first kernel and three times as long as the
// second.
TEST_WITH(ratios_are_to_the_kernel_that_is_chosen_for_the_problem, setup, teardown)
{
    struct error err = {""};
    json_t *document = test_json(
        json_parse("{\"winner\":5,\"kernels\":[5,6],\"dispatch\":[0,1],\"regret\":[0,0],\"entries\":[{\"name\":\"a\","
                   "\"trial\":5,\"status\":\"ok\",\"problems\":[{\"problem\":0,\"times\":[1,1.5,2]},{\"problem\":1,"
                   "\"times\":[9,9,9]}]},{\"name\":\"b\",\"trial\":6,\"status\":\"ok\",\"problems\":[{\"problem\":0,"
                   "\"times\":[8,8,8]},{\"problem\":1,\"times\":[2,4,3]}]},{\"name\":\"cublas\",\"status\":\"ok\","
                   "\"problems\":[{\"problem\":0,\"times\":[2,3,4]},{\"problem\":1,\"times\":[6,12,9]}]}]}",
                   &err));
    struct final final;
    if (!document || final_read(&final, document, 2, &err)) fail_msg("%s", err.message);
    const struct final_entry *library = &final.entries[2];
    for (size_t p = 0; p < 2; p++) {
        assert_int_equal(final_choice(&final, p)->trial, p ? 6 : 5);
        assert_true(fabs(library->problems[p].ratio.value - (p ? 3 : 2)) < 1e-12);
    }
    assert_true(fabs(library->ratio.value - sqrt(6)) < 1e-12);
    final_release(&final);
}

TEST_WITH(times_have_four_digits_and_the_unit_that_they_round_to, setup, teardown)
{
    static const struct {
        double seconds;
        const char *shown;
    } cases[] = {{0.9999, "999.9 ms"},    {0.99994, "999.9 ms"},    {0.99996, "1.000 s"}, {9.9994e-4, "999.9 us"},
                 {9.9996e-4, "1.000 ms"}, {2.81047e-3, "2.810 ms"}, {1e-9, "1.000 ns"},   {NAN, "-"},
                 {99.994e-6, "99.99 us"}, {99.996e-6, "100.0 us"},  {12345, "12345 s"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        assert_string_equal(show_time(cases[i].seconds, text, sizeof text), cases[i].shown);
    }
}

TEST_MAIN(NULL, NULL)
