// The newest final: the winner, its margin, the baselines, and the other candidates' times.
//
// The verdict compares the winner with the fastest library, based on the interval of the paired ratio (the library's
// time over the winner's).
#include "tuner/report/report_parts.h"
#include "tuner/trial/trial_field.h"

// A ratio is a tie if its whole interval is within this distance of 1.
static const double tie = 0.01;

static json_t *interval_json(const struct interval *i)
{
    return json_pack("{s:f, s:f, s:f}", "value", i->value, "low", i->low, "high", i->high);
}

static const char *verdict_of(const struct interval *ratio)
{
    if (ratio->low >= 1 - tie && ratio->high <= 1 + tie) return "tie";
    if (ratio->low > 1) return "faster";
    if (ratio->high < 1) return "slower";
    return "undecided";
}

// Combines the problems' medians, and the ends of their intervals, according to the objective.
static struct interval time_of(const struct result *r, const struct final *final, const struct final_entry *entry)
{
    double value[JOB_MAX_PROBLEMS], low[JOB_MAX_PROBLEMS], high[JOB_MAX_PROBLEMS];
    for (size_t p = 0; p < r->tuned_count; p++) {
        // With several kernels, the winner's entry represents all of them together.
        bool winner = entry->trial && entry->trial == final->winner;
        const struct interval *time = &(winner ? final_choice(final, p) : entry)->problems[p].time;
        value[p] = time->value;
        low[p] = time->low;
        high[p] = time->high;
    }
    return (struct interval){result_objective(r, value), result_objective(r, low), result_objective(r, high)};
}

// Combines the problems' energies (J) according to the objective; NaN if one of them is unknown.
static double joules_of(const struct result *r, const struct final_entry *entry, bool *limited)
{
    double joules[JOB_MAX_PROBLEMS];
    for (size_t p = 0; p < r->tuned_count; p++) {
        const struct energy_figures *energy = entry->problems[p].energy;
        joules[p] = energy ? energy->joules.value : (double)NAN;
        *limited |= energy && energy->power_limited;
    }
    return result_objective(r, joules);
}

static bool is_tied(const struct final *final, int64_t trial)
{
    for (size_t i = 0; i < final->tie_count; i++)
        if (trial && final->ties[i] == trial) return true;
    return false;
}

static json_t *config_of(const struct result *r, int64_t id)
{
    struct trial trial;
    struct error err;
    return id != NO_TRIAL && !store_get(r->store, id, &trial, &err) ? json_string(trial.config) : json_null();
}

static json_t *entry_json(const struct result *r, const struct final *final, const struct final_entry *entry)
{
    // A candidate's resources; the members are named as in the document.
    static const struct {
        const char *key, *field;
    } resources[] = {{"registers", "registers"},
                     {"shared_bytes", "shared_bytes"},
                     {"spill_bytes", "spill_bytes"},
                     {"code_bytes", "code_bytes"},
                     {"occupancy", "theoretical_occupancy"}};
    struct interval time = time_of(r, final, entry);
    struct error err;
    struct trial trial;
    bool winner = entry->trial != NO_TRIAL && entry->trial == final->winner;
    bool known = entry->trial != NO_TRIAL && !store_get(r->store, entry->trial, &trial, &err);
    const struct interval one = {1, 1, 1};
    json_t *json =
        json_pack("{s:s, s:s, s:I, s:s, s:b, s:s, s:b, s:b, s:o, s:o}", "name", entry->name, "detail", entry->detail,
                  "trial", (json_int_t)entry->trial, "config", known ? trial.config : NULL, "ok", entry->ok, "reason",
                  entry->reason, "winner", winner, "tied", is_tied(final, entry->trial), "time", interval_json(&time),
                  "ratio", interval_json(winner ? &one : &entry->ratio));
    bool limited = false;
    json_object_set_new(json, "joules", json_real(joules_of(r, entry, &limited)));
    json_object_set_new(json, "power_limited", json_boolean(limited));
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
        json_object_set_new(json, resources[i].key,
                            known ? field_json(trial_field_find(FIELD_TRIAL, resources[i].field), &trial)
                                  : json_null());
    return json;
}

static size_t count_processes(const json_t *document)
{
    json_int_t most = 0;
    json_array_each(json_object_get(document, "process"), i, number)
        if (json_integer_value(number) > most) most = json_integer_value(number);
    return (size_t)most + 1;
}

static void take_winner(const struct result *r, const struct final *final, struct report_final *out)
{
    const struct final_entry *winner = final_winner(final), *library = NULL;
    struct interval time = time_of(r, final, winner);
    out->trial = final->winner;
    out->winner =
        json_pack("{s:I, s:o, s:o, s:I}", "trial", (json_int_t) final->winner, "config", config_of(r, final->winner),
                  "time", interval_json(&time), "ties", (json_int_t) final->tie_count);
    for (size_t i = 0; i < final->entry_count; i++) {
        const struct final_entry *entry = &final->entries[i];
        if (entry->trial || !entry->ok || !isfinite(entry->ratio.value)) continue;
        if (!library || entry->ratio.value < library->ratio.value) library = entry;
    }
    bool unverified = r->job_fits && job_unverified(r->source->job);
    out->verdict = unverified ? "not verified" : library ? verdict_of(&library->ratio) : "no library";
    if (!library) return;
    out->ratio = interval_json(&library->ratio);
    json_object_set_new(out->ratio, "against", json_string(library->name));
}

int report_final(const struct result *r, struct report_final *out, struct error *err)
{
    double when = 0, opened = 0;
    autojson json_t *document = result_document(r, "final", &when), *open = result_document(r, "open_final", &opened);
    const json_t *shown = document ? document : open; // an open final has no winner
    struct final final = {0};
    *out = (struct report_final){.verdict = open && !document ? "undecided" : "no final"};
    int status = document ? final_read(&final, document, r->tuned_count, err) : 0;
    if (!status && shown) {
        json_t *entries = json_array();
        if (document) final_compare_candidates(&final);
        for (size_t i = 0; i < final.entry_count; i++)
            json_array_append_new(entries, entry_json(r, &final, &final.entries[i]));
        out->json = json_pack(
            "{s:f, s:I, s:I, s:b, s:s, s:o}", "when", json_get_number(shown, "when", document ? when : opened),
            "rounds", (json_int_t)json_get_integer(shown, "rounds", 0), "processes", (json_int_t)count_processes(shown),
            "open", open && opened > when, "reason", json_get_string(shown, "reason", NULL), "entries", entries);
        if (document) take_winner(r, &final, out);
    }
    if (document) final_release(&final);
    if (!out->json) out->json = json_null();
    if (!out->ratio) out->ratio = json_null();
    if (!out->winner) out->winner = json_null();
    return status;
}

json_t *report_baselines(const struct result *r)
{
    autojson json_t *document = result_document(r, "baselines", NULL);
    json_t *list = json_array();
    json_array_each(json_object_get(document, "baselines"), i, baseline) {
        double times[JOB_MAX_PROBLEMS];
        for (size_t p = 0; p < r->tuned_count; p++)
            times[p] = json_get_number(json_array_get(json_object_get(baseline, "problems"), p), "time", NAN);
        double time = r->tuned_count ? result_objective(r, times) : (double)NAN;
        if (isfinite(time))
            json_array_append_new(list, json_pack("{s:s, s:s, s:f}", "name", json_get_string(baseline, "name", "?"),
                                                  "detail", json_get_string(baseline, "detail", ""), "time", time));
    }
    return list;
}
