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

void usage_enter(struct worker_usage *u, enum usage_state state, double now)
{
    u->seconds[u->state] += fmax(0, now - u->seen);
    u->seen = fmax(u->seen, now);
    if (state != u->state) u->since = u->seen;
    u->state = state;
}

void usage_pending_answers(struct worker_usage *u, double seconds)
{
    double left = fmin(fmax(seconds, 0), u->seconds[u->state]);
    u->seconds[u->state] -= left;
    u->seconds[USAGE_IDLE] += left;
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
