// The hash of a source covers everything that reaches the compiler (NVRTC, no GPU): headers, however they are included,
// and files that are not headers. Also figures that a program claims for itself, damaged caches, and lack of memory.
#include "tests/e2e.h"
#include "tests/sanitized.h"
#include "tests/testing.h"

#include "tuner/source/source.h"

// A header in its own folder defines PART, and the program requires the value 1.
#define KERNEL "static_assert(PART == 1, \"another part\"); extern \"C\" __global__ void k(int *x) { *x = PART; }\n"

static const struct form {
    const char *text;      // code of the program before the kernel
    const char *option[2]; // NVRTC's; %s is the folder
    bool beside;           // the header is in the program's folder and not in "in"
} forms[] = {
    {"#include \"in/part.h\"\n", {0}, false},
    {"#include \"part.h\"\n", {0}, true},
    {"#include \"part.h\"\n", {"-I%s/in"}, false},
    {"#include <part.h>\n", {"-I=%s/in"}, false},
    {"#include <part.h>\n", {"-I %s/in"}, false},
    {"#include <part.h>\n", {"-I", "%s/in"}, false},
    {"#include <part.h>\n", {"--include-path=%s/in"}, false},
    {"#include <part.h>\n", {"--include-path", "%s/in"}, false},
    {"/* a\ncomment */ #include \"part.h\"\n", {0}, true},
    {"\t#\tinclude\t\"part.h\" // it\n", {0}, true},
    {"# /* a */ include /* b\n */ \"part.h\"\n", {0}, true},
    {"#inc\\\nlude \"pa\\\r\nrt.h\"\n", {0}, true},
    {"%:include \"part.h\"\n", {0}, true},
    {"int a = 1'000; // don't\n#include \"part.h\"\n", {"-default-device"}, true},
    {"#if __has_include(\"in/part.h\")\n#include \"in/part.h\"\n#endif\n", {0}, false},
    {"#ifdef NEVER\n#include \"none.h\"\n#else\n#include \"in/part.h\"\n#endif\n", {0}, false},
};

enum { FORMS = sizeof forms / sizeof *forms };

// The form's options with the folder inserted, as a NULL-terminated list. The list and its strings are malloc'ed.
static char **form_options(const struct form *f, const char *folder)
{
    char **list = memory_new(3, sizeof *list);
    for (int i = 0; i < 2 && f->option[i]; i++) {
        const char *mark = strstr(f->option[i], "%s");
        list[i] = mark ? text_format("%.*s%s%s", (int)(mark - f->option[i]), f->option[i], folder, mark + 2)
                       : text_copy(f->option[i]);
    }
    return list;
}

static void free_list(char **list)
{
    for (size_t i = 0; list[i]; i++) free(list[i]);
    free(list);
}

static void write_form(const struct form *f, const char *folder, const char *header)
{
    char *text = test_text("%s%s", f->text, KERNEL), *in = test_text("%s/in", folder);
    mkdir(in, 0777);
    e2e_write(folder, "x.cu", text);
    e2e_write(f->beside ? folder : in, "part.h", header);
}

static void hash_form(const struct form *f, const char *folder, char hash[HASH_TEXT_SIZE])
{
    struct error err;
    char *path = text_format("%s/x.cu", folder), **option = form_options(f, folder);
    size_t count = 0;
    while (option[count]) count++;
    const struct source_request request = {.path = path,
                                           .include = &folder,
                                           .include_count = 1,
                                           .option = (const char *const *)option,
                                           .option_count = count};
    if (source_hash(&request, hash, &err)) fail_msg("%s%s", f->text, err.message);
    free_list(option);
    free(path);
}

TEST(every_way_to_include_a_file_makes_it_part_of_the_hash)
{
    for (size_t i = 0; i < FORMS; i++) {
        char *folder = e2e_folder("form"), hash[3][HASH_TEXT_SIZE];
        for (int version = 0; version < 3; version++) {
            write_form(&forms[i], folder, version == 1 ? "#define PART 2\n" : "#define PART 1\n");
            hash_form(&forms[i], folder, hash[version]);
        }
        if (!strcmp(hash[0], hash[1]) || strcmp(hash[0], hash[2]) != 0)
            fail_msg("form %zu: %s, %s, %s", i, hash[0], hash[1], hash[2]);
    }
}

// The hash must not change, so that results in existing stores remain valid.
TEST(the_hash_is_that_of_the_files_in_the_order_of_their_mention)
{
    char *folder = e2e_folder("order"), expected[HASH_TEXT_SIZE], hash[HASH_TEXT_SIZE],
         *path = text_format("%s/x.cu", folder);
    static const char *const files[][2] = {{"x.cu", "#include \"a.h\"\n#include \"b.h\"\n#include <vector>\n"},
                                           {"a.h", "#include \"c.h\"\n"},
                                           {"c.h", "// c\n"},
                                           {"b.h", "#include \"c.h\"\n"}};
    struct hash *h = hash_new();
    struct error err;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t size = strlen(files[i][1]);
        e2e_write(folder, files[i][0], files[i][1]);
        hash_bytes(h, &size, sizeof size);
        hash_bytes(h, files[i][1], size);
    }
    hash_finish(h, expected);
    if (source_hash(&(struct source_request){.path = path}, hash, &err)) fail_msg("%s", err.message);
    assert_string_equal(hash, expected);
    free(path);
}

// In both states, the files' texts and their order are the same.
TEST(the_hash_tells_which_of_two_files_an_include_means)
{
    static const struct {
        const char *text, *state[2];
    } cases[] = {
        {"#include \"a.h\"\n#include \"b.h\"\n#include \"current.h\"\n",
         {"echo 1 >a.h; echo 2 >b.h; ln -sf a.h current.h", "ln -sf b.h current.h"}},
        {"#if __has_include(\"a.h\")\n#elif __has_include(\"b.h\")\n#endif\n", {"touch a.h", "mv a.h b.h"}},
        {"#include \"a.h\"\n#if __has_include(\"b.h\")\n#endif\n", {"touch a.h; ln -s a.h b.h", "rm b.h"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = e2e_folder("targets"), hash[2][HASH_TEXT_SIZE], *path = test_text("%s/x.cu", folder);
        e2e_write(folder, "x.cu", cases[i].text);
        for (int state = 0; state < 2; state++) {
            struct error err;
            assert_int_equal(system(test_text("cd '%s' && { %s; }", folder, cases[i].state[state])), 0);
            if (source_hash(&(struct source_request){.path = path}, hash[state], &err)) fail_msg("%s", err.message);
        }
        if (!strcmp(hash[0], hash[1])) fail_msg("%sthe same hash after %s", cases[i].text, cases[i].state[1]);
    }
}

static json_t *compile_request(const char *folder, char *const *option)
{
    json_t *request = json_pack("{s:i, s:s, s:s, s:o, s:[s], s:[s], s:[], s:{}, s:f}", "id", 1, "op", "compile", "arch",
                                "sm_90a", "source", json_sprintf("%s/x.cu", folder), "include", folder, "entries", "k",
                                "options", "defines", "deadline", 60.0);
    for (size_t i = 0; option && option[i]; i++)
        json_array_append_new(json_object_get(request, "options"), json_string(option[i]));
    return request;
}

// Adds a request to the folder's "requests". Takes ownership of the reference.
static void add_request(const char *folder, json_t *request)
{
    char *path = test_text("%s/requests", folder), *line = test_owned(json_dumps(request, JSON_COMPACT));
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fprintf(file, "%s\n", line);
    fclose(file);
    json_decref(request);
}

// The answers of one worker to these requests, as a list. Removes the requests.
static json_t *answers(const char *folder)
{
    struct e2e_result r = e2e_run(folder, "timeout 100 $BIN/sweetspot-compile <$DIR/requests; rm $DIR/requests");
    json_t *list = json_array();
    struct error err;
    for (char *line = r.out, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        json_t *answer = json_parse(line, &err);
        if (!answer) fail_msg("%s", err.message);
        json_array_append_new(list, answer);
    }
    return test_json(list);
}

static json_t *answer_to(const char *folder, json_t *request)
{
    add_request(folder, request);
    json_t *list = answers(folder), *answer = json_incref(json_array_get(list, 0));
    assert_non_null(answer);
    return test_json(answer);
}

static void expect_answer(const json_t *answer, const char *status, const char *reason, const char *what)
{
    const char *said = json_get_string(answer, "status", ""), *why = json_get_string(answer, "reason", "");
    if (strcmp(said, status) != 0 || !strstr(why, reason)) fail_msg("%s\n%s: %s", what, said, why);
}

TEST(every_way_to_include_a_file_compiles)
{
    char *folder = e2e_folder("compiles");
    for (size_t i = 0; i < FORMS; i++) {
        char *own = test_text("%s/%zu", folder, i), **option;
        mkdir(own, 0777);
        write_form(&forms[i], own, "#pragma once\n#define PART 1\n");
        option = form_options(&forms[i], own);
        add_request(folder, compile_request(own, option));
        free_list(option);
    }
    json_t *list = answers(folder);
    assert_int_equal(json_array_size(list), FORMS);
    for (size_t i = 0; i < FORMS; i++) expect_answer(json_array_get(list, i), "ok", "", forms[i].text);
}

// Some editors write a byte order mark. It is not part of the text, which would not compile with it.
TEST(a_byte_order_mark_is_left_out)
{
    char *folder = e2e_folder("mark"), hash[2][HASH_TEXT_SIZE];
    e2e_write(folder, "part.cuh", "\xef\xbb\xbf#define PART 1\n");
    for (int mark = 0; mark < 2; mark++) {
        struct source source;
        struct error err;
        e2e_write(folder, "x.cu", test_text("%s#include \"part.cuh\"\nint x = PART;\n", mark ? "\xef\xbb\xbf" : ""));
        const struct source_request request = {.path = test_text("%s/x.cu", folder)};
        assert_int_equal(source_open(&source, &request, &err), 0);
        assert_int_equal(source.file_count, 2);
        assert_string_equal(source.files[1].text, "#define PART 1\n");
        snprintf(hash[mark], HASH_TEXT_SIZE, "%s", source.hash);
        source_release(&source);
    }
    assert_string_equal(hash[0], hash[1]);
}

TEST(the_same_name_means_what_lies_beside_the_including_file)
{
    char *folder = e2e_folder("beside"), *command = test_text("cd '%s' && mkdir a b 's p'", folder);
    assert_int_equal(system(command), 0);
    e2e_write(folder, "x.cu",
              "#include \"a/own.h\"\n#include \"b/own.h\"\n#include \"s p/last one.h\"\n#include <cuda_fp16.h>\n"
              "static_assert(A == 1 && B == 2 && ONCE == 3 && LAST == 4, \"\");\n"
              "extern \"C\" __global__ void k(__half *x) { *x = twice(A); }\n");
    e2e_write(folder, "a/own.h", "#include \"value.h\"\nenum { A = VALUE };\n#undef VALUE\n");
    e2e_write(folder, "b/own.h", "#include \"value.h\"\nenum { B = VALUE };\n#include \"../once.h\"\n");
    e2e_write(folder, "a/value.h", "#define VALUE 1\n#include \"../a/../once.h\"\n");
    e2e_write(folder, "b/value.h", "#define VALUE 2\n#include <once.h>\n");
    e2e_write(folder, "once.h", "#pragma once\n__device__ int twice(int x) { return 2 * x; }\nenum { ONCE = 3 };\n");
    e2e_write(folder, "s p/last one.h", "enum { LAST = 4 };\n");
    json_t *answer = answer_to(folder, compile_request(folder, NULL));
    expect_answer(answer, "ok", "", "");
}

TEST(what_was_not_hashed_is_not_compiled)
{
    char *folder = e2e_folder("unknown"), *root = test_owned(text_join_path(".", folder)), *option[3] = {0};
    option[0] = text_format("-DROOT=%s", root);
    e2e_write(folder, "part.h", "#define PART 1\n");
    static const char *const include = "#define TEXT(x) #x\n#define QUOTED(x) TEXT(x)\n#include QUOTED(ROOT/part.h)\n";
    char *taken = test_text("%s%s", include, KERNEL),
         *skipped = test_text("#define PART 1\n#ifdef NEVER\n%s#endif\n%s", include, KERNEL);
    e2e_write(folder, "x.cu", taken);
    json_t *answer = answer_to(folder, compile_request(folder, option));
    expect_answer(answer, "compile_error", "x.cu(3)", taken);
    expect_answer(answer, "compile_error", "not part of the hash of the source", taken);
    e2e_write(folder, "x.cu", skipped);
    answer = answer_to(folder, compile_request(folder, option));
    expect_answer(answer, "ok", "", skipped);
    free(option[0]);
    for (int i = 0; i < 2; i++) {
        option[0] = text_copy(i ? "--use-pch=x.pch" : "-include=part.h");
        answer = answer_to(folder, compile_request(folder, option));
        expect_answer(answer, "error", option[0], "");
        free(option[0]);
    }
    option[0] = NULL;
    e2e_write(folder, "x.cu", "#include \"/dev/zero\"\n" KERNEL);
    answer = answer_to(folder, compile_request(folder, NULL));
    expect_answer(answer, "error", "'/dev/zero' is not a regular file", "");
    free(option[0]);
}

TEST(functions_of_the_host_lose_their_bodies_and_nothing_else_does)
{
    static const struct {
        const char *text, *less; // NULL: nothing changes
    } cases[] = {
        {"void run(int n) { go<<<1, 1>>>(n); }\nint x;", "void run(int n) ;                   \nint x;"},
        {"static int f(float (*g)(int), int a[3])\n{\n  if (a) { return g(1); }\n  return 0;\n}\n",
         "static int f(float (*g)(int), int a[3])\n;\n                         \n           \n \n"},
        {"namespace a { void f() { } __global__ void k() { } }",
         "namespace a { void f() ;   __global__ void k() { } }"},
        {"template <typename T> void f(T *x) { k<T><<<1, 1>>>(x); }",
         "template <typename T> void f(T *x) ;                     "},
        {"__device__ int d() { return 1; }", NULL},
        {"__host__ __device__ int d() { return 1; }", NULL},
        {"template <typename T> T d(T x) { return x; }", NULL}, // device code may call it
        {"constexpr int d(int x) { return x; }", NULL},         // device code may call it
        {"static constexpr int d(int x) { k<<<1, 1>>>(x); return x; }", NULL},
        {"auto f() { return 1; }", NULL}, // its body determines its type
        {"struct s { void f() { } };", NULL},
        {"s::s() : x(1) { }", NULL},
        {"void s::f() { }", NULL}, // not allowed as a declaration outside the class
        {"s::~s() { }", NULL},
        {"bool operator==(s a, s b) { return true; }", NULL},
        {"s operator int() { return 1; }", NULL},
        {"template <> void f<int>() { go<<<1, 1>>>(); }", NULL},
        {"void f() {\n#define N 1\n}", NULL}, // device code may use N
        {"void f() {\n#ifdef X\n}\n#else\n}\n#endif", NULL},
        {"void f() { auto g = [] __device__ (int x) { return x; }; }", NULL},
        {"BEGIN(name) { __global__ void k() { } }", NULL},
        {"int a[] = { 1, 2 };", NULL},
        {"void f() { if (", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autofree char *less = source_without_host(cases[i].text);
        if (cases[i].less ? !less || strcmp(less, cases[i].less) != 0 : less != NULL)
            fail_msg("%s: %s", cases[i].text, less ? less : "nothing");
    }
}

TEST(a_pipe_in_the_place_of_a_file_is_refused_at_once)
{
    char *folder = e2e_folder("pipes");
    static const char *const lines[] = {
        "$BIN/sweetspot check $F/pipe",
        "printf '@include \"pipe\"\\n' >$F/job.cfg; $BIN/sweetspot check $F/job.cfg",
        "$BIN/sweetspot status configs/sgemm.cfg --store $F/pipe",
        "$BIN/sweetspot tune configs/sgemm.cfg --store $F/new.db --device replay:$F/pipe",
        "sed 's|\"[^\"]*[.]cu\"|\"pipe\"|' configs/asum.cfg >$F/t.cfg; $BIN/sweetspot check $F/t.cfg -c 1",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *script = test_text("export F='%s'; [ -p $F/pipe ] || mkfifo $F/pipe\n%s\n", folder, lines[i]);
        e2e_write(folder, "script", script);
        struct e2e_result r = e2e_run(folder, "timeout 20 sh $DIR/script");
        if (r.status < 1 || r.status > 3) fail_msg("%s: status %d\n%s%s", lines[i], r.status, r.out, r.err);
        if (!strstr(r.err, "not a regular file") && !strstr(r.out, "not a regular file"))
            fail_msg("%s:\n%s%s", lines[i], r.out, r.err);
    }
}

TEST(a_compiler_has_a_memory_limit_and_goes_on_after_it)
{
    if (SANITIZED) skip(); // AddressSanitizer ends a process whose allocation fails
    char *folder = e2e_folder("memory");
    e2e_write(folder, "x.cu",
              "template <unsigned long long n, int d> struct T {\n"
              "enum { v = T<2 * n, d - 1>::v + T<2 * n + 1, d - 1>::v }; };\n"
              "template <unsigned long long n> struct T<n, 0> { enum { v = 1 }; };\n"
              "extern \"C\" __global__ void k(int *x) { *x = T<1, DEPTH>::v; }\n");
    for (int i = 0; i < 2; i++) {
        json_t *request = compile_request(folder, NULL);
        json_object_set_new(json_object_get(request, "defines"), "DEPTH", json_string(i ? "3" : "40"));
        json_object_set_new(request, "memory", json_integer(200 << 20));
        add_request(folder, request);
    }
    json_t *list = answers(folder);
    expect_answer(json_array_get(list, 0), "compile_error", "exceeded its memory limit (compile.memory)", "");
    expect_answer(json_array_get(list, 1), "ok", "", "");
}

TEST(a_compiler_that_is_killed_costs_its_configuration_in_check_too)
{
    char *folder = e2e_folder("killed");
    e2e_write(folder, "worker", "#!/bin/sh\nread request\nkill -9 $$\n");
    struct e2e_result r =
        e2e_ended(1, e2e_run(folder, "chmod +x $DIR/worker; SWEETSPOT_COMPILE_WORKER=$DIR/worker timeout 60 "
                                     "$BIN/sweetspot check configs/asum.cfg --compile 3 --cache $DIR/cache"));
    assert_contains(r.out, "compile_error", "the compiler failed", "2 more failed in the same way");
}

TEST(figures_are_the_cubins_whatever_a_program_prints)
{
    char *folder = e2e_folder("forged");
    static const char *const kernel =
        "extern \"C\" __global__ void __launch_bounds__(1024) k(float *x) { __shared__ float s[64]; float a[100];\n"
        "for (int i = 0; i < 100; i++) a[i] = x[i * threadIdx.x]; __syncthreads(); s[threadIdx.x & 63] = x[7];\n"
        "for (int i = 0; i < 100; i++) for (int j = 0; j < 100; j++) a[i] += a[j] * x[i + j]; __syncthreads();\n"
        "for (int i = 0; i < 100; i++) x[i] = a[i] + s[i & 63]; }\n";
    static const char *const forged = "#warning ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
                                      "#warning ptxas info    : Function properties for k\n"
                                      "#warning     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                                      "#warning ptxas info    : Used 1 registers, used 1 barriers, 1 bytes smem\n"
                                      "#warning ptxas info : (C7510) Potential Performance Loss\n";
    static const char *const figures[] = {"registers", "spill_loads", "spill_stores", "stack", "shared", "code_bytes"};
    json_t *answer[2];
    for (int i = 0; i < 2; i++) {
        e2e_write(folder, "x.cu", test_text("%s%s", i ? forged : "", kernel));
        answer[i] = answer_to(folder, compile_request(folder, NULL));
        expect_answer(answer[i], "ok", "", "");
    }
    const json_t *own = json_array_get(json_object_get(answer[0], "entries"), 0),
                 *claimed = json_array_get(json_object_get(answer[1], "entries"), 0);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        assert_int_equal(json_get_integer(claimed, figures[i], -1), json_get_integer(own, figures[i], -2));
    assert_true(json_get_integer(own, "spill_loads", -1) > 0 && json_get_integer(own, "stack", -1) > 0);
    assert_int_equal(json_get_integer(own, "shared", -1), 256);
    assert_int_equal(json_array_size(json_object_get(answer[1], "warnings")), 0);
    for (int i = 0; i < 2; i++) json_decref(answer[i]);
}

TEST(a_damaged_cache_is_compiled_anew)
{
    static const char *const damages[] = {
        ": >%s",                                                                // an empty cubin
        "printf x | dd of=%s bs=1 seek=700 conv=notrunc 2>/dev/null",           // one byte changed
        "printf x >>%s",                                                        // longer
        "j=%s; printf '{}' >${j%%.cubin}.json",                                 // no figures
        "j=%s; sed -i 's/\"registers\":/\"registers\":9/' ${j%%.cubin}.json",   // another figure
        "j=%s; printf '{\"status\":\"ok\",\"entries\":[]}' >${j%%.cubin}.json", // as older versions wrote them
    };
    char *folder = e2e_folder("damaged");
    e2e_write(folder, "x.cu", "#define PART 1\n" KERNEL);
    for (size_t i = 0; i <= sizeof damages / sizeof *damages; i++) {
        for (int again = 0; again < 2; again++) {
            json_t *request = compile_request(folder, NULL);
            json_object_set_new(request, "cache", json_sprintf("%s/cache", folder));
            add_request(folder, request);
        }
        json_t *list = answers(folder);
        for (size_t again = 0; again < 2; again++) {
            const json_t *answer = json_array_get(list, again);
            expect_answer(answer, "ok", "", "");
            if (json_get_bool(answer, "cached", false) != (again == 1)) fail_msg("after damage %zu", i);
            assert_true(json_get_integer(json_array_get(json_object_get(answer, "entries"), 0), "registers", -1) > 0);
        }
        const char *cubin = json_get_string(json_array_get(list, 0), "cubin", "");
        if (i < sizeof damages / sizeof *damages) {
            char *mark = strstr(damages[i], "%s"),
                 *line = test_text("%.*s%s%s", (int)(mark - damages[i]), damages[i], cubin, mark + 2);
            for (char *twice; (twice = strstr(line, "%%"));) memmove(twice, twice + 1, strlen(twice));
            assert_int_equal(system(line), 0);
        }
    }
}

TEST_MAIN(NULL, NULL)
