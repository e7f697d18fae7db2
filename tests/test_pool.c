// Pools of nodes. Agents on this machine stand in for agents on other machines. They join and leave during a run, die,
// freeze, do not see the driver's files, have another version, or cannot write. Every configuration is measured, and no
// configuration is blamed.
#include "tests/opened_store.h"
#include "tests/scripted.h"

#include "tuner/base/protocol.h"
#include "tuner/store/store.h"

enum { CONFIGURATIONS = 40 };

#define FAKE SCRIPTED
#define TUNE FAKE "$BIN/sweetspot tune $at/job.cfg --store $at/job.db -q --node-cache $at/node "
// measured N: waits until N candidates are measured. said WORDS: waits until the log contains WORDS, then creates
// $at/go.
#define SETTINGS                                                                                         \
    "export FAKE_LOG=$at/measured SWEETSPOT_POOL_REREAD=200ms\n"                                         \
    "measured() { until [ \"$(cat $at/measured 2>/dev/null | wc -l)\" -ge $1 ]; do sleep .05; done; }\n" \
    "said() { for i in $(seq 600); do grep -qs \"$1\" $at/job.log && break; sleep .05; done; : >$at/go; }\n"
#define RUN(folder, script) e2e_run(folder, "at=$PWD/'%s'\n" SETTINGS script, folder)

static char *job_folder(const char *name)
{
    char *folder = e2e_folder(name);
    SCRIPTED_JOB(folder,
                 .parameters = "{ name = \"X\"; range = [1, 8]; }, { name = \"Y\"; range = [1, 5]; }, { name = "
                               "\"MODE\"; values = [\"good\"]; }",
                 .more = "measure = { timeout = \"60s\"; final = { candidates = 3; rounds = 10; }; };\n"
                         "compile = { timeout = \"60s\"; }; strategy = \"exhaustive\";",
                 .source = "#include \"x.h\"\nextern \"C\" __global__ void x(float *y) { y[blockIdx.x] = X + Y + Z; "
                           "}\n");
    e2e_write(folder, "x.h", "#define Z 1\n");
    return folder;
}

// Checks that all configurations were measured once and that no configuration was blamed.
static void expect_all(const char *folder)
{
    struct statuses s = statuses(folder, "job.db");
    if (s.ok != CONFIGURATIONS || s.others) fail_msg("%d ok, %d others: %s", (int)s.ok, (int)s.others, s.reason);
}

static void expect_done(struct e2e_result *r, char *folder)
{
    if (r->status) fail_msg("status %d\n%s\n%s", r->status, r->out, r->err);
    expect_all(folder);
    assert_contains(r->out, "winner: trial");
}

TEST(gpus_and_cores_of_several_nodes_are_used)
{
    char *folder = job_folder("pool");
    e2e_write(folder, "nodes.cfg",
              "nodes = ( { name = \"a\"; gpus = 2; cores = 2; }, { name = \"b\"; gpus = [1, 3]; cores = 1; count = 2; "
              "} );\n");
    struct e2e_result r =
        RUN(folder, "export FAKE_DELAY=20000\n" TUNE "--pool $at/nodes.cfg,local:0,1\n"
                    "grep -o 'node [^ ]* joins' $at/job.log | LC_ALL=C sort >$at/joined; cat $at/joined");
    expect_all(folder);
    assert_contains(r.out, "node a joins\nnode b joins\nnode b-2 joins\nnode local joins", "winner: trial");
}

// Kills an agent, a worker of the other agent, and then that agent itself.
TEST(agents_and_workers_that_are_killed_cost_no_candidate)
{
    char *folder = job_folder("pool_kills");
    e2e_write(folder, "nodes.cfg",
              "nodes = ( { name = \"a\"; gpus = 2; cores = 1; }, { name = \"b\"; gpus = 2; cores = 1; } );\n");
    struct e2e_result r = RUN(folder, "export FAKE_DELAY=100000\n" TUNE "--pool $at/nodes.cfg & tuner=$!\n"
                                      "measured 1; set -- $(pgrep -P $tuner -f sweetspot-node); kill -9 $1\n"
                                      "measured 6; kill -9 $(pgrep -P $2 | tail -1)\n"
                                      "measured 11; kill -9 $2; wait $tuner; status=$?\n"
                                      "grep -c 'is lost:' $at/job.log; exit $status");
    expect_done(&r, folder);
    assert_contains(r.out, "\n2\n");
    assert_contains(r.err, "it is tried again in");
}

TEST(workers_die_with_their_agent_and_with_the_driver)
{
    char *folder = job_folder("pool_ends");
    struct e2e_result r = RUN(
        folder,
        "export FAKE_DELAY=100000\n"
        "for victim in agent driver; do rm -f $at/job.db*\n" TUNE "--pool local:0,1 & tuner=$!\n"
        "  measured 1; agent=$(pgrep -P $tuner -f sweetspot-node); workers=$(pgrep -P $agent); echo workers $(echo "
        "$workers | wc -w)\n"
        "  if [ $victim = agent ]; then kill -STOP $tuner; kill -9 $agent; else kill -9 $tuner; fi\n"
        "  for i in $(seq 600); do left=0\n"
        "    for w in $workers; do s=$(cut -d' ' -f3 /proc/$w/stat 2>/dev/null); [ \"${s:-Z}\" = Z ] || left=1; done\n"
        "    [ $left = 0 ] && break; sleep .05\n"
        "  done; echo $victim left $left; kill -9 $tuner; rm -f $at/measured\n"
        "done 2>/dev/null");
    assert_contains(r.out, "agent left 0", "driver left 0");
    assert_null(strstr(r.out, "workers 0"));
}

TEST(an_agent_that_freezes_is_lost_and_the_others_go_on)
{
    char *folder = job_folder("pool_freeze");
    e2e_write(folder, "nodes.cfg",
              "nodes = ( { name = \"a\"; gpus = 1; cores = 1; }, { name = \"b\"; gpus = 1; cores = 1; } );\n");
    struct e2e_result r =
        RUN(folder, "export FAKE_DELAY=100000 SWEETSPOT_NODE_BEAT=100ms SWEETSPOT_NODE_PATIENCE=2s\n" TUNE
                    "--pool $at/nodes.cfg & tuner=$!\n"
                    "measured 1; kill -STOP $(pgrep -P $tuner -f sweetspot-node | head -1); wait $tuner");
    expect_done(&r, folder);
    assert_contains(r.err, "nothing was received from it for ");
}

TEST(nodes_join_and_leave_with_the_file_that_lists_them)
{
    char *folder = job_folder("pool_joins");
    e2e_write(folder, "nodes.cfg", "nodes = ( { name = \"first\"; gpus = 1; cores = 1; } );\n");
    struct e2e_result r = RUN(folder, "export FAKE_DELAY=100000\n" TUNE "--pool $at/nodes.cfg & tuner=$!\n"
                                      "measured 1\n"
                                      "echo 'nodes = ( { name = \"first\"; gpus = 1; cores = 1; }, { name = "
                                      "\"late\"; gpus = 2; cores = 1; } );' >$at/n\n"
                                      "mv $at/n $at/nodes.cfg; said 'node late joins'\n"
                                      "echo 'nodes = ( { name = \"late\"; gpus = 2; cores = 1; } );' >$at/n\n"
                                      "mv $at/n $at/nodes.cfg; wait $tuner");
    expect_done(&r, folder);
    assert_contains(r.err, "node late joins", "node first leaves");
}

// A real compiler runs on a node that sees none of the driver's files. Its cubins go to another such node.
TEST(sources_and_cubins_travel_where_no_file_is_shared)
{
    char *folder = job_folder("pool_private");
    e2e_write(
        folder, "nodes.cfg",
        "nodes = ( { name = \"gpus\"; gpus = 2; cores = 0; command = \"env HOME=$at/1 XDG_CACHE_HOME=$at/1\"; private "
        "= true; },\n"
        "  { name = \"cores\"; gpus = 0; cores = 2; command = \"env XDG_CACHE_HOME=$at/2\"; private = true; } );\n");
    struct e2e_result r = e2e_passed(RUN(
        folder, "export at FAKE_NEEDS_CUBIN=1 SWEETSPOT_GPU_WORKER=$BIN/fake_worker\n"
                "$BIN/sweetspot tune $at/job.cfg --store $at/job.db -q --pool $at/nodes.cfg --no-final --no-checks\n"
                "status=$?; find $at/1 -name '*.cubin' | wc -l; find $at/2 -path '*trees*' -name 'x.[ch]*' | wc -l\n"
                "exit $status"));
    expect_all(folder);
    assert_contains(r.out, "2\n");
    assert_int_equal(atoi(r.out), 12 + 2); // 12 different sums X + Y, and 2 with the worker's own kernels
}

TEST(a_node_of_another_version_is_refused_by_name_and_the_others_work)
{
    char *folder = job_folder("pool_version");
    e2e_write(folder, "old",
              "#!/bin/sh\necho 'Welcome to this machine'\n"
              "echo 'sweetspot-node 1 {\"version\":\"0.0\",\"program\":\"12345678\"}'\nsleep 9\n");
    e2e_write(folder, "nodes.cfg",
              "nodes = ( { name = \"old\"; command = \"sh $at/old\"; },\n"
              "  { name = \"gone\"; command = \"sh -c 'echo \\x1bno-such-host >&2; exit 255'\"; },\n"
              "  { name = \"talks\"; command = \"sh -c 'echo; printf Quota; exec \\\"$@\\\"' x\"; gpus = 1; cores = 1; "
              "} );\n");
    struct e2e_result r = RUN(folder, "export at\n" TUNE "--pool $at/nodes.cfg; cat $at/job.log");
    expect_all(folder);
    assert_contains(r.err, "node old is disabled: node old runs sweetspot 0.0 (program 12345678), this is sweetspot",
                    "node gone is lost: the command that starts its agent ended with status 255: ?no-such-host");
    assert_contains(r.out, "node talks: Quota", "node old: Welcome to this machine");
}

// One node prints text instead of an agent's greeting, the other prints to stderr while a good agent runs.
TEST(nodes_that_talk_without_end_keep_nobody_from_working_and_fill_no_log)
{
    char *folder = job_folder("pool_talk");
    e2e_write(folder, "nodes.cfg",
              "nodes = ( { name = \"banner\"; command = \"sh -c yes\"; },\n"
              "  { name = \"loud\"; command = \"sh -c 'yes >&2 & exec \\\"$@\\\"' x\"; gpus = 1; cores = 1; } );\n");
    struct e2e_result r = RUN(folder, TUNE "--pool $at/nodes.cfg; echo size; wc -c <$at/job.log");
    expect_all(folder);
    assert_contains(r.err, "node banner is disabled: it sends endless text instead of the agent's greeting");
    assert_contains(r.out, "size\n");
    assert_in_range(atol(strstr(r.out, "size\n") + 5), 1000, 16 << 20);
}

TEST(a_node_that_cannot_write_is_set_aside)
{
    char *folder = job_folder("pool_full");
    e2e_write(folder, "nodes.cfg",
              "nodes = ( { name = \"full\"; gpus = 1; cores = 1; private = true; command = \"env "
              "XDG_CACHE_HOME=$at/full\"; },\n"
              "  { name = \"good\"; gpus = 1; cores = 1; command = \"env \\\"FAKE_WAITS=trial $at/go\\\"\"; } );\n");
    struct e2e_result r = RUN(folder, "export at; said 'node full is disabled' & mkdir -p $at/full/sweetspot-node; : "
                                      ">$at/full/sweetspot-node/trees\n" FAKE
                                      "$BIN/sweetspot tune $at/job.cfg --store $at/job.db -q --pool $at/nodes.cfg");
    expect_done(&r, folder);
    assert_contains(r.err, "node full is disabled: cannot");
}

TEST(without_any_node_a_run_waits_and_then_says_how_to_go_on)
{
    char *folder = job_folder("pool_none");
    e2e_write(folder, "nodes.cfg", "nodes = ( { name = \"only\"; gpus = 1; cores = 1; } );\n");
    struct e2e_result r =
        RUN(folder, "export FAKE_DELAY=100000 SWEETSPOT_POOL_PATIENCE=3s\n" TUNE "--pool $at/nodes.cfg & tuner=$!\n"
                    "measured 1; echo 'nodes = ();' >$at/nodes.cfg; wait $tuner\n"
                    "first=$?; unset FAKE_DELAY SWEETSPOT_POOL_PATIENCE; echo 'nodes = ( { name = \"new\"; gpus = 1; "
                    "cores = 1; } );' >$at/nodes.cfg\n" TUNE "--pool $at/nodes.cfg && exit $((first + 40))");
    assert_int_equal(r.status, EXIT_ENVIRONMENT + 40);
    expect_all(folder);
    assert_contains(r.err, "no GPU is left; waiting 3 s for one", "To resume: sweetspot tune");
}

// A node whose agent is missing is not tried again, and a run with a time limit does not wait for nodes much longer
// than this limit.
TEST(nodes_that_never_come_end_a_run_soon)
{
    static const struct {
        const char *command, *message;
    } cases[] = {
        {"env", "node a is disabled: the command that starts its agent ended with status 127: "},
        {"", "node a is disabled: cannot run '/nowhere/agent': "},
    };
    char *folder = job_folder("pool_never");
    struct e2e_result r;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        e2e_write(
            folder, "nodes.cfg",
            test_text("nodes = ( { name = \"a\"; command = \"%s\"; program = \"/nowhere/agent\"; gpus = 1; } );\n",
                      cases[i].command));
        r = RUN(folder, "export SWEETSPOT_POOL_PATIENCE=5s\n" TUNE "--pool $at/nodes.cfg");
        assert_int_equal(r.status, EXIT_ENVIRONMENT);
        assert_contains(r.err, cases[i].message, "no usable GPU: a: ");
    }
    e2e_write(folder, "nodes.cfg", "nodes = ( { name = \"a\"; command = \"sleep 100;\"; gpus = 1; cores = 1; } );\n");
    r = RUN(folder, TUNE "--pool $at/nodes.cfg --time 3s");
    assert_int_equal(r.status, EXIT_ENVIRONMENT);
    assert_contains(r.err, "no node with one came within 10 s");
}

TEST(mistakes_in_what_names_nodes_are_said_with_their_place)
{
    static const struct {
        const char *pool, *file, *message;
    } cases[] = {
        {"$at/nodes.cfg", "nodes = (\n { name = \"a\"; gpu = 1; } );\n", "nodes.cfg:2: "},
        {"$at/nodes.cfg", "nodes = (\n { command = \"x\"; } );\n", "nodes.cfg:2: a node needs a 'name'"},
        {"$at/nodes.cfg", "nodes = ( { name = \"a\";\n cores = -1; } );\n", "nodes.cfg:2: 'cores' must be an integer"},
        {"$at/nodes.cfg", "nodes = ( {\n", "nodes.cfg:"},
        {"$at/other.cfg", "", "other.cfg"},
        {"gpu07", "", "'gpu07' is neither local, ssh:HOST, slurm nor a file"},
        {"local:x", "", "'x' is not the number of a GPU"},
        {"slurm", "", "salloc --nodes=2"},
        {"local --device 0,1", "", "use --pool local:0,1"},
    };
    char *folder = job_folder("pool_mistakes");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        e2e_write(folder, "nodes.cfg", cases[i].file);
        struct e2e_result r =
            e2e_run(folder, "at=$PWD/$DIR; unset SLURM_JOB_ID\n" SETTINGS TUNE "--pool %s", cases[i].pool);
        if (r.status != EXIT_USAGE) fail_msg("%s: status %d\n%s", cases[i].pool, r.status, r.err);
        assert_contains(r.err, cases[i].message);
    }
}

TEST(thousands_of_identical_nodes_are_read_in_seconds)
{
    char *folder = job_folder("pool_alike");
    e2e_write(folder, "nodes.cfg", "nodes = ( { name = \"a\"; count = 4096; gpus = 0; },\n { count = 1; } );\n");
    struct e2e_result r =
        RUN(folder, "timeout 20 $BIN/sweetspot tune $at/job.cfg --store $at/job.db --pool $at/nodes.cfg");
    if (r.status != EXIT_USAGE) fail_msg("status %d\n%s", r.status, r.err);
    assert_contains(r.err, "nodes.cfg:2: a node needs a 'name'");
}

// Scripts with the same arguments stand for ssh and Slurm's programs.
TEST(ssh_and_slurm_start_the_agent_by_their_commands)
{
    char *folder = job_folder("pool_commands");
    e2e_write(folder, "ssh",
              "#!/bin/sh\necho \"ssh $*\" >>$at/called\necho Last login: today\n"
              "while [ \"${1#-}\" != \"$1\" ]; do [ $1 = -o ] && shift; shift; done\nshift; cd /; eval \"$*\"\n");
    e2e_write(
        folder, "srun",
        "#!/bin/sh\necho \"srun $*\" >>$at/called\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nexec \"$@\"\n");
    e2e_write(folder, "scontrol", "#!/bin/sh\n[ \"$*\" = 'show hostnames n[1-2]' ] && printf 'n1\\nn2\\n'\n");
    struct e2e_result r =
        RUN(folder,
            "export at PATH=$at:$PATH SLURM_JOB_ID=7 SLURM_JOB_NODELIST='n[1-2]' SLURM_JOB_CPUS_PER_NODE='3(x1),5'\n"
            "chmod +x $at/ssh $at/srun $at/scontrol\n" TUNE "--pool slurm,ssh:h1,h2 --workers 1; cat $at/called");
    expect_all(folder);
    assert_contains(r.out, "srun --jobid=7 --nodelist=n1 --nodes=1 --ntasks=1 --overlap", "--cpus-per-task=5",
                    "BatchMode=yes", "h2 exec ");
}

TEST(a_recording_is_replayed_on_a_node)
{
    char *folder = e2e_folder("pool_replay");
    struct e2e_result r =
        e2e_passed(e2e_run(folder, "cp tests/golden/job.cfg tests/golden/kernel.cu tests/golden/space.json $DIR && cd "
                                   "$DIR && timeout 60 $BIN/sweetspot tune job.cfg --device replay:space.json --pool "
                                   "local --store r.db -q"));
    assert_contains(r.out, ", 44.72us, fastest");
}

TEST_MAIN(NULL, NULL)
