// With kernel.edits, a source with fixed numbers is tuned without changing the file. Only copies are edited: in memory,
// for nvcc, and on nodes.
#include "tests/e2e.h"

static const char source[] = "#include \"inc/sizes.h\"\n#define TILE 4\nconstexpr int BLOCK = 256;\n"
                             "__global__ void add(int n, const float *a, float *b)\n{\n"
                             "    int i = (blockIdx.x * BLOCK + threadIdx.x) * TILE;\n"
                             "    for (int k = 0; k < TILE; k++) if (i + k < n) b[i + k] = a[i + k] + SHIFT;\n}\n";
static const char job[] =
    "name = \"add\"; kernel = { template = \"add.cu\"; entry = \"add\"; %s };\n"
    "parameters = ( { name = \"BLOCK\"; values = [64, 128]; }, { name = \"TILE\"; values = [1, 2]; } );\n"
    "problems = ( { n = 1000; } ); launch = { grid = [\"ceil_div(n, BLOCK * TILE)\"]; block = [\"BLOCK\"]; };\n"
    "arguments = ( { scalar = \"n\"; type = \"i32\"; }, { buffer = \"a\"; type = \"f32\"; shape = [\"n\"]; },\n"
    "  { buffer = \"b\"; type = \"f32\"; shape = [\"n\"]; direction = \"out\"; } );\n"
    "verification = { enabled = false; }; strategy = \"exhaustive\";\n";
#define BOTH \
    "{ find = \"#define TILE 4\"; replace = \"\"; }, { find = \"constexpr int BLOCK = 256;\"; replace = \"\"; }"
#define EDITS "edits = ( " BOTH ", { file = \"inc/sizes.h\"; find = \"1.0f\"; replace = \"2.0f\"; count = 2; } );"

static char *make(const char *name, const char *settings)
{
    char *folder = e2e_folder(name);
    e2e_run(folder, "mkdir $DIR/inc");
    e2e_write(folder, "add.cu", source);
    e2e_write(folder, "inc/sizes.h", "#define SHIFT (1.0f + 1.0f)\n");
    e2e_write(folder, "inc/other.h", "#define SHIFT 1.0f\n");
    e2e_write(folder, "add.cfg", test_text(job, settings));
    return folder;
}

#define CHECK                                                                                             \
    "$BIN/sweetspot check add.cfg --compile 4 --cache cache; s=$?; $BIN/sweetspot header add.cfg --hash;" \
    "md5sum add.cu inc/sizes.h; exit $s"

TEST(a_source_with_fixed_numbers_is_tunable_by_edits)
{
    struct e2e_result plain = e2e_in(make("edits_without", ""), CHECK);
    assert_int_equal(plain.status, 2);
    struct e2e_result edited = e2e_passed(e2e_in(make("edits", EDITS), CHECK));
    assert_contains(edited.out, "ok ", "  add  BLOCK=128,TILE=2\nno mistakes found\n");
    char *hash = strstr(edited.out, "0x");
    assert_true(hash && !strstr(plain.out, test_text("%.18s", hash))); // edits change the hash
    assert_contains(plain.out, strchr(hash, '\n'));                    // the files are unchanged
    struct e2e_result other = e2e_passed(e2e_in(make("edits_other", "edits = ( " BOTH " );"), CHECK));
    assert_true(!strstr(other.out, test_text("%.18s", hash)));
}

TEST(nvcc_compiles_what_the_edits_have_made)
{
    char *folder = make("edits_nvcc", "compiler = \"nvcc\"; " EDITS);
    if (e2e_run(folder, "command -v nvcc").status) skip();
    struct e2e_result r =
        e2e_passed(e2e_in(folder, "unset SWEETSPOT_NVCC; $BIN/sweetspot check add.cfg --compile 2 --cache cache && "
                                  "$BIN/sweetspot check add.cfg --compile 2 --cache cache"));
    assert_contains(r.out, "  add  BLOCK=128,TILE=1\nno mistakes found\n");
    r = e2e_in(make("edits_nvcc_without", "compiler = \"nvcc\";"),
               "unset SWEETSPOT_NVCC; $BIN/sweetspot check add.cfg");
    assert_int_equal(r.status, 2);
}

TEST(edits_that_do_not_fit_are_refused_with_their_line)
{
    static const struct {
        const char *edits, *message;
    } cases[] = {
        {"{ find = \"#define TILE 5\"; replace = \"\"; }", "add.cfg:1: '#define TILE 5' is not in '"},
        {"{ find = \"TILE\"; replace = \"SIDE\"; }", "add.cfg:1: 'TILE' occurs 3 times in '"},
        {"{ find = \"TILE 4\"; replace = \"A 4\"; }, { find = \"TILE 4\"; replace = \"B 4\"; }",
         "'TILE 4' is not in '"},
        {"{ find = \"TILE 4\"; replace = \"TILE\\n4\"; }", "'replace' must have as many lines as 'find'"},
        {"{ find = \"\"; replace = \"\"; }", "'find' is empty"},
        {"{ find = \"TILE 4\"; }", "an edit lacks 'replace'"},
        {"{ replace = \"TILE 4\"; }", "an edit lacks 'find'"},
        {"{ find = \"TILE 4\"; replace = \"\"; count = 0; }", "'count' is 0, but must be between 1 and"},
        {"{ fnd = \"TILE 4\"; replace = \"\"; }", "unknown setting 'fnd' in an edit; did you mean 'find'?"},
        {"\"TILE 4\"", "an edit must be a group { find = ...; replace = ...; }"},
        {"{ file = \"none.h\"; find = \"a\"; replace = \"b\"; }", "none.h': No such file or directory"},
        {"{ file = \"inc\"; find = \"a\"; replace = \"b\"; }", "/inc'"},
        {BOTH ", { file = \"inc/other.h\"; find = \"1.0f\"; replace = \"2.0f\"; }", "add.cu' does not include"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = make("edits_mistakes", test_text("edits = ( %s );", cases[i].edits));
        struct e2e_result r = e2e_in(folder, "$BIN/sweetspot check add.cfg");
        assert_int_equal(r.status, 2);
        assert_contains(test_text("%s%s", r.out, r.err), cases[i].message);
    }
}

TEST(a_private_node_gets_edited_files_and_the_header_says_what_was_edited)
{
    char *folder = make("edits_node", EDITS);
    e2e_write(folder, "nodes.cfg",
              "nodes = ( { name = \"far\"; gpus = 1; cores = 2; command = \"env XDG_CACHE_HOME=$at/far\"; private = "
              "true; } );\n");
    struct e2e_result r = e2e_passed(e2e_in(
        folder, "export at=$PWD FAKE_NEEDS_CUBIN=1 SWEETSPOT_GPU_WORKER=$BIN/fake_worker SWEETSPOT_SANITIZER=none\n"
                "$BIN/sweetspot tune add.cfg --store job.db -q --pool nodes.cfg --no-final --no-checks 2>&1 && "
                "cat $(find far -path '*trees*' -name add.cu -o -path '*trees*' -name sizes.h) && "
                "$BIN/sweetspot header add.cfg --store job.db -o -"));
    assert_contains(r.out, "4 new trials", "(2.0f + 2.0f)",
                    "The source was edited before it was compiled (kernel.edits):\n"
                    " *     add.cu: '#define TILE 4' becomes ''\n",
                    " *     sizes.h: '1.0f' becomes '2.0f'\n");
    assert_true(!strstr(r.out, "constexpr int BLOCK = 256;\n__global__"));
}

// A source other than the job's is judged without edits; the reference in the job's template is edited.
TEST(judge_does_not_edit_another_source)
{
    char *folder = make("edits_judge", EDITS);
    e2e_write(folder, "plain.cu",
              "__global__ void add(int n, const float *a, float *b) { if (BLOCK * TILE) b[n] = a[n]; }\n");
    struct e2e_result r = e2e_in(
        folder, "sed -i 's/verification = { enabled = false; };/reference = { kernel = \"add\"; launch = { grid = [1]; "
                "block = [1]; }; };/' add.cfg\n"
                "export SWEETSPOT_GPU_WORKER=$BIN/fake_worker SWEETSPOT_SANITIZER=none SWEETSPOT_COUNTERS=none; for k "
                "in plain add; do "
                "$BIN/sweetspot judge add.cfg --template $k.cu --cache cache 2>&1; done");
    assert_contains(r.out, "plain.cu  BLOCK=64,TILE=1\n", "add.cu  BLOCK=64,TILE=1\n");
}

TEST_MAIN(NULL, NULL)
