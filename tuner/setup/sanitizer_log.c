// See sanitizer_log.h.
#include "tuner/setup/sanitizer_log.h"

#include <ctype.h>

static const char prefix[] = "=========";

enum { LINE = 1024 };

// The report that is being read; `words` is the text to show.
struct report {
    bool open, warning, ours, out_of_bounds;
    char words[SANITIZER_TEXT];
};

static const char *const warnings[] = {"Warning:", "Barrier error detected. Divergent thread(s) in block", NULL};

// Headlines that are not reports.
static const char *const summaries[] = {"ERROR SUMMARY:", "RACECHECK SUMMARY:", NULL};
static const char *const ignored[] = {"COMPUTE-SANITIZER", "LEAK SUMMARY:", "Target application returned an error",
                                      "Saved host backtrace", NULL};
static const char *const troubles[] = {"Error: process didn't terminate successfully",
                                       "Error: Target application terminated before first instrumented API call",
                                       "Error: No attachable process",
                                       "Internal Sanitizer Error",
                                       "Internal Memcheck Error",
                                       "Internal Error",
                                       "Error: Failed to",
                                       "Error: Could not",
                                       "Error: Unable to",
                                       "Unable to",
                                       NULL};

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

// The period counts as part of a name, so that a kernel is not confused with the file that it is in.
static bool of_a_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.';
}

// Whether the symbol occurs in the line as a whole word.
static bool names(const char *line, const char *symbol)
{
    size_t length = strlen(symbol);
    for (const char *at = line; length && (at = strstr(at, symbol)); at += length)
        if ((at == line || !of_a_name(at[-1])) && !of_a_name(at[length])) return true;
    return false;
}

static void say(struct report *r, const char *text)
{
    size_t used = strlen(r->words);
    snprintf(r->words + used, sizeof r->words - used, "%s%s", used ? ", " : "", text);
}

static void close_report(struct report *r, struct sanitizer_log *log)
{
    if (!r->open) return;
    r->open = false;
    if (!r->ours) {
        log->elsewhere++;
    } else if (r->warning) {
        if (!log->warnings++) memcpy(log->first_warning, r->words, sizeof r->words);
    } else if (!log->errors++) {
        memcpy(log->first_error, r->words, sizeof r->words);
        log->out_of_bounds = r->out_of_bounds;
    }
}

static void look_for(struct report *r, const char *line, const char *const *symbols, size_t count)
{
    for (size_t i = 0; i < count; i++) r->ours |= names(line, symbols[i]);
    r->out_of_bounds |= strstr(line, "out of bounds") != NULL;
}

static void read_summary(const char *line, struct sanitizer_log *log)
{
    const char *number = strchr(line, ':') + 1;
    log->ended = true;
    if (strstr(line, "were not printed") || strstr(line, "was not printed")) {
        long long unprinted = strtoll(number, NULL, 10);
        if (unprinted > 0 && __builtin_add_overflow(log->unprinted, unprinted, &log->unprinted))
            log->unprinted = INT64_MAX;
    }
}

static void read_headline(struct report *r, const char *line, struct sanitizer_log *log, const char *const *symbols,
                          size_t count)
{
    close_report(r, log);
    if (text_begins(line, summaries)) {
        read_summary(line, log);
    } else if (text_begins(line, troubles)) {
        if (!*log->trouble) snprintf(log->trouble, sizeof log->trouble, "%s", line);
    } else if (!text_begins(line, ignored)) {
        *r = (struct report){.open = true, .warning = text_begins(line, warnings)};
        say(r, line);
        look_for(r, line, symbols, count);
    }
}

// Shows the location and the thread, but not addresses.
static void read_detail(struct report *r, const char *line, const char *const *symbols, size_t count)
{
    if (!r->open) return;
    look_for(r, line, symbols, count);
    if (begins(line, "at ") || begins(line, "by thread ") || begins(line, "and ")) say(r, line);
}

void sanitizer_log_read(const char *text, const char *const *symbols, size_t symbol_count, struct sanitizer_log *log)
{
    struct report report = {.open = false};
    *log = (struct sanitizer_log){.ended = false};
    for (const char *next; *text; text = next) {
        size_t length = strcspn(text, "\n");
        next = text + length + (text[length] == '\n');
        char line[LINE];
        snprintf(line, sizeof line, "%.*s", (int)(length < LINE ? length : LINE - 1), text);
        line[strcspn(line, "\r")] = 0;
        if (!begins(line, prefix)) continue;
        char *words = line + sizeof prefix - 1, *end = words + strlen(words);
        while (end > words && isspace((unsigned char)end[-1])) *--end = 0;
        size_t indent = strspn(words, " \t");
        words += indent;
        if (!*words)
            close_report(&report, log);
        else if (indent > 1)
            read_detail(&report, words, symbols, symbol_count);
        else
            read_headline(&report, words, log, symbols, symbol_count);
    }
    close_report(&report, log);
}
