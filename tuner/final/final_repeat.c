// The final once more, on another GPU, as a check: see run.h. One process there proves and races those that passed, on
// the same data. What the first GPU's rounds say decides; a candidate that fails on the other GPU is out all the same.
// A ratio disagrees where the intervals of both GPUs do not touch and the ratios are further apart than a tie
// (measure.tie); so does the order, where a candidate is faster than the winner there beyond its interval and a tie.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/final/final_decide.h"
#include "tuner/run/run.h"

static bool is_ok(const json_t *entry)
{
    return status_find(json_get_string(entry, "status", "")) == STATUS_OK;
}

static bool somebody_passed(const json_t *answer)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(answer, "entries"), i, entry)
    {
        if (json_get_integer(entry, "trial", 0) > 0 && is_ok(entry)) return true;
    }
    return false;
}

bool run_final_repeat_begin(struct run *r)
{
    size_t first = r->policy.final_gpu, other = r->policy.settings.gpus;
    if (r->fatal || r->pool.replay || first == POLICY_NOBODY || !is_ok(r->final_answer) ||
        !somebody_passed(r->final_answer))
        return false;
    for (size_t i = other; i-- > 0;)
        if (i != first && r->policy.gpus[i].ready && pool_gpu_usable(&r->pool, i)) other = i;
    if (other == r->policy.settings.gpus) return false;
    r->repeat.on = true;
    r->repeat.gpu = other;
    r->repeat.first_gpu = first;
    r->repeat.first = r->final_before = r->final_answer; // who stands
    r->repeat.process = r->final_process;
    r->final_answer = NULL;
    r->final_process = 0;
    r->final_again = false;
    policy_repeat_final(&r->policy, other);
    return true;
}

static json_t *find_entry(const json_t *entries, const json_t *like)
{
    json_t *one;
    size_t i;
    int64_t trial = json_get_integer(like, "trial", 0);
    json_array_foreach(entries, i, one)
    {
        if (trial > 0 ? json_get_integer(one, "trial", 0) == trial
                      : json_get_integer(one, "trial", 0) <= 0 &&
                            !strcmp(json_get_string(one, "name", ""), json_get_string(like, "name", "?")))
            return one;
    }
    return NULL;
}

static void fail(struct run *r, json_t *entry, const char *status, const char *reason)
{
    char *text = text_format("on %s: %s", r->pool.gpus[r->repeat.gpu].name, reason);
    json_object_set_new(entry, "status", json_string(status));
    json_object_set_new(entry, "reason", json_string(text));
    free(text);
}

// Candidates that failed on the other GPU have failed.
static void take_failures(struct run *r)
{
    json_t *entries = json_object_get(r->final_answer, "entries"), *entry;
    const json_t *again = json_object_get(r->repeat.answer, "entries");
    size_t i;
    bool crashed = status_find(json_get_string(r->repeat.answer, "status", "")) == STATUS_CRASHED;
    json_array_foreach(entries, i, entry)
    {
        const json_t *other = find_entry(again, entry);
        int64_t trial = json_get_integer(entry, "trial", 0);
        if (trial <= 0 || !is_ok(entry)) continue;
        if (crashed && trial == json_get_integer(r->repeat.answer, "trial", 0))
            fail(r, entry, status_name(STATUS_CRASHED), json_get_string(r->repeat.answer, "reason", "it crashed"));
        else if (other && !is_ok(other))
            fail(r, entry, json_get_string(other, "status", ""), json_get_string(other, "reason", ""));
    }
}

void run_final_repeat_end(struct run *r)
{
    r->repeat.on = false;
    r->repeat.answer = r->final_answer;
    r->final_answer = r->repeat.first;
    r->repeat.first = r->final_before = NULL;
    r->final_process = r->repeat.process;
    r->policy.final_gpu = r->repeat.first_gpu;
    take_failures(r);
    json_t *like = json_pack("{s:I}", "trial", (json_int_t)r->final_blamed.trial);
    json_t *blamed = r->repeat.answer || !r->final_blamed.trial
                         ? NULL
                         : find_entry(json_object_get(r->final_answer, "entries"), like);
    json_decref(like);
    if (blamed) fail(r, blamed, status_name(r->final_blamed.status), r->final_blamed.reason.message);
    if (!is_ok(r->repeat.answer)) {
        const char *why = r->repeat.answer        ? json_get_string(r->repeat.answer, "reason", "no reason given")
                          : r->final_blamed.trial ? r->final_blamed.reason.message
                                                  : "its worker was lost";
        run_message(r, "the final could not be repeated on %s: %s", r->pool.gpus[r->repeat.gpu].name, why);
        json_decref(r->repeat.answer);
        r->repeat.answer = NULL;
    }
    r->final_blamed.trial = 0;
}

// One entry of both answers.
struct seen {
    const json_t *json;
    struct contender here, there;
    double *here_times, *there_times;
};

static void see(struct run *r, struct seen *s, const json_t *entry, const json_t *other, const unsigned char *process,
                size_t known)
{
    *s = (struct seen){.json = entry};
    s->here.rounds = run_final_objectives(r, entry, &s->here_times);
    s->there.rounds = run_final_objectives(r, other, &s->there_times);
    s->here.process = process;
    if (known && s->here.rounds > known) s->here.rounds = known;
    s->here.objectives = s->here_times;
    s->there.objectives = s->there_times;
}

static char *disagreement(const struct run *r, const struct seen *s, const struct interval *here,
                          const struct interval *there)
{
    int64_t trial = json_get_integer(s->json, "trial", 0);
    double tie = 1 + r->job->measure.tie;
    bool apart = here->low > there->high || there->low > here->high,
         far = fmax(here->value / there->value, there->value / here->value) > tie, order = there->high < 1 / tie;
    if (!(apart && far) && !(trial > 0 && order)) return NULL;
    char *name = trial > 0 ? text_format("trial %" PRId64, trial) : text_copy(json_get_string(s->json, "name", "?"));
    char *text = text_format("%s takes %.3f times the winner's time (%.3f to %.3f)%s; where the final was decided "
                             "%.3f times (%.3f to %.3f)",
                             name, there->value, there->low, there->high,
                             trial > 0 && order ? ", and would have won" : "", here->value, here->low, here->high);
    free(name);
    return text;
}

static json_t *interval_json(const struct interval *i)
{
    return json_pack("{s:o, s:o, s:o}", "value", json_real_or_null(i->value), "low", json_real_or_null(i->low), "high",
                     json_real_or_null(i->high));
}

json_t *run_final_repeat_document(struct run *r, const json_t *entries, int64_t base)
{
    const json_t *again = json_object_get(r->repeat.answer, "entries"), *entry;
    if (!r->repeat.answer) return NULL;
    unsigned char *process;
    size_t known = run_final_processes(r, &process), count = 0, first = 0, i;
    struct seen *seen = memory_new(json_array_size(entries), sizeof *seen);
    json_array_foreach(entries, i, entry)
    {
        const json_t *other = find_entry(again, entry);
        if (!other || !is_ok(entry) || !is_ok(other)) continue;
        int64_t trial = json_get_integer(entry, "trial", 0);
        see(r, &seen[count], entry, other, process, known);
        if (trial > 0 && (trial == base || (!base && json_get_integer(seen[first].json, "trial", 0) <= 0)))
            first = count;
        count++;
    }
    json_t *document = pool_gpu_identity(&r->pool, r->repeat.gpu), *list = json_array(), *texts = json_array();
    char *name = text_format("%s (%s, %s)", json_get_string(document, "name", ""),
                             json_get_string(document, "uuid", ""), json_get_string(document, "host", ""));
    for (i = 0; i < count; i++) {
        struct interval here, there;
        if (i == first || !final_ratio(&seen[i].here, &seen[first].here, &here) ||
            !final_ratio(&seen[i].there, &seen[first].there, &there))
            continue;
        json_array_append_new(list,
                              json_pack("{s:s, s:O?, s:o, s:o}", "name", json_get_string(seen[i].json, "name", "?"),
                                        "trial", json_object_get(seen[i].json, "trial"), "decided",
                                        interval_json(&here), "repeated", interval_json(&there)));
        char *text = disagreement(r, &seen[i], &here, &there);
        if (!text) continue;
        run_message(r, "the final on %s disagrees: %s", name, text);
        json_array_append_new(texts, json_string(text));
        free(text);
    }
    if (!json_array_size(texts))
        run_message(r, "the final was repeated on %s, which agrees on %zu ratios", name, json_array_size(list));
    json_object_set_new(document, "rounds", json_integer(count ? (json_int_t)seen[first].there.rounds : 0));
    json_object_set_new(document, "ratios", list);
    json_object_set_new(document, "disagreements", texts);
    for (i = 0; i < count; i++) {
        free(seen[i].here_times);
        free(seen[i].there_times);
    }
    free(name);
    free(seen);
    free(process);
    return document;
}
