/* Columns of dates: the days since an offset, and weekday, month and hour as categories. */
#ifndef GSA_DATA_FORMAT_COLUMN_DATE_H
#define GSA_DATA_FORMAT_COLUMN_DATE_H

#include "data/format/column.h"

extern const gsai_column_kind gsai_kind_date;

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
/* Returns the day that many days after 1970-01-01. */
gsai_calendar gsai_calendar_of(int64_t days);

/* Returns the text of part 0, 1 or 2 of a date: "Mon", "Jan" or the hour. */
const char *gsai_date_part(gsai_date date, int part);

gsai_cell_value gsai_read_date(const gsai_reading *reading, const char *text, size_t size, gsai_date *out);
/* Adds the days of a date from the offset of column i. */
void gsai_tabular_add_date(struct gsai_tabular *table, size_t i, gsai_date date, gsai_features *features);
#define GSAI_NO_DATE "it holds dates, and this is none that is written like them"

#endif
