// See finals.h.
#include "tuner/final/finals.h"

#include <time.h>

// The document -------------------------------------------------------------------------------------------------------

static const struct record_field selector_fields[] = {{"stage", RECORD_MEMBER(struct final_selector, stage)},
                                                      {"at_once", RECORD_MEMBER(struct final_selector, at_once)},
                                                      {0}};
static const struct record selector_record = {"a selector", sizeof(struct final_selector), selector_fields, NULL};

#define DECISION(member) RECORD_MEMBER(struct final_decision, member)
#define DECISION_VALUES(member, count) RECORD_VALUES(struct final_decision, member, count)
static const struct record_field decision_fields[] = {
    {"rounds", DECISION(rounds)},
    {"winner", DECISION(winner)},
    {"ties", DECISION_VALUES(ties, tie_count)},
    {"certainty", DECISION(certainty)},
    {"within", DECISION(within)},
    {"minimize", DECISION(minimize)},
    {"warning", DECISION(warning)},
    {"kernels", DECISION_VALUES(kernels, kernel_count)},
    {"dispatch", DECISION_VALUES(dispatch, dispatch_count)},
    {"regret", DECISION_VALUES(regret, regret_count), .flags = RECORD_HOLES},
    {"selector", RECORD_RECORDS(struct final_decision, selector, selector_count, selector_record),
     .flags = RECORD_HOLES},
    {"reason", DECISION(reason)},
    {0}};
const struct record final_decision_record = {"a decision", sizeof(struct final_decision), decision_fields, NULL};

#define ENTRY(member) RECORD_MEMBER(struct final_entry_document, member)
static const struct record_field entry_fields[] = {
    {"answer", RECORD_IN_PLACE(struct final_entry_document, answer, final_entry_record)},
    {"process_medians", RECORD_VALUES(struct final_entry_document, process_medians, process_count)},
    {"by_process", ENTRY(by_process)},
    {"same_as", ENTRY(same_as)},
    {0}};
static const struct record entry_record = {"an entry", sizeof(struct final_entry_document), entry_fields, NULL};

static int check(const void *record, struct error *err)
{
    const struct final_document *d = record;
    return d->entries ? 0 : error_set(err, "the final has no entries");
}

#define DOCUMENT(member) RECORD_MEMBER(struct final_document, member)
static const struct record_field document_fields[] = {
    {"when", DOCUMENT(when)},
    {"seed", DOCUMENT(seed), .flags = RECORD_ALWAYS},
    {"nvcc", DOCUMENT(nvcc)},
    {"verdict", DOCUMENT(verdict)},
    {"ratio", RECORD_INTERVAL(struct final_document, ratio)},
    {"decision", RECORD_IN_PLACE(struct final_document, decision, final_decision_record)},
    {"process", RECORD_VALUES(struct final_document, process, process_rounds), .high = FINAL_PROCESSES_MAX - 1},
    {"gpu", DOCUMENT(gpu)},
    {"replayed", DOCUMENT(replayed), .flags = RECORD_ALWAYS},
    {"recording", DOCUMENT(recording)},
    {"entries", RECORD_RECORDS(struct final_document, entries, entry_count, entry_record)},
    {0}};
const struct record final_document_record = {"the final", sizeof(struct final_document), document_fields, check};

// A final that was read ----------------------------------------------------------------------------------------------

static const struct interval unknown = {NAN, NAN, NAN};

// The time of a round; NaN if it has none.
static double time_at(const struct final_times *times, size_t round)
{
    return times->times[round] > 0 ? times->times[round] : (double)NAN;
}

// The processes of the rounds, if known for this number of rounds.
static const unsigned char *processes_of(const struct final *final, size_t rounds)
{
    return rounds <= final->process_rounds ? final->process : NULL;
}

struct interval final_median(const struct final_times *times, const unsigned char *process, uint64_t seed, size_t *used)
{
    struct interval median = unknown;
    size_t count = times ? times->time_count : 0;
    autofree double *kept = memory_new(count, sizeof *kept);
    autofree unsigned char *of = memory_new(count, 1);
    *used = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(time_at(times, i))) continue;
        of[*used] = process ? process[i] : 0;
        kept[(*used)++] = time_at(times, i);
    }
    if (*used && process) {
        median = stats_clustered_median(kept, of, *used, 0.95, seed);
    } else if (*used) {
        stats_median_interval(kept, *used, &median.low, &median.high);
        median.value = stats_median(kept, *used);
    }
    return median;
}

// The ratio, paired over the rounds in which both have a time.
static struct interval ratio_of(const struct final *final, const double *theirs, const double *ours, size_t count,
                                uint64_t seed)
{
    struct interval ratio;
    stats_paired_ratio(theirs, ours, processes_of(final, count), count, 0.95, seed, &ratio);
    return ratio;
}

static void read_entry(const struct final *final, struct final_entry *entry, const struct final_entry_document *from)
{
    const struct final_entry_answer *answer = &from->answer;
    *entry = (struct final_entry){
        .name = answer->name,
        .trial = answer->trial,
        .ok = answer->status == STATUS_OK,
        .reason = answer->reason,
        .detail = answer->detail,
        .error = answer->error,
        .launches_judged = answer->launches_judged,
        .sizes_verified = answer->sizes_verified,
        .problems = memory_new(final->problem_count, sizeof *entry->problems),
        .ratio = unknown,
        .by_process = from->by_process,
        .process_count = from->process_count,
        .process_medians = from->process_medians,
    };
    for (size_t p = 0; p < final->problem_count; p++) {
        const struct final_times *times = final_entry_times(answer, p);
        struct final_problem *problem = &entry->problems[p];
        *problem = (struct final_problem){.time = unknown,
                                          .ratio = unknown,
                                          .error_max = times ? times->error_max : NAN,
                                          .error_rms = times ? times->error_rms : NAN,
                                          .energy = times ? times->energy : NULL};
        if (!entry->ok || !times) continue;
        const unsigned char *process = processes_of(final, times->time_count);
        problem->time = final_median(times, process, (uint64_t) final->document.seed, &problem->rounds);
    }
}

static const struct final_entry_answer *entry_of(const struct final *final, int64_t trial)
{
    for (size_t i = 0; i < final->document.entry_count; i++)
        if (trial && final->document.entries[i].answer.trial == trial) return &final->document.entries[i].answer;
    return NULL;
}

// Reads the kernels of a final with objective "each". Returns -1 with a message if one has no entry.
static int read_dispatch(struct final *final, struct error *err)
{
    const struct final_decision *d = &final->document.decision;
    final->kernels = d->kernels;
    final->kernel_count = d->kernel_count;
    final->dispatch = d->dispatch;
    final->regret = d->regret;
    for (size_t k = 0; k < d->kernel_count; k++)
        if (!entry_of(final, d->kernels[k])) return error_set(err, "kernel %zu of the final has no entry", k);
    for (size_t p = 0; p < final->problem_count && d->kernel_count; p++)
        if (p >= d->dispatch_count || d->dispatch[p] < 0 || (size_t)d->dispatch[p] >= d->kernel_count)
            return error_set(err, "the final gives problem %zu no kernel", p);
    if (d->kernel_count && d->regret_count < final->problem_count)
        return error_set(err, "the final has no regret of some problems");
    return 0;
}

static int64_t chosen_trial(const struct final *final, size_t problem)
{
    return final->kernel_count ? final->kernels[final->dispatch[problem]] : final->winner;
}

// Computes the ratios of one entry to the chosen entries: for each problem, and for all problems together. The ratio
// for all problems uses the geometric mean over the problems in each round.
static void compare(struct final_entry *entry, const struct final_entry_answer *theirs, const struct final *final)
{
    autofree double *logs = NULL, *ones = NULL;
    size_t rounds = 0, problem_count = final->problem_count;
    uint64_t seed = (uint64_t) final->document.seed;
    bool complete = true;
    for (size_t p = 0; p < problem_count; p++) {
        const struct final_times *a = final_entry_times(theirs, p),
                                 *b = final_entry_times(entry_of(final, chosen_trial(final, p)), p);
        size_t common = a && b ? a->time_count < b->time_count ? a->time_count : b->time_count : 0;
        if (!common) {
            complete = false;
            continue;
        }
        autofree double *pair = memory_new(2 * common, sizeof *pair);
        for (size_t i = 0; i < common; i++) {
            pair[i] = time_at(a, i);
            pair[common + i] = time_at(b, i);
        }
        entry->problems[p].ratio = ratio_of(final, pair, pair + common, common, seed + p);
        if (!logs) {
            rounds = common;
            logs = memory_new(rounds, sizeof *logs);
            ones = memory_new(rounds, sizeof *ones);
        }
        if (common < rounds) rounds = common;
        for (size_t i = 0; i < rounds; i++)
            logs[i] += log(pair[i] / pair[common + i]) / (double)problem_count; // NaN stays NaN
    }
    for (size_t i = 0; i < rounds; i++) logs[i] = exp(logs[i]), ones[i] = 1;
    if (complete && rounds)
        entry->ratio = problem_count == 1 ? entry->problems[0].ratio : ratio_of(final, logs, ones, rounds, seed);
}

static void compare_all(struct final *final, bool candidates)
{
    for (size_t i = 0; i < final->entry_count; i++)
        if (final->entries[i].ok && (final->entries[i].trial != 0) == candidates)
            compare(&final->entries[i], &final->document.entries[i].answer, final);
}

int final_read(struct final *final, const json_t *document, size_t problem_count, struct error *err)
{
    const struct final_document *d = &final->document;
    *final = (struct final){.problem_count = problem_count};
    if (record_read(&final_document_record, document, &final->document, &final->memory, err)) return -1;
    final->when = isnan(d->when) ? 0 : d->when;
    final->rounds = d->decision.rounds;
    final->winner = d->decision.winner;
    final->replayed = d->replayed;
    if (!entry_of(final, final->winner)) return error_set(err, "the final has no winner");
    final->process_rounds = d->process_rounds;
    final->process = memory_new(d->process_rounds, 1);
    for (size_t i = 0; i < d->process_rounds; i++) final->process[i] = (unsigned char)d->process[i];
    final->entries = memory_new(d->entry_count, sizeof *final->entries);
    for (; final->entry_count < d->entry_count; final->entry_count++)
        read_entry(final, &final->entries[final->entry_count], &d->entries[final->entry_count]);
    if (read_dispatch(final, err)) return -1;
    compare_all(final, false);
    int64_t *ties = arena_new(&final->memory, d->decision.tie_count * sizeof *ties);
    for (size_t i = 0; i < d->decision.tie_count; i++)
        if (d->decision.ties[i] != final->winner) ties[final->tie_count++] = d->decision.ties[i];
    final->ties = ties;
    return 0;
}

void final_compare_candidates(struct final *final)
{
    compare_all(final, true);
}

void final_release(struct final *final)
{
    for (size_t i = 0; i < final->entry_count; i++) free(final->entries[i].problems);
    free(final->entries);
    free(final->process);
    arena_release(&final->memory);
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

const struct final_selector *final_selector(const struct final *final, size_t kernel)
{
    const struct final_decision *d = &final->document.decision;
    return kernel < d->selector_count && d->selector[kernel].at_once > 0 ? &d->selector[kernel] : NULL;
}

static double error_ratio(double ours, double theirs)
{
    return ours == theirs ? 1 : ours / theirs;
}

struct final_error_ratios final_error_ratios(const struct final *final, const struct final_entry *baseline,
                                             size_t problem)
{
    const struct final_problem *ours = &final_choice(final, problem)->problems[problem],
                               *theirs = &baseline->problems[problem];
    return (struct final_error_ratios){error_ratio(ours->error_max, theirs->error_max),
                                       error_ratio(ours->error_rms, theirs->error_rms)};
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

// 1000 of one unit are shown as 1 of the next larger unit.
static double unit_of(double value, const char *const names[4], const char **name)
{
    static const double units[] = {1, 1e-3, 1e-6, 1e-9};
    size_t i = 0;
    while (i < 3 && value < 0.99995 * units[i]) i++;
    *name = names[i];
    return units[i];
}

static const char *const second_names[] = {"s", "ms", "us", "ns"}, *const joule_names[] = {"J", "mJ", "uJ", "nJ"};

// Shows four digits, since times are measured to a thousandth at best.
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
    double scale = unit_of(seconds, second_names, &unit);
    snprintf(out, size, "%.*f %s", decimals(seconds / scale), seconds / scale, unit);
    return out;
}

const char *show_interval(const struct interval *time, char *out, size_t size)
{
    const char *unit;
    *out = 0;
    if (!isfinite(time->value)) return out;
    double scale = unit_of(time->value, second_names, &unit);
    int digits = decimals(time->value / scale);
    if (isfinite(time->low) && isfinite(time->high))
        snprintf(out, size, "%.*f %s [%.*f, %.*f]", digits, time->value / scale, unit, digits, time->low / scale,
                 digits, time->high / scale);
    else
        snprintf(out, size, "%.*f %s", digits, time->value / scale, unit);
    return out;
}

const char *show_energy(const struct energy_figures *e, char *out, size_t size)
{
    const char *unit;
    if (!isfinite(e->joules.value)) {
        snprintf(out, size, "energy not measured: %s", *e->reason ? e->reason : "unknown why");
        return out;
    }
    double joules = e->joules.value / unit_of(e->joules.value, joule_names, &unit);
    char clock[32] = "";
    if (e->clock_mhz > 0) snprintf(clock, sizeof clock, " and %.0f MHz", e->clock_mhz);
    snprintf(out, size, "%.*f %s at %.0f W%s, flush and restore (%.2g%%) subtracted%s", decimals(joules), joules, unit,
             e->watts, clock, 100 * e->share, e->power_limited ? ", at the power limit" : "");
    return out;
}

const char *show_ratio(const struct interval *ratio, char *out, size_t size)
{
    *out = 0;
    if (isfinite(ratio->value)) snprintf(out, size, "%.3f [%.3f, %.3f]", ratio->value, ratio->low, ratio->high);
    return out;
}

const char *show_remaining_risk(int64_t launches_judged, char *out, size_t size)
{
    *out = '\0';
    if (launches_judged > 0)
        snprintf(out, size, "%" PRId64 " launches judged; a fault rarer than 3/%" PRId64 " is not excluded",
                 launches_judged, launches_judged);
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
