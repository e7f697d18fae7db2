// Runs the interim looks (final_rounds.c) and the decision (final_decide.c) on many simulated finals. Counts how often
// identical kernels tie and how often a difference of 2% is found. No load on the device may make a slower kernel the
// certain winner. The noise is either synthetic or recorded in finals on an H200 (tests/spaces). The times behave like
// real ones: a heavy tail, jitter that lasts for several rounds, a drifting clock, small differences between processes.
// tests/measure/final_statistics.sh measures the same figures on a GPU.
#include "tests/e2e.h"
#include "tests/recorded_noise.h"

#include "tuner/final/final_rounds.h"

enum { KERNELS = SERIES_LEAST, ENTRIES = KERNELS + 1, ROUNDS = 40, PROCESSES = 3, FINALS = 100, LOADED_FINALS = 30 };
enum { MOST_ROUNDS = ROUNDS * FINAL_ROUNDS_FACTOR };

enum load { LOAD_NONE, LOAD_BURSTS, LOAD_FROM_THE_MIDDLE, LOAD_ALWAYS, LOAD_ONE_PROCESS, LOAD_COUNT };
static const char *const load_names[] = {"no load", "bursts", "from the middle on", "always", "in one process"};

// Student's distribution with three degrees of freedom: a heavy tail.
static double student(uint64_t *state)
{
    double sum = 0, z = gaussian(state);
    for (int i = 0; i < 3; i++) sum += pow(gaussian(state), 2);
    return z / sqrt(sum / 3);
}

struct model {
    double time[KERNELS], share[KERNELS];
    bool two_times[KERNELS]; // 10% more in half of the processes
    enum load load;
    const struct recorded_noise *noise; // NULL: synthetic
};

struct simulated {
    double times[ENTRIES][MOST_ROUNDS];
    unsigned char process[MOST_ROUNDS];
    bool slow[PROCESSES]; // whether kernels with two times take the longer one
    struct contender entries[ENTRIES];
    struct final_rounds rounds;
    struct final_verdict v;
    // The noise.
    double offset[ENTRIES][PROCESSES], lasting[ENTRIES], clock, fall;
    size_t series[ENTRIES], from; // in the current block of recorded noise: each entry's series, and the first round
};

// Another process on the device. Launches that overlap with it take 30% to 100% longer; some kernels overlap more
// often.
struct interference {
    bool on;
    double share[ENTRIES], slowdown;
};

static void interfere(struct interference *f, enum load load, int round, int process, uint64_t *seed)
{
    switch (load) {
    case LOAD_NONE:
    case LOAD_COUNT:
        f->on = false;
        break;
    case LOAD_BURSTS: // bursts of four rounds on average, and pauses of the same length
        if (uniform(seed) < 0.25) f->on = !f->on;
        break;
    case LOAD_FROM_THE_MIDDLE:
        f->on = round >= ROUNDS / 2;
        break;
    case LOAD_ALWAYS:
        f->on = true;
        break;
    case LOAD_ONE_PROCESS:
        f->on = process == 1;
        break;
    }
}

// Recorded rounds come in blocks, in the order in which they were taken. For each block, the series are assigned to
// entries at random. This makes the kernels identical, although no two real ones are.
static void draw_series(const struct recorded_noise *n, struct simulated *s, uint64_t *seed)
{
    size_t order[SERIES_MOST] = {0};
    for (size_t i = 0; i < n->series; i++) {
        size_t j = (size_t)(uniform(seed) * (double)(i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    for (int e = 0; e < ENTRIES; e++) s->series[e] = order[e < KERNELS ? e : 0]; // there are as many series as kernels
    s->from = (size_t)(uniform(seed) * RECORDED_ROUNDS);
}

// Simulates a round of the entries that are still in the race.
static void take_round(const struct model *m, struct simulated *s, struct interference *f, int r, uint64_t *seed)
{
    int p = (int)s->rounds.process;
    s->process[r] = (unsigned char)p;
    s->clock = 0.9 * s->clock + 1e-3 * gaussian(seed);
    interfere(f, m->load, r, p, seed);
    if (m->noise && r % BLOCK == 0) draw_series(m->noise, s, seed);
    for (int e = 0; e < ENTRIES; e++) {
        s->lasting[e] = 0.7 * s->lasting[e] + 5e-4 * gaussian(seed);
        double time = e < KERNELS ? m->time[e] : 1.04;
        s->times[e][r] =
            m->noise ? time * m->noise->relative[s->series[e]][(s->from + (size_t)r % BLOCK) % RECORDED_ROUNDS] : 0;
        if (!s->entries[e].slower) s->entries[e].rounds = (size_t)r + 1;
        if (m->noise) continue;
        if (e < KERNELS && m->two_times[e] && s->slow[p]) time *= 1.1;
        time *= 1 + s->fall * fmin(1, (double)r / ROUNDS) + s->clock + s->lasting[e] + s->offset[e][p] +
                1.5e-3 * student(seed);
        if (uniform(seed) < 0.02) time *= 1 + 0.5 * uniform(seed);
        if (f->on && uniform(seed) < f->share[e]) time *= 1 + f->slowdown * (0.5 + uniform(seed));
        s->times[e][r] = time;
    }
}

static void simulate(const struct model *m, uint64_t seed, struct simulated *s)
{
    *s = (struct simulated){.fall = 0.03 * uniform(&seed), .rounds = final_rounds_begin(ROUNDS, PROCESSES, false)};
    struct interference f = {.slowdown = 0.3 + 0.7 * uniform(&seed)};
    for (int e = 0; e < ENTRIES; e++) {
        f.share[e] = 0.1 + 0.8 * uniform(&seed);
        for (int p = 0; p < PROCESSES; p++) s->offset[e][p] = 3e-4 * gaussian(&seed);
        s->entries[e] = (struct contender){.candidate = e < KERNELS,
                                           .objectives = s->times[e],
                                           .process = s->process,
                                           .share = e < KERNELS ? m->share[e] : 0,
                                           .code = 1000};
    }
    for (int p = 0; p < PROCESSES; p++) s->slow[p] = uniform(&seed) < 0.5;
    enum final_next next;
    do {
        int wanted = (int)final_rounds_wanted(&s->rounds), from = (int)s->rounds.taken;
        for (int r = from; r < from + wanted; r++) take_round(m, s, &f, r, &seed);
        next = final_rounds_take(&s->rounds, (size_t)wanted, s->entries, ENTRIES);
    } while (next != FINAL_STOP);
    final_decide(s->entries, ENTRIES, s->rounds.look, &s->v);
}

static int tied(const struct simulated *s)
{
    int n = 0;
    for (int e = 0; e < KERNELS; e++) n += s->entries[e].tied;
    return n;
}

static const struct model identical = {{1, 1, 1, 1, 1}, {0.5, 0.5, 0.5, 0.5, 0.5}, {false}, LOAD_NONE, NULL};
// The fastest is the heaviest, so it can only win by its time.
static const struct model planted = {{1.02, 1.02, 1, 1.02, 1.02}, {0.2, 0.3, 0.5, 0.2, 0.1}, {false}, LOAD_NONE, NULL};

TEST(identical_kernels_tie_in_95_of_100_finals)
{
    int all = 0;
    double within = 0;
    for (uint64_t i = 0; i < FINALS; i++) {
        struct simulated s;
        simulate(&identical, 1000 + i, &s);
        all += s.v.winner >= 0 && s.v.certainty == FINAL_TIED && tied(&s) == KERNELS - 1;
        within = fmax(within, s.v.within);
    }
    print_message("%d of %d finals of identical kernels are ties, within %.2f%% at most\n", all, FINALS, 100 * within);
    assert_true(all >= 95 && within < 0.01);
}

TEST(a_difference_of_2_percent_is_found_in_95_of_100_finals)
{
    int found = 0, others = 0;
    for (uint64_t i = 0; i < FINALS; i++) {
        struct simulated s;
        simulate(&planted, 2000 + i, &s);
        found += s.v.winner == 2 && s.v.certainty == FINAL_FASTEST;
        others += s.v.winner != 2;
    }
    print_message("the faster kernel wins %d of %d finals, another %d\n", found, FINALS, others);
    assert_true(found >= 95 && !others);
    int slower = 0; // a kernel that is light but 2% slower neither ties nor wins
    for (uint64_t i = 0; i < FINALS; i++) {
        struct simulated s;
        struct model m = identical;
        m.time[3] = 1.02;
        m.share[3] = 0.1;
        simulate(&m, 3000 + i, &s);
        slower += s.v.winner >= 0 && s.v.winner != 3 && !s.entries[3].tied;
    }
    print_message("the slower kernel loses %d of %d finals\n", slower, FINALS);
    assert_true(slower >= 95);
}

// Simulates 100 finals with each recorded noise.
TEST(both_hold_with_the_noise_of_real_finals)
{
    for (size_t n = 0; n < RECORDINGS; n++) {
        int tied_all = 0, found = 0, others = 0;
        read_noise(&recorded[n]);
        for (uint64_t i = 0; i < FINALS; i++) {
            struct simulated s;
            struct model same = identical, differs = planted;
            same.noise = differs.noise = &recorded[n];
            simulate(&same, 8000 + i, &s);
            tied_all += s.v.certainty == FINAL_TIED && tied(&s) == KERNELS - 1;
            simulate(&differs, 9000 + i, &s);
            found += s.v.winner == 2 && s.v.certainty == FINAL_FASTEST;
            others += s.v.winner != 2;
        }
        print_message("%s: %d of %d finals are ties, a difference of 2%% is found in %d, in %d another wins\n",
                      recorded[n].path, tied_all, FINALS, found, others);
        assert_true(tied_all >= 95 && found >= 95 && !others);
    }
}

// A kernel that uses fewer resources but is 0.5% slower does not beat the fastest kernel.
TEST(a_lighter_kernel_does_not_win_by_its_resources_alone)
{
    int wins = 0;
    for (uint64_t i = 0; i < FINALS; i++) {
        struct simulated s;
        struct model m = identical;
        m.time[3] = 1.005;
        m.share[3] = 0.1;
        simulate(&m, 3500 + i, &s);
        wins += s.v.winner == 3;
    }
    print_message("0.5%% slower and light, it wins %d of %d finals\n", wins, FINALS);
    assert_true(wins <= 5);
}

// Compares only the first two processes. A final starts a third one only if these differ.
static bool processes_differ(const struct simulated *s)
{
    return s->slow[0] != s->slow[1];
}

TEST(kernels_of_two_times_are_seen_and_leave_the_order_undecided)
{
    int differ = 0, seen = 0, open = 0, blamed = 0;
    for (uint64_t i = 0; i < FINALS; i++) {
        struct simulated s;
        struct model m = {{1, 1.05, 1.2, 1.2, 1.2}, {0.5, 0.5, 0.5, 0.5, 0.5}, {true}, LOAD_NONE, NULL};
        simulate(&m, 4000 + i, &s);
        for (int e = 1; e < ENTRIES; e++) blamed += s.entries[e].by_process;
        assert_true(s.v.winner == 0 || s.v.winner == 1);
        assert_int_equal(s.rounds.process, processes_differ(&s) ? PROCESSES - 1 : 1);
        if (!processes_differ(&s)) continue;
        differ++;
        seen += s.entries[0].by_process;
        open += s.v.certainty == FINAL_UNDECIDED;
    }
    print_message(
        "of %d finals in which processes differ %d are seen to, %d are undecided; %d steady kernels are blamed\n",
        differ, seen, open, blamed);
    assert_true(differ > 40 && seen == differ && open == differ && !blamed);
}

TEST(a_slow_kernel_of_two_times_does_not_keep_others_from_winning)
{
    int won = 0;
    for (uint64_t i = 0; i < FINALS; i++) {
        struct simulated s;
        struct model m = {{1.2, 1, 1.02, 1.02, 1.02}, {0.1, 0.5, 0.5, 0.5, 0.5}, {true}, LOAD_NONE, NULL};
        simulate(&m, 5000 + i, &s);
        won += s.v.winner == 1 && s.v.certainty == FINAL_FASTEST;
        assert_true(s.v.winner != 0 && !s.entries[0].tied);
    }
    assert_true(won >= 95);
}

// Counts the rounds that the interim looks save: losers leave, and the final ends when the order is known.
TEST(most_finals_end_before_all_rounds_are_taken)
{
    int early = 0;
    double entries = 0;
    for (uint64_t i = 0; i < FINALS; i++) {
        struct simulated s;
        simulate(&planted, 7000 + i, &s);
        early += s.rounds.taken < ROUNDS;
        for (int e = 0; e < ENTRIES; e++) entries += (double)s.entries[e].rounds;
    }
    print_message("a difference of 2%%: %d of %d finals end early, after %.0f of %d launches on average\n", early,
                  FINALS, entries / FINALS, ROUNDS * ENTRIES);
    assert_true(early >= 80 && entries / FINALS < 0.75 * ROUNDS * ENTRIES);
}

// With or without load, either the winner is as fast as any other kernel, or the verdict says that another kernel may
// be faster or that another program used the device.
TEST(under_load_the_winner_is_the_fastest_or_the_verdict_says_so)
{
    const struct {
        const char *what;
        struct model model;
    } cases[] = {
        {"the fastest, by 2%", planted},
        {"the lightest of equals", {{1, 1, 1, 1, 1}, {0.5, 0.5, 0.5, 0.1, 0.5}, {false}, LOAD_NONE, NULL}},
        {"two close ones", {{1, 1.004, 1.03, 1.03, 1.1}, {0.5, 0.3, 0.2, 0.1, 0.1}, {false}, LOAD_NONE, NULL}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (enum load load = LOAD_NONE; load < LOAD_COUNT; load++) {
            int fastest = 0, warned = 0, wrong = 0;
            for (uint64_t i = 0; i < LOADED_FINALS; i++) {
                struct simulated s;
                struct model m = cases[c].model;
                m.load = load;
                simulate(&m, 6000 + 1000 * c + i, &s);
                double slower = m.time[s.v.winner] - 1;
                fastest += slower == 0;
                warned += *s.v.warning.message != 0;
                wrong += slower > s.v.within + 1e-3 && !*s.v.warning.message;
            }
            print_message("%-24s %-20s fastest %3d, with a warning %3d, wrong %d\n", cases[c].what, load_names[load],
                          fastest, warned, wrong);
            if (wrong || (load == LOAD_NONE && (fastest < 0.95 * LOADED_FINALS || warned)))
                fail_msg("%s, %s: the fastest wins %d of %d finals, %d wrong, %d with a warning", cases[c].what,
                         load_names[load], fastest, LOADED_FINALS, wrong, warned);
        }
}

TEST_MAIN(NULL, NULL)
