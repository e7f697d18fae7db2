// See run_watch.h.
#include "tuner/run/run_watch.h"

#include "tuner/base/clock.h"

static const double poll_every = 1; // s

// A worker ------------------------------------------------------------------------------------------------------------

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

// A run ---------------------------------------------------------------------------------------------------------------

void run_watch_init(struct run_watch *w, const struct worker_pool *pool, const struct policy *policy)
{
    *w = (struct run_watch){.pool = pool, .policy = policy, .phase_began = clock_now()};
}

void run_watch_release(struct run_watch *w)
{
    free(w->gpus.list);
    free(w->compilers.list);
}

// Shares -------------------------------------------------------------------------------------------------------------

static void account(struct run_watch *w, double now)
{
    struct busy_shares *s = &w->shares;
    const struct watched_workers *gpus = &w->gpus, *compilers = &w->compilers;
    double seconds = now - s->at;
    if (w->phase != WATCH_SEARCH || !(seconds > 0)) return;
    s->at = now;
    s->seconds += seconds;
    s->gpus += seconds * (double)gpus->count;
    s->measuring += seconds * (double)gpus->in[USAGE_MEASURING];
    s->compilers += seconds * (double)(compilers->in[USAGE_IDLE] + compilers->in[USAGE_COMPILING]);
    s->compiling += seconds * (double)compilers->in[USAGE_COMPILING];
    if (!w->waits) s->driver += seconds;
}

void run_watch_waits(struct run_watch *w, bool waits)
{
    if (waits == w->waits) return;
    account(w, clock_now());
    w->waits = waits;
}

void run_watch_phase(struct run_watch *w, enum watch_phase phase)
{
    double now = clock_now();
    account(w, now);
    w->seconds[w->phase] += now - w->phase_began;
    w->phase_began = now;
    if (phase == WATCH_SEARCH && w->phase != phase) w->shares = (struct busy_shares){.at = now};
    w->phase = phase;
    w->next_look = 0;
}

// Workers ------------------------------------------------------------------------------------------------------------

static enum usage_state state_of_gpu(const struct run_watch *w, size_t i)
{
    static const enum usage_state by_request[] = {
        [REQUEST_NONE] = USAGE_IDLE,   [REQUEST_TRIAL] = USAGE_MEASURING, [REQUEST_COUNT] = USAGE_COUNTING,
        [REQUEST_FINAL] = USAGE_FINAL, [REQUEST_CHECK] = USAGE_MEASURING,
    };
    const struct pool_slot *slot = &w->pool->gpus[i];
    if (pool_gpu_aside(w->pool, i)) return USAGE_ASIDE;
    if (!pool_gpu_usable(w->pool, i)) return USAGE_LOST;
    if (slot->state == GPU_JOB) return USAGE_SETTING_UP;
    if (slot->state != GPU_READY) return USAGE_STARTING;
    if (i >= w->policy->settings.gpus || !w->policy->gpus[i].queued) return USAGE_IDLE;
    return by_request[w->policy->gpus[i].queue[0].kind];
}

static enum usage_state state_of_compiler(const struct run_watch *w, size_t i)
{
    const struct pool_slot *slot = &w->pool->compilers[i];
    if (pool_compiler_aside(w->pool, i)) return USAGE_ASIDE;
    if (!pool_node_is_up(w->pool, slot->node)) return USAGE_LOST;
    if (slot->greeting || !pool_compiler_usable(w->pool, i)) return USAGE_STARTING;
    return slot->queued ? USAGE_COMPILING : USAGE_IDLE;
}

static void grow(struct watched_workers *w, size_t count, double now)
{
    if (count <= w->count) return;
    w->list = memory_grow(w->list, count, sizeof *w->list);
    for (; w->count < count; w->count++) {
        usage_init(&w->list[w->count], now);
        w->in[USAGE_STARTING]++;
    }
}

static void enter(struct run_watch *watch, struct watched_workers *w, size_t i, enum usage_state state, double now)
{
    struct worker_usage *u = &w->list[i];
    if (state != u->state) {
        account(watch, now);
        w->in[u->state]--;
        w->in[state]++;
    }
    usage_enter(u, state, now);
}

void run_watch_gpu(struct run_watch *w, size_t gpu)
{
    double now = clock_now();
    grow(&w->gpus, w->pool->gpu_count, now);
    enter(w, &w->gpus, gpu, state_of_gpu(w, gpu), now);
}

void run_watch_compiler(struct run_watch *w, size_t compiler)
{
    double now = clock_now();
    grow(&w->compilers, w->pool->compiler_count, now);
    enter(w, &w->compilers, compiler, state_of_compiler(w, compiler), now);
}

void run_watch_poll(struct run_watch *w, double now)
{
    if (now < w->next_look) return;
    account(w, now);
    grow(&w->gpus, w->pool->gpu_count, now);
    grow(&w->compilers, w->pool->compiler_count, now);
    for (size_t i = 0; i < w->gpus.count; i++) enter(w, &w->gpus, i, state_of_gpu(w, i), now);
    for (size_t i = 0; i < w->compilers.count; i++) enter(w, &w->compilers, i, state_of_compiler(w, i), now);
    w->next_look = now + poll_every;
}

void run_watch_answered(struct run_watch *w, size_t gpu, double took)
{
    double now = clock_now(), seen = now - w->policy->gpus[gpu].since;
    if (w->phase != WATCH_SEARCH || state_of_gpu(w, gpu) != USAGE_MEASURING || !isfinite(took)) return;
    w->shares.pending_answers += seen - took;
    grow(&w->gpus, w->pool->gpu_count, now);
    enter(w, &w->gpus, gpu, USAGE_MEASURING, now);
    usage_pending_answers(&w->gpus.list[gpu], seen - took);
}

void run_watch_measured(struct run_watch *w, size_t gpu, bool failed, const struct trial_answer *answer)
{
    double power = NAN;
    grow(&w->gpus, w->pool->gpu_count, clock_now());
    struct worker_usage *u = &w->gpus.list[gpu];
    u->done++;
    u->failed += failed;
    if (!answer) return;
    if (isfinite(answer->figures.clock_mhz)) u->clock_mhz = answer->figures.clock_mhz;
    if (isfinite(answer->figures.temperature)) u->temperature = answer->figures.temperature;
    for (size_t p = 0; p < answer->problem_count; p++) power = fmax(power, answer->problems[p].figures.power);
    if (isfinite(power)) u->power = power;
}

void run_watch_compiled(struct run_watch *w, size_t compiler, bool failed)
{
    grow(&w->compilers, w->pool->compiler_count, clock_now());
    w->compilers.list[compiler].done++;
    w->compilers.list[compiler].failed += failed;
}

// Figures ------------------------------------------------------------------------------------------------------------

static double share_of(double part, double whole)
{
    return whole > 0 ? fmin(1, fmax(0, part) / whole) : (double)NAN;
}

struct busy_figures run_watch_figures(const struct run_watch *w)
{
    const struct busy_shares *s = &w->shares;
    return (struct busy_figures){.seconds = s->seconds,
                                 .gpus = share_of(s->measuring - fmax(0, s->pending_answers), s->gpus),
                                 .compilers = share_of(s->compiling, s->compilers),
                                 .driver = share_of(s->driver, s->seconds)};
}
