// Constants, textures and surfaces in the GPU worker, on a fake device, whose memory is host memory (fuzz/fake_cuda.h).
// Tests their contents at each launch, and how changes are verified. The cubin is a real one.
#include "tests/e2e.h"

#include "tests/fuzz/fake_cuda.h"
#include "tests/opened_buffers.h"
#include "tuner/base/elf_file.h"
#include "tuner/gpu/pipeline.h"

static char *cubin;

static void compile(void)
{
    static const char source[] =
        "__constant__ float coef[4];\n__device__ int total;\n__device__ int secret;\n"
        "namespace ns { __device__ float scale[2]; }\n"
        "extern \"C\" __global__ void k(cudaTextureObject_t t, cudaSurfaceObject_t s, int *p)\n{\n"
        "    surf2Dwrite(tex2D<float>(t, 0, 0) * coef[0] * ns::scale[1], s, 0, 0);\n    total = secret++;\n}\n";
    char *folder = e2e_folder("places");
    e2e_write(folder, "k.cu", source);
    struct e2e_result r =
        e2e_run(folder,
                "echo '{\"op\":\"compile\",\"arch\":\"sm_90a\",\"source\":\"'$PWD'/%s/k.cu\",\"entries\":[\"k\"],"
                "\"include\":[],\"options\":[],\"defines\":{},\"cache\":\"'$PWD'/%s/cache\",\"deadline\":60}' | "
                "$BIN/sweetspot-compile",
                folder, folder);
    json_t *answer = test_json(json_loads(r.out, JSON_DISABLE_EOF_CHECK, NULL));
    const char *path = json_get_string(answer, "cubin", NULL);
    if (!path) fail_msg("no cubin: %s%s", r.out, r.err);
    cubin = test_text("%s", path);
}

// A workload with one problem, and a candidate with one launch. Both are made from JSON in which ' stands for ".
struct bench {
    struct workload workload;
    struct device_problem problem;
    struct pipeline pipeline;
    struct error err;
};

static char *with_quotes(const char *text)
{
    char *copy = test_text("%s", text);
    for (char *c = copy; *c; c++)
        if (*c == '\'') *c = '"';
    return copy;
}

static int bench_begin(struct bench *b, const char *buffers, const char *candidate)
{
    memset(b, 0, sizeof *b);
    b->workload.cuda = &fake_device;
    b->workload.problem_count = 1;
    b->workload.problems = &b->problem;
    int failed = open_buffers(&b->problem.buffers, NULL, with_quotes(buffers), &b->err);
    if (!failed) failed = buffers_second(&b->problem.buffers, &b->err);
    const struct candidate *about = read_request(&candidate_record, with_quotes(candidate), &b->err);
    if (!about) return -1;
    return failed ? failed : pipeline_open(&b->pipeline, &b->workload, about, &b->err);
}

#define LAUNCH "'grid':[1,1,1],'block':[32,1,1],'cluster':[1,1,1],'args':%s"

static int bench_open(struct bench *b, const char *buffers, const char *arguments)
{
    return bench_begin(
        b, buffers,
        test_text("{'cubin':'%s','problems':[{'problem':0,'stages':[{'symbol':'k'," LAUNCH "}]}]}", cubin, arguments));
}

// Two stages in separate units, with the same variables.
static int bench_open_units(struct bench *b, const char *buffers, const char *arguments)
{
    struct error err;
    size_t size, bytes;
    char *one = test_owned(text_read_file(cubin, &size)), *path = test_text("%s.units", cubin);
    autofree void *both = units_join((const void *[]){one, one}, (size_t[]){size, size}, 2, &bytes, &err);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    bool good = both && fwrite(both, bytes, 1, file) == 1;
    if (fclose(file) || !good) fail_msg("cannot write '%s'", path);
    int failed = bench_begin(b, buffers,
                             test_text("{'cubin':'%s','problems':[{'problem':0,'stages':[{'symbol':'k','unit':0," LAUNCH
                                       "},{'symbol':'k','unit':1," LAUNCH "}]}]}",
                                       path, arguments, arguments));
    return failed;
}

static void bench_close(struct bench *b)
{
    pipeline_release(&b->pipeline);
    buffers_release(&b->problem.buffers);
    fake_kernel = NULL;
}

static void *buffer(struct bench *b, const char *name, int copy)
{
    int found = buffers_find(&b->problem.buffers, name);
    assert_true(found >= 0);
    return (char *)(uintptr_t)b->problem.buffers.list[found].view.device + b->problem.buffers.shift[copy];
}

static void launch(struct bench *b, int copy)
{
    struct work work = pipeline_work(&b->pipeline, 0);
    int64_t shift = b->problem.buffers.shift[copy];
    assert_true(!work.copy || !work.copy(work.self, shift, false, &b->err));
    assert_int_equal(work.enqueue(work.self, shift, &b->err), 0);
    assert_true(!work.copy || !work.copy(work.self, shift, true, &b->err));
}

#define COEF "{'name':'coef','type':'f32','cols':4,'symbol':'required'}"
#define TOTAL "{'name':'total','type':'i32','cols':1,'direction':'out','symbol':'required'}"
#define SCALE "{'name':'ns::scale','type':'f32','cols':2,'symbol':'required'}"
#define IMAGE                                                                                                    \
    "{'name':'image','type':'f32','rows':3,'cols':4,'ld':5,'image':{'memory':'array','size':[4,3],'channels':1," \
    "'address':['clamp','wrap'],'surface':false}}"
#define OUT                                                                                                    \
    "{'name':'out','type':'f32','rows':6,'cols':4,'direction':'out','image':{'memory':'array','size':[2,2,3]," \
    "'channels':2,'surface':true}}"
#define SCRATCH "{'name':'p','type':'i32','cols':2,'direction':'scratch'}"
#define ALL "[" COEF "," TOTAL "," SCALE "," IMAGE "," OUT "," SCRATCH "]"
#define ARGUMENTS "[{'texture':'image'},{'surface':'out'},{'buffer':'p'}]"

// Adds up the texture's twelve texels, and writes the scaled sum to the whole surface and to `total`.
static void sum_up(void **args)
{
    const float *texels = *(const float **)args[0], *coef = fake_variable("coef");
    float *surface = *(float **)args[1], sum = 0;
    for (int i = 0; i < 12; i++) sum += texels[i];
    for (int i = 0; i < 24; i++) surface[i] = sum * coef[i % 4];
    *(int *)fake_variable("total") = (int)sum;
}

TEST(a_launch_sees_the_copy_that_it_works_on_and_results_come_back)
{
    struct bench b;
    if (bench_open(&b, ALL, ARGUMENTS)) fail_msg("%s", b.err.message);
    for (int copy = 0; copy < 2; copy++) {
        float *coef = buffer(&b, "coef", copy), *image = buffer(&b, "image", copy), *out = buffer(&b, "out", copy);
        for (int i = 0; i < 4; i++) coef[i] = (float)(i + 10 * copy);
        for (int row = 0; row < 3; row++)
            for (int i = 0; i < 5; i++) image[5 * row + i] = i < 4 ? (float)(1 + copy) : 1e30F; // the gap is not read
        memset(out, 0xff, 24 * sizeof *out);
    }
    fake_kernel = sum_up;
    for (int copy = 1; copy >= 0; copy--) {
        launch(&b, copy);
        const float *out = buffer(&b, "out", copy);
        const float sum = 12.0F * (float)(1 + copy);
        for (int i = 0; i < 24; i++) assert_true(out[i] == sum * (float)(i % 4 + 10 * copy));
        assert_int_equal(*(int *)buffer(&b, "total", copy), (int)sum);
    }
    bench_close(&b);
}

static void write_first_row(void **args)
{
    memset(*(void **)args[1], 0, 4 * sizeof(float));
}

TEST(what_a_kernel_leaves_of_a_surface_is_what_was_there_before)
{
    struct bench b;
    if (bench_open(&b, ALL, ARGUMENTS)) fail_msg("%s", b.err.message);
    memset(buffer(&b, "out", 0), 0x77, 24 * sizeof(float));
    memset(buffer(&b, "total", 0), 0x77, sizeof(int));
    fake_kernel = write_first_row;
    launch(&b, 0);
    const unsigned char *out = buffer(&b, "out", 0);
    for (int i = 0; i < 96; i++) assert_int_equal(out[i], i < 16 ? 0 : 0x77);
    assert_int_equal(*(int *)buffer(&b, "total", 0), 0x77777777); // never written, so it still has the pattern
    bench_close(&b);
}

static void change_input(void **args)
{
    (void)args;
    ((float *)fake_variable("_ZN2ns5scaleE"))[1] = -1;
}

TEST(an_input_that_a_kernel_changes_in_its_variable_is_changed_in_the_copy)
{
    struct bench b;
    if (bench_open(&b, ALL, ARGUMENTS)) fail_msg("%s", b.err.message);
    float *scale = buffer(&b, "ns::scale", 0);
    scale[0] = scale[1] = 3;
    fake_kernel = change_input;
    launch(&b, 0);
    assert_true(scale[0] == 3 && scale[1] == -1); // checksums detect the change
    bench_close(&b);
}

static void change_secret(void **args)
{
    (void)args;
    ++*(int *)fake_variable("secret");
}

TEST(other_variables_of_the_module_are_watched_and_placed_ones_are_not)
{
    struct bench b;
    bool late;
    if (bench_open(&b, ALL, ARGUMENTS)) fail_msg("%s", b.err.message);
    *(int *)buffer(&b, "total", 0) = 5;
    launch(&b, 0);
    assert_int_equal(pipeline_scan(&b.pipeline, &late, &b.err), 0);
    assert_false(late);
    fake_kernel = change_secret;
    launch(&b, 0);
    assert_int_equal(pipeline_scan(&b.pipeline, &late, &b.err), 0);
    assert_true(late);
    assert_int_equal(pipeline_restore(&b.pipeline, &b.err), 0);
    assert_int_equal(*(int *)fake_variable("secret"), 0);
    assert_int_equal(*(int *)fake_variable("total"), 5);
    bench_close(&b);
}

static uint64_t seen;

static void note_texture(void **args)
{
    seen = *(uint64_t *)args[0];
}

TEST(a_texture_over_the_buffers_own_memory_is_that_of_the_copy)
{
    struct bench b;
    static const char buffers[] = "[{'name':'image','type':'f32','cols':64,'image':{'memory':'linear','size':[64]}},"
                                  "{'name':'p','type':'i32','cols':2,'direction':'out'}]";
    if (bench_open(&b, buffers, "[{'texture':'image'},{'buffer':'p'}]")) fail_msg("%s", b.err.message);
    assert_null(pipeline_work(&b.pipeline, 0).copy); // so it can be in a graph
    assert_int_equal(buffers_clone(&b.problem.buffers, 5, &b.err), 0);
    fake_kernel = note_texture;
    for (int copy = 0; copy < 5; copy++) {
        launch(&b, copy);
        assert_true(seen == (uint64_t)(uintptr_t)buffer(&b, "image", copy));
    }
    bench_close(&b);
}

TEST(a_variable_that_is_missing_or_too_small_is_refused_by_name)
{
    static const struct {
        const char *buffer, *arguments, *words; // NULL: it is valid
    } cases[] = {
        {"{'name':'coeff','type':'f32','cols':4,'symbol':'required'}", "[]",
         "the compiled code has no variable 'coeff' (did you mean 'coef'?)"},
        {"{'name':'scale','type':'f32','cols':2,'symbol':'required'}", "[]", "no variable 'scale'"},
        {"{'name':'ns::scales','type':'f32','cols':2,'symbol':'required'}", "[]", "did you mean 'ns::scale'?"},
        {"{'name':'coeff','type':'f32','cols':4,'symbol':'optional'}", "[]", NULL},
        {"{'name':'coeff','type':'f32','cols':4,'symbol':'required'}", "[{'buffer':'coeff'}]", NULL},
        {"{'name':'coef','type':'f32','cols':5,'symbol':'required'}", "[]",
         "constant 'coef' has 20 bytes, but the variable of the compiled code 16"},
        {"{'name':'coef','type':'f32','cols':3,'symbol':'required'}", "[]", NULL},
        {"{'name':'coef','type':'f32','cols':4,'symbol':'required','direction':'out'}", "[]",
         "kernels cannot write a __constant__ variable"},
        {"{'name':'_ZN2ns5scaleE','type':'f32','cols':2,'symbol':'required'}", "[]", NULL},
        {"{'name':'t','type':'f32','cols':200000,'image':{'memory':'array','size':[200000]}}", "[{'texture':'t'}]",
         "its width is 200000; the device accepts 1 to 131072"},
        {"{'name':'t','type':'f32','cols':200,'image':{'memory':'array','size':[100]}}", "[{'texture':'t'}]",
         "an image whose sizes are not the buffer's"},
        {"{'name':'t','type':'f32','rows':2,'cols':3,'image':{'memory':'pitch','size':[3,2]}}", "[{'texture':'t'}]",
         "its rows are 12 bytes apart"},
        {"{'name':'t','type':'f32','cols':8,'image':{'memory':'array','size':[8]}}", "[{'surface':'t'}]",
         "no surface 't'"},
        {"{'name':'t','type':'f32','cols':8}", "[{'texture':'t'}]", "no texture 't'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench b;
        int failed = bench_open(&b, test_text("[%s]", cases[i].buffer), cases[i].arguments);
        if (!failed != !cases[i].words || (failed && !strstr(b.err.message, cases[i].words)))
            fail_msg("%s: %s", cases[i].buffer, failed ? b.err.message : "accepted");
        bench_close(&b);
    }
}

static void multiply(void **args)
{
    ++**(int **)args[2];
}

TEST(an_input_is_placed_in_every_unit_and_its_texture_is_shared)
{
    struct bench b;
    if (bench_open_units(&b, "[" COEF "," IMAGE "," OUT "," SCRATCH "]", ARGUMENTS)) fail_msg("%s", b.err.message);
    for (int copy = 1; copy >= 0; copy--) {
        float *coef = buffer(&b, "coef", copy);
        int *launches = buffer(&b, "p", copy);
        for (int i = 0; i < 4; i++) coef[i] = (float)(7 * i + copy);
        *launches = 0;
        fake_kernel = multiply;
        launch(&b, copy);
        assert_int_equal(*launches, 2);
        assert_memory_equal(fake_variable("coef"), coef, 16);
        assert_memory_equal(fake_variable("coef of 1"), coef, 16);
    }
    bench_close(&b);
}

TEST(what_several_units_would_write_each_for_itself_is_refused_by_name)
{
    static const struct {
        const char *buffer, *words; // NULL: it is valid
    } cases[] = {
        {TOTAL, "constant 'total' is an output, but 2 parts of the candidate"},
        {"{'name':'total','type':'i32','cols':1,'direction':'scratch','symbol':'required'}", "2 parts"},
        {"{'name':'total','type':'i32','cols':1,'restore':true,'symbol':'required'}", "2 parts"},
        {"{'name':'total','type':'i32','cols':1,'symbol':'required'}", NULL},
        {"{'name':'nothing','type':'i32','cols':1,'symbol':'required'}", "has no variable 'nothing'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench b;
        int failed = bench_open_units(&b, test_text("[%s," IMAGE "," OUT "," SCRATCH "]", cases[i].buffer), ARGUMENTS);
        if (!failed != !cases[i].words || (failed && !strstr(b.err.message, cases[i].words)))
            fail_msg("%s: %s", cases[i].buffer, failed ? b.err.message : "accepted");
        bench_close(&b);
    }
}

static void change_all(void **args)
{
    ((float *)fake_variable("_ZN2ns5scaleE"))[0] = 9;
    for (int i = 0; i < 24; i++) (*(float **)args[1])[i] = 5;
}

TEST(an_input_that_is_restored_is_put_back_into_its_variable)
{
    static const char scale[] = "{'name':'ns::scale','type':'f32','cols':2,'symbol':'required','restore':true}";
    struct bench b;
    char *buffers = test_text("[" IMAGE "," OUT "," SCRATCH ",%s]", scale);
    if (bench_open(&b, buffers, ARGUMENTS)) fail_msg("%s", b.err.message);
    float *at = buffer(&b, "ns::scale", 0);
    at[0] = at[1] = 3;
    fake_kernel = change_all;
    launch(&b, 0);
    assert_true(at[0] == 9 && b.problem.buffers.list[3].restored);
    at[0] = 3; // as buffers_restore does
    fake_kernel = NULL;
    launch(&b, 0);
    assert_true(((float *)fake_variable("_ZN2ns5scaleE"))[0] == 3 && at[0] == 3);
    bench_close(&b);
}

TEST(symbols_have_the_names_of_their_variables)
{
    static const struct {
        const char *symbol, *text;
    } cases[] = {
        {"coef", "coef"},
        {"_ZN2ns4coefE", "ns::coef"},
        {"_ZN2ns2in1qE", "ns::in::q"},
        {"_ZL2st", "st"},
        {"_ZN33_INTERNAL_1ded7859_4_a_cu_unusedd35_GLOBAL__N__1ded7859_4_a_cu_unusedd6hiddenE", "hidden"},
        {"_Z2tvILi3EE", "_Z2tvILi3EE"},
        {"_ZN2ns", "_ZN2ns"},
        {"_ZN99nsE", "_ZN99nsE"},
        {"_Z", "_Z"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[SYMBOL_TEXT_SIZE];
        assert_string_equal(symbol_text(cases[i].symbol, text), cases[i].text);
        assert_true(symbol_is(cases[i].symbol, cases[i].text));
    }
    assert_true(symbol_is("coef", "::coef"));
    assert_false(symbol_is("_ZN2ns4coefE", "coef"));
}

TEST_MAIN(compile, NULL)
