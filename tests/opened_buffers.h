// For tests of the GPU worker: requests from JSON, which live until the test ends, and a problem's buffers on a fake
// device, whose memory is host memory. The program must include tests/fuzz/fake_cuda.h first.
#pragma once

#include "tests/testing.h"
#include "tuner/gpu/buffers.h"

static inline void release_arena(void *memory)
{
    arena_release(memory);
    free(memory);
}

// NULL with a message if the text is not such a request.
static inline void *read_request(const struct record *record, const char *text, struct error *err)
{
    struct arena *memory = calloc(1, sizeof *memory);
    assert_non_null(memory);
    testing_later(release_arena, memory);
    void *request = arena_new(memory, record->size);
    json_t *json = test_json(json_parse(text, err));
    return json && !record_read(record, json, request, memory, err) ? request : NULL;
}

static inline int open_buffers(struct buffers *s, struct support *support, const char *list, struct error *err)
{
    const struct problem_request *p =
        read_request(&problem_request_record, test_text("{\"name\":\"\",\"buffers\":%s}", list), err);
    memset(s, 0, sizeof *s);
    return p ? buffers_open(s, &fake_device, support, p->buffers, p->buffer_count, 64, err) : -1;
}
