// Compares the output of every command with a file, tests/golden/<case>.txt. A changed line of help, a new column or a
// different word then shows in review as a change to such a file. `make golden` (SWEETSPOT_GOLDEN=write) rewrites the
// files.
//
// The commands run on a small job with recorded results (job.cfg, kernel.cu and space.json in that folder), some of
// them with the scripted worker as the GPU.
#include "tests/golden.h"
#include "tests/testing.h"

#include <dirent.h>
#include <stdbool.h>

#include "tuner/cli/commands.h"

#define FAKE                                                                                         \
    "SWEETSPOT_NVCC= FAKE_NVCC=1.02 SWEETSPOT_SANITIZER=none SWEETSPOT_GPU_WORKER=$BIN/fake_worker " \
    "SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker "
#define SIMULATE \
    "simulate -S random,default --seeds 3 -b 2,5,1s,4s --timeline compilers=4,compile=0.5,gpu=1,gpus=2 space.json"
#define TIME "[0-9][0-9.]*(ms|us|ns|s|m[0-9]+s)"

static const struct blot status_blots[] = {
    {"(\"seconds\": )" GOLDEN_NUMBER, "\\1<number>"},
    {"(,(seconds|runs[.][0-9]+[.](started|ended|pid|search_seconds)|final[.]when),)" GOLDEN_NUMBER, "\\1<number>"},
    {"(evaluations in )" TIME, "\\1<time>"},
    {"(<date>  )" TIME, "\\1<time>"},
    {NULL, NULL},
};
static const struct blot report_blots[] = {
    {"(\"(made|seconds|at)\":)" GOLDEN_NUMBER, "\\1<number>"},
    {"(\"progress\":).*", "\\1<progress>"}, // begins with seconds
    {"(\\[)1[0-9]{9}\\.[0-9]+", "\\1<moment>"},
    {"(,)1[0-9]{9}\\.[0-9]+", "\\1<moment>"},
    {NULL, NULL},
};
static const struct blot profile_blots[] = {
    {"(\"(compile|trial|count|lines)\": )" GOLDEN_NUMBER, "\\1<number>"},
    {NULL, NULL},
};
static const struct blot gate_blots[] = {{"(\"when\": )[0-9.]+", "\\1<time>"}, {0}};
static const struct blot judge_blots[] = {
    {"(\"seed\": )" GOLDEN_NUMBER, "\\1<number>"},        {"([a-z.]*seed,)" GOLDEN_NUMBER, "\\1<number>"},
    {"(template_hash,)[0-9a-f]{32}", "\\1<hash>"},        {"/[^ \"]*/kernel[.]cu", "<folder>/kernel.cu"},
    {"(\"template_hash\": \")[0-9a-f]{32}", "\\1<hash>"}, {NULL, NULL},
};
static const struct blot event_blots[] = {
    {"(\"seconds\":)" GOLDEN_NUMBER, "\\1<number>"},
    {NULL, NULL},
};
static const struct blot doctor_blots[] = {
    {"( in )[0-9.]+ s", "\\1<time>"},
    {NULL, NULL},
};
static const struct blot replay_blots[] = {
    {"(\nspace.json .* )[0-9.]+", "\\1<time>"},
    {"(\nspace.json,.*,)[0-9.]+", "\\1<time>"},
    {NULL, NULL},
};

// The cases run in this order in one folder; the first fills the store.
static const struct {
    const char *name, *command;
    int status;
    const struct blot *blots;
    const char *needs; // a command that must succeed with the real GPU worker; otherwise the case is left out
} cases[] = {
    {"tune_table", "tune job.cfg --device replay:space.json --store job.db --quiet", 0, NULL, NULL},
    {"tune_json", "tune job.cfg --device replay:space.json --store events.db --quiet --format json", 0, event_blots,
     NULL},
    {"check_table", "check job.cfg", 0, NULL, NULL},
    {"check_mistakes", "check mistaken.cfg 2>&1", 2, NULL, NULL},
    {"check_json", "check mistaken.cfg job.cfg --compile 0 --format json 2>/dev/null", 2, NULL, NULL},
    {"status_table", "status job.cfg --store job.db", 0, status_blots, NULL},
    {"status_json", "status job.cfg --store job.db --format json", 0, status_blots, NULL},
    {"compare_table", "compare job.cfg --store job.db", 0, NULL, NULL},
    {"compare_json", "compare job.cfg --store job.db --format json", 0, NULL, NULL},
    {"compare_csv", "compare job.cfg --store job.db --format csv", 0, NULL, NULL},
    {"report_json", "report job.cfg --store job.db --format json", 0, report_blots, NULL},
    // Every output that shows unverified results says that they are not verified.
    {"unverified",
     "check unverified.cfg && $BIN/sweetspot tune unverified.cfg --device replay:space.json --store unverified.db 2>&1 "
     "| grep VERIFIED; for command in status 'compare --fail-below 1' 'report -f json' 'header -o -'; do "
     "$BIN/sweetspot ${command%% *} unverified.cfg --store unverified.db $(echo \"$command \" | cut -d' ' -f2-) 2>&1 | "
     "grep -i 'not verified'; done",
     0, NULL, NULL},
    // With the scripted GPU, which reports errors, rounds and ceilings.
    {"tune_measured", "tune measured.cfg --store measured.db --quiet --workers 1", 0, NULL, NULL},
    {"compare_measured_table", "compare measured.cfg --store measured.db", 0, NULL, NULL},
    {"compare_measured_json", "compare measured.cfg --store measured.db --format json", 0, NULL, NULL},
    {"header_measured", "header measured.cfg --store measured.db -o -", 0, NULL, NULL},
    // Several jobs: two were tuned, one was not.
    {"tune_several",
     "tune night/a.cfg --device replay:space.json --quiet && "
     "$BIN/sweetspot tune night/b.cfg --device replay:space.json --quiet",
     0, NULL, NULL},
    {"status_several_table", "status night 2>&1", 1, status_blots, NULL},
    {"status_several_json", "status night --format json", 1, status_blots, NULL},
    {"compare_several_table", "compare night", 1, NULL, NULL},
    {"compare_several_json", "compare night --format json", 1, NULL, NULL},
    {"compare_gate", "compare night --fail-below 1.1 2>&1 >/dev/null", 4, NULL, NULL},
    {"header_several", "header night -o best 2>&1", 1, NULL, NULL},
    {"export_several", "export night -o spaces 2>&1", 1, NULL, NULL},
    {"report_measured_json", "report measured.cfg --store measured.db --format json", 0, report_blots, NULL},
    {"space_table", "list space job.cfg", 0, NULL, NULL},
    {"space_json", "list space job.cfg --format json", 0, NULL, NULL},
    {"simulate_table", "simulate -S random,default --seeds 3 -b 2,5 space.json", 0, replay_blots, NULL},
    {"simulate_csv", "simulate -S random,default --seeds 3 -b 2,5 space.json -f csv", 0, replay_blots, NULL},
    {"timeline_table", SIMULATE, 0, NULL, NULL},
    {"timeline_csv", SIMULATE " -f csv", 0, NULL, NULL},
    {"timeline_json", SIMULATE " -f json", 0, NULL, NULL},
    {"timeline_mistake", "simulate --timeline compilers=4,gpu=0.3 space.json 2>&1", 2, NULL, NULL},
    {"simulate_json", "simulate -S random,default --seeds 11-13 -b 2,6 space.json -f json", 0, NULL, NULL},
    {"list_table", "list strategies", 0, NULL, NULL},
    {"list_strategies_table", "list strategies default", 0, NULL, NULL},
    {"list_operations_table", "list operations gemm", 0, NULL, NULL},
    {"list_csv", "list operations --format csv", 0, NULL, NULL},
    {"list_json", "list fields --format json", 0, NULL, NULL},
    {"list_metrics_csv", "list metrics --format csv", 0, NULL, NULL},
    {"list_settings_table", "list settings final", 0, NULL, NULL},
    {"export", "export job.cfg --store job.db", 0, NULL, NULL},
    {"import", "import space.json 2>&1", 0, NULL, NULL},
    {"header", "header job.cfg --store job.db --output best.h >/dev/null && cat best.h", 0, NULL, NULL},
    {"profile_table", "profile job.cfg --cache cache --trial X=1,MODE=plain", 0, NULL, NULL},
    {"profile_json", "profile job.cfg --cache cache --trial X=1,MODE=plain --format json", 0, profile_blots, NULL},
    {"profile_limits_table", "profile --limits job.cfg --cache cache --trial X=1,MODE=plain", 0, NULL, NULL},
    {"profile_limits_json", "profile --limits job.cfg --cache cache --trial X=1,MODE=plain --format json", 0,
     profile_blots, NULL},
    {"judge_table", "judge measured.cfg --cache cache --set X=2", 0, judge_blots, NULL},
    {"judge_json", "judge measured.cfg --cache cache --set X=2 --format json", 0, judge_blots, NULL},
    {"gate_table", "gate measured.cfg --base base.h", 4, NULL, NULL},
    {"gate_json", "gate measured.cfg --base base.h --format json", 4, gate_blots, NULL},
    {"gate_markdown", "gate measured.cfg --base base.h --format markdown", 4, NULL, NULL},
    {"doctor_table", "doctor", 0, doctor_blots, NULL},
    {"doctor_json", "doctor --format json", 0, doctor_blots, NULL},
    {"list_counters_table", "list counters --chip GH100 'dram__bytes*'", 0, NULL,
     "list counters --chip GH100 'dram__bytes*'"},
    {"list_counters_csv", "list counters --chip GH100 'dram__bytes*' -f csv", 0, NULL,
     "list counters --chip GH100 'dram__bytes*'"},
    {"list_counters_json", "list counters --chip GH100 'dram__bytes*' -f json", 0, NULL,
     "list counters --chip GH100 'dram__bytes*'"},
};
enum { CASES = sizeof cases / sizeof *cases };

static char *make_folder(void)
{
    char *folder = e2e_folder("golden");
    e2e_pass(folder, "cp tests/golden/job.cfg tests/golden/kernel.cu tests/golden/space.json $DIR && cd $DIR "
                     "&& sed 's/X < 8/Z < 8/; s/geometry/geometri/; s/^name/nome/' job.cfg >mistaken.cfg && "
                     "sed 's/, { N = 1000; }//' job.cfg >measured.cfg && mkdir night && cp kernel.cu night "
                     "&& for name in a b later; do sed \"s/golden/$name/\" job.cfg >night/$name.cfg; done && "
                     "sed 's/^reference.*/verification = { enabled = false; };/' job.cfg >unverified.cfg && "
                     "echo '#define GOLDEN_CONFIGURATION \"X=2,MODE=plain\"' >base.h");
    return folder;
}

// Runs a command with the scripted worker as GPU and compiler, or with the real ones.
static struct e2e_result run(const char *folder, const char *command, bool fake)
{
    return e2e_in(folder, "export TZ=UTC COLUMNS=100 %s; $BIN/sweetspot %s",
                  fake                          ? FAKE
                  : strncmp(command, "list", 4) ? "SWEETSPOT_GPU_WORKER=none" // no comparison with this GPU
                                                : "",
                  command);
}

TEST(every_output_is_what_its_golden_file_says)
{
    char *folder = make_folder();
    for (size_t i = 0; i < CASES; i++) {
        struct e2e_result r;
        if (cases[i].needs) {
            r = run(folder, cases[i].needs, false);
            bool possible = r.status == 0;
            if (!possible) {
                print_message("%s is left out: `sweetspot %s` fails here\n", cases[i].name, cases[i].needs);
                continue;
            }
        }
        r = run(folder, cases[i].command, !cases[i].needs);
        if (r.status != cases[i].status) fail_msg("%s: status %d\n%s\n%s", cases[i].command, r.status, r.out, r.err);
        golden_hold(folder, cases[i].name, r.out, cases[i].blots);
    }
}

TEST(every_help_is_what_its_golden_file_says)
{
    char *folder = make_folder();
    for (size_t i = 0; i <= command_count; i++) {
        const char *name = i < command_count ? commands[i]->name : "";
        char *command = test_text("%s --help", name), *file = test_text("help%s%s", *name ? "_" : "", name);
        struct e2e_result r = e2e_passed(run(folder, command, true));
        golden_hold(folder, file, r.out, NULL);
    }
}

static bool is_case(const char *name)
{
    for (size_t i = 0; i < CASES; i++)
        if (!strcmp(cases[i].name, name)) return true;
    return false;
}

TEST(every_format_of_every_command_has_a_golden_file)
{
    char *folder = make_folder();
    size_t found = 0;
    for (size_t i = 0; i < command_count; i++) {
        struct e2e_result r = run(folder, test_text("%s --help", commands[i]->name), true);
        char *at = strstr(strstr(r.out, "Options:"), "--format ");
        if (at) {
            at += strlen("--format ");
            at[strcspn(at, " \n")] = 0;
            for (char *rest, *format = strtok_r(at, "|", &rest); format; format = strtok_r(NULL, "|", &rest)) {
                char *name = test_text("%s_%s", commands[i]->name, format);
                if (!strcmp(format, "page")) continue; // make test-browser looks at it
                if (!is_case(name)) fail_msg("`sweetspot %s --format %s` is not tested", commands[i]->name, format);
                found++;
            }
        }
    }
    assert_true(found > 15);
}

TEST(no_golden_file_is_left_over)
{
    DIR *folder = opendir("tests/golden");
    assert_non_null(folder);
    for (const struct dirent *e; (e = readdir(folder));) {
        char name[256];
        size_t length = strlen(e->d_name);
        if (length < 4 || strcmp(e->d_name + length - 4, ".txt") != 0) continue;
        if (!strncmp(e->d_name, "messages-", 9)) continue; // test_messages covers these
        snprintf(name, sizeof name, "%.*s", (int)(length - 4), e->d_name);
        if (!strcmp(name, "help") || (!strncmp(name, "help_", 5) && command_find(commands, name + 5))) continue;
        if (!is_case(name)) fail_msg("tests/golden/%s belongs to no case", e->d_name);
    }
    closedir(folder);
}

TEST_MAIN(NULL, NULL)
