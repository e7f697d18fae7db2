// Compares the output of typical mistakes with tests/golden/messages-*.txt: all of stderr and the exit status, so that
// messages are reviewed as text. `make golden` (SWEETSPOT_GOLDEN=write) rewrites the files.
//
// A mistake in a job file is a sed script for tests/golden/job.cfg. A mistake on the command line runs in a folder with
// that job, its recorded results (space.json), a store with them (job.db) and some invalid files.
#include "tests/golden.h"
#include "tests/testing.h"

#include <dirent.h>

#define SUM "s/^reference.*/reference = { operation = \"sum\"; result = \"y\"; x = \"x\"; n = \"N\"; };/; "

// The job with another reference.
#define REFERENCE(kernel) \
    "s/^reference.*/reference = { kernel = \"" kernel "\"; launch = { grid = [1]; block = [1]; }; };/"
#define LIBRARY(path) "s/^reference.*/reference = { library = \"" path "\"; function = \"expected\"; };/"
#define FILES "s/^reference.*/reference = { files = { y = \"y.npy\"; }; };/"
#define STAGE(name)                                                                                              \
    "{ name = \"" name "\"; entry = \"scale\"; launch = { grid = [1]; block = [1]; }; arguments = ( { scalar = " \
    "\"N\"; type = \"i32\"; } ); }"
#define STAGES "/^launch/d; /^arguments/,/^);/d; $ a stages = ( " STAGE("a") ", " STAGE("A") " );"

struct mistake {
    const char *what, *input; // input: the sed script for a job file, or the command line
};

static const struct mistake job_mistakes[] = {
    {"a misspelt setting", "s/^constraints/constrains/"},
    {"a misspelt member of a group", "s/candidates = 3/candidate = 3/"},
    {"a missing equals sign", "s/^name =/name/"},
    {"a comma at the end of a list", "s/4, 8.;/4, 8,];/"},
    {"a comma too few between groups", "s/4, 8.; },/4, 8]; }/"},
    {"a comma too few between numbers", "s/2, 4/2 4/"},
    {"single quotes", "s/\"golden\"/'\\''golden'\\''/"},
    {"a text without quotes", "s/= \"golden\"/= golden/"},
    {"an expression without quotes", "s/\"ceil_div(N, 128)\"/ceil_div(N, 128)/"},
    {"a quote too few", "s/\"BYTES\"/\"BYTES/"},
    {"a bracket too few", "s/2, 4, 8./2, 4, 8/"},
    {"a bracket too many", "s/^);/));/"},
    {"JSON", "s/.*//; 2i {\"name\": \"golden\", \"kernel\": {\"template\": \"kernel.cu\"}}"},
    {"YAML", "s/.*//; 2i name: golden"},
    {"sections", "s/.*//; 2i [kernel]"},
    {"a size that is not a number", "s/N = 65536/N = \"big\"/"},
    {"a parameter whose values are no list", "s/values = .1, 2, 4, 8./values = 8/"},
    {"a type of C", "s/type = \"f32\"/type = \"const float *\"/"},
    {"a value of the wrong type", "s/rounds = 10/rounds = \"ten\"/"},
    {"a number out of range", "s/rounds = 10/rounds = 0/"},
    {"a number beyond 64 bits", "s/N = 65536/N = 99999999999999999999/"},
    {"a word that is not one of the choices", "$ a objective = \"mean_time\";"},
    {"a duration in words", "$ a budget = { time = \"8 hours\"; };"},
    {"a name with a blank", "s/^name.*/name = \"my kernel\";/"},
    {"no kernel", "/^kernel/d"},
    {"a kernel without entry", "s/ entry = \"scale\";//"},
    {"a template that is not there", "s/kernel.cu/kernels.cu/"},
    {"an unknown name in a constraint", "s/X < 8/Y < 8/"},
    {"a constraint that is not an expression", "s/X < 8/X < /"},
    {"a chain of comparisons", "s/X < 8/1 < X < 8/"},
    {"a word compared with a number", "s/X < 8/MODE < 8/"},
    {"a constraint that removes everything", "s/X < 8 || /X > 8 \\&\\& /"},
    {"constraints that contradict each other", "s/\"X < 8[^)]*/\"X < 2\", \"X > 4\" /"},
    {"a division by zero", "s/X < 8/8 % (X - 1) == 0/"},
    {"a parameter without values", "s/values = .1, 2, 4, 8./values = []/"},
    {"a parameter with a value twice", "s/1, 2, 4, 8/1, 2, 2/"},
    {"a parameter with two kinds of values", "s/values = .\"plain\"/range = [1, 2]; &/"},
    {"two parameters of one name", "s/name = \"MODE\"/name = \"X\"/"},
    {"a parameter called like a keyword", "s/MODE/while/g"},
    {"no problems", "/^problems/d"},
    {"problems with different sizes", "s/N = 1000/M = 1000/"},
    {"a problem held back without objective each", "s/N = 1000/N = 1000; holdout = true/"},
    {"no launch", "/^launch/d"},
    {"a launch without block", "s/ block = [^;]*;//"},
    {"an unknown type", "s/type = \"f32\"/type = \"float\"/"},
    {"a buffer without shape", "s/ shape = . \"N\" .;//"},
    {"a shape that depends on a parameter", "s/\"N\" .; direction/\"N * X\" ]; direction/"},
    {"a scalar without value", "s/scalar = \"N\"/scalar = \"n\"/"},
    {"no output", "s/ direction = \"out\";//"},
    {"no reference", "/^reference/d"},
    {"an unknown operation", SUM "s/\"sum\"/\"summ\"/"},
    {"a role that names nothing", SUM "s/result = \"y\"/result = \"z\"/"},
    {"a pipe that does not exist", "s/fp32 fma/fp32 fmaa/"},
    {"an unknown strategy", "s/exhaustive/exhaustiv/"},
    {"an unknown option of a strategy", "s/strategy = \"exhaustive\"/strategy = \"genetic\"; options = \"sise=30\"/"},
    {"an unknown metric set", "$ a metrics = [\"stals\"];"},
    {"an old name of a setting", "s/; }, { N = 1000; }/; held = true; }, { N = 1000; }/; $ a objective = \"each\";"},
    {"a fallback that lacks a parameter", "$ a fallback = { X = 1; };"},
    {"a fallback with a value that does not exist", "$ a fallback = { X = 3; MODE = \"wide\"; };"},
    {"a misspelt kernel", "s/\"scale\"/\"scael\"/"},
    {"a scalar of another type", "s/type = \"i32\"/type = \"f64\"/"},
    {"an argument too few", "/scalar = \"N\"/d; s/direction = \"out\"; },/direction = \"out\"; }/"},
    {"a buffer of another type", "s/\"x\"; type = \"f32\"/\"x\"; type = \"f64\"/"},
    {"a parameter that nothing uses", "s/^parameters = (/& { name = \"Y\"; values = [1, 2]; },/"},
    {"a block that no device has", "s/block = . 128 ./block = [ 2048 ]/"},
    {"shared memory that not every configuration can have", "s/64 . X/32768 * X/"},
    {"another tuner's word", "s/^constraints/restrictions/"},
    {"another language's operator", "s/X < 8 ||/X < 8 or/"},
    {"another language's function", "s/ceil_div(N, 128)/ceil(N \\/ 128)/"},
    {"a removed setting", "$ a guide = { N = 65536; };"},
    {"a misspelt reference kernel", REFERENCE("scael")},
    {"a kernel that is a function of the device", "s/kernel.cu/device.cu/"},
    {"a parameter that the source defines again", "s/kernel.cu/again.cu/"},
    {"a macro that the source has for a variable", "s/entry = \"scale\"/&; defines = { x = 2; }/"},
    {"a parameter that the header could not name", "s/MODE/KERNEL/g"},
    {"two stages that the header could not tell apart", STAGES},
    {"a file of values with another shape", FILES},
    {"a library that is none", LIBRARY("y.npy")},
    {"a library without the function", LIBRARY("lib.so")},
    {"an argument too many", "s/{ scalar = \"N\"; type = \"i32\"; }/&, &/"},
    {"Python's operator", "s/X < 8 ||/X < 8 and/"},
    {"Python's negation", "s/X < 8/not X/"},
    {"Python's floor division", "s:64 . X:64 // X:"},
    {"a power with stars", "s/X < 8/X ** 2 < 8/"},
    {"a text in single quotes", "s/\\\\\"wide\\\\\"/'\\''wide'\\''/"},
    {"an expression of decimals", "s/values = .1, 2, 4, 8./values = [0.5, 1.0]/"},
    {"a loop without its next value",
     "s/^launch.*/stages = ( { repeat = { name = \"I\"; from = 0; while = \"I < 9\"; }; entry = \"scale\"; } );/"},
    {"a misspelt setting of a parameter", "s/values = .1, 2, 4, 8./valuess = [1, 2, 4, 8]/"},
    {"a misspelt name of a parameter", "s/name = \"X\"/nam = \"X\"/"},
    {"misspelt settings of the kernel", "s/template =/templat =/; s/entry =/kernel_name =/"},
    {"misspelt settings of a launch and an argument",
     "s/gri/gir/; s/ block = . 128 .;//; s/\"x\"; type/\"x\"; typ/; s/directio/dirctio/"},
    {"a misspelt kind of an argument", "s/buffer = \"y\"/bufer = \"y\"/"},
    {"a misspelt kind of a reference", "s/^reference = { kernel/reference = { kernl/"},
    {"a misspelt role", SUM "s/result =/reslt =/"},
    {"misspelt groups", "s/^problems/problem/; s/^launch/launhc/"},
    {"a misspelt direction", "s/direction = \"out\"/direction = \"outt\"/"},
    {"a misspelt size", "s/N = 65536/M = 65536/"},
    {"a parameter with another name than where it is used", "s/name = \"X\"/name = \"Y\"/"},
    {"a misspelt parameter in a fallback", "$ a fallback = { X = 1; MOD = \"wide\"; };"},
    {"a derived name that reads itself", "s/BYTES = \"64/BYTES = \"BYTES + 64/"},
    {"a size beyond 32 bits in a range", "s/N = 65536/N = [1024, 8589934592]/"},
    {"a value beyond 32 bits", "s/1, 2, 4, 8/1, 2, 4, 8589934592/"},
    {"an array of two types", "s/\"ceil_div(N, 128)\"/&, 1/"},
    {"an octal number", "s/X < 8/X < 010/"},
    {"a misspelt function", "s/ceil_div/ciel_div/"},
    {"an expression of the wrong type", "s/grid = .[^;]*;/grid = true;/"},
    {"a very long expression",
     "s/X < 8/X < 8 + MODES + 4294967296 + 4294967296 + 4294967296 + 4294967296 + 4294967296 + "
     "4294967296 + 4294967296 + 4294967296 + 4294967296 + 4294967296 + 4294967296 + "
     "4294967296 + 4294967296 + 4294967296 + 4294967296 + 4294967296 + 4294967296/"},
    {"values of lists", "s/.\"plain\", \"wide\"./( [1], [2] )/"},
    {"a range from the end", "s/values = .1, 2, 4, 8./range = [8, 1]/"},
    {"a problem twice", "s/N = 1000/N = 65536/"},
    {"problems without weight", "s/; }, { N = 1000; }/; weight = 0; } /"},
    {"a buffer without elements", "s/N = 1000/N = 0/"},
    {"a scalar that does not fit", "s/type = \"i32\"; }/type = \"i32\"; value = \"N << 20\"; }/"},
    {"an argument's name of the wrong type", "s/buffer = \"y\"/buffer = 5/"},
    {"a shape of the wrong type", "s/\"y\"; type = \"f32\"; shape = . \"N\" ./\"y\"; type = \"f32\"; shape = \"N\"/"},
    {"a stage that is no list", "s/^launch.*/stages = { entry = \"scale\"; };/; /^arguments/,/^);/d"},
    {"a reference that cannot be launched", "/^reference/s/block = .128./block = 0/"},
    {"a reference without the output",
     "/^reference/s/; }; };/; }; arguments = ( { buffer = \"x\"; }, { buffer = \"x\"; }, { scalar = \"N\"; type = "
     "\"i32\"; } ); };/"},
    {"an operation of other shapes", SUM},
    {"an operation of another direction",
     "s/^reference.*/reference = { operation = \"transpose\"; A = \"y\"; B = \"x\"; rows = \"N\"; cols = \"N\"; };/"},
    {"a cooperative grid that no device holds", "s/block = . 128 ./block = 128; cooperative = true/; s/N, 128/N, 2/"},
    {"work that depends on a parameter", "s/bytes = \"8 . N/bytes = \"8 * X/"},
    {"negative work", "s/bytes = \"8 . N/bytes = \"-8 * N/"},
    {"an option that defines a parameter", "s/entry = \"scale\"/&; options = [\"-DX=4\"]/"},
    {"a template that is a folder", "s/kernel.cu/empty/"},
    {"an instance that does not exist", "s/entry = \"scale\"/entry = \"scale<X>\"/"},
    {"an include without quotes", "$ a @include other.inc"},
    {"a reference by a script that is not there",
     "s/^reference.*/reference = { command = \"python3 expected.py\"; };/"},
    {"a bound that accepts zeros", "$ a verification = { relative = 1.0; };"},
    {"a folder of headers that is not there", "s/entry = \"scale\"/&; include = [\"headers\"]/"},
    {"a size that nothing uses", "s/N = 65536/&; M = 3/; s/N = 1000/&; M = 3/"},
    {"settings outside of their groups", "$ a candidates = 3; exact = true; time = \"1h\";"},
    {"a setting in a wrong group", "s/entry = \"scale\"/&; launch = { grid = 1; block = 1; }/"},
    {"a number with a unit", "s/N = 65536/N = 64K/"},
    {"a name without a value", "$ a objective"},
    {"an operator outside of a string", "s/N = 65536/N = 1 << 16/"},
    {"a comment of another language", "$ a -- the end"},
    {"printed quotes", "s/\"golden\"/\342\200\234golden\342\200\235/"},
    {"a list in an array", "s/1, 2, 4, 8/[1, 2], [4, 8]/"},
    {"a grid of two dimensions in one string", "s/\"ceil_div(N, 128)\"/\"ceil_div(N, 128), 1\"/"},
    {"numbers in quotes", "s/1, 2, 4, 8/\"1\", \"2\"/"},
    {"settings of the wrong type", "s/^kernel.*/kernel = \"kernel.cu\";/; s/shape = . \"N\" .; }/shape = 5.5; }/"},
};

// Mistakes that `check` finds with these options. Standard output is compared as well.
static const struct mistake check_mistakes[] = {
    {"a source that does not compile", "--compile 1 s/kernel.cu/wrong.cu/"},
    {"a source with a name that nothing declares", "--compile 4 s/kernel.cu/undefined.cu/"},
    {"a pragma whose parameter has values", "--compile 1 s/kernel.cu/pragma.cu/"},
    {"a source with a header of the host", "--compile 1 s/kernel.cu/host.cu/"},
    {"a parameter whose values make no difference", "--compile 8 s/kernel.cu/same.cu/"},
    {"a baseline that is not in the source", "--compile 1 s/^work/baselines = ( { name = \"b\"; template = "
                                             "\"plain.cu\"; kernel = \"none\"; launch = { grid = 1; block = 1; }; } ); "
                                             "&/"},
    {"a source that needs a newer architecture", "--arch sm_75 s/kernel.cu/copy.cu/"},
    {"shared memory that a smaller device does not have", "--arch sm_121 s/64 . X/32768 * X/"},
    {"threads that an embedded device does not have", "--arch sm_110 s/block = . 128 ./block = [ 2048 ]/"},
    {"an architecture that nobody knows", "--arch sm_57x s/X < 8/X < 9/"},
};

// These run in this order in one folder.
static const struct mistake command_mistakes[] = {
    {"no such command", "tun job.cfg"},
    {"no such option", "tune job.cfg --tmie 8h"},
    {"an option of other programs", "status job.cfg --json"},
    {"a target without a unit", "tune job.cfg --until 186"},
    {"a share of something else", "tune job.cfg --until '95% of cublas'"},
    {"a source for a job file", "tune kernel.cu"},
    {"jobs of one name", "check --compile 0 job.cfg copy.cfg"},
    {"a job file twice", "status job.cfg ./job.cfg"},
    {"an option without its value", "tune job.cfg --time"},
    {"a removed option", "tune job.cfg --patience 500"},
    {"a wrong duration", "tune job.cfg --time 8hours"},
    {"a command of an earlier version", "limiter job.cfg"},
    {"a wrong number", "simulate space.json --jobs many"},
    {"a number out of range", "tune job.cfg --workers 0"},
    {"a wrong choice", "status job.cfg --format xml"},
    {"no job file", "tune"},
    {"an argument too many", "profile job.cfg other.cfg"},
    {"a job file that is not there", "check jobs.cfg"},
    {"a job file that is a folder without job files", "status empty"},
    {"an unknown strategy", "tune job.cfg --strategy random_search"},
    {"a removed option with a value", "tune job.cfg --report=r.html"},
    {"a device that is not a number", "tune job.cfg --device 0:1 --store new.db"},
    {"a recorded space that is not there", "tune job.cfg --device replay:no.json --store new.db"},
    {"two ways to write a header", "header job.cfg --hash --embed"},
    {"a list that does not exist", "list strategy"},
    {"a strategy that does not exist", "list strategies genetics"},
    {"budgets that are not numbers", "simulate space.json --budgets 10,many"},
    {"seeds that are not a range", "simulate space.json --seeds 60-1"},
    {"an empty value", "status job.cfg --store ''"},
    {"an option with one dash", "tune job.cfg -time 8h"},
    {"the beginning of an option", "tune job.cfg --eval 5"},
    {"a dash of printed text", "tune job.cfg \342\200\224time 8h"},
    {"a folder for nodes without nodes", "tune job.cfg --node-cache /tmp --store new.db"},
    {"an architecture without its prefix", "check job.cfg --arch 90"},
    {"two architectures", "check job.cfg --arch sm_80,sm_90"},
    {"a recorded space over itself", "import space.json --output space.json"},
    {"a folder for a recorded space", "tune job.cfg --device replay:empty --store new.db"},
    {"a job file for a recorded space", "tune job.cfg --device replay:job.cfg --store new.db"},
    {"a draft in place of its source", "init kernel.cu --output kernel.cu"},
    {"a simulation without its parts", "simulate space.json --timeline compilers=4"},
    {"a job file before its command", "job.cfg tune --time 8h"},
    {"help for two commands", "help tune check"},
    {"a GPU twice", "tune job.cfg --device 0,1,0 --store new.db"},
    {"a prior that is not there", "simulate space.json --prior no.json"},
    {"a store for a job file", "status job.db"},
    {"a Slurm job that is not there", "tune job.cfg --pool slurm:none --store new.db"},
    {"a problem that does not exist", "profile job.cfg --problem 3"},
};

static const struct mistake result_mistakes[] = {
    {"a job that was never tuned", "compare job.cfg --store never.db"},
    {"a header of a job that was never tuned", "header job.cfg --store never.db"},
    {"a store of another job", "status other.cfg --store job.db"},
    {"a store that is a text file", "status job.cfg --store kernel.cu"},
    {"a store that is cut off", "status job.cfg --store half.db"},
    {"a store of a newer version", "status job.cfg --store newer.db"},
    {"a device that the store does not have", "status job.cfg --store job.db --device H100"},
    {"one store for several jobs", "status job.cfg other.cfg --store job.db"},
    {"a gate that the winner does not pass", "compare job.cfg --store job.db --fail-below 2 >/dev/null"},
    {"a trial that does not exist", "profile job.cfg --store job.db --trial 99"},
    {"a trial that failed", "profile job.cfg --store job.db --trial 5"},
    {"a parameter that does not exist", "profile job.cfg --store job.db --trial Y=1"},
    {"a value that does not exist", "profile job.cfg --store job.db --trial X=3"},
    {"a header over another file", "header job.cfg --store job.db --output kernel.cu"},
    {"an exported space over a job file", "export job.cfg --store job.db --output job.cfg"},
    {"a report over a store", "report job.cfg --store job.db --output job.db"},
    {"an imported space over a source", "import space.json --output kernel.cu"},
    {"an option of an earlier version", "header job.cfg --store job.db --cubin x.cubin"},
    {"results for a device that is full", "header job.cfg --store job.db --output - >/dev/full"},
    {"a header to check that is not there", "header job.cfg --check no.h"},
    {"a header that cannot embed", "header job.cfg --store job.db --embed --output best.h"},
    {"a recorded space that is not JSON", "import kernel.cu"},
    {"a recorded space that is cut off", "import half.json"},
    {"a JSON file that is not a recorded space", "import other.json"},
};

static const struct blot message_blots[] = {
    {"/[^ ',]*/out/test/messages[.][0-9]+", "<folder>"},
    {NULL, NULL},
};

#define KERNEL "extern \"C\" __global__ void scale(const float *x, float *y, int n)\n"
static const struct {
    const char *name, *text;
} sources[] = {
    {"device.cu",
     "enum { plain, wide };\n__device__ void scale(const float *x, float *y, int n) { y[0] = x[n] * X * MODE; }\n"},
    {"again.cu", "#define X 4\nenum { plain, wide };\n" KERNEL "{ y[0] = x[n] * X * MODE; }\n"},
    {"wrong.cu", "enum { plain, wide };\n" KERNEL "{\n    y[0] = x[n] * X * MODE\n}\n"},
    {"undefined.cu", "enum { plain, wide };\n" KERNEL "{ y[0] = x[n] * X * MODE * Z; }\n"},
    {"pragma.cu", "enum { plain, wide };\n" KERNEL "{\n    X\n    for (; n; n--) y[n] = x[n] * MODE;\n}\n"},
    {"host.cu", "#include <vector>\nenum { plain, wide };\n" KERNEL "{ y[0] = x[n] * X * MODE; }\n"},
    {"same.cu", "enum { plain, wide };\n" KERNEL "{ y[0] = x[n] + 0 * MODE; (void)X; }\n"},
    {"plain.cu", KERNEL "{ y[0] = x[n]; }\n"},
    {"copy.cu", "enum { plain, wide };\n" KERNEL
                "{\n    __shared__ float s[X];\n    asm volatile(\"cp.async.ca.shared.global [%0], "
                "[%1], 4;\" ::\"r\"((unsigned)__cvta_generic_to_shared(s)), \"l\"(x));\n    y[0] = s[MODE];\n}\n"},
};

static char *make_folder(void)
{
    char *folder = e2e_folder("messages");
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) e2e_write(folder, sources[i].name, sources[i].text);
    e2e_pass(
        folder,
        "cp tests/golden/job.cfg tests/golden/kernel.cu tests/golden/space.json $DIR && cd $DIR && mkdir empty && "
        "printf '\\223NUMPY\\001\\000\\072\\000{\\047descr\\047: \\047<f4\\047, \\047fortran_order\\047: False, "
        "\\047shape\\047: (2,), }\\n12345678' >y.npy && echo 'int other;' | gcc -shared -fPIC -x c - -o lib.so && sed "
        "'s/golden/other/' job.cfg >other.cfg && cp job.cfg copy.cfg && head -c 700 space.json >half.json && echo '{}' "
        ">other.json && "
        "$BIN/sweetspot tune job.cfg --device replay:space.json --store job.db --quiet && head -c 5000 job.db >half.db "
        "&& cp job.db newer.db && printf '\\0\\0\\0\\143' | dd of=newer.db bs=1 seek=60 conv=notrunc status=none");
    return folder;
}

enum kind { JOB_FILE, CHECK_IT, COMMAND };

static void hold_messages(const char *name, const struct mistake *mistakes, size_t count, enum kind kind)
{
    char *folder = make_folder(), *all = test_owned(text_copy(""));
    for (size_t i = 0; i < count; i++) {
        const char *input = mistakes[i].input;
        autofree char *command =
            kind == JOB_FILE   ? text_format("sed '%s' job.cfg >wrong.cfg; $BIN/sweetspot check wrong.cfg", input)
            : kind == CHECK_IT ? text_format("sed '%s' job.cfg >wrong.cfg; $BIN/sweetspot check wrong.cfg %.*s "
                                             ">printed.txt 2>&1; s=$?; grep -v ^ok printed.txt 1>&2; exit $s",
                                             strstr(input, " s/") + 1, (int)(strstr(input, " s/") - input), input)
                               : text_format("$BIN/sweetspot %s", input);
        struct e2e_result r = e2e_in(folder, "export TZ=UTC COLUMNS=100; %s", command);
        bool note = kind != COMMAND && r.status == 0; // an old name is accepted, with a note
        if (!r.status && !note) fail_msg("%s: no mistake", mistakes[i].what);
        if (!*r.err) fail_msg("%s: no message", mistakes[i].what);
        all = test_text("%s# %s: %s%s\n%sexit status %d\n\n", all, mistakes[i].what,
                        kind == COMMAND ? "sweetspot " : "", mistakes[i].input, r.err, r.status);
    }
    golden_hold(folder, name, all, message_blots);
}

TEST(mistakes_in_job_files_are_reported_as_their_golden_file_says)
{
    hold_messages("messages-job", job_mistakes, sizeof job_mistakes / sizeof *job_mistakes, JOB_FILE);
}

TEST(mistakes_that_check_compiles_for_are_reported_as_their_golden_file_says)
{
    hold_messages("messages-check", check_mistakes, sizeof check_mistakes / sizeof *check_mistakes, CHECK_IT);
}

TEST(mistakes_on_the_command_line_are_reported_as_their_golden_file_says)
{
    hold_messages("messages-command", command_mistakes, sizeof command_mistakes / sizeof *command_mistakes, COMMAND);
}

TEST(mistakes_about_results_are_reported_as_their_golden_file_says)
{
    hold_messages("messages-results", result_mistakes, sizeof result_mistakes / sizeof *result_mistakes, COMMAND);
}

TEST(no_golden_file_of_messages_is_left_over)
{
    static const char *const known[] = {"messages-job.txt", "messages-check.txt", "messages-command.txt",
                                        "messages-results.txt"};
    DIR *folder = opendir("tests/golden");
    assert_non_null(folder);
    for (const struct dirent *e; (e = readdir(folder));) {
        bool found = strncmp(e->d_name, "messages-", 9) != 0;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) found |= !strcmp(e->d_name, known[i]);
        if (!found) fail_msg("tests/golden/%s belongs to no test", e->d_name);
    }
    closedir(folder);
}

TEST_MAIN(NULL, NULL)
