/* Numbers with units and separators, and dates, from text. */
#include "data/format/reading.h"

#include "base/text.h"
#include "data/format/input_text.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 48 }; /* bytes of a number or a date */

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

/* A number without its sign and unit. */
typedef struct body {
    char text[LONGEST + 1];
    size_t size;
    bool is_negative, unit_is_word;
    char unit[GSAI_UNIT_SIZE];
    const char *exponent; /* of a magnitude, as in 1.2k */
} body;

/* Units that need not be in every cell. */
static const char *const units[] = {"$",   "€",   "£",   "¥",   "₹",   "%",   "₩",   "₽", "₺",   "₪",   "US$", "R$",
                                    "USD", "EUR", "GBP", "JPY", "CHF", "CNY", "INR", "AUD", "CAD", "NZD", "SEK", "NOK",
                                    "DKK", "PLN", "CZK", "HUF", "BRL", "MXN", "ZAR", "KRW", "TRY", "SGD", "HKD", "Rs"};

/* Copies a text, with no-break spaces as blanks. */
static bool copy_blanks(const char *text, size_t size, char *out)
{
    if (size > LONGEST || memchr(text, '\0', size))
        return false;
    for (size_t i = 0; i < size; i++) {
        bool is_nbsp = size - i >= 2 && memcmp(text + i, "\xC2\xA0", 2) == 0;
        bool is_narrow = size - i >= 3 && memcmp(text + i, "\xE2\x80\xAF", 3) == 0;
        *out++ = (char)(is_nbsp || is_narrow ? ' ' : text[i]);
        i += is_nbsp ? 1 : is_narrow ? 2 : 0;
    }
    *out = '\0';
    return true;
}

static bool is_letter(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

/* The unit at p, of which `out` has none yet; returns what follows it. */
static const char *take_unit(const char *p, body *out)
{
    for (size_t i = 0; i < sizeof units / sizeof *units && !*out->unit; i++) {
        size_t size = *p == *units[i] ? strlen(units[i]) : 0;
        if (size > 0 && strncmp(p, units[i], size) == 0 && !(is_letter(p[size - 1]) && is_letter(p[size]))) {
            memcpy(out->unit, units[i], size + 1);
            return p + size;
        }
    }
    return p;
}

/* What stands behind the digits: a magnitude and a unit, or a word, which has letters and slashes. */
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
    while (is_letter(p[size]) || (unsigned char)p[size] >= 0x80 || (size > 0 && p[size] == '/'))
        size++;
    if (*out->unit || size == 0 || size >= GSAI_UNIT_SIZE)
        return p;
    memcpy(out->unit, p, size); /* which is zeroed */
    out->unit_is_word = true;
    return p + size;
}

static const char *skip_blanks(const char *p)
{
    while (*p == ' ')
        p++;
    return p;
}

/* Takes sign and unit off: "-$12", "$ -12", "12 %", "(12)". False if what is left is not made of digits and marks. */
static bool split(const char *text, size_t size, body *out)
{
    char copy[LONGEST + 1];
    *out = (body){0};
    if (!copy_blanks(text, size, copy))
        return false;
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
    p = skip_blanks(take_unit(p + has_sign, out));
    if (!has_sign && !is_enclosed && *out->unit && (*p == '-' || *p == '+'))
        out->is_negative = *p++ == '-';
    out->size = strspn(p, "0123456789,.' ");
    const char *after = out->size > 0 ? take_suffix(p + out->size, out) : p;
    while (out->size > 0 && p[out->size - 1] == ' ')
        out->size--;
    memcpy(out->text, p, out->size);
    return *after == '\0' && out->size > 0 && gsai_is_digit(out->text[out->size - 1]);
}

/* Writes the body as a plain number. False if it is none with this mark of decimals and this separator. */
static bool flatten(const body *from, char decimal, char group, char *out)
{
    size_t n = 0, i = 0;
    while (i < from->size && gsai_is_digit(from->text[i]))
        out[n++] = from->text[i++];
    bool is_grouped = group && i < from->size && from->text[i] == group;
    if (is_grouped && (n == 0 || n > 3 || *from->text == '0'))
        return false;
    for (; is_grouped && i < from->size && from->text[i] == group; i += 4) {
        for (size_t k = 1; k <= 3; k++) {
            if (i + k >= from->size || !gsai_is_digit(from->text[i + k]))
                return false;
            out[n++] = from->text[i + k];
        }
    }
    if (i < from->size && from->text[i] == decimal) {
        out[n++] = '.';
        for (i++; i < from->size && gsai_is_digit(from->text[i]); i++)
            out[n++] = from->text[i];
    }
    out[n] = '\0';
    return i == from->size && n > 0;
}

/* The separator with which a body is a number; '\0' for none, '!' if it is no number. */
static char find_group(const body *from, char decimal)
{
    static const char marks[] = {'\0', ',', '.', ' ', '\''};
    char flat[LONGEST + 1];
    for (size_t i = 0; i < sizeof marks; i++)
        if (marks[i] != decimal && flatten(from, decimal, marks[i], flat))
            return marks[i];
    return '!';
}

static bool is_listed(const gsai_reading *reading, const char *text, size_t size)
{
    for (size_t i = 0; reading && i < reading->n_missing - reading->n_sentinels; i++)
        if (strlen(reading->missing[i]) == size && memcmp(reading->missing[i], text, size) == 0)
            return true;
    return gsai_is_missing(text, size);
}

bool gsai_reading_add_sentinel(gsai_reading *reading, double value)
{
    if (reading->n_sentinels == GSAI_MISSING_NUMBERS ||
        reading->n_missing == sizeof reading->missing / sizeof *reading->missing)
        return false;
    char text[GSAI_NUMBER_TEXT];
    size_t size = gsai_number_text(value, text);
    if (size >= GSAI_MISSING_SIZE)
        return false;
    memcpy(reading->missing[reading->n_missing++], text, size + 1);
    reading->sentinel[reading->n_sentinels++] = value;
    return true;
}

gsai_cell_value gsai_read_number(const gsai_number_locale *locale, const gsai_reading *reading, const char *text,
                                 size_t size, gsai_number *out)
{
    if (is_listed(reading, text, size))
        return GSAI_VALUE_MISSING;
    body of;
    char flat[LONGEST + 5] = "-";
    bool is_plain = !reading || reading->decimal == '.' || !(memchr(text, '.', size) || memchr(text, ',', size));
    if (is_plain) {
        gsai_number_parse(locale, text, out);
        if (out->after == text + size)
            return reading && gsai_is_sentinel(reading, out->value) ? GSAI_VALUE_MISSING : GSAI_VALUE;
    }
    if (!reading || !split(text, size, &of) || (*of.unit && strcmp(of.unit, reading->unit) != 0) ||
        !flatten(&of, reading->decimal, reading->group, flat + 1))
        return GSAI_VALUE_WRONG;
    if (of.exponent)
        strcat(flat, of.exponent);
    strcat(flat, "\n");
    gsai_number_parse(locale, flat + !of.is_negative, out);
    if (!out->after)
        return GSAI_VALUE_WRONG;
    return gsai_is_sentinel(reading, out->value) ? GSAI_VALUE_MISSING : GSAI_VALUE;
}

/* ---- dates ------------------------------------------------------------------------------------------------------ */

const char *const gsai_date_part_names[GSAI_DATE_PARTS] = {"weekday", "month", "hour"};

/* Days from 1970-01-01 to a day of the Gregorian calendar. Years are counted from March, so that the day that comes
 * every four years is the last. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t y = year - (month <= 2), m = (month + 9) % 12;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

gsai_calendar gsai_calendar_of(int64_t days)
{
    int64_t since = days + 719468, era = since / 146097 - (since % 146097 < 0), day = since - era * 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    int64_t from_march = (5 * day + 2) / 153, month = from_march < 10 ? from_march + 3 : from_march - 9;
    return (gsai_calendar){year + era * 400 + (month <= 2), (int)month, (int)(day - (153 * from_march + 2) / 5 + 1)};
}

const char *gsai_date_part(gsai_date date, int part)
{
    static const char *const weekday[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
    static const char *const month[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    static const char *const hour[] = {"0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8",  "9",  "10", "11",
                                       "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23"};
    if (part == 0)
        return weekday[(date.days % 7 + 7) % 7];
    return part == 2 ? hour[date.seconds / 3600] : month[gsai_calendar_of(date.days).month - 1];
}

/* Digits at *p, at most `max`; -1 if there are none or more. */
static int64_t take_digits(const char **p, int max)
{
    int64_t value = 0;
    int n = 0;
    for (; gsai_is_digit(**p); ++*p, n++)
        value = n < max ? value * 10 + (**p - '0') : value;
    return n >= 1 && n <= max ? value : -1;
}

static bool take_zone(const char *p)
{
    if (*p == 'Z')
        return p[1] == '\0';
    if (*p != '+' && *p != '-')
        return *p == '\0';
    p++;
    size_t n = strspn(p, "0123456789:");
    return (n == 2 || n == 4 || n == 5) && p[n] == '\0';
}

/* "[T ]H:MM[:SS[.F]][ AM]" and a zone, or nothing. */
static bool take_time(const char *p, uint32_t *seconds)
{
    *seconds = 0;
    if (*p == '\0')
        return true;
    if (*p != 'T' && *p != ' ')
        return false;
    p++;
    int64_t hour = take_digits(&p, 2), minute = *p == ':' ? (p++, take_digits(&p, 2)) : -1, second = 0;
    if (*p == ':') {
        p++;
        second = take_digits(&p, 2);
        if (*p == '.')
            p += 1 + strspn(p + 1, "0123456789");
    }
    const char *letters = p + (*p == ' ');
    bool is_am = strncmp(letters, "AM", 2) == 0, is_pm = strncmp(letters, "PM", 2) == 0;
    if (is_am || is_pm) {
        if (hour < 1 || hour > 12)
            return false;
        hour = hour % 12 + (is_pm ? 12 : 0);
        p = letters + 2;
    }
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return false;
    *seconds = (uint32_t)(hour * 3600 + minute * 60 + (second < 60 ? second : 59));
    return take_zone(p);
}

static bool is_day(int64_t year, int64_t month, int64_t day)
{
    if (month < 1 || month > 12 || day < 1 || day > 31)
        return false;
    return day <= days_of(year + (month == 12), month % 12 + 1, 1) - days_of(year, month, 1);
}

/* A date of three numbers with equal marks between them, and what follows it. */
typedef struct triple {
    int64_t n[3];
    char mark;
    bool has_year_first;
    uint32_t seconds;
} triple;

/* The number of the month whose English name, or three letters of it at least, stand at *p; -1 if there is none. */
static int64_t take_month(const char **p)
{
    static const char *const names[] = {"january", "february", "march",     "april",   "may",      "june",
                                        "july",    "august",   "september", "october", "november", "december"};
    size_t size = 0;
    while (is_letter((*p)[size]))
        size++;
    for (int64_t month = 0; month < 12 && size >= 3; month++) {
        size_t i = 0;
        while (i < size && ((*p)[i] | 0x20) == names[month][i])
            i++;
        if (i == size) {
            *p += size;
            return month + 1;
        }
    }
    return -1;
}

/* Writes a date that has the name of its month by numbers: "Nov 17, 2026 08:05" is "2026-11-17 08:05". */
static void number_month(char copy[LONGEST + 1])
{
    char out[LONGEST + 1];
    const char *p = copy;
    int64_t day = gsai_is_digit(*p) ? take_digits(&p, 2) : 0;
    if (p > copy && (day < 0 || !*p || !strchr(" -/", *p++)))
        return;
    int64_t month = take_month(&p);
    p += *p == '.' || *p == ',';
    if (month < 0 || !*p || !strchr(" -/", *p++))
        return;
    if (day == 0) {
        day = take_digits(&p, 2);
        p += *p == ',';
        if (day < 0 || !*p || !strchr(" -/", *p++))
            return;
    }
    const char *start = p;
    int64_t year = take_digits(&p, 4);
    if (p - start != 4 || day > 31)
        return;
    int size = snprintf(out, sizeof out, "%04d-%02d-%02d%s", (int)year, (int)month, (int)day, p);
    if (size > 0 && (size_t)size < sizeof out)
        memcpy(copy, out, (size_t)size + 1);
}

static bool take_triple(const char *text, size_t size, triple *out)
{
    char copy[LONGEST + 1];
    if (size < 8 || !(gsai_is_digit(*text) || is_letter(*text)) || !copy_blanks(text, size, copy))
        return false;
    number_month(copy);
    const char *p = copy;
    out->n[0] = take_digits(&p, 4);
    out->has_year_first = out->n[0] >= 0 && p - copy == 4;
    out->mark = *p;
    if (p == copy || (*p != '-' && *p != '/' && *p != '.') || (!out->has_year_first && p - copy > 2))
        return false;
    p++;
    out->n[1] = take_digits(&p, 2);
    if (out->n[1] < 0 || *p != out->mark)
        return false;
    const char *third = ++p;
    out->n[2] = take_digits(&p, out->has_year_first ? 2 : 4);
    return out->n[2] >= 0 && (out->has_year_first || p - third == 4) && take_time(p, &out->seconds);
}

/* The day under an order of its parts; false if there is no such day. */
static bool order_triple(const triple *from, char order, gsai_date *out)
{
    int64_t year = from->has_year_first ? from->n[0] : from->n[2];
    int64_t month = from->has_year_first || order == 'd' ? from->n[1] : from->n[0];
    int64_t day = from->has_year_first ? from->n[2] : order == 'd' ? from->n[0] : from->n[1];
    *out = (gsai_date){.seconds = from->seconds};
    if (year < 1 || !is_day(year, month, day))
        return false;
    out->days = days_of(year, month, day);
    return true;
}

gsai_cell_value gsai_read_date(const gsai_reading *reading, const char *text, size_t size, gsai_date *out)
{
    triple parts;
    if (is_listed(reading, text, size))
        return GSAI_VALUE_MISSING;
    bool is_date = take_triple(text, size, &parts) && (parts.has_year_first || reading->order) &&
                   order_triple(&parts, reading->order, out);
    return is_date ? GSAI_VALUE : GSAI_VALUE_WRONG;
}

/* ---- both ------------------------------------------------------------------------------------------------------- */

gsai_shape gsai_shape_of(const char *text, size_t size)
{
    gsai_shape shape = {0};
    body of;
    triple parts;
    gsai_date date;
    if (take_triple(text, size, &parts)) {
        bool is_first = parts.has_year_first;
        shape.fits_day_first = !is_first && order_triple(&parts, 'd', &date);
        shape.fits_month_first = !is_first && parts.mark != '.' && order_triple(&parts, 'm', &date);
        shape.is_date = is_first ? order_triple(&parts, 'y', &date) : shape.fits_day_first || shape.fits_month_first;
        shape.has_time = parts.seconds > 0;
    }
    if (shape.is_date || !split(text, size, &of))
        return shape;
    shape.group_if_point = find_group(&of, '.');
    shape.group_if_comma = find_group(&of, ',');
    shape.fits_point = shape.group_if_point != '!';
    shape.fits_comma = shape.group_if_comma != '!';
    shape.is_number = shape.fits_point || shape.fits_comma;
    memcpy(shape.unit, of.unit, sizeof shape.unit);
    shape.unit_is_word = of.unit_is_word;
    return shape;
}
