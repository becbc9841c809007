/* libsvm text: R1 to R6 of rows.h. Whatever parses is written as the same text every time, and as a cache. */
#include "rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > FUZZ_MOST)
        return -1;
    fuzz_input in = {data, size};
    uint8_t what = fuzz_byte(&in), choice = fuzz_byte(&in);
    const fuzz_source from = {in.at, in.left, "rows.svm", gsa__format_libsvm(), {0}, false};
    fuzz_check_text(&from, what % FUZZ_WRITINGS, choice, false);
    return 0;
}
