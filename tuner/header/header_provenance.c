// See header_parts.h.
#include <time.h>

#include "tuner/base/protocol.h"
#include "tuner/final/builds_summary.h"
#include "tuner/header/header_parts.h"
#include "tuner/store/builds.h"

enum { TIES_SHOWN = 3 };

// Defines NAME, NAME_LOW and NAME_HIGH if they are known.
static void define_interval(struct renderer *r, const char *name, struct interval value)
{
    autofree char *low = text_format("%s_low", name), *high = text_format("%s_high", name);
    if (isfinite(value.value)) header_define(r, name, "%.9g", value.value);
    if (isfinite(value.low)) header_define(r, low, "%.9g", value.low);
    if (isfinite(value.high)) header_define(r, high, "%.9g", value.high);
}

static char *date_of(const json_t *section)
{
    time_t when = (time_t)json_get_integer(section, "when", 0);
    struct tm parts;
    char text[32] = "?";
    if (gmtime_r(&when, &parts)) strftime(text, sizeof text, "%Y-%m-%d", &parts);
    return text_copy(text);
}

void header_advise(struct renderer *r, const json_t *section)
{
    const json_t *nvcc = json_object_get(section, "nvcc");
    const char *verdict = json_get_string(nvcc, "verdict", ""), *compiler = json_get_string(nvcc, "compiler", "");
    struct interval ratio = json_get_interval(nvcc, "ratio");
    if (!strcmp(verdict, BUILDS_SLOWER))
        header_comment(r,
                       "   %s makes a SLOWER kernel of the template: %s times the time below. Launch the binary that "
                       "was measured, not the template.",
                       compiler, show_ratio(&ratio, TEXT_ROOM));
    else if (!strcmp(verdict, BUILDS_FAILED))
        header_comment(r,
                       "   %s makes a kernel of the template that FAILED (see below). Launch the binary that was "
                       "measured, not the template.",
                       compiler);
}

// Writes how nvcc's build of the template compares with NVRTC's build.
static void comment_nvcc(struct renderer *r, const json_t *section)
{
    const json_t *nvcc = json_object_get(section, "nvcc");
    const char *nvrtc = json_get_string(section, "compiler", "NVRTC"), *version = json_get_string(nvcc, "compiler", "");
    if (!nvcc) return;
    autofree char *result = builds_text(nvcc, nvrtc);
    header_comment(r, "   built by %s with NAME_OPTIONS_NVCC: %s", *version ? version : PROTOCOL_NVCC, result);
    json_array_each(json_object_get(nvcc, "problems"), i, problem) {
        struct interval own = json_get_interval(problem, PROTOCOL_NVRTC),
                        theirs = json_get_interval(problem, PROTOCOL_NVCC);
        header_comment(r, "     %s  %s by NVRTC, %s by nvcc", json_get_string(problem, "problem", "?"),
                       show_interval(&own, TEXT_ROOM), show_interval(&theirs, TEXT_ROOM));
    }
}

// Writes the device, the configuration, and how it was chosen.
static void comment_choice(struct renderer *r, const json_t *section)
{
    bool fallback = header_is_fallback(section), replayed = json_get_bool(section, "replayed", false);
    const char *arch = json_get_string(section, "arch", "?"), *driver = json_get_string(section, "driver", ""),
               *hash = json_get_string(section, "source_hash", "");
    int64_t kernels = json_get_integer(section, "kernels", 0), rounds = json_get_integer(section, "rounds", 0),
            recorded = json_get_integer(section, "recorded_rounds", 0);
    autofree char *date = date_of(section), *kernel = kernels
                                                          ? text_format("kernel %" PRId64 " of %" PRId64 ": ",
                                                                        json_get_integer(section, "kernel", 0), kernels)
                                                          : text_copy("");
    header_put(r, " *\n");
    header_comment(r, " %s%s (%s%s%s%s%s%s), %s",
                   fallback ? "any other device: the job's fallback, not tuned; its results on " : "",
                   json_get_string(section, fallback ? "verified_on" : "device", "?"), arch,
                   *arch && *driver ? ", " : "", *driver ? "driver " : "", driver, *arch || *driver ? ", " : "",
                   json_get_string(section, "compiler", "?"), date);
    header_comment(r, "   %s%s", kernel, json_get_string(section, "configuration", ""));
    if (json_get_bool(section, "final", false) && replayed)
        header_comment(r, "   decided by %" PRId64 " recorded time%s of each candidate", rounds,
                       rounds == 1 ? "" : "s");
    else if (json_get_bool(section, "final", false))
        header_comment(r, "   decided in a final of %" PRId64 " round%s", rounds, rounds == 1 ? "" : "s");
    else if (!fallback)
        header_comment(r, "   NOT decided in a final: the best of the search so far, perhaps by luck");
    const char *shipped = json_get_string(section, "shipped", "");
    if (*shipped) header_comment(r, "   %s", shipped);
    if (replayed) {
        autofree char *final = recorded
                                   ? text_format("a final of %" PRId64 " round%s", recorded, recorded == 1 ? "" : "s")
                                   : text_copy("no final");
        header_comment(r, "   replayed from a recording: nothing was measured here; the recording has %s", final);
        header_comment(r,
                       *hash ? "   the measured template has the hash %s"
                             : "   source not recorded: it is unknown which version of the template was measured%s",
                       hash);
    }
}

// Writes the known compiler figures and counters of each stage.
static void comment_stages(struct renderer *r, const json_t *section)
{
    static const struct {
        const char *key, *text;
    } figures[] = {{"registers", "registers"},
                   {"spills", "bytes spilled"},
                   {"shared_static", "bytes of static shared memory"},
                   {"code_bytes", "bytes of code"}};
    json_array_each(json_object_get(section, "stages"), i, stage) {
        autorelease(text_release) struct text text = {0};
        double occupancy = json_get_number(stage, "occupancy", NAN);
        for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
            int64_t value = json_get_integer(stage, figures[k].key, -1);
            if (value >= 0) text_add(&text, "%s%" PRId64 " %s", text.text ? ", " : "", value, figures[k].text);
        }
        if (text.text && isfinite(occupancy)) text_add(&text, ", occupancy %.4g", occupancy);
        const char *name = json_get_string(stage, "name", "?"), *counters = json_get_string(stage, "counters", "");
        if (text.text) header_comment(r, "   %s: %s", name, text.text);
        if (*counters) header_comment(r, "   %s, counters on the first problem: %s", name, counters);
    }
}

static void comment_section(struct renderer *r, const json_t *section)
{
    const json_t *verified = json_object_get(section, "verified");
    autorelease(text_release) struct text problems = {0}, tied = {0};
    comment_choice(r, section);
    json_array_each(json_object_get(section, "problems"), i, item) {
        struct interval time = json_get_interval(item, "time");
        const char *energy = json_get_string(item, "energy", "");
        header_comment(r, "   %s  %s", json_get_string(item, "name", "?"), show_interval(&time, TEXT_ROOM));
        if (*energy) header_comment(r, "   %s  %s", json_get_string(item, "name", "?"), energy);
    }
    json_array_each(json_object_get(section, "ratios"), i, item) {
        struct interval ratio = json_get_interval(item, "ratio");
        double largest = json_get_number(item, "error_max", NAN), rms = json_get_number(item, "error_rms", NAN);
        autofree char *errors =
            isfinite(largest) && isfinite(rms)
                ? text_format("; largest error %.2f times its, root mean square %.2f times", largest, rms)
                : text_copy("");
        header_comment(r, "   %s times the speed of %s%s", show_ratio(&ratio, TEXT_ROOM),
                       json_get_string(item, "name", "?"), errors);
    }
    comment_nvcc(r, section);
    const json_t *ties = json_object_get(section, "ties");
    json_array_each(ties, i, item)
        if (i < TIES_SHOWN)
            text_add(&tied, "%s%s", i ? "; " : "", json_is_string(item) ? json_string_value(item) : "?");
    if (json_array_size(ties) > TIES_SHOWN) text_add(&tied, "; and %zu others", json_array_size(ties) - TIES_SHOWN);
    if (tied.text) header_comment(r, "   tied with %s", tied.text);
    json_array_each(verified, i, item)
        text_add(&problems, "%s%s", i ? "; " : "verified on ", json_is_string(item) ? json_string_value(item) : "?");
    if (!problems.text)
        text_add(&problems, "%s",
                 json_get_bool(section, "replayed", false) ? "not verified here: replayed from a recording"
                 : json_object_get(section, "shipped")     ? "not verified here: a winner that comes with sweetspot"
                                                           : "NOT VERIFIED");
    double error = json_get_number(section, "error", NAN);
    if (isfinite(error)) text_add(&problems, "; largest error %.2g of what is allowed", error);
    header_comment(r, "   %s", problems.text);
    const char *risk = show_remaining_risk(json_get_integer(section, "launches_judged", 0), TEXT_ROOM);
    if (*risk) header_comment(r, "   %s", risk);
    const char *sanitizers = json_get_string(section, "sanitizers", "");
    if (*sanitizers) header_comment(r, "   %s", sanitizers);
    if (!header_is_fallback(section)) comment_stages(r, section);
}

// Writes the macros about nvcc's build. Writes no macros if nvcc's version is unknown.
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
    const json_t *problems = json_object_get(section, "problems");
    autofree char *date = date_of(section);
    header_define_text(r, "driver", json_get_string(section, "driver", ""));
    header_define_text(r, "compiler", json_get_string(section, "compiler", ""));
    header_define_text(r, "date", date);
    header_define(r, "decided_in_final", "%d", json_get_bool(section, "final", false));
    header_define(r, "final_rounds", "%" PRId64, json_get_integer(section, "rounds", 0));
    header_define(r, "verified_problems", "%zu", json_array_size(json_object_get(section, "verified")));
    if (json_is_number(json_object_get(section, "error")))
        header_define(r, "error", "%.3g", json_get_number(section, "error", 0));
    if (json_get_integer(section, "launches_judged", 0) > 0)
        header_define(r, "launches_judged", "%" PRId64, json_get_integer(section, "launches_judged", 0));
    if (header_is_fallback(section)) return; // the other members are from the device on which it was verified
    struct interval time = {json_get_number(section, "seconds", NAN), NAN, NAN};
    if (json_array_size(problems) == 1) time = json_get_interval(json_array_get(problems, 0), "time");
    define_interval(r, "seconds", time);
    json_array_each(json_object_get(section, "ratios"), i, ratio) {
        autofree char *macro = text_format("ratio_%s", json_get_string(ratio, "name", "?"));
        define_interval(r, macro, json_get_interval(ratio, "ratio"));
    }
    put_nvcc(r, section);
}

void header_provenance(struct renderer *r)
{
    header_put(r, "/* The evidence.\n");
    json_array_each(r->sections, i, section) comment_section(r, section);
    header_put(r, " * SECONDS: median; for several problems the job's objective. RATIO_x: x's time over ours. "
                  "NVCC_RATIO: the time of\n * nvcc's build over that of NVRTC's, which SECONDS is. LOW, HIGH: 95%% "
                  "intervals. ERROR: the largest error over the\n * bound. */\n");
    json_array_each(r->sections, i, section) {
        header_put_condition(r, i);
        put_provenance(r, section);
    }
    header_end_conditions(r);
    header_put(r, "\n");
}
