// Compares the Gaussian process (search/model/gp.c) with the same formulas written out: a dense kernel matrix and a
// plain Cholesky factor, in double precision and without tables. The gradient is compared with finite differences of
// the log posterior.
#include "search/model/gp.h"
#include "search/space/random.h"
#include "tests/random_normal.h"
#include "tests/testing.h"

enum { ORDINAL = 3, NOMINAL = 2, D = ORDINAL + NOMINAL, THETA = D + 2, POINTS = 24, OTHERS = 300 };

struct data {
    float points[POINTS][D], others[OTHERS][D];
    double targets[POINTS];
};

static void fill_point(struct random *rng, float *point)
{
    for (int i = 0; i < ORDINAL; i++) point[i] = (float)random_below(rng, 9) / 8;
    for (int i = ORDINAL; i < D; i++) point[i] = (float)random_below(rng, 4);
}

static void make_data(struct data *d)
{
    struct random rng;
    random_seed(&rng, 11);
    double sum = 0;
    for (int i = 0; i < POINTS; i++) {
        float *x = d->points[i];
        fill_point(&rng, x);
        double a = (double)x[0], b = (double)x[1];
        d->targets[i] = sin(3 * a) + 0.7 * b * b + (x[3] > 1 ? 0.5 : -0.3) + 0.1 * random_normal(&rng);
        sum += d->targets[i];
    }
    for (int i = 0; i < POINTS; i++) d->targets[i] -= sum / POINTS;
    for (int i = 0; i < OTHERS; i++) fill_point(&rng, d->others[i]);
}

static struct gp *make_process(const struct data *d, const double *theta)
{
    struct gp *g = gp_new(ORDINAL, NOMINAL, POINTS + 5);
    for (int i = 0; i < POINTS; i++) gp_add(g, d->points[i]);
    if (theta) gp_set_theta(g, theta);
    return g;
}

// Half a Matérn 3/2 kernel over all dimensions, half the mean of rational quadratic kernels over single dimensions.
static double kernel(const double *theta, const float *a, const float *b)
{
    double sum = 0, alone = 0;
    for (int i = 0; i < D; i++) {
        double apart = (double)a[i] - (double)b[i], scale = exp(theta[i]);
        if (i >= ORDINAL) apart = apart != 0;
        double q = apart * apart / (scale * scale);
        sum += q;
        alone += 1 / (1 + q) / D;
    }
    return exp(theta[D]) * (0.5 * (1 + sqrt(3 * sum)) * exp(-sqrt(3 * sum)) + 0.5 * alone);
}

static double diagonal(const double *theta)
{
    return exp(theta[D]) + exp(theta[D + 1]) + 1e-6;
}

struct solution {
    double lower[POINTS][POINTS], weights[POINTS], posterior;
};

static void solve_forward(const struct solution *s, double *x)
{
    for (int i = 0; i < POINTS; i++) {
        for (int j = 0; j < i; j++) x[i] -= s->lower[i][j] * x[j];
        x[i] /= s->lower[i][i];
    }
}

static void solve(const struct data *d, const double *theta, struct solution *s)
{
    double determinant = 0, fit = 0, prior = 0;
    for (int i = 0; i < POINTS; i++) {
        for (int j = 0; j <= i; j++) {
            double v = i == j ? diagonal(theta) : kernel(theta, d->points[i], d->points[j]);
            for (int k = 0; k < j; k++) v -= s->lower[i][k] * s->lower[j][k];
            s->lower[i][j] = i == j ? sqrt(v) : v / s->lower[j][j];
        }
        determinant += 2 * log(s->lower[i][i]);
    }
    memcpy(s->weights, d->targets, sizeof s->weights);
    solve_forward(s, s->weights);
    for (int i = POINTS; i-- > 0;) {
        for (int j = i + 1; j < POINTS; j++) s->weights[i] -= s->lower[j][i] * s->weights[j];
        s->weights[i] /= s->lower[i][i];
    }
    for (int i = 0; i < POINTS; i++) fit += s->weights[i] * d->targets[i];
    for (int i = 0; i < THETA; i++) {
        double centre = i == D ? 0 : i > D ? log(1e-3) : 0.5 * log(ORDINAL) + (i >= ORDINAL ? 0.5 : 0);
        prior += (theta[i] - centre) * (theta[i] - centre) / (2 * (i > D ? 2.25 : 1));
    }
    s->posterior = -0.5 * (fit + determinant) - prior;
}

static void moments(const struct data *d, const double *theta, const struct solution *s, const float *point,
                    double *mean, double *variance)
{
    double column[POINTS];
    *mean = 0;
    *variance = exp(theta[D]);
    for (int i = 0; i < POINTS; i++) {
        column[i] = kernel(theta, point, d->points[i]);
        *mean += column[i] * s->weights[i];
    }
    solve_forward(s, column);
    for (int i = 0; i < POINTS; i++) *variance -= column[i] * column[i];
}

// Short, long and unequal length scales; low and high noise.
static const double thetas[][THETA] = {
    {0.5, 0.5, 0.5, 1, 1, 0, -6.9},
    {-1.5, 0.2, 1.4, -0.4, 2, 0.6, -3},
    {-0.3, -2, 0, 0.7, -1, -1.2, -1},
};
enum { CASES = sizeof thetas / sizeof *thetas };

TEST(each_component_of_the_gradient_is_the_slope_of_the_log_posterior)
{
    struct data d;
    struct solution s;
    make_data(&d);
    for (int c = 0; c < CASES; c++) {
        double theta[THETA];
        struct gp *g = make_process(&d, thetas[c]);
        const double *gradient = gp_gradient(g, d.targets, POINTS);
        for (int i = 0; i < THETA; i++) {
            const double step = 1e-5;
            memcpy(theta, thetas[c], sizeof theta);
            theta[i] += step;
            solve(&d, theta, &s);
            double up = s.posterior;
            theta[i] -= 2 * step;
            solve(&d, theta, &s);
            double slope = (up - s.posterior) / (2 * step);
            if (fabs(gradient[i] - slope) > 1e-5 * (1 + fabs(slope)))
                fail_msg("case %d, component %d: gradient %.9g, slope %.9g", c, i, gradient[i], slope);
        }
        gp_free(g);
    }
}

TEST(means_and_variances_are_those_of_a_dense_solve)
{
    struct data d;
    struct solution s;
    make_data(&d);
    for (int c = 0; c < CASES; c++) {
        double mean[OTHERS], variance[OTHERS], means[OTHERS], bound[OTHERS];
        struct gp *g = make_process(&d, thetas[c]);
        solve(&d, thetas[c], &s);
        gp_condition(g, d.targets);
        gp_pool_add(g, d.others[0], OTHERS);
        gp_pool_moments(g, mean, variance);
        gp_means(g, d.others[0], OTHERS, means, bound);
        for (int i = 0; i < OTHERS; i++) {
            double expected, spread;
            moments(&d, thetas[c], &s, d.others[i], &expected, &spread);
            double exact = gp_variance(g, d.others[i]), signal = exp(thetas[c][D]);
            // gp_variance works in double precision; the pool and the means use single precision and a table.
            if (fabs(exact - fmax(spread, 1e-9)) > 1e-9 * signal)
                fail_msg("case %d, point %d: variance %.12g, expected %.12g", c, i, exact, spread);
            if (fabs(variance[i] - spread) > 2e-3 * signal || fabs(mean[i] - expected) > 5e-3)
                fail_msg("case %d, point %d of the pool: %.6g and %.6g, expected %.6g and %.6g", c, i, mean[i],
                         variance[i], expected, spread);
            if (fabs(means[i] - expected) > 5e-3)
                fail_msg("case %d, point %d: mean %.6g, expected %.6g", c, i, means[i], expected);
            assert_true(bound[i] > spread - 1e-5 && bound[i] <= signal * (1 + 1e-9));
        }
        gp_free(g);
    }
}

TEST(a_pool_that_grows_point_by_point_has_the_moments_of_one_made_at_once)
{
    struct data d;
    make_data(&d);
    double whole[2][OTHERS], grown[2][OTHERS];
    struct gp *g = make_process(&d, thetas[1]);
    gp_condition(g, d.targets);
    gp_pool_add(g, d.others[0], OTHERS);
    gp_pool_moments(g, whole[0], whole[1]);
    gp_clear(g);
    assert_int_equal(gp_count(g), 0);
    for (int i = 0; i < POINTS; i++) {
        gp_add(g, d.points[i]);
        gp_condition(g, d.targets);
        gp_pool_moments(g, grown[0], grown[1]);
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < OTHERS; i++) assert_true(fabs(whole[k][i] - grown[k][i]) < 1e-4);
    gp_free(g);
}

TEST(fitting_climbs_the_posterior_and_starts_where_the_last_one_ended)
{
    struct data d;
    struct solution s;
    double theta[THETA], before[THETA], start, middle;
    make_data(&d);
    struct gp *g = make_process(&d, NULL);
    memcpy(before, gp_theta(g), sizeof before);
    // The centres of the priors, except for the noise.
    assert_true(fabs(before[0] - 0.5 * log(ORDINAL)) < 1e-12 && fabs(before[D - 1] - before[0] - 0.5) < 1e-12);
    solve(&d, before, &s);
    start = s.posterior;
    gp_fit(g, d.targets, 20, POINTS);
    memcpy(theta, gp_theta(g), sizeof theta);
    solve(&d, theta, &s);
    middle = s.posterior;
    assert_true(middle > start + 0.5);
    gp_fit(g, d.targets, 60, POINTS);
    memcpy(theta, gp_theta(g), sizeof theta);
    solve(&d, theta, &s);
    assert_true(s.posterior > middle - 0.01);
    // At the maximum, the gradient is small compared with the gradient at the start.
    double first = 0, last = 0;
    const double *gradient = gp_gradient(g, d.targets, POINTS);
    for (int i = 0; i < THETA; i++) last += gradient[i] * gradient[i];
    gp_set_theta(g, before);
    gradient = gp_gradient(g, d.targets, POINTS);
    for (int i = 0; i < THETA; i++) first += gradient[i] * gradient[i];
    if (last > 0.05 * first) fail_msg("squared gradient %g at the start, %g after the fit", first, last);
    gp_free(g);
}

TEST(where_a_point_is_known_the_mean_is_its_target_and_the_variance_is_gone)
{
    struct data d;
    make_data(&d);
    const double quiet[THETA] = {-1, -1, -1, -1, -1, 0, -13};
    for (int i = 0; i < POINTS; i++) d.points[i][0] = (float)i / POINTS; // all different
    struct gp *g = make_process(&d, quiet);
    double mean[POINTS], bound[POINTS];
    gp_condition(g, d.targets);
    gp_means(g, d.points[0], POINTS, mean, bound);
    for (int i = 0; i < POINTS; i++) {
        assert_true(fabs(mean[i] - d.targets[i]) < 0.01);
        assert_true(gp_variance(g, d.points[i]) < 1e-4);
        assert_true(bound[i] < 1e-3);
    }
    gp_free(g);
}

TEST(without_some_points_the_others_say_what_they_would_alone)
{
    enum { LEFT_OUT = 5 };
    static const size_t numbers[LEFT_OUT] = {0, 3, 4, 11, POINTS - 1};
    struct data d;
    make_data(&d);
    double theta[THETA] = {-0.5, -0.2, 0.3, 0.1, 0.6, 0.2, -2.5}, mean[LEFT_OUT], variance[LEFT_OUT];
    struct gp *all = make_process(&d, theta), *others = gp_new(ORDINAL, NOMINAL, POINTS);
    double targets[POINTS];
    size_t n = 0;
    for (size_t i = 0, k = 0; i < POINTS; i++) {
        if (k < LEFT_OUT && numbers[k] == i) {
            k++;
            continue;
        }
        gp_add(others, d.points[i]);
        targets[n++] = d.targets[i];
    }
    gp_set_theta(others, theta);
    gp_condition(others, targets);
    gp_without(all, numbers, LEFT_OUT, d.targets, mean, variance);
    for (size_t i = 0; i < LEFT_OUT; i++) {
        double expected, bound;
        gp_means(others, d.points[numbers[i]], 1, &expected, &bound);
        assert_true(fabs(mean[i] - expected) < 1e-3); // the means come from a table
        assert_true(fabs(variance[i] - gp_variance(others, d.points[numbers[i]])) < 1e-6);
    }
    gp_free(all);
    gp_free(others);
}

TEST(what_is_believed_leaves_means_as_they_are_and_is_known_from_then_on)
{
    enum { KNOWN = POINTS - 4 };
    struct data d;
    make_data(&d);
    const double theta[THETA] = {-0.5, -0.2, 0.3, 0.1, 0.6, 0.2, -2.5};
    struct gp *believing = gp_new(ORDINAL, NOMINAL, POINTS), *reported = make_process(&d, theta);
    double before[POINTS], mean[POINTS], bound[POINTS], unused[POINTS];
    for (size_t i = 0; i < KNOWN; i++) gp_add(believing, d.points[i]);
    gp_set_theta(believing, theta);
    gp_condition(believing, d.targets);
    gp_means(believing, d.points[0], POINTS, before, unused);
    double alone = gp_variance(believing, d.points[POINTS - 1]);
    for (size_t i = KNOWN; i < POINTS; i++) {
        d.targets[i] = before[i];
        gp_add(believing, d.points[i]);
        gp_add_fantasy(believing);
    }
    gp_condition(reported, d.targets); // with the same targets
    for (int conditioned = 0; conditioned < 2; conditioned++) {
        gp_means(believing, d.points[0], POINTS, mean, bound);
        for (size_t i = 0; i < POINTS; i++) {
            assert_true(fabs(mean[i] - before[i]) < 1e-3); // the means come from a table
            assert_true(fabs(gp_variance(believing, d.points[i]) - gp_variance(reported, d.points[i])) < 1e-9);
        }
        gp_condition(believing, d.targets);
    }
    assert_true(gp_variance(believing, d.points[POINTS - 1]) < 0.5 * alone);
    gp_free(believing);
    gp_free(reported);
}

TEST_MAIN(NULL, NULL)
