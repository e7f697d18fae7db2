// The last part of a final: after the last round, its worker measures energy (tuner/gpu/energy.h). By default it
// measures the winner and the baselines, if any of the command's time is left after everything else. Where energy
// decides, it measures all candidates. `tune --finish` measures energies that were left out for lack of time. Energy is
// measured once, in the process that took the last rounds.
#include "tuner/base/clock.h"
#include "tuner/final/final.h"

static bool decides(const struct final_run *f)
{
    return f->with.job->search.minimize != MINIMIZE_TIME;
}

bool final_wants_energy(const struct final_run *f)
{
    bool wanted = f->with.checks || decides(f);
    return wanted && !f->with.pool->replay && f->with.job->search.objective != OBJECTIVE_EACH &&
           f->with.job_answer->energy;
}

// The trial that wins according to the rounds; 0: none.
static int64_t find_leader(struct final_run *f)
{
    const struct final_answer *all = f->before;
    struct contender *contenders = memory_new(all->entry_count, sizeof *contenders);
    struct final_verdict v;
    for (size_t i = 0; i < all->entry_count; i++) contenders[i] = final_entrant(f, &all->entries[i]);
    final_decide(contenders, all->entry_count, f->rounds.look, &v);
    final_contenders_free(contenders, all->entry_count);
    return v.winner < 0 ? 0 : all->entries[v.winner].trial;
}

bool final_energy_begin(struct final_run *f)
{
    if (f->builds.on || !final_wants_energy(f)) return false;
    int64_t leader = find_leader(f);
    if (!leader) return false;
    if (final_clock_for_energy(&f->clock, clock_now()) < FINAL_ENERGY_SECONDS) {
        f->unchecked = true;
        display_message(f->with.display, "the energy is not measured: no time is left");
        return false;
    }
    f->energy.on = true;
    f->energy.winner = decides(f) ? 0 : leader;
    f->rounds.part++;
    final_phase(f, decides(f) ? "energy of the candidates" : "energy of the winner and the baselines");
    return true;
}

// An entry that fails now is excluded, as in the rounds. Returns the number of missing energies; sets *late if there
// was no time for one of them.
static size_t add_energy(struct final_entry_answer *to, const struct final_entry_answer *from, bool *late)
{
    size_t missing = 0;
    if (!final_passed(from)) {
        to->status = from->status;
        to->reason = from->reason;
    }
    for (size_t i = 0; i < from->problem_count; i++) {
        struct final_times *times = final_entry_times(to, (size_t)from->problems[i].problem);
        const struct energy_figures *energy = from->problems[i].energy;
        if (times) times->energy = energy;
        missing += !energy || !(energy->joules.value > 0);
        *late |= energy && !strcmp(energy->reason, ENERGY_NO_TIME);
    }
    return missing;
}

bool final_energy_take(struct final_run *f)
{
    f->energy.on = false;
    bool failed = f->answer ? !answer_is_ok(&f->answer->head) : f->blamed.trial > 0;
    // An entry that crashed the worker is excluded, and another final decides. Without an answer the rounds decide, if
    // they can.
    if (f->with.failure->set || failed || (!f->answer && decides(f))) return false;
    size_t missing = !f->answer;
    for (size_t i = 0; i < f->before->entry_count && f->answer; i++) {
        struct final_entry_answer *e = &f->before->entries[i];
        const struct final_entry_answer *from = final_find_entry(f->answer, e->trial, e->binary, e->name);
        if (from) missing += add_energy(e, from, &f->unchecked);
    }
    if (missing) display_message(f->with.display, "some energies are not measured; `sweetspot compare` says why");
    return true;
}

void final_energy_tell(const struct final_run *f, const struct final_entries *entries,
                       const struct contender *contenders, size_t winner)
{
    size_t problems = f->with.job->tuned_count;
    if (decides(f) && !*f->decision.minimize)
        display_message(f->with.display, "no energy is known%s, so the fastest candidate wins",
                        f->with.job_answer->energy ? "" : ", since the device has no energy counter");
    for (size_t i = 0; i < entries->count; i++) {
        const struct final_entry_answer *e = &entries->list[i].answer;
        const struct final_times *times = final_entry_times(e, 0);
        char shown[192];
        if ((i != winner && contenders[i].candidate) || !times || !times->energy) continue;
        if (problems > 1 && contenders[i].energy.value > 0)
            snprintf(shown, sizeof shown, "%.4g J, the objective of %zu problems", contenders[i].energy.value,
                     problems);
        else
            show_energy(times->energy, shown, sizeof shown);
        display_log(f->with.display, "%s: %s", e->name, shown);
        if (!f->with.events) printf("  %s%s%s\n", i == winner ? "" : e->name, i == winner ? "" : ": ", shown);
    }
}
