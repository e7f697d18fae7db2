// Follows a document step by step. Fenced blocks are what a reader types and sees. The words after the fence say which:
//
//     sh              a command line (several: one after another), which must succeed
//     sh gpu          the same on a GPU; without one it must fail, and say that there is none or that this was a replay
//     sh no-gpu       not run where there is a GPU
//     LANGUAGE FILE   a file to write
//     text            the output of the preceding commands on stdout; "..." stands for anything
//     text gpu, text no-gpu   the same, only with a GPU or only without one
#pragma once

#include <stdbool.h>

#include "tests/e2e.h"

#ifndef TEST_CUDA_HOME
#define TEST_CUDA_HOME "/usr/local/cuda"
#endif

enum { TUTORIAL_BLOCKS = 64 };

struct tutorial {
    struct tutorial_block {
        char language[16], word[64]; // word: "" where there is none
        char *text;
    } blocks[TUTORIAL_BLOCKS];
    int count;
};

static inline void tutorial_read(struct tutorial *t, const char *path)
{
    char *document = test_owned(text_read_file(path, NULL)), *at = document;
    if (!document) fail_msg("%s cannot be read", path);
    t->count = 0;
    while ((at = strstr(at, "\n```"))) {
        assert_true(t->count < TUTORIAL_BLOCKS);
        struct tutorial_block *b = &t->blocks[t->count++];
        char *begin = strchr(at + 1, '\n'), *end = begin ? strstr(begin, "\n```") : NULL, info[80] = "";
        if (!end) fail_msg("%s: a fence is not closed", path);
        *b = (struct tutorial_block){"", "", NULL};
        snprintf(info, sizeof info, "%.*s", (int)(begin - at - 4), at + 4);
        if (sscanf(info, "%15s %63s", b->language, b->word) < 1) fail_msg("%s: a block without a language", path);
        b->text = text_format("%.*s", (int)(end - begin), begin + 1);
        at = strchr(end + 1, '\n');
        if (!at) break;
    }
}

static inline void tutorial_release(struct tutorial *t)
{
    for (int i = 0; i < t->count; i++) free(t->blocks[i].text);
}

static inline bool tutorial_is_command(const struct tutorial_block *b)
{
    return !strcmp(b->language, "sh");
}

static inline bool tutorial_is_file(const struct tutorial_block *b)
{
    return *b->word && strcmp(b->word, "gpu") != 0 && strcmp(b->word, "no-gpu") != 0;
}

// Whether `printed` matches `expected`, in which "..." stands for anything.
static inline bool tutorial_prints(const char *printed, const char *expected)
{
    bool anywhere = false;
    for (;;) {
        const char *gap = strstr(expected, "...");
        size_t length = gap ? (size_t)(gap - expected) : strlen(expected), left = strlen(printed);
        char *piece = test_text("%.*s", (int)length, expected);
        const char *found = !gap && anywhere && left >= length ? printed + left - length
                            : anywhere                         ? strstr(printed, piece)
                                                               : printed;
        bool fits = found && !strncmp(found, piece, length) && (gap || !found[length]);
        if (!fits || !gap) return fits;
        printed = found + length;
        expected = gap + strlen("...");
        if (*expected == '\n') expected++; // "..." alone on its line: any number of lines
        anywhere = true;
    }
}

// Writes a script with all blocks. Command N writes N.out and N.err, and the script ends at the first command with an
// unexpected exit status.
static inline void tutorial_write_script(const struct tutorial *t, const char *folder, bool gpu)
{
    FILE *script = fopen(test_text("%s/all.sh", folder), "w");
    assert_non_null(script);
    fprintf(script, "top=$PWD\nexec 3>&2\ntrap '[ $? = 0 ] || cat $top/$now.out $top/$now.err >&3' EXIT\n");
    for (int i = 0; i < t->count; i++) {
        const struct tutorial_block *b = &t->blocks[i];
        if (tutorial_is_file(b))
            fprintf(script, "cat >%s <<'END_OF_FILE'\n%sEND_OF_FILE\n", b->word, b->text);
        else if (!tutorial_is_command(b) || (gpu && !strcmp(b->word, "no-gpu")))
            continue;
        else if (!gpu && !strcmp(b->word, "gpu"))
            fprintf(script,
                    "now=%d\nif {\n%s} >$top/$now.out 2>$top/$now.err; then echo it needs no GPU >&3; exit 1; fi\n", i,
                    b->text);
        else
            fprintf(script, "now=%d\n{\n%s} >$top/$now.out 2>$top/$now.err\n", i, b->text);
    }
    fclose(script);
}

static inline char *tutorial_output(const char *folder, int block, const char *which)
{
    return text_read_file(test_text("%s/%d.%s", folder, block, which), NULL);
}

// Expects one of the reasons for which a command that needs a GPU fails without one.
static inline void tutorial_expect_no_gpu(const char *folder, int block, const char *command)
{
    static const char *const reasons[] = {
        "no CUDA driver", "no CUDA-capable device",         "no CUDA device is visible",
        "replay",         "driver version is insufficient", "for the recording"};
    autofree char *out = tutorial_output(folder, block, "out"), *err = tutorial_output(folder, block, "err");
    bool known = false;
    assert_true(out && err);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strstr(out, reasons[i]) || strstr(err, reasons[i])) known = true;
    if (!known) fail_msg("%sdoes not say that it lacks a GPU:\n%s%s", command, out, err);
}

// Follows a document in a folder that has links to out/bin and tests, which it uses from the project's root.
static inline void tutorial_follow(const char *document, bool gpu)
{
    struct tutorial t;
    char *folder = e2e_folder(gpu ? "tutorial_gpu" : "tutorial");
    tutorial_read(&t, document);
    tutorial_write_script(&t, folder, gpu);
    struct e2e_result r = e2e_run(folder,
                                  "root=$PWD; ln -s \"$BIN\" '%1$s/out/bin' && ln -s \"$root/tests\" '%1$s/tests' && "
                                  "export CUDA_HOME=" TEST_CUDA_HOME
                                  " && export PATH=\"$PATH:$CUDA_HOME/bin\" %2$s && cd '%1$s' && bash -e all.sh",
                                  folder, gpu ? "" : "CUDA_VISIBLE_DEVICES=");
    if (r.status) fail_msg("%s: status %d: %s%s", document, r.status, r.out, r.err);
    int commands = 0, last = -1;
    for (int i = 0; i < t.count; i++) {
        const struct tutorial_block *b = &t.blocks[i];
        if (tutorial_is_file(b)) continue;
        if (tutorial_is_command(b)) {
            bool skipped = gpu && !strcmp(b->word, "no-gpu");
            if (!gpu && !strcmp(b->word, "gpu")) tutorial_expect_no_gpu(folder, i, b->text);
            last = skipped ? -1 : i;
            commands += !skipped;
        } else if (last >= 0 && (!*b->word || !strcmp(b->word, gpu ? "gpu" : "no-gpu"))) {
            autofree char *out = tutorial_output(folder, last, "out");
            assert_non_null(out);
            if (!tutorial_prints(out, b->text))
                fail_msg("%s: %sprints\n%s\nand not\n%s", document, t.blocks[last].text, out, b->text);
        }
    }
    assert_true(commands > 0);
    tutorial_release(&t);
}
