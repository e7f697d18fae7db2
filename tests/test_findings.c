// Findings: tests each rule on a profile made for it. Also tests, in a space in which every configuration was measured,
// whether the rules' proposals point in the right direction.
#include "tests/config_text.h"
#include "tests/loaded_job.h"
#include "tuner/explain/explain.h"
#include "tuner/explain/findings.h"
#include "tuner/explain/profile.h"
#include "tuner/recorded/recorded.h"

// A profile of one stage, from counters and facts in JSON.
static json_t *profile_of(const char *counters, const char *facts)
{
    struct error err;
    char *text = test_text(
        "{\"name\":\"x\",\"config\":\"\",\"problem\":\"\",\"time\":1e-3,\"flops\":1e9,\"bytes\":1e9,\"pipe\":\"fp32 "
        "fma\",\"operations\":1e9,\"ceilings\":{\"flops_per_second\":6e13,\"bytes_per_second\":4e12},\"stages\":[{"
        "\"name\":\"k\",\"counters\":{%s},\"facts\":{%s}}]}",
        counters, facts);
    json_t *profile = json_parse(text, &err);
    if (!profile) fail_msg("%s", err.message);
    return test_json(profile);
}

static bool has(const struct finding *list, size_t count, const char *rule)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i].rule, rule)) return true;
    return false;
}

#define STALLS "\"stall_wait\":1,\"stall_not_selected\":0.5,"

static const struct {
    const char *rule, *counters, *facts, *without; // with these counters instead, the rule finds nothing
} cases[] = {
    {"bank_conflicts", "\"shared_wavefronts\":2e8,\"shared_ideal\":1e8,\"cycles_active\":1e6", "",
     "\"shared_wavefronts\":1e8,\"shared_ideal\":1e8,\"cycles_active\":1e6"},
    {"uncoalesced", "\"global_sectors\":4e6,\"global_ideal\":1e6", "", "\"global_sectors\":1e6,\"global_ideal\":1e6"},
    {"low_occupancy", STALLS "\"stall_long_scoreboard\":20,\"issue_active\":20",
     "\"occupancy\":0.25,\"limit_registers\":2,\"limit_shared\":9,\"limit_warps\":8,\"limit_blocks\":32",
     STALLS "\"stall_long_scoreboard\":20,\"issue_active\":85"},
    {"spills", "\"local_load_sectors\":1e6,\"global_sectors\":1e6", "\"spill_loads\":40,\"spill_stores\":40", NULL},
    {"tail_effect", "\"cycles_active\":1e6,\"cycles_active_max\":1.5e6", "\"waves\":1.1",
     "\"cycles_active\":1e6,\"cycles_active_max\":1.001e6"},
    {"instruction_cache", STALLS "\"stall_no_instruction\":5", "\"code_bytes\":90000",
     STALLS "\"stall_no_instruction\":0.01"},
    {"latency",
     STALLS "\"stall_long_scoreboard\":9,\"issue_active\":10,\"dram_throughput\":20,\"memory_throughput\":20", "",
     STALLS "\"stall_long_scoreboard\":9,\"issue_active\":10,\"dram_throughput\":95,\"memory_throughput\":95"},
    {"divergence", "\"threads_per_instruction\":16,\"issue_active\":50", "",
     "\"threads_per_instruction\":32,\"issue_active\":50"},
    {"one_pipe", "\"pipe_fma\":95", "", "\"pipe_fma\":60"},
    {"imbalance", "\"cycles_active\":1e6,\"cycles_active_max\":1.5e6", "\"waves\":20.5",
     "\"cycles_active\":1e6,\"cycles_active_max\":1.01e6"},
    {"barriers", STALLS "\"stall_barrier\":3", "", STALLS "\"stall_barrier\":0.1"},
};

TEST(every_rule_speaks_where_its_cause_is_and_is_silent_where_it_is_not)
{
    struct finding list[FINDINGS_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *profile = profile_of(cases[i].counters, cases[i].facts);
        size_t count = findings_make(profile, NULL, &device_limits_h200, list);
        if (!has(list, count, cases[i].rule)) fail_msg("%s is silent", cases[i].rule);
        for (size_t k = 0; k < count; k++) {
            assert_true(*list[k].seen && *list[k].why);
            assert_true(isnan(list[k].gain) || (list[k].gain >= 0 && list[k].gain <= 1));
            assert_int_equal(list[k].parameter, -1); // no job, so no parameter to propose
        }
        profile =
            profile_of(cases[i].without ? cases[i].without : cases[i].counters, cases[i].without ? cases[i].facts : "");
        count = findings_make(profile, NULL, &device_limits_h200, list);
        if (has(list, count, cases[i].rule)) fail_msg("%s speaks without cause", cases[i].rule);
    }
}

TEST(a_kernel_at_the_roofline_is_reported_as_such)
{
    struct finding list[FINDINGS_MAX];
    json_t *profile = profile_of("", "");
    json_object_set_new(profile, "time", json_real(1e9 / 4e12 / 0.95));
    size_t count = findings_make(profile, NULL, &device_limits_h200, list);
    assert_true(has(list, count, "at_roofline"));
    json_object_set_new(profile, "time", json_real(1e9 / 4e12 / 0.5));
    count = findings_make(profile, NULL, &device_limits_h200, list);
    assert_false(has(list, count, "at_roofline"));
}

TEST(nothing_known_is_nothing_found)
{
    struct finding list[FINDINGS_MAX];
    json_t *profile = profile_of("", ""), *empty = test_json(json_object());
    assert_int_equal(findings_make(profile, NULL, &device_limits_h200, list), 0);
    assert_int_equal(findings_make(empty, NULL, &device_limits_h200, list), 0);
}

// A recorded trial as a profile, with its counters and with facts computed from the job's launch.
static json_t *profile_of_trial(const struct job *job, const struct recorded *r, size_t trial, const uint16_t *config)
{
    const struct trial *t = &r->trials[trial];
    struct planned_launch *launches = NULL;
    char text[1024];
    size_t count;
    struct error err;
    json_t *problems = request_problems(job, config, NULL, true, &launches, &count, &err), *counters = json_object();
    if (!problems) fail_msg("%s", err.message);
    json_decref(problems);
    config_text(job->space, config, text, sizeof text);
    for (size_t i = 0; i < r->metric_count; i++)
        json_object_set_new(counters, r->metrics[i].key, json_real(r->counters[trial * r->metric_count + i]));
    json_t *facts = explain_facts(&device_limits_h200, &launches[0].shape, (int64_t)t->facts.registers, 0);
    free(launches);
    json_object_set_new(facts, "code_bytes", json_real(t->facts.code_bytes));
    json_object_set_new(facts, "spill_loads", json_real(t->facts.spill_bytes));
    json_object_set_new(facts, "spill_stores", json_real(0));
    return json_pack("{s:s, s:s, s:f, s:f, s:f, s:[{s:s, s:o, s:o}]}", "config", text, "problem", job->problems[0].name,
                     "time", t->objective, "flops", r->problems[0].work->flops, "bytes", r->problems[0].work->bytes,
                     "stages", "name", "k", "counters", counters, "facts", facts);
}

struct tally {
    const char *rule;
    size_t count, right;
    double gain; // mean of 1 - new time / old time
};

static struct tally *tally_of(struct tally *all, const char *rule)
{
    while (all->rule && strcmp(all->rule, rule)) all++;
    all->rule = rule;
    return all;
}

// Each proposed change leads to a configuration whose time is in the recorded space. The figures are printed for
// docs/experiments/profiling.md and must not fall below a minimum.
TEST(proposals_point_the_right_way_in_a_space_that_was_measured)
{
    struct error err;
    struct job *job = loaded_job("configs/sgemm_2048.cfg");
    struct recorded *r = recorded_read("tests/spaces/sgemm_2048_h200.json.gz", &err);
    if (!r) fail_msg("%s", err.message);
    struct tally tallies[FINDINGS_MAX + 1] = {{0}}, all = {0};
    size_t examined = 0;
    for (size_t i = 0; i < r->trial_count; i++) {
        uint16_t config[SPACE_MAX_PARAMETERS];
        char text[1024];
        if (r->trials[i].status != STATUS_OK || !r->metric_count) continue;
        config_text(r->space, r->configs + i * r->parameter_count, text, sizeof text);
        if (space_parse(job->space, text, config, NULL)) fail_msg("the job has no %s", text);
        struct finding findings[FINDINGS_MAX];
        autojson json_t *profile = profile_of_trial(job, r, i, config);
        size_t count = findings_make(profile, job, &device_limits_h200, findings);
        examined++;
        for (size_t k = 0; k < count; k++) {
            const struct finding *f = &findings[k];
            if (f->parameter < 0) continue;
            uint16_t changed[SPACE_MAX_PARAMETERS], there[SPACE_MAX_PARAMETERS];
            memcpy(changed, config, sizeof changed);
            changed[f->parameter] = f->value;
            config_text(job->space, changed, text, sizeof text);
            if (space_parse(r->space, text, there, NULL)) continue;
            int64_t other = recorded_find(r, there);
            if (other < 0 || r->trials[other].status != STATUS_OK) continue;
            double gain = 1 - r->trials[other].objective / r->trials[i].objective;
            struct tally *t = tally_of(tallies, f->rule);
            t->count++, all.count++;
            t->right += gain > 0, all.right += gain > 0;
            t->gain += gain, all.gain += gain;
        }
    }
    print_message("%zu configurations examined\n", examined);
    for (struct tally *t = tallies; t->rule; t++)
        print_message("%-18s %5zu proposals, %5.1f%% faster, mean change of the time %+.1f%%\n", t->rule, t->count,
                      100 * (double)t->right / (double)t->count, -100 * t->gain / (double)t->count);
    print_message("%-18s %5zu proposals, %5.1f%% faster, mean change of the time %+.1f%%\n", "all", all.count,
                  100 * (double)all.right / (double)all.count, -100 * all.gain / (double)all.count);
    assert_true(all.count > 100);
    assert_true((double)all.right / (double)all.count > 0.6);
    recorded_free(r);
}

TEST_MAIN(NULL, NULL)
