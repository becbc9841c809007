/* What the rows from which the schema is made show of a column, and the kind that follows (docs/formats/csv.md has the
 * rules). */
#ifndef GSA_DATA_FORMAT_SEEN_H
#define GSA_DATA_FORMAT_SEEN_H

#include "data/format/table_schema.h"

/* The rows that decide: the first, as many as have 2^22 cells together and 4096 at least, and of text as far as they
 * lie in the first GSAI_RECORDS_HELD bytes. */
#define GSAI_DECIDING_CELLS ((size_t)1 << 22)
#define GSAI_DECIDING_ROWS ((size_t)4096)

/* Numbers that often stand for a missing one: -9, -99 ... -99999 and 99, 999 ... 999999. */
enum { GSAI_SENTINELS = 10, GSAI_FEW_NUMBERS = 10 };

typedef struct gsai_seen {
    size_t n_missing;         /* cells without a value */
    size_t n_words;           /* cells that are neither numbers nor dates */
    bool is_marked;           /* some say in a word that they are missing, "-" for instance */
    double numbers;           /* weights of the rows where it is a plain number */
    double odd, dates, words; /* another number, a date, or neither */
    size_t n_different;       /* words that are kept below, one more if there are others */
    char word[GSAI_MISSING_WORDS][GSAI_MISSING_SIZE];
    double sum, weight;                                      /* of values as floats, once they are known */
    double padded;                                           /* weights of the rows where it is 007 or the like */
    size_t width;                                            /* digits of all plain numbers; SIZE_MAX: it differs */
    double low, high, exact;                                 /* extremes of the values, and their sum as doubles */
    bool has_value;                                          /* low and high are known */
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
} gsai_seen;

/* Adds a trimmed cell, which a byte follows that cannot continue a number; or that of a column of numbers. */
void gsai_seen_add(gsai_seen *seen, const gsai_number_locale *locale, const char *text, size_t size, double weight);
void gsai_seen_add_number(gsai_seen *seen, double value, double weight);
/* Forgets the values; adds a value again, to its last digit. */
void gsai_seen_forget_values(gsai_seen *seen);
void gsai_seen_add_again(gsai_seen *seen, double value, double weight);
/* Adds a cell's value again, once the reading is known, and returns it; NAN if there is none. */
double gsai_seen_add_value(gsai_seen *seen, const gsai_number_locale *locale, const gsai_reading *reading, bool is_date,
                           const char *text, size_t size, double weight);

/* What is asked for where a column has two readings; zeroed: nothing. */
typedef struct gsai_asked {
    char decimal;        /* '.' or ',' */
    char order;          /* 'd' or 'm' */
    const char *missing; /* numbers that stand for missing ones, with commas between them, or "none" */
    const gsai_number_locale *locale;
    bool is_label; /* of which no number is missing */
} gsai_asked;

typedef struct gsai_decided {
    gsai_field_kind kind; /* number, date or categorical */
    bool is_plain;        /* there is no reading */
    bool is_ambiguous;    /* it has two readings: of numbers an error, a date is categorical */
    bool is_code;         /* categorical, because zeros before its digits mean something */
    bool is_far;          /* its values are read again, for the offset that they may need */
    gsai_reading reading;
} gsai_decided;
gsai_decided gsai_seen_decide(const gsai_seen *seen, gsai_asked asked);

/* Returns whether the most extreme number is one of those that often mean a missing one and comes often; the rows that
 * have it. Says so of labels, and where it is too near to the others to be sure. */
size_t gsai_seen_suspect(const gsai_seen *seen, double *value);
/* Takes the next number of a list with commas; GSA_END at its end, GSA_ARGUMENT if it is none. */
gsa_status gsai_next_number(const gsai_number_locale *locale, const char **list, double *out, gsa_error *error);

/* Returns whether every point in it may stand between thousands, as in 1.234: ambiguous where other columns have
 * decimals behind a comma. */
bool gsai_seen_may_group_by_points(const gsai_seen *seen);

/* Returns the offset of values that were read again: a round number among them if they are so far from 0, compared to
 * their range, that a float would not hold their differences; else 0. */
double gsai_seen_offset(const gsai_seen *seen);
/* Returns the mean of its values as a float, after the offset; 0 if there are none. */
float gsai_seen_mean(const gsai_seen *seen, double offset);

#endif
