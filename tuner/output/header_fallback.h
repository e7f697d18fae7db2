// The header's section for devices that nobody tuned for: the job's fallback. It is one like any other
// (header_section.h) but for these members:
//
//    "device":"FALLBACK","arch":"","fallback":true,"verified_on":"NVIDIA H200"
//
// It stands last, has no binary, and its times are of the device on which it was verified.
#ifndef SWEETSPOT_HEADER_FALLBACK_H
#define SWEETSPOT_HEADER_FALLBACK_H

#include "tuner/output/header_section.h"

// Of the job's fallback, by its trial (NULL: it has none yet). NULL with the reason in *err when it was not found to be
// right, or takes too much shared memory. New reference.
json_t *fallback_section(const struct job *, const struct environment *, const struct trial *, const char *prefix,
                         struct error *err);

#endif
