// For tests of the store: a folder and a store for every test, and trials whose figures all follow from one number.
#pragma once

#include <sqlite3.h>
#include <sys/stat.h>

#include "tests/testing.h"

#include "tuner/base/text.h"
#include "tuner/store/store.h"
#include "tuner/trial/trial_field.h"

static char folder[] = "/tmp/sweetspot-store-XXXXXX";
static char *path; // the test's store
static struct store *opened;

static const struct environment first = {
    .key = "0123456789abcdef0123456789abcdef",
    .job = "sgemm",
    .source_hash = "aa",
    .compiler = "nvrtc 13.0",
    .device = "NVIDIA H200",
    .arch = "sm_90a",
    .driver = "580.159.04",
    .settings = "environment 1\n",
};

static inline void make_folder(void)
{
    assert_non_null(mkdtemp(folder));
}

static inline void remove_folder(void)
{
    assert_int_equal(system(test_text("rm -rf '%s'", folder)), 0);
}

static inline void close_store(void)
{
    store_close(opened);
    opened = NULL;
}

// A new folder and store path for every test.
static inline void setup(void)
{
    remove_folder();
    mkdir(folder, 0777);
    path = text_format("%s/out/sgemm.db", folder);
}

static inline void teardown(void)
{
    close_store();
    free(path);
}

// Closes the store that was opened before. The last store is closed after the test.
static inline struct store *open_store(void)
{
    struct error err = {""};
    close_store();
    if (store_open(&opened, path, true, &err)) fail_msg("%s", err.message);
    if (store_use_environment(opened, &first, &err)) fail_msg("%s", err.message);
    return opened;
}

// Adds a trial with one tuned and one ragged problem, one stage and two counters; all figures follow from `number`.
static inline void add(struct store *store, int number, enum trial_status status)
{
    struct error err = {""};
    const double samples[3] = {number * 1e-6, 1.0 / 3, 2};
    struct trial_problem problems[2] = {
        {.name = "M=64",
         .tuned = true,
         .time = number * 1e-6,
         .low = number * 0.9e-6,
         .high = number * 1.1e-6,
         .sample_count = 3,
         .samples = samples,
         .samples_taken = 25,
         .error = 0.25,
         .power = 250},
    };
    trial_clear(FIELD_PROBLEM, &problems[1]);
    problems[1].name = "M=63";
    struct trial_stage stages[1] = {{.name = "gemm",
                                     .registers = 128,
                                     .spill_loads = 0,
                                     .spill_stores = -1,
                                     .shared_static = 16,
                                     .shared_dynamic = 65536,
                                     .stack = 0,
                                     .code_bytes = 9216,
                                     .occupancy = 0.25,
                                     .warnings = "C7508"}};
    struct trial_counter counters[2] = {{0, 0, "bank_conflicts", 12}, {0, 0, "icache_misses", NAN}};
    char config[32];
    snprintf(config, sizeof config, "N=%d", number);
    struct trial trial = {
        .config = config,
        .status = status,
        .reason = status == STATUS_OK ? "" : "it's \"so\"",
        .objective = status == STATUS_OK ? number * 1e-6 : (double)NAN,
        .compile_seconds = 0.5,
        .compile_cached = true,
        .gpu_busy = 0.1,
        .gpu_seconds = 0.2,
        .device_id = "GPU-1",
        .clock_mhz = 1980,
        .temperature = NAN,
        .counted = number % 2,
        .problem_count = 2,
        .stage_count = 1,
        .counter_count = number % 2 ? 2 : 0,
        .problems = problems,
        .stages = stages,
        .counters = counters,
    };
    if (store_add(store, &trial, &err)) fail_msg("%s", err.message);
    assert_true(trial.id > 0);
    assert_true(trial.finished > 1.6e9);
}

// Runs SQL on the file directly, without the store.
static inline void raw(const char *text)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

#define STORE_TEST(name) TEST_WITH(name, setup, teardown)
