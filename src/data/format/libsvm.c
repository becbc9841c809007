/* libsvm / svmlight text: LABEL INDEX:VALUE INDEX:VALUE ... # comment
 *
 *   1 Strict: what is not clearly meant is an error that names file, line and byte, never a guess.
 *   2 A row that fails leaves no trace in the batch, nor its label in the dictionary.
 *   3 An index:value pair has at least four bytes with its separator, so that a line's length bounds its values.
 *   4 Every line is followed by '\n' or '\r' in the buffer (lines.h): loops over digits and blanks need no bound. */
#include "data/format/libsvm_error.h"
#include "data/format/line_text.h"
#include "data/format/pairs.h"

#include <string.h>

#define TITLE "libsvm text"
#define SLOW_ROWS 63

typedef struct libsvm {
    gsai_line_text text;
    unsigned n_slow_rows; /* to be read before the fast way is tried again */
} libsvm;

/* A label as it stands in the line: a number, or the word [text, text + size). */
typedef struct label {
    double number;
    bool is_word;
    const char *text;
    size_t size;
} label;

static gsa_status open_libsvm(size_t buffer_size, const gsa_env *env, void **out, gsa_error *error)
{
    return gsai_line_text_open(sizeof(libsvm), TITLE, buffer_size, env, out, error);
}

static inline bool ends_token(const char *p, const gsai_line *line)
{
    return gsai_is_blank(*p) || p == line->end;
}

static gsa_status parse_label(const libsvm *parser, const gsai_line *line, const char **at, label *out,
                              gsa_error *error)
{
    const char *start = *at;
    gsai_number number;
    gsai_number_parse(parser->text.locale, start, &number);
    if (number.after && ends_token(number.after, line)) {
        if (!gsai_number_fits_double(&number))
            return gsai_libsvm_fail_label_range(line, start, number.after, error);
        *out = (label){.number = number.value + 0.0}; /* -0 is 0 */
        *at = number.after;
        return GSA_OK;
    }
    const char *end = gsai_libsvm_token_end(line, start);
    size_t size = (size_t)(end - start);
    if (gsai_label_objection(start, size))
        return gsai_libsvm_fail_label(line, start, end, error);
    *out = (label){.is_word = true, .text = start, .size = size};
    *at = end;
    return GSA_OK;
}

/* The pair at p, whatever it looks like; *at is moved behind it. */
static gsa_status parse_pair(const gsai_number_locale *locale, const gsai_line *line, const char **at,
                             gsai_pairs *pairs, gsa_error *error)
{
    const char *p = *at;
    uint64_t id = 0;
    const char *colon = gsai_number_digits(p, &id);
    if (*colon != ':' || colon == p || colon - p > 10)
        return gsai_libsvm_fail_index(line, p, error);
    if (id <= pairs->previous || id > (uint64_t)GSA_MAX_ID + 1)
        return gsai_libsvm_fail_order(line, p, id, pairs->previous, error);
    p = colon + 1;
    gsai_number number;
    gsai_number_parse_float(locale, p, &number);
    if (!number.after || !ends_token(number.after, line))
        return gsai_libsvm_fail_value(line, p, error);
    if (!gsai_number_fits_float(&number))
        return gsai_libsvm_fail_value_range(line, p, number.after, error);
    float x = (float)number.value;
    pairs->previous = id;
    pairs->index[pairs->n] = (uint32_t)(id - 1);
    pairs->value[pairs->n] = x;
    pairs->n += x != 0; /* a zero is the same as an absent feature: its place is taken by the next */
    pairs->all_ones = pairs->all_ones && (x == 1 || x == 0);
    *at = number.after;
    return GSA_OK;
}

/* The pairs from p to the end of the line. Rows look like the row before: if the fast way had to give up often, it is
 * left out for a while. */
static gsa_status parse_pairs(libsvm *parser, const gsai_line *line, const char *p, gsai_pairs *pairs, gsa_error *error)
{
    bool fast = parser->n_slow_rows == 0;
    size_t n_slow = 0;
    for (;; n_slow++) {
        p = fast ? gsai_pairs_take(pairs, p, line->end) : gsai_skip_blanks(p);
        if (p == line->end || *p == '#')
            break;
        gsa_status status = parse_pair(parser->text.locale, line, &p, pairs, error);
        if (status != GSA_OK)
            return status;
    }
    parser->n_slow_rows = fast ? (n_slow * 4 > pairs->n ? SLOW_ROWS : 0) : parser->n_slow_rows - 1;
    return memchr(p, '\0', (size_t)(line->end - p)) ? gsai_libsvm_fail_nul(line, p, error) : GSA_OK;
}

/* Adds the row of a line that is neither blank nor only a comment. */
static gsa_status parse_row(libsvm *parser, const gsai_line *line, const char *p, gsai_rows *rows, gsa_error *error)
{
    label found = {0};
    gsa_status status = parse_label(parser, line, &p, &found, error);
    if (status != GSA_OK)
        return status;
    status = gsai_rows_reserve(rows, (size_t)(line->end - p) / 4 + 1, error);
    if (status != GSA_OK)
        return status;
    gsai_pairs pairs = {.index = rows->index + rows->n_values, .value = rows->value + rows->n_values, .all_ones = true};
    status = parse_pairs(parser, line, p, &pairs, error);
    if (status != GSA_OK)
        return status;
    int32_t word = -1;
    if (found.is_word) {
        status = gsai_rows_word(rows, found.text, found.size, line->number, line->byte, &word, error);
        if (status != GSA_OK)
            return status;
    }
    gsa_place place = gsai_format_location(parser->text.input, line->number, line->byte);
    gsai_rows_finish(rows, pairs.n, pairs.all_ones, found.number, word, place);
    return GSA_OK;
}

/* One line: a row, or nothing. */
static gsa_status parse_line(void *parser, const gsai_line *line, gsai_rows *rows, gsa_error *error)
{
    const char *p = gsai_skip_blanks(gsai_line_begin(line));
    if (p == line->end)
        return GSA_OK;
    if (*p != '#')
        return parse_row(parser, line, p, rows, error);
    return memchr(p, '\0', (size_t)(line->end - p)) ? gsai_libsvm_fail_nul(line, p, error) : GSA_OK;
}

static gsa_status read_libsvm(void *parser, gsai_rows *rows, gsa_error *error)
{
    return gsai_line_text_read(parser, parse_line, rows, error);
}

const gsai_format *gsai_format_libsvm(void)
{
    static const gsai_format format = {.title = TITLE,
                                       .open = open_libsvm,
                                       .begin = gsai_line_text_begin,
                                       .read = read_libsvm,
                                       .close = gsai_line_text_close,
                                       .enter = gsai_line_text_enter,
                                       .is_divisible = true,
                                       .give = gsai_line_text_give,
                                       .lines = gsai_line_text_lines};
    return &format;
}
