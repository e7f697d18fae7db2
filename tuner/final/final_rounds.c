// See final_rounds.h.
#include "tuner/final/final_rounds.h"

struct final_rounds final_rounds_begin(int64_t planned, int64_t processes, bool each)
{
    return (struct final_rounds){
        .planned = planned, .processes = processes < planned ? processes : planned, .each = each};
}

int64_t final_rounds_wanted(const struct final_rounds *r)
{
    int64_t share = r->planned / r->processes + (r->process < r->planned % r->processes);
    if (!r->part) return share;
    if (r->taken < r->planned) return share < r->planned - r->taken ? share : r->planned - r->taken;
    int64_t left = FINAL_ROUNDS_FACTOR * r->planned - r->taken, wanted = r->taken < left ? r->taken : left;
    return wanted < FINAL_ROUNDS_MAX ? wanted : FINAL_ROUNDS_MAX;
}

static enum final_next next_process(struct final_rounds *r)
{
    if (r->process + 1 == r->processes) return FINAL_STOP;
    r->process++;
    r->part = 0;
    return FINAL_NEXT_PROCESS;
}

static enum final_next next_part(struct final_rounds *r)
{
    if (r->taken >= FINAL_ROUNDS_FACTOR * r->planned) return FINAL_STOP;
    r->part++;
    return FINAL_NEXT_PART;
}

enum final_next final_rounds_take(struct final_rounds *r, size_t taken, struct contender *contenders, size_t count)
{
    struct final_look found;
    struct error disturbed;
    r->taken += (int64_t)taken;
    r->look++;
    if (r->each) return next_process(r);
    bool first = !r->process && r->processes > 1, another = r->process && !r->part;
    final_look(contenders, count, r->look, first, !another && !r->differ, &found);
    final_examine(contenders, count, &disturbed);
    if (another) r->differ = found.differ;
    bool elsewhere = another && *disturbed.message && r->process + 1 < r->processes; // the next one may be undisturbed
    if (first || r->differ || elsewhere) return next_process(r);
    bool decided = found.decided && (found.libraries || r->taken >= r->planned);
    return decided && !*disturbed.message ? FINAL_STOP : next_part(r);
}
