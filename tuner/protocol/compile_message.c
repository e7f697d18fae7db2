// See compile_message.h.
#include "tuner/protocol/compile_message.h"

#include "tuner/trial/trial_field.h"

#define MEMBER(member) RECORD_MEMBER(struct entry_answer, member)
static const struct record_field entry_fields[] = {
    {"entry", MEMBER(entry), .flags = RECORD_REQUIRED},
    {"symbol", MEMBER(symbol), .flags = RECORD_REQUIRED},
    {"unit", MEMBER(unit)},
    {"figures", RECORD_INCLUDE(struct entry_answer, figures, compiled_figures)},
    {0}};
#undef MEMBER
static const struct record entry_record = {"a compiled entry", sizeof(struct entry_answer), entry_fields, NULL};

#define MEMBER(member) RECORD_MEMBER(struct compile_answer, member)
static const struct record_field answer_fields[] = {
    {"head", RECORD_IN_PLACE(struct compile_answer, head, answer_head_record)},
    {"cubin", MEMBER(cubin)},
    {"cached", MEMBER(cached), .flags = RECORD_ALWAYS},
    {"seconds", MEMBER(seconds), .high = TRIAL_LONGEST_TIME},
    {"warnings", RECORD_VALUES(struct compile_answer, warnings, warning_count)},
    {"entries", RECORD_RECORDS(struct compile_answer, entries, entry_count, entry_record)},
    {"compiler", MEMBER(compiler)},
    {"library", MEMBER(library)},
    {"hash", MEMBER(hash)},
    {0}};
#undef MEMBER
const struct record compile_answer_record = {"the answer", sizeof(struct compile_answer), answer_fields, NULL};
