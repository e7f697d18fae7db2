// See header_provenance.h.
#include "tuner/header/header_provenance.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/final/builds_summary.h"
#include "tuner/header/header_section.h"
#include "tuner/store/builds.h"

// NAME, NAME_LOW, NAME_HIGH, as far as they are known.
static void define_interval(struct renderer *r, const char *name, struct interval value)
{
    char *low = text_format("%s_low", name), *high = text_format("%s_high", name);
    if (isfinite(value.value)) header_define(r, name, "%.9g", value.value);
    if (isfinite(value.low)) header_define(r, low, "%.9g", value.low);
    if (isfinite(value.high)) header_define(r, high, "%.9g", value.high);
    free(low);
    free(high);
}

static char *date_of(const json_t *section)
{
    time_t when = (time_t)json_get_integer(section, "when", 0);
    struct tm parts;
    char text[32] = "?";
    if (gmtime_r(&when, &parts)) strftime(text, sizeof text, "%Y-%m-%d", &parts);
    return text_copy(text);
}

// The note on a section whose times come from a recording.
static void comment_recording(struct renderer *r, const json_t *section)
{
    int64_t rounds = json_get_integer(section, "recorded_rounds", 0);
    fputs(" *   replayed from a recording: nothing was measured here; the recording has ", r->file);
    if (rounds)
        fprintf(r->file, "a final of %" PRId64 " round%s\n", rounds, rounds == 1 ? "" : "s");
    else
        fputs("no final\n", r->file);
    const char *hash = json_get_string(section, "source_hash", "");
    if (!*hash)
        fputs(" *   source not recorded: it is unknown which version of the template was measured\n", r->file);
    else
        fprintf(r->file, " *   the measured template has the hash %s\n", hash);
}

void header_advise(struct renderer *r, const json_t *section)
{
    const json_t *nvcc = json_object_get(section, "nvcc");
    const char *verdict = json_get_string(nvcc, "verdict", "");
    struct interval ratio = json_get_interval(nvcc, "ratio");
    char text[64];
    bool slower = !strcmp(verdict, BUILDS_SLOWER);
    if (!slower && strcmp(verdict, BUILDS_FAILED) != 0) return;
    fputs(" *   ", r->file);
    header_put_comment(r->file, json_get_string(nvcc, "compiler", ""));
    if (slower)
        fprintf(r->file, " makes a SLOWER kernel of the template: %s times the time below.",
                show_ratio(&ratio, text, sizeof text));
    else
        fputs(" makes a kernel of the template that FAILED (see below).", r->file);
    fputs(" Launch the binary that was measured, not the template.\n", r->file);
}

// What nvcc makes of the template.
static void comment_nvcc(struct renderer *r, const json_t *section)
{
    const json_t *nvcc = json_object_get(section, "nvcc"), *problem;
    const char *nvrtc = json_get_string(section, "compiler", "NVRTC"), *version = json_get_string(nvcc, "compiler", "");
    char text[96];
    size_t i;
    FILE *f = r->file;
    if (!nvcc) return;
    char *words = builds_text(nvcc, nvrtc);
    fputs(" *   built by ", f);
    header_put_comment(f, *version ? version : PROTOCOL_NVCC);
    fprintf(f, " with %s_OPTIONS_NVCC: ", r->upper);
    header_put_comment(f, words);
    fputc('\n', f);
    free(words);
    json_array_foreach(json_object_get(nvcc, "problems"), i, problem)
    {
        struct interval own = json_get_interval(problem, PROTOCOL_NVRTC),
                        theirs = json_get_interval(problem, PROTOCOL_NVCC);
        fputs(" *     ", f);
        header_put_comment(f, json_get_string(problem, "problem", "?"));
        fprintf(f, "  %s by NVRTC,", show_interval(&own, text, sizeof text));
        fprintf(f, " %s by nvcc\n", show_interval(&theirs, text, sizeof text));
    }
}

static void comment_section(struct renderer *r, const json_t *section)
{
    const json_t *item;
    size_t i;
    char text[128], *date = date_of(section);
    FILE *f = r->file;
    bool fallback = header_is_fallback(section);
    const char *arch = json_get_string(section, "arch", "?"), *driver = json_get_string(section, "driver", "");
    fputs(fallback ? " *\n * any other device: the job's fallback, not tuned; its results on " : " *\n * ", f);
    header_put_comment(f, json_get_string(section, fallback ? "verified_on" : "device", "?"));
    fputs(" (", f);
    header_put_comment(f, arch);
    fputs(*arch && *driver ? ", driver " : *driver ? "driver " : "", f);
    header_put_comment(f, driver);
    fputs(*arch || *driver ? ", " : "", f);
    header_put_comment(f, json_get_string(section, "compiler", "?"));
    int64_t kernels = json_get_integer(section, "kernels", 0);
    fprintf(f, "), %s\n *   ", date);
    if (kernels) fprintf(f, "kernel %" PRId64 " of %" PRId64 ": ", json_get_integer(section, "kernel", 0), kernels);
    header_put_comment(f, json_get_string(section, "configuration", ""));
    int64_t rounds = json_get_integer(section, "rounds", 0);
    bool replayed = json_get_bool(section, "replayed", false);
    if (json_get_bool(section, "final", false) && replayed)
        fprintf(f, "\n *   decided by %" PRId64 " recorded time%s of each candidate\n", rounds, rounds == 1 ? "" : "s");
    else if (json_get_bool(section, "final", false))
        fprintf(f, "\n *   decided in a final of %" PRId64 " round%s\n", rounds, rounds == 1 ? "" : "s");
    else if (fallback)
        fputs("\n", f);
    else
        fputs("\n *   NOT decided in a final: the best of the search so far, which luck may have chosen\n", f);
    if (replayed) comment_recording(r, section);
    json_array_foreach(json_object_get(section, "problems"), i, item)
    {
        struct interval time = json_get_interval(item, "time");
        fputs(" *   ", f);
        header_put_comment(f, json_get_string(item, "name", "?"));
        fprintf(f, "  %s\n", show_interval(&time, text, sizeof text));
    }
    json_array_foreach(json_object_get(section, "ratios"), i, item)
    {
        struct interval ratio = json_get_interval(item, "ratio");
        fprintf(f, " *   %s times the speed of ", show_ratio(&ratio, text, sizeof text));
        header_put_comment(f, json_get_string(item, "name", "?"));
        fputc('\n', f);
    }
    comment_nvcc(r, section);
    json_array_foreach(json_object_get(section, "ties"), i, item)
    {
        fputs(" *   tied with ", f);
        header_put_comment(f, json_is_string(item) ? json_string_value(item) : "?");
        fputc('\n', f);
    }
    const json_t *verified = json_object_get(section, "verified");
    if (json_array_size(verified))
        fputs(" *   verified on", f);
    else
        fputs(replayed ? " *   not verified here: replayed from a recording" : " *   NOT verified", f);
    json_array_foreach(verified, i, item)
    {
        fputs(i ? "; " : " ", f);
        header_put_comment(f, json_is_string(item) ? json_string_value(item) : "?");
    }
    double error = json_get_number(section, "error", NAN);
    if (isfinite(error)) fprintf(f, "; largest error %.2g of what is allowed", error);
    fputs("\n", f);
    const char *sanitizers = json_get_string(section, "sanitizers", "");
    if (*sanitizers) {
        fputs(" *   ", f);
        header_put_comment(f, sanitizers);
        fputs("\n", f);
    }
    free(date);
}

static void put_stage_figures(struct renderer *r, const json_t *section)
{
    static const struct {
        const char *key, *macro;
    } figures[] = {{"registers", "registers"},
                   {"spills", "spill_bytes"},
                   {"shared_static", "shared_static_bytes"},
                   {"code_bytes", "code_bytes"}};
    const json_t *stage;
    size_t i;
    json_array_foreach(json_object_get(section, "stages"), i, stage)
    {
        bool only = header_stage_count(section) == 1;
        const char *name = only ? "" : json_get_string(stage, "name", "?"), *joint = only ? "" : "_";
        for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
            int64_t value = json_get_integer(stage, figures[k].key, -1);
            char *macro = text_format("%s%s%s", name, joint, figures[k].macro);
            if (value >= 0) header_define(r, macro, "%" PRId64, value);
            free(macro);
        }
        double occupancy = json_get_number(stage, "occupancy", NAN);
        char *macro = text_format("%s%soccupancy", name, joint);
        if (isfinite(occupancy)) header_define(r, macro, "%.4g", occupancy);
        free(macro);
    }
}

static void put_counters(struct renderer *r, const json_t *section)
{
    const json_t *counter;
    size_t i;
    bool problems = json_array_size(json_object_get(section, "problems")) > 1, stages = header_stage_count(section) > 1;
    json_array_foreach(json_object_get(section, "counters"), i, counter)
    {
        char problem[24] = "", stage[24] = "";
        if (problems) snprintf(problem, sizeof problem, "_problem_%" PRId64, json_get_integer(counter, "problem", 0));
        if (stages) snprintf(stage, sizeof stage, "_stage_%" PRId64, json_get_integer(counter, "stage", 0));
        char *macro = text_format("counter_%s%s%s", json_get_string(counter, "key", "?"), problem, stage);
        header_define(r, macro, "%.9g", json_get_number(counter, "value", 0));
        free(macro);
    }
}

// There are no such macros if nvcc's version is unknown.
static void put_nvcc(struct renderer *r, const json_t *section)
{
    const json_t *nvcc = json_object_get(section, "nvcc"), *problems = json_object_get(nvcc, "problems");
    const char *version = json_get_string(nvcc, "compiler", "");
    if (!*version) return;
    header_define_text(r, "nvcc", version);
    header_define_text(r, "nvcc_verdict", json_get_string(nvcc, "verdict", ""));
    define_interval(r, "nvcc_ratio", json_get_interval(nvcc, "ratio"));
    if (json_array_size(problems) == 1)
        define_interval(r, "nvcc_seconds", json_get_interval(json_array_get(problems, 0), PROTOCOL_NVCC));
}

static void put_provenance(struct renderer *r, const json_t *section)
{
    static const char *const texts[] = {"driver", "compiler"};
    const json_t *problems = json_object_get(section, "problems"), *ratio;
    size_t i;
    char *date = date_of(section);
    for (i = 0; i < sizeof texts / sizeof *texts; i++)
        header_define_text(r, texts[i], json_get_string(section, texts[i], ""));
    header_define_text(r, "date", date);
    header_define(r, "decided_in_final", "%d", json_get_bool(section, "final", false));
    header_define(r, "final_rounds", "%" PRId64, json_get_integer(section, "rounds", 0));
    header_define(r, "verified_problems", "%zu", json_array_size(json_object_get(section, "verified")));
    if (json_is_number(json_object_get(section, "error")))
        header_define(r, "error", "%.3g", json_get_number(section, "error", 0));
    free(date);
    if (header_is_fallback(section)) return; // the rest is from the device on which it was verified
    struct interval time = {json_get_number(section, "seconds", NAN), NAN, NAN};
    if (json_array_size(problems) == 1) time = json_get_interval(json_array_get(problems, 0), "time");
    define_interval(r, "seconds", time);
    json_array_foreach(json_object_get(section, "ratios"), i, ratio)
    {
        char *macro = text_format("ratio_%s", json_get_string(ratio, "name", "?"));
        define_interval(r, macro, json_get_interval(ratio, "ratio"));
        free(macro);
    }
    put_nvcc(r, section);
    put_stage_figures(r, section);
    put_counters(r, section);
}

void header_provenance(struct renderer *r)
{
    const json_t *section;
    size_t i;
    fprintf(r->file, "/* The evidence.\n");
    json_array_foreach(r->sections, i, section) comment_section(r, section);
    fputs(
        " *\n * SECONDS: median; for several problems the job's objective. RATIO_x: x's time over ours. NVCC_RATIO: "
        "the "
        "time of\n * nvcc's build over that of NVRTC's, which SECONDS is. LOW, HIGH: 95% intervals. ERROR: the largest "
        "error over the\n * bound. */\n",
        r->file);
    json_array_foreach(r->sections, i, section)
    {
        r->macros = json_array_get(r->all_macros, i);
        fprintf(r->file, "#%s %s_SECTION == %zu\n", i ? "elif" : "if", r->upper, i);
        put_provenance(r, section);
    }
    fputs("#endif\n\n", r->file);
}
