// A Python file with a tuned kernel, NAME_best.py: the text of best.py, the sections and the binaries. Each section is
// a line in the same form as in a header, so that header_read can read it.
#pragma once

#include "tuner/header/header_embed.h"

// Writes the file. Binaries for sections of other devices are taken from the existing file. HEADER_COLLISION with a
// message if the job's launches need something that Python files do not support; -1 with a message if the file cannot
// be written.
int header_python_write(const char *path, json_t *sections, struct binary_list *, struct error *);
