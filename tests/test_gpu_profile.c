// The output of `profile` on a GPU: counters compared with ncu on eight kernels, source lines, times. Skipped like
// test_gpu.c.
#include "tests/gpu.h"
#include "tests/ncu.h"

#include <time.h>

#include "tuner/base/json.h"
#include "tuner/base/protocol.h"
#include "tuner/explain/profile.h"

#define SGEMM                                                                                                        \
    "BLOCK_M=128,BLOCK_N=128,BLOCK_K=8,WARP_M=32,LANE_PAIRS=0,STAGES=2,A_ASYNC=0,UNROLL_K=1,DOUBLE_BUFFER=1,COLUMN_" \
    "WISE=0,MIN_BLOCKS=2"

static const struct {
    const char *job, *kernel, *config;
} kernels[] = {
    {"sgemm_2048", "gemm_simt", SGEMM ",TILE_COL_SIZE=8"},
    {"sgemm_2048", "gemm_simt", SGEMM ",TILE_COL_SIZE=4"},
    {"sum", "reduce_sum",
     "BLOCK_SIZE=256,ITEMS=4,VECTOR=4,UNROLL=0,BLOCKS_PER_SM=8,REDUCTION=shuffle,FINISH=last_block"},
    {"copy_order", "copy_order", "BLOCK_SIZE=256,ITEMS=8,ORDER=coalesced"},
    {"copy_order", "copy_order", "BLOCK_SIZE=256,ITEMS=8,ORDER=strided"},
    {"branch", "branch", "BLOCK_SIZE=256,BRANCH=1"},
    {"coarsening", "coarsening", "BLOCK_SIZE=256,FACTOR=4,UNROLL=0"},
    {"windowed_sum", "windowed_sum", "BLOCK_SIZE=256,STAGING=shared"},
    {"windowed_sum", "windowed_sum", "BLOCK_SIZE=256,STAGING=none"},
};

static const struct {
    const char *key, *metric;
    double tolerance, floor; // relative; and an absolute difference that is ignored
} checked[] = {
    {"executed", "smsp__inst_executed.sum", 0.02, 0},
    {"fma_instructions", "sm__inst_executed_pipe_fma.sum", 0.02, 0},
    {"bank_conflicts_load", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 0.02, 20000},
    {"shared_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 0.02, 20000},
    {"global_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 0.02, 0},
    {"global_store_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 0.02, 100},
    {"threads_per_instruction", "smsp__thread_inst_executed_per_inst_executed.ratio", 0.02, 0},
    {"occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", 0.03, 0.5},
    {"dram_read_bytes", "dram__bytes_read.sum", 0.05, 1e6},
    {"time", "gpu__time_duration.sum", 0.05, 2000}, // ns; ours is measured with events, outside the profiler's session
};
enum { CHECKED = sizeof checked / sizeof *checked };

static json_t *run_profile(const char *folder, const char *command, const char *job, const char *config)
{
    struct error err;
    struct e2e_result r =
        e2e_run(folder, "$BIN/sweetspot %s configs/%s.cfg --cache out/cache --trial %s -f json", command, job, config);
    if (r.status) fail_msg("%s of %s %s: status %d: %s", command, job, config, r.status, r.err);
    json_t *document = json_parse(r.out, &err);
    if (!document) fail_msg("%s", err.message);
    return test_json(document);
}

// Measures one kernel with our counters, then launches it the same way with the GPU worker under ncu and compares.
static int compare_with_ncu(const char *folder, const char *job, const char *kernel, const char *config)
{
    json_t *document = run_profile(folder, "profile", job, config);
    const json_t *stages = json_object_get(json_object_get(document, "profile"), "stages"),
                 *stage = profile_main_stage(json_object_get(document, "profile"));
    autorelease(text_release) struct text metrics = {0};
    int bad = 0;
    for (size_t i = 0; i < CHECKED; i++) text_add(&metrics, "%s%s", i ? "," : "", checked[i].metric);
    assert_true(json_array_size(stages) >= 1);
    struct e2e_result r =
        e2e_run(folder,
                "rm -f $DIR/ncu.csv; cat >$DIR/worker <<EOF\n#!/bin/sh\nexec ncu --clock-control none --cache-control "
                "all --print-units base --csv --log-file $DIR/ncu.csv -k %s --launch-skip 3 --launch-count 3 --metrics "
                "%s $BIN/sweetspot-gpu \"\\$@\"\nEOF\nchmod +x $DIR/worker\n"
                "SWEETSPOT_COUNTERS=none SWEETSPOT_GPU_WORKER=$PWD/$DIR/worker $BIN/sweetspot profile configs/%s.cfg "
                "--cache out/cache --trial %s >/dev/null; cat $DIR/ncu.csv",
                kernel, metrics.text, job, config);
    if (!strstr(r.out, checked[0].metric))
        fail_msg("no answer from ncu for %s\n%.1500s\n%.1500s", config, r.out, r.err);
    for (size_t i = 0; i < CHECKED; i++) {
        double time = 1e9 * json_get_number(json_object_get(document, "profile"), "time", NAN);
        double ours = strcmp(checked[i].key, "time") ? profile_number(stage, checked[i].key) : time,
               theirs = ncu_value(r.out, checked[i].metric);
        double difference = fabs(ours - theirs), relative = theirs > 0 ? difference / theirs : 0;
        bool good = difference <= checked[i].floor || relative <= checked[i].tolerance;
        print_message("%-12s %-24s ours %16.6g  ncu %16.6g  %6.2f%%%s\n", kernel, checked[i].key, ours, theirs,
                      100 * relative, good ? "" : "  BAD");
        bad += !good;
    }
    return bad;
}

GPU_TEST(counters_agree_with_ncu_on_nine_kernels)
{
    if (system("command -v ncu >/dev/null 2>&1")) skip();
    char *folder = e2e_folder("ncu-profile");
    int bad = 0;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        print_message("-- %s %s\n", kernels[i].job, kernels[i].config);
        bad += compare_with_ncu(folder, kernels[i].job, kernels[i].kernel, kernels[i].config);
    }
    assert_int_equal(bad, 0);
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

GPU_TEST(a_profile_takes_less_than_five_seconds_and_names_the_line_of_the_conflict)
{
    char *folder = e2e_folder("gpu-profile");
    for (int tile_col = 4; tile_col <= 8; tile_col += 4) {
        char *config = test_text("%s,TILE_COL_SIZE=%d", SGEMM, tile_col);
        run_profile(folder, "profile", "sgemm_2048", config); // fills the compile cache
        double begin = seconds_now();
        json_t *document = run_profile(folder, "profile", "sgemm_2048", config);
        double taken = seconds_now() - begin;
        const json_t *stage = profile_main_stage(json_object_get(document, "profile"));
        struct profile_culprit blame[2];
        print_message("TILE_COL_SIZE %d: %.2f s\n", tile_col, taken);
        assert_true(taken < 5);
        if (tile_col == 8) {
            assert_true(profile_culprit(stage, EXCESS_SHARED, blame, 2) >= 1);
            print_message("culprit: %s, %s:%d\n", json_get_string(blame[0].line, "directory", "?"),
                          json_get_string(blame[0].line, "file", "?"), (int)json_get_integer(blame[0].line, "line", 0));
            assert_contains(json_get_string(blame[0].line, "text", ""), "load<TILE_COL_SIZE>(b + ");
            assert_true(fabs(blame[0].ratio - 2) < 0.02);
        } else {
            assert_int_equal(profile_culprit(stage, EXCESS_SHARED, blame, 2), 0);
        }
        json_object_each(json_object_get(stage, "totals"), key, value) {
            double sum = 0, total = json_number_value(value);
            json_array_each(json_object_get(stage, "lines"), i, line)
                sum += json_get_number(json_object_get(line, "self"), key, 0);
            assert_true(fabs(sum - total) <= 0.01 * total);
        }
        assert_true(profile_number(stage, "samples") > 1000);
        assert_true(fabs(json_get_number(json_object_get(stage, "totals"), "instructions", NAN) /
                             profile_number(stage, "executed") -
                         1) < 0.01);
    }
}

static const struct {
    const char *job, *config, *limiter;
} limits[] = {
    {"sgemm_2048", SGEMM ",TILE_COL_SIZE=4", "math-bound"},
    {"sum", "BLOCK_SIZE=256,ITEMS=4,VECTOR=4,UNROLL=0,BLOCKS_PER_SM=8,REDUCTION=shuffle,FINISH=last_block",
     "memory-bound"},
    {"copy_order", "BLOCK_SIZE=256,ITEMS=8,ORDER=coalesced", "memory-bound"},
    {"coarsening", "BLOCK_SIZE=256,FACTOR=4,UNROLL=0", "memory-bound"},
    {"example", "BLOCK_SIZE=256,VECTOR=4,UNROLL=0,GRID=once", NULL},
    {"branch", "BLOCK_SIZE=256,BRANCH=1", NULL},
    {"branch", "BLOCK_SIZE=256,BRANCH=0", NULL},
    {"windowed_sum", "BLOCK_SIZE=256,STAGING=none", NULL},
    {"windowed_sum", "BLOCK_SIZE=256,STAGING=shared", NULL},
};

// Checks the minimum: `memory_only` moves as much as the kernel, and `math_only` moves nothing.
static void check_traffic(const json_t *document)
{
    static const char *const names[] = {"kernel", "memory_only", "math_only"};
    double sectors[3];
    for (size_t i = 0; i < 3; i++)
        sectors[i] = profile_global_sectors(profile_main_stage(json_object_get(document, names[i])));
    print_message("  sectors %.4g, memory only %.4g, math only %.4g; stored %.4g\n", sectors[0], sectors[1], sectors[2],
                  profile_number(profile_main_stage(json_object_get(document, names[0])), "global_store_sectors"));
    assert_true(fabs(sectors[1] / sectors[0] - 1) < 0.02);
    assert_true(sectors[2] < 0.02 * sectors[0]);
}

GPU_TEST(limiters_are_what_everyone_knows)
{
    char *folder = e2e_folder("gpu-limiter");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        json_t *document = run_profile(folder, "profile --limits", limits[i].job, limits[i].config);
        for (size_t k = 0; k < json_array_size(json_object_get(document, "warnings")); k++)
            print_message("%s: %s\n", limits[i].job,
                          json_string_value(json_array_get(json_object_get(document, "warnings"), k)));
        print_message("%s: %s, whole %.3g s, memory %.3g s, math %.3g s\n", limits[i].job,
                      json_get_string(document, "limiter", "?"),
                      json_get_number(json_object_get(document, "kernel"), "time", NAN),
                      json_get_number(json_object_get(document, "memory_only"), "time", NAN),
                      json_get_number(json_object_get(document, "math_only"), "time", NAN));
        if (limits[i].limiter) assert_string_equal(json_get_string(document, "limiter", ""), limits[i].limiter);
        check_traffic(document);
    }
}

GPU_TEST(a_tiny_kernel_has_sane_figures_and_a_warning)
{
    char *folder = e2e_folder("gpu-tiny");
    struct error err;
    struct e2e_result r = e2e_pass(
        folder,
        "sed \"s#N = 67108864#N = 8192#; s#\\.\\./templates#$PWD/templates#\" configs/copy_order.cfg >$DIR/tiny.cfg; "
        "$BIN/sweetspot profile $DIR/tiny.cfg --cache out/cache --trial BLOCK_SIZE=256,ITEMS=1,ORDER=coalesced -f "
        "json");
    json_t *document = test_json(json_parse(r.out, &err));
    const json_t *profile = json_object_get(document, "profile"), *stage = profile_main_stage(profile),
                 *notes = json_object_get(profile, "notes");
    double time = json_get_number(profile, "time", NAN);
    bool warned = false;
    for (size_t i = 0; i < json_array_size(notes); i++) {
        print_message("note: %s\n", json_string_value(json_array_get(notes, i)));
        warned |= strstr(json_string_value(json_array_get(notes, i)), "launch overhead dominates") != NULL;
        assert_null(strstr(json_string_value(json_array_get(notes, i)), "not reproducible"));
    }
    print_message("%.2f us\n", 1e6 * time);
    assert_true(time > 0.5e-6 && time < 5e-6);
    assert_true(warned);
    assert_true(profile_number(stage, "global_load_sectors") == 8192 / 8);
    assert_true(profile_number(stage, "global_store_sectors") == 8192 / 8);
    assert_true(fabs(json_get_number(json_object_get(stage, "totals"), "instructions", NAN) /
                         profile_number(stage, "executed") -
                     1) < 0.01);
}

TEST_MAIN(NULL, NULL)
