// How long a proposal of `default` takes in a large space, measured in processor time, so that other programs matter
// little. The bounds are three times the promised times, because other processors may be slower or shared. The promise
// is 2 ms on average and 20 ms at most. With 64 or 256 outstanding proposals, it is 1 ms on average and 50 ms at most.
#include <math.h>

#include "search/strategies/strategy.h"
#include "tests/loaded_job.h"
#include "tests/sanitized.h"
#include "tests/testing.h"
#include "tuner/base/clock.h"
#include "tuner/base/memory.h"
#include "tuner/job/job.h"

// Smooth in every parameter, with a ripple; one in eleven fails.
static struct observation result(const struct space *space, const uint16_t *config)
{
    double time = 1e-3;
    unsigned mix = 1;
    for (size_t p = 0; p < space_parameter_count(space); p++) {
        double apart = config[p] / fmax((double)space_parameter(space, p)->count - 1, 1) - 0.6;
        time *= 1 + 0.5 * apart * apart;
        mix = mix * 31 + config[p];
    }
    bool fails = mix % 11 == 0;
    return (struct observation){.config = config,
                                .outcome = fails ? OUTCOME_INVALID : OUTCOME_OK,
                                .objective = fails ? NAN : time * (1 + 0.03 * (mix % 17) / 17)};
}

// Results arrive in the order of the proposals.
static void propose(size_t proposals, size_t outstanding, double most, double longest_allowed)
{
    struct job *job = loaded_job("configs/sgemm.cfg");
    double all = 0, longest = 0;
    assert_true(space_size(job->space) > 12000000);
    size_t width = space_parameter_count(job->space);
    autofree uint16_t *configs = memory_new(proposals * width, sizeof *configs);
    struct strategy *s =
        strategy_new(strategy_choose("default", NULL), job->space, &(struct strategy_options){.seed = 1});
    for (size_t i = 0; i < proposals; i++) {
        double start = clock_cpu();
        assert_true(strategy_ask(s, configs + i * width));
        double one = clock_cpu() - start;
        all += one;
        longest = fmax(longest, one);
        if (i + 1 < outstanding) continue;
        struct observation o = result(job->space, configs + (i + 1 - outstanding) * width);
        strategy_tell(s, &o);
    }
    strategy_free(s);
    all /= (double)proposals;
    print_message("%zu outstanding: %.2f ms a proposal, %.1f ms the longest\n", outstanding, 1e3 * all, 1e3 * longest);
    if (all > most) fail_msg("%.2f ms a proposal", 1e3 * all);
    if (longest > longest_allowed) fail_msg("%.1f ms the longest", 1e3 * longest);
}

TEST(a_proposal_among_millions_takes_milliseconds_also_when_the_model_is_fitted)
{
    if (SANITIZED) skip();
    propose(400, 1, 0.006, 0.060);
}

TEST(many_outstanding_proposals_take_a_millisecond_each)
{
    if (SANITIZED) skip();
    propose(600, 64, 0.003, 0.150);
    propose(800, 256, 0.003, 0.150);
}

TEST_MAIN(NULL, NULL)
