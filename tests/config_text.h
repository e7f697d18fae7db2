// The canonical text of a configuration in an array.
#pragma once

#include "search/space/space.h"
#include "tests/testing.h"

static inline void config_text(const struct space *space, const uint16_t *config, char *out, size_t size)
{
    autofree char *text = space_text(space, config);
    assert_true((size_t)snprintf(out, size, "%s", text) < size);
}
