/* Statistics of a column in the first rows: counts of its cells by their looks, and sums of its values. */
#ifndef GSA_DATA_FORMAT_COLUMN_STATS_H
#define GSA_DATA_FORMAT_COLUMN_STATS_H

#include "data/format/column.h"

/* The rows that decide: the first, as many as have 2^22 cells together and 4096 at least, and of text as far as they
 * lie in the first GSAI_RECORDS_HELD bytes. */
#define GSAI_DECIDING_CELLS ((size_t)1 << 22)
#define GSAI_DECIDING_ROWS ((size_t)4096)

/* Numbers that often stand for a missing one: -9, -99 ... -99999 and 99, 999 ... 999999. */
enum { GSAI_SENTINELS = 10, GSAI_FEW_NUMBERS = 10 };

/* Cells that are counted as texts, and words of 64 bits for them. */
enum { GSAI_TEXTS_COUNTED = 1024, GSAI_TEXT_BITS = 16 };

typedef struct gsai_column_stats {
    size_t n_missing;         /* cells without a value */
    size_t n_words;           /* cells that are neither numbers nor dates */
    bool is_marked;           /* some say in a word that they are missing, "-" for instance */
    double numbers;           /* weights of the rows where it is a plain number */
    double odd, dates, words; /* another number, a date, or neither */
    size_t n_different;       /* words that are kept below, one more if there are others */
    char word[GSAI_MISSING_WORDS][GSAI_MISSING_SIZE];
    double sum, weight;                                      /* of values as floats, as far as they are known */
    double mean, squares;                                    /* of values, and the sum of squares around it */
    double low, high, exact;                                 /* extremes of the values, and their sum as doubles */
    bool has_value;                                          /* low and high are known */
    double padded;                                           /* weights of the rows where it is 007 or the like */
    size_t width;                                            /* digits of all plain numbers; SIZE_MAX: it differs */
    size_t n_sentinels;                                      /* cells that are numbers which mean a missing one */
    size_t n_sentinel[GSAI_SENTINELS];                       /* cells that are each of those that often do */
    size_t n_others, n_few;                                  /* cells that are other plain numbers, and their values */
    double few[GSAI_FEW_NUMBERS], least, most;               /* as far as they are few; their range */
    bool only_point, only_comma, both_marks;                 /* what stands before the decimals */
    unsigned groups[2];                                      /* sets of separators, if it is a point or a comma */
    char unit[GSAI_UNIT_SIZE], ambiguous[GSAI_MISSING_SIZE]; /* ambiguous: a number or date with two readings */
    char other_unit[GSAI_UNIT_SIZE];                         /* another than that, if units differ */
    bool has_word_unit, lacks_unit;                          /* one is a word; an odd number has none */
    bool units_differ, only_day_first, only_month_first, both_orders, has_time;
    bool lacks_dates;                   /* the values of some dates are not known yet */
    size_t n_texts, text_thirds;        /* cells that may be texts, as far as they are counted; their words, times 3 */
    uint64_t text_bits[GSAI_TEXT_BITS]; /* a bit for each different one, by its hash */
} gsai_column_stats;

/* Returns whether units differ so often that the column is of words. */
static inline bool gsai_stats_have_units(const gsai_column_stats *stats)
{
    return stats->units_differ && stats->odd > 1000;
}

/* Counts a trimmed cell of a new column, which a byte follows that cannot continue a number; GSAI_CELL_PADDING bytes of
 * it may be read. */
void gsai_column_see_any(gsai_column_stats *stats, const gsai_number_locale *locale, const char *text, size_t size,
                         double weight);
static inline void gsai_column_see(gsai_column_stats *stats, const gsai_number_locale *locale, const char *text,
                                   size_t size, double weight)
{
    if (size > 4 && stats->n_different > GSAI_MISSING_WORDS && !gsai_stats_have_units(stats)) { /* a word, as most */
        stats->n_words++;
        stats->words += weight;
    } else {
        gsai_column_see_any(stats, locale, text, size, weight);
    }
}

/* Counts the whole cell as a text, after it was counted as above, if the column has words. */
void gsai_stats_add_text(gsai_column_stats *stats, const char *text, size_t size);
static inline void gsai_stats_see_text(gsai_column_stats *stats, const char *text, size_t size)
{
    if (stats->n_words > 0 && stats->n_texts < GSAI_TEXTS_COUNTED && size > 0)
        gsai_stats_add_text(stats, text, size);
}
/* Returns whether they are texts: of several words, and mostly different. */
bool gsai_stats_are_texts(const gsai_column_stats *stats);

/* Adds a value, and one of a column of numbers. */
void gsai_stats_add_value(gsai_column_stats *stats, double value, double weight);
void gsai_stats_add_number(gsai_column_stats *stats, double value, double weight);
/* Returns the deviation of the values from their mean. */
float gsai_stats_deviation(const gsai_column_stats *stats);
/* Forgets the values, which are then added again. */
void gsai_stats_forget_values(gsai_column_stats *stats);
/* Keeps the first text that has two readings. */
void gsai_stats_keep_ambiguous(gsai_column_stats *stats, const char *text, size_t size);

/* Returns whether these make up nine tenths of the rows, and the others are few words, which then stand for missing
 * values. */
bool gsai_stats_are_nearly_all(const gsai_column_stats *stats, double these, double others);
/* Copies those words. */
void gsai_stats_take_missing(const gsai_column_stats *stats, gsai_reading *out);

/* Finds the numbers that often mean a missing one, come often here, and are further from all others than
 * `share_of_range` of what these are apart: what is nearer is one of them. */
void gsai_stats_find_sentinels(const gsai_column_stats *stats, double share_of_range, bool is_out[GSAI_SENTINELS]);
extern const double gsai_sentinels[GSAI_SENTINELS];
/* Returns the number of rows that have such a number, even one too near to the others to be sure; 0 if not found. */
size_t gsai_stats_suspect(const gsai_column_stats *stats, double *value);

/* Returns whether floats do not hold the differences of the values. Below `finest` times the magnitude a range is that
 * of rounding errors; values are read again from a finer one on than an offset is given for. */
#define GSAI_FINEST_READ 0x1p-45
bool gsai_stats_are_far(const gsai_column_stats *stats, double finest);
/* Returns the offset of values that are known to the last digit: a round number among them if they are so far from 0,
 * compared to their range, that a float would not hold their differences; else 0. */
double gsai_stats_offset(const gsai_column_stats *stats);
/* Returns the mean of its values as a float, after the offset; 0 without values. */
float gsai_stats_mean(const gsai_column_stats *stats, double offset);

#endif
