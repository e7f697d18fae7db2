// See builds_summary.h.
#include "tuner/final/builds_summary.h"

#include "tuner/base/table.h"
#include "tuner/store/builds.h"

struct summary_problem {
    const char *problem;
    struct interval nvrtc, nvcc, ratio;
};

struct summary {
    const char *compiler, *verdict, *reason;
    struct interval ratio;
    double error;
    const struct summary_problem *problems;
    size_t problem_count;
};

#define PROBLEM_INTERVAL(member) RECORD_INTERVAL(struct summary_problem, member)
static const struct record_field problem_fields[] = {{"problem", RECORD_MEMBER(struct summary_problem, problem)},
                                                     {"nvrtc", PROBLEM_INTERVAL(nvrtc)},
                                                     {"nvcc", PROBLEM_INTERVAL(nvcc)},
                                                     {"ratio", PROBLEM_INTERVAL(ratio)},
                                                     {0}};
static const struct record problem_record = {"a problem", sizeof(struct summary_problem), problem_fields, NULL};

#define SUMMARY(member) RECORD_MEMBER(struct summary, member)
static const struct record_field summary_fields[] = {
    {"compiler", SUMMARY(compiler), .flags = RECORD_ALWAYS},
    {"verdict", SUMMARY(verdict), .flags = RECORD_ALWAYS},
    {"reason", SUMMARY(reason), .flags = RECORD_ALWAYS},
    {"ratio", RECORD_INTERVAL(struct summary, ratio)},
    {"error", SUMMARY(error)},
    {"problems", RECORD_RECORDS(struct summary, problems, problem_count, problem_record)},
    {0}};
static const struct record summary_record = {"the builds", sizeof(struct summary), summary_fields, NULL};

// A comparison made before the final, or for another final, is not about this final's winner.
static bool is_of(const struct final_document *d, const struct final *final)
{
    const struct final_decision *decision = &d->decision;
    if (!(d->when >= final->when) || decision->winner != final->winner) return false;
    if (decision->kernel_count != final->kernel_count) return false;
    return !final->kernel_count ||
           !memcmp(decision->kernels, final->kernels, final->kernel_count * sizeof *final->kernels);
}

static const struct final_entry *nvcc_entry(const struct final *timed)
{
    for (size_t i = 0; i < timed->entry_count; i++)
        if (!timed->entries[i].trial && !strcmp(timed->entries[i].name, BUILDS_NVCC)) return &timed->entries[i];
    return NULL;
}

static bool has_times(const char *verdict)
{
    return strcmp(verdict, BUILDS_FAILED) != 0 && strcmp(verdict, BUILDS_MISSING) != 0;
}

// Finds the times by problem. The document is read as a final in which nvcc's build is one of the libraries.
static struct summary_problem *find_times(const struct final *timed, const struct final_entry *nvcc,
                                          const struct job *job)
{
    struct summary_problem *problems = memory_new(job->tuned_count, sizeof *problems);
    for (size_t p = 0; p < job->tuned_count; p++)
        problems[p] = (struct summary_problem){.problem = job->problems[p].name,
                                               .nvrtc = final_choice(timed, p)->problems[p].time,
                                               .nvcc = nvcc->problems[p].time,
                                               .ratio = nvcc->problems[p].ratio};
    return problems;
}

json_t *builds_summary(const json_t *document, const struct final *final, const struct job *job)
{
    if (!document) return NULL;
    autorelease(final_release) struct final timed;
    struct error err;
    bool whole = !final_read(&timed, document, job->tuned_count, &err); // without times there is no winner's entry
    const struct final_document *d = &timed.document;
    const char *verdict = d->verdict && *d->verdict ? d->verdict : BUILDS_MISSING;
    const struct final_entry *nvcc = whole && has_times(verdict) ? nvcc_entry(&timed) : NULL;
    if (!d->entries || !is_of(d, final) || (!nvcc && has_times(verdict))) return NULL;
    autofree struct summary_problem *problems = nvcc ? find_times(&timed, nvcc, job) : NULL;
    return record_write(&summary_record, &(struct summary){.compiler = d->nvcc,
                                                           .verdict = verdict,
                                                           .reason = d->decision.reason,
                                                           .ratio = d->ratio,
                                                           .error = nvcc ? nvcc->error : (double)NAN,
                                                           .problems = problems,
                                                           .problem_count = job->tuned_count});
}

static char *describe(const struct summary *s, const char *nvrtc)
{
    static const struct {
        const char *verdict, *words;
    } known[] = {{BUILDS_SLOWER, "slower"},
                 {BUILDS_SAME, "the same within 1%"},
                 {BUILDS_FASTER, "faster"},
                 {BUILDS_UNDECIDED, "undecided, "}};
    const char *words = "";
    if (!has_times(s->verdict))
        return text_format("%s: %s", !strcmp(s->verdict, BUILDS_FAILED) ? "failed" : "not timed", s->reason);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].verdict, s->verdict)) words = known[i].words;
    return text_format("%s times the time of %s's build: %s%s", show_ratio(&s->ratio, TEXT_ROOM), nvrtc, words,
                       s->reason);
}

char *builds_text(const json_t *summary, const char *nvrtc)
{
    struct summary s;
    autorelease(arena_release) struct arena memory = {NULL};
    record_read(&summary_record, summary, &s, &memory, NULL);
    return describe(&s, nvrtc);
}

static void print_times(const struct summary *s, const char *nvrtc)
{
    char *titles[] = {text_format(">%s", nvrtc), text_format(">%s", s->compiler)}, text[96];
    struct table *table = table_new((const char *[]){"problem", titles[0], titles[1], ">ratio", NULL});
    for (size_t p = 0; p < s->problem_count; p++) {
        const struct summary_problem *problem = &s->problems[p];
        table_cell(table, "%s", problem->problem);
        table_cell(table, "%s", show_interval(&problem->nvrtc, text, sizeof text));
        table_cell(table, "%s", show_interval(&problem->nvcc, text, sizeof text));
        table_cell(table, "%s", show_ratio(&problem->ratio, text, sizeof text));
    }
    table_print(table, stdout);
    table_free(table);
    for (size_t i = 0; i < 2; i++) free(titles[i]);
}

void builds_print(const json_t *summary, const char *nvrtc)
{
    struct summary s;
    autorelease(arena_release) struct arena memory = {NULL};
    if (!summary || record_read(&summary_record, summary, &s, &memory, NULL)) return;
    autofree char *text = describe(&s, nvrtc);
    printf("\nThe template built by %s with the header's options: %s\n", *s.compiler ? s.compiler : PROTOCOL_NVCC,
           text);
    if (has_times(s.verdict)) print_times(&s, nvrtc);
}
