// See run_watch.h.
#include "tuner/run/run_watch.h"

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
    double now = clock_now();
    *w = (struct run_watch){.pool = pool, .policy = policy, .phase_began = now, .at = now};
}

void run_watch_release(struct run_watch *w)
{
    free(w->gpus.list);
    free(w->compilers.list);
}

// Shares -------------------------------------------------------------------------------------------------------------

// The sums up to the time at which each worker was last polled.
static struct busy_sums sums_of(const struct run_watch *w)
{
    struct busy_sums sums = {.all = w->at, .driver = w->driver};
    for (size_t i = 0; i < w->gpus.count; i++) {
        const double *seconds = w->gpus.list[i].seconds;
        for (int s = 0; s < USAGE_STATES; s++) sums.gpus += seconds[s];
        sums.measuring += seconds[USAGE_MEASURING];
    }
    for (size_t i = 0; i < w->compilers.count; i++) {
        const double *seconds = w->compilers.list[i].seconds;
        sums.compilers += seconds[USAGE_IDLE] + seconds[USAGE_COMPILING];
        sums.compiling += seconds[USAGE_COMPILING];
    }
    return sums;
}

static void account_driver(struct run_watch *w, double now)
{
    if (!w->waits) w->driver += now - w->at;
    w->at = now;
}

void run_watch_waits(struct run_watch *w, bool waits)
{
    if (waits == w->waits) return;
    account_driver(w, clock_now());
    w->waits = waits;
}

void run_watch_phase(struct run_watch *w, enum watch_phase phase)
{
    double now = clock_now();
    w->next_look = 0;
    run_watch_poll(w, now);
    if (w->phase == WATCH_SEARCH) w->after = sums_of(w);
    if (phase == WATCH_SEARCH && w->phase != phase) w->before = sums_of(w);
    w->seconds[w->phase] += now - w->phase_began;
    w->phase_began = now;
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
    if (pool_gpu_disabled(w->pool, i)) return USAGE_DISABLED;
    if (!pool_gpu_usable(w->pool, i)) return USAGE_LOST;
    if (slot->state == GPU_JOB) return USAGE_SETTING_UP;
    if (slot->state != GPU_READY) return USAGE_STARTING;
    if (i >= w->policy->settings.gpus || !w->policy->gpus[i].queued) return USAGE_IDLE;
    return by_request[w->policy->gpus[i].queue[0].kind];
}

static enum usage_state state_of_compiler(const struct run_watch *w, size_t i)
{
    const struct pool_slot *slot = &w->pool->compilers[i];
    if (pool_compiler_disabled(w->pool, i)) return USAGE_DISABLED;
    if (!pool_node_is_up(w->pool, slot->node)) return USAGE_LOST;
    if (slot->compiler.greeting || !pool_compiler_usable(w->pool, i)) return USAGE_STARTING;
    return slot->queued ? USAGE_COMPILING : USAGE_IDLE;
}

static void grow(struct watched_workers *w, size_t count, double now)
{
    if (count <= w->count) return;
    w->list = memory_grow(w->list, count, sizeof *w->list);
    for (; w->count < count; w->count++) usage_init(&w->list[w->count], now);
}

void run_watch_gpu(struct run_watch *w, size_t gpu)
{
    double now = clock_now();
    grow(&w->gpus, w->pool->gpu_count, now);
    usage_enter(&w->gpus.list[gpu], state_of_gpu(w, gpu), now);
}

void run_watch_compiler(struct run_watch *w, size_t compiler)
{
    double now = clock_now();
    grow(&w->compilers, w->pool->compiler_count, now);
    usage_enter(&w->compilers.list[compiler], state_of_compiler(w, compiler), now);
}

void run_watch_poll(struct run_watch *w, double now)
{
    if (now < w->next_look) return;
    account_driver(w, now);
    grow(&w->gpus, w->pool->gpu_count, now);
    grow(&w->compilers, w->pool->compiler_count, now);
    for (size_t i = 0; i < w->gpus.count; i++) usage_enter(&w->gpus.list[i], state_of_gpu(w, i), now);
    for (size_t i = 0; i < w->compilers.count; i++) usage_enter(&w->compilers.list[i], state_of_compiler(w, i), now);
    w->next_look = now + poll_every;
}

void run_watch_answered(struct run_watch *w, size_t gpu, double took)
{
    double seen = clock_now() - w->policy->gpus[gpu].since;
    if (w->phase != WATCH_SEARCH || state_of_gpu(w, gpu) != USAGE_MEASURING || !isfinite(took)) return;
    run_watch_gpu(w, gpu);
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
    const struct busy_sums now = w->phase == WATCH_SEARCH ? sums_of(w) : w->after, *was = &w->before;
    return (struct busy_figures){.seconds = now.all - was->all,
                                 .gpus = share_of(now.measuring - was->measuring, now.gpus - was->gpus),
                                 .compilers = share_of(now.compiling - was->compiling, now.compilers - was->compilers),
                                 .driver = share_of(now.driver - was->driver, now.all - was->all)};
}
