// A Python file of a tuned kernel, NAME_best.py: the text of best.py, the sections and the binaries. It has the lines
// of a header's sections, so that header_read reads it.
#pragma once

#include "tuner/header/header_embed.h"

// Writes the file. Sections of other devices come with binaries of the file that is there. HEADER_COLLISION with a
// message when the file cannot do what the job's launches need; -1 when it cannot be written.
int header_python_write(const char *path, json_t *sections, struct binary_list *, struct error *);
