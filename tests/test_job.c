// Valid jobs: their space, values, buffers and objective. The shipped jobs are valid.
#include "tests/sanitized.h"
#include "tests/sound_job.h"

#include <math.h>

// The values are for the first problem, N = 1000.
TEST(constants_and_images_are_buffers_with_a_place)
{
    struct error err;
    struct image_layout t, s;
    sound_write(8, "constants = ( { name = \"ns::coef\"; type = \"f32\"; shape = ( \"N\", 2 ); }, "
                   "{ name = \"count\"; type = \"i32\"; value = \"N\"; } );\n"
                   "arguments = ( { buffer = \"t\"; type = \"u8\"; shape = [ 5, 6, 7 ]; texture = { channels = 4; "
                   "filter = \"linear\"; read = \"normalized\"; normalized = true; address = \"mirror\"; }; }, "
                   "{ buffer = \"s\"; type = \"f32\"; shape = ( 3, \"N\" ); ld = 1024; direction = \"inout\"; "
                   "surface = { }; }, { buffer = \"s\"; texture = { filter = \"linear\"; }; }, { buffer = \"r\"; type "
                   "= \"f32\"; shape = [1]; "
                   "direction = \"out\"; } ); reference = { kernel = \"x\"; launch = { grid = 1; block = 1; }; "
                   "arguments = ( { buffer = \"t\"; }, { buffer = \"s\"; }, { buffer = \"ns::coef\"; } ); };");
    assert_int_equal(system(test_text("sed -i '/^reference/d' '%s'", sound_path)), 0);
    struct job *job = sound_build();
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    assert_int_equal(job_problem_values(job, NULL, 0, values, &err), 0);
    assert_int_equal(job->buffer_count, 5);
    assert_true(job->buffers[0].symbol && job->buffers[1].symbol && !job->buffers[2].symbol);
    assert_int_equal(job_image_resolve(&job->buffers[2], values, &t, &err), 0);
    assert_int_equal(job_image_resolve(&job->buffers[3], values, &s, &err), 0);
    assert_true(t.rank == 3 && t.size[0] == 7 && t.size[1] == 6 && t.size[2] == 5 && t.pitch == 28 && t.channels == 4);
    assert_true(t.address[0] == IMAGE_MIRROR && t.address[1] == IMAGE_MIRROR && t.address[2] == IMAGE_MIRROR);
    assert_true(t.normalized && t.read == IMAGE_NORMALIZED && t.filter == IMAGE_INTERPOLATED && !t.surface);
    assert_true(s.rank == 2 && s.size[0] == 1000 && s.size[1] == 3 && s.size[2] == 1 && s.pitch == 4096);
    assert_true(s.surface && s.filter == IMAGE_INTERPOLATED && job->buffers[3].image->texture);
    // ns::coef, count, t twice, s twice, r. Images count twice because their arrays exist in addition to the buffers.
    assert_int_equal(job_problem_bytes(job, 0, &err), 8000 + 4 + 2 * 840 + 2 * 3 * 4096 + 4);
}

TEST(a_sound_job_loads_and_its_space_is_built)
{
    struct error err;
    sound_write(0, NULL);
    struct job *job = sound_build();
    assert_int_equal(space_size(job->space), 9); // (32 with a or b, 64 with a) x three unroll factors
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    uint16_t config[3] = {1, 0, 2};
    assert_int_equal(job_problem_values(job, config, 1, values, &err), 0);
    assert_int_equal(values[symbols_find(job->symbols, "N")], 7);
    assert_int_equal(values[symbols_find(job->symbols, "DOUBLE")], 128);
    assert_int_equal(values[symbols_find(job->symbols, "shared_bytes")], 256);
    assert_int_equal(job_problem_bytes(job, 0, &err), 4004);
}

TEST(a_launch_without_dynamic_shared_memory_has_none)
{
    struct error err;
    sound_write(7, "launch = { grid = [ \"ceil_div(N, BLOCK)\" ]; block = [ \"BLOCK\" ]; };");
    struct job *job = sound_build();
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    uint16_t config[3] = {0, 0, 0};
    assert_int_equal(job_problem_values(job, config, 0, values, &err), 0);
    assert_int_equal(values[symbols_find(job->symbols, "shared_bytes")], 0);
}

static void check_define(void *user, const char *name, const char *value)
{
    char **all = user, *longer = text_format("%s%s=%s|", *all, name, value);
    free(*all);
    *all = longer;
}

TEST(unroll_factors_become_pragmas)
{
    static const char *const expected[] = {"BLOCK=32|KIND=a|U=|", "BLOCK=32|KIND=a|U=_Pragma(\"unroll\")|",
                                           "BLOCK=32|KIND=a|U=_Pragma(\"unroll 4\")|"};
    sound_write(0, NULL);
    struct job *job = sound_load();
    for (uint16_t i = 0; i < 3; i++) {
        uint16_t config[3] = {0, 0, i};
        char *all = text_copy("");
        job_defines(job, config, check_define, &all);
        assert_string_equal(all, expected[i]);
        free(all);
    }
}

TEST(integers_are_read_as_they_are_written)
{
    static const struct {
        const char *text;
        int64_t expected;
    } cases[] = {
        {"2147483647", 2147483647},         {"2147483648", 2147483648},        {"-3000000000", -3000000000},
        {"9223372036854775807", INT64_MAX}, {"3000000000L", 3000000000},       {"0xFF", 255},
        {"0x7fffffff", 2147483647},         {"0xFFFFFFFF", 4294967295},        {"0X1FFFFFFFF", 8589934591},
        {"0x1FFFFFFFFL", 8589934591},       {"0x7FFFFFFFFFFFFFFF", INT64_MAX}, {"/* 99999999999999999999 */ 7", 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = test_text("problems = ( { N = %s; } );", cases[i].text);
        sound_write(6, text);
        struct job *job = sound_load();
        if (job->problems[0].sizes[0] != cases[i].expected)
            fail_msg("%s is read as %lld", cases[i].text, (long long)job->problems[0].sizes[0]);
    }
}

// A reference operation can use every scalar of every stage.
TEST(a_scalar_behind_many_others_is_found)
{
    char scalars[60 * 48] = "", *at = scalars;
    for (int i = 0; i < 60; i++) at += sprintf(at, "{ scalar = \"s%d\"; type = \"i32\"; value = 1; }, ", i);
    char *text = test_text(
        "kernel = { template = \"x.cu\"; };\nproblems = ( { N = 1000; } );\n"
        "stages = ( { entry = \"x\"; launch = { grid = [1]; block = [1]; }; arguments = ( %s{ buffer = \"x\"; type = "
        "\"f32\"; shape = [\"N\"]; }, { buffer = \"r\"; type = \"f32\"; shape = [1]; direction = \"out\"; } ); },\n"
        "{ entry = \"y\"; launch = { grid = [1]; block = [1]; }; arguments = ( { buffer = \"x\"; }, %.*s{ scalar = "
        "\"late\"; type = \"i32\"; value = \"N\"; } ); } );\n"
        "reference = { operation = \"sum\"; result = \"r\"; n = \"late\"; };\n",
        scalars, (int)strlen("{ scalar = \"s0\"; type = \"i32\"; value = 1; }, ") * 3, scalars);
    e2e_write(folder, "job.cfg", text);
    sound_load();
}

// Each size of a shape is one factor of the product, whatever operators it contains.
TEST(sizes_of_a_shape_are_multiplied_as_wholes)
{
    static const struct {
        const char *shape, *memory;
    } cases[] = {
        {"\"N + 1\", \"1024\"", ", 512 KiB of buffers"},
        {"\"N + 1\", \"N + 1\", \"1024\"", ", 64 MiB of buffers"},
        {"\"N > 5 ? 4 : 2\", \"N - 1\", \"N + 1 - 1\", \"1024\"", ", 250 MiB of buffers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = test_text("kernel = { template = \"x.cu\"; entry = \"x\"; };\n"
                               "problems = ( { N = 127; } );\nlaunch = { grid = [1]; block = [32]; };\n"
                               "arguments = ( { buffer = \"A\"; type = \"f32\"; shape = [ %s ]; direction = "
                               "\"out\"; } );\nverification = { enabled = false; };\n",
                               cases[i].shape);
        e2e_write(folder, "job.cfg", text);
        struct e2e_result r = e2e_run(folder, "$BIN/sweetspot check $DIR/job.cfg --compile 0");
        if (r.status || !strstr(r.out, cases[i].memory)) fail_msg("%s: %s%s", cases[i].shape, r.out, r.err);
    }
}

TEST(check_holds_the_limits_of_the_architecture)
{
    e2e_write(folder, "kib.cu", "KIB CLUSTER\n");
    e2e_write(folder, "job.cfg",
              "kernel = { template = \"kib.cu\"; entry = \"x\"; };\nparameters = ( { name = \"KIB\"; values = [64, "
              "128, 192]; }, { name = \"CLUSTER\"; values = [1, 2]; } );\n"
              "problems = ( { N = 5; } );\nconstraints = ( \"KIB * 1024 <= device.max_shared\", \"CLUSTER <= "
              "device.max_cluster\" );\n"
              "launch = { grid = [1]; block = [32]; };\narguments = ( { buffer = \"C\"; type = \"f32\"; shape = [ "
              "\"N\" ]; direction = \"out\"; } );\n"
              "verification = { enabled = false; };\n");
    static const struct {
        const char *arch, *said;
    } cases[] = {{"sm_90a", "6 valid configurations of 6 on an H200"},
                 {"sm_80", "2 valid configurations of 6 on an A100"},
                 {"sm_86", "1 valid configurations of 6 on an A40"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct e2e_result r =
            e2e_pass(folder, "$BIN/sweetspot check $DIR/job.cfg --compile 0 --arch %s", cases[i].arch);
        assert_contains(r.out, cases[i].said);
        assert_string_equal(r.err, "");
    }
    struct e2e_result r = e2e_pass(folder, "$BIN/sweetspot check $DIR/job.cfg --compile 0 --arch sm_77");
    assert_contains(r.err, "the limits of 'sm_77' are unknown");
}

// A tensor map's numbers in CUDA's order, or the reason why TMA does not allow them.
TEST(tensor_maps_are_worked_out_and_refused_as_tma_would)
{
    static const struct {
        const char *members, *refusal; // NULL: valid
        struct tensor_map_shape expected;
    } cases[] = {
        {"shape = [100, 64]; tma = { box = (\"BLOCK\", 8); swizzle = \"BLOCK\";",
         NULL,
         {.rank = 2, .size = {64, 100}, .box = {8, 32}, .stride = {256}, .swizzle = 32}},
        {"shape = [100, 62]; ld = 64; tma = { box = [4, 8];",
         NULL,
         {.rank = 2, .size = {62, 100}, .box = {8, 4}, .stride = {256}}},
        {"shape = [\"N\"]; tma = { box = [4]; promotion = 256; out_of_bounds = \"nan\";",
         NULL,
         {.rank = 1, .size = {1000}, .box = {4}, .promotion = 256, .nan = true}},
        {"shape = [100, 64]; tma = { box = [8, 8]; convert = \"tf32\";",
         NULL,
         {.rank = 2, .size = {64, 100}, .box = {8, 8}, .stride = {256}, .tf32 = true}},
        {"shape = [4800]; tma = { view = [3, 40, 40]; box = [1, 2, 4];",
         NULL,
         {.rank = 3, .size = {40, 40, 3}, .box = {4, 2, 1}, .stride = {160, 6400}}},
        {"shape = [4800]; tma = { view = [3, 40, 40]; strides = (\"N\", 48); box = [1, 2, 4];",
         NULL,
         {.rank = 3, .size = {40, 40, 3}, .box = {4, 2, 1}, .stride = {192, 4000}}},
        {"shape = [100, 63]; tma = { box = [4, 8];",
         "its stride must be a multiple of 16 bytes below 2^40, but is 252",
         {0}},
        {"shape = [100, 64]; tma = { box = [257, 8];", "257 wide in dimension 1 from the last", {0}},
        {"shape = [100, 64]; tma = { box = [8, 3];", "12 bytes; TMA needs a multiple of 16", {0}},
        {"shape = [100, 64]; tma = { box = [8, 32]; swizzle = 64;", "128 bytes, wider than the swizzle of 64", {0}},
        {"shape = [100, 64]; tma = { box = [8, 8]; swizzle = 48;", "swizzle is 48", {0}},
        {"shape = [100, 64]; tma = { box = [8, 8]; promotion = 16;", "promotion is 16", {0}},
        {"shape = [100, 64]; tma = { view = [0, 64]; box = [8, 8];", "its size is 0", {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = test_text("arguments = ( { buffer = \"x\"; type = \"f32\"; %s }; }, { buffer = \"r\"; type = "
                               "\"f32\"; shape = [1]; direction = \"out\"; } );",
                               cases[i].members);
        struct error err = {""};
        uint16_t config[3] = {0, 0, 0};
        struct tensor_map_shape s;
        sound_write(8, text);
        struct job *job = sound_build();
        autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
        assert_int_equal(job_problem_values(job, config, 0, values, &err), 0);
        int result = tensor_map_resolve(job, &job->stages[0].arguments[0], values, &s, &err);
        if (cases[i].refusal && (!result || !strstr(err.message, cases[i].refusal) || !strstr(err.message, "'x'")))
            fail_msg("%s: %s", text, err.message);
        if (!cases[i].refusal && result) fail_msg("%s: %s", text, err.message);
        const struct tensor_map_shape *e = &cases[i].expected;
        if (!cases[i].refusal) {
            assert_int_equal(s.rank, e->rank);
            assert_memory_equal(s.size, e->size, sizeof s.size);
            assert_memory_equal(s.box, e->box, sizeof s.box);
            assert_memory_equal(s.stride, e->stride, sizeof s.stride);
            assert_true(s.swizzle == e->swizzle && s.promotion == e->promotion && s.nan == e->nan && s.tf32 == e->tf32);
        }
    }
}

TEST(the_shipped_jobs_are_sound)
{
    struct e2e_result r =
        e2e_run(folder,
                "n=0; for job in configs/*.cfg %s; do $BIN/sweetspot check $job --compile 0 || exit 1; n=$((n+1)); "
                "done; echo jobs $n; test $n -ge 40",
                SANITIZED ? "" : "configs/layers/*.cfg configs/suite/*.cfg"); // they use the same includes
    if (r.status) fail_msg("%s", r.err);
}

// The ends of the ranges come first. The sizes lie within the range, evenly distributed on a logarithmic scale, and
// every third problem is held back.
TEST(problems_are_sampled_from_ranges)
{
    sound_write(6, "problems = ( { N = [16, 65536]; M = 3; K = [1, 2]; }, { N = 1000; M = 4; K = 9; } ); objective = "
                   "\"each\";");
    assert_int_equal(system(test_text("sed -i '/^verification/d' '%s'", sound_path)), 0);
    struct job *job = sound_build();
    assert_int_equal(job->tuned_count, 13);
    assert_string_equal(job->problems[0].name, "N=16,M=3,K=1");
    assert_string_equal(job->problems[1].name, "N=65536,M=3,K=2");
    assert_string_equal(job->problems[12].name, "N=1000,M=4,K=9");
    int octaves[13] = {0};
    for (size_t p = 0; p < 12; p++) {
        const int64_t *sizes = job->problems[p].sizes;
        assert_true(sizes[0] >= 16 && sizes[0] <= 65536 && sizes[0] % 16 == 0);
        assert_true(sizes[1] == 3 && (sizes[2] == 1 || sizes[2] == 2));
        assert_true(job->problems[p].holdout == (p % 3 == 2) && job->problems[p].tune);
        octaves[(int)(log2((double)sizes[0]) - 4)]++;
    }
    for (int i = 0; i < 12; i += 3) assert_true(octaves[i] + octaves[i + 1] + octaves[i + 2] >= 2);
    // A range with few sizes gives few problems. With objectives other than "each", no problem is held back.
    sound_write(6, "problems = ( { N = [5, 8]; } );");
    job = sound_build();
    assert_int_equal(job->tuned_count, 4);
    for (size_t p = 0; p < 4; p++) assert_false(job->problems[p].holdout);
}

TEST(the_objective_weighs_the_problems_that_are_tuned)
{
    struct problem problems[3] = {{.weight = 3}, {.weight = 1}, {.weight = 100}};
    static const struct {
        enum objective objective;
        double times[2], expected;
    } cases[] = {
        {OBJECTIVE_GEOMEAN, {1, 16}, 2},    {OBJECTIVE_MEAN, {1, 16}, 19.0 / 4}, {OBJECTIVE_WORST, {6, 16}, 18},
        {OBJECTIVE_EACH, {1, 16}, 2},       {OBJECTIVE_EACH, {NAN, 16}, 16},     {OBJECTIVE_EACH, {NAN, NAN}, NAN},
        {OBJECTIVE_GEOMEAN, {NAN, 1}, NAN}, {OBJECTIVE_MEAN, {0, 1}, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct job job = {.search.objective = cases[i].objective, .tuned_count = 2, .problems = problems};
        double found = job_objective(&job, cases[i].times);
        if (isnan(cases[i].expected) ? !isnan(found) : !(fabs(found - cases[i].expected) < 1e-12))
            fail_msg("case %zu: %g, expected %g", i, found, cases[i].expected);
    }
}

TEST(how_far_behind_a_candidate_is_follows_the_objective)
{
    const double weights[] = {3, 1}, best[] = {1, 4};
    static const struct {
        enum objective objective;
        double times[2], expected;
    } cases[] = {
        {OBJECTIVE_GEOMEAN, {2, 8}, 2},       {OBJECTIVE_GEOMEAN, {1, 64}, 2}, {OBJECTIVE_MEAN, {2, 8}, 2},
        {OBJECTIVE_MEAN, {1, 11}, 2},         {OBJECTIVE_WORST, {4, 4}, 3},    {OBJECTIVE_EACH, {9, 6}, 1.5},
        {OBJECTIVE_EACH, {INFINITY, 6}, 1.5}, // a problem that it cannot run
        {OBJECTIVE_GEOMEAN, {9, 0}, 0},       {OBJECTIVE_EACH, {0, 9}, 0},     {OBJECTIVE_WORST, {0, 9}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double found = objective_ratio(cases[i].objective, weights, cases[i].times, best, 2);
        if (!(fabs(found - cases[i].expected) < 1e-12))
            fail_msg("case %zu: %g, expected %g", i, found, cases[i].expected);
    }
    const double none[] = {1, 0};
    assert_true(objective_ratio(OBJECTIVE_GEOMEAN, weights, best, none, 2) == 0); // the best time is unknown
}

TEST_MAIN(sound_setup, sound_teardown)
