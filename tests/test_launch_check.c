// Compares occupancy and launch limits (tuner/setup/launch_check.c) with the CUDA driver's own figures. These come from
// a table made on an H200, and from a recorded space for which the GPU worker obtained the occupancy from the driver.
#include <math.h>

#include "tests/loaded_job.h"
#include "tests/testing.h"
#include "tuner/base/gzip.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/setup/launch_check.h"

// tests/occupancy_h200.txt.gz lists the results of cuOccupancyMaxActiveBlocksPerMultiprocessor for blocks of 1 to 1,024
// threads with 24 to 254 registers and 0 to 232,448 bytes of shared memory.
TEST(blocks_an_sm_are_the_drivers_on_an_h200)
{
    struct error err = {""};
    char *text = gzip_read_file("tests/occupancy_h200.txt.gz", NULL, &err), *rest = text;
    if (!text) fail_msg("%s", err.message);
    int rows = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        long threads, registers, shared, blocks;
        if (*line == '#') continue;
        assert_int_equal(sscanf(line, "%ld %ld %ld %ld", &threads, &registers, &shared, &blocks), 4);
        int64_t found = blocks_per_sm(&device_limits_h200, threads, registers, shared);
        if (found != blocks)
            fail_msg("%ld threads, %ld registers, %ld bytes: %ld blocks, the driver says %ld", threads, registers,
                     shared, (long)found, blocks);
        double occupancy = theoretical_occupancy(&device_limits_h200, threads, registers, shared);
        assert_true(fabs(occupancy - (double)(blocks * ((threads + 31) / 32)) / 64) < 1e-12);
        rows++;
    }
    assert_true(rows > 10000);
    free(text);
}

// One row of that table per rule, so that a failure names the rule.
TEST(each_limit_binds_where_it_should)
{
    static const struct {
        const char *rule;
        int64_t threads, registers, shared, blocks;
    } cases[] = {
        {"32 blocks an SM", 1, 24, 0, 32},
        {"64 warps an SM, and a part of a warp counts as a whole one", 33, 24, 0, 32},
        {"64 warps an SM", 96, 24, 0, 21},
        {"a warp's registers come in units of 256: 33 are 40", 256, 33, 0, 6},
        {"and 40 are 40", 256, 40, 0, 6},
        {"and 41 are 48", 256, 41, 0, 5},
        {"a partition's registers are given to whole warps: 12 a partition fit, not 12.8", 64, 40, 0, 24},
        {"warps need not come in fours: 9 blocks of 5 warps in 48", 160, 40, 0, 9},
        {"one block of 24 warps in 28", 768, 72, 0, 1},
        {"1 KiB a block for the system", 32, 24, 115712, 2},
        {"shared memory comes in units of 128 bytes", 32, 24, 115713, 1},
        {"all of it", 32, 24, 232448, 1},
        {"does not fit: more registers than there are", 1024, 72, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t found = blocks_per_sm(&device_limits_h200, cases[i].threads, cases[i].registers, cases[i].shared);
        if (found != cases[i].blocks)
            fail_msg("%s: %ld blocks, expected %ld", cases[i].rule, (long)found, (long)cases[i].blocks);
    }
}

static size_t column(const json_t *columns, const char *name)
{
    for (size_t i = 0; i < json_array_size(columns); i++)
        if (!strcmp(json_string_value(json_array_get(columns, i)), name)) return i;
    fail_msg("no column %s", name);
    return 0;
}

static double number(const json_t *row, size_t at)
{
    assert_true(json_is_number(json_array_get(row, at)));
    return json_number_value(json_array_get(row, at));
}

TEST(the_occupancy_of_a_recorded_space_is_worked_out_as_the_driver_gave_it)
{
    struct error err = {""};
    struct job *job = loaded_job("configs/sgemm_2048.cfg");
    autofree char *text = gzip_read_file("tests/spaces/sgemm_2048_h200.json.gz", NULL, &err);
    if (!text) fail_msg("%s", err.message);
    json_t *root = test_json(json_parse(text, &err)), *columns = json_object_get(root, "columns");
    size_t checked = 0, registers = column(columns, "registers"), shared = column(columns, "shared_bytes"),
           occupancy = column(columns, "theoretical_occupancy"), parameters = space_parameter_count(job->space);
    autofree int64_t *values = calloc(symbols_count(job->symbols), sizeof *values);
    json_array_each(json_object_get(root, "trials"), i, row) {
        char config[2048] = "";
        if (json_is_null(json_array_get(row, registers))) continue; // recorded without the compiler's figures
        uint16_t indices[SPACE_MAX_PARAMETERS];
        for (size_t p = 0; p < parameters; p++) {
            const char *name = space_parameter(job->space, p)->name;
            sprintf(config + strlen(config), "%s%s=%.0f", p ? "," : "", name, number(row, column(columns, name)));
        }
        if (space_parse(job->space, config, indices, &err) || space_values(job->space, indices, values, &err))
            fail_msg("%s: %s", config, err.message);
        int64_t threads = values[symbols_find(job->symbols, "THREADS")];
        double found = theoretical_occupancy(&device_limits_h200, threads, (int64_t)number(row, registers),
                                             (int64_t)number(row, shared));
        if (fabs(found - number(row, occupancy)) > 1e-6)
            fail_msg("%s: %g, the driver says %g", config, found, number(row, occupancy));
        checked++;
    }
    assert_int_equal(checked, 4416);
}

TEST(a_launch_that_does_not_fit_is_refused_with_the_reason)
{
    static const struct {
        struct launch_shape shape;
        int64_t registers, shared_static;
        const char *reason; // NULL: it fits
    } cases[] = {
        {{{1, 1, 1}, {1024, 1, 1}, {1, 1, 1}, 0}, 64, 0, NULL},
        {{{INT32_MAX, 65535, 65535}, {32, 1, 1}, {1, 1, 1}, 0}, 32, 0, NULL},
        {{{1, 1, 1}, {16, 1, 64}, {1, 1, 1}, 0}, 64, -1, NULL},
        {{{8, 1, 1}, {32, 1, 1}, {8, 1, 1}, 232448}, 255, 0, NULL},
        {{{1, 1, 1}, {1024, 1, 1}, {1, 1, 1}, 0}, 65, 0, "1024 threads of 65 registers do not fit"},
        {{{1, 1, 1}, {512, 3, 1}, {1, 1, 1}, 0}, 32, 0, "block of 1536 threads; the device allows 1024"},
        {{{1, 1, 1}, {1025, 1, 1}, {1, 1, 1}, 0}, 32, 0, "block dimension 0 is 1025"},
        {{{1, 1, 1}, {1, 1, 65}, {1, 1, 1}, 0}, 32, 0, "block dimension 2 is 65"},
        {{{1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 0}, 32, 0, "block dimension 0 is 0"},
        {{{1, 65536, 1}, {32, 1, 1}, {1, 1, 1}, 0}, 32, 0, "grid dimension 1 is 65536"},
        {{{0, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0}, 32, 0, "grid dimension 0 is 0"},
        {{{16, 1, 1}, {32, 1, 1}, {16, 1, 1}, 0}, 32, 0, "cluster of 16 blocks; the device allows 8"},
        {{{9, 1, 1}, {32, 1, 1}, {2, 1, 1}, 0},
         32,
         0,
         "grid dimension 0, 9 blocks, is not a multiple of the cluster's 2"},
        {{{32, 1, 1}, {32, 1, 1}, {32, 1, 1}, 0}, 32, 0, "cluster dimension 0 is 32"},
        {{{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 232449}, 32, 0, "232449 bytes of shared memory"},
        {{{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 232448}, 32, 1, "232449 bytes of shared memory"},
        {{{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, -1}, 32, 0, "-1 bytes of shared memory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error reason = {""};
        int failed =
            launch_check(&device_limits_h200, &cases[i].shape, cases[i].registers, cases[i].shared_static, &reason);
        if (!cases[i].reason && failed) fail_msg("case %zu: %s", i, reason.message);
        if (cases[i].reason && (!failed || !strstr(reason.message, cases[i].reason)))
            fail_msg("case %zu: %d, '%s', expected '%s'", i, failed, reason.message, cases[i].reason);
    }
}

TEST_MAIN(NULL, NULL)
