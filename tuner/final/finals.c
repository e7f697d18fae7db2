// See finals.h.
#include "tuner/final/finals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tuner/base/limits.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"

static const struct interval unknown = {NAN, NAN, NAN};

// The times of one problem of an entry, one per round, NaN where one is missing; NULL if the entry has none. The caller
// frees.
static double *read_times(const json_t *entry, size_t problem, size_t *count)
{
    size_t i;
    const json_t *item;
    *count = 0;
    json_array_foreach(json_object_get(entry, "problems"), i, item)
    {
        if (json_get_integer(item, "problem", (int64_t)i) != (int64_t)problem) continue;
        const json_t *list = json_object_get(item, "times");
        if (!json_array_size(list)) return NULL;
        double *times = memory_new(json_array_size(list), sizeof *times);
        for (*count = 0; *count < json_array_size(list); ++*count) {
            const json_t *time = json_array_get(list, *count);
            times[*count] = json_is_number(time) && json_number_value(time) > 0 ? json_number_value(time) : (double)NAN;
        }
        return times;
    }
    return NULL;
}

static const json_t *find_problem(const json_t *entry, size_t problem)
{
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(entry, "problems"), i, item)
    {
        if (json_get_integer(item, "problem", (int64_t)i) == (int64_t)problem) return item;
    }
    return NULL;
}

// For rounds whose processes are known.
static const unsigned char *processes_of(const struct final *final, size_t rounds)
{
    return rounds <= final->process_rounds ? final->process : NULL;
}

static struct interval median_of(const struct final *final, const double *times, size_t count, size_t *used)
{
    struct interval median = unknown;
    const unsigned char *process = processes_of(final, count);
    double *kept = memory_new(count, sizeof *kept);
    unsigned char *of = memory_new(count, 1);
    *used = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(times[i])) continue;
        of[*used] = process ? process[i] : 0;
        kept[(*used)++] = times[i];
    }
    if (*used && process) {
        median = stats_clustered_median(kept, of, *used, 0.95, (uint64_t) final->seed);
    } else if (*used) {
        stats_median_interval(kept, *used, &median.low, &median.high);
        median.value = stats_median(kept, *used);
    }
    free(kept);
    free(of);
    return median;
}

// Paired over the rounds in which both have a time.
static struct interval ratio_of(const struct final *final, const double *theirs, const double *ours, size_t count,
                                uint64_t seed)
{
    struct interval ratio;
    stats_paired_ratio(theirs, ours, processes_of(final, count), count, 0.95, seed, &ratio);
    return ratio;
}

static void read_medians(struct final_entry *entry, const json_t *list)
{
    const json_t *median;
    size_t i;
    entry->process_medians = memory_new(json_array_size(list), sizeof *entry->process_medians);
    json_array_foreach(list, i, median)
    {
        if (json_is_number(median)) entry->process_medians[entry->process_count++] = json_number_value(median);
    }
}

static void read_entry(const struct final *final, struct final_entry *entry, const json_t *from)
{
    size_t problem_count = final->problem_count;
    *entry = (struct final_entry){
        .name = text_copy(json_get_string(from, "name", "?")),
        .trial = json_get_integer(from, "trial", 0),
        .ok = !strcmp(json_get_string(from, "status", "ok"), "ok"),
        .reason = text_copy(json_get_string(from, "reason", "")),
        .error = json_get_number(from, "error", NAN),
        .problems = memory_new(problem_count, sizeof *entry->problems),
        .ratio = unknown,
        .by_process = json_get_bool(from, "by_process", false),
    };
    read_medians(entry, json_object_get(from, "process_medians"));
    for (size_t p = 0; p < problem_count; p++) {
        const json_t *problem = find_problem(from, p);
        entry->problems[p] = (struct final_problem){
            .time = unknown,
            .ratio = unknown,
            .error_max = json_get_number(problem, "error_max", NAN),
            .error_rms = json_get_number(problem, "error_rms", NAN),
        };
        size_t count;
        double *times = read_times(from, p, &count);
        if (times && entry->ok) entry->problems[p].time = median_of(final, times, count, &entry->problems[p].rounds);
        free(times);
    }
}

static const json_t *entry_of(const json_t *entries, int64_t trial)
{
    const json_t *item;
    size_t i;
    json_array_foreach(entries, i, item)
    {
        if (trial && json_get_integer(item, "trial", 0) == trial) return item;
    }
    return NULL;
}

// Reads the kernels of objective each. -1 with a message when one has no entry.
static int read_dispatch(struct final *final, const json_t *document, const json_t *entries, struct error *err)
{
    const json_t *kernels = json_object_get(document, "kernels"), *dispatch = json_object_get(document, "dispatch"),
                 *regret = json_object_get(document, "regret");
    final->kernels = memory_new(json_array_size(kernels), sizeof *final->kernels);
    final->dispatch = memory_new(final->problem_count, sizeof *final->dispatch);
    final->regret = memory_new(final->problem_count, sizeof *final->regret);
    for (size_t k = 0; k < json_array_size(kernels); k++) {
        final->kernels[k] = json_integer_value(json_array_get(kernels, k));
        if (!entry_of(entries, final->kernels[k])) return error_set(err, "kernel %zu of the final has no entry", k);
    }
    final->kernel_count = json_array_size(kernels);
    final->stage = memory_new(final->kernel_count, sizeof *final->stage);
    final->at_once = memory_new(final->kernel_count, sizeof *final->at_once);
    for (size_t k = 0; k < final->kernel_count; k++) {
        const json_t *selector = json_array_get(json_object_get(document, "selector"), k);
        final->at_once[k] = json_get_integer(selector, "at_once", 0);
        if (final->at_once[k] > 0) final->stage[k] = text_copy(json_get_string(selector, "stage", ""));
    }
    for (size_t p = 0; p < final->problem_count && final->kernel_count; p++) {
        const json_t *index = json_array_get(dispatch, p);
        if (!json_is_integer(index) || json_integer_value(index) < 0 ||
            (size_t)json_integer_value(index) >= final->kernel_count)
            return error_set(err, "the final gives problem %zu no kernel", p);
        final->dispatch[p] = (size_t)json_integer_value(index);
        final->regret[p] =
            json_is_number(json_array_get(regret, p)) ? json_number_value(json_array_get(regret, p)) : (double)NAN;
    }
    return 0;
}

static int64_t chosen_trial(const struct final *final, size_t problem)
{
    return final->kernel_count ? final->kernels[final->dispatch[problem]] : final->winner;
}

// Ratios of one baseline to what is chosen: a problem at a time, and over all of them as the geometric mean within each
// round.
static void compare(struct final_entry *entry, const json_t *theirs, const struct final *final, const json_t *entries)
{
    double *logs = NULL, *ones = NULL;
    size_t rounds = 0, problem_count = final->problem_count;
    uint64_t seed = (uint64_t) final->seed;
    bool complete = true;
    for (size_t p = 0; p < problem_count; p++) {
        size_t n, m;
        double *a = read_times(theirs, p, &n), *b = read_times(entry_of(entries, chosen_trial(final, p)), p, &m);
        size_t common = n < m ? n : m;
        if (a && b && common) {
            entry->problems[p].ratio = ratio_of(final, a, b, common, seed + p);
            if (!logs) {
                rounds = common;
                logs = memory_new(rounds, sizeof *logs);
                ones = memory_new(rounds, sizeof *ones);
            }
            if (common < rounds) rounds = common;
            for (size_t i = 0; i < rounds; i++) logs[i] += log(a[i] / b[i]) / (double)problem_count; // NaN stays NaN
        } else {
            complete = false;
        }
        free(a);
        free(b);
    }
    for (size_t i = 0; i < rounds; i++) logs[i] = exp(logs[i]), ones[i] = 1;
    if (complete && rounds)
        entry->ratio = problem_count == 1 ? entry->problems[0].ratio : ratio_of(final, logs, ones, rounds, seed);
    free(logs);
    free(ones);
}

static int read_processes(struct final *final, const json_t *list, struct error *err)
{
    const json_t *number;
    size_t i;
    if (!json_array_size(list)) return 0;
    final->process = memory_new(json_array_size(list), 1);
    json_array_foreach(list, i, number)
    {
        json_int_t n = json_is_integer(number) ? json_integer_value(number) : -1;
        if (n < 0 || n >= FINAL_PROCESSES_MAX) return error_set(err, "the final has a round without a process");
        final->process[final->process_rounds++] = (unsigned char)n;
    }
    return 0;
}

int final_read(struct final *final, const json_t *document, size_t problem_count, struct error *err)
{
    const json_t *entries = json_object_get(document, "entries"), *ties = json_object_get(document, "ties"), *item;
    size_t i;
    *final = (struct final){
        .when = json_get_number(document, "when", 0),
        .seed = json_get_integer(document, "seed", 0),
        .rounds = json_get_integer(document, "rounds", 0),
        .winner = json_get_integer(document, "winner", 0),
        .replayed = json_get_bool(document, "replayed", false),
        .problem_count = problem_count,
    };
    if (!json_is_array(entries)) return error_set(err, "the final has no entries");
    final->entries = memory_new(json_array_size(entries), sizeof *final->entries);
    if (read_processes(final, json_object_get(document, "process"), err)) return -1;
    json_array_foreach(entries, i, item) read_entry(final, &final->entries[final->entry_count++], item);
    if (!entry_of(entries, final->winner)) return error_set(err, "the final has no winner");
    if (read_dispatch(final, document, entries, err)) return -1;
    for (i = 0; i < final->entry_count; i++)
        if (!final->entries[i].trial && final->entries[i].ok)
            compare(&final->entries[i], json_array_get(entries, i), final, entries);
    final->ties = memory_new(json_array_size(ties), sizeof *final->ties);
    json_array_foreach(ties, i, item)
    {
        if (json_is_integer(item) && json_integer_value(item) != final->winner)
            final->ties[final->tie_count++] = json_integer_value(item);
    }
    return 0;
}

void final_compare_candidates(struct final *final, const json_t *document)
{
    const json_t *entries = json_object_get(document, "entries");
    for (size_t i = 0; i < final->entry_count; i++)
        if (final->entries[i].trial && final->entries[i].ok)
            compare(&final->entries[i], json_array_get(entries, i), final, entries);
}

void final_release(struct final *final)
{
    for (size_t i = 0; i < final->entry_count; i++) {
        free(final->entries[i].name);
        free(final->entries[i].reason);
        free(final->entries[i].problems);
        free(final->entries[i].process_medians);
    }
    free(final->entries);
    free(final->ties);
    free(final->kernels);
    for (size_t k = 0; k < final->kernel_count; k++) free(final->stage[k]);
    free(final->stage);
    free(final->at_once);
    free(final->dispatch);
    free(final->regret);
    free(final->process);
    *final = (struct final){0};
}

static const struct final_entry *find_entry(const struct final *final, int64_t trial)
{
    for (size_t i = 0; i < final->entry_count; i++)
        if (final->entries[i].trial == trial) return &final->entries[i];
    return NULL;
}

const struct final_entry *final_winner(const struct final *final)
{
    return find_entry(final, final->winner);
}
const struct final_entry *final_choice(const struct final *final, size_t problem)
{
    return find_entry(final, chosen_trial(final, problem));
}

const struct final_entry *final_fastest_baseline(const struct final *final, size_t problem)
{
    const struct final_entry *fastest = NULL;
    for (size_t i = 0; i < final->entry_count; i++) {
        const struct final_entry *entry = &final->entries[i];
        double ratio = entry->problems[problem].ratio.value;
        if (entry->trial || !isfinite(ratio)) continue;
        if (!fastest || ratio < fastest->problems[problem].ratio.value) fastest = entry;
    }
    return fastest;
}

static double unit_of(double seconds, const char **name)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    size_t i = 0;
    while (i < 3 && seconds < 0.99995 * units[i].seconds) i++; // 1000 of a unit is shown as 1 of the next
    *name = units[i].name;
    return units[i].seconds;
}

// Four digits; times are measured to a thousandth at best.
static int decimals(double value)
{
    return value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0;
}

const char *show_time(double seconds, char *out, size_t size)
{
    const char *unit;
    if (!isfinite(seconds)) {
        snprintf(out, size, "-");
        return out;
    }
    double scale = unit_of(seconds, &unit);
    snprintf(out, size, "%.*f %s", decimals(seconds / scale), seconds / scale, unit);
    return out;
}

const char *show_interval(const struct interval *time, char *out, size_t size)
{
    const char *unit;
    *out = 0;
    if (!isfinite(time->value)) return out;
    double scale = unit_of(time->value, &unit);
    int digits = decimals(time->value / scale);
    if (isfinite(time->low) && isfinite(time->high))
        snprintf(out, size, "%.*f %s [%.*f, %.*f]", digits, time->value / scale, unit, digits, time->low / scale,
                 digits, time->high / scale);
    else
        snprintf(out, size, "%.*f %s", digits, time->value / scale, unit);
    return out;
}

const char *show_ratio(const struct interval *ratio, char *out, size_t size)
{
    *out = 0;
    if (isfinite(ratio->value)) snprintf(out, size, "%.3f [%.3f, %.3f]", ratio->value, ratio->low, ratio->high);
    return out;
}

const char *show_moment(double when, char *out, size_t size)
{
    time_t seconds = when > 0 && when < 1e12 ? (time_t)when : 0;
    struct tm parts;
    if (!seconds || !localtime_r(&seconds, &parts) || !strftime(out, size, "%Y-%m-%d %H:%M", &parts))
        snprintf(out, size, "-");
    return out;
}
