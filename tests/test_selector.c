// Measures the loss of the header's selector on a recorded matrix of times, and checks that it selects the kernels that
// the driver expects.
#include "tests/e2e.h"
#include "tests/kept_binaries.h"
#include "tests/loaded_job.h"
#include "tests/testing.h"

#include "search/model/kernel_set.h"
#include "search/space/random.h"
#include "tuner/base/json.h"
#include "tuner/header/header.h"
#include "tuner/recorded/recorded.h"
#include "tuner/setup/wave_model.h"

#include "tests/config_text.h"

static struct error err; // from the last call that failed

// Appends a problem to the text of a list. Frees `list` and returns the longer text.
static char *problem_text(char *list, const int64_t n[3], bool holdout)
{
    char *longer = text_format("%s%s{ M = %d; N = %d; K = %d;%s }", list ? list : "", list ? ", " : "", (int)n[0],
                               (int)n[1], (int)n[2], holdout ? " holdout = true;" : "");
    free(list);
    return longer;
}

// The sizes of a recorded problem, valid until the next call.
static const int64_t *sizes_of(const struct recorded *recorded, size_t problem)
{
    static int64_t sizes[3];
    for (size_t i = 0; i < 3; i++) sizes[i] = recorded->problems[problem].sizes[i].value;
    return sizes;
}

static struct job *job_with_problems(const char *folder, char *problems)
{
    e2e_pass(folder,
             "mkdir -p $DIR/configs $DIR/templates && cp configs/sgemm.inc $DIR/configs && : "
             ">$DIR/templates/gemm_simt.cu && (sed '/^problems = (/,/^);/d; /^@include/d' configs/sgemm_each.cfg; "
             "echo 'problems = ( %s );'; echo '@include \"sgemm.inc\"') >$DIR/configs/job.cfg",
             problems);
    free(problems);
    return loaded_job(test_text("%s/configs/job.cfg", folder));
}

// The job of configs/sgemm_each.cfg with the problems of tests/spaces/sgemm_each_matrix.json.gz, a recording of 294
// configurations and 18 square products on an H200.
static struct job *job_of_the_matrix(const char *folder, const struct recorded *recorded)
{
    char *problems = NULL;
    for (size_t p = 0; p < recorded->problem_count; p++)
        problems = problem_text(problems, sizes_of(recorded, p), p >= 11);
    return job_with_problems(folder, problems);
}

// Takes kernel sets from a random two thirds of the configurations, and computes the selector's average loss on the
// seven holdout squares, once with the wave model and once without it.
TEST(the_wave_model_makes_a_better_selector)
{
    enum { SETS = 30, PART = 200 };
    char *folder = e2e_folder("matrix");
    struct recorded *recorded = recorded_read("tests/spaces/sgemm_each_matrix.json.gz", &err);
    if (!recorded) fail_msg("%s", err.message);
    struct job *job = job_of_the_matrix(folder, recorded);
    size_t problems = recorded->problem_count, count = 0;
    autofree double *times = memory_new(recorded->trial_count * problems, sizeof *times),
                    *relative_times = memory_new(recorded->trial_count * problems, sizeof *relative_times);
    bool holdout[KERNEL_SET_MAX_PROBLEMS];
    int64_t sizes_of[3 * KERNEL_SET_MAX_PROBLEMS];
    for (size_t p = 0; p < problems; p++)
        holdout[p] = job->problems[p].holdout, memcpy(sizes_of + 3 * p, job->problems[p].sizes, 3 * sizeof *sizes_of);
    for (size_t i = 0; i < recorded->trial_count; i++) {
        const struct trial *trial = &recorded->trials[i];
        struct wave_model model;
        char config[1024];
        if (trial->status != STATUS_OK) continue;
        config_text(recorded->space, recorded->configs + i * recorded->parameter_count, config, sizeof config);
        const struct trial_stage facts = {.name = "gemm_simt", .registers = (int64_t)trial->facts.registers};
        if (wave_model_find(job, &device_limits_h200,
                            &(struct trial){.config = config, .stages = &facts, .stage_count = 1}, &model, &err))
            fail_msg("%s: %s", config, err.message);
        for (size_t p = 0; p < problems; p++) {
            times[count * problems + p] = trial->problems[p].time;
            relative_times[count * problems + p] = model.of[p];
        }
        count++;
    }
    assert_true(count > 250);
    double worst[2] = {0, 0}, least = 0; // least: always with the fastest member
    struct random rng;
    random_seed(&rng, 11);
    for (int round = 0; round < SETS; round++) {
        for (size_t i = 0; i < PART; i++) { // the first PART of a shuffle
            size_t k = i + random_below(&rng, (uint32_t)(count - i));
            for (size_t p = 0; p < problems; p++) {
                double t = times[i * problems + p], e = relative_times[i * problems + p];
                times[i * problems + p] = times[k * problems + p], times[k * problems + p] = t;
                relative_times[i * problems + p] = relative_times[k * problems + p],
                                              relative_times[k * problems + p] = e;
            }
        }
        for (int with = 0; with < 2; with++) {
            struct kernel_set set;
            const struct kernel_times all = {PART, problems, 3, times, holdout, sizes_of, with ? relative_times : NULL};
            assert_int_equal(kernel_set_find(&all, 0.03, &set), 0);
            assert_true(set.exact && set.worst <= 0.03 + 1e-9);
            worst[with] += set.worst_holdout / SETS;
            double largest = 0;
            for (size_t p = 0; p < problems && with; p++) {
                double fastest = INFINITY;
                for (size_t k = 0; k < set.count; k++) fastest = fmin(fastest, times[set.chosen[k] * problems + p]);
                if (holdout[p]) largest = fmax(largest, fastest / set.best[p] - 1);
            }
            least += largest / SETS;
        }
    }
    print_message("largest regret on what is held back, mean of %d sets: %.3f with the wave model, %.3f without, "
                  "%.3f at least\n",
                  SETS, worst[1], worst[0], least);
    assert_true(worst[1] < 0.1);
    assert_true(worst[1] < 0.7 * worst[0] && worst[1] >= least);
    recorded_free(recorded);
}

enum { SIZES_A_JOB = 50, JOBS = 12 };

static int64_t random_size(struct random *rng)
{
    int64_t size = 1 + (int64_t)random_below(rng, 1u << (4 + random_below(rng, 10)));
    return random_below(rng, 2) ? size : 8 * size; // half of them well aligned
}

// Finds the kernels of a header that the driver expects to be the fastest on the job's holdout problems. In the job,
// these follow the `tuned` squares.
static void select_in_the_driver(const struct job *job, const json_t *sections, size_t tuned, int *out)
{
    size_t problems = job->tuned_count, count = json_array_size(sections), kernels[KERNEL_SET_MAX_CHOSEN];
    autofree double *times = memory_new(count * problems, sizeof *times),
                    *relative = memory_new(count * problems, sizeof *times);
    autofree int64_t *sizes_of = memory_new(3 * problems, sizeof *sizes_of);
    bool holdout[JOB_MAX_PROBLEMS];
    for (size_t k = 0; k < count; k++) {
        const json_t *section = json_array_get(sections, k), *list = json_object_get(section, "times"),
                     *stage = json_array_get(json_object_get(section, "stages"), 0);
        const struct trial_stage facts = {.name = json_get_string(stage, "name", ""),
                                          .registers = json_get_integer(stage, "registers", -1),
                                          .shared_static = json_get_integer(stage, "shared_static", -1)};
        const struct trial trial = {
            .config = json_get_string(section, "configuration", ""), .stages = &facts, .stage_count = 1};
        struct wave_model model;
        if (wave_model_find(job, &device_limits_h200, &trial, &model, &err)) fail_msg("%s", err.message);
        assert_int_equal(model.at_once, json_get_integer(section, "at_once", 0));
        assert_int_equal(json_array_size(list), tuned);
        for (size_t p = 0; p < problems; p++) {
            times[k * problems + p] = p < tuned ? json_get_number(json_array_get(list, p), "time", NAN) : 1;
            relative[k * problems + p] = model.of[p];
        }
        kernels[k] = k;
    }
    for (size_t p = 0; p < problems; p++) {
        holdout[p] = p >= tuned;
        memcpy(sizes_of + 3 * p, job->problems[p].sizes, 3 * sizeof *sizes_of);
    }
    const struct kernel_times all = {count, problems, 3, times, holdout, sizes_of, relative};
    for (size_t p = tuned; p < problems; p++) out[p - tuned] = kernel_set_select(&all, kernels, count, p);
}

// The driver and the header compare the same numbers, because times are written with enough digits to be read back
// exactly. Recorded times have nine digits at most, so the test adds more.
static void expect_exact_times(const char *folder, const json_t *header)
{
    json_t *sections = test_json(json_deep_copy(header));
    char *path = test_text("%s/exact.h", folder);
    json_array_each(sections, i, section)
        json_array_each(json_object_get(section, "times"), k, one)
            json_object_set_new(one, "time", json_real(json_get_number(one, "time", NAN) * (1 + 1e-12)));
    if (header_write(path, sections, &err)) fail_msg("%s", err.message);
    const char *at = strstr(test_file("%s", path), "_time times[] = {");
    assert_non_null(at);
    json_array_each(sections, i, section) {
        json_array_each(json_object_get(section, "times"), k, one) {
            double found = NAN;
            at = strchr(at, '\n') + 1;
            assert_int_equal(sscanf(at, " {%*d, {%*d, %*d, %*d}, %lf}", &found), 1);
            assert_true(found == json_get_number(one, "time", NAN));
        }
    }
}

// Prints the number of the kernel that a Python file selects, for each line of sizes.
static const char python_program[] =
    "import sys\nsys.path.insert(0, sys.argv[1])\nimport s as best\nfor line in open(sys.argv[1] + '/sizes'):\n"
    "    at = best._at(best.SIZES, map(int, line.split()))\n"
    "    print(best._sections.index(best._section_for((best._sections[0]['device'], 0, 0), at)))\n";

// The header's selector makes the same choices as the final for the holdout problems, and as the driver for hundreds of
// other sizes. It is compiled together with the header of another job, as C, as C++ and, where there is nvcc, as CUDA.
// The Python file makes the same choices too.
TEST(the_header_selects_what_the_driver_expects)
{
    char *folder = e2e_folder("agree");
    struct recorded *recorded = recorded_read("tests/spaces/sgemm_each_matrix.json.gz", &err);
    if (!recorded) fail_msg("%s", err.message);
    job_of_the_matrix(folder, recorded);
    struct e2e_result r = e2e_pass(
        folder, "$BIN/sweetspot tune $DIR/configs/job.cfg --device replay:tests/spaces/sgemm_each_matrix.json.gz "
                "--prior tests/spaces/sgemm_each_matrix.json.gz -n 40 --quiet --store $DIR/s.db && $BIN/sweetspot "
                "header $DIR/configs/job.cfg --store $DIR/s.db --output $DIR/s.h && sed 's/^name .*/name = "
                "\"other\";/' $DIR/configs/job.cfg >$DIR/configs/other.cfg && $BIN/sweetspot tune "
                "$DIR/configs/other.cfg --device replay:tests/spaces/sgemm_each_matrix.json.gz --prior "
                "tests/spaces/sgemm_each_matrix.json.gz -n 40 --quiet --store $DIR/o.db >/dev/null && $BIN/sweetspot "
                "header $DIR/configs/other.cfg --store $DIR/o.db --output $DIR/o.h");
    keep_binaries(test_text("%s/s.db", folder), "gemm_simt");
    e2e_pass(folder, "$BIN/sweetspot header $DIR/configs/job.cfg --store $DIR/s.db --python --output $DIR/s.py");
    autorelease(text_release) struct text expected = {0}, calls = {0}, sizes = {0};
    for (size_t p = 0; p < recorded->problem_count; p++) { // "  M=384,N=384,K=384: kernel 2, 14.97us"
        const int64_t *n = sizes_of(recorded, p);
        char *line = test_text("\n  M=%d,N=%d,K=%d: kernel ", (int)n[0], (int)n[1], (int)n[2]);
        const char *at = strstr(r.out, line);
        if (!at) fail_msg("no '%s' in: %s", line, r.out);
        text_add(&expected, "%d\n", atoi(at + strlen(line)));
        text_add(&calls, "    {%d, %d, %d},\n", (int)n[0], (int)n[1], (int)n[2]);
        text_add(&sizes, "%d %d %d\n", (int)n[0], (int)n[1], (int)n[2]);
    }
    autojson json_t *sections = header_read(test_text("%s/s.h", folder), &err);
    assert_true(json_array_size(sections) > 1);
    expect_exact_times(folder, sections);
    struct random rng;
    random_seed(&rng, 3);
    size_t uses[KERNEL_SET_MAX_CHOSEN] = {0};
    for (int i = 0; i < JOBS; i++) {
        char *problems = NULL;
        int selected[JOB_MAX_PROBLEMS];
        for (size_t p = 0; p < 11; p++) problems = problem_text(problems, sizes_of(recorded, p), false);
        for (size_t p = 0; p < SIZES_A_JOB; p++)
            problems =
                problem_text(problems, (int64_t[]){random_size(&rng), random_size(&rng), random_size(&rng)}, true);
        struct job *job = job_with_problems(folder, problems);
        select_in_the_driver(job, sections, 11, selected);
        for (size_t p = 0; p < SIZES_A_JOB; p++) {
            const int64_t *n = job->problems[11 + p].sizes;
            text_add(&expected, "%d\n", selected[p]);
            text_add(&calls, "    {%d, %d, %d},\n", (int)n[0], (int)n[1], (int)n[2]);
            text_add(&sizes, "%d %d %d\n", (int)n[0], (int)n[1], (int)n[2]);
            assert_in_range(selected[p], 0, json_array_size(sections) - 1);
            uses[selected[p]]++;
        }
    }
    for (size_t k = 0; k < json_array_size(sections); k++) assert_true(uses[k] > 0);
    autofree char *program =
        text_format("#include <stdio.h>\n#include \"s.h\"\n#include \"o.h\"\nstatic const int sizes[][3] = "
                    "{\n%s};\nint main(void)\n{\n"
                    "    unsigned i;\n    for (i = 0; i < sizeof sizes / sizeof *sizes; i++)\n"
                    "        printf(\"%%d\\n\", sgemm_each_select(sizes[i][0], sizes[i][1], sizes[i][2]));\n    return "
                    "other_select(512, 512, 512) != sgemm_each_select(512, 512, 512);\n}\n",
                    calls.text);
    e2e_write(folder, "main.c", program);
    e2e_write(folder, "expected", expected.text);
    e2e_passed(e2e_in(
        folder, "cp main.c main.cpp && gcc -std=c99 -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror main.c -o a "
                "&& ./a >a.out && g++ -O2 -std=c++11 -pedantic -Wall -Wextra -Werror main.cpp -o b && ./b >b.out && "
                "cmp a.out expected && cmp b.out expected && if command -v nvcc >nvcc; then cp main.c main.cu && nvcc "
                "-std=c++17 -arch=sm_90 -Werror all-warnings main.cu -o c && ./c >c.out && cmp c.out expected; fi"));
    recorded_free(recorded);
    if (system("command -v python3 >/dev/null 2>&1")) return;
    e2e_write(folder, "sizes", sizes.text);
    e2e_write(folder, "select.py", python_program);
    e2e_pass(folder,
             "PYTHONDONTWRITEBYTECODE=1 python3 $DIR/select.py $DIR >$DIR/p.out && cmp $DIR/p.out $DIR/expected");
}

TEST_MAIN(NULL, NULL)
