// See draft_parts.h: words of the source, notes.
#include <ctype.h>
#include <stdarg.h>

#include "tuner/base/base.h"
#include "tuner/init/draft_parts.h"

const struct cuda_token *draft_token(const struct job_draft *d, size_t i)
{
    return &d->file->tokens.items[i];
}

bool draft_is(const struct job_draft *d, size_t i, const char *text)
{
    return i < d->file->tokens.count && cuda_token_is(draft_token(d, i), text);
}

bool draft_is_name(const struct job_draft *d, size_t i)
{
    return i < d->file->tokens.count && draft_token(d, i)->kind == CUDA_NAME;
}

const struct draft_parameter *draft_find_parameter(const struct job_draft *d, const char *source)
{
    for (size_t i = 0; i < d->parameter_count; i++)
        if (!strcmp(d->parameters[i].source, source)) return &d->parameters[i];
    return NULL;
}

void draft_note(struct job_draft *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = text_format_list(format, args);
    va_end(args);
    for (size_t i = 0; i < d->note_count; i++) {
        if (strcmp(d->notes[i], text) != 0) continue;
        free(text);
        return;
    }
    memory_add(d->notes, d->note_count) = text;
}

bool draft_plain_name(const char *name)
{
    if (!isalpha((unsigned char)*name)) return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_') return false;
    return true;
}

size_t draft_item_end(const struct job_draft *d, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        if (draft_is(d, i, ",")) return i;
        if (draft_is(d, i, "(") || draft_is(d, i, "[") || draft_is(d, i, "{"))
            i = cuda_tokens_close(&d->file->tokens, i, end) - 1;
    }
    return end;
}
