// Tests that need a GPU: hostile kernels, every kind of reference, counters compared with ncu, kill and resume.
#include "tests/gpu.h"
#include "tests/ncu.h"
#include "tests/opened_store.h"

#include "tuner/base/json.h"
#include "tuner/base/protocol.h"
#include "tuner/store/store.h"

static const struct {
    const char *mode;
    enum trial_status status, or_else;
    const char *reason;
} hostile[] = {
    {"CORRECT", STATUS_OK, STATUS_OK, ""},
    {"SLOW", STATUS_SLOW, STATUS_OK, ""}, // ok if it is measured before CORRECT
    {"HANG", STATUS_TIMEOUT, STATUS_TIMEOUT, "hangs"},
    {"TRAP", STATUS_CRASHED, STATUS_CRASHED, "CUDA"},
    {"ASSERT_ADDRESS", STATUS_CRASHED, STATUS_CRASHED, "CUDA"},
    {"READ_FAR", STATUS_CRASHED, STATUS_CRASHED, "CUDA"},
    {"READ_PAST", STATUS_WRONG, STATUS_NONDETERMINISTIC, "y[1048572]"}, // wrong if the first guard is NaN
    {"WRITE_FAR", STATUS_CRASHED, STATUS_CRASHED, "CUDA"},
    {"WRITE_PAST", STATUS_OUT_OF_BOUNDS, STATUS_OUT_OF_BOUNDS, "y"},
    {"WRITE_BEFORE", STATUS_OUT_OF_BOUNDS, STATUS_OUT_OF_BOUNDS, "y"},
    {"PARTIAL", STATUS_WRONG, STATUS_WRONG, ""},
    {"NOTHING", STATUS_WRONG, STATUS_WRONG, ""},
    {"NANS", STATUS_WRONG, STATUS_WRONG, ""},
    {"OFF_BY_ONE", STATUS_WRONG, STATUS_WRONG, ""},
    {"ONE_WRONG", STATUS_WRONG, STATUS_WRONG, ""},
    {"RACE", STATUS_NONDETERMINISTIC, STATUS_WRONG, ""}, // wrong if a timed launch shows it first
    {"TOO_MUCH_SHARED", STATUS_PRUNED, STATUS_PRUNED, "shared memory"},
    {"TOO_MANY_THREADS", STATUS_PRUNED, STATUS_PRUNED, "2048"},
    {"MODIFIES_INPUT", STATUS_WRONG, STATUS_WRONG, "x"},
    {"WORKS_ONCE", STATUS_NONDETERMINISTIC, STATUS_WRONG, "keep their values between launches"},
    {"DOES_NOT_COMPILE", STATUS_COMPILE_ERROR, STATUS_COMPILE_ERROR, "hostile.cu"},
    {"COMPILES_SLOWLY", STATUS_COMPILE_TIMEOUT, STATUS_COMPILE_TIMEOUT, ""},
};

GPU_TEST(every_hostile_kernel_has_its_status_and_the_correct_one_wins)
{
    char *folder = e2e_folder("hostile"), *path = test_text("%s/h.db", folder);
    struct e2e_result r = e2e_pass(folder, "$BIN/sweetspot tune tests/jobs/hostile.cfg --store %s -q", path);
    assert_contains(r.out, "MODE=CORRECT");
    struct store *store = opened_store(path);
    struct error err;
    int bad = 0;
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        char *config = test_text("MODE=%s", hostile[i].mode);
        struct trial t;
        if (store_find(store, config, &t, &err)) fail_msg("%s is not in the store", config);
        print_message("%-18s %-16s %.120s\n", hostile[i].mode, status_name(t.status), t.reason);
        bad +=
            (t.status != hostile[i].status && t.status != hostile[i].or_else) || !strstr(t.reason, hostile[i].reason);
    }
    assert_int_equal(bad, 0);
    store_close(store);
}

// Writes an array of floats as an .npy file.
static void write_npy(const char *folder, const char *name, const float *values, size_t n)
{
    char *path = test_text("%s/%s", folder, name), header[128];
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    int used = snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu,), }", n);
    memset(header + used, ' ', sizeof header - (size_t)used);
    header[117] = '\n'; // magic 6, version 2, length 2: 10 + 118 = 128
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file);
    fwrite(header, 1, 118, file);
    fwrite(values, sizeof *values, n, file);
    fclose(file);
}

static void run_reference(const char *name, const char *reference, int expected_status)
{
    enum { N = 100003 };
    char *folder = e2e_folder(name), *root = test_owned(text_join_path(".", ".")),
         *bin = test_owned(text_join_path(".", e2e_bin()));
    autofree float *x = memory_new(N, sizeof *x), *y = memory_new(N, sizeof *y), *z = memory_new(N, sizeof *z);
    for (int i = 0; i < N; i++) {
        x[i] = (float)sin(i);
        y[i] = (float)cos(i);
        z[i] = 2.5f * x[i] + y[i];
    }
    write_npy(folder, "x.npy", x, N);
    write_npy(folder, "y.npy", y, N);
    write_npy(folder, "z.npy", z, N);
    autofree char *how =
        strcmp(reference, "library") == 0
            ? text_format("{ library = \"%s/reference_library.so\"; function = \"axpy_reference\"; }", bin)
        : strcmp(reference, "wrong library") == 0
            ? text_format("{ library = \"%s/reference_library.so\"; function = \"axpy_wrong_reference\"; }", bin)
            : text_copy(reference);
    char *job = test_text(
        "name = \"r\";\nkernel = { template = \"%s/templates/axpy.cu\"; entry = \"axpy\"; };\n"
        "parameters = ( { name = \"VECTOR\"; values = [1, 2, 4]; } );\nproblems = ( { N = %d; } );\n"
        "launch = { grid = [512]; block = [128]; };\n"
        "arguments = ( { scalar = \"N\"; type = \"i64\"; }, { scalar = \"a\"; type = \"f32\"; value = 2.5; },\n"
        "  { buffer = \"x\"; type = \"f32\"; shape = [\"N\"]; fill = \"x.npy\"; },\n"
        "  { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"inout\"; fill = \"y.npy\"; } );\n"
        "reference = %s;\nverification = { relative = 1e-6; absolute = 1e-6; };\nstrategy = \"exhaustive\";\n",
        root, N, how);
    e2e_write(folder, "job.cfg", job);
    struct e2e_result r = e2e_run(folder, "$BIN/sweetspot tune $DIR/job.cfg --store $DIR/r.db -q --no-counters");
    if (r.status != expected_status) fail_msg("%s: status %d: %s", name, r.status, r.err);
    if (expected_status) assert_contains(r.err, "wrong 3");
}

GPU_TEST(a_function_in_a_shared_library_is_a_reference)
{
    run_reference("library", "library", 0);
}

GPU_TEST(a_reference_that_expects_something_else_finds_every_candidate_wrong)
{
    run_reference("wrong", "wrong library", EXIT_NOTHING);
}

GPU_TEST(npy_files_are_a_reference)
{
    run_reference("npy", "{ files = { y = \"z.npy\"; }; }", 0);
}

GPU_TEST(a_naive_kernel_is_a_reference)
{
    run_reference("kernel", "{ kernel = \"axpy_naive\"; launch = { grid = [\"ceil_div(N, 256)\"]; block = [256]; }; }",
                  0);
}

// A user's TMA kernel copies tiles that the tensor map describes; elements outside are read as zeros. It is timed in a
// graph over copies of the memory, so moved maps are used too. In the second job the distance between rows is not a
// multiple of 16 bytes, so every candidate is pruned.
GPU_TEST(a_kernel_may_take_a_tensor_map)
{
    static const char template[] =
        "#ifndef HEIGHT\n#define HEIGHT 8\n#endif\n"
        "struct alignas(64) map { unsigned long long opaque[16]; };\n"
        "extern \"C\" __global__ void copy(const __grid_constant__ map from, float *to, int rows, int cols)\n{\n"
        "    __shared__ alignas(128) float tile[HEIGHT * 32];\n    __shared__ alignas(8) unsigned long long barrier;\n"
        "    unsigned b = (unsigned)__cvta_generic_to_shared(&barrier), t = (unsigned)__cvta_generic_to_shared(tile);\n"
        "    int x = blockIdx.x * 32, y = blockIdx.y * HEIGHT;\n"
        "    if (threadIdx.x == 0) {\n"
        "        asm volatile(\"mbarrier.init.shared::cta.b64 [%0], 1;\\nfence.proxy.async.shared::cta;\" :: \"r\"(b) "
        ": \"memory\");\n"
        "        asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\" :: \"r\"(b), \"r\"(HEIGHT * "
        "128) : \"memory\");\n"
        "        asm volatile(\"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%2, %3}], [%4];\"\n"
        "                     :: \"r\"(t), \"l\"(&from), \"r\"(x), \"r\"(y), \"r\"(b) : \"memory\");\n    }\n"
        "    __syncthreads();\n"
        "    asm volatile(\"{\\n.reg .pred p;\\nW:\\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\\n@!p bra "
        "W;\\n}\" :: \"r\"(b) : \"memory\");\n"
        "    for (int i = threadIdx.x; i < HEIGHT * 32; i += 128)\n"
        "        if (y + i / 32 < rows && x + i % 32 < cols) to[(long long)(y + i / 32) * cols + x + i % 32] = "
        "tile[i];\n}\n"
        "extern \"C\" __global__ void naive(const float *from, float *to, int rows, int cols)\n{\n"
        "    for (long long i = threadIdx.x; i < (long long)rows * cols; i += blockDim.x) to[i] = from[i];\n}\n";
    static const struct {
        int cols, status;
        const char *expected;
    } cases[] = {{516, 0, ""}, {517, EXIT_NOTHING, "pruned 3"}};
    char *folder = e2e_folder("tensor_map");
    e2e_write(folder, "copy.cu", template);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *job = test_text("name = \"m%zu\";\nkernel = { template = \"copy.cu\"; entry = \"copy\"; };\nparameters "
                              "= ( { name = \"HEIGHT\"; values = [8, 16, 64]; } );\n"
                              "problems = ( { R = 300; C = %d; } );\nlaunch = { grid = [\"ceil_div(C, 32)\", "
                              "\"ceil_div(R, HEIGHT)\"]; block = [128]; };\n"
                              "arguments = ( { buffer = \"x\"; type = \"f32\"; shape = [\"R\", \"C\"]; tma = { box = "
                              "[\"HEIGHT\", \"32\"]; }; },\n"
                              "  { buffer = \"y\"; type = \"f32\"; shape = [\"R\", \"C\"]; direction = \"out\"; },\n"
                              "  { scalar = \"rows\"; type = \"i32\"; value = \"R\"; }, { scalar = \"cols\"; type = "
                              "\"i32\"; value = \"C\"; } );\n"
                              "reference = { kernel = \"naive\"; launch = { grid = [1]; block = [256]; };\n"
                              "  arguments = ( { buffer = \"x\"; }, { buffer = \"y\"; }, { scalar = \"rows\"; type = "
                              "\"i32\"; value = \"R\"; },\n"
                              "    { scalar = \"cols\"; type = \"i32\"; value = \"C\"; } ); };\nstrategy "
                              "= \"exhaustive\";\n",
                              i, cases[i].cols);
        e2e_write(folder, "job.cfg", job);
        struct e2e_result r =
            e2e_run(folder, "$BIN/sweetspot tune $DIR/job.cfg --store $DIR/m%zu.db -q --no-counters", i);
        if (r.status != cases[i].status) fail_msg("%d columns: status %d: %s", cases[i].cols, r.status, r.err);
        assert_contains(r.err, cases[i].expected);
    }
}

GPU_TEST(the_cpu_and_cublas_agree_on_what_is_right)
{
    char *folder = e2e_folder("cpu");
    e2e_pass(folder, "sed 's/M = 2048; N = 2048; K = 2048/M = 300; N = 200; K = 100/; s/operation = \"gemm\"/operation "
                     "= \"gemm\"; by = \"cpu\"/; s|\\.\\./templates|'$PWD'/templates|' configs/sgemm_2048.cfg "
                     ">$DIR/job.cfg && $BIN/sweetspot tune $DIR/job.cfg --store $DIR/c.db -q --no-counters -n 8");
}

// Drives the worker directly, with support kernels for f32 only.
GPU_TEST(a_worker_that_was_given_too_few_kernels_says_which_are_missing)
{
    static const struct {
        const char *type, *expected;
    } cases[] = {
        {"bf16", "no support kernel for elements of type bf16"},
        {"f32", "cannot read the ceilings' kernels ''"},
    };
    char *folder = e2e_folder("own_kernels");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autofree char *job =
            text_format("{\"id\":2,\"op\":\"job\",\"support\":\"CUBIN\",\"problems\":[{\"name\":\"p\",\"tune\":true,"
                        "\"weight\":1,\"roles\":{},\"buffers\":[{\"name\":\"x\",\"type\":\"%s\",\"rows\":1,\"cols\":64,"
                        "\"ld\":64,\"direction\":\"in\",\"fill\":{\"kind\":\"zero\"}}]}],\"objective\":\"geomean\","
                        "\"reference\":{\"kind\":\"none\"},\"counters\":null,\"baselines\":[]}\n",
                        cases[i].type);
        e2e_write(folder, "job", job);
        struct e2e_result r = e2e_run(
            folder,
            "gpu() { $BIN/sweetspot-gpu --device 0; }\n"
            "arch=$(echo '{\"id\":1,\"op\":\"hello\",\"counters\":false}' | gpu | sed 's/.*\"arch\": "
            "*\"\\([^\"]*\\)\".*/\\1/')\n"
            "cubin=$(echo "
            "'{\"id\":1,\"op\":\"compile\",\"arch\":\"'$arch'\",\"source\":\"kernels/support.cu\",\"entries\":[],"
            "\"defines\":{\"SUPPORT_F32\":\"1\"},\"cache\":\"%s/cache\"}' | $BIN/sweetspot-compile |\n"
            "sed 's/.*\"cubin\": *\"\\([^\"]*\\)\".*/\\1/')\n"
            "sed \"s|CUBIN|$cubin|\" '%s/job' | gpu",
            folder, folder);
        assert_contains(r.out, "\"error\"", cases[i].expected);
    }
}

GPU_TEST(killed_and_resumed_on_the_gpu_nothing_is_lost)
{
    char *folder = e2e_folder("killed"), *path = test_text("%s/k.db", folder);
    struct e2e_result r = e2e_pass(
        folder,
        "$BIN/sweetspot tune configs/sgemm_2048.cfg --store %s -q --no-final & pid=$!; for i in $(seq 300); do "
        "n=$($BIN/sweetspot status configs/sgemm_2048.cfg --store %s 2>/dev/null | sed -n "
        "'s/^trials *\\([0-9]*\\) .*/\\1/p'); test ${n:-0} -gt 20 && break; sleep 0.1; done\n"
        "kill -9 $pid; wait $pid; sleep 0.5\n"
        "$BIN/sweetspot status configs/sgemm_2048.cfg --store %s --format json >$DIR/before\n"
        "$BIN/sweetspot tune configs/sgemm_2048.cfg --store %s -q --no-final --time 20s",
        path, path, path, path);
    struct error err;
    char *before = test_text("%s/before", folder), *text = test_owned(text_read_file(before, NULL));
    json_t *status = test_json(json_parse(text, &err));
    if (!status) fail_msg("%s; %s", err.message, r.err);
    struct store *store = opened_store(path);
    int64_t counts[STATUS_COUNT], all = 0;
    assert_int_equal(store_counts(store, counts, &err), 0);
    for (int i = 0; i < STATUS_COUNT; i++) all += counts[i];
    assert_true(all > 20);
    int64_t uncounted;
    free(store_uncounted(store, &uncounted, &err));
    assert_int_equal(uncounted, 0); // the resumed run measured the counters that the killed run had not
    store_close(store);
}

// One of two nodes gets the sources. The cubins that it compiles go to the other node, which does not compile.
GPU_TEST(nodes_that_share_no_files_do_a_whole_search)
{
    char *folder = e2e_folder("private");
    e2e_write(
        folder, "nodes.cfg",
        "nodes = (\n"
        "  { name = \"gpu\"; gpus = 1; cores = 0; private = true; command = \"env XDG_CACHE_HOME=$at/1\"; },\n"
        "  { name = \"cores\"; gpus = 0; cores = 4; private = true; command = \"env XDG_CACHE_HOME=$at/2\"; } );\n");
    struct e2e_result r = e2e_pass(
        folder, "export at=$PWD/$DIR; $BIN/sweetspot tune configs/sgemm_2048.cfg --store $at/p.db --cache $at/cache -q "
                "-n 40 --pool $at/nodes.cfg && echo cubins: $(find $at/1 -name '*.cubin' | wc -l)");
    assert_contains(r.out, "winner: trial");
    assert_true(atoi(strstr(r.out, "cubins: ") + 8) > 20);
    int64_t counts[STATUS_COUNT];
    struct error err;
    struct store *store = opened_store("%s/p.db", folder);
    assert_int_equal(store_counts(store, counts, &err), 0);
    assert_true(counts[STATUS_OK] + counts[STATUS_SLOW] > 20);
    store_close(store);
}

static const struct {
    const char *key, *metric;
    double tolerance, floor; // relative; and an absolute difference that is ignored
} checked[] = {
    {"bank_conflicts_load", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 0.02, 5000},
    {"bank_conflicts_store", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 0.02,
     5000}, // differs by 2 to 4% from launch to launch
    {"icache_requests", "sm__icc_requests.sum", 0.02, 20000},
    {"instructions", "smsp__inst_executed.sum", 0.02, 0},
};

static double counter(struct store *store, const char *key, char config[1024])
{
    struct trial t;
    struct error err;
    int64_t id = 1;
    while (store_get(store, id, &t, &err) && id < 100) id++;
    assert_true(id < 100);
    snprintf(config, 1024, "%s", t.config);
    for (size_t i = 0; i < t.counter_count; i++)
        if (!strcmp(t.counters[i].key, key) && isfinite(t.counters[i].value)) return t.counters[i].value;
    return NAN;
}

// Compares one configuration: a job with single values is tuned with our counters, and then again with the GPU worker
// under ncu. ncu writes its output after the worker has ended. It runs in its own session and without the mark of the
// run's processes, so that the run does not kill it earlier.
static int compare_gemm(int tile_col, int block_k)
{
    char *folder = e2e_folder("ncu"), config[1024];
    struct e2e_result r =
        e2e_run(folder,
                "{ sed -e '/^parameters = (/,/^);/d' -e \"s|\\.\\./templates|$PWD/templates|\" "
                "configs/sgemm_2048.cfg; cat <<'EOF'\n"
                "parameters = ( { name = \"BLOCK_M\"; values = [128]; }, { name = \"BLOCK_N\"; "
                "values = [128]; }, { name = \"BLOCK_K\"; values = [%d]; },\n"
                "  { name = \"WARP_M\"; values = [32]; }, { name = \"LANE_PAIRS\"; values = [0]; }, "
                "{ name = \"TILE_COL_SIZE\"; values = [%d]; },\n"
                "  { name = \"STAGES\"; values = [2]; }, { name = \"A_ASYNC\"; values = [0]; }, { "
                "name = \"UNROLL_K\"; unroll = [1]; },\n"
                "  { name = \"DOUBLE_BUFFER\"; values = [1]; }, { name = \"COLUMN_WISE\"; values = "
                "[1]; }, { name = \"MIN_BLOCKS\"; values = [2]; } );\nEOF\n} >$DIR/job.cfg\n"
                "echo 'measure = { timeout = \"300s\"; };' >>$DIR/job.cfg\n"
                "$BIN/sweetspot tune $DIR/job.cfg --store $DIR/n.db -q --no-final -n 1 || exit 7\n"
                "export CSV=$PWD/$DIR/ncu.csv REAL=$PWD/$BIN\ncase $BIN in /*) REAL=$BIN;; esac\n"
                "cat >$DIR/worker <<'EOF'\n#!/bin/sh\n"
                "setsid env -u _SWEETSPOT_CHILD ncu --clock-control none --cache-control none --csv --log-file $CSV -k "
                "regex:gemm_simt --launch-skip 4 --launch-count 5 --metrics "
                "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum,l1tex__data_bank_conflicts_"
                "pipe_lsu_mem_shared_op_st.sum,sm__icc_requests.sum,dram__bytes.sum,smsp__inst_"
                "executed.sum $REAL/sweetspot-gpu \"$@\"\nEOF\nchmod +x $DIR/worker\n"
                "SWEETSPOT_GPU_WORKER=$PWD/$DIR/worker $BIN/sweetspot tune $DIR/job.cfg --store "
                "$DIR/m.db -q --no-final --no-counters -n 1\n"
                "for i in $(seq 150); do grep -q sm__icc $CSV && break; sleep 0.2; done; cat $CSV",
                block_k, tile_col);
    if (!strstr(r.out, "sm__icc_requests.sum"))
        fail_msg("no answer from ncu: status %d\n%.2000s\n%.2000s", r.status, r.out, r.err);
    struct store *store = opened_store("%s/n.db", folder);
    int bad = 0;
    for (size_t i = 0; i < sizeof checked / sizeof *checked; i++) {
        double ours = counter(store, checked[i].key, config), theirs = ncu_value(r.out, checked[i].metric);
        double difference = fabs(ours - theirs), relative = theirs > 0 ? difference / theirs : 0;
        bool good = difference <= checked[i].floor || relative <= checked[i].tolerance;
        print_message("TILE_COL_SIZE %d BLOCK_K %2d  %-22s ours %15.0f  ncu %15.0f  %6.2f%%%s\n", tile_col, block_k,
                      checked[i].key, ours, theirs, 100 * relative, good ? "" : "  BAD");
        bad += !good;
    }
    double conflicts = counter(store, "bank_conflicts_load", config);
    bad += tile_col == 8
               ? !(conflicts > 3e7)
               : !(conflicts < 3e4); // two-way conflicts of every load, or none; the rest are between loads and copies
    store_close(store);
    return bad;
}

// Memory traffic of a kernel that streams 4 GiB, so that the earlier contents of the caches are negligible.
static int compare_sum(void)
{
    char *folder = e2e_folder("ncu_sum"), config[1024];
    struct e2e_result r = e2e_run(
        folder,
        "{ sed -e '/^parameters = (/,/^);/d' -e \"s|\\.\\./templates|$PWD/templates|; s|cub.cu|$PWD/configs/&|\" "
        "configs/sum.cfg; cat <<'EOF'\n"
        "parameters = ( { name = \"BLOCK_SIZE\"; values = [512]; }, { name = \"ITEMS\"; values = [8]; }, { name = "
        "\"VECTOR\"; values = [4]; }, { name = \"UNROLL\"; unroll = [1]; },\n"
        "  { name = \"BLOCKS_PER_SM\"; values = [0]; }, { name = \"REDUCTION\"; values = [\"shuffle\"]; }, { name = "
        "\"FINISH\"; values = [\"last_block\"]; } );\nEOF\n} >$DIR/job.cfg\n"
        "sed -i 's/measure = {/measure = { timeout = \"300s\";/' $DIR/job.cfg\n"
        "$BIN/sweetspot tune $DIR/job.cfg --store $DIR/n.db -q --no-final -n 1 || exit 7\n"
        "export CSV=$PWD/$DIR/ncu.csv REAL=$PWD/$BIN\ncase $BIN in /*) REAL=$BIN;; esac\n"
        "cat >$DIR/worker <<'EOF'\n#!/bin/sh\n"
        "exec ncu --clock-control none --cache-control none --csv --log-file $CSV -k regex:reduce_sum --launch-skip 8 "
        "--launch-count 5 --metrics dram__bytes.sum $REAL/sweetspot-gpu \"$@\"\n"
        "EOF\nchmod +x $DIR/worker\n"
        "SWEETSPOT_GPU_WORKER=$PWD/$DIR/worker $BIN/sweetspot tune $DIR/job.cfg --store $DIR/m.db -q --no-final "
        "--no-counters -n 1; sleep 2; cat $CSV");
    if (!strstr(r.out, "dram__bytes.sum"))
        fail_msg("no answer from ncu: status %d\n%.2000s\n%.2000s", r.status, r.out, r.err);
    struct store *store = opened_store("%s/n.db", folder);
    double ours = counter(store, "dram_bytes", config), theirs = ncu_value(r.out, "dram__bytes.sum"),
           relative = fabs(ours - theirs) / theirs;
    print_message("sum of 4 GiB                  dram_bytes             ours %15.0f  ncu %15.0f  %6.2f%%\n", ours,
                  theirs, 100 * relative);
    store_close(store);
    return !(relative <= 0.05);
}

GPU_TEST(counters_agree_with_ncu_and_show_the_conflicts_of_tile_col_size_8)
{
    if (system("command -v ncu >/dev/null 2>&1")) skip();
    int bad = compare_gemm(8, 8) + compare_gemm(4, 8) + compare_gemm(4, 16) + compare_sum();
    assert_int_equal(bad, 0);
}

TEST_MAIN(NULL, NULL)
