/* Kinds of columns from their cells. */
#include "data/format/seen.h"

#include "base/error.h"
#include "data/format/input_text.h"

#include <math.h>
#include <string.h>

/* ---- cells ------------------------------------------------------------------------------------------------------ */

/* Separators as bits of a set. */
static const char marks[] = {',', '.', ' ', '\''};

static unsigned bit_of(char mark)
{
    const char *at = mark ? memchr(marks, mark, sizeof marks) : NULL;
    return at ? 1u << (at - marks) : 0;
}

static void add_word(gsai_seen *seen, const char *text, size_t size)
{
    for (size_t i = 0; i < seen->n_different && i < GSAI_MISSING_WORDS; i++)
        if (strlen(seen->word[i]) == size && memcmp(seen->word[i], text, size) == 0)
            return;
    bool fits = seen->n_different < GSAI_MISSING_WORDS && size < GSAI_MISSING_SIZE && gsai_is_text(text, size);
    if (fits)
        memcpy(seen->word[seen->n_different], text, size);
    seen->n_different = fits ? seen->n_different + 1 : GSAI_MISSING_WORDS + 1;
}

static void keep_ambiguous(gsai_seen *seen, const char *text, size_t size)
{
    size_t n = size < sizeof seen->ambiguous ? size : sizeof seen->ambiguous - 1;
    if (!*seen->ambiguous)
        memcpy(seen->ambiguous, text, n);
}

static void add_marks(gsai_seen *seen, const gsai_shape *shape, const char *text, size_t size)
{
    bool has_both = shape->fits_point && shape->fits_comma, has_comma = memchr(text, ',', size);
    seen->only_point = seen->only_point || (shape->fits_point && !shape->fits_comma);
    seen->only_comma = seen->only_comma || (shape->fits_comma && !shape->fits_point);
    if (has_both && (has_comma || memchr(text, '.', size)))
        keep_ambiguous(seen, text, size);
    seen->both_marks = seen->both_marks || (has_both && has_comma);
    if (shape->fits_point)
        seen->groups[0] |= bit_of(shape->group_if_point);
    if (shape->fits_comma)
        seen->groups[1] |= bit_of(shape->group_if_comma);
}

static void add_odd(gsai_seen *seen, const gsai_shape *shape, const char *text, size_t size)
{
    add_marks(seen, shape, text, size);
    seen->has_word_unit = seen->has_word_unit || shape->unit_is_word;
    seen->lacks_unit = seen->lacks_unit || !*shape->unit;
    if (!*shape->unit)
        return;
    if (*seen->unit && strcmp(seen->unit, shape->unit) != 0) {
        seen->units_differ = true;
        memcpy(seen->other_unit, seen->unit, sizeof seen->other_unit);
    }
    memcpy(seen->unit, shape->unit, sizeof seen->unit);
}

static void add_date(gsai_seen *seen, const gsai_shape *shape, const char *text, size_t size)
{
    seen->has_time = seen->has_time || shape->has_time;
    seen->only_day_first = seen->only_day_first || (shape->fits_day_first && !shape->fits_month_first);
    seen->only_month_first = seen->only_month_first || (shape->fits_month_first && !shape->fits_day_first);
    if (shape->fits_day_first && shape->fits_month_first) {
        keep_ambiguous(seen, text, size);
        seen->both_orders = true;
    }
}

void gsai_seen_forget_values(gsai_seen *seen)
{
    seen->sum = seen->exact = seen->weight = 0;
    seen->has_value = false;
    seen->n_sentinels = 0;
}

void gsai_seen_add_again(gsai_seen *seen, double value, double weight)
{
    float x = (float)value;
    if (!isfinite(x))
        return;
    seen->low = seen->has_value && seen->low < value ? seen->low : value;
    seen->high = seen->has_value && seen->high > value ? seen->high : value;
    seen->has_value = true;
    seen->sum += weight * (double)x;
    seen->exact += weight * value;
    seen->weight += weight;
}

static const double sentinels[GSAI_SENTINELS] = {-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999, 999999};

/* Counts a number among those that may mean a missing one, or notes what the others are. */
static void add_other(gsai_seen *seen, double value)
{
    bool is_candidate = value == -9 || value <= -99 || value >= 99;
    for (size_t i = 0; i < GSAI_SENTINELS && is_candidate; i++)
        if (sentinels[i] == value) {
            seen->n_sentinel[i]++;
            return;
        }
    seen->least = seen->n_others == 0 || value < seen->least ? value : seen->least;
    seen->most = seen->n_others == 0 || value > seen->most ? value : seen->most;
    seen->n_others++;
    if (seen->n_few == GSAI_FEW_NUMBERS)
        return;
    size_t k = 0;
    while (k < seen->n_few && seen->few[k] != value)
        k++;
    if (k == seen->n_few)
        seen->few[seen->n_few++] = value;
}

void gsai_seen_add_number(gsai_seen *seen, double value, double weight)
{
    seen->numbers += weight;
    gsai_seen_add_again(seen, value, weight);
    if (isfinite(value))
        add_other(seen, value);
}

void gsai_seen_add(gsai_seen *seen, const gsai_number_locale *locale, const char *text, size_t size, double weight)
{
    gsai_number number;
    if (gsai_is_missing(text, size)) {
        seen->n_missing++;
        seen->is_marked = seen->is_marked || !gsai_is_absent(text, size);
        return;
    }
    bool is_settled = seen->units_differ && seen->odd > 1000;
    if (seen->n_different > GSAI_MISSING_WORDS || is_settled) { /* no longer a matter of numbers */
        seen->n_words += !is_settled;
        *(is_settled ? &seen->odd : &seen->words) += weight;
        return;
    }
    gsai_number_parse_float(locale, text, &number);
    if (number.after == text + size) {
        gsai_seen_add_number(seen, number.value, weight);
        if (seen->width != SIZE_MAX || *text == '0') {
            size_t n_digits = 0;
            while (n_digits < size && gsai_is_digit(text[n_digits]))
                n_digits++;
            seen->padded += n_digits == size && size > 1 && *text == '0' ? weight : 0;
            seen->width = n_digits == size && (seen->width == 0 || seen->width == size) ? size : SIZE_MAX;
        }
        if (!seen->only_point && memchr(text, '.', size)) {
            gsai_shape shape = gsai_shape_of(text, size);
            add_marks(seen, &shape, text, size);
        }
        return;
    }
    gsai_shape shape = gsai_shape_of(text, size);
    if (gsai_is_nonfinite_word(text, size)) {
        seen->numbers += weight; /* it is meant as a number, and refused as one when its row is read */
    } else if (shape.is_number) {
        seen->odd += weight;
        add_odd(seen, &shape, text, size);
    } else if (shape.is_date) {
        seen->dates += weight;
        add_date(seen, &shape, text, size);
    } else {
        seen->n_words++;
        seen->words += weight;
        add_word(seen, text, size);
    }
}

double gsai_seen_add_value(gsai_seen *seen, const gsai_number_locale *locale, const gsai_reading *reading, bool is_date,
                           const char *text, size_t size, double weight)
{
    gsai_number number = {0};
    gsai_date date;
    gsai_cell_value is =
        is_date ? gsai_read_date(reading, text, size, &date) : gsai_read_number(locale, reading, text, size, &number);
    double value = is != GSAI_VALUE ? (double)NAN : is_date ? gsai_date_value(date) : number.value;
    gsai_seen_add_again(seen, value, weight);
    seen->n_sentinels += is == GSAI_VALUE_MISSING && number.after;
    return value;
}

/* Magnitudes of FAR_FROM_ZERO times the range leave a float 14 bits for the range. Below `finest` times the magnitude a
 * range is that of rounding errors. Extremes are compared as floats, which the first reading knows to the last digit.
 */
enum { FAR_FROM_ZERO = 1024 };
static bool is_far(const gsai_seen *seen, double finest)
{
    double low = (double)(float)seen->low, high = (double)(float)seen->high;
    double magnitude = fabs(low) > fabs(high) ? fabs(low) : fabs(high);
    return seen->has_value && magnitude > FAR_FROM_ZERO * (high - low) && seen->high - seen->low > finest * magnitude;
}

double gsai_seen_offset(const gsai_seen *seen)
{
    if (!is_far(seen, 0x1p-40))
        return 0;
    double middle = seen->low + (seen->high - seen->low) / 2, power = 1e22;
    for (int k = 22; k >= -22; k--) { /* multiples of a power of ten, the nearest to the middle */
        double found = k >= 0 ? floor(middle / power + 0.5) * power : floor(middle * power + 0.5) / power;
        if (found >= seen->low && found <= seen->high)
            return found;
        power = k > 0 ? power / 10 : power * 10;
    }
    return middle;
}

float gsai_seen_mean(const gsai_seen *seen, double offset)
{
    double mean = seen->weight > 0 ? (offset != 0 ? seen->exact : seen->sum) / seen->weight - offset : 0;
    return isfinite((float)mean) ? (float)mean : 0;
}

/* ---- numbers that mean a missing one ---------------------------------------------------------------------------- */

gsa_status gsai_next_number(const gsai_number_locale *locale, const char **list, double *out, gsa_error *error)
{
    gsai_number number = {0};
    if (!*list)
        return GSA_END;
    size_t size = strcspn(*list, ",");
    gsai_number_parse(locale, *list, &number);
    *out = number.value;
    if (number.after != *list + size || !gsai_number_fits_float(&number))
        return gsai_fail_about(error, "missing",
                               gsai_fail(error, GSA_ARGUMENT, "'%.*s' as a missing value: expected a number, or none",
                                         (int)(size < 80 ? size : 80), *list));
    *list = number.after[0] == ',' ? number.after + 1 : NULL;
    return GSA_OK;
}

/* Finds those that are often there, and further from all other numbers than these are apart: what is nearer is one of
 * the others. Few different numbers must be further away still. */
static void find_sentinels(const gsai_seen *seen, double share_of_range, bool is_out[GSAI_SENTINELS])
{
    size_t n = seen->n_others;
    double low = seen->least, high = seen->most;
    for (size_t i = 0; i < GSAI_SENTINELS; i++)
        n += seen->n_sentinel[i];
    for (size_t i = 0; i < GSAI_SENTINELS; i++)
        is_out[i] = seen->n_others > 0 && seen->odd == 0 && seen->n_sentinel[i] > 0;
    for (bool changes = true; changes;) {
        changes = false;
        for (size_t i = 0; i < GSAI_SENTINELS; i++) {
            double x = sentinels[i], gap = x < low ? low - x : x > high ? x - high : 0;
            double wanted = (seen->n_few < GSAI_FEW_NUMBERS ? 10 : share_of_range) * (high - low);
            bool is_often = seen->n_sentinel[i] >= 5 && seen->n_sentinel[i] >= n / 100;
            if (!is_out[i] || (is_often && gap > 0 && gap >= wanted && high > low))
                continue;
            is_out[i] = false;
            low = x < low ? x : low;
            high = x > high ? x : high;
            changes = true;
        }
    }
}

size_t gsai_seen_suspect(const gsai_seen *seen, double *value)
{
    bool is_out[GSAI_SENTINELS];
    find_sentinels(seen, 0.1, is_out);
    for (size_t i = 0; i < GSAI_SENTINELS; i++)
        if (is_out[i]) {
            *value = sentinels[i];
            return seen->n_sentinel[i];
        }
    return 0;
}

static void add_sentinels(const gsai_seen *seen, gsai_asked asked, gsai_reading *reading)
{
    if (asked.is_label || (asked.missing && strcmp(asked.missing, "none") == 0))
        return;
    double value;
    const char *list = asked.missing;
    while (list && gsai_next_number(asked.locale, &list, &value, NULL) == GSA_OK)
        gsai_reading_add_sentinel(reading, value);
    bool is_out[GSAI_SENTINELS];
    find_sentinels(seen, 1, is_out);
    for (size_t i = 0; i < GSAI_SENTINELS && !asked.missing; i++)
        if (is_out[i])
            gsai_reading_add_sentinel(reading, sentinels[i]);
}

/* ---- the kind --------------------------------------------------------------------------------------------------- */

/* Nine tenths of the rows, and few words among the others, which then stand for missing ones. */
static bool are_nearly_all(const gsai_seen *seen, double these, double others)
{
    return these > 0 && others == 0 && seen->words * 9 <= these && seen->n_different <= GSAI_MISSING_WORDS;
}

bool gsai_seen_may_group_by_points(const gsai_seen *seen)
{
    return !seen->only_point && (seen->groups[1] & bit_of('.'));
}

/* Settles how numbers are written; false if they contradict each other. */
static bool settle_number(const gsai_seen *seen, gsai_asked asked, gsai_decided *out)
{
    gsai_reading *reading = &out->reading;
    bool is_open = seen->both_marks || gsai_seen_may_group_by_points(seen);
    reading->decimal = (char)(seen->only_comma ? ',' : '.');
    if (is_open && !seen->only_comma && !seen->only_point && asked.decimal)
        reading->decimal = asked.decimal;
    out->is_ambiguous = seen->both_marks && !seen->only_point && !seen->only_comma && !asked.decimal;
    unsigned groups = seen->groups[reading->decimal == ','];
    for (size_t i = 0; i < sizeof marks; i++)
        if (groups == 1u << i)
            reading->group = marks[i];
    memcpy(reading->unit, seen->unit, sizeof reading->unit);
    bool is_settled = !(seen->only_point && seen->only_comma) && (groups & (groups - 1)) == 0 && !seen->units_differ &&
                      !(seen->has_word_unit && (seen->lacks_unit || seen->numbers > 0));
    out->is_ambiguous = out->is_ambiguous && is_settled;
    return is_settled;
}

static bool settle_date(const gsai_seen *seen, gsai_asked asked, gsai_decided *out)
{
    gsai_reading *reading = &out->reading;
    reading->order = (char)(seen->only_day_first ? 'd' : seen->only_month_first ? 'm' : '\0');
    if (!reading->order && seen->both_orders)
        reading->order = asked.order;
    out->is_ambiguous = seen->both_orders && !reading->order;
    reading->decimal = '.';
    reading->has_time = seen->has_time;
    return !(seen->only_day_first && seen->only_month_first) && !out->is_ambiguous;
}

/* Zeros before digits mean something if all cells are as long, or a tenth of them has some: 00501. */
static bool are_codes(const gsai_seen *seen)
{
    return seen->padded > 0 && seen->odd == 0 && (seen->width != SIZE_MAX || seen->padded * 10 >= seen->numbers);
}

gsai_decided gsai_seen_decide(const gsai_seen *seen, gsai_asked asked)
{
    gsai_decided out = {.kind = GSAI_FIELD_CATEGORICAL, .is_plain = true, .reading = {.decimal = '.'}};
    bool is_number = are_nearly_all(seen, seen->numbers + seen->odd, seen->dates);
    bool is_empty = seen->numbers + seen->odd + seen->dates == 0 && seen->n_words == 0;
    out.is_code = is_number && are_codes(seen);
    if (is_empty)
        out.kind = GSAI_FIELD_NUMBER;
    else if (is_number && !out.is_code && settle_number(seen, asked, &out))
        out.kind = GSAI_FIELD_NUMBER;
    else if (are_nearly_all(seen, seen->dates, seen->numbers + seen->odd) && settle_date(seen, asked, &out))
        out.kind = GSAI_FIELD_DATE;
    if (out.kind == GSAI_FIELD_CATEGORICAL) {
        out.reading = (gsai_reading){0};
        return out;
    }
    for (size_t i = 0; i < seen->n_different; i++)
        memcpy(out.reading.missing[i], seen->word[i], GSAI_MISSING_SIZE);
    out.reading.n_missing = seen->n_different;
    out.is_far = out.kind == GSAI_FIELD_NUMBER && is_far(seen, 0x1p-45); /* a finer range than is asked for later */
    if (out.kind == GSAI_FIELD_NUMBER)
        add_sentinels(seen, asked, &out.reading);
    out.is_plain = out.kind == GSAI_FIELD_NUMBER && seen->odd == 0 && seen->n_words == 0 &&
                   out.reading.decimal != ',' && out.reading.n_sentinels == 0;
    return out;
}
