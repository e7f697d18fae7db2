// See shipped.h.
#include "tuner/job/shipped.h"

#include <unistd.h>

#include "tuner/base/input_file.h"
#include "tuner/base/record.h"

static const struct record_field problem_fields[] = {
    {"problem", RECORD_MEMBER(struct shipped_problem, problem), .flags = RECORD_REQUIRED},
    {"time", RECORD_INTERVAL(struct shipped_problem, time)},
    {0}};
static const struct record problem_record = {"a shipped winner's problem", sizeof(struct shipped_problem),
                                             problem_fields, NULL};

#define IDENTITY(member) RECORD_MEMBER(struct shipped_identity, member), .flags = RECORD_REQUIRED
static const struct record_field identity_fields[] = {
    {"arch", IDENTITY(arch)}, {"source", IDENTITY(source)}, {"job", IDENTITY(job)}, {"code", IDENTITY(code)}, {0}};
static const struct record identity_record = {"a shipped winner's identity", sizeof(struct shipped_identity),
                                              identity_fields, NULL};

#define WINNER(member) RECORD_MEMBER(struct shipped_winner, member)
static const struct record_field winner_fields[] = {
    {"configuration", WINNER(configuration), .flags = RECORD_REQUIRED},
    {"device", WINNER(device)},
    {"driver", WINNER(driver)},
    {"compiler", WINNER(compiler)},
    {"date", WINNER(date)},
    {"rounds", WINNER(rounds)},
    {"problems", RECORD_RECORDS(struct shipped_winner, problems, problem_count, problem_record)},
    {"identity", RECORD_RECORD(struct shipped_winner, identity, identity_record)},
    {0}};
static const struct record winner_record = {"a shipped winner", sizeof(struct shipped_winner), winner_fields, NULL};
static const struct record_field shipped_fields[] = {
    {"winners", RECORD_RECORDS(struct shipped_winners, winners, winner_count, winner_record)}, {0}};
static const struct record shipped_record = {"shipped winners", sizeof(struct shipped_winners), shipped_fields, NULL};

int shipped_read(const struct job *job, struct shipped_winners *shipped, struct arena *memory, struct error *err)
{
    static const char *const folders[] = {"tuned", "../tuned"};
    const char *slash = strrchr(job->path, '/');
    *shipped = (struct shipped_winners){0};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        autofree char *path =
            text_format("%.*s%s/%s.json", slash ? (int)(slash + 1 - job->path) : 0, job->path, folders[i], job->name);
        if (access(path, F_OK) != 0) continue;
        autofree char *text = input_file_read(path, INPUT_FILE_TEXT_MOST, NULL, err);
        autojson json_t *document = text ? json_parse(text, err) : NULL;
        if (document && !record_read(&shipped_record, document, shipped, memory, err)) return 0;
        return text ? error_prefix(err, "%s", path) : -1;
    }
    return 0;
}
