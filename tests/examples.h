// Builds and runs the programs of examples/ with the commands in their opening comments, in a folder that looks like
// the project's root. The tests decide what is tuned there.
#pragma once

#include <stdbool.h>

#include "tests/e2e.h"
#include "tests/stored_text.h"
#include "tuner/base/json.h"
#include "tuner/header/header.h"
#include "tuner/store/binary.h"
#include "tuner/store/store.h"

#ifndef TEST_CUDA_HOME
#define TEST_CUDA_HOME "/usr/local/cuda"
#endif

static inline void example_done(struct e2e_result *r)
{
    if (r->status) fail_msg("status %d: %s%s", r->status, r->out, r->err);
}

static inline bool example_have(const char *program)
{
    bool found = !system(test_text("command -v %s >/dev/null 2>&1", program));
    return found;
}

// A new folder in which nothing is tuned yet.
static inline char *examples_folder(const char *name)
{
    char *folder = e2e_folder(name);

    e2e_pass(folder, "cp -r examples templates configs tests/spaces '%1$s'", folder);
    return folder;
}

// Extracts the commands of an example's comment, except those that tune. The last command goes into run.sh, and the
// others go into build.sh.
#define EXAMPLE_COMMANDS                                                                                      \
    "export PATH=\"$BIN:$PATH\" CUDA_HOME=" TEST_CUDA_HOME "; cd %1$s && "                                    \
    "sed -n '/^#\\?include/q; s/^\\(\\/\\/\\| \\*\\|#\\)     //p' examples/%2$s | grep -v '^sweetspot tune' " \
    ">commands && head -n -1 commands >build.sh && tail -n 1 commands >run.sh && "

// `prelude` is shell text that runs first and may replace the compilers with functions.
static inline struct e2e_result example_build(const char *folder, const char *example, const char *prelude)
{
    return e2e_run(folder,
                   EXAMPLE_COMMANDS "rm -rf out/include && test -s build.sh && { cat <<'END'; cat build.sh; } "
                                    ">all.sh && bash -e all.sh\n%3$s\nEND",
                   folder, example, prelude);
}

static inline struct e2e_result example_run(const char *folder, const char *example, const char *prelude)
{
    return e2e_run(folder, EXAMPLE_COMMANDS "%3$s bash -e run.sh", folder, example, prelude);
}

// Compiles the kernel of a header that includes the source, as the tuner would, and stores the binary.
static inline void example_keep_binary(const char *folder, const char *store_path, const char *header, const char *arch)
{
    struct error err = {""};
    char *path = test_text("%s/%s", folder, header);
    autojson json_t *sections = header_read(path, &err);
    if (!sections) fail_msg("%s", err.message);
    int64_t trial = json_get_integer(json_array_get(sections, 0), "trial", 0);
    autofree char *unit =
        text_format("#define SGEMM_2048_DEFINE_PARAMETERS\n#include \"%s\"\n#include \"gemm_simt.cu\"\n", header);
    e2e_write(folder, "unit.cu", unit);
    e2e_write_json(folder, "request",
                   json_pack("{s:i, s:s, s:s, s:s, s:[s, s], s:[s], s:s}", "id", 1, "op", "compile", "arch", arch,
                             "source", "unit.cu", "include", ".", "templates", "entries", "gemm_simt", "cache",
                             "cache"));
    struct e2e_result r = e2e_in(folder, "$BIN/sweetspot-compile <request");
    json_t *answer = test_json(json_parse(r.out, &err));
    if (!answer || strcmp(json_get_string(answer, "status", ""), "ok") != 0) fail_msg("%s%s", r.out, r.err);
    size_t size;
    char *cubin = test_text("%s/%s", folder, json_get_string(answer, "cubin", "")),
         *bytes = test_owned(text_read_file(cubin, &size)), hash[HASH_TEXT_SIZE];
    assert_non_null(bytes);
    struct store *store;
    struct environment environment;
    path = test_text("%s/%s", folder, store_path);
    if (store_open(&store, path, false, &err) || store_last_environment(store, &environment, &err) ||
        store_put_blob(store, bytes, size, hash, &err) || store_set_trial_blob(store, trial, BINARY_BLOB, hash, &err))
        fail_msg("%s", err.message);
    autofree char *document =
        text_format("{\"hash\":\"%s\",\"bytes\":%zu,\"symbols\":{\"gemm_simt\":\"gemm_simt\"}}", hash, size);
    assert_int_equal(put_text(store, trial, BINARY_DOCUMENT, document, &err), 0);
    store_close(store);
}

// Tunes configs/sgemm_2048.cfg on the demo's recording, as if the recording were from this device, and stores a binary
// for the device.
static inline void example_replay(const char *folder, const char *store, const char *device, const char *arch)
{
    struct e2e_result r =
        e2e_in(folder,
               "gzip -dc spaces/sgemm_2048_h200.json.gz | sed 's/\"NVIDIA H200\"/\"%s\"/; s/sm_90a/%s/g' >space.json "
               "&& $BIN/sweetspot tune configs/sgemm_2048.cfg --device replay:space.json -n 20 -q --store %s && rm -rf "
               "plain && $BIN/sweetspot header configs/sgemm_2048.cfg --store %s -o plain/h.h",
               device, arch, store, store);
    example_done(&r);
    example_keep_binary(folder, store, "plain/h.h", arch);
}
