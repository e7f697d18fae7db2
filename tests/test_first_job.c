// From a kernel to a tuned program in one command: `sweetspot tune add.cu`, with options for information that the
// source does not contain.
#include "tests/e2e.h"
#include "tests/testing.h"

static const char source[] = "__global__ void add_naive(const float *a, const float *b, float *c, int n)\n"
                             "{\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n) c[i] = a[i] + b[i];\n"
                             "}\n"
                             "__global__ void add(const float *a, const float *b, float *c, int n)\n"
                             "{\n"
                             "    int i = blockIdx.x * BLOCK + threadIdx.x;\n"
                             "    if (i < n) c[i] = a[i] + b[i];\n"
                             "}\n";
#define OPTIONS "--kernel add --size n=16777216 --parameter BLOCK=64,128,256 --reference add_naive"
#define SEARCH "SWEETSPOT_NVCC=none SWEETSPOT_GPU_WORKER=$BIN/fake_worker $BIN/sweetspot tune "

TEST(one_command_writes_a_job_says_what_it_assumes_checks_and_tunes)
{
    char *folder = e2e_folder("first_job");
    e2e_write(folder, "add.cu", source);
    struct e2e_result r = e2e_passed(e2e_in(folder, SEARCH "add.cu " OPTIONS " --no-counters </dev/null"));
    assert_contains(r.err, "wrote add.cfg; assumed, because add.cu does not specify it:\n",
                    "  launch grid              ceil_div(n, BLOCK)\n  launch block             BLOCK\n",
                    "  shape a                  n\n", "  direction c              out\n",
                    "  launch of add_naive      ceil_div(n, 256); 256\n", "no mistakes found");
    assert_contains(r.out, "winner: trial ", "to write the header: sweetspot header add.cfg");
    assert_null(strstr(r.out, "no mistakes"));
    char *job = test_file("%s/add.cfg", folder);
    assert_contains(
        job, "values = [ 64, 128, 256 ];", "problems = ( { n = 16777216; } );", "grid = [ \"ceil_div(n, BLOCK)\" ];",
        "shape = [ \"n\" ]; direction = \"out\";",
        "reference = { kernel = \"add_naive\"; launch = { grid = [ \"ceil_div(n, 256)\" ]; block = [ 256 ];");
    assert_null(strstr(job, "\"?"));
    r = e2e_ended(2, e2e_in(folder, SEARCH "add.cu " OPTIONS));
    assert_contains(r.err, "'add.cfg' already exists; to continue with it: sweetspot tune add.cfg");
}

// Without a terminal, missing information is listed with the option for it, and no file is written.
static const struct {
    const char *options, *said[4];
} mistakes[] = {
    {"--kernel add",
     {"parameter BLOCK: the values to try, as in [ 1, 2, 4 ]; give --parameter NAME=VALUES",
      "size n: a number; give --size NAME=NUMBER",
      "reference: what computes the same result; kernels with as many arguments: add_naive; give --reference NAME"}},
    {OPTIONS " --size m=1", {"--size m: the kernel has no 'm' (it has n)"}},
    {OPTIONS " --size n=16M", {"--size n: '16M' is not a whole number above 0, such as 1048576"}},
    {OPTIONS " --size n=1e6", {"--size n: '1e6' is not a whole number"}},
    {OPTIONS " --size n=0", {"--size n: '0' is not a whole number"}},
    {OPTIONS " --size n", {"--size: 'n' is not NAME=VALUE"}},
    {OPTIONS " --size n=5", {"--size n is given twice"}},
    {OPTIONS " --parameter BLOCK=512", {"--parameter BLOCK is given twice"}},
    {OPTIONS " --parameter BLOCK=64,,128", {"--parameter BLOCK: '64,,128' is not a list of values"}},
    {OPTIONS " --parameter 'BLOCK=\"'", {"is not a list of values"}},
    {OPTIONS " --parameter 9=1", {"--parameter: '9' cannot be a parameter's name"}},
    {OPTIONS " --parameter FACTOR=1,2", {"launch grid: blocks, as in", "give --launch 'GRID; BLOCK'"}},
    {"--kernel add --reference add_naiv",
     {"--reference add_naiv: neither a kernel of the source (add_naive, add), nor one of"}},
    {OPTIONS " --launch 'n'", {"--launch needs 'GRID; BLOCK', such as 'ceil_div(n, BLOCK); BLOCK'"}},
    {OPTIONS " --launch '\"n\"; BLOCK'", {"--launch grid: '\"n\"' is not an expression without quotes"}},
    {OPTIONS " --until 5", {"--until needs a share such as 1%"}}, // before the job is written
    {OPTIONS " --prior no.db", {"--prior: cannot read 'no.db': No such file or directory"}},
    {OPTIONS " --device r.json", {"--device: to search in a recorded space, write replay:r.json"}},
    {"", {"'add.cu' has several kernels; choose one with --kernel"}},
};

TEST(what_is_missing_or_wrong_is_said_with_its_option)
{
    char *folder = e2e_folder("first_mistakes");
    e2e_write(folder, "add.cu", source);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct e2e_result r =
            e2e_in(folder, SEARCH "add.cu %s </dev/null; s=$?; ls add.*; exit $s", mistakes[i].options);
        print_message("%s\n%s", mistakes[i].options, r.err);
        assert_int_equal(r.status, 2);
        assert_string_equal(r.out, "add.cu\n");
        for (int k = 0; k < 4 && mistakes[i].said[k]; k++) assert_contains(r.err, mistakes[i].said[k]);
    }
    struct e2e_result r = e2e_in(folder, "$BIN/sweetspot tune add.cfg --size n=1");
    assert_int_equal(r.status, 2);
    assert_contains(r.err, "need one CUDA source (a .cu)");
}

// A job that `check` refuses is kept, and the message names the next command.
TEST(a_job_with_a_mistake_is_kept)
{
    char *folder = e2e_folder("first_refused");
    e2e_write(folder, "add.cu", source);
    struct e2e_result r = e2e_in(folder, SEARCH "add.cu " OPTIONS " --launch 'ceil_div(m, BLOCK); BLOCK' </dev/null");
    assert_int_equal(r.status, 2);
    assert_contains(r.err, "unknown name 'm'", "correct add.cfg, then: sweetspot tune add.cfg");
}

// A kernel can be named without its namespaces, also as the reference. Then only differences between configurations can
// be found, which is said. A byte order mark and a ';' too many do no harm.
TEST(sources_of_other_editors_and_kernels_in_namespaces_are_read)
{
    char *folder = e2e_folder("first_sources");
    static const char kernel[] = "namespace a {\n__global__ void add(const float *a, float *c, int n)\n{\n    int i = "
                                 "blockIdx.x * BLOCK + threadIdx.x;\n    if (i < n) c[i] = a[i];\n}\n}\n";
    e2e_write(folder, "add.cu", test_text("\xef\xbb\xbf%s", kernel));
    e2e_write(folder, "main.cu", "#include \"add.cu\"\n");
    struct e2e_result r =
        e2e_passed(e2e_in(folder, SEARCH "add.cu -k add --size n=1000 --parameter BLOCK=64 --reference add --launch "
                                         "'ceil_div(n, BLOCK); BLOCK;' -n 1 --no-counters </dev/null"));
    assert_contains(r.err, "reference a::add         the kernel itself: a mistake of all configurations is not found",
                    "no mistakes found");
    r = e2e_ended(2, e2e_in(folder, "iconv -f UTF-8 -t UTF-16 add.cu >wide.cu; $BIN/sweetspot init wide.cu"));
    assert_contains(r.err, "'wide.cu' has a NUL byte: it is not text, or not in UTF-8");
    r = e2e_ended(2, e2e_in(folder, "$BIN/sweetspot init main.cu"));
    assert_contains(r.err, "'main.cu' defines no kernel (__global__ function); name the file that defines it");
}

// `script` provides a terminal. After an empty line or a mistake the question is repeated, and at the end of input, the
// missing information is listed.
TEST(on_a_terminal_the_user_is_asked)
{
    char *folder = e2e_folder("first_asked");
    e2e_write(folder, "add.cu", source);
    struct e2e_result r =
        e2e_in(folder,
               "export SWEETSPOT_NVCC=none SWEETSPOT_GPU_WORKER=$BIN/fake_worker; "
               "(printf '\\n64,128\\n1M\\n1000000\\nnosuch\\nadd_naive\\n'; while [ ! -e done ]; do sleep 0.1; done) | "
               "(timeout 60 script -qec '$BIN/sweetspot tune add.cu -k add --no-counters -n 2' /dev/null; touch done)");
    assert_contains(r.out, "parameter BLOCK, the values to try, as in [ 1, 2, 4 ]: ", "size n, a number: ",
                    "--size n: '1M' is not a whole number", "--reference nosuch: neither",
                    "reference, what computes the same result", "wrote add.cfg", "results are in out/add.db");
    assert_contains(test_file("%s/add.cfg", folder), "values = [ 64, 128 ];", "n = 1000000;");
}

// The direction of a buffer follows from its use in the kernel's body, if that is clear.
static const struct {
    const char *body, *direction; // NULL: unknown
} bodies[] = {
    {"c[i] = a[i];", "out"},
    {"c[i] += a[i];", "inout"},
    {"c[i] = c[i + 1] * a[i];", "inout"},
    {"c[i]++;", "inout"},
    {"++c[i];", "inout"},
    {"atomicAdd(&c[0], a[i]);", "inout"},
    {"atomicAdd(c, a[i]);", "inout"},
    {"*c = a[i];", "inout"},
    {"float *p = c; p[i] = a[i];", "inout"},
    {"if (c[i] == a[i]) ((float *)a)[i] = 0;", "in"},
    {"if (c[i] >= a[i]) return;", "in"},
    {"c[b[i] == 0 ? i : 0] = a[i];", "out"},
    {"", NULL},
};

TEST(directions_are_assumed_only_where_the_body_is_plain)
{
    char *folder = e2e_folder("first_directions");
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        e2e_write(folder, "k.cu",
                  test_text("__global__ void k(const float *a, const int *b, float *c, int n)\n{\n    "
                            "int i = blockIdx.x * BLOCK + threadIdx.x;\n    %s\n}\n",
                            bodies[i].body));
        struct e2e_result r = e2e_in(folder, "rm -f k.cfg; " SEARCH "k.cu --size n=1000 --parameter BLOCK=64 "
                                             "--reference sum </dev/null; cat k.cfg");
        print_message("%s\n%s", bodies[i].body, r.err);
        if (bodies[i].direction)
            assert_contains(r.out,
                            test_text("shape = [ \"n\" ]; direction = \"%s\"; },\n  { scalar", bodies[i].direction));
        else
            assert_contains(r.err, "direction c: out or inout", "`sweetspot init k.cu` writes a job file to fill in");
    }
}

// From a source to a running program with commands only, on a recording of the same loop. A real launch would need a
// GPU, so the test only passes a size that was not verified, which the program refuses.
TEST(commands_alone_lead_from_a_source_to_a_program)
{
    char *folder = e2e_folder("first_program");
    e2e_write(folder, "main.cu",
              "#include <cstdio>\n#define ADD_DEFINE_PARAMETERS\n#include \"add_best.h\"\n"
              "#include \"add.cu\"\nint main()\n{\n    printf(\"%s: %d\\n\", ADD_CONFIGURATION, "
              "(int)add_launch(0, 1, nullptr, nullptr, nullptr));\n}\n");
    struct e2e_result r = e2e_pass(
        folder,
        "sed -n '/^```cuda add.cu/,/^```$/p' docs/tutorial.md | sed '/^```/d; s/\\bn\\b/N/g' >$DIR/add.cu; "
        "space=$PWD/tests/spaces/coarsening_h200.json.gz; cd $DIR && $BIN/sweetspot tune add.cu --kernel add "
        "--size N=67108864 --parameter BLOCK_SIZE=128,256,512,1024 --parameter FACTOR=1,2,4,8,16 --parameter "
        "UNROLL=0,2,4 --launch 'ceil_div(N, BLOCK_SIZE * FACTOR); BLOCK_SIZE' --reference add_naive --device "
        "replay:$space </dev/null && $BIN/sweetspot header add.cfg && $BIN/sweetspot header add.cfg -o made/here/ && "
        "awk 'END { print \"lines: \" (NR <= 250 ? "
        "\"few\" : NR) }' "
        "out/include/add_best.h && (command -v nvcc >/dev/null || exit 0; nvcc "
        "$(sed -n 's/^#define ADD_OPTIONS_NVCC \"\\(.*\\)\"/\\1/p' out/include/add_best.h) -Iout/include main.cu "
        "-o main && ./main)");
    assert_contains(r.out, "winner: trial ", "out/include/add_best.h\n", "\nmade/here/add_best.h\n", "lines: few\n");
    if (!system("command -v nvcc >/dev/null")) assert_contains(r.out, "BLOCK_SIZE=", ": 1\n"); // cudaErrorInvalidValue
}

TEST_MAIN(NULL, NULL)
