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

#define REQUEST(member) RECORD_MEMBER(struct compile_request, member)
#define REQUEST_VALUES(member, count) RECORD_VALUES(struct compile_request, member, count)
static const struct record_field request_fields[] = {
    {"arch", REQUEST(arch)},
    {"source", REQUEST(program.source)},
    {"text", REQUEST(program.text)},
    {"source_hash", REQUEST(program.source_hash)},
    {"config", REQUEST(config)},
    {"include", REQUEST_VALUES(include, include_count)},
    {"options", REQUEST_VALUES(options, option_count)},
    {"entries", REQUEST_VALUES(entries, entry_count)},
    {"defines", RECORD_PAIRS(struct compile_request, defines, define_count)},
    {"functions", REQUEST_VALUES(functions, function_count)},
    {"units", RECORD_RECORDS(struct compile_request, units, unit_count, unit_record)},
    {"cache", REQUEST(cache)},
    {"deadline", REQUEST(deadline)},
    {"memory", REQUEST(memory)},
    {"host_headers", REQUEST(program.host_headers), .fallback = 1},
    {"compiler", REQUEST(compiler)},
    {"alone", REQUEST(alone)},
    {"behind", REQUEST(program.after)},
    {"edits", RECORD_RECORDS(struct compile_request, program.edits, program.edit_count, text_edit_record)},
    {0}};
const struct record compile_request_record = {"the request", sizeof(struct compile_request), request_fields, NULL};

#define ANSWER(member) RECORD_MEMBER(struct entry_answer, member)
static const struct record_field entry_fields[] = {
    {"entry", ANSWER(entry), .flags = RECORD_REQUIRED},
    {"symbol", ANSWER(symbol), .flags = RECORD_REQUIRED},
    {"unit", ANSWER(unit)},
    {"figures", RECORD_INCLUDE(struct entry_answer, figures, compiled_figures)},
    {0}};
static const struct record entry_record = {"a compiled entry", sizeof(struct entry_answer), entry_fields, NULL};

#define COMPILE_ANSWER(member) RECORD_MEMBER(struct compile_answer, member)
static const struct record_field answer_fields[] = {
    {"head", RECORD_IN_PLACE(struct compile_answer, head, answer_head_record)},
    {"cubin", COMPILE_ANSWER(cubin)},
    {"cached", COMPILE_ANSWER(cached)},
    {"seconds", COMPILE_ANSWER(seconds), .high = TRIAL_LONGEST_TIME},
    {"warnings", RECORD_VALUES(struct compile_answer, warnings, warning_count)},
    {"entries", RECORD_RECORDS(struct compile_answer, entries, entry_count, entry_record)},
    {"compiler", COMPILE_ANSWER(compiler)},
    {"library", COMPILE_ANSWER(library)},
    {"hash", COMPILE_ANSWER(hash)},
    {0}};
const struct record compile_answer_record = {"the answer", sizeof(struct compile_answer), answer_fields, NULL};
