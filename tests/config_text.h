// The canonical text of a configuration in an array.
#ifndef SWEETSPOT_TESTS_CONFIG_TEXT_H
#define SWEETSPOT_TESTS_CONFIG_TEXT_H

#include "search/space/space.h"
#include "tests/testing.h"

static inline void config_text(const struct space *space, const uint16_t *config, char *out, size_t size)
{
    char *text = space_text(space, config);
    assert_true((size_t)snprintf(out, size, "%s", text) < size);
    free(text);
}

#endif
