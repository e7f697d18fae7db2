// The header's section for devices without tuning results: the job's fallback. It is like any other section
// (header_section.h) but for these members:
//
//    "device":"FALLBACK","arch":"","fallback":true,"verified_on":"NVIDIA H200"
//
// It is the last section, has no binary, and its times are from the device on which it was verified.
#ifndef SWEETSPOT_HEADER_FALLBACK_H
#define SWEETSPOT_HEADER_FALLBACK_H

#include "tuner/header/header_section.h"

// The section of the job's fallback, from its trial (NULL: none yet). NULL with the reason in *err when it is not known
// to be right, or takes too much shared memory. New reference.
json_t *fallback_section(const struct job *, const struct environment *, const struct trial *, const char *prefix,
                         struct error *err);

#endif
