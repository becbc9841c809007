/* How the cells of a column become numbers where they are not plain ones: decimal commas, separators of thousands, a
 * unit, dates, and words that stand for a missing number.
 *
 *   1 A reading is decided once, from the rows that decide the schema (seen.h), and kept in the schema.
 *   2 A text has at most one value under a reading. */
#ifndef GSA_DATA_FORMAT_READING_H
#define GSA_DATA_FORMAT_READING_H

#include "data/format/number.h"

enum { GSAI_MISSING_WORDS = 8, GSAI_MISSING_NUMBERS = 4, GSAI_MISSING_SIZE = 24, GSAI_UNIT_SIZE = 16 };

typedef struct gsai_reading {
    char decimal;              /* '.' or ',' */
    char group;                /* between groups of three digits: one of , . ' and blank; '\0': none */
    char unit[GSAI_UNIT_SIZE]; /* before or after the number, NUL-terminated; empty: none */
    char order;                /* of dates with slashes or hyphens: 'd' day first, 'm' month first; '\0': year first */
    bool has_time;             /* of dates: the hour is a feature */
    size_t n_missing;          /* texts that stand for a missing number, beside those that always do */
    char missing[GSAI_MISSING_WORDS + GSAI_MISSING_NUMBERS][GSAI_MISSING_SIZE];
    size_t n_sentinels; /* how many of them, the last, are numbers, such as -999; their values */
    double sentinel[GSAI_MISSING_NUMBERS];
} gsai_reading;

/* A moment of the calendar, as it is written: time zones do not count. */
typedef struct gsai_date {
    int64_t days;     /* since 1970-01-01 */
    uint32_t seconds; /* of the day */
} gsai_date;

static inline double gsai_date_value(gsai_date date)
{
    return (double)date.days + date.seconds / 86400.0;
}

/* A day of the Gregorian calendar. */
typedef struct gsai_calendar {
    int64_t year;
    int month, day; /* from 1 */
} gsai_calendar;
/* Finds the day so many days after 1970-01-01. Years are counted from March, so that a leap day is the last; 400 years
 * have 146097 days. */
gsai_calendar gsai_calendar_of(int64_t days);

/* Parts of a date, which are categories. */
enum { GSAI_DATE_PARTS = 3 };
extern const char *const gsai_date_part_names[GSAI_DATE_PARTS];
/* Returns the text of a part: "Mon", "Jan" or the hour. */
const char *gsai_date_part(gsai_date date, int part);

/* Adds a number that stands for a missing one; returns false if there are too many. */
bool gsai_reading_add_sentinel(gsai_reading *reading, double value);
/* Returns whether a number stands for a missing one; floats are compared as floats. */
static inline bool gsai_is_sentinel(const gsai_reading *reading, double value)
{
    for (size_t i = 0; i < reading->n_sentinels; i++)
        if (value == reading->sentinel[i] || value == (double)(float)reading->sentinel[i])
            return true;
    return false;
}

typedef enum gsai_cell_value { GSAI_VALUE, GSAI_VALUE_MISSING, GSAI_VALUE_WRONG } gsai_cell_value;
/* Reads a trimmed cell under a reading, NULL for plain numbers. */
gsai_cell_value gsai_read_number(const gsai_number_locale *locale, const gsai_reading *reading, const char *text,
                                 size_t size, gsai_number *out);
gsai_cell_value gsai_read_date(const gsai_reading *reading, const char *text, size_t size, gsai_date *out);

/* What a text could be, whatever the reading. */
typedef struct gsai_shape {
    bool is_number, is_date;
    bool fits_point, fits_comma;         /* of a number: as the mark of decimals */
    char group_if_point, group_if_comma; /* what stands between its thousands then */
    char unit[GSAI_UNIT_SIZE];
    bool unit_is_word;                     /* as in "3.2 kg": a unit only if all cells have it */
    bool fits_day_first, fits_month_first; /* of a date; both false: the year is first */
    bool has_time;
} gsai_shape;
gsai_shape gsai_shape_of(const char *text, size_t size);

#endif
