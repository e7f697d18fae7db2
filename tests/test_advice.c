// The advice that commands give: suggestions for mistyped job files, and the command line to continue with, which
// includes the options in use and is quoted for a shell. Also recordings of other jobs, logs next to their stores, and
// versions.
#include "tests/e2e.h"

TEST(words_are_quoted_so_that_a_shell_reads_them_back)
{
    static const char *const words[] = {"plain",          "configs/a-b_c.cfg", "two words",       "",  "it's", "'",
                                        "$HOME;`x`\\\"*", "line\nbreak",       "replay:x,y=z+%@", "#", "~",    NULL};
    char *folder = e2e_folder("quoting"), *line = text_command(words);
    assert_int_equal(strncmp(line, "plain configs/a-b_c.cfg 'two words' '' ", 39), 0);
    struct e2e_result r = e2e_run(folder, "printf '%%s|' %s", line);
    char *expected = text_join(words, "|"), *all = test_text("%s|", expected);
    assert_string_equal(r.out, all);
    free(expected);
    free(line);
}

// Tunes the golden job with options, in a folder with a blank in its name.
static char *tuned_folder(void)
{
    char *folder = e2e_folder("advice");
    e2e_pass(folder,
             "mkdir '%s/a b' && cp tests/golden/job.cfg tests/golden/kernel.cu tests/golden/space.json '%s/a b' && "
             "cd '%s/a b' && $BIN/sweetspot tune job.cfg --device replay:space.json --store 'my x.db' --cache c -q "
             "--no-final",
             folder, folder, folder);
    return folder;
}

// Fails unless the command line after `label` contains `expected` and runs as printed.
static void follow(const char *folder, const char *text, const char *label, const char *expected)
{
    const char *at = strstr(text, label);
    if (!at) fail_msg("no '%s' in: %s", label, text);
    char *line = test_text("%.*s", (int)strcspn(at + strlen(label), "\n("), at + strlen(label));
    assert_contains(line, expected);
    struct e2e_result r = e2e_run(folder, "cd '%s/a b'; sweetspot() { \"$BIN/sweetspot\" \"$@\"; }\n%s", folder, line);
    if (r.status) fail_msg("%s: status %d: %s", line, r.status, r.err);
}

TEST(every_hint_repeats_the_options_in_use)
{
    char *folder = tuned_folder();
    static const char again[] = "sweetspot tune job.cfg --store 'my x.db' --device replay:space.json --cache c";
#define HERE "cd '%s/a b' && $BIN/sweetspot "
    struct e2e_result r = e2e_ended(1, e2e_run(folder, HERE "compare job.cfg --store 'my x.db'", folder));
    assert_contains(r.err, again);
    assert_contains(e2e_pass(folder, HERE "header job.cfg --store 'my x.db' -o h.h", folder).err, again);
    r = e2e_run(folder, HERE "status job.cfg -s 'my x.db'", folder);
    assert_contains(r.out, again);
    follow(folder, r.out, "resume with    ", again);
    r = e2e_run(folder, HERE "status job.cfg -s 'my x.db'", folder);
    follow(folder, r.out, "\nor             ", "sweetspot compare job.cfg --store 'my x.db'; sweetspot header");
    assert_contains(e2e_run(folder, HERE "status job.cfg -s 'new.db'", folder).err,
                    "begin with: sweetspot tune job.cfg --store new.db\n");
    assert_contains(e2e_run(folder, HERE "status job.cfg", folder).err, "begin with: sweetspot tune job.cfg\n");
#undef HERE
}

TEST(a_log_is_named_after_its_store)
{
    char *folder = e2e_folder("logs");
    struct e2e_result r =
        e2e_run(folder, "cp tests/golden/job.cfg tests/golden/kernel.cu tests/golden/space.json $DIR; cd $DIR; for "
                        "store in one.db two.db odd out/golden.db; do $BIN/sweetspot tune job.cfg --device "
                        "replay:space.json -q --store $store >/dev/null; done; grep -c ', store one.db' one.log; grep "
                        "-c ', store two.db' two.log; grep -c ', store odd' odd.log; ls *.log out/*.log");
    assert_string_equal(r.out, "1\n1\n1\nodd.log\none.log\nout/golden.log\ntwo.log\n");
}

TEST(an_unknown_job_name_suggests_known_ones)
{
    static const struct {
        const char *from, *name, *said; // NULL: nothing is suggested
    } cases[] = {
        {".", "sgemm_2048", "did you mean configs/sgemm_2048.cfg?\n"},
        {".", "sgem_2048", "did you mean configs/sgemm_2048.cfg?\n"},
        {".", "sgemm_2048.cfg", "did you mean configs/sgemm_2048.cfg?\n"},
        {".", "configs/sgem.cfg", "did you mean configs/sgemm.cfg?\n"},
        {".", "suite/fp32_129", "did you mean configs/suite/fp32_129.cfg?\n"},
        {".", "tests/golden/jib.cfg", "did you mean tests/golden/job.cfg?\n"},
        {"tests/golden", "job", "did you mean job.cfg?\n"},
        {"tests/golden", "softmaks", "did you mean configs/softmax.cfg?\n"}, // finds jobs shipped with the program
        {".", "nothing_like_it_anywhere", NULL},
        {".", "/", NULL},
    };
    char *folder = e2e_folder("names");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct e2e_result r = e2e_run(folder, "cd %s; $BIN/sweetspot check %s", cases[i].from, cases[i].name);
        if (r.status != 2 || *r.out) fail_msg("%s is taken for a job: %s", cases[i].name, r.out);
        if (cases[i].said) assert_contains(r.err, cases[i].said);
        if (!cases[i].said && strstr(r.err, "did you mean")) fail_msg("%s: %s", cases[i].name, r.err);
    }
    // If several files have the name, all are listed, quoted where necessary. A suggested file is a valid job.
    struct e2e_result r = e2e_run(
        folder,
        "cd $DIR; mkdir configs 'b c'; for to in . configs 'b c'; do cp %s/tests/golden/job.cfg \"$to/mine.cfg\"; cp "
        "%s/tests/golden/kernel.cu $to/; done; $BIN/sweetspot tune 'b c/mine'; $BIN/sweetspot check mine.cfg",
        "$OLDPWD", "$OLDPWD");
    assert_contains(r.err, "did you mean 'b c/mine.cfg' or mine.cfg or configs/mine.cfg?");
    assert_contains(r.out, "no mistakes found");
    // Every command that takes a job makes this suggestion.
    r = e2e_run(folder, "$BIN/sweetspot tune sgemm_2048; $BIN/sweetspot status sgemm_2048; ls out/sgemm_2048.db");
    assert_contains(r.err, "configs/sgemm_2048.cfg?\n");
}

TEST(a_recording_of_another_job_is_refused_before_anything_is_searched)
{
    static const struct {
        const char *edit, *said; // of the job; NULL: accepted
    } cases[] = {
        {"", NULL},
        {"s/\"golden\"/\"renamed\"/", NULL},
        {"s/N = 65536/N = 4096/", NULL}, // the recording's own job, changed later
        {"s/\"X\"/\"Y\"/; s/X < 8/Y < 8/; s/64 . X/64 * Y/", "another job, 'golden': it has no parameter 'Y'"},
        {"s/{ name = \"MODE\".*/{ name = \"Z\"; values = [1]; }/; s/^constraints.*//", "it has no parameter 'Z'"},
        {"s/\"plain\", \"wide\"\\]; }/\"plain\", \"wide\"]; }, { name = \"Z\"; values = [1]; }/",
         "it has no parameter 'Z'"},
        {"s/, *$/,/; s/  { name = \"X\".*//; s/^constraints.*//; s/64 . X/64/", "the job has no parameter 'X'"},
        {"s/\"golden\"/\"other\"/; s/N = 65536/N = 4096/", "another job, 'golden': it has no problem 'N=4096'"},
    };
    char *folder = e2e_folder("other_recording");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct e2e_result r = e2e_run(
            folder,
            "sed '%s' tests/golden/job.cfg >$DIR/job.cfg; cp tests/golden/kernel.cu tests/golden/space.json $DIR; cd "
            "$DIR; rm -f job.db*; $BIN/sweetspot tune job.cfg --device replay:space.json --store job.db -q",
            cases[i].edit);
        if (cases[i].said) {
            if (r.status != 2) fail_msg("'%s': status %d: %s", cases[i].edit, r.status, r.err);
            assert_contains(r.err, cases[i].said, "space.json: the recording belongs to ");
        } else if (r.status == 2 || r.status == 3) {
            fail_msg("'%s': status %d: %s", cases[i].edit, r.status, r.err);
        }
    }
}

TEST(a_space_that_is_wholly_known_is_answered_at_once)
{
    char *folder = e2e_folder("known");
#define TUNE                                                                                                         \
    "$BIN/sweetspot tune configs/sgemm_2048.cfg --device replay:tests/spaces/sgemm_2048_h200.json.gz --no-final -q " \
    "--store %s/known.db"
    struct e2e_result r = e2e_run(folder, TUNE " --strategy exhaustive", folder);
    assert_contains(r.err, "4416 new trials");
    // Limits processor time, because the machine may be busy. Proposals of `default` used to take ten seconds here.
    r = e2e_pass(folder, "ulimit -t 3; " TUNE " && $BIN/sweetspot status configs/sgemm_2048.cfg --store %s/known.db",
                 folder, folder);
    assert_contains(r.err, "0 new trials", "4416 in all");
    assert_contains(r.out, "stopped: the strategy has nothing more to propose");
#undef TUNE
}

TEST(the_version_says_what_it_is_and_what_it_runs_with)
{
    static const char *const lines[] = {"sweetspot ", "\ncommit ", "\nCUDA ", "\nNVRTC ", "\ncuBLAS ", "\nSQLite 3"};
    char *folder = e2e_folder("version");
    struct e2e_result r = e2e_run(folder, "$BIN/sweetspot --version"),
                      same = e2e_run(folder, "$BIN/sweetspot tune --version");
    assert_int_equal(r.status, 0);
    size_t count = 0;
    for (const char *p = r.out; *p; p++) count += *p == '\n';
    assert_int_equal(count, sizeof lines / sizeof *lines);
    char *plain = test_owned(text_copy(r.out)); // without the padding of columns
    char *to = plain;
    for (const char *p = r.out; *p; p++)
        if (*p != ' ' || to == plain || to[-1] != ' ') *to++ = *p;
    *to = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) assert_contains(plain, lines[i]);
    assert_string_equal(same.out, r.out);
    // Workers that cannot be found are reported.
    assert_contains(e2e_pass(folder, "cp $BIN/sweetspot $DIR/; $DIR/sweetspot --version").out, "not found\n");
}

TEST_MAIN(NULL, NULL)
