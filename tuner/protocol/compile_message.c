// See compile_message.h.
#include "tuner/protocol/compile_message.h"

#include "tuner/base/units.h"
#include "tuner/trial/trial_field.h"

static const struct record_field unit_fields[] = {
    {"unit", RECORD_MEMBER(struct compile_unit, unit), .high = UNITS_MAX - 1, .flags = RECORD_REQUIRED | RECORD_ALWAYS},
    {"defines", RECORD_PAIRS(struct compile_unit, defines, define_count), .flags = RECORD_ALWAYS},
    {"entries", RECORD_VALUES(struct compile_unit, entries, entry_count), .flags = RECORD_REQUIRED | RECORD_ALWAYS},
    {0}};
static const struct record unit_record = {"a unit", sizeof(struct compile_unit), unit_fields, NULL};

#define MEMBER(member) RECORD_MEMBER(struct compile_request, member)
#define VALUES(member, count) RECORD_VALUES(struct compile_request, member, count)
static const struct record_field request_fields[] = {
    {"arch", MEMBER(arch)},
    {"source", MEMBER(source)},
    {"text", MEMBER(text)},
    {"source_hash", MEMBER(source_hash)},
    {"config", MEMBER(config)},
    {"include", VALUES(include, include_count)},
    {"options", VALUES(options, option_count)},
    {"entries", VALUES(entries, entry_count)},
    {"defines", RECORD_PAIRS(struct compile_request, defines, define_count)},
    {"macros", VALUES(macros, macro_count)},
    {"functions", VALUES(functions, function_count)},
    {"units", RECORD_RECORDS(struct compile_request, units, unit_count, unit_record)},
    {"cache", MEMBER(cache)},
    {"deadline", MEMBER(deadline)},
    {"memory", MEMBER(memory)},
    {"host_headers", MEMBER(host_headers), .fallback = 1},
    {"compiler", MEMBER(compiler)},
    {"alone", MEMBER(alone)},
    {"behind", MEMBER(after)},
    {0}};
#undef VALUES
#undef MEMBER
const struct record compile_request_record = {"the request", sizeof(struct compile_request), request_fields, NULL};

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
    {"cached", MEMBER(cached)},
    {"seconds", MEMBER(seconds), .high = TRIAL_LONGEST_TIME},
    {"warnings", RECORD_VALUES(struct compile_answer, warnings, warning_count)},
    {"entries", RECORD_RECORDS(struct compile_answer, entries, entry_count, entry_record)},
    {"compiler", MEMBER(compiler)},
    {"library", MEMBER(library)},
    {"hash", MEMBER(hash)},
    {0}};
#undef MEMBER
const struct record compile_answer_record = {"the answer", sizeof(struct compile_answer), answer_fields, NULL};
