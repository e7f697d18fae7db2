// See address_message.h.
#include "tuner/protocol/address_message.h"

#define ADDRESS(member) RECORD_MEMBER(struct address_request, member)
static const struct record_field address_fields[] = {{"to", ADDRESS(to)},
                                                     {"place", ADDRESS(place)},
                                                     {"at", ADDRESS(at)},
                                                     {"step", ADDRESS(step)},
                                                     {"count", ADDRESS(count), .fallback = 1},
                                                     {0}};
const struct record address_record = {"an address", sizeof(struct address_request), address_fields, NULL};
