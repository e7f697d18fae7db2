// See final_document.h.
#include "tuner/final/final_document.h"

#include "tuner/base/limits.h"

static const struct record_field selector_fields[] = {{"stage", RECORD_MEMBER(struct final_selector, stage)},
                                                      {"at_once", RECORD_MEMBER(struct final_selector, at_once)},
                                                      {0}};
static const struct record selector_record = {"a selector", sizeof(struct final_selector), selector_fields, NULL};

#define DECISION(member) RECORD_MEMBER(struct final_decision, member)
#define DECISION_VALUES(member, count) RECORD_VALUES(struct final_decision, member, count)
static const struct record_field decision_fields[] = {
    {"rounds", DECISION(rounds)},
    {"winner", DECISION(winner)},
    {"ties", DECISION_VALUES(ties, tie_count)},
    {"certainty", DECISION(certainty)},
    {"within", DECISION(within)},
    {"warning", DECISION(warning)},
    {"kernels", DECISION_VALUES(kernels, kernel_count)},
    {"dispatch", DECISION_VALUES(dispatch, dispatch_count)},
    {"regret", DECISION_VALUES(regret, regret_count), .flags = RECORD_HOLES},
    {"selector", RECORD_RECORDS(struct final_decision, selector, selector_count, selector_record),
     .flags = RECORD_HOLES},
    {"reason", DECISION(reason)},
    {0}};
const struct record final_decision_record = {"a decision", sizeof(struct final_decision), decision_fields, NULL};

#define ENTRY(member) RECORD_MEMBER(struct final_entry_document, member)
static const struct record_field entry_fields[] = {
    {"answer", RECORD_IN_PLACE(struct final_entry_document, answer, final_entry_record)},
    {"process_medians", RECORD_VALUES(struct final_entry_document, process_medians, process_count)},
    {"by_process", ENTRY(by_process)},
    {"same_as", ENTRY(same_as)},
    {0}};
static const struct record entry_record = {"an entry", sizeof(struct final_entry_document), entry_fields, NULL};

static int check(const void *record, struct error *err)
{
    const struct final_document *d = record;
    return d->entries ? 0 : error_set(err, "the final has no entries");
}

#define DOCUMENT(member) RECORD_MEMBER(struct final_document, member)
static const struct record_field document_fields[] = {
    {"when", DOCUMENT(when)},
    {"seed", DOCUMENT(seed), .flags = RECORD_ALWAYS},
    {"nvcc", DOCUMENT(nvcc)},
    {"verdict", DOCUMENT(verdict)},
    {"ratio", RECORD_INTERVAL(struct final_document, ratio)},
    {"decision", RECORD_IN_PLACE(struct final_document, decision, final_decision_record)},
    {"process", RECORD_VALUES(struct final_document, process, process_rounds), .high = FINAL_PROCESSES_MAX - 1},
    {"gpu", DOCUMENT(gpu)},
    {"replayed", DOCUMENT(replayed), .flags = RECORD_ALWAYS},
    {"recording", DOCUMENT(recording)},
    {"entries", RECORD_RECORDS(struct final_document, entries, entry_count, entry_record)},
    {0}};
const struct record final_document_record = {"the final", sizeof(struct final_document), document_fields, check};
