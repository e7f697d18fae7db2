// See builds_summary.h.
#include "tuner/final/builds_summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/protocol.h"
#include "tuner/base/table.h"
#include "tuner/base/text.h"
#include "tuner/store/builds.h"

// A race from before the final, or of another final, is not about this final's winner.
static bool is_of(const json_t *document, const struct final *final)
{
    const json_t *kernels = json_object_get(document, "kernels");
    if (json_get_number(document, "when", 0) < final->when || json_get_integer(document, "winner", 0) != final->winner)
        return false;
    if (json_array_size(kernels) != final->kernel_count) return false;
    for (size_t k = 0; k < final->kernel_count; k++)
        if (json_integer_value(json_array_get(kernels, k)) != final->kernels[k]) return false;
    return true;
}

static const struct final_entry *nvcc_entry(const struct final *race)
{
    for (size_t i = 0; i < race->entry_count; i++)
        if (!race->entries[i].trial && !strcmp(race->entries[i].name, BUILDS_NVCC)) return &race->entries[i];
    return NULL;
}

// Times by problem: the document is read as a final in which nvcc's build is one of the libraries.
static int add_times(json_t *summary, const json_t *document, const struct job *job)
{
    struct final race;
    struct error err;
    json_t *problems = json_array();
    int failed = final_read(&race, document, job->tuned_count, &err);
    const struct final_entry *nvcc = failed ? NULL : nvcc_entry(&race);
    for (size_t p = 0; p < job->tuned_count && nvcc; p++)
        json_array_append_new(problems, json_pack("{s:s, s:o, s:o, s:o}", "problem", job->problems[p].name, "nvrtc",
                                                  json_interval(&final_choice(&race, p)->problems[p].time), "nvcc",
                                                  json_interval(&nvcc->problems[p].time), "ratio",
                                                  json_interval(&nvcc->problems[p].ratio)));
    if (nvcc) json_object_set_new(summary, "error", json_real_or_null(nvcc->error));
    json_object_set_new(summary, "problems", problems);
    final_release(&race);
    return nvcc ? 0 : -1;
}

static bool has_times(const json_t *summary)
{
    const char *verdict = json_get_string(summary, "verdict", "");
    return strcmp(verdict, BUILDS_FAILED) != 0 && strcmp(verdict, BUILDS_MISSING) != 0;
}

json_t *builds_summary(const json_t *document, const struct final *final, const struct job *job)
{
    json_t *builds = json_object_get(document, "builds"), *ratio = json_object_get(document, "ratio");
    if (!document || !is_of(document, final)) return NULL;
    json_t *summary = json_pack("{s:s, s:s, s:s, s:O, s:O}", "compiler", json_get_string(document, "nvcc", ""),
                                "verdict", json_get_string(document, "verdict", BUILDS_MISSING), "reason",
                                json_get_string(document, "reason", ""), "builds", builds ? builds : json_null(),
                                "ratio", ratio ? ratio : json_null());
    if (summary && has_times(summary) && add_times(summary, document, job)) {
        json_decref(summary);
        return NULL;
    }
    return summary;
}

char *builds_text(const json_t *summary, const char *nvrtc)
{
    static const struct {
        const char *verdict, *words;
    } known[] = {{BUILDS_SLOWER, "slower"},
                 {BUILDS_SAME, "the same within 1%"},
                 {BUILDS_FASTER, "faster"},
                 {BUILDS_UNDECIDED, "undecided, "}};
    const char *verdict = json_get_string(summary, "verdict", ""), *reason = json_get_string(summary, "reason", ""),
               *words = "";
    struct interval ratio = json_get_interval(summary, "ratio");
    char text[64];
    if (!has_times(summary))
        return text_format("%s: %s", !strcmp(verdict, BUILDS_FAILED) ? "failed" : "not timed", reason);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].verdict, verdict)) words = known[i].words;
    return text_format("%s times the time of %s's build: %s%s", show_ratio(&ratio, text, sizeof text), nvrtc, words,
                       reason);
}

static void print_times(const json_t *summary, const char *nvrtc, const char *nvcc)
{
    char *titles[] = {text_format(">%s", nvrtc), text_format(">%s", nvcc), text_format(">ratio")}, text[96];
    struct table *table = table_new((const char *[]){"problem", titles[0], titles[1], titles[2], NULL});
    const json_t *problem;
    size_t i;
    json_array_foreach(json_object_get(summary, "problems"), i, problem)
    {
        struct interval ratio = json_get_interval(problem, "ratio"), own = json_get_interval(problem, PROTOCOL_NVRTC),
                        theirs = json_get_interval(problem, PROTOCOL_NVCC);
        table_cell(table, "%s", json_get_string(problem, "problem", ""));
        table_cell(table, "%s", show_interval(&own, text, sizeof text));
        table_cell(table, "%s", show_interval(&theirs, text, sizeof text));
        table_cell(table, "%s", show_ratio(&ratio, text, sizeof text));
    }
    table_print(table, stdout);
    table_free(table);
    for (i = 0; i < 3; i++) free(titles[i]);
}

static void print_number(struct table *table, int64_t value)
{
    if (value < 0)
        table_cell(table, "%s", "");
    else
        table_cell(table, "%" PRId64, value);
}

static void add_figures(struct table *table, const json_t *builds, const char *binary, const char *compiler)
{
    const json_t *entry;
    size_t i;
    json_array_foreach(json_object_get(builds, binary), i, entry)
    {
        int64_t loads = json_get_integer(entry, "spill_loads", -1),
                stores = json_get_integer(entry, "spill_stores", -1);
        table_cell(table, "%s", json_get_string(entry, "entry", ""));
        table_cell(table, "%s", compiler);
        print_number(table, json_get_integer(entry, "registers", -1));
        print_number(table, loads < 0 || stores < 0 ? -1 : loads + stores);
        print_number(table, json_get_integer(entry, "code_bytes", -1));
    }
}

static void print_figures(const json_t *summary, const char *nvrtc, const char *nvcc)
{
    struct table *table =
        table_new((const char *[]){"entry", "built by", ">registers", ">spill bytes", ">code bytes", NULL});
    const json_t *builds;
    size_t i;
    json_array_foreach(json_object_get(summary, "builds"), i, builds)
    {
        add_figures(table, builds, PROTOCOL_NVRTC, nvrtc);
        add_figures(table, builds, PROTOCOL_NVCC, nvcc);
    }
    table_print(table, stdout);
    table_free(table);
}

void builds_print(const json_t *summary, const char *nvrtc)
{
    const char *compiler = json_get_string(summary, "compiler", "");
    if (!summary) return;
    char *words = builds_text(summary, nvrtc);
    printf("\nThe template built by %s with the header's options: %s\n", *compiler ? compiler : PROTOCOL_NVCC, words);
    free(words);
    if (!has_times(summary)) return;
    print_times(summary, nvrtc, compiler);
    print_figures(summary, nvrtc, compiler);
}
