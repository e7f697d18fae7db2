// A run in simulated time (simulation.h), for tests of the driver's decisions (policy.h): its tasks, how long they
// take, and a trace of the decisions.
#pragma once

#include "search/space/random.h"
#include "tests/testing.h"
#include "tuner/policy/simulation.h"

enum { MOST_TASKS = 4000 };

struct sim_task {
    struct queued_task queued; // first
    int number;                // from 1, in order of proposal
    double compile, gpu;       // duration, s
    bool fails_to_compile;
    bool kills_counting, kills_trial;
};

// Every decision is appended to `trace`: for task 3, "p3" proposed, "c3" compiled, "r3" recalled, "m3" measured, "d3"
// dropped or "x3" forgotten; "n2" means that two tasks were counted together, and "f" is a final.
struct sim {
    struct simulation run; // first
    struct random random;
    struct sim_task tasks[MOST_TASKS];
    int proposed, most; // proposals made, and the total available
    bool counts;        // counters of measured candidates are wanted
    double (*compile_time)(struct sim *);
    double gpu_time;
    enum task_known (*known)(int number);
    double (*objective)(int number);
    double (*acquisition)(int number); // of a waiting task; NULL: the strategy does not rank
    int reported[MOST_TASKS], reported_count, dropped, forgotten, counted, without_counters, batches[MOST_TASKS],
        batch_count;
    size_t left_countable[MOST_TASKS]; // after each batch
    char trace[65536];
    size_t trace_length;
};

static inline double one_second(struct sim *s)
{
    (void)s;
    return 1;
}

static inline double at_once(struct sim *s)
{
    (void)s;
    return 1e-3;
}

// Log-uniform from 0.05 s to 5 s.
static inline double hundredfold(struct sim *s)
{
    return 0.05 * pow(100, random_unit(&s->random));
}

static inline double third_of_a_second(struct sim *s)
{
    (void)s;
    return 0.3;
}

static inline double falling(int number)
{
    return 1.0 / number;
}

static inline void trace(struct sim *s, char what, int number)
{
    if (s->trace_length + 16 > sizeof s->trace) return;
    s->trace_length += (size_t)snprintf(s->trace + s->trace_length, sizeof s->trace - s->trace_length,
                                        number ? "%s%c%d" : "%s%c", s->trace_length ? " " : "", what, number);
}

static inline void tell(struct sim *s, const struct sim_task *t, double objective)
{
    s->reported[s->reported_count++] = t->number;
    policy_reported(&s->run.policy, objective);
}

static inline void sim_propose(struct simulation *run)
{
    struct sim *s = (struct sim *)run;
    if (s->proposed == s->most) {
        policy_no_proposal(&run->policy, !task_queue_outstanding(&run->policy.queue));
        return;
    }
    struct sim_task *t = &s->tasks[s->proposed++];
    t->number = s->proposed;
    t->compile = s->compile_time(s);
    t->gpu = s->gpu_time;
    policy_add(&run->policy, &t->queued, TASK_TRIAL, s->known ? s->known(t->number) : TASK_UNKNOWN);
    trace(s, 'p', t->number);
}

static inline double sim_compile(struct simulation *run, struct queued_task *t)
{
    (void)run;
    return ((struct sim_task *)t)->compile;
}

static inline void sim_compiled(struct simulation *run, struct queued_task *queued)
{
    struct sim *s = (struct sim *)run;
    const struct sim_task *t = (struct sim_task *)queued;
    if (!t->fails_to_compile) {
        policy_compiled(&run->policy, queued);
    } else {
        tell(s, t, NAN);
        policy_remove(&run->policy, queued);
    }
}

static inline double sim_begin(struct simulation *run, const struct policy_request *request)
{
    (void)run;
    if (request->kind == REQUEST_FINAL) return INFINITY; // the test answers it
    const struct sim_task *t = (struct sim_task *)request->tasks[0];
    return request->kind == REQUEST_COUNT ? 1 : t->gpu;
}

static inline bool sim_kills(struct simulation *run, const struct policy_request *request)
{
    (void)run;
    for (size_t i = 0; i < request->task_count; i++) {
        const struct sim_task *t = (struct sim_task *)request->tasks[i];
        if (request->kind == REQUEST_COUNT ? t->kills_counting : t->kills_trial) return true;
    }
    return false;
}

// As in the driver, the request that killed a worker fails.
static inline void sim_answered(struct simulation *run, const struct policy_request *request, bool lost)
{
    struct sim *s = (struct sim *)run;
    for (size_t i = 0; i < request->task_count; i++) {
        struct sim_task *t = (struct sim_task *)request->tasks[i];
        if (request->kind == REQUEST_TRIAL) tell(s, t, lost ? NAN : s->objective(t->number));
        s->counted += request->kind == REQUEST_COUNT && !lost;
        s->without_counters += request->kind == REQUEST_COUNT && lost;
        if (request->kind == REQUEST_TRIAL && s->counts && !lost)
            policy_countable(&run->policy, &t->queued);
        else
            policy_remove(&run->policy, &t->queued);
    }
}

static inline void sim_gone(struct simulation *run, const struct policy_action *a)
{
    struct sim *s = (struct sim *)run;
    const struct sim_task *t = (struct sim_task *)a->task;
    if (a->kind == POLICY_RECALL) tell(s, t, t->fails_to_compile ? NAN : s->objective(t->number));
    s->dropped += a->kind == POLICY_DROP;
    s->forgotten += a->kind == POLICY_FORGET;
    policy_remove(&run->policy, a->task);
}

static inline void sim_rank(struct simulation *run)
{
    size_t count;
    autofree struct queued_task **waiting = policy_waiting(&run->policy, &count);
    for (size_t i = 0; i < count; i++)
        waiting[i]->acquisition = ((struct sim *)run)->acquisition(((struct sim_task *)waiting[i])->number);
}

static inline void sim_decided(struct simulation *run, const struct policy_action *a)
{
    static const char letters[] = {[POLICY_COMPILE] = 'c', [POLICY_RECALL] = 'r', [POLICY_MEASURE] = 'm',
                                   [POLICY_DROP] = 'd',    [POLICY_FORGET] = 'x', [POLICY_DONE] = 0};
    struct sim *s = (struct sim *)run;
    if (letters[a->kind]) trace(s, letters[a->kind], ((struct sim_task *)a->task)->number);
    if (a->kind == POLICY_FINAL) trace(s, 'f', 0);
    if (a->kind == POLICY_DROP) assert_int_equal(a->worker == POLICY_NO_WORKER, a->task->state != TASK_COMPILING);
    if (a->kind != POLICY_COUNT) return;
    trace(s, 'n', (int)a->request->task_count);
    s->left_countable[s->batch_count] = task_queue_count(&run->policy.queue, TASK_COUNTABLE);
    s->batches[s->batch_count++] = (int)a->request->task_count;
}

static inline void free_sim(void *sim)
{
    struct sim *s = sim;
    simulation_release(&s->run);
    free(s);
}

// Freed after the test.
static inline struct sim *new_sim(const struct policy_settings *settings, int most)
{
    static const struct simulation_calls calls = {.propose = sim_propose,
                                                  .compile = sim_compile,
                                                  .compiled = sim_compiled,
                                                  .begin = sim_begin,
                                                  .answered = sim_answered,
                                                  .gone = sim_gone,
                                                  .rank = sim_rank,
                                                  .kills = sim_kills,
                                                  .decided = sim_decided};
    struct sim *s = memory_new(1, sizeof *s);
    simulation_init(&s->run, settings, &calls);
    random_seed(&s->random, 1);
    s->most = most;
    s->compile_time = one_second;
    s->gpu_time = 1;
    s->objective = falling;
    testing_later(free_sim, s);
    return s;
}

static inline bool decide(struct sim *s)
{
    return simulation_decide(&s->run);
}

static inline bool step(struct sim *s)
{
    return simulation_step(&s->run);
}

static inline void run_to_the_end(struct sim *s)
{
    for (int steps = 0; decide(s); steps++)
        if (!step(s) || steps > 10 * MOST_TASKS) fail_msg("the run stands still after: %s", s->trace);
}
