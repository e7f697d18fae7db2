// Headers with the measured binary: the final keeps it and the header ships it byte for byte. Launch functions accept
// the verified problems and refuse others. Launches go to a fake driver (tests/launch), so no GPU is needed. The same
// program is compiled as C99 and C++, for the driver API and the runtime API.
#include "tests/finished_header.h"
#include "tests/scripted.h"
#include "tests/testing.h"

static struct finished job;

// Three stages with arguments of every type, a tensor map, a library call, a cluster, and much shared memory.
static const char stages_text[] =
    "stages = (\n"
    "  { name = \"mini\"; entry = \"mini<float, BLOCK_M>\";\n"
    "    launch = { grid = [ \"min(TILES, device.sm_count * 8)\", \"ceil_div(N, 2)\" ]; block = [ \"BLOCK_M\" ];\n"
    "               cluster = [ 2 ]; shared = \"BYTES + 100000\"; cooperative = true; };\n"
    "    arguments = (\n"
    "      { buffer = \"x\"; type = \"f32\"; shape = [\"M\", \"N\"]; tma = { box = [\"BLOCK_M / 2\", \"32\"]; "
    "swizzle = 128; }; },\n"
    "      { buffer = \"y\"; type = \"f32\"; shape = [\"M\"]; direction = \"out\"; },\n"
    "      { scalar = \"tiny\"; type = \"i8\"; value = -3; }, { scalar = \"some\"; type = \"i32\"; value = \"M * "
    "BLOCK_M\"; },\n"
    "      { scalar = \"many\"; type = \"u32\"; value = 3000000000L; },\n"
    "      { scalar = \"most\"; type = \"i64\"; value = \"M * N * 4096\"; },\n"
    "      { scalar = \"alpha\"; type = \"f32\"; value = 1.5; }, { scalar = \"beta\"; type = \"f64\"; value = 0.1; },\n"
    "      { scalar = \"half\"; type = \"f16\"; value = 1.5; }, { scalar = \"brain\"; type = \"bf16\"; value = 1.5; "
    "},\n"
    "      { buffer = \"counts\"; type = \"u32\"; shape = [64]; direction = \"scratch\"; fill = \"zero\"; } ); },\n"
    "  { name = \"multiply\"; operation = \"gemm\"; by = \"cublas\"; A = \"x\"; B = \"x\"; C = \"y\"; },\n"
    "  { name = \"last\"; entry = \"second\"; launch = { grid = [ \"ceil_div(M, 64)\" ]; block = [ 32 ]; overlap = 1; "
    "};\n"
    "    arguments = ( { buffer = \"y\"; }, { scalar = \"n\"; type = \"i32\"; value = \"N\"; },\n"
    "                  { buffer = \"z\"; type = \"bf16\"; shape = [8]; direction = \"in\"; },\n"
    "                  { scalar = \"params\"; members = ( { scalar = \"small\"; type = \"i8\"; value = -2; },\n"
    "                      { scalar = \"scale\"; type = \"f32\"; value = 0.5; shape = [2]; },\n"
    "                      { scalar = \"many\"; type = \"i64\"; value = \"M * N\"; },\n"
    "                      { scalar = \"at\"; type = \"short2\"; value = ( 3, \"BLOCK_M\" ); } ); },\n"
    "                  { scalar = \"v\"; type = \"float4\"; value = ( 1.5, 2.5, 3.5, \"N\" ); } ); }\n"
    ");\n";

enum { CUBIN_SIZE = 5000 };
static unsigned char cubin[CUBIN_SIZE];

// Not a real cubin: only its first bytes, followed by bytes of every value.
static void make_cubin(unsigned seed)
{
    memcpy(cubin, "\177ELF", 4);
    for (unsigned i = 4; i < CUBIN_SIZE; i++) cubin[i] = (unsigned char)(i * 2654435761u * seed >> 13);
}

static void keep_binary(const char *symbols)
{
    finished_binary(&job, cubin, sizeof cubin, symbols);
}

static const char symbols_text[] = "{\"mini<float, BLOCK_M>\":\"_Z4miniIfLi64EEvv\",\"second\":\"second\"}";

static void setup(void)
{
    finished_make(&job);
    make_cubin(1);
}

static void teardown(void)
{
    finished_remove(&job);
}

// The job with the stages above instead of its only launch.
static void write_stages_job(void)
{
    autofree char *text =
        finished_stages(stages_text, "kernel = \"mini_naive\"; launch = { grid = [1]; block = [1]; }; "
                                     "arguments = ( { buffer = \"y\"; } );");
    finished_write(job.job, text);
}

static void tune_and_embed(void)
{
    write_stages_job();
    finished_decided(&job);
    keep_binary(symbols_text);
    finished_embed(&job);
}

static const char *const compilers[] = {"gcc -std=c99" STRICT, "gcc -std=c17 -O2" STRICT,
                                        "g++ -std=c++11 -x c++" STRICT, "clang -std=c99" STRICT};

TEST_WITH(a_launch_passes_what_was_verified_and_refuses_the_rest, setup, teardown)
{
    tune_and_embed();
    char *source = test_text("tests/launch/program.c %s/include/mini_best_binary.c", job.folder);
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
        for (int runtime = 0; runtime < 2; runtime++) {
            char *compiler = test_text("%s%s", compilers[i], runtime ? " -DRUNTIME" : "");
            int status = finished_program(&job, compiler, source, "", "");
            if (status > 0) fail_msg("%s: the program's status is %d", compiler, status);
        }
}

TEST_WITH(a_header_of_an_older_version_launches_the_same_beside_it, setup, teardown)
{
    tune_and_embed();
    char *command = test_text("gzip -dc tests/headers/older_best.h.gz >%s/older_best.h", job.folder),
         *source = test_text("tests/launch/older_and_new.c %s/include/mini_best_binary.c", job.folder);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        int status = finished_program(&job, compilers[i], source, "", "");
        if (status > 0) fail_msg("%s: the program's status is %d", compilers[i], status);
    }
}

// Links with the real libraries: every function that is called exists, and without a GPU the status reports a failure.
TEST_WITH(it_links_with_the_real_libraries, setup, teardown)
{
    static const char program[] = "#include <stdlib.h>\n#include \"include/mini_best.h\"\n"
                                  "static int call(void *user, const char *stage, mini_gemm_stream s) { (void)user; "
                                  "(void)stage; (void)s; return 0; }\n"
                                  "int main(int argc, char **argv)\n{\n"
                                  "    static struct mini_gemm_kernels k;\n    (void)argv;\n"
                                  "    if (argc > 1) return mini_gemm_launch(&k, 0, 1, 1, 0, 0, 0, 0, call, 0);\n"
                                  "    return mini_gemm_load(&k) == MINI_GEMM_OK;\n}\n";
    tune_and_embed();
    char *c = test_text("%s/main.c", job.folder), *cu = test_text("%s/main.cu", job.folder);
    finished_write(c, program);
    finished_write(cu, program);
    char *source = test_text("%s %s/include/mini_best_binary.c", c, job.folder);
    char *cuda = test_text("%s %s/include/mini_best_binary.c", cu, job.folder);
    // The driver's stub cannot be run where there is no driver.
    int status = finished_program(&job, "gcc -std=c99 -DMINI_GEMM_DRIVER_API" STRICT, source,
                                  "-L" TEST_CUDA_HOME "/lib64/stubs -L" TEST_CUDA_HOME "/lib/stubs -lcuda", ": ");
    assert_int_equal(status, 0);
    // Runs on a GPU other than the job's, or without a GPU.
    status =
        finished_program(&job, "gcc -std=c99 -DMINI_GEMM_RUNTIME_API" STRICT, source,
                         "-L" TEST_CUDA_HOME "/lib64 -L" TEST_CUDA_HOME "/lib -lcudart_static -ldl -lrt -lpthread", "");
    assert_int_equal(status, 0);
    static const char nvcc[] =
        "nvcc -std=c++17 -arch=sm_90 -Werror all-warnings -Xcompiler -Wall -Xcompiler -Wextra -DMINI_GEMM_RUNTIME_API";
    status = finished_program(&job, nvcc, cuda, "", "");
    assert_true(status == 0 || status == -1);
}

// A job with module variables, a texture and a surface. Only the buffer z is passed to a launch by its address.
static const char symbol_bindings_text[] =
    "constants = ( { name = \"coef\"; type = \"f32\"; shape = [\"M\"]; }, { name = \"ns::scale\"; type = \"f64\"; "
    "direction = \"out\"; }, { name = \"none\"; type = \"i32\"; value = 3; optional = true; } );\n"
    "arguments = ( { buffer = \"x\"; type = \"f32\"; shape = [\"M\", \"N\"]; texture = { filter = \"linear\"; address "
    "= "
    "\"border\"; }; }, { buffer = \"y\"; type = \"f32\"; shape = [\"M\"]; direction = \"out\"; surface = { }; }, "
    "{ buffer = \"z\"; type = \"i32\"; shape = [8]; } );\n";

static const char symbol_bindings_program[] =
    "#define MINI_GEMM_DRIVER_API\n#include \"fake_driver.h\"\n#include \"include/mini_best.h\"\n"
    "static const int z[8] = {0};\n"
    "int main(void)\n{\n    static struct mini_gemm_kernels k;\n    unsigned long long address, bytes;\n"
    "    unsigned long long at = (unsigned long long)(size_t)z;\n"
    "    fake_sizes[0][0] = fake_sizes[0][1] = fake_sizes[0][2] = 8;\n"
    "    if (mini_gemm_load(&k)) return 1;\n"
    "    if (mini_gemm_constant(&k, 0, \"ns::scale\", &address, &bytes)) return 2;\n"
    "    if (strcmp(fake_global, \"_ZN2ns5scaleE\") || address != 0x1000 + 13 || bytes != 52) return 3;\n"
    "    if (mini_gemm_constant(&k, 0, \"coef\", &address, &bytes) || strcmp(fake_global, \"coef\")) return 4;\n"
    "    if (mini_gemm_constant(&k, 0, \"none\", &address, &bytes) != MINI_GEMM_CUDA_ERROR + 500) return 5;\n"
    "    if (mini_gemm_constant(&k, 1, \"coef\", &address, &bytes) != MINI_GEMM_CUDA_ERROR + 500) return 6;\n"
    "    if (mini_gemm_launch(&k, 0, 4096, 4096, at, 0, 8) != MINI_GEMM_NO_POINTER || fake_launches) return 7;\n"
    "    if (mini_gemm_launch(&k, 0, 4096, 4096, at, 7, 8)) return 8;\n"
    "    if (fake_launch[0].arguments[0] != 7 || fake_launch[0].arguments[1] != 8) return 9;\n"
    "    if (fake_launch[0].arguments[2] != at) return 10;\n"
    "    fake_device = 1;\n"
    "    return mini_gemm_constant(&k, 0, \"coef\", &address, &bytes) == MINI_GEMM_OTHER_DEVICE ? 0 : 11;\n}\n";

TEST_WITH(constants_have_addresses_and_textures_and_surfaces_are_objects, setup, teardown)
{
    char *text = test_owned(text_copy(finished_job_text)), *arguments = strstr(text, "arguments = "),
         *rest = strstr(arguments, "reference = ");
    finished_write(job.job, test_text("%.*s%s%s", (int)(arguments - text), text, symbol_bindings_text, rest));
    finished_decided(&job);
    keep_binary("{\"mini\":\"mini\"}");
    assert_contains(finished_says(&job, 3, "header JOB --store STORE -o HEADER --embed").err,
                    "the stored binary has no variable 'coef'");
    memcpy(cubin + 100, "\0coef\0_ZN2ns5scaleE", 20);
    keep_binary("{\"mini\":\"mini\"}");
    finished_embed(&job);
    char *c = test_text("%s/main.c", job.folder),
         *source = test_text("%s %s/include/mini_best_binary.c", c, job.folder), *header;
    finished_write(c, symbol_bindings_program);
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        int status = finished_program(&job, compilers[i], source, "", "");
        if (status > 0) fail_msg("%s: the program's status is %d", compilers[i], status);
    }
    // The real runtime has the function as well.
    finished_write(c, "#define MINI_GEMM_RUNTIME_API\n#include \"include/mini_best.h\"\n"
                      "int main(void) { static struct mini_gemm_kernels k; unsigned long long a, b; "
                      "return mini_gemm_load(&k) == mini_gemm_constant(&k, 0, \"coef\", &a, &b); }\n");
    assert_int_equal(
        finished_program(&job, "gcc -std=c99" STRICT, source,
                         "-L" TEST_CUDA_HOME "/lib64 -L" TEST_CUDA_HOME "/lib -lcudart_static -ldl -lrt -lpthread", ""),
        0);
    header = test_owned(text_read_file(job.header, NULL));
    assert_contains(header, "         f32  coef, in, 4 * (1) * (size_M) bytes\n",
                    "f64  ns::scale, out, 8 * (1) * (1) bytes, verified without guards around it\n",
                    ("texture x: f32, size_N x size_M, memory array, 1 channel, filter linear, address border, "
                     "border, texel coordinates, read as element\n"),
                    "surface y: f32, size_M, memory array, 1 channel, verified without guards around it\n",
                    "mini_gemm_launch(&kernels, stream, M, N, z, texture_x, surface_y)");
    make_cubin(1);
}

// The stages of a job: a stage that is not timed, and a kernel with an address in a struct.
static const char prepared_text[] =
    "stages = (\n"
    "  { name = \"pack\"; entry = \"mini<float, BLOCK_M>\"; timed = false;\n"
    "    launch = { grid = [ \"M\", \"N / (N - 1)\" ]; block = [ \"M == 3000 ? M : 32\" ]; shared = \"N == 3 ? -M : "
    "0\"; "
    "};\n"
    "    arguments = ( { buffer = \"x\"; type = \"f32\"; shape = [\"M\", \"N\"]; },\n"
    "                  { buffer = \"t\"; type = \"f32\"; shape = [\"M\"]; direction = \"scratch\"; } ); },\n"
    "  { name = \"last\"; entry = \"second\"; launch = { grid = [ \"N\" ]; block = [ 32 ]; };\n"
    "    arguments = ( { buffer = \"y\"; type = \"f32\"; shape = [\"M\"]; direction = \"out\"; },\n"
    "                  { scalar = \"p\"; members = ( { name = \"n\"; type = \"i32\"; value = \"N\"; },\n"
    "                      { name = \"row\"; type = \"u64\"; value = \"&x[2*N]\"; },\n"
    "                      { name = \"t\"; type = \"u64\"; value = \"&t\"; } ); },\n"
    "                  { buffer = \"all\"; type = \"u64\"; shape = [\"M + 1\"]; fill = \"&x[3]\"; } ); }\n"
    ");\n";
static const char prepared_program[] =
    "#define MINI_GEMM_DRIVER_API\n#define MINI_GEMM_ALLOW_UNVERIFIED\n#include \"fake_driver.h\"\n#include "
    "\"include/mini_best.h\"\n"
    "int main(void)\n{\n    static struct mini_gemm_kernels k;\n    unsigned long long at[3];\n"
    "    fake_sizes[0][0] = fake_sizes[0][2] = 8;\n    fake_sizes[0][1] = 24;\n"
    "    if (mini_gemm_load(&k)) return 1;\n"
    "    if (mini_gemm_launch(&k, 0, 1000, 77, 0x1000, 0x2000, 0x3000, 0x4000) || fake_launches != 1) return 2;\n"
    "    if (strcmp(fake_launch[0].symbol, \"second\") || fake_launch[0].config.gridDimX != 77) return 3;\n"
    "    memcpy(at, fake_launch[0].bytes[1], sizeof at);\n"
    "    if ((int)at[0] != 77 || at[1] != 0x1000 + 4 * 2 * 77 || at[2] != 0x2000) return 4;\n"
    "    if (fake_launch[0].arguments[2] != 0x4000) return 5;\n"
    "    if (mini_gemm_launch(&k, 0, 1000, 77, 0x1000, 0, 0x3000, 0x4000) != MINI_GEMM_NO_POINTER) return 6;\n"
    "    fake_launches = fake_sizes[0][1] = 0;\n"
    "    if (mini_gemm_launch_untimed(&k, 0, 1000, 77, 0x1000, 0x2000, 0x3000, 0x4000) || fake_launches != 1) return "
    "7;\n"
    "    if (strcmp(fake_launch[0].symbol, \"mini\") || fake_launch[0].config.gridDimX != 1000) return 8;\n"
    "    if (mini_gemm_launch_untimed(&k, 0, 4294967301LL, 77, 0x1000, 0x2000, 0x3000, 0x4000) != MINI_GEMM_SIZES) "
    "return 9;\n"
    "    if (mini_gemm_launch_untimed(&k, 0, 1000, 1, 0x1000, 0x2000, 0x3000, 0x4000) != MINI_GEMM_SIZES) return 10;\n"
    "    if (mini_gemm_launch_untimed(&k, 0, 3000, 77, 0x1000, 0x2000, 0x3000, 0x4000) != MINI_GEMM_SIZES) return 11;\n"
    "    if (mini_gemm_launch_untimed(&k, 0, 1000, 3, 0x1000, 0x2000, 0x3000, 0x4000) != MINI_GEMM_SIZES) return 12;\n"
    "    return fake_launches != 1;\n}\n";

TEST_WITH(stages_that_are_not_timed_have_a_function_and_addresses_follow_the_buffers, setup, teardown)
{
    finished_write(job.job, test_owned(finished_stages(prepared_text, "kernel = \"mini_naive\"; launch = { grid = [1]; "
                                                                      "block = [1]; }; arguments = ( { buffer = \"y\"; "
                                                                      "} );")));
    finished_decided(&job);
    keep_binary("{\"mini<float, BLOCK_M>\":\"mini\",\"second\":\"second\"}");
    finished_embed(&job);
    char *c = test_text("%s/main.c", job.folder),
         *source = test_text("%s %s/include/mini_best_binary.c", c, job.folder);
    finished_write(c, prepared_program);
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        int status = finished_program(&job, compilers[i], source, "", "");
        if (status > 0) fail_msg("%s: the program's status is %d", compilers[i], status);
    }
    assert_contains(test_owned(text_read_file(job.header, NULL)),
                    "not part of the times: run it before the others, when what it reads has changed",
                    "p.row (u64), at byte 8: bytes into x, whose address is added",
                    "your input: the addresses &x[3]; several addresses of one buffer point to equal pieces of it");
    assert_contains(finished_says(&job, 2, "header JOB --store STORE -o - --python").err,
                    "a Python file cannot run stage 'pack' apart from the launches; use --embed");
}

static char *read_binary_file(void)
{
    char *path = test_text("%s/include/mini_best_binary.c", job.folder), *text = text_read_file(path, NULL);
    return text;
}

TEST_WITH(the_bytes_are_those_of_the_store, setup, teardown)
{
    static const char program[] = "#include <stdio.h>\n#define MINI_GEMM_DRIVER_API\n#include \"fake_driver.h\"\n"
                                  "#include \"include/mini_best.h\"\n"
                                  "int main(void) { int n; const struct mini_gemm_binary *b = mini_gemm_binaries(&n);\n"
                                  "fwrite(b->image, 1, MINI_GEMM_BINARY_BYTES, stdout); return n - 1; }\n";
    tune_and_embed();
    char *c = test_text("%s/main.c", job.folder), *shipped = test_text("%s/shipped", job.folder);
    char *source = test_text("%s %s/include/mini_best_binary.c", c, job.folder), *run = test_text(">%s ", shipped);
    finished_write(c, program);
    assert_int_equal(finished_program(&job, compilers[0], source, "", run), 0);
    size_t size;
    char *bytes = test_owned(text_read_file(shipped, &size));
    assert_int_equal(size, CUBIN_SIZE);
    assert_memory_equal(bytes, cubin, CUBIN_SIZE);
    char *alone = test_text("%s/winner.cubin", job.folder);
    finished_says(&job, 0, "header JOB --store STORE -o %s", alone);
    bytes = test_owned(text_read_file(alone, &size));
    assert_int_equal(size, CUBIN_SIZE);
    assert_memory_equal(bytes, cubin, CUBIN_SIZE);
}

TEST_WITH(what_cannot_be_embedded_is_refused, setup, teardown)
{
    char *alone = test_text("%s/winner.cubin", job.folder);
    write_stages_job();
    finished_decided(&job);
    assert_contains(finished_says(&job, 1, "header JOB --store STORE -o HEADER --embed").err,
                    "the store has no binary of trial 1");
    assert_int_equal(access(job.header, F_OK), -1);
    assert_contains(finished_says(&job, 1, "header JOB --store STORE -o %s", alone).err,
                    "the store has no binary of trial 1");
    assert_int_equal(access(alone, F_OK), -1);
    assert_contains(finished_says(&job, 2, "header JOB --store STORE --embed -o -").err, "two files");
    keep_binary("{\"second\":\"second\"}");
    assert_contains(finished_says(&job, 2, "header JOB --store STORE -o HEADER --embed").err,
                    "no symbol for the entry 'mini<float, BLOCK_M>'");
    // In place of the binary, or of the runtime, there is a file that sweetspot did not write.
    keep_binary(symbols_text);
    static const char *const names[] = {"mini_best_binary.c", "sweetspot_runtime.c"};
    for (size_t i = 0; i < 2; i++) {
        char *taken = test_text("%s/include/%s", job.folder, names[i]);
        finished_write(taken, "int precious;\n");
        assert_contains(finished_says(&job, 3, "header JOB --store STORE -o HEADER --embed").err, names[i],
                        "was not written by sweetspot");
        assert_string_equal(test_file("%s", taken), "int precious;\n");
        assert_int_equal(unlink(taken), 0);
    }
}

// Runs the header command with some options and checks its status and message.
static void expect(int status, const char *message, const char *one, const char *value, const char *other)
{
    struct said said =
        finished_says(&job, status, "header JOB --store STORE %s %s %s", one, value ? value : "", other ? other : "");
    assert_contains(said.err, message);
}

TEST_WITH(a_file_that_cannot_be_written_is_an_error, setup, teardown)
{
    tune_and_embed();
    char *below = test_text("%s/x.h", job.job), *beside = test_text("%s/taken_binary.c", job.folder),
         *header = test_text("%s/taken.h", job.folder), *full = test_text("%s/full.cubin", job.folder);
    assert_int_equal(symlink("/dev/full", full), 0);
    assert_int_equal(mkdir(beside, 0777), 0);
    expect(3, "Not a directory", "-o", below, NULL);
    expect(3, "Not a directory", "-o", below, "--embed");
    expect(3, "Not a directory", "-o", test_text("%s/x.cubin", job.job), NULL);
    expect(3, "No space left on device", "-o", full, NULL);
    expect(3, "taken_binary.c': Is a directory", "-o", header, "--embed"); // without the binary, no header either
    assert_int_equal(access(header, F_OK), -1);
    FILE *pipe = popen(test_text("ls %s | grep -c new-", job.folder), "r");
    assert_int_equal(fgetc(pipe), '0'); // no temporary file was made
    pclose(pipe);
}

TEST_WITH(what_cannot_be_done_at_once_is_refused, setup, teardown)
{
    tune_and_embed();
    char *alone = test_text("%s/winner.cubin", job.folder);
    expect(2, "winner.cubin' is a file for the binary alone: leave out --embed", "-o", alone, "--embed");
    expect(2, "--hash writes no header and cannot be combined with --check", "--check", job.header, "--hash");
    expect(2, "--hash writes no header and cannot be combined with --output", "--output", job.header, "--hash");
    expect(2, "two files, and '/dev/null' is not a regular file", "-o", "/dev/null", "--embed");
    assert_int_equal(access(alone, F_OK), -1);
}

// Whether a device with this name gets the binary of the device `expected`, or no binary if `expected` is "".
#define TAKEN                                                                                                     \
    "#define MINI_GEMM_DRIVER_API\n#include \"fake_driver.h\"\n#include \"include/mini_best.h\"\n"                \
    "static int taken(const char *name, int major, int count, const char *expected)\n{\n"                         \
    "    struct mini_gemm_kernels k;\n    int status;\n"                                                          \
    "    fake_name = name; fake_major = major; fake_multiprocessors = count;\n    status = mini_gemm_load(&k);\n" \
    "    if (!*expected) return status == MINI_GEMM_NO_BINARY && !*mini_gemm_loaded(&k);\n"                       \
    "    return !status && !strcmp(mini_gemm_loaded(&k), expected);\n}\n"

// A header for two devices keeps the binary of each, and a program uses the binary for its device.
TEST_WITH(binaries_of_two_devices_live_in_one_header, setup, teardown)
{
    static const char program[] =
        TAKEN "int main(void)\n{\n"
              "    if (!taken(\"NVIDIA H200\", 9, 132, \"NVIDIA H200\")) return 1;\n"
              "    if (!taken(\"NVIDIA A100\", 8, 132, \"NVIDIA A100\")) return 2;\n"
              "    if (!taken(\"NVIDIA H100\", 9, 132, \"NVIDIA H200\")) return 3;\n"
              "    if (!taken(\"NVIDIA B200\", 10, 148, \"\")) return 4;\n"
              "    return MINI_GEMM_COMPUTE == 90 ? 10 : MINI_GEMM_COMPUTE == 80 ? 20 : 5;\n}\n";
    tune_and_embed();
    make_cubin(77);
    free(job.store);
    job.store = text_format("%s/other.db", job.folder); // of another machine
    finished_trials_on(&job, "NVIDIA A100", "sm_80", 132);
    finished_final(&job);
    keep_binary(symbols_text);
    finished_embed(&job);
    char *text = read_binary_file(), *c = test_text("%s/main.c", job.folder);
    const char *one = strstr(text, "sweetspot-binary ");
    assert_non_null(one);
    assert_non_null(strstr(one + 1, "sweetspot-binary "));
    finished_write(c, program);
    char *source = test_text("%s %s/include/mini_best_binary.c", c, job.folder);
    assert_int_equal(finished_program(&job, compilers[0], source, "", ""), 20);
    char *chosen = test_text("%s -DMINI_GEMM_DEVICE=NVIDIA_H200", compilers[2]);
    assert_int_equal(finished_program(&job, chosen, source, "", ""), 10);
    // Damage to the other device's bytes is detected when the file is written again.
    char *digit = strstr(strstr(one + 1, "sweetspot-binary "), "127,69,");
    assert_non_null(digit);
    memcpy(digit, "126", 3);
    finished_write(test_text("%s/include/mini_best_binary.c", job.folder), text);
    assert_contains(finished_says(&job, 3, "header JOB --store STORE -o HEADER --embed").err,
                    "the file next to the header lacks the binary for NVIDIA H200");
    free(text);
}

// Two stores of one architecture, an H100's and an H200's, give one header. A macro tells the compiler which store's
// section to use. A program loads the binary that is meant for its device's name, or the nearest binary on another
// Hopper. It can ask which binary was loaded.
TEST_WITH(an_h100_and_an_h200_share_a_header, setup, teardown)
{
    static const char program[] = TAKEN
        "int main(void)\n{\n"
        "    if (!taken(\"NVIDIA H200\", 9, 132, \"NVIDIA H200\")) return 1;\n"
        "    if (!taken(\"NVIDIA H100 PCIe\", 9, 114, \"NVIDIA H100 PCIe\")) return 2;\n"
        "    if (!taken(\"NVIDIA H100 80GB HBM3\", 9, 132, \"NVIDIA H200\")) return 3;\n"
        "    if (!taken(\"NVIDIA H100 NVL\", 9, 120, \"NVIDIA H100 PCIe\")) return 4;\n"
        "    if (!taken(\"NVIDIA H20\", 9, 78, \"\")) return 5;\n"
        "    if (!taken(\"NVIDIA B200\", 10, 148, \"\")) return 6;\n"
        "    if (mini_gemm_section_of(\"NVIDIA H200\", 90) == mini_gemm_section_of(\"NVIDIA H100 PCIe\", 90)) return "
        "7;\n"
        "    if (MINI_GEMM_COMPUTE != 90 || strcmp(MINI_GEMM_ARCH, \"sm_90a\")) return 8;\n"
        "    return !strcmp(MINI_GEMM_DEVICE_NAME, \"NVIDIA H200\") ? MINI_GEMM_BLOCK_M : MINI_GEMM_BLOCK_M + 1;\n}\n";
    static const struct {
        const char *device;
        int status; // of the program: the section's BLOCK_M, plus 1 for the H100's
    } cases[] = {{"", 64}, {"-DMINI_GEMM_DEVICE=NVIDIA_H200", 64}, {"-DMINI_GEMM_DEVICE=NVIDIA_H100_PCIE", 65}};
    write_stages_job();
    finished_trials_on(&job, "NVIDIA H100 PCIe", "sm_90a", 114);
    finished_final(&job);
    keep_binary(symbols_text);
    finished_embed(&job);
    make_cubin(77);
    free(job.store);
    job.store = text_format("%s/other.db", job.folder); // of another machine
    finished_trials_on(&job, "NVIDIA H200", "sm_90a", 132);
    finished_final(&job);
    keep_binary(symbols_text);
    finished_embed(&job);
    char *c = test_text("%s/main.c", job.folder),
         *source = test_text("%s %s/include/mini_best_binary.c", c, job.folder);
    finished_write(c, program);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < 3; k += 2) {
            char *compiler = test_text("%s %s", compilers[k], cases[i].device);
            assert_int_equal(finished_program(&job, compiler, source, "", ""), cases[i].status);
        }
    // The reverse: the H100's store is added again and becomes the default.
    free(job.store);
    job.store = text_format("%s/mini.db", job.folder);
    finished_embed(&job);
    assert_int_equal(finished_program(&job, compilers[0], source, "", ""), 65);
}

// In a whole run with the scripted worker, a binary is kept only if the worker reports that it ran.
TEST(the_final_keeps_the_bytes_that_ran)
{
    char *folder = e2e_folder("embed");
    SCRIPTED_JOB(folder,
                 .parameters = "{ name = \"X\"; values = [6, 7]; }, { name = \"MODE\"; values = [\"good\", "
                               "\"final_other_bytes\"]; }",
                 .more = "measure = { timeout = \"60s\"; final = { candidates = 4; rounds = 10; }; };\n"
                         "strategy = \"exhaustive\";");
    e2e_write(folder, "x.cubin", "the bytes that ran");
    e2e_passed(e2e_in(
        folder,
        "export FAKE_CUBIN=x.cubin SWEETSPOT_GPU_WORKER=$BIN/fake_worker "
        "SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker && $BIN/sweetspot tune job.cfg --store job.db -q && rm x.cubin"));
    char *path = test_text("%s/job.db", folder);
    struct store *store;
    struct error err;
    struct environment e;
    struct trial t;
    char hash[HASH_TEXT_SIZE];
    const void *bytes;
    size_t size;
    if (store_open(&store, path, false, &err) || store_last_environment(store, &e, &err)) fail_msg("%s", err.message);
    assert_int_equal(store_find(store, "X=7,MODE=final_other_bytes", &t, &err), 0);
    assert_int_equal(store_trial_blob(store, t.id, BINARY_BLOB, hash, &err), 1);
    for (int x = 6; x < 8; x++) {
        char config[32];
        snprintf(config, sizeof config, "X=%d,MODE=good", x);
        assert_int_equal(store_find(store, config, &t, &err), 0);
        assert_int_equal(store_trial_blob(store, t.id, BINARY_BLOB, hash, &err), 0);
        assert_int_equal(store_get_blob(store, hash, &bytes, &size, &err), 0);
        assert_int_equal(size, strlen("the bytes that ran"));
        assert_memory_equal(bytes, "the bytes that ran", size);
    }
    store_close(store);
}

TEST_MAIN(NULL, NULL)
