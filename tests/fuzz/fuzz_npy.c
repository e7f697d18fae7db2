// .npy files with data and with expected values.
//
// Promise: every input is either read or refused with a message, and every element that is read can be converted to
// every type.
#include "tests/fuzz/fuzz.h"

#include "kernels/npy.h"

enum { LOOKED_AT = 200 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npy npy;
    struct error err = {""};
    int failed = npy_read(&npy, fuzz_file(data, size), &err);
    FUZZ_CHECK(!failed || *err.message, "refused without a message");
    size_t step = failed ? 1 : npy.count / LOOKED_AT + 1;
    for (size_t i = 0; !failed && i < npy.count; i += step) {
        uint64_t stored[2];
        npy_number(&npy, i);
        npy_integer(&npy, i);
        for (int type = 0; type < ELEMENT_COUNT; type++) npy_element(&npy, i, (enum element)type, stored);
    }
    npy_release(&npy);
    return 0;
}
