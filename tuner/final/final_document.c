// See final_document.h.
#include "tuner/final/final_document.h"

#include "tuner/base/limits.h"
#include "tuner/trial/trial_field.h"

static const struct record_field selector_fields[] = {{"stage", RECORD_MEMBER(struct final_selector, stage)},
                                                      {"at_once", RECORD_MEMBER(struct final_selector, at_once)},
                                                      {0}};
static const struct record selector_record = {"a selector", sizeof(struct final_selector), selector_fields, NULL};

#define MEMBER(member) RECORD_MEMBER(struct final_decision, member)
#define VALUES(member, count) RECORD_VALUES(struct final_decision, member, count)
static const struct record_field decision_fields[] = {
    {"rounds", MEMBER(rounds)},
    {"winner", MEMBER(winner)},
    {"ties", VALUES(ties, tie_count)},
    {"certainty", MEMBER(certainty)},
    {"within", MEMBER(within)},
    {"warning", MEMBER(warning)},
    {"kernels", VALUES(kernels, kernel_count)},
    {"dispatch", VALUES(dispatch, dispatch_count)},
    {"regret", VALUES(regret, regret_count), .flags = RECORD_HOLES},
    {"selector", RECORD_RECORDS(struct final_decision, selector, selector_count, selector_record),
     .flags = RECORD_HOLES},
    {"reason", MEMBER(reason)},
    {0}};
#undef MEMBER
#undef VALUES
const struct record final_decision_record = {"a decision", sizeof(struct final_decision), decision_fields, NULL};

#define MEMBER(member) RECORD_MEMBER(struct final_entry_document, member)
static const struct record_field entry_fields[] = {
    {"answer", RECORD_IN_PLACE(struct final_entry_document, answer, final_entry_record)},
    {"process_medians", RECORD_VALUES(struct final_entry_document, process_medians, process_count)},
    {"by_process", MEMBER(by_process)},
    {"same_as", MEMBER(same_as)},
    {0}};
#undef MEMBER
static const struct record entry_record = {"an entry", sizeof(struct final_entry_document), entry_fields, NULL};

static const struct record_field figures_fields[] = {
    {"entry", RECORD_MEMBER(struct build_figures, entry)},
    {"figures", RECORD_INCLUDE(struct build_figures, figures, compiled_figures)},
    {0}};
static const struct record figures_record = {"a build", sizeof(struct build_figures), figures_fields, NULL};

#define RECORDS(member, number) RECORD_RECORDS(struct builds_of_trial, member, number, figures_record)
static const struct record_field builds_fields[] = {{"trial", RECORD_MEMBER(struct builds_of_trial, trial)},
                                                    {"nvrtc", RECORDS(nvrtc, nvrtc_count)},
                                                    {"nvcc", RECORDS(nvcc, nvcc_count)},
                                                    {0}};
#undef RECORDS
const struct record builds_of_trial_record = {"a winner's builds", sizeof(struct builds_of_trial), builds_fields, NULL};

static int check(const void *record, struct error *err)
{
    const struct final_document *d = record;
    return d->entries ? 0 : error_set(err, "the final has no entries");
}

#define MEMBER(member) RECORD_MEMBER(struct final_document, member)
static const struct record_field document_fields[] = {
    {"when", MEMBER(when)},
    {"seed", MEMBER(seed), .flags = RECORD_ALWAYS},
    {"nvcc", MEMBER(nvcc)},
    {"verdict", MEMBER(verdict)},
    {"ratio", RECORD_INTERVAL(struct final_document, ratio)},
    {"builds", RECORD_RECORDS(struct final_document, builds, build_count, builds_of_trial_record)},
    {"decision", RECORD_IN_PLACE(struct final_document, decision, final_decision_record)},
    {"process", RECORD_VALUES(struct final_document, process, process_rounds), .high = FINAL_PROCESSES_MAX - 1},
    {"gpu", MEMBER(gpu)},
    {"replayed", MEMBER(replayed), .flags = RECORD_ALWAYS},
    {"recording", MEMBER(recording)},
    {"entries", RECORD_RECORDS(struct final_document, entries, entry_count, entry_record)},
    {0}};
#undef MEMBER
const struct record final_document_record = {"the final", sizeof(struct final_document), document_fields, check};
