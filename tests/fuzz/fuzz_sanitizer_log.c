// Logs of compute-sanitizer. The first line of the input is the candidate's kernel.
//
// Promise: every input can be read. Counts are never negative. If there are errors or warnings, the text of the first
// one is kept.
#include "tests/fuzz/fuzz.h"

#include "tuner/setup/sanitizer_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, '\n', size);
    size_t name = end ? (size_t)(end - data) : size, rest = end ? name + 1 : size;
    char *symbol = fuzz_text(data, name), *text = fuzz_text(data + rest, size - rest);
    const char *symbols[] = {symbol, "k"};
    struct sanitizer_log log;
    sanitizer_log_read(text, symbols, 2, &log);
    FUZZ_CHECK(log.errors >= 0 && log.warnings >= 0 && log.elsewhere >= 0 && log.unprinted >= 0, "a negative count");
    FUZZ_CHECK(!log.errors || *log.first_error, "an error without words");
    FUZZ_CHECK(!log.warnings || *log.first_warning, "a warning without words");
    free(text);
    free(symbol);
    return 0;
}
