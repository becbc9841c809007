/* Kinds of columns. A kind is a const struct of functions in a file of its own, and GSAI_KINDS lists all of them:
 * another kind is another file and another line of that list. docs/formats/csv.md has the rules. */
#ifndef GSA_DATA_FORMAT_COLUMN_H
#define GSA_DATA_FORMAT_COLUMN_H

#include "data/format/features.h"
#include "data/format/number.h"

/* Enumerators and structs (gsai_kind_number ...), in the order in which kinds are tried on the cells of a new column.
 */
#define GSAI_KINDS(KIND)        \
    KIND(NUMBER, number)        \
    KIND(DATE, date)            \
    KIND(CATEGORICAL, category) \
    KIND(TEXT, text)            \
    KIND(LABEL, label)          \
    KIND(WEIGHT, weight)        \
    KIND(EXPOSURE, exposure)    \
    KIND(OFFSET, offset)        \
    KIND(PER, per)              \
    KIND(GROUP, group)          \
    KIND(IGNORED, ignored)

typedef enum gsai_field_kind {
#define GSAI_ENUMERATOR(NAME, name) GSAI_FIELD_##NAME,
    GSAI_KINDS(GSAI_ENUMERATOR)
#undef GSAI_ENUMERATOR
        GSAI_FIELD_KINDS
} gsai_field_kind;

enum { GSAI_MISSING_WORDS = 8, GSAI_MISSING_NUMBERS = 4, GSAI_MISSING_SIZE = 24, GSAI_UNIT_SIZE = 16 };

/* How cells become numbers where they are not plain ones: decided once, from the first rows, and kept in the schema. A
 * text has at most one value under a reading. */
typedef struct gsai_reading {
    char decimal;              /* '.' or ',' */
    char group[2];             /* between groups of three digits: one of , . ' and blank; empty: none */
    char unit[GSAI_UNIT_SIZE]; /* before or after the number, NUL-terminated; empty: none */
    char order;                /* of dates with slashes or hyphens: 'd' day first, 'm' month first; '\0': year first */
    bool has_time;             /* of dates: the hour is a feature */
    size_t n_missing;          /* texts that stand for a missing number, beside those that always do */
    char missing[GSAI_MISSING_WORDS + GSAI_MISSING_NUMBERS][GSAI_MISSING_SIZE];
    size_t n_sentinels; /* the last of them, which are numbers, such as -999; their values */
    double sentinel[GSAI_MISSING_NUMBERS];
} gsai_reading;

typedef enum gsai_cell_value { GSAI_VALUE, GSAI_VALUE_MISSING, GSAI_VALUE_WRONG } gsai_cell_value;

/* Options about columns that could be read in two ways; zeroed: not given. */
typedef struct gsai_asked {
    char decimal; /* '.' or ',' */
    char order;   /* 'd' or 'm' */
    size_t n_missing;
    double missing[GSAI_MISSING_NUMBERS]; /* numbers that stand for missing ones */
    bool finds_missing;                   /* such numbers are those that often do and are far from the others */
    bool is_label;                        /* of which no number is missing */
} gsai_asked;

/* The kind of a column, and how it is read, by its cells. */
typedef struct gsai_decided {
    gsai_field_kind kind;
    bool is_plain;     /* numbers without a reading, or categories */
    bool is_ambiguous; /* it has two readings: an error for numbers, while a date is categorical */
    bool is_code;      /* categorical, because zeros before its digits mean something */
    bool needs_values; /* its values are added once more, now that their reading is known */
    gsai_reading reading;
} gsai_decided;

enum { GSAI_READING_TEXT = 128 };

struct gsai_text_cell;
struct gsai_column_stats;
struct gsai_tabular;

typedef struct gsai_column_kind {
    const char *word;        /* before the name of the column in the text of a schema */
    bool has_number;         /* one of its features is a number, another marks that it is missing */
    const char *const *part; /* names of features that are categories of the cell's parts, behind that of the column */
    size_t n_parts;
    bool has_many; /* a cell may have several features, at most as many as bytes; it is not crossed */
    /* Counts a trimmed cell of a new column if it is of this kind. NULL: options alone say which columns are. */
    bool (*see)(struct gsai_column_stats *stats, const gsai_number_locale *locale, const char *text, size_t size,
                double weight);
    /* Returns whether a column with such cells is of this kind; then fills in how they are read. NULL: any is. */
    bool (*recognise)(const struct gsai_column_stats *stats, const gsai_asked *asked, gsai_decided *out);
    /* Reads a trimmed cell, which a byte follows that cannot continue a number; out->after is NULL if it has no number.
     * A missing one has one if a number stands for it. */
    gsai_cell_value (*read)(const gsai_number_locale *locale, const gsai_reading *reading, const char *text,
                            size_t size, gsai_number *out);
    /* Adds the features of a cell of column i but for its parts, which follow after all columns. Returns what is wrong
     * with the cell, or NULL. */
    const char *(*add)(struct gsai_tabular *table, size_t i, const struct gsai_text_cell *cell,
                       gsai_features *features);
    void (*add_parts)(struct gsai_tabular *table, size_t i, gsai_features *features);
    /* Writes how the cells are written, for the summary: "a number in $". */
    void (*tell)(const gsai_reading *reading, char out[GSAI_READING_TEXT]);
    /* Writes an offset as people write a value of this kind; returns its length. */
    size_t (*put_offset)(double offset, char out[GSAI_NUMBER_TEXT]);
} gsai_column_kind;

extern const gsai_column_kind gsai_kind_number, gsai_kind_date, gsai_kind_text, gsai_kind_offset, gsai_kind_per;

/* Returns the functions of a kind. */
const gsai_column_kind *gsai_kind_at(gsai_field_kind kind);
/* Returns the kind of a word at the beginning of a line; GSAI_FIELD_KINDS if not found. */
gsai_field_kind gsai_kind_find(const char *word, size_t size);

/* Returns which kind they are of, and how they are read. */
gsai_decided gsai_column_decide(const struct gsai_column_stats *stats, const gsai_asked *asked);

/* ---- texts ------------------------------------------------------------------------------------------------------- */

enum { GSAI_WORD_SIZE = 64 }; /* bytes; what a longer word has behind them is left out */
/* Takes the next word up to `end`, with small letters; returns its size, 0 after the last. */
size_t gsai_text_next_word(const char **text, const char *end, char out[GSAI_WORD_SIZE]);

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Reads a trimmed cell under a reading, NULL for plain numbers. */
gsai_cell_value gsai_read_number(const gsai_number_locale *locale, const gsai_reading *reading, const char *text,
                                 size_t size, gsai_number *out);
/* Returns whether every point in its cells may stand between thousands, as in 1.234: ambiguous where other columns have
 * decimals behind a comma. */
bool gsai_number_may_group_by_points(const struct gsai_column_stats *stats);

/* The objection to a cell that is not a number; messages about rows add what to do about the column. */
extern const char gsai_not_a_number[];

/* The objection to a cell of the offset of rows. */
#define GSAI_NO_OFFSET "the offset of a row must be a finite number"

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

/* ---- dates ------------------------------------------------------------------------------------------------------- */

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
