// Objective "each": compares the choice of the fewest kernels with brute force, and follows a whole run on a recorded
// space down to the header's selector.
#include "tests/e2e.h"
#include "tests/kept_binaries.h"
#include "tests/loaded_job.h"
#include "tests/sanitized.h"
#include "tests/testing.h"

#include <math.h>

#include "search/model/kernel_set.h"
#include "search/space/fn.h"
#include "search/space/random.h"
#include "search/strategies/strategy.h"
#include "tuner/base/json.h"
#include "tuner/base/memory.h"
#include "tuner/run/search.h"
#include "tuner/setup/request.h"
#include "tuner/setup/wave_model.h"
#include "tuner/store/binary.h"
#include "tuner/store/store.h"

static struct error err; // of the last call that failed

// Tries every set to find the smallest number of candidates that cover all problems that are not held back.
static size_t brute_force(const double *times, size_t candidates, size_t problems, const bool *holdout, double regret)
{
    size_t fewest = SIZE_MAX;
    for (unsigned set = 1; set < 1u << candidates; set++) {
        bool covers = true;
        for (size_t p = 0; p < problems && covers; p++) {
            double best = INFINITY, least = INFINITY;
            for (size_t c = 0; c < candidates; c++) {
                double t = times[c * problems + p];
                least = fmin(least, t); // fmin drops NaN
                if (set >> c & 1) best = fmin(best, t);
            }
            covers = holdout[p] || best <= least * (1 + regret) + 1e-12;
        }
        if (covers && (size_t)__builtin_popcount(set) < fewest) fewest = (size_t)__builtin_popcount(set);
    }
    return fewest;
}

TEST(a_kernel_set_is_as_small_as_brute_force_finds)
{
    enum { CANDIDATES = 10, MOST = 12 };
    struct random rng;
    random_seed(&rng, 5);
    for (int round = 0; round < 400; round++) {
        size_t problems = 1 + random_below(&rng, MOST);
        double times[CANDIDATES * MOST];
        bool holdout[MOST];
        int64_t sizes[MOST];
        for (size_t p = 0; p < problems; p++) {
            holdout[p] = p && random_below(&rng, 5) == 0;
            sizes[p] = 1 + (int64_t)random_below(&rng, 5000);
        }
        for (size_t i = 0; i < CANDIDATES * problems; i++)
            times[i] = random_below(&rng, 12) ? 1e-3 * (double)(10 + random_below(&rng, 10)) : NAN;
        for (size_t p = 0; p < problems; p++) times[p] = 1.9e-2; // the first candidate runs on all problems
        struct kernel_set set;
        const struct kernel_times all = {CANDIDATES, problems, 1, times, holdout, sizes, NULL};
        assert_int_equal(kernel_set_find(&all, 0.15, &set), 0);
        assert_true(set.exact);
        assert_int_equal(set.count, brute_force(times, CANDIDATES, problems, holdout, 0.15));
        for (size_t p = 0; p < problems; p++) {
            double best = INFINITY;
            assert_true(set.kernel[p] < set.count);
            for (size_t c = 0; c < CANDIDATES; c++) best = fmin(best, times[c * problems + p]);
            double regret = times[set.chosen[set.kernel[p]] * problems + p] / best - 1;
            if (holdout[p] && isnan(regret)) continue; // the nearest problem's kernel does not run on it
            assert_true(fabs(set.regret[p] - regret) < 1e-9);
            if (!holdout[p]) assert_true(regret <= 0.15 + 1e-9 && set.worst >= regret - 1e-9);
        }
    }
}

TEST(a_problem_that_nothing_can_do_has_no_kernel_set)
{
    struct kernel_set set;
    const struct kernel_times all = {2, 2, 0, (double[]){1, NAN, 2, NAN}, (bool[]){false, false}, NULL, NULL};
    assert_int_equal(kernel_set_find(&all, 0.1, &set), -1);
}

// Tiles of 64 and 128 on a device that holds 100 blocks: a problem with 120 of the larger tiles needs two waves. The
// nearest problem has 90 tiles and does not show this.
TEST(what_is_held_back_gets_the_kernel_with_the_least_expected_time)
{
    const double times[] = {1.1, 2.2, 4.0, 1.0, 2.0, 2.7}, relative_times[] = {1.1, 2.2, 2.7, 1, 2, 4};
    const bool holdout[] = {false, false, true};
    const int64_t sizes[] = {904, 1800, 1200};
    struct kernel_set set;
    const double both[] = {1.1, 2.2, 2.7, 1.0, 2.3, 4.0}; // each is the best on some problem
    struct kernel_times all = {2, 3, 1, both, holdout, sizes, NULL};
    assert_int_equal(kernel_set_find(&all, 0.03, &set), 0);
    assert_int_equal(set.count, 2);
    assert_true(set.worst_holdout > 0.4); // the nearest problem is 904, on which candidate 1 is the fastest
    all.relative_times = relative_times;
    assert_int_equal(kernel_set_find(&all, 0.03, &set), 0);
    assert_true(set.worst_holdout == 0);
    all.times = times;
    assert_int_equal(kernel_set_find(&all, 0.03, &set), 0);
    assert_int_equal(set.count, 1);
    assert_int_equal(set.chosen[0], 1);
}

TEST(distances_know_ratio_and_alignment)
{
    assert_true(fn_distance((int64_t[]){1024, 64}, (int64_t[]){1024, 64}, 2) == 1);
    assert_true(fn_distance((int64_t[]){1024}, (int64_t[]){512}, 1) == 2);
    assert_true(fn_distance((int64_t[]){1024}, (int64_t[]){1023}, 1) > 1.9); // nearer to 600 than to its neighbour
    assert_true(fn_distance((int64_t[]){1023}, (int64_t[]){1025}, 1) < 1.01);
}

// Two criteria with optima in different corners: a strategy for both criteria must find both optima.
TEST(a_strategy_with_two_criteria_finds_both_optima)
{
    struct symbols *symbols = symbols_new();
    struct space *space = space_new(symbols);
    int64_t values[16];
    for (int i = 0; i < 16; i++) values[i] = i;
    for (int i = 0; i < 3; i++)
        assert_true(space_add_parameter(space, (const char *[]){"X", "Y", "Z"}[i], PARAMETER_INT, values, 16, &err) >=
                    0);
    assert_int_equal(space_build(space, NULL, &err), 0);
    for (size_t k = 0; strategy_classes[k]; k++) {
        if (!strcmp(strategy_classes[k]->name, "exhaustive")) continue;
        struct strategy *s =
            strategy_new(strategy_classes[k], space, &(struct strategy_options){.seed = 3, .criteria = 2});
        double best[2] = {INFINITY, INFINITY};
        uint16_t config[3];
        for (int n = 0; n < (SANITIZED ? 60 : 400); n++) {
            assert_true(strategy_ask(s, config));
            double times[2] = {1, 1};
            for (int i = 0; i < 3; i++) {
                times[0] += 0.1 * abs((int)config[i] - 2);
                times[1] += 0.1 * abs((int)config[i] - 13);
            }
            for (int i = 0; i < 2; i++) best[i] = fmin(best[i], times[i]);
            strategy_tell(s, &(struct observation){.config = config,
                                                   .outcome = OUTCOME_OK,
                                                   .objective = sqrt(times[0] * times[1]),
                                                   .objectives = times});
        }
        strategy_free(s);
        if (!SANITIZED && (best[0] > 1.45 || best[1] > 1.45))
            fail_msg("%s: %g and %g", strategy_classes[k]->name, best[0], best[1]);
    }
    space_free(space);
    symbols_free(symbols);
}

// X = 2 is best for small N and X = 9 for large N. X = 5, in between, is not bad for either.
static double time_at(int x, int y, int64_t n)
{
    double wanted = n < 1000 ? 2 : 9;
    return 1e-9 * (double)n * (1 + 0.05 * fabs(x - wanted) + 0.02 * y);
}

static const int64_t sizes[] = {256, 512, 2048, 4096, 640, 3072};

static const char plain[] =
    "kernel = { template = \"x.cu\"; entry = \"x\"; }; launch = { grid = [\"ceil_div(N, 32 * (X + 1))\"]; block = "
    "[32]; };\n"
    "arguments = ( { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } );";
// Odd N allows only small X.
static const char even[] =
    "kernel = { template = \"x.cu\"; }; stages = ( { entry = \"x\"; when = \"N % 2 == 0 || X < 5\"; "
    "launch = { grid = [\"ceil_div(N, 32 * (X + 1))\"]; block = [32]; };\n"
    "arguments = ( { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } ); } );";

static void write_space(const char *folder, const char *kernel)
{
    json_t *trials = json_array(), *xs = json_array(), *problems = json_array(), *baseline = json_array();
    for (int x = 0; x < 12; x++) json_array_append_new(xs, json_integer(x));
    for (size_t p = 0; p < 6; p++) {
        char *name = test_text("N=%d", (int)sizes[p]);
        json_array_append_new(problems, json_pack("{s:s, s:{s:I}}", "name", name, "sizes", "N", (json_int_t)sizes[p]));
        double t = 1.1 * time_at(9, 0, sizes[p]);
        json_array_append_new(baseline, json_pack("{s:f, s:[f,f]}", "time", t, "samples", t, 1.01 * t));
    }
    for (int x = 0; x < 12; x++)
        for (int y = 0; y < 4; y++) {
            json_t *times = json_array(), *samples = json_array();
            for (size_t p = 0; p < 6; p++) {
                double t = time_at(x, y, sizes[p]);
                json_array_append_new(times, json_real(t));
                json_array_append_new(samples, json_pack("[f,f,f]", t, t, t));
            }
            json_array_append_new(trials, json_pack("[i,i,s,o,o,i]", x, y, "ok", times, samples, 40));
        }
    json_t *all = json_pack(
        "{s:s, s:i, s:s, s:{s:s}, s:o, s:[{s:s, s:o}, {s:s, s:[i,i,i,i]}], s:[s,s,s,s,s,s], s:o, s:[{s:s, s:o}]}",
        "format", "sweetspot-space", "version", 1, "job", "e", "device", "name", "Recorded GPU", "problems", problems,
        "parameters", "name", "X", "values", xs, "name", "Y", "values", 0, 1, 2, 3, "columns", "X", "Y", "status",
        "time", "samples", "registers", "trials", trials, "baselines", "name", "cublas", "problems", baseline);
    e2e_write_json(folder, "space.json", all);
    e2e_write(folder, "x.cu", "\n");
    char *text = test_text(
        "name = \"e\"; parameters = ( { name = \"X\"; range = [0, 11]; }, { name = \"Y\"; range = [0, 3]; } );\n"
        "problems = ( { N = 256; }, { N = 512; }, { N = 2048; }, { N = 4096; }, { N = 640; holdout = true; }, { N = "
        "3072; holdout = true; } );\n"
        "objective = \"each\"; regret = 0.03;\n%s\nverification = { enabled = false; };\n",
        kernel);
    e2e_write(folder, "job.cfg", text);
}

TEST(the_kernels_of_a_final_are_an_event)
{
    char *folder = e2e_folder("each_events");
    write_space(folder, plain);
    struct e2e_result r =
        e2e_in(folder, "$BIN/sweetspot tune job.cfg --device replay:space.json --store e.db --quiet "
                       "--format json >events; grep -v '^{' events; grep '\"event\":\"kernels\"' events");
    json_t *event = test_json(json_parse(r.out, &err)); // only that line
    if (!event) fail_msg("%s\n%s", r.out, r.err);
    const json_t *kernels = json_object_get(event, "kernels"), *problems = json_object_get(event, "problems");
    assert_int_equal(json_array_size(kernels), 2);
    assert_int_equal(json_array_size(problems), 6);
    bool used[2] = {false}, held_back = false;
    for (size_t i = 0; i < 6; i++) {
        const json_t *problem = json_array_get(problems, i);
        int64_t kernel = json_get_integer(problem, "kernel", -1);
        assert_true(kernel >= 0 && kernel < 2);
        used[kernel] = true;
        held_back |= json_get_bool(problem, "held_back", false);
        assert_true(json_get_number(problem, "time", 0) > 0);
    }
    assert_true(used[0] && used[1] && held_back);
}

TEST(a_run_chooses_two_kernels_and_its_header_selects_them)
{
    char *folder = e2e_folder("each");
    write_space(folder, plain);
    struct e2e_result r = e2e_passed(
        e2e_in(folder, "$BIN/sweetspot tune job.cfg --device replay:space.json --store e.db --quiet && $BIN/sweetspot "
                       "compare job.cfg --store e.db && $BIN/sweetspot header job.cfg --store e.db --output e.h"));
    assert_contains(r.out, "2 kernels for 6 problems", "(held back)", "on problems held back 0.0%");
    assert_contains(e2e_pass(folder, "cat $DIR/e.h").out, "longer than the fastest known one.",
                    "held back from the choice of kernels (2): at most 0.0%.");
    r = e2e_passed(e2e_in(folder, "$BIN/sweetspot status job.cfg --store e.db && $BIN/sweetspot status "
                                  "job.cfg --store e.db -f json >/dev/null && grep 'at_once = 4224;' e.h | wc -l"));
    assert_contains(r.out, "with the fastest kernel of each problem",
                    "\n2\n"); // 32 blocks of 32 threads per SM, 132 SMs: both kernels have a relative time
    assert_contains(r.out, "ratio 1.");
    // C and C++ with the strictest warnings. The selector is called for tuned, intermediate and meaningless sizes.
    static const char program[] =
        "#include <stdio.h>\n#include \"e.h\"\n"
        "int main(void) { int small = e_select(300), large = e_select(100000);\n"
        "  struct e_launch_shape g = e_geometry_on(E_FIRST_SECTION + small, 256);\n"
        "  printf(\"%d %d %d %d %u kernels %d X %d\\n\", small == large, e_select(0), small == e_select(512), large == "
        "e_select(2048), g.grid[0], E_KERNELS, E_X); return 0; }\n";
    e2e_write(folder, "main.c", program);
    for (int k = 0; k < 2; k++) {
        r = e2e_passed(e2e_in(folder,
                              "gcc -std=c99 -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror "
                              "-DE_KERNEL=%d main.c -o main && ./main && cp main.c main.cpp && g++ -std=c++11 "
                              "-pedantic -Wall -Wextra -Werror main.cpp -o main2 && ./main2 >/dev/null",
                              k));
        assert_contains(r.out, "0 -1 1 1 3 kernels 2 X"); // 256 / (32 * 3), rounded up
        assert_true(strstr(r.out, "X 2\n") || strstr(r.out, "X 9\n"));
    }
    r = e2e_in(folder, "gcc -DE_KERNEL=2 main.c");
    assert_true(r.status != 0);
    assert_contains(r.err, "E_KERNEL must be from 0");
    // A header that is written again still has two sections.
    r = e2e_in(folder, "$BIN/sweetspot header job.cfg --store e.db --output e.h && grep -c sweetspot-section e.h");
    assert_contains(r.out, "\n2\n");
}

// Both kernels are loaded, and a launch uses the kernel for its sizes. (Nothing is verified in a replayed run.)
TEST(embedded_kernels_are_launched_by_size)
{
    static const char program[] =
        "#define E_DRIVER_API\n#include \"fake_driver.h\"\n#include \"e.h\"\n"
        "static struct e_kernels k;\n"
        "static inline unsigned grid(long long n)\n{\n    fake_launches = 0;\n"
        "    if (e_launch(&k, 0, n, 0x1000) != E_OK || fake_launches != 1) return 0;\n"
        "    return fake_launch[0].config.gridDimX;\n}\n"
        "int main(void)\n{\n    fake_name = \"Recorded GPU\";\n    fake_sizes[0][0] = 8;\n"
        "    if (e_load(&k) != E_OK || fake_loads != 2 || k.library[0] == k.library[1]) return 1;\n"
        "#ifdef E_ALLOW_UNVERIFIED\n"
        "    if (grid(300) != 4 || grid(96000) != 300) return 2; /* X 2, X 9 */\n"
        "    if (e_launch(&k, 0, 0, 0x1000) != E_SIZES) return 3;\n"
        "#else\n    if (e_launch(&k, 0, 256, 0x1000) != E_SIZES) return 4;\n#endif\n"
        "    e_unload(&k);\n    return fake_unloads != 2;\n}\n";
    char *folder = e2e_folder("each_embedded");
    write_space(folder, plain);
    e2e_passed(e2e_in(folder, "$BIN/sweetspot tune job.cfg --device replay:space.json --store e.db --quiet"));
    keep_binaries(test_text("%s/e.db", folder), "x");
    e2e_write(folder, "main.c", program);
    for (int any = 0; any < 2; any++) {
        e2e_pass(folder,
                 "top=$PWD; cd $DIR && $BIN/sweetspot header job.cfg --store e.db --output e.h --embed && gcc "
                 "-std=c99 -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror %s -isystem " TEST_CUDA_HOME
                 "/include -I$top/tests/launch main.c e_binary.c -o main && ./main",
                 any ? "-DE_ALLOW_UNVERIFIED" : "");
    }
    struct e2e_result r = e2e_ended(2, e2e_in(folder, "$BIN/sweetspot header job.cfg --store e.db -o e.cubin"));
    assert_contains(r.err, "the final chose 2 kernels");
    r = e2e_passed(e2e_in(folder, "$BIN/sweetspot header job.cfg --store e.db -o e.sweetspot && grep -ao "
                                  "'sweetspot-kernel 1 ' e.sweetspot && grep -c '^     \"problem ' e_binary.c"));
    assert_contains(r.out, "e.sweetspot\nsweetspot-kernel 1 \nsweetspot-kernel 1 \n8\n"); // both, on all problems
}

// sweetspot_runtime.c launches the kernels that the header selects. (Its kernels are marked as verified here.)
TEST(the_runtime_chooses_as_the_header_does)
{
    static const char program[] =
        "#include <stdio.h>\n#define SWEETSPOT_DECLARATIONS\n#include \"sweetspot_runtime.c\"\n#include \"e.h\"\n"
        "SWEETSPOT_KERNELS(e);\n"
        "int main(void)\n{\n    struct sweetspot *s = sweetspot_new(0);\n    CUdeviceptr y = 1ULL << 40;\n"
        "    long long n;\n    cuCtxPushCurrent((CUcontext)(size_t)0x1000);\n"
        "    if (sweetspot_add(s, e_embedded)) return 1;\n"
        "    for (n = 3; n < 200000; n += n / 7 + 1) {\n"
        "        printf(\"grid %u\\n\", e_geometry_on(E_FIRST_SECTION + e_select(n), n).grid[0]);\n"
        "        if (sweetspot_launch(s, 0, &n, &y)) return 2;\n    }\n    return 0;\n}\n";
    char *folder = e2e_folder("each_runtime");
    write_space(folder, plain);
    e2e_passed(e2e_in(folder, "$BIN/sweetspot tune job.cfg --device replay:space.json --store e.db --quiet"));
    keep_binaries(test_text("%s/e.db", folder), "x");
    e2e_write(folder, "main.c", program);
    struct e2e_result r = e2e_pass(
        folder,
        "top=$PWD; cd $DIR && $BIN/sweetspot header job.cfg --store e.db --output e.h --embed >log && sed -i "
        "'s/supported "
        "1 0 /supported 1 1 /' e_binary.c && gcc -std=c99 -isystem " TEST_CUDA_HOME "/include main.c e_binary.c "
        "sweetspot_runtime.c $top/tests/launch/fake_libcuda.c -o main -lpthread && rm log && FAKE_LOG=log "
        "FAKE_DEVICE='Recorded GPU' ./main >selected && grep -o 'grid [0-9]*' log | diff - selected && wc -l "
        "<selected");
    assert_true(atoi(r.out) > 60);
}

// A configuration that has no stage for a problem cannot run this problem. The selector takes this into account.
TEST(a_kernel_is_not_selected_for_what_it_cannot_do)
{
    char *folder = e2e_folder("cannot");
    write_space(folder, even);
    e2e_passed(e2e_in(folder, "$BIN/sweetspot tune job.cfg --device replay:space.json --store e.db --quiet "
                              "&& $BIN/sweetspot header job.cfg --store e.db --output e.h"));
    e2e_write(folder, "main.c",
              "#include <stdio.h>\n#include \"e.h\"\nint main(void) { printf(\"%d %d\\n\", e_select(4096) == "
              "e_select(256), e_select(4097) == e_select(256)); return 0; }\n");
    struct e2e_result r = e2e_passed(
        e2e_in(folder, "gcc -std=c99 -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror main.c -o main && ./main"));
    assert_contains(r.out, "0 1"); // the large problems' kernel is for even sizes only
    keep_binaries(test_text("%s/e.db", folder), "x");
    r = e2e_passed(e2e_in(folder, "$BIN/sweetspot header job.cfg --store e.db -o e.sweetspot && grep -a ^supported "
                                  "e.sweetspot"));
    assert_contains(r.out, " #0 2 % 0 == 0 || || &&\n", " #0 2 % 0 == 1 || || &&\n"); // the runtime agrees
    r = e2e_in(folder, "sed -i 's/\"each\"/\"geomean\"/; s/; holdout = true//g; s/N = 256/N = 255/' "
                       "job.cfg && $BIN/sweetspot tune job.cfg --device replay:space.json --store f.db --quiet; "
                       "$BIN/sweetspot status job.cfg --store f.db");
    assert_contains(r.out, "pruned");
}

// One kernel is within the regret on all problems, and each of the other kernels is the fastest on one problem. All
// kernels are in the final.
TEST(every_finalist_takes_part_however_many_there_are)
{
    enum { PROBLEMS = 60 };
    char *folder = e2e_folder("many");
    json_t *trials = json_array(), *values = json_array(), *problems = json_array();
    char listed[PROBLEMS * 16] = "";
    size_t length = 0;
    for (int p = 0; p < PROBLEMS; p++) {
        char *name = test_text("N=%d", 100 + p);
        json_array_append_new(problems, json_pack("{s:s, s:{s:i}}", "name", name, "sizes", "N", 100 + p));
        length += (size_t)snprintf(listed + length, sizeof listed - length, "%s{ N = %d; }", p ? ", " : "", 100 + p);
    }
    for (int x = 0; x <= PROBLEMS; x++) {
        json_t *times = json_array(), *samples = json_array();
        for (int p = 0; p < PROBLEMS; p++) {
            double t = x == PROBLEMS ? 1.01e-3 : x == p ? 1e-3 : 2e-3;
            json_array_append_new(times, json_real(t));
            json_array_append_new(samples, json_pack("[f,f,f]", t, t, t));
        }
        json_array_append_new(values, json_integer(x));
        json_array_append_new(trials, json_pack("[i,s,o,o]", x, "ok", times, samples));
    }
    json_t *all =
        json_pack("{s:s, s:i, s:s, s:{s:s}, s:o, s:[{s:s, s:o}], s:[s,s,s,s], s:o}", "format", "sweetspot-space",
                  "version", 1, "job", "e", "device", "name", "Recorded GPU", "problems", problems, "parameters",
                  "name", "X", "values", values, "columns", "X", "status", "time", "samples", "trials", trials);
    e2e_write_json(folder, "space.json", all);
    e2e_write(folder, "x.cu", "\n");
    char *text = test_text("name = \"e\"; parameters = ( { name = \"X\"; range = [0, %d]; } );\nproblems = ( %s );\n"
                           "objective = \"each\"; regret = 0.03;\n%s\nverification = { enabled = false; };\n",
                           PROBLEMS, listed, plain);
    e2e_write(folder, "job.cfg", text);
    struct e2e_result r = e2e_passed(e2e_in(folder, "$BIN/sweetspot tune job.cfg --device replay:space.json --strategy "
                                                    "exhaustive --store e.db --quiet && cat *.log"));
    assert_contains(r.out, "1 kernel for 60 problems", "final: 61 candidates");
}

TEST(relative_time_is_the_work_of_a_block_times_the_waves)
{
    char *folder = e2e_folder("wave_model");
    e2e_write(folder, "x.cu", "\n");
    e2e_write(folder, "job.cfg",
              "name = \"e\"; parameters = ( { name = \"X\"; values = [1, 2]; } ); problems = ( { N = 1000; }, { N = "
              "4225; } );\n"
              "kernel = { template = \"x.cu\"; }; objective = \"each\"; work = { flops = \"6 * N\"; }; verification = "
              "{ enabled = false; };\n"
              "stages = ( { entry = \"light\"; launch = { grid = [\"N\"]; block = [32]; }; arguments = ( { buffer = "
              "\"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } ); },\n"
              "           { entry = \"heavy\"; launch = { grid = [\"ceil_div(N, X)\"]; block = [1024]; overlap = \"X "
              "== 2\"; }; arguments = ( { buffer = \"y\"; } ); } );\n");
    struct wave_model model;
    struct job *job = loaded_job(test_text("%s/job.cfg", folder));
    const struct trial_stage facts[] = {{.name = "light", .registers = 32}, {.name = "heavy", .registers = 32}};
    struct trial trial = {.config = "X=2", .stages = facts, .stage_count = 2};
    assert_int_equal(wave_model_find(job, &device_limits_h200, &trial, &model, &err), 0);
    assert_int_equal(model.stage, 1);
    assert_int_equal(model.at_once, 2 * 132);
    assert_true(fabs(model.of[0] - 6000.0 / 500 * 2) < 1e-9);
    assert_true(fabs(model.of[1] - 6 * 4225.0 / 2113 * 9) < 1e-9); // 2,113 blocks: 8 waves and one block
    trial.stage_count = 0;                                         // only the work is known
    assert_int_equal(wave_model_find(job, &device_limits_h200, &trial, &model, &err), 0);
    assert_int_equal(model.stage, -1);
    assert_true(model.of[0] == 6000);
    // The worker's request: only for X = 2 may the second launch overlap the first.
    for (uint16_t x = 0; x < 2; x++) {
        autojson json_t *problems = request_problems(job, &x, NULL, true, NULL, NULL, &err);
        const json_t *stages = json_object_get(json_array_get(problems, 0), "stages");
        assert_false(json_get_bool(json_array_get(stages, 0), "overlap", true));
        assert_int_equal(json_get_bool(json_array_get(stages, 1), "overlap", !x), x == 1);
    }
    trial.config = "X=3";
    assert_int_equal(wave_model_find(job, &device_limits_h200, &trial, &model, &err), -1);
}

TEST(a_problem_is_held_back_only_with_each)
{
    char *folder = e2e_folder("holdout");
    write_space(folder, plain);
    struct e2e_result r =
        e2e_in(folder, "sed -i 's/\"each\"/\"worst\"/' job.cfg && $BIN/sweetspot check job.cfg --compile 0");
    assert_int_equal(r.status, 2);
    assert_contains(r.err, "job.cfg:2: 'holdout' needs 'objective' = \"each\"");
}

TEST(a_trial_is_judged_by_what_it_adds_to_the_best_kernels)
{
    struct problem problems[2] = {{.weight = 1}, {.weight = 1}};
    const struct job job = {.search.objective = OBJECTIVE_EACH, .tuned_count = 2, .problems = problems};
    struct incumbent best;
    size_t problem;
    incumbent_init(&best);
    assert_true(incumbent_together(&best, &job, 4, (double[]){4, 4}) == 4); // the first
    assert_true(incumbent_take(&best, &job, 2, (double[]){1, 4}, "A=1", 1, &problem));
    assert_int_equal(problem, 0);
    assert_true(fabs(incumbent_together(&best, &job, 3, (double[]){9, 1}) - 1) < 1e-12); // with A=1's time on 0
    assert_true(fabs(incumbent_together(&best, &job, 9, (double[]){9, 9}) - 2) < 1e-12); // adds nothing
    assert_false(incumbent_take(&best, &job, 9, (double[]){9, 9}, "A=2", 2, &problem));
    assert_true(incumbent_take(&best, &job, 3, (double[]){9, 1}, "A=3", 3, &problem));
    assert_int_equal(problem, 1);
    assert_true(fabs(best.objective - 1) < 1e-12);
    incumbent_release(&best);
}

TEST_MAIN(NULL, NULL)
