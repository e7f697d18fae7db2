// A Python file makes the same launches as the C header, checks arrays, and refuses those that it does not support.
// Jobs that cannot have a Python file are refused. Launches go to a fake libcuda (tests/launch/fake_libcuda.c), so that
// no GPU is needed. The checks are in tests/launch/*.py. Skipped without python3.
#include "tests/e2e.h"
#include "tests/finished_header.h"
#include "tests/loaded_job.h"
#include "tests/testing.h"

#include "search/space/random.h"
#include "tuner/base/units.h"
#include "tuner/job/header_names.h"

static struct error err; // from the last call that failed
static char *folder;

#define WITH_FAKE "export LD_LIBRARY_PATH=$PWD/'%1$s' PYTHONDONTWRITEBYTECODE=1 FAKE_LOG=$PWD/'%1$s'/log; "

static bool have_python(void)
{
    return !system("command -v python3 >/dev/null 2>&1");
}

static void setup(void)
{
    folder = e2e_folder("python");
    e2e_pass(folder, "gcc -shared -fPIC -Wall -Wextra -Werror -isystem " TEST_CUDA_HOME "/include "
                     "tests/launch/fake_libcuda.c -o $DIR/libcuda.so.1 -lpthread && cp -r configs templates $DIR && "
                     "sed -i '/^regret/d; s/\"each\"/\"mean\"/; s/; *holdout = true//' $DIR/configs/*.cfg");
}

// Jobs ----------------------------------------------------------------------------------------------------------------

// Stores a trial of this configuration that is verified on all problems. Its binary has as many units as the job.
static void store_trial_on(const struct job *job, const uint16_t *config, const char *path, const char *device,
                           int count)
{
    struct store *store;
    struct trial_problem problems[JOB_MAX_PROBLEMS];
    struct trial_stage stages[16];
    struct trial trial;
    char hash[HASH_TEXT_SIZE];
    autofree char *text = space_text(job->space, config);
    const struct environment environment = {.key = "key",
                                            .job = job->name,
                                            .source_hash = "0123456789abcdef",
                                            .compiler = "nvrtc 13.0",
                                            .device = device,
                                            .arch = "sm_90a",
                                            .driver = "580.1"};
    trial_clear(FIELD_TRIAL, &trial);
    for (size_t p = 0; p < job->problem_count; p++) {
        trial_clear(FIELD_PROBLEM, &problems[p]);
        problems[p].name = job->problems[p].name;
        problems[p].tuned = p < job->tuned_count;
        problems[p].time = problems[p].low = problems[p].high = 1e-3;
        problems[p].error = 0.1;
    }
    autojson json_t *symbols = json_object();
    for (size_t s = 0; s < job->stage_count; s++) {
        stages[s] = (struct trial_stage){job->stages[s].name, 40, 0, 0, 0, 1024, 0, 4096, 0.5, ""};
        autofree char *key = binary_symbol_name(job->stages[s].unit, job->stages[s].entry);
        json_object_set_new(symbols, key, json_sprintf("symbol%zu", s));
    }
    trial.config = text;
    trial.status = STATUS_OK;
    trial.objective = 1e-3;
    trial.finished = 1790000000.0;
    trial.problems = problems, trial.problem_count = job->problem_count;
    trial.stages = stages, trial.stage_count = job->stage_count;
    // One cubin per unit. Its fifth byte is the unit's number, or a letter on another device.
    static const char *const images[] = {"\177ELF0\0coef", "\177ELF1", "\177ELFA\0coef"};
    size_t units = 1, size;
    for (size_t s = 0; s < job->stage_count; s++) units = larger_of(units, job->stages[s].unit + 1);
    autofree void *joined = units_join((const void *const *)images, (size_t[]){11, 5}, units, &size, &err);
    const void *binary = units > 1 ? joined : count == 132 ? images[0] : images[2];
    if (units == 1) size = 11;
    char *hello = test_text("{\"device\":{\"name\":\"%s\",\"arch\":\"sm_90a\",\"sm_count\":%d}}", device, count);
    if (store_open(&store, path, true, &err) || store_use_environment(store, &environment, &err) ||
        store_add(store, &trial, &err) || put_text(store, 0, "device", hello, &err) ||
        store_put_blob(store, binary, size, hash, &err) || store_set_trial_blob(store, 1, BINARY_BLOB, hash, &err))
        fail_msg("%s", err.message);
    json_t *document = json_pack("{s:s, s:i, s:O}", "hash", hash, "bytes", (int)size, "symbols", symbols);
    assert_int_equal(store_put_document(store, 1, BINARY_DOCUMENT, document, &err), 0);
    json_decref(document);
    store_close(store);
}

static void store_trial(const struct job *job, const uint16_t *config, const char *path)
{
    store_trial_on(job, config, path, "NVIDIA H200", 132);
}

// The sizes of each kernel's arguments in bytes, for the fake driver (malloc'ed).
static char *argument_sizes(const struct job *job)
{
    struct text text = {0};
    for (size_t s = 0; s < job->stage_count; s++) {
        text_add(&text, "symbol%zu:", s);
        for (size_t i = 0; i < job->stages[s].argument_count; i++) {
            const struct argument *a = &job->stages[s].arguments[i];
            text_add(&text, "%zu,",
                     a->map            ? 128
                     : a->buffer >= 0  ? 8
                     : a->member_count ? a->bytes
                                       : element_size(a->type));
        }
        text_add(&text, ";");
    }
    return text.text;
}

// Writes a C program that launches on the job's first and last problem. With an argument, the program uses
// sweetspot_runtime.c, and returns 77 if the runtime cannot launch the job. `sizes` receives the sizes of both problems
// as arguments for the Python script, for example "1,2 3,4".
static void write_program(const struct job *job, size_t buffers, struct text *sizes)
{
    autofree char *lower = header_identifier(job->name), *upper = header_upper(job->name);
    autorelease(text_release) struct text calls = {0}, list = {0}, addresses = {0};
    for (size_t i = 0; i < buffers; i++) text_add(&addresses, "%s(1ULL << 40) + (%zuULL << 32)", i ? ", " : "", i + 1);
    for (size_t p = 0; p<job->problem_count; p += job->problem_count> 1 ? job->problem_count - 1 : 1) {
        text_add(&list, "%s{", p ? ", " : "");
        text_add(&calls, "    if (%s_launch(&k, (CUstream)0x77", lower);
        for (size_t i = 0; i < job->names.size_count; i++) {
            text_add(&calls, ", %" PRId64, job->problems[p].sizes[i]);
            text_add(sizes, "%s%" PRId64, i ? "," : " ", job->problems[p].sizes[i]);
            text_add(&list, "%s%" PRId64, i ? "," : "", job->problems[p].sizes[i]);
        }
        text_add(&list, "}");
        text_add(&calls, ", %s)) return %zu;\n", addresses.text, 2 + p);
    }
    char *text = test_text("#define %1$s_DRIVER_API\n#define SWEETSPOT_DECLARATIONS\n#include \"%2$s_best.h\"\n"
                           "#include \"sweetspot_runtime.c\"\nSWEETSPOT_KERNELS(%2$s);\n"
                           "static int run(void)\n{\n    struct sweetspot *s = sweetspot_new(0);\n"
                           "    static const long long sizes[][%6$zu] = {%4$s};\n"
                           "    static const CUdeviceptr buffers[] = {%5$s};\n    unsigned i;\n"
                           "    if (!%2$s_embedded[0].text) return 77;\n"
                           "    if (sweetspot_add(s, %2$s_embedded)) return 1;\n"
                           "    for (i = 0; i < sizeof sizes / sizeof *sizes; i++)\n"
                           "        if (sweetspot_launch(s, (CUstream)0x77, sizes[i], buffers)) return 2;\n"
                           "    sweetspot_free(s);\n    return 0;\n}\n"
                           "int main(int argc, char **argv)\n{\n    static struct %2$s_kernels k;\n    CUcontext c;\n"
                           "    (void)argv;\n    cuDevicePrimaryCtxRetain(&c, 0);\n    cuCtxPushCurrent(c);\n"
                           "    if (argc > 1) return run();\n"
                           "    if (%2$s_load(&k)) return 1;\n%3$s    return 0;\n}\n",
                           upper, lower, calls.text, list.text, addresses.text, job->names.size_count);
    e2e_write(folder, "main.c", text);
}

// Checks that every launch is the same in C and in Python, apart from scratch that only Python fills with zeros.
// Launches through sweetspot_runtime.c must be the same too. Returns whether the runtime can launch the job.
static bool compare(const char *config, const struct job *job)
{
    autorelease(text_release) struct text sizes = {0};
    size_t buffers = 0, filled = 0;
    autofree char *arguments = argument_sizes(job), *lower = header_identifier(job->name);
    for (size_t i = 0; i < job->buffer_count; i++) {
        buffers += !job->buffers[i].symbol && !job->buffers[i].image;
        filled += job->buffers[i].direction == DIRECTION_SCRATCH && job->buffers[i].fill.given;
    }
    write_program(job, buffers, &sizes);
    e2e_pass(folder,
             "for kind in --embed --python; do $BIN/sweetspot header '%s' --store $DIR/s.db $kind -o "
             "$DIR/%2$s_best.$([ $kind = --embed ] && echo h || echo py) || exit 1; done",
             config, lower);
    struct e2e_result r = e2e_passed(
        e2e_run(folder,
                WITH_FAKE
                "export FAKE_ARGUMENTS='%2$s'; top=$PWD; cd $DIR && rm -f log && gcc -std=c99 -isystem " TEST_CUDA_HOME
                "/include main.c sweetspot_runtime.c %3$s_best_binary.c -o program -L. -l:libcuda.so.1 -lpthread && "
                "./program && "
                "mv log c && { ./program runtime; status=$?; [ $status = 77 ] && echo 77 || [ $status = 0 ]; } && "
                "{ [ $status = 77 ] || diff c log; } && rm -f log && "
                "python3 $top/tests/launch/same.py %3$s_best.py %4$s && mv log python",
                folder, arguments, lower, sizes.text));
    bool launched = !strstr(r.out, "77\n");
    r = e2e_run(folder, "cd $DIR && words() { tr ' ' '\\n'; } && grep -v ^fill python | words >p; words "
                        "<c | diff - p && grep -c . c && { grep -c ^fill python || true; }");
    int launches, fills;
    if (r.status || sscanf(r.out, "%d %d", &launches, &fills) != 2 || launches < 2 || (fills && !filled))
        fail_msg("%s: %zu filled: %.3000s", config, filled, r.out);
    return launched;
}

static const char *const configs[] = {"sgemm_2048",
                                      "bgemm_1024",
                                      "bgemm_4097",
                                      "tf32gemm",
                                      "hgemm_nn",
                                      "bgemm_beta",
                                      "dgemm",
                                      "sgemm_3xtf32",
                                      "sum",
                                      "gemv",
                                      "smith_waterman",
                                      "example",
                                      "softmax",
                                      "prefix_sum",
                                      "stencil_25",
                                      "transpose_in_place",
                                      "suite/fp32_batch_16",
                                      "layers/layer_m16_n4096_k4096",
                                      "suite/bf16_1024"};

TEST(it_launches_what_the_c_header_launches)
{
    if (!have_python()) skip();
    struct random rng;
    random_seed(&rng, 5);
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        char *config = test_text("%s/configs/%s.cfg", folder, configs[i]);
        struct job *job = loaded_job(config);
        uint16_t chosen[SPACE_MAX_PARAMETERS];
        space_sample(job->space, &rng, chosen);
        e2e_pass(folder, "rm -f $DIR/s.db*");
        store_trial(job, chosen, test_text("%s/s.db", folder));
        if (!compare(config, job)) fail_msg("%s: not by the runtime", configs[i]);
    }
}

TEST(it_launches_what_no_shipped_job_has)
{
    if (!have_python()) skip();
    uint16_t first[SPACE_MAX_PARAMETERS] = {0};
    e2e_pass(folder, "rm -f $DIR/s.db* && cp tests/jobs/python_cases.cfg $DIR && echo >$DIR/cases.cu");
    char *config = test_text("%s/python_cases.cfg", folder);
    struct job *job = loaded_job(config);
    store_trial(job, first, test_text("%s/s.db", folder));
    assert_false(compare(config, job)); // the runtime refuses repeated stages
    e2e_pass(folder, "rm $DIR/s.db* && sed -i 's|derived = {|& STEP = \"M / 2\"; K = \"N / 3\";|; /repeat = \"STEP/d; "
                     "/repeat = (/,+1d' $DIR/python_cases.cfg");
    job = loaded_job(config);
    store_trial(job, first, test_text("%s/s.db", folder));
    assert_true(compare(config, job));
}

// Writes the Python files of three jobs, which tests/launch/check_python.py checks.
static void make_files(void)
{
    static const char *const jobs[] = {"sgemm_2048", "sum", "bgemm_1024"};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        char *config = test_text("%s/configs/%s.cfg", folder, jobs[i]);
        struct job *job = loaded_job(config);
        uint16_t chosen[SPACE_MAX_PARAMETERS];
        struct random rng;
        random_seed(&rng, 5);
        do { // if there is a choice, with a counter in memory
            space_sample(job->space, &rng, chosen);
        } while (i == 1 && !strstr(test_owned(space_text(job->space, chosen)), "FINISH=last_block"));
        store_trial(job, chosen, test_text("%s/%s.db", folder, jobs[i]));
        e2e_pass(folder, "$BIN/sweetspot header %s --store $DIR/%s.db --python -o $DIR/%s_best.py", config, jobs[i],
                 jobs[i]);
    }
}

// `settings`: variables for the fake driver. `expected`: part of the error that the check expects.
static void check(const char *name, const char *settings, const char *expected)
{
    static bool made;
    if (!have_python()) skip();
    if (!made) make_files();
    made = true;
    e2e_pass(folder,
             WITH_FAKE "export EXPECTED='%2$s'; rm -f %1$s/log; %3$s python3 tests/launch/check_python.py %1$s %4$s",
             folder, expected, settings, name);
}

TEST(it_is_imported_without_a_driver)
{
    e2e_pass(folder, "mkdir -p $DIR/broken && : >$DIR/broken/libcuda.so.1");
    check("import", test_text("LD_LIBRARY_PATH=%s/broken", folder), "a CUDA driver of version 12 or newer is needed");
    check("import", "FAKE_NO_DEVICE=1", "cuInit: CUDA_ERROR_NO_DEVICE");
}

TEST(arrays_that_the_kernel_was_not_verified_with_are_refused)
{
    check("mistakes", "", "");
}

TEST(arrays_of_both_kinds_are_taken)
{
    check("arrays", "", "");
}

TEST(it_launches_on_the_callers_stream)
{
    check("streams", "", "");
}

TEST(scratch_is_filled_before_every_launch)
{
    check("scratch", "", "");
}

TEST(threads_load_once_and_share_the_launches)
{
    check("threads", "", "");
}

TEST(each_context_and_device_has_its_own_launches)
{
    check("contexts", "", "");
}

TEST(it_may_be_loaded_while_a_graph_is_captured)
{
    check("capture", "", "");
}

TEST(a_device_without_a_binary_is_refused)
{
    check("device", "FAKE_DEVICE='NVIDIA H100' FAKE_SMS=114",
          "no binary for this device, NVIDIA H100 of compute capability 90; the file is for NVIDIA H200");
    check("device", "FAKE_VERSION=12080", "the driver is older than the binary");
}

TEST(tensors_of_torch_follow_its_streams_and_allocator)
{
    check("torch", "", "");
}

static void sample(const struct job *job, uint16_t *config)
{
    struct random rng;
    random_seed(&rng, 5);
    space_sample(job->space, &rng, config);
}

TEST(a_file_for_another_device_is_merged)
{
    static const struct {
        const char *settings, *library; // library: the fifth byte of the binary
    } devices[] = {{"FAKE_DEVICE='NVIDIA H200'", "48"},
                   {"FAKE_DEVICE='NVIDIA H100 PCIe' FAKE_SMS=114", "65"},
                   {"FAKE_DEVICE='NVIDIA H100 PCIe'", "65"},
                   {"FAKE_DEVICE='NVIDIA H100 NVL'", "48"},
                   {"FAKE_DEVICE='NVIDIA H100 NVL' FAKE_SMS=120", "65"}};
    if (!have_python()) skip();
    char *config = test_text("%s/configs/sgemm_2048.cfg", folder);
    struct job *job = loaded_job(config);
    uint16_t chosen[SPACE_MAX_PARAMETERS];
    sample(job, chosen);
    e2e_pass(folder, "rm -f $DIR/s.db* && mkdir $DIR/two");
    store_trial(job, chosen, test_text("%s/s.db", folder));
    store_trial_on(job, chosen, test_text("%s/other.db", folder), "NVIDIA H100 PCIe", 114);
    char *write = test_text("$BIN/sweetspot header %s --python -o $DIR/two/sgemm_2048_best.py --store $DIR", config);
    e2e_pass(folder, "%s/s.db && %s/other.db", write, write);
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        e2e_pass(folder, WITH_FAKE "rm -f $FAKE_LOG; %2$s python3 tests/launch/check_python.py %1$s/two binary %3$s",
                 folder, devices[i].settings, devices[i].library);
    // Standard output has only the section of the newest device. A damaged binary of the other device is detected.
    struct e2e_result r = e2e_pass(folder, "$BIN/sweetspot header %s --store $DIR/other.db --python -o -", config);
    assert_contains(r.out, "NVIDIA H100 PCIe (sm_90a)");
    assert_null(strstr(r.out, "NVIDIA H200"));
    e2e_pass(folder,
             "sed -i 's/^f0VMRjAA/f0VMRjBA/' $DIR/two/sgemm_2048_best.py && cp $DIR/two/sgemm_2048_best.py $DIR/was");
    r = e2e_ended(3, e2e_run(folder, "%s/other.db", write));
    assert_contains(r.err, "sgemm_2048_best.py' lacks the binary for NVIDIA H200: write that device's again");
    e2e_pass(folder, "cmp $DIR/was $DIR/two/sgemm_2048_best.py && echo precious >$DIR/two/sgemm_2048_best.py");
    r = e2e_ended(2, e2e_run(folder, "%s/s.db", write));
    assert_contains(r.err, "was not written by sweetspot");
    e2e_pass(folder, "$BIN/sweetspot header %s --store $DIR/s.db -o $DIR/both", config);
    r = e2e_ended(2, e2e_run(folder, "$BIN/sweetspot header %s --store $DIR/s.db -o $DIR/both --python", config));
    assert_contains(r.err, "a C header and a Python file cannot be merged; it was not changed");
}

TEST(launches_that_python_cannot_make_are_refused)
{
    static const struct {
        const char *edit, *message;
    } cases[] = {
        {"s/fill = \"zero\"/fill = \"index\"/",
         "a Python file can fill scratch only with zeros, not 'n n'; use --embed"},
        {"s/\"bf16\"; value = 0.1/\"bf16\"; value = \"N\"/",
         "a Python file cannot pass the bf16 scalar 'brain' of stage 'one', which depends on sizes"},
        {"s/{ buffer = \"z\";/& texture = { };/; s/\"bf16\"; shape/\"f32\"; shape/",
         "a Python file cannot make a texture, and 'z' is one; use --embed"},
        {"$a constants = ( { name = \"coef\"; type = \"f32\"; shape = [ 4 ]; } );",
         "a Python file cannot set variables of the module, such as 'coef'; use --embed"},
        {"s/{ name = \"never\".*/{ name = \"product\"; operation = \"gemm\"; by = \"cublas\"; A = \"x\"; B = \"x\"; C "
         "= \"c\"; "
         "},&/; s/{ buffer = \"y\"; type/{ buffer = \"c\"; type = \"f32\"; shape = [\"M\", \"N\"]; direction = "
         "\"scratch\"; "
         "}, &/",
         "a Python file cannot call a library, which stage 'product' needs; use --embed"},
    };
    uint16_t first[SPACE_MAX_PARAMETERS] = {0};
    char *config = test_text("%s/python_cases.cfg", folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        e2e_write(folder, "edit.sed", cases[i].edit);
        e2e_pass(folder,
                 "rm -f $DIR/s.db* && echo >$DIR/cases.cu && sed -f $DIR/edit.sed tests/jobs/python_cases.cfg >%s",
                 config);
        store_trial(loaded_job(config), first, test_text("%s/s.db", folder));
        struct e2e_result r =
            e2e_ended(2, e2e_run(folder, "$BIN/sweetspot header %s --store $DIR/s.db --python -o $DIR/no.py", config));
        assert_contains(r.err, cases[i].message);
        assert_int_equal(access(test_text("%s/no.py", folder), F_OK), -1);
    }
    struct e2e_result r = e2e_ended(2, e2e_run(folder, "$BIN/sweetspot header %s --python --embed", config));
    assert_contains(r.err, "--embed and --python write different files; drop one of them");
    r = e2e_ended(2, e2e_run(folder, "$BIN/sweetspot header %s --python -o x.cubin", config));
    assert_contains(r.err, "'x.cubin' is a file for the binary alone: leave out --python");
}

TEST_MAIN(setup, NULL)
