// export and import: the recorded space, in a file or on standard output, gives back the contents of the store.
#include "tests/shared_job.h"
#include "tests/testing.h"

#include "tuner/cli/commands.h"
#include "tuner/recorded/recorded.h"

TEST_WITH(an_export_holds_everything_that_a_search_learns, setup, teardown)
{
    struct error err = {""};
    char *path = test_text("%s/mini.json.gz", job.folder);
    finished_decided(&job);
    assert_contains(finished_says(&job, 0, "export JOB --store STORE --output %s", path).err, "3 configurations in ");
    struct recorded *r = recorded_read(path, &err);
    if (!r) fail_msg("%s", err.message);
    assert_string_equal(r->about.job, "mini-gemm");
    assert_string_equal(recorded_device_name(r), "NVIDIA H200");
    assert_int_equal(r->problem_count, 2);
    assert_string_equal(r->problems[1].name, "M=1000,N=77");
    assert_int_equal(r->problems[1].sizes[1].value, 77);
    assert_true(r->problems[1].work->flops == 2 * 1000 * 77 && r->problems[1].work->bytes == 4 * 1000 * 77);
    assert_int_equal(r->parameter_count, 3);
    assert_int_equal(space_parameter(r->space, 1)->kind, PARAMETER_UNROLL);
    assert_int_equal(space_parameter(r->space, 0)->count, 3); // including values that no trial has
    assert_string_equal(space_value_text(r->space, 2, 1, NULL), "shared");
    assert_int_equal(json_array_size(r->constraints), 1);
    assert_int_equal(r->metric_count, 1);
    assert_int_equal(r->trial_count, 3);
    assert_int_equal(r->best, 1);
    const struct trial *first = &r->trials[0], *wrong = &r->trials[2];
    assert_true(fabs(first->problems[0].time / 2e-3 - 1) < 1e-6 &&
                fabs(first->problems[1].high / (1.01 * 2e-5) - 1) < 1e-6);
    assert_true(fabs(first->objective / 2e-4 - 1) < 1e-6);
    assert_int_equal(first->problems[0].sample_count, 1);
    assert_true(first->facts.registers == 40 && first->facts.spill_bytes == 8 && first->facts.shared_bytes == 1024 &&
                first->facts.code_bytes == 4096);
    assert_true(first->facts.occupancy == 0.5);
    assert_true(first->gpu_seconds == 0.5 && first->problems[1].error == 0.25 &&
                first->problems[0].samples_taken == 20);
    assert_true(isnan(first->problems[0].power) && isnan(first->compile_seconds)); // no trial has these figures
    assert_true(r->counters[0] == 12);                                             // on the first problem
    assert_int_equal(wrong->status, STATUS_WRONG);
    assert_true(isnan(wrong->objective));
    assert_int_equal(r->configs[3 * 2 + 0], 2); // BLOCK_M=256
    assert_int_equal(r->baseline_count, 1);
    assert_true(r->baselines[0].problems[0].time == 0.0011);
    const json_t *entry = json_array_get(json_object_get(json_array_get(r->about.finals, 0), "entries"), 1);
    assert_string_equal(json_get_string(entry, "configuration", ""), "BLOCK_M=128,UNROLL_K=4,REDUCTION=shuffle");
    recorded_free(r);
}

TEST_WITH(standard_output_gets_the_same_as_a_file, setup, teardown)
{
    char *path = test_text("%s/mini.json", job.folder), *out;
    finished_trials(&job);
    finished_says(&job, 0, "export JOB --store STORE --output %s", path);
    out = finished_says(&job, 0, "export JOB --store STORE").out;
    assert_string_equal(out, test_owned(text_read_file(path, NULL)));
    assert_contains(out, "\"sweetspot-space\"");
}

TEST_WITH(an_import_says_what_is_there_and_writes_our_format, setup, teardown)
{
    char *path = test_text("%s/mini.json", job.folder), *again = test_text("%s/again.json.gz", job.folder);
    finished_trials(&job);
    finished_says(&job, 0, "export JOB --store STORE --output %s", path);
    struct said said = finished_says(&job, 0, "import %s --output %s", path, again);
    assert_contains(said.out, "mini-gemm on NVIDIA H200", "configurations  3: 2 ok, 1 wrong\n",
                    "best            100.0 us  BLOCK_M=128,UNROLL_K=4,REDUCTION=shuffle\n");
    assert_contains(said.err, again);
    struct recorded *a = recorded_read(path, NULL), *b = recorded_read(again, NULL);
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(a->trial_count, b->trial_count);
    assert_memory_equal(a->configs, b->configs, 3 * 3 * sizeof *a->configs);
    assert_true(a->trials[1].objective == b->trials[1].objective);
    recorded_free(a);
    recorded_free(b);
}

TEST_WITH(a_column_that_is_not_known_is_left_out_with_a_note, setup, teardown)
{
    char *path = test_text("%s/newer.json", job.folder), *again = test_text("%s/again.json", job.folder);
    finished_write(path, "{\"format\": \"sweetspot-space\", \"version\": 1, \"parameters\": [{\"name\": \"B\", "
                         "\"values\": [1, 2]}], \"columns\": [\"B\", \"status\", \"time\", \"fashion\"],\n"
                         "\"trials\": [[1, \"ok\", 0.5, 7], [2, \"ok\", 0.25, null]]}");
    assert_contains(finished_says(&job, 0, "import %s --output %s", path, again).err,
                    "newer.json: left out the unknown column 'fashion'\n");
    assert_null(strstr(test_owned(text_read_file(again, NULL)), "fashion"));
}

TEST_WITH(what_cannot_be_exported_or_imported_is_named, setup, teardown)
{
    char *path = test_text("%s/bad.json", job.folder);
    finished_write(path, "{\"format\": ");
    assert_contains(finished_says(&job, 2, "import %s", path).err, "bad.json");
    assert_contains(finished_says(&job, 2, "import /no/such/file").err, "/no/such/file");
    finished_trials(&job);
    assert_contains(finished_says(&job, 3, "export JOB --store STORE --output /dev/null/x.json").err,
                    "/dev/null/x.json");
    struct store *store;
    struct environment fresh = {.key = "fresh", .job = "mini-gemm", .arch = "sm_90a", .device = "NVIDIA H200"};
    assert_int_equal(store_open(&store, job.store, false, NULL), 0);
    assert_int_equal(store_use_environment(store, &fresh, NULL), 0);
    store_close(store);
    assert_contains(finished_says(&job, 1, "export JOB --store STORE").err, "there is no trial to export yet");
}

TEST_MAIN(NULL, NULL)
