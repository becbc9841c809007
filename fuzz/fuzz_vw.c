/* Vowpal Wabbit text: R1 to R6 of rows.h, with and without labels, crosses and few bits. */
#include "rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > FUZZ_MAX)
        return -1;
    fuzz_input in = {data, size};
    uint8_t what = fuzz_byte(&in), choice = fuzz_byte(&in), how = fuzz_byte(&in);
    gsa_reader_options options = {.size = sizeof options, .bits = how & 15, .without_labels = (how & 32) != 0};
    if (how & 64)
        options.cross = "a:b,b:b";
    options.remember_names = options.bits > 0 && fuzz_rarely(data, size); /* the table of names is large */
    const fuzz_source from = {in.at, in.left, "rows.vw", &gsai_format_vw, options, false};
    fuzz_check_text(&from, what % FUZZ_WRITINGS, choice, true);
    return 0;
}
