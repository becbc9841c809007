/* Records of a table in text: RFC 4180 with any separator, delivered where they lie in the buffer.
 *
 *   1 A cell that begins with a quote ends with one; "" in it is a quote, and it may have separators and line ends in
 *     it. A quote elsewhere is a character like any other. Lines end with LF, CRLF or CR. This is what Python's csv
 *     module reads with strict=True.
 *   2 An empty line is not a record.
 *   3 A cell is followed by a byte that cannot continue a number.
 *   4 A cell that is not UTF-8 is read as Windows-1252 and delivered as UTF-8: cell by cell, so that the result depends
 *     on nothing else.
 *   5 A call that is stopped (GSA_STOPPED) loses nothing: calling it again goes on. */
#ifndef GSA_DATA_FORMAT_RECORDS_H
#define GSA_DATA_FORMAT_RECORDS_H

#include "base/words.h"
#include "data/format/text_lines.h"

typedef struct gsai_text_cell {
    const char *text;
    size_t size;
    const char *at;  /* where it begins in the input, its quote included: differs from text where that is a copy */
    bool is_escaped; /* there are doubled quotes in it, before they were made single ones */
    bool is_1252;    /* it was not UTF-8; only set in records with bytes that are not ASCII */
} gsai_text_cell;

typedef struct gsai_record {
    const gsai_text_cell *cell;
    size_t n_cells;
    gsai_line line; /* where it begins; its end is that of the record */
} gsai_record;

typedef struct gsai_records {
    gsai_lines lines; /* the buffer; its own count of lines is not used */
    char separator;
    char declared; /* the separator by the file's first line, "sep=;" as Excel has it; '\0': not declared */
    size_t held;   /* nothing is dropped from the buffer while it is shorter; 0: all that was delivered is */
    bool skipping; /* what comes up to the next newline belongs to a record that was refused */
    size_t at;     /* where the next record begins, from lines.start */
    uint64_t line, byte;
    gsai_text_cell *cell;
    size_t cell_capacity, most_cells;
    char *copy; /* of cells with doubled quotes or escapes, or that are not UTF-8 */
    size_t copy_capacity;
    uint64_t n_recoded; /* cells that were not UTF-8, since the beginning or the last release */
    gsai_words *keys;   /* of JSON lines (json.h), the reader's; NULL: cells are separated */
    bool collects;      /* new keys are added to them, and cells are not filled in */
} gsai_records;

gsa_status gsai_records_init(gsai_records *records, size_t buffer_size, const gsai_env *env, gsa_error *error);
void gsai_records_free(gsai_records *records);
/* Delivers the records of this stream from now on. Skips a byte order mark and a line that declares the separator,
 * which becomes that of the records. */
void gsai_records_begin(gsai_records *records, gsai_decode *stream);
/* Fills in the next record, valid until the next call; GSA_END after the last. GSA_INPUT: text after a closing quote, a
 * quote that is never closed, or too many cells, with line and byte; the call after that continues after that line. */
gsa_status gsai_records_next(gsai_records *records, gsai_record *out, gsa_error *error);
/* The most cells of a row, or what a quarter of the memory limit is enough for (GSAI_FIELD_COST): a table cannot have
 * more columns, so that reading stops there. */
#define GSAI_RECORDS_CELLS ((size_t)1 << 20)
#define GSAI_RECORDS_HELD ((size_t)32 << 20)
/* Goes back to the first of the records that were held or, before the first, begins with it. With `held` above 0 those
 * that are delivered from now on stay in the buffer, and end (GSA_END) with the last record that ends in the first
 * `held` bytes, at most GSAI_RECORDS_HELD. */
void gsai_records_back(gsai_records *records, size_t held);

/* Gives whole records to another thread, as gsai_lines_give does. */
gsa_status gsai_records_give(gsai_records *records, gsai_records *to, gsa_error *error);

#endif
