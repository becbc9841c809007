/* A file of which nothing is known: it is recognised by its content and a fuzzed name, under fuzzed options and schema.
 * R1 to R5 of rows.h, which do not depend on what it turns out to be. */
#include "rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[40], label[24], weight[24], categorical[24], ignore[24], cross[24], schema[512];
    if (size > FUZZ_MAX)
        return -1;
    fuzz_input in = {data, size};
    uint8_t what = fuzz_byte(&in), choice = fuzz_byte(&in), which = fuzz_byte(&in);
    fuzz_source from = {
        .options = {.size = sizeof(gsa_reader_options), .bits = fuzz_byte(&in) % 34, .without_labels = what >> 7}};
    from.name = fuzz_text(&in, name, sizeof name - 1);
    if (which & 1)
        from.options.label = fuzz_text(&in, label, sizeof label - 1);
    if (which & 2)
        from.options.weight = fuzz_text(&in, weight, sizeof weight - 1);
    if (which & 4)
        from.options.categorical = fuzz_text(&in, categorical, sizeof categorical - 1);
    if (which & 8)
        from.options.ignore = fuzz_text(&in, ignore, sizeof ignore - 1);
    if (which & 16)
        from.options.cross = fuzz_text(&in, cross, sizeof cross - 1);
    if (which & 32)
        fuzz_text(&in, schema, sizeof schema - 1);
    from.bytes = in.at;
    from.size = in.left;
    if (!(which & 32)) {
        fuzz_check_reading(&from, what % FUZZ_PROPERTIES, choice);
        return 0;
    }
    static fuzz_told told;
    gsa_error error = {0};
    gsa_reader *reader = fuzz_open(&from, &fuzz_sizes, false);
    fuzz_tell_nothing(&told);
    if (reader && fuzz_status(gsa_reader_set_schema(reader, schema, &error), &error) == GSA_OK)
        fuzz_tell_rest(&told, reader);
    gsa_reader_close(reader);
    return 0;
}
