/* Numeric columns: plain numbers, and numbers with decimal commas, separators of thousands, units or magnitudes; which
 * numbers and words stand for a missing one. */
#ifndef GSA_DATA_FORMAT_COLUMN_NUMBER_H
#define GSA_DATA_FORMAT_COLUMN_NUMBER_H

#include "data/format/column.h"
#include "data/format/column_stats.h"

extern const gsai_column_kind gsai_kind_number;

/* Reads a trimmed cell under a reading, NULL for plain numbers. */
gsai_cell_value gsai_read_number(const gsai_number_locale *locale, const gsai_reading *reading, const char *text,
                                 size_t size, gsai_number *out);
/* Returns whether every point in its cells may stand between thousands, as in 1.234: ambiguous where other columns have
 * decimals behind a comma. */
bool gsai_number_may_group_by_points(const gsai_column_stats *stats);

/* The objection to a cell that is not a number; messages about rows add what to do about the column. */
extern const char gsai_not_a_number[];

/* Returns whether a cell says that its number or date is missing, by one of the usual words or one of the reading. */
bool gsai_reading_lists(const gsai_reading *reading, const char *text, size_t size);
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
enum { GSAI_LONGEST_READ = 48 }; /* bytes of a number or a date that is not plain */
/* Copies a text, with no-break spaces as blanks; returns false if it is too long or has a NUL. */
bool gsai_copy_blanks(const char *text, size_t size, char out[GSAI_LONGEST_READ + 1]);
static inline bool gsai_is_letter(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

#endif
