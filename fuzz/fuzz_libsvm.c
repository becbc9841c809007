/* libsvm text: R1 to R6 of rows.h. Whatever parses is written as the same text every time, and as a cache; and as
 * Vowpal Wabbit text, where the C library reads the same labels, ids and values in it, bit for bit. */
#include "rows.h"

enum { MOST_ENTRIES = FUZZ_MAX };

/* LABEL [IMPORTANCE] | ID:VALUE ..., taken apart with strtod; returns the line after it. */
static const char *tell_vw_line(const char *line, fuzz_told *out)
{
    static uint32_t index[MOST_ENTRIES];
    static float value[MOST_ENTRIES];
    int64_t start[2] = {0, 0};
    char *end;
    double label = strtod(line, &end);
    float weight = 1;
    if (end[0] == ' ' && end[1] != '|')
        weight = strtof(end, &end);
    fuzz_must(strncmp(end, " |", 2) == 0, "a bar follows the label", NULL);
    for (end += 2; *end == ' '; start[1]++) {
        fuzz_must(start[1] < MOST_ENTRIES, "a line has no more entries than bytes", NULL);
        index[start[1]] = (uint32_t)(strtoull(end, &end, 10) - 1);
        fuzz_must(*end == ':', "a value follows an id", NULL);
        value[start[1]] = strtof(end + 1, &end);
    }
    fuzz_must(*end == '\n', "a line ends", NULL);
    const gsa_batch row = {
        .n_rows = 1, .row_start = start, .index = index, .value = value, .label = &label, .weight = &weight};
    fuzz_tell_row(out, &row, 0);
    return end + 1;
}

static void check_vw_text(const fuzz_source *from)
{
    static fuzz_told whole, back;
    static fuzz_bytes file;
    gsa_error error = {0};
    if (!fuzz_tell(from, &fuzz_sizes, false, &whole) || whole.status != GSA_END)
        return;
    if (fuzz_convert(fuzz_open(from, &fuzz_sizes, false), "vw", &file, &error) != GSA_OK) {
        fuzz_must(strstr(error.message, "label") != NULL, "words are refused as labels", error.message);
        return;
    }
    fuzz_put(&file, "", 1);
    fuzz_tell_nothing(&back);
    for (const char *line = (const char *)file.data; *line;)
        line = tell_vw_line(line, &back);
    fuzz_must(back.n == whole.n && fuzz_same(&back.rows, &whole.rows), "Vowpal Wabbit text has the same rows", NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > FUZZ_MAX)
        return -1;
    fuzz_input in = {data, size};
    uint8_t what = fuzz_byte(&in), choice = fuzz_byte(&in);
    const fuzz_source from = {in.at, in.left, "rows.svm", &gsai_format_libsvm, {0}, false};
    if (what % (FUZZ_WRITINGS + 1) == FUZZ_WRITINGS)
        check_vw_text(&from);
    else
        fuzz_check_text(&from, what % (FUZZ_WRITINGS + 1), choice, false);
    return 0;
}
