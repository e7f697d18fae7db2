// Nodes that send false messages: they name files that are not theirs, or stop answering. tests/lying_node.c sits in
// front of a real agent. The run continues without these nodes, or ends and gives the reason. It never hangs.
#include "tests/scripted.h"

#include "tuner/base/protocol.h"

#define RUN(folder, script)                                                                                 \
    e2e_run(folder,                                                                                         \
            "export at=$PWD/'%s' FAKE_LOG_FILES=1; export FAKE_LOG=$at/measured "                           \
            "SWEETSPOT_GPU_WORKER=$BIN/fake_worker SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker "              \
            "\n"                                                                                            \
            "tune() { timeout 200 $BIN/sweetspot tune $at/job.cfg --store $at/job.db --cache $at/cache -q " \
            "--no-checks --pool $at/nodes.cfg; }\n" script,                                                 \
            folder)

static char *job_folder(const char *nodes)
{
    char *folder = e2e_folder("pool_lies");
    SCRIPTED_JOB(folder, .parameters = "{ name = \"X\"; range = [1, 4]; }, { name = \"MODE\"; values = [\"good\"]; }",
                 .more = "measure = { timeout = \"60s\"; final = { candidates = 1; rounds = 10; processes = 1; }; };\n"
                         "compile = { timeout = \"60s\"; }; strategy = \"exhaustive\";");
    e2e_write(folder, "nodes.cfg", nodes);
    return folder;
}

// Without this check, the GPU's node would get the file together with the next trial.
TEST(a_node_cannot_choose_a_file_of_the_drivers)
{
#define GPUS \
    "nodes = ( { name = \"gpus\"; gpus = 1; cores = 0; command = \"env XDG_CACHE_HOME=$at/1\"; private = true; },\n"
// Compiles no candidate before the lying node is disabled.
#define HONEST ", { name = \"honest\"; gpus = 0; cores = 1; command = \"env \\\"FAKE_WAITS=compile $at/go\\\"\"; } );\n"
#define PRIVATE "private = true; }" HONEST
#define SHARED "}" HONEST
#define LIAR(path) GPUS "{ name = \"liar\"; gpus = 0; cores = 1; command = \"$BIN/lying_node path " path "\"; "
    static const struct {
        const char *nodes, *message;
    } cases[] = {
        {LIAR("$at/secret.cubin") PRIVATE, "it names a file that it did not send: '"},
        {LIAR("secret.cubin") PRIVATE, "it names a file that it did not send: 'secret.cubin'"},
        {LIAR("$at/secret.cubin") SHARED, "it names a file that is not in the compile cache: '"},
        {LIAR("$at/cache/../secret.cubin") SHARED, "it names a file that is not in the compile cache: '"},
        {LIAR("$at/cache/link.cubin") SHARED, "it names a file that is not in the compile cache: '"},
        {LIAR("$at/cache/folder/secret.cubin") SHARED, "it names a file that is not in the compile cache: '"},
        {LIAR("$at/cache/pipe") SHARED, "it names a file that is not in the compile cache: '"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = job_folder(cases[i].nodes);
        struct e2e_result r = RUN(
            folder, "mkdir $at/cache; echo secret >$at/secret.cubin; ln -s $at/secret.cubin $at/cache/link.cubin\n"
                    "ln -s $at $at/cache/folder; mkfifo $at/cache/pipe\n"
                    "{ for i in $(seq 600); do grep -qs 'liar is disabled' $at/job.log && break; sleep .05; done\n"
                    "  : >$at/go; } & tune; status=$?; echo taken: $(grep -rlx secret $at/1 | wc -l); exit $status");
        if (r.status) fail_msg("case %zu: status %d\n%s\n%s", i, r.status, r.out, r.err);
        assert_contains(r.err, "node liar is disabled: ", cases[i].message);
        assert_contains(r.out, "taken: 0", "winner: trial");
    }
}

#define ONLY(how, cores) \
    "nodes = ( { name = \"only\"; gpus = 1; cores = " cores "; command = \"$BIN/lying_node " how "\"; } );\n"

TEST(a_pool_without_a_compiler_ends_with_the_reason)
{
    static const struct {
        const char *nodes, *message;
    } cases[] = {
        {ONLY("nothing 0", "0"), "no usable compiler: only: no cores"},
        {"nodes = ( { name = \"gpus\"; gpus = 1; cores = 0; },\n"
         "  { name = \"slow\"; gpus = 0; cores = 1; command = \"$BIN/lying_node never_ready 0\"; } );\n",
         "no usable compiler: no node with one came within 3 s"},
        {ONLY("silence 0", "1"), "no usable compiler: no node with one came within 3 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = job_folder(cases[i].nodes);
        struct e2e_result r = RUN(folder, "export SWEETSPOT_NODE_GREETING=2s SWEETSPOT_POOL_PATIENCE=3s; tune");
        if (r.status != EXIT_ENVIRONMENT) fail_msg("case %zu: status %d\n%s\n%s", i, r.status, r.out, r.err);
        assert_contains(r.err, cases[i].message);
    }
}

// The file of nodes gives no number of cores here, so the node's own number is used.
TEST(a_node_with_impossible_cores_is_refused)
{
    static const char *const cores[] = {"-5", "0", "1000000", "9223372036854775807"};
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
        char *nodes = test_text("nodes = ( { name = \"only\"; gpus = 1; command = \"$BIN/lying_node cores %s\"; } );\n",
                                cores[i]),
             *message = test_text("no usable GPU: only: node only reports %s cores: 1 to 4096 are possible", cores[i]),
             *folder = job_folder(nodes);
        struct e2e_result r = RUN(folder, "tune");
        if (r.status != EXIT_ENVIRONMENT) fail_msg("%s: status %d\n%s\n%s", cores[i], r.status, r.out, r.err);
        assert_contains(r.err, message);
    }
}

TEST(a_node_that_sends_too_much_is_refused)
{
    static const struct {
        const char *lie, *message;
    } cases[] = {
        {"have 70000", "it reports more than 65536 files"},
        {"file 2000000000", "it sends a file of 2000000000 bytes"},
        {"files 5000", "it sends files that no answer names"},
        {"frame 200000000", "the data received is not part of the protocol"},
        {"flood 300", "its workers write more than 256 MiB without the end of a line"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *nodes = test_text("nodes = ( { name = \"only\"; gpus = 1; cores = 7; command = \"$BIN/lying_node %s\"; "
                                "private = true; } );\n",
                                cases[i].lie),
             *folder = job_folder(nodes);
        struct e2e_result r = RUN(folder, "export SWEETSPOT_POOL_PATIENCE=8s; tune");
        if (r.status != EXIT_ENVIRONMENT) fail_msg("%s: status %d\n%s\n%s", cases[i].lie, r.status, r.out, r.err);
        assert_contains(r.err, "node only is disabled: ", cases[i].message);
    }
}

TEST_MAIN(NULL, NULL)
