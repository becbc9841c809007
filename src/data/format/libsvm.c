/* libsvm / svmlight text: LABEL INDEX:VALUE INDEX:VALUE ... # comment
 *
 *   1 Strict: what is not clearly meant is an error that names file, line and byte, never a guess.
 *   2 A row that fails leaves no trace in the batch, nor its label in the dictionary.
 *   3 An index:value pair has at least four bytes with its separator, so that a line's length bounds its values.
 *   4 Every line is followed by '\n' or '\r' in the buffer (text_lines.h): loops over digits and blanks need no bound.
 */
#include "data/format/libsvm.h"

#include "base/error.h"
#include "data/format/digits.h"
#include "data/format/input_text.h"
#include "data/format/text_lines.h"

#include <inttypes.h>
#include <string.h>

#define SLOW_ROWS 63

const char *gsai_libsvm_objection(const char *text, size_t size)
{
    const char *objection = gsai_label_objection(text, size);
    if (objection)
        return objection;
    if (gsai_is_nonfinite_word(text, size))
        return GSAI_LABEL_INFINITE;
    if (gsai_is_mark(text, text + size))
        return "a byte order mark stands at the beginning of a file only; were files joined?";
    if (memchr(text, ' ', size))
        return "a label cannot have blanks";
    if (memchr(text, ',', size))
        return "several labels a row are not supported, and a label cannot have a comma";
    if (memchr(text, '#', size))
        return "a label cannot have a #: put a blank before a comment";
    if (memchr(text, ':', size))
        return "a label cannot have a colon";
    return NULL;
}

/* ---- what is wrong with a line ---------------------------------------------------------------------------------- */

/* Each function looks again at what the parser refused. `at` is where the offending token begins. */

static const char *token_end(const gsai_line *line, const char *at)
{
    while (at < line->end && !gsai_is_blank(*at))
        at++;
    return at;
}

static bool is_query_id(const gsai_line *line, const char *at)
{
    return line->end - at >= 4 && memcmp(at, "qid:", 4) == 0;
}

/* There is a NUL byte at or after `at`. A token that cannot be what was expected because of it is reported as that. */
static gsa_status fail_nul(const gsai_line *line, const char *at, gsa_error *error)
{
    const char *nul = memchr(at, '\0', (size_t)(line->end - at));
    return gsai_fail_line(error, GSA_INPUT, line->number, gsai_line_offset(line, nul ? nul : at),
                          "a NUL byte in the line: expected text; is this a binary file, or UTF-16?");
}

/* The first token of a line is neither a number nor a word that can be a label. */
static gsa_status fail_label(const gsai_line *line, const char *at, const char *end, gsa_error *error)
{
    uint64_t number = 0;
    const char *after = gsai_number_digits(at, &number);
    if (memchr(at, '\0', (size_t)(end - at)))
        return fail_nul(line, at, error);
    if ((after > at && *after == ':') || is_query_id(line, at))
        return gsai_line_fail(line, at, end, "the line begins with", "the label is missing in front of it", error);
    return gsai_line_fail(line, at, end, "label", gsai_libsvm_objection(at, (size_t)(end - at)), error);
}

/* Refuses the pair at `at`: its index is not digits and a colon, or is 0, too high or not above the previous one (0
 * before the first), or its value is not a number. */
static gsa_status fail_pair(const gsai_line *line, const char *at, uint64_t previous, gsa_error *error)
{
    const char *end = token_end(line, at);
    const uint64_t byte = gsai_line_offset(line, at);
    uint64_t index = 0;
    const char *after = gsai_number_digits(at, &index);
    const bool has_index = *after == ':' && after > at && after - at <= 10;
    if (has_index && index == 0)
        return gsai_fail_line(error, GSA_INPUT, line->number, byte, "index 0: libsvm indices start at 1");
    if (has_index && index > (uint64_t)GSA_MAX_ID + 1)
        return gsai_fail_line(error, GSA_INPUT, line->number, byte, "index %" PRIu64 ": the highest index is %" PRIu64,
                              index, (uint64_t)GSA_MAX_ID + 1);
    if (has_index && index == previous)
        return gsai_fail_line(error, GSA_INPUT, line->number, byte, "index %" PRIu64 " twice: indices must ascend",
                              index);
    if (has_index && index < previous)
        return gsai_fail_line(error, GSA_INPUT, line->number, byte,
                              "index %" PRIu64 " after %" PRIu64 ": indices must ascend", index, previous);
    const char *value = has_index ? after + 1 : at;
    if (memchr(value, '\0', (size_t)(end - value)))
        return fail_nul(line, value, error);
    if (has_index && value == end)
        return gsai_fail_line(error, GSA_INPUT, line->number, gsai_line_offset(line, value),
                              "the value is missing after the colon: expected a decimal number");
    if (has_index)
        return gsai_line_fail(line, value, end, "value",
                              gsai_is_nonfinite_word(value, (size_t)(end - value))
                                  ? "values must be finite"
                                  : "expected a decimal number and then a blank",
                              error);
    if (is_query_id(line, at))
        return gsai_line_fail(line, at, end, "query id", "qid: (ranking) is not supported; remove it", error);
    if (*after == ':' && after > at)
        return gsai_line_fail(line, at, after, "index", "at most ten digits; the highest index is 4294967294", error);
    const char *expected = "expected a colon after the digits of the index";
    if (after == at)
        expected = "expected INDEX:VALUE with an index of digits only";
    else if (after == end)
        expected = "expected a colon and a value after the index";
    return gsai_line_fail(line, at, end, "feature", expected, error);
}

/* ---- pairs by bitmaps ------------------------------------------------------------------------------------------- */

/* Bytes other than digits are found 64 at a time, without a branch, so that neither the length of a number nor the end
 * of the one before delays the next. A short value is the quotient of two integers that are doubles without error
 * (number.h): it rounds once. */

/* The bytes from `block` on that are not digits and were not taken yet. */
typedef struct others {
    const char *block;
    uint64_t bits;
} others;

static inline const char *next_other(others *o)
{
    while (o->bits == 0) {
        o->block += 64;
        o->bits = gsai_others(o->block);
    }
    const char *at = o->block + __builtin_ctzll(o->bits);
    o->bits &= o->bits - 1;
    return at;
}

static inline bool ends_token(const char *p, const char *end)
{
    return *p == ' ' || *p == '\t' || p == end;
}

/* Reads 1 to 7 digits [. 1 to 8 digits] at p, `after` being the first byte that is not a digit; returns the end of the
 * value, or NULL if it is something else. */
static inline const char *read_value(others *o, const char *p, const char *after, const char *end, float *out)
{
    static const double power[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
    size_t n = (size_t)(after - p), n_fraction = 0;
    if (n - 1 >= 7)
        return NULL;
    double mantissa = n == 1 ? *p - '0' : (double)(int64_t)gsai_read_digits(p, n);
    if (*after == '.') {
        const char *fraction = after + 1;
        after = next_other(o);
        n_fraction = (size_t)(after - fraction);
        if (n_fraction - 1 >= 8)
            return NULL;
        mantissa = mantissa * power[n_fraction] + (double)(int64_t)gsai_read_digits(fraction, n_fraction);
    }
    *out = (float)(mantissa / power[n_fraction]);
    return ends_token(after, end) ? after : NULL;
}

const char *gsai_pairs_take(gsai_pairs *pairs, const char *p, const char *end)
{
    others o = {p, gsai_others(p)};
    uint32_t *index = pairs->index + pairs->n;
    float *value = pairs->value + pairs->n;
    uint64_t previous = pairs->previous;
    bool all_ones = pairs->all_ones;
    while (p < end) {
        const char *colon = next_other(&o);
        size_t n = (size_t)(colon - p);
        if (n - 1 >= 8 || *colon != ':') {
            if (n > 0 || (*p != ' ' && *p != '\t'))
                break;
            p++;
            continue;
        }
        uint64_t id = gsai_read_digits(p, n);
        if (id <= previous)
            break;
        const char *after = next_other(&o);
        bool is_one = (after == colon + 2) & (colon[1] == '1'); /* one branch, which can be foreseen */
        if (is_one && ends_token(after, end)) {
            *index++ = (uint32_t)(id - 1);
            *value++ = 1;
        } else {
            float x;
            after = read_value(&o, colon + 1, after, end, &x);
            if (!after)
                break;
            *index = (uint32_t)(id - 1);
            *value = x;
            index += x != 0; /* a zero is the same as an absent feature: its place is taken by the next */
            value += x != 0;
            all_ones = all_ones && (x == 1 || x == 0);
        }
        previous = id;
        p = after + (after < end);
    }
    pairs->n = (size_t)(index - pairs->index);
    pairs->previous = previous;
    pairs->all_ones = all_ones;
    return p;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

typedef struct libsvm {
    gsai_line_text text;
    unsigned n_slow_rows; /* to be read before the fast way is tried again */
} libsvm;

/* The pair at p, whatever it looks like; *at is moved behind it. */
static gsa_status parse_pair(const gsai_number_locale *locale, const gsai_line *line, const char **at,
                             gsai_pairs *pairs, gsa_error *error)
{
    const char *p = *at;
    uint64_t id = 0;
    const char *colon = gsai_number_digits(p, &id);
    if (*colon != ':' || colon == p || colon - p > 10 || id <= pairs->previous || id > (uint64_t)GSA_MAX_ID + 1)
        return fail_pair(line, p, pairs->previous, error);
    gsai_number number;
    gsai_number_parse_float(locale, colon + 1, &number);
    if (!number.after || !ends_token(number.after, line->end))
        return fail_pair(line, p, pairs->previous, error);
    p = colon + 1;
    if (!gsai_number_fits_float(&number))
        return gsai_line_fail(line, p, number.after, "value", GSAI_NO_FLOAT, error);
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
        GSA_TRY(parse_pair(parser->text.locale, line, &p, pairs, error));
    }
    parser->n_slow_rows = fast ? (n_slow * 4 > pairs->n ? SLOW_ROWS : 0) : parser->n_slow_rows - 1;
    return memchr(p, '\0', (size_t)(line->end - p)) ? fail_nul(line, p, error) : GSA_OK;
}

/* Takes one line: a row, or nothing. */
static gsa_status parse_line(void *memory, const gsai_line *line, gsai_rows *rows, gsa_error *error)
{
    libsvm *parser = memory;
    const char *start = gsai_skip_blanks(gsai_line_begin(line)), *end;
    if (start == line->end)
        return GSA_OK;
    if (*start == '#')
        return memchr(start, '\0', (size_t)(line->end - start)) ? fail_nul(line, start, error) : GSA_OK;
    gsai_number label;
    gsai_number_parse(parser->text.locale, start, &label);
    bool is_number = label.after && ends_token(label.after, line->end);
    end = is_number ? label.after : token_end(line, start);
    if (is_number && !gsai_number_fits_double(&label))
        return gsai_line_fail(line, start, end, "label", "the number does not fit a double", error);
    if (!is_number && gsai_libsvm_objection(start, (size_t)(end - start)))
        return fail_label(line, start, end, error);
    GSA_TRY(gsai_rows_reserve(rows, (size_t)(line->end - end) / 4 + 1, error));
    gsai_pairs pairs = {.index = rows->index + rows->n_values, .value = rows->value + rows->n_values, .all_ones = true};
    GSA_TRY(parse_pairs(parser, line, end, &pairs, error));
    int32_t word = -1;
    if (!is_number)
        GSA_TRY(gsai_rows_word(rows, start, (size_t)(end - start), line->number, line->byte, &word, error));
    gsa_place place = gsai_format_location(parser->text.input, line->number, line->byte);
    gsai_rows_finish(rows, pairs.n, pairs.all_ones, is_number ? label.value + 0.0 : 0, word, place); /* -0 is 0 */
    return GSA_OK;
}

static gsa_status read_libsvm(void *parser, gsai_rows *rows, gsa_error *error)
{
    return gsai_line_text_read(parser, parse_line, rows, error);
}

const gsai_format gsai_format_libsvm = {.title = "libsvm text",
                                        .size = sizeof(libsvm),
                                        .open = gsai_line_text_open,
                                        .begin = gsai_line_text_begin,
                                        .read = read_libsvm,
                                        .close = gsai_line_text_close,
                                        .give = gsai_line_text_give,
                                        .lines = gsai_line_text_lines};
