/* Tables in text: R1 to R6 of rows.h, under options that name columns; and a reader that is given the schema of another
 * one reads the same rows. */
#include "rows.h"

/* What the columns are, once more from the text of the schema. */
static void check_schema(const fuzz_source *from)
{
    static fuzz_told whole, other;
    gsa_error error = {0};
    fuzz_tell(from, &fuzz_sizes, false, &whole);
    gsa_reader *reader = fuzz_open(from, &fuzz_sizes, false), *first = fuzz_open(from, &fuzz_sizes, false);
    if (gsa_reader_begin(first, &error) == GSA_OK && gsa_reader_schema(first)) {
        gsa_status status = gsa_reader_set_schema(reader, gsa_reader_schema(first), &error);
        fuzz_must(status == GSA_OK, "a reader takes the schema of a reader", error.message);
        fuzz_tell_nothing(&other);
        fuzz_tell_rest(&other, reader);
        fuzz_must(other.status == whole.status, "with its own schema a table is the same", other.error.message);
        fuzz_must(fuzz_same(&other.rows, &whole.rows), "with its own schema a table has the same rows", NULL);
        gsa_schema_info info = {.size = sizeof info};
        fuzz_must(gsa_schema_get_info(gsa_reader_schema(first), &info, &error) == GSA_OK, "a schema can be read",
                  error.message);
    }
    gsa_reader_close(first);
    gsa_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {NULL, "y", "1", "2", "a", "a,b", "99", ""};
    if (size > FUZZ_MAX)
        return -1;
    fuzz_input in = {data, size};
    uint8_t what = fuzz_byte(&in), choice = fuzz_byte(&in), how = fuzz_byte(&in), more = fuzz_byte(&in);
    gsa_reader_options options = {.size = sizeof options,
                                  .label = names[how & 7],
                                  .weight = names[how >> 3 & 7],
                                  .categorical = names[more & 7],
                                  .ignore = names[more >> 3 & 7],
                                  .cross = more & 64 ? "a:b" : NULL,
                                  .without_labels = more >> 7,
                                  .remember_names = fuzz_rarely(data, size), /* the table of names is large */
                                  .keep_cells = how >> 6 & 1,
                                  .bits = choice & 1 ? 4 : 0};
    const fuzz_source from = {in.at, in.left, "rows.csv", &gsai_format_table, options, false};
    unsigned property = what % (FUZZ_WRITINGS + 1);
    if (property == FUZZ_WRITINGS)
        check_schema(&from);
    else
        fuzz_check_text(&from, property, choice, true);
    return 0;
}
