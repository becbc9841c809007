/* Columns of dates. */
#include "data/format/column_stats.h"

#include "data/format/table_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the calendar ----------------------------------------------------------------------------------------------- */

/* Days are counted from 1970-01-01, years from March, so that the day that comes every four years is the last; 400
 * years have 146097 days. */
gsai_calendar gsai_calendar_of(int64_t days)
{
    int64_t since = days + 719468, era = since / 146097 - (since % 146097 < 0), day = since - era * 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    int64_t from_march = (5 * day + 2) / 153, month = from_march < 10 ? from_march + 3 : from_march - 9;
    return (gsai_calendar){year + era * 400 + (month <= 2), (int)month, (int)(day - (153 * from_march + 2) / 5 + 1)};
}

static const char *const parts[] = {"weekday", "month", "hour"};
enum { N_PARTS = sizeof parts / sizeof *parts };

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

/* ---- dates as text ---------------------------------------------------------------------------------------------- */

/* Takes the digits at *p; returns -1 unless there are 1 to `max`. */
static int64_t take_digits(const char **p, int max)
{
    int64_t value = 0;
    int n = 0;
    for (; gsai_is_digit(**p); ++*p, n++)
        value = n < max ? value * 10 + (**p - '0') : value;
    return n >= 1 && n <= max ? value : -1;
}

/* Takes "[T ]H:MM[:SS[.F]][ AM]" and a zone, or nothing. */
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
    if (*p == '+' || *p == '-') {
        size_t n = strspn(p + 1, "0123456789:");
        return (n == 2 || n == 4 || n == 5) && p[1 + n] == '\0';
    }
    return *p == 'Z' ? p[1] == '\0' : *p == '\0';
}

/* Takes the number of the month whose English name, or three letters of it at least, stand at *p; -1 if not found. */
static int64_t take_month(const char **p)
{
    static const char *const names[] = {"january", "february", "march",     "april",   "may",      "june",
                                        "july",    "august",   "september", "october", "november", "december"};
    size_t size = 0;
    while (gsai_is_letter((*p)[size]))
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

/* A date of three numbers with equal marks between them. */
typedef struct triple {
    int64_t n[3];
    char mark;
    bool has_year_first;
    uint32_t seconds;
} triple;

/* Takes 2026-11-17, as most dates begin; false for any other text. */
static bool take_plain(const char *text, size_t size, triple *out)
{
    static const unsigned char digit[] = {0, 1, 2, 3, 5, 6, 8, 9};
    unsigned n[8];
    if (size < 10 || text[4] != '-' || text[7] != '-')
        return false;
    for (size_t i = 0; i < 8; i++) {
        n[i] = (unsigned char)text[digit[i]] - (unsigned)'0';
        if (n[i] > 9)
            return false;
    }
    *out = (triple){{n[0] * 1000 + n[1] * 100 + n[2] * 10 + n[3], n[4] * 10 + n[5], n[6] * 10 + n[7]}, '-', true, 0};
    return true;
}

static bool is_mark(char c)
{
    return c == ' ' || c == '-' || c == '/';
}

/* Takes a date with the name of its month: "Nov 17, 2026 08:05". Returns what follows the day, or NULL. */
static const char *take_named(const char *p, triple *out)
{
    const char *start = p;
    int64_t day = gsai_is_digit(*p) ? take_digits(&p, 2) : 0;
    bool is_day_first = p > start;
    if (is_day_first && (day < 0 || !is_mark(*p++)))
        return NULL;
    int64_t month = take_month(&p);
    p += *p == '.' || *p == ',';
    if (month < 0 || !is_mark(*p++))
        return NULL;
    if (!is_day_first) {
        day = take_digits(&p, 2);
        p += *p == ',';
        if (day < 0 || !is_mark(*p++))
            return NULL;
    }
    const char *year = p;
    *out = (triple){{take_digits(&p, 4), month, day}, '-', true, 0};
    return p - year == 4 ? p : NULL;
}

static bool take_triple(const char *text, size_t size, triple *out)
{
    char copy[GSAI_LONGEST_READ + 1];
    bool is_plain = take_plain(text, size, out);
    if (is_plain && size == 10)
        return true;
    if (size < 8 || !(gsai_is_digit(*text) || gsai_is_letter(*text)) || !gsai_copy_blanks(text, size, copy))
        return false;
    const char *p = is_plain ? copy + 10 : take_named(copy, out);
    if (p)
        return take_time(p, &out->seconds);
    p = copy;
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

/* Finds the day under an order of its parts; returns false if it does not exist. */
static bool order_triple(const triple *from, char order, gsai_date *out)
{
    static const unsigned char lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t year = from->has_year_first ? from->n[0] : from->n[2];
    int64_t month = from->has_year_first || order == 'd' ? from->n[1] : from->n[0];
    int64_t day = from->has_year_first ? from->n[2] : order == 'd' ? from->n[0] : from->n[1];
    if (year < 1 || month < 1 || month > 12 || day < 1)
        return false;
    bool is_leap_month = month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (day > lengths[month - 1] + is_leap_month)
        return false;
    int64_t y = year - (month <= 2), from_march = (month + 9) % 12;
    out->days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * from_march + 2) / 5 + day - 1 - 719468;
    out->seconds = from->seconds;
    return true;
}

gsai_cell_value gsai_read_date(const gsai_reading *reading, const char *text, size_t size, gsai_date *out)
{
    triple found;
    if (gsai_reading_lists(reading, text, size))
        return GSAI_VALUE_MISSING;
    bool is_date = take_triple(text, size, &found) && (found.has_year_first || reading->order) &&
                   order_triple(&found, reading->order, out);
    return is_date ? GSAI_VALUE : GSAI_VALUE_WRONG;
}

static gsai_cell_value read_value(const gsai_number_locale *locale, const gsai_reading *reading, const char *text,
                                  size_t size, gsai_number *out)
{
    gsai_date date;
    (void)locale;
    gsai_cell_value is = gsai_read_date(reading, text, size, &date);
    out->after = is == GSAI_VALUE ? text + size : NULL;
    out->value = is == GSAI_VALUE ? gsai_date_value(date) : 0;
    return is;
}

/* ---- the first rows --------------------------------------------------------------------------------------------- */

static bool see_date(gsai_column_stats *stats, const gsai_number_locale *locale, const char *text, size_t size,
                     double weight)
{
    triple found;
    gsai_date date;
    (void)locale;
    if (!take_triple(text, size, &found))
        return false;
    bool fits_day_first = order_triple(&found, 'd', &date);
    bool fits_month_first = found.mark != '.' && order_triple(&found, 'm', &date);
    if (!fits_day_first && !fits_month_first)
        return false;
    if (!found.has_year_first) {
        stats->only_day_first = stats->only_day_first || !fits_month_first;
        stats->only_month_first = stats->only_month_first || !fits_day_first;
        if (fits_day_first && fits_month_first) {
            gsai_stats_keep_ambiguous(stats, text, size);
            stats->both_orders = true;
        }
    } else if (weight > 0) {
        gsai_stats_add_value(stats, gsai_date_value(date), weight);
    }
    stats->lacks_dates = stats->lacks_dates || !found.has_year_first || weight == 0;
    stats->has_time = stats->has_time || found.seconds > 0;
    stats->dates += weight;
    return true;
}

static bool recognise_dates(const gsai_column_stats *stats, const gsai_asked *asked, gsai_decided *out)
{
    if (!gsai_stats_are_nearly_all(stats, stats->dates, stats->numbers + stats->odd))
        return false;
    out->reading.order = (char)(stats->only_day_first ? 'd' : stats->only_month_first ? 'm' : '\0');
    if (!out->reading.order && stats->both_orders)
        out->reading.order = asked->order;
    out->is_ambiguous = stats->both_orders && !out->reading.order;
    if ((stats->only_day_first && stats->only_month_first) || out->is_ambiguous)
        return false;
    out->reading.has_time = stats->has_time;
    gsai_stats_take_missing(stats, &out->reading);
    out->is_plain = false;
    out->needs_values = stats->lacks_dates;
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

void gsai_tabular_add_date(gsai_tabular *table, size_t i, gsai_date date, gsai_features *features)
{
    gsai_tabular_column *column = &table->column[i];
    column->date = date;
    column->has_date = true;
    gsai_tabular_add_number(table, i, (float)(gsai_date_value(date) - column->field->offset), features);
}

static const char *add_date(gsai_tabular *table, size_t i, const gsai_text_cell *cell, gsai_features *features)
{
    gsai_text_cell inner = gsai_cell_trim(*cell);
    gsai_date date;
    gsai_cell_value is = gsai_read_date(table->column[i].field->reading, inner.text, inner.size, &date);
    if (is == GSAI_VALUE_WRONG)
        return GSAI_NO_DATE;
    if (is == GSAI_VALUE_MISSING)
        gsai_tabular_add_missing(table, i, features);
    else
        gsai_tabular_add_date(table, i, date, features);
    return NULL;
}

/* The parts of a date are categories of columns of their own: "when weekday". */
static void add_parts(gsai_tabular *table, size_t i, gsai_features *features)
{
    const gsai_tabular_column *column = &table->column[i];
    for (int part = 0; part < N_PARTS - !column->field->reading->has_time && column->has_date; part++) {
        const gsai_key *key = &column->part[part];
        const char *word = gsai_date_part(column->date, part);
        uint32_t id = (uint32_t)(gsai_key_hash(key, word, strlen(word)) & table->id_mask);
        gsai_features_add(features, table->first_hashed + id, 1);
        if (table->cells)
            table->cells[table->n_columns + column->first_part + (size_t)part] =
                (uint64_t)i << 32 | (table->first_hashed + id);
        if (gsai_feature_names_is_new(table->input->names, id))
            gsai_feature_names_enter(table->input->names, id, key->bytes, key->size - 1, word, strlen(word));
    }
}

static void tell_date(const gsai_reading *reading, char out[GSAI_READING_TEXT])
{
    snprintf(out, GSAI_READING_TEXT, "a date%s",
             reading->order == 'd'   ? ", day first"
             : reading->order == 'm' ? ", month first"
                                     : "");
}

/* Writes a date, with its time unless it is midnight. */
static size_t put_offset(double offset, char out[GSAI_NUMBER_TEXT])
{
    if (!(fabs(offset) < 1e6))
        return gsai_number_text(offset, out);
    int64_t seconds = (int64_t)floor(offset * 86400 + 0.5), time = (seconds % 86400 + 86400) % 86400;
    gsai_calendar day = gsai_calendar_of((seconds - time) / 86400);
    int size = snprintf(out, GSAI_NUMBER_TEXT, "%04d-%02d-%02d", (int)day.year, day.month, day.day);
    if (time > 0)
        size += snprintf(out + size, GSAI_NUMBER_TEXT - (size_t)size, " %02d:%02d:%02d", (int)(time / 3600),
                         (int)(time / 60 % 60), (int)(time % 60));
    return (size_t)size;
}

const gsai_column_kind gsai_kind_date = {.word = "date",
                                         .has_number = true,
                                         .part = parts,
                                         .n_parts = N_PARTS,
                                         .see = see_date,
                                         .recognise = recognise_dates,
                                         .read = read_value,
                                         .add = add_date,
                                         .add_parts = add_parts,
                                         .tell = tell_date,
                                         .put_offset = put_offset};
