// See worker_usage.h.
#include "tuner/pool/worker_usage.h"

const char *usage_state_text(enum usage_state state)
{
    static const char *const words[USAGE_STATES] = {"starting", "setting up", "idle",     "measuring", "counting",
                                                    "final",    "compiling",  "disabled", "lost"};
    return words[state];
}

void usage_init(struct worker_usage *u, double now)
{
    *u = (struct worker_usage){
        .born = now, .since = now, .seen = now, .clock_mhz = NAN, .temperature = NAN, .power = NAN};
}

bool usage_is_busy(enum usage_state state)
{
    return state >= USAGE_MEASURING && state <= USAGE_COMPILING;
}

// The parts of the last minute that have begun since are empty.
static void turn_to(struct worker_usage *u, int64_t slot)
{
    if (slot - u->slot >= USAGE_SLOTS) memset(u->recent, 0, sizeof u->recent);
    for (int64_t s = u->slot + 1; s <= slot && s <= u->slot + USAGE_SLOTS; s++) u->recent[s % USAGE_SLOTS] = 0;
    u->slot = slot;
}

void usage_enter(struct worker_usage *u, enum usage_state state, double now)
{
    bool busy = usage_is_busy(u->state);
    if (now > u->seen) {
        u->seconds[u->state] += now - u->seen;
        // Only the last minute of it can still be in a part that is kept.
        double at = fmax(u->seen, now - USAGE_SLOT * USAGE_SLOTS);
        turn_to(u, (int64_t)((at - u->born) / USAGE_SLOT));
        while (at < now) {
            double end = fmin(now, u->born + (double)(u->slot + 1) * USAGE_SLOT);
            if (busy && end > at) u->recent[u->slot % USAGE_SLOTS] += end - at;
            at = fmax(at, end);
            if (at < now) turn_to(u, u->slot + 1);
        }
        u->seen = now;
    }
    if (state != u->state) u->since = u->seen;
    u->state = state;
}

void usage_pending_answers(struct worker_usage *u, double seconds)
{
    double left = fmin(fmax(seconds, 0), u->seconds[u->state]);
    u->seconds[u->state] -= left;
    u->seconds[USAGE_IDLE] += left;
    for (int64_t s = u->slot; s >= 0 && s > u->slot - USAGE_SLOTS; s--) {
        double *recent = &u->recent[s % USAGE_SLOTS], part = fmin(left, *recent);
        *recent -= part;
        left -= part;
    }
}

double usage_busy_seconds(const struct worker_usage *u)
{
    double busy = 0;
    for (int s = 0; s < USAGE_STATES; s++)
        if (usage_is_busy((enum usage_state)s)) busy += u->seconds[s];
    return busy;
}

double usage_share(const struct worker_usage *u)
{
    double life = u->seen - u->born;
    return life > 0 ? fmin(1, usage_busy_seconds(u) / life) : (double)NAN;
}

double usage_minute_share(const struct worker_usage *u)
{
    double busy = 0, kept = u->seen - u->born - (double)(u->slot - (USAGE_SLOTS - 1)) * USAGE_SLOT;
    for (int s = 0; s < USAGE_SLOTS; s++) busy += u->recent[s];
    double over = fmin(u->seen - u->born, kept);
    return over > 0 ? fmin(1, busy / over) : (double)NAN;
}
