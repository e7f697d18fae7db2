// Nodes that do not see the driver's files and need every file that a job names. Faulty nodes: workers that answer with
// other requests' numbers, different drivers and toolkits, a full disk, a node that is lost in the final. Also the time
// that sending thousands of small cubins takes.
#include "tests/e2e.h"
#include "tests/opened_store.h"

#include "tuner/base/clock.h"
#include "tuner/base/protocol.h"
#include "tuner/pool/node_files.h"
#include "tuner/store/store.h"

#define JOB(arguments, rest)                                                                                           \
    "name = \"fake\";\n"                                                                                               \
    "kernel = { template = \"x.cu\"; entry = \"x\"; };\n"                                                              \
    "parameters = ( { name = \"X\"; values = [1, 2, 3, 4, 5, 6, 7, 8]; }, { name = \"Y\"; values = [1, 2, 3, 4]; },\n" \
    "  { name = \"MODE\"; values = [\"good\"]; } );\n"                                                                 \
    "problems = ( { N = 1024; } );\n"                                                                                  \
    "launch = { grid = [\"N\"]; block = [32]; };\n"                                                                    \
    "arguments = ( " arguments "{ buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } );\n"        \
    "measure = { timeout = \"60s\"; final = { candidates = 3; rounds = 10; processes = 1; }; };\n"                     \
    "compile = { timeout = \"60s\"; };\n"                                                                              \
    "strategy = \"exhaustive\";\n" rest
enum { CONFIGURATIONS = 32 };

#define FAKE "SWEETSPOT_GPU_WORKER=$BIN/fake_worker SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker "
#define TUNE FAKE "$BIN/sweetspot tune $at/job.cfg --store $at/job.db -q --no-checks --pool $at/nodes.cfg "
#define RUN(folder, script)                                                                               \
    e2e_run(folder,                                                                                       \
            "export at=$PWD/'%s'; export FAKE_LOG=$at/measured SWEETSPOT_POOL_REREAD=200ms\n"             \
            "seen() { for i in $(seq 600); do grep -qs \"$1\" $at/job.log && break; sleep .05; done; }\n" \
            "said() { seen \"$1\"; : >$at/go; }\n" script,                                                \
            folder)

// A node's command that waits until the file is not empty.
#define AFTER(file) "sh -c 'until [ -s $at/" file " ]; do sleep .05; done; exec \\\"$@\\\"' x env "
// For a node that compiles candidates only when the test allows it. A line in `measured` shows that the node waits.
#define LATER "env \\\"FAKE_WAITS=compile $at/go\\\""

static const char unverified[] = "verification = { enabled = false; };\n";

static char *job_folder(const char *name, const char *job, const char *nodes)
{
    char *folder = e2e_folder(name);
    e2e_write(folder, "job.cfg", job);
    e2e_write(folder, "nodes.cfg", nodes);
    e2e_write(folder, "in.npy", "numbers of x\n");
    e2e_write(folder, "want.npy", "numbers of y\n");
    e2e_write(folder, "ref.c", "int right;\n");
    e2e_write(folder, "base.c", "int other;\n");
    e2e_write(folder, "x.cu", "extern \"C\" __global__ void x(float *y) { y[blockIdx.x] = X + Y; }\n");
    return folder;
}

static void expect_all(const struct e2e_result *r, const char *folder)
{
    if (r->status) fail_msg("status %d\n%s\n%s", r->status, r->out, r->err);
    struct statuses s = statuses(folder, "job.db");
    if (s.ok != CONFIGURATIONS || s.others)
        fail_msg("%d ok, %d others: %s\n%s", (int)s.ok, (int)s.others, s.reason, r->err);
}

// Cubins are compiled on one node and used on another; neither sees the driver's files.
#define TWO_NODES                                                                                                    \
    "nodes = ( { name = \"gpus\"; gpus = 1; cores = 0; command = \"env XDG_CACHE_HOME=$at/1\"; private = true; },\n" \
    "  { name = \"cores\"; gpus = 0; cores = 1; command = \"env XDG_CACHE_HOME=$at/2 FAKE_LIBRARY=$at/2/made.so\"; " \
    "private = true; } );\n"

TEST(whatever_a_job_names_is_on_the_node_with_the_same_content)
{
#define FILES_JOB(reference)                                                         \
    JOB("{ buffer = \"x\"; type = \"f32\"; shape = [\"N\"]; fill = \"in.npy\"; }, ", \
        "reference = { " reference " };\n"                                           \
        "baselines = ( { name = \"program\"; library = \"base.c\"; function = \"b\"; } );\n")
    static const struct {
        const char *job, *files; // files that the GPU's node must get
    } cases[] = {
        {FILES_JOB("library = \"ref.c\"; function = \"f\"; generate = \"g\"; verify = \"v\";"),
         "in.npy ref.c 2/made.so"},
        {FILES_JOB("library = \"prebuilt.so\"; function = \"f\";"), "in.npy prebuilt.so 2/made.so"},
        {FILES_JOB("files = { y = \"want.npy\"; };"), "in.npy want.npy 2/made.so"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = job_folder("pool_files", cases[i].job, TWO_NODES);
        e2e_write(folder, "prebuilt.so", "machine code\n");
        struct e2e_result r =
            e2e_run(folder,
                    "export at=$PWD/$DIR FAKE_LOG_FILES=1; export FAKE_LOG=$at/measured\nmkdir $at/2; echo built "
                    ">$at/2/made.so\n" TUNE "--no-final\nstatus=$?\n"
                    "for f in %s; do n=0; for had in $(grep ^$at/1/ $at/measured | sort -u); do\n"
                    "    cmp -s $at/$f $had && n=$((n + 1)); done; echo $f: $n; done\n"
                    "grep -v -e ^$at/1/ -e ^X= $at/measured | grep / | grep -v -e ^/fake && echo of the driver\n"
                    "exit $status",
                    cases[i].files);
        expect_all(&r, folder);
        if (strstr(r.out, ": 0")) fail_msg("case %zu: a file is missing:\n%s\n%s", i, r.out, r.err);
        assert_contains(r.out, "in.npy: 1", "made.so: 1");
        assert_null(strstr(r.out, "of the driver"));
    }
}

// The command names programs and data on the driver's machine.
TEST(a_command_reference_is_refused_on_nodes_without_its_files_by_name)
{
    char *folder = job_folder(
        "pool_command", JOB("", "reference = { command = \"sh ref.sh\"; };\n"),
        "nodes = ( { name = \"far\"; gpus = 1; cores = 1; command = \"env XDG_CACHE_HOME=$at/1\"; private = true; },\n"
        "  { name = \"near\"; gpus = 1; cores = 1; command = \"env \\\"FAKE_WAITS=trial $at/go\\\"\"; } );\n");
    struct e2e_result r = RUN(folder, "echo >$at/ref.sh; said 'far gpu 0 is disabled' &\n" TUNE "--no-final");
    expect_all(&r, folder);
    assert_contains(r.err,
                    "far gpu 0 is disabled: the job's reference is the command 'sh ref.sh', which runs where the GPU");
    folder = job_folder("pool_command", JOB("", "reference = { command = \"sh ref.sh\"; };\n"),
                        "nodes = ( { name = \"far\"; gpus = 1; cores = 1; command = \"env XDG_CACHE_HOME=$at/1\"; "
                        "private = true; } );\n");
    r = RUN(folder, "echo >$at/ref.sh\n" TUNE);
    assert_int_equal(r.status, EXIT_ENVIRONMENT);
    assert_contains(r.err, "no usable GPU: far: ");
}

TEST(a_node_that_answers_for_others_is_set_aside_the_second_time_and_no_candidate_is_blamed)
{
    static const char *const ops[] = {"trial", "compile"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        char *nodes = test_text(
                 "nodes = ( { name = \"odd\"; gpus = 1; cores = 1; command = \"env FAKE_OTHERS=%1$s\"; },\n"
                 "  { name = \"good\"; gpus = 1; cores = 1; command = \"env \\\"FAKE_WAITS=%1$s $at/go\\\"\"; } );\n",
                 ops[i]),
             *job = test_text("%s%s", JOB("", ""), unverified), *folder = job_folder("pool_others", job, nodes);
        struct e2e_result r = RUN(folder, "said 'node odd is disabled' &\n" TUNE "; s=$?; cat $at/job.log; exit $s");
        expect_all(&r, folder);
        assert_contains(r.err, "node odd is disabled: the worker answers request 4711, but was given ");
        assert_contains(r.out, "node odd: the worker answers request 4711"); // the first time
    }
}

TEST(other_drivers_models_and_toolkits_are_named_and_the_rest_is_used)
{
    char *folder = job_folder(
        "pool_other", test_text("%s%s", JOB("", ""), unverified),
        "nodes = ( { name = \"first\"; gpus = 1; cores = 1; },\n"
        "  { name = \"driver\"; gpus = 1; cores = 1; command = \"" AFTER(
            "measured") "FAKE_DRIVER=9.9.9\"; },\n"
                        "  { name = \"model\"; gpus = 1; cores = 1; command = \"" AFTER(
                            "measured") "FAKE_MODEL=Other\"; },\n"
                                        "  { name = \"toolkit\"; gpus = 1; cores = 1; command = \"" AFTER(
                                            "measured") "FAKE_TOOLKIT=fake-2.0 "
                                                        "FAKE_UUID=GPU-4 FAKE_LOG=$at/toolkit\"; },\n"
                                                        "  { name = \"twin\"; gpus = 1; cores = 1; command = \"" AFTER(
                                                            "toolkit") "FAKE_UUID=GPU-4\"; } );\n");
    struct e2e_result r =
        RUN(folder,
            "export FAKE_DELAY=10000 FAKE_WAITS=\"final $at/go\"\n"
            "{ for node in driver model; do seen \"$node gpu 0 is disabled\"; done; said \"twin gpu 0 is disabled\"; "
            "} &\n" TUNE);
    expect_all(&r, folder);
    assert_contains(
        r.err, "driver gpu 0 is disabled: it is a Fake GPU with driver 9.9.9, the run is on Fake GPU with driver 1.2.3",
        "model gpu 0 is disabled: it is a Other with driver 1.2.3",
        "node toolkit is not used to compile: it has fake-2.0, the run has fake 1.0");
    assert_null(strstr(r.err, "toolkit gpu 0 is disabled"));
    assert_contains(r.err, "twin gpu 0 is disabled: it is the same GPU as toolkit gpu 0 (GPU-4)");
}

// Two models in one pool: a run uses the GPUs of one model and the cores of all nodes.
TEST(the_gpus_of_one_model_are_chosen_and_the_cores_of_all_compile)
{
    char *folder = job_folder(
        "pool_model", test_text("%s%s", JOB("", ""), unverified),
        "nodes = ( { name = \"old\"; gpus = 1; cores = 1; command = \"env FAKE_MODEL=A100 "
        "FAKE_LOG_DEVICES=1 FAKE_LOG=$at/old\"; },\n"
        "  { name = \"new\"; gpus = 1; cores = 0; command = \"" AFTER("old") "FAKE_MODEL=H100-SXM\"; } );\n");
    struct e2e_result r = RUN(folder, TUNE "--device h100");
    expect_all(&r, folder);
    assert_contains(r.err, "old gpu 0 is disabled: it is a A100, and --device is 'h100'");
    r = RUN(folder, TUNE "--gpu-model H300"); // the option's older name
    assert_int_equal(r.status, EXIT_ENVIRONMENT);
    assert_contains(r.err, "no usable GPU: ");
    // The GPUs of this machine.
    r = RUN(folder, FAKE "$BIN/sweetspot tune $at/job.cfg --store $at/here.db -q --no-checks --device fake");
    e2e_passed(r);
    r = RUN(folder, FAKE "$BIN/sweetspot tune $at/job.cfg --store $at/none.db -q --no-checks --device H300");
    assert_int_equal(r.status, EXIT_ENVIRONMENT);
    assert_contains(r.err, "it is a Fake GPU, and --device is 'H300'");
}

// First the compiler only reports a full disk. Then a file system is really full, if one can be mounted.
TEST(a_full_disk_of_a_node_costs_no_candidate)
{
    char *job = test_text("%s%s", JOB("", ""), unverified);
    char *folder =
        job_folder("pool_disk", job,
                   "nodes = ( { name = \"good\"; gpus = 1; cores = 1; command = \"" LATER "\"; },\n"
                   "  { name = \"full\"; gpus = 1; cores = 1; command = \"" AFTER("measured") "FAKE_FULL=1\"; } );\n");
    struct e2e_result r = RUN(folder, "said 'node full is disabled' &\n" TUNE "--no-final");
    expect_all(&r, folder);
    assert_contains(r.err, "node full is disabled: ", "No space left on device");
    folder = job_folder("pool_tmpfs", job,
                        "nodes = ( { name = \"good\"; gpus = 1; cores = 1; command = \"" LATER "\"; },\n"
                        "  { name = \"full\"; gpus = 1; cores = 1; private = true; command = \"unshare -rm sh -c "
                        "'mount -t tmpfs -o size=16k none $at/disk && "
                        "XDG_CACHE_HOME=$at/disk exec \\\"$@\\\"' x\"; } );\n");
    r = RUN(folder, "mkdir $at/disk; unshare -rm mount -t tmpfs -o size=16k none $at/disk || { echo none; exit 77; }\n"
                    "head -c 100000 /dev/zero | sed 's|\\x00|/|g' >>$at/x.cu; said 'node full is disabled' &\n" TUNE
                    "--no-final");
    bool mounted = r.status != 77;
    if (mounted) {
        expect_all(&r, folder);
        assert_contains(r.err, "node full is disabled: ", "No space left on device");
    }
    if (!mounted) skip();
}

TEST(a_final_whose_node_is_lost_is_decided_on_another)
{
    char *folder =
        job_folder("pool_final", test_text("%s%s", JOB("", ""), unverified),
                   "nodes = ( { name = \"a\"; gpus = 1; cores = 1; }, { name = \"b\"; gpus = 1; cores = 1; } );\n");
    struct e2e_result r = RUN(
        folder, "export FAKE_LOG_FINALS=1 FAKE_WAITS=\"final $at/go\"\n" TUNE "& tuner=$!\n"
                "for i in $(seq 600); do grep -qs '^waits' $at/measured && break; sleep .05; done\n"
                "worker=$(sed -n 's/^waits //p' $at/measured | head -1)\n"
                "kill -9 $(cut -d' ' -f4 /proc/$worker/stat); : >$at/go; wait $tuner; s=$?; cat $at/job.log; exit $s");
    expect_all(&r, folder);
    assert_contains(r.out, "the final starts again on another GPU: rounds of two GPUs are not combined",
                    "winner: trial");
}

// Sending files -----------------------------------------------------------------------------------------------------

struct private_node {
    char *folder, *cache;
    struct node_link_settings settings;
    struct node_link link;
};

static void wait_once(struct private_node *n, int milliseconds)
{
    struct node_links links = {1, (struct node_link *[]){&n->link}};
    node_links_wait(&links, NULL, 0, milliseconds);
}

static void start_node(struct private_node *n, const char *folder)
{
    struct error err;
    *n = (struct private_node){.folder = e2e_folder(folder),
                               .settings = {.heartbeat = 5, .timeout = 30, .greeting = 30},
                               .link = {.name = "n", .settings = &n->settings, .child = CHILD_NONE}};
    n->settings.keep = n->folder;
    n->cache = test_text("%s/node", n->folder);
    char *argv[] = {test_text("%s/sweetspot-node", e2e_bin()), "--private", "--cache", n->cache, NULL};
    if (node_link_start(&n->link, argv, &err)) fail_msg("%s", err.message);
    for (int i = 0; i < 300 && n->link.state != LINK_UP; i++) wait_once(n, 100);
    assert_int_equal(n->link.state, LINK_UP);
}

TEST(thousands_of_small_cubins_take_less_than_a_millisecond_of_the_driver_each)
{
    enum { CUBINS = 2000, SIZE = 4096 };
    struct private_node n;
    char bytes[SIZE + 1], *last = NULL, name[32];
    start_node(&n, "pool_cubins");
    memset(bytes, 'c', SIZE);
    bytes[SIZE] = 0;
    for (int i = 0; i < CUBINS; i++) {
        snprintf(name, sizeof name, "%d.cubin", i);
        snprintf(bytes, sizeof bytes, "%08d", i);
        bytes[8] = 'c';
        e2e_write(n.folder, name, bytes);
    }
    double began = clock_now(), used = clock_cpu();
    for (int i = 0; i < CUBINS; i++) {
        char *path = test_text("%s/%d.cubin", n.folder, i);
        free(last);
        last = node_files_path(&n.link, path);
        assert_string_not_equal(last, path);
        node_link_io(&n.link);
    }
    while (access(last, R_OK) && clock_now() < began + 60) wait_once(&n, 1);
    double each = (clock_cpu() - used) / CUBINS; // processor time, because other programs use the machine too
    assert_int_equal(access(last, R_OK), 0);
    struct e2e_result r = e2e_run(n.folder, "find '%s' -name '*.cubin' -size 8 | wc -l", n.cache);
    assert_int_equal(atoi(r.out), CUBINS);
    print_message("%.0f us for each of %d cubins of %d bytes\n", 1e6 * each, CUBINS, SIZE);
    if (each > 1e-3) fail_msg("%.3g ms a cubin", 1e3 * each);
    node_link_release(&n.link);
    free(last);
}

// Tells the agent about the file, and asks it to start a program. The answer to the second request shows that the agent
// has checked the file.
static char *use_file(struct private_node *n)
{
    struct error err;
    char *there = test_owned(node_files_path(&n->link, test_text("%s/in.npy", n->folder)));
    struct node_channel *c = node_link_open(&n->link, (char *[]){"no program of an agent", NULL}, &err);
    for (int i = 0; i < 300 && !c->ended && !c->lost; i++) wait_once(n, 100);
    assert_true(c->ended || c->lost);
    node_link_close(&n->link, c);
    return there;
}

TEST(a_file_that_changes_in_a_nodes_cache_is_not_used)
{
    static const struct {
        const char *change; // a command that changes the file $1
        bool bad;
    } cases[] = {
        {"touch -d 2001-01-01 \"$1\"", false},
        {"cp \"$1\" other; mv other \"$1\"", false},
        {"printf datA >\"$1\"", true},
        {"sleep 0.05; touch -r \"$1\" time; printf datA >\"$1\"; touch -r time \"$1\"", true},
        {"printf datA >other; mv other \"$1\"", true},
        {"rm \"$1\"", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct private_node n;
        start_node(&n, "pool_changed");
        e2e_write(n.folder, "in.npy", "data");
        for (int use = 0; use < 3; use++) { // sent, then hashed, then known to be unchanged
            assert_contains(use_file(&n), n.cache);
            assert_int_equal(n.link.state, LINK_UP);
        }
        e2e_pass(n.folder, "cd $DIR; set -- '%s'; %s", use_file(&n), cases[i].change);
        use_file(&n);
        assert_int_equal(n.link.state, cases[i].bad ? LINK_DOWN : LINK_UP);
        if (cases[i].bad) assert_contains(node_link_why(&n.link), "was changed or removed while it was in use");
        node_link_release(&n.link);
    }
}

TEST_MAIN(NULL, NULL)
