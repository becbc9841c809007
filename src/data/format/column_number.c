/* Numeric columns. */
#include "data/format/column_stats.h"

#include "data/format/input_text.h"
#include "data/format/table_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers that are not plain --------------------------------------------------------------------------------- */

/* A number without its sign and unit. */
typedef struct body {
    char text[GSAI_LONGEST_READ + 1];
    size_t size;
    bool is_negative, unit_is_word; /* unit_is_word: as in "3.2 kg", a unit only if all cells have it */
    char unit[GSAI_UNIT_SIZE];
    const char *exponent; /* of a magnitude, as in 1.2k */
} body;

bool gsai_copy_blanks(const char *text, size_t size, char out[GSAI_LONGEST_READ + 1])
{
    if (size > GSAI_LONGEST_READ || memchr(text, '\0', size))
        return false;
    memcpy(out, text, size);
    out[size] = '\0';
    for (char *p = out; (p = strpbrk(p, "\xC2\xE2")); p++) {
        size_t n = strncmp(p, "\xC2\xA0", 2) == 0 ? 2 : strncmp(p, "\xE2\x80\xAF", 3) == 0 ? 3 : 0;
        if (n > 0) {
            *p = ' ';
            memmove(p + 1, p + n, strlen(p + n) + 1);
        }
    }
    return true;
}

/* Takes a unit that need not be in every cell, if one stands at p and `out` has none yet; returns what follows it. */
static const char *take_unit(const char *p, body *out)
{
    static const char *const units[] = {"$",   "€",   "£",   "¥",   "₹",   "%",   "₩",   "₽", "₺",
                                        "₪",   "US$", "R$",  "USD", "EUR", "GBP", "JPY", "CHF", "CNY",
                                        "INR", "AUD", "CAD", "NZD", "SEK", "NOK", "DKK", "PLN", "CZK",
                                        "HUF", "BRL", "MXN", "ZAR", "KRW", "TRY", "SGD", "HKD", "Rs"};
    bool can_begin = gsai_is_letter(*p) || (unsigned char)*p >= 0x80 || *p == '$' || *p == '%';
    for (size_t i = 0; i < sizeof units / sizeof *units && !*out->unit && can_begin; i++) {
        size_t size = *p == *units[i] ? strlen(units[i]) : 0;
        if (size > 0 && strncmp(p, units[i], size) == 0 && !(gsai_is_letter(p[size - 1]) && gsai_is_letter(p[size]))) {
            memcpy(out->unit, units[i], size + 1);
            return p + size;
        }
    }
    return p;
}

/* Takes what stands behind the digits: a magnitude and a unit, or a word, which has letters and slashes. */
static const char *take_suffix(const char *p, body *out)
{
    body without = *out;
    const char *after = *p == 'k' || *p == 'K' || *p == 'M' ? take_unit(p + 1, &without) : NULL;
    if (after && *after == '\0') {
        *out = without;
        out->exponent = *p == 'M' ? "e6" : "e3";
        return after;
    }
    p = take_unit(p, out);
    size_t size = 0;
    while (gsai_is_letter(p[size]) || (unsigned char)p[size] >= 0x80 || (size > 0 && p[size] == '/'))
        size++;
    if (*out->unit || size == 0 || size >= GSAI_UNIT_SIZE)
        return p;
    memcpy(out->unit, p, size); /* which is zeroed */
    out->unit_is_word = true;
    return p + size;
}

/* Takes sign and unit off: "-$12", "$ -12", "12 %", "(12)". False if what is left is not made of digits and marks. */
static bool split(const char *text, size_t size, body *out)
{
    char copy[GSAI_LONGEST_READ + 1];
    if (!gsai_copy_blanks(text, size, copy))
        return false;
    *out = (body){0};
    const char *p = copy;
    bool is_enclosed = *p == '(' && size > 2 && copy[strlen(copy) - 1] == ')'; /* as accountants write negative ones */
    if (is_enclosed) {
        copy[strlen(copy) - 1] = '\0';
        p++;
    }
    bool has_sign = *p == '-' || *p == '+';
    if (is_enclosed && has_sign)
        return false;
    out->is_negative = is_enclosed || *p == '-';
    p = take_unit(p + has_sign, out);
    p += strspn(p, " ");
    if (!has_sign && !is_enclosed && *out->unit && (*p == '-' || *p == '+'))
        out->is_negative = *p++ == '-';
    out->size = strspn(p, "0123456789,.' ");
    const char *after = out->size > 0 ? take_suffix(p + out->size, out) : p;
    while (out->size > 0 && p[out->size - 1] == ' ')
        out->size--;
    memcpy(out->text, p, out->size);
    return *after == '\0' && out->size > 0 && gsai_is_digit(out->text[out->size - 1]);
}

/* Writes the body as a plain number. Returns false if the mark of decimals and the separator do not fit. */
static bool flatten(const body *from, char decimal, char group, char *out)
{
    const char *p = from->text, *start = out; /* which is zeroed behind its size */
    while (gsai_is_digit(*p))
        *out++ = *p++;
    bool is_grouped = group && *p == group;
    if (is_grouped && (out == start || out - start > 3 || *start == '0'))
        return false;
    for (; is_grouped && *p == group; p += 4) {
        if (!gsai_is_digit(p[1]) || !gsai_is_digit(p[2]) || !gsai_is_digit(p[3]))
            return false;
        memcpy(out, p + 1, 3);
        out += 3;
    }
    if (*p == decimal) {
        *out++ = '.';
        for (p++; gsai_is_digit(*p); p++)
            *out++ = *p;
    }
    *out = '\0';
    return p == from->text + from->size && out > start;
}

bool gsai_reading_lists(const gsai_reading *reading, const char *text, size_t size)
{
    for (size_t i = 0; reading && i < reading->n_missing - reading->n_sentinels; i++)
        if (gsai_is_word(text, size, reading->missing[i]))
            return true;
    return gsai_is_missing(text, size);
}

gsai_cell_value gsai_read_number(const gsai_number_locale *locale, const gsai_reading *reading, const char *text,
                                 size_t size, gsai_number *out)
{
    out->after = NULL;
    if (gsai_reading_lists(reading, text, size))
        return GSAI_VALUE_MISSING;
    if (!reading || reading->decimal == '.' || !(memchr(text, '.', size) || memchr(text, ',', size)))
        gsai_number_parse(locale, text, out);
    if (out->after != text + size) {
        body of;
        char flat[GSAI_LONGEST_READ + 5] = "-";
        out->after = NULL;
        if (!reading || !split(text, size, &of) || (*of.unit && strcmp(of.unit, reading->unit) != 0) ||
            !flatten(&of, reading->decimal, *reading->group, flat + 1))
            return GSAI_VALUE_WRONG;
        if (of.exponent)
            strcat(flat, of.exponent);
        strcat(flat, "\n");
        gsai_number_parse(locale, flat + !of.is_negative, out);
        if (!out->after)
            return GSAI_VALUE_WRONG;
    }
    return reading && gsai_is_sentinel(reading, out->value) ? GSAI_VALUE_MISSING : GSAI_VALUE;
}

/* ---- the first rows --------------------------------------------------------------------------------------------- */

/* Separators of thousands, also as bits of a set. */
static const char marks[] = {',', '.', ' ', '\''};

static unsigned bit_of(char mark)
{
    const char *at = mark ? memchr(marks, mark, sizeof marks) : NULL;
    return at ? 1u << (at - marks) : 0;
}

/* Finds the separator with which a body is a number; '\0' for none, '!' if it is not a number. */
static char find_group(const body *from, char decimal)
{
    char flat[GSAI_LONGEST_READ + 1];
    if (flatten(from, decimal, '\0', flat))
        return '\0';
    for (size_t i = 0; i < sizeof marks; i++)
        if (marks[i] != decimal && flatten(from, decimal, marks[i], flat))
            return marks[i];
    return '!';
}

/* Notes which marks of decimals and thousands a number may have; returns false if it is not a number. */
static bool see_marks(gsai_column_stats *stats, const body *of, const char *text, size_t size)
{
    const char group[] = {find_group(of, '.'), find_group(of, ',')};
    bool fits_point = group[0] != '!', fits_comma = group[1] != '!', has_comma = memchr(text, ',', size);
    stats->only_point = stats->only_point || (fits_point && !fits_comma);
    stats->only_comma = stats->only_comma || (fits_comma && !fits_point);
    if (fits_point && fits_comma && (has_comma || memchr(text, '.', size)))
        gsai_stats_keep_ambiguous(stats, text, size);
    stats->both_marks = stats->both_marks || (fits_point && fits_comma && has_comma);
    stats->groups[0] |= fits_point ? bit_of(group[0]) : 0;
    stats->groups[1] |= fits_comma ? bit_of(group[1]) : 0;
    return fits_point || fits_comma;
}

static bool see_number(gsai_column_stats *stats, const gsai_number_locale *locale, const char *text, size_t size,
                       double weight)
{
    gsai_number number;
    body of;
    if (!gsai_number_parse_short(text, size, &number))
        gsai_number_parse_float(locale, text, &number);
    if (number.after == text + size) {
        gsai_stats_add_number(stats, number.value, weight);
        if (stats->width != SIZE_MAX || *text == '0') {
            size_t n_digits = 0;
            while (n_digits < size && gsai_is_digit(text[n_digits]))
                n_digits++;
            stats->padded += n_digits == size && size > 1 && *text == '0' ? weight : 0;
            stats->width = n_digits == size && (stats->width == 0 || stats->width == size) ? size : SIZE_MAX;
        }
        if (!stats->only_point && memchr(text, '.', size) && split(text, size, &of))
            see_marks(stats, &of, text, size);
        return true;
    }
    if (gsai_is_nonfinite_word(text, size)) {
        stats->numbers += weight; /* it is meant as a number, and refused as one when its row is read */
        return true;
    }
    if (!split(text, size, &of) || !see_marks(stats, &of, text, size))
        return false;
    stats->odd += weight;
    stats->has_word_unit = stats->has_word_unit || of.unit_is_word;
    stats->lacks_unit = stats->lacks_unit || !*of.unit;
    if (*of.unit) {
        if (*stats->unit && strcmp(stats->unit, of.unit) != 0) {
            stats->units_differ = true;
            memcpy(stats->other_unit, stats->unit, sizeof stats->other_unit);
        }
        memcpy(stats->unit, of.unit, sizeof stats->unit);
    }
    return true;
}

bool gsai_number_may_group_by_points(const gsai_column_stats *stats)
{
    return !stats->only_point && (stats->groups[1] & bit_of('.'));
}

/* Settles how numbers are written; false if they contradict each other. */
static bool settle(const gsai_column_stats *stats, char asked, gsai_decided *out)
{
    gsai_reading *reading = &out->reading;
    bool is_open = !stats->only_point && !stats->only_comma;
    reading->decimal = (char)(stats->only_comma ? ',' : '.');
    if (is_open && asked && (stats->both_marks || gsai_number_may_group_by_points(stats)))
        reading->decimal = asked;
    unsigned groups = stats->groups[reading->decimal == ','];
    for (size_t i = 0; i < sizeof marks; i++)
        if (groups == 1u << i)
            *reading->group = marks[i];
    memcpy(reading->unit, stats->unit, sizeof reading->unit);
    bool is_settled = !(stats->only_point && stats->only_comma) && (groups & (groups - 1)) == 0 &&
                      !stats->units_differ && !(stats->has_word_unit && (stats->lacks_unit || stats->numbers > 0));
    out->is_ambiguous = is_settled && is_open && stats->both_marks && !asked;
    return is_settled;
}

static bool recognise_numbers(const gsai_column_stats *stats, const gsai_asked *asked, gsai_decided *out)
{
    bool is_empty = stats->numbers + stats->odd + stats->dates == 0 && stats->n_words == 0;
    bool is_number = gsai_stats_are_nearly_all(stats, stats->numbers + stats->odd, stats->dates);
    /* Zeros before digits mean something if all cells are as long, or a tenth of them has some: 00501. */
    out->is_code = is_number && stats->padded > 0 && stats->odd == 0 &&
                   (stats->width != SIZE_MAX || stats->padded * 10 >= stats->numbers);
    if (!is_empty && !(is_number && !out->is_code && settle(stats, asked->decimal, out)))
        return false;
    gsai_stats_take_missing(stats, &out->reading);
    for (size_t i = 0; i < asked->n_missing && !asked->is_label; i++)
        gsai_reading_add_sentinel(&out->reading, asked->missing[i]);
    if (asked->finds_missing && !asked->is_label) {
        bool is_out[GSAI_SENTINELS];
        gsai_stats_find_sentinels(stats, 1, is_out);
        for (size_t i = 0; i < GSAI_SENTINELS; i++)
            if (is_out[i])
                gsai_reading_add_sentinel(&out->reading, gsai_sentinels[i]);
    }
    out->is_plain =
        stats->odd == 0 && stats->n_words == 0 && out->reading.decimal != ',' && out->reading.n_sentinels == 0;
    out->needs_values = !out->is_plain || gsai_stats_are_far(stats, GSAI_FINEST_READ);
    return true;
}

bool gsai_reading_add_sentinel(gsai_reading *reading, double value)
{
    char text[GSAI_NUMBER_TEXT];
    size_t size = gsai_number_text(value, text);
    if (reading->n_sentinels == GSAI_MISSING_NUMBERS || size >= GSAI_MISSING_SIZE ||
        reading->n_missing == sizeof reading->missing / sizeof *reading->missing)
        return false;
    memcpy(reading->missing[reading->n_missing++], text, size + 1);
    reading->sentinel[reading->n_sentinels++] = value;
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

const char gsai_not_a_number[] = "the model was trained with numbers in it";

static const char *add_number(gsai_tabular *table, size_t i, const gsai_text_cell *cell, gsai_features *features)
{
    const gsai_reading *reading = table->column[i].field->reading;
    const double offset = table->column[i].field->offset;
    gsai_number number = {0};
    if (cell->size == 0) {
        gsai_tabular_add_missing(table, i, features);
        return NULL;
    }
    if (!reading && offset == 0 && gsai_number_parse_short(cell->text, cell->size, &number)) {
        gsai_tabular_add_number(table, i, (float)number.value, features); /* which none of them exceeds */
        return NULL;
    }
    if (!reading && offset == 0)
        gsai_number_parse_float(table->locale, cell->text, &number);
    else if (!reading)
        gsai_number_parse(table->locale, cell->text, &number);
    if (number.after != cell->text + cell->size) {
        gsai_text_cell inner = gsai_cell_trim(*cell);
        gsai_cell_value is = gsai_read_number(table->locale, reading, inner.text, inner.size, &number);
        if (is == GSAI_VALUE_WRONG)
            return gsai_is_nonfinite_word(inner.text, inner.size) ? "values must be finite" : gsai_not_a_number;
        if (is == GSAI_VALUE_MISSING) {
            gsai_tabular_add_missing(table, i, features);
            return NULL;
        }
    }
    float value = (float)(number.value - offset);
    if (offset == 0 ? !gsai_number_fits_float(&number) : !isfinite(value))
        return GSAI_NO_FLOAT;
    gsai_tabular_add_number(table, i, value, features);
    return NULL;
}

static void tell_number(const gsai_reading *reading, char out[GSAI_READING_TEXT])
{
    const char *group = *reading->group == ' '    ? ", blanks between thousands"
                        : *reading->group == ','  ? ", commas between thousands"
                        : *reading->group == '\'' ? ", apostrophes between thousands"
                        : *reading->group         ? ", points between thousands"
                                                  : "";
    snprintf(out, GSAI_READING_TEXT, "a number%s%s%s%s", *reading->unit ? " in " : "", reading->unit,
             reading->decimal == ',' ? ", decimals behind a comma" : "", group);
}

const gsai_column_kind gsai_kind_number = {.word = "number",
                                           .has_number = true,
                                           .see = see_number,
                                           .recognise = recognise_numbers,
                                           .read = gsai_read_number,
                                           .add = add_number,
                                           .tell = tell_number,
                                           .put_offset = gsai_number_text};

/* None may be missing: nothing could stand for it. */
static const char *add_offset(gsai_tabular *table, size_t i, const gsai_text_cell *cell, gsai_features *features)
{
    const char *objection = add_number(table, i, cell, features);
    return objection || (table->n_gaps > 0 && table->gap[table->n_gaps - 1] == i) ? GSAI_NO_OFFSET : NULL;
}

const gsai_column_kind gsai_kind_offset = {.word = "offset",
                                           .has_number = true,
                                           .read = gsai_read_number,
                                           .add = add_offset,
                                           .tell = tell_number,
                                           .put_offset = gsai_number_text};
