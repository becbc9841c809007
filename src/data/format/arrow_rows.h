/* The reader of an Arrow stream, and the rows of its batches. */
#ifndef GSA_DATA_FORMAT_ARROW_ROWS_H
#define GSA_DATA_FORMAT_ARROW_ROWS_H

#include "data/format/arrow_column.h"

typedef struct gsai_arrow_reader {
    gsai_tabular table; /* the meaning of the columns; a cell of its plan is the number of a column here */
    struct ArrowArrayStream stream;
    gsa_arrow_again again; /* open is NULL: the stream cannot be reopened */
    bool is_begun;         /* rows were asked for: a rewind needs another stream */
    bool is_over;          /* the stream is to be replaced before more are read */
    struct ArrowSchema schema;
    struct ArrowArray batch; /* without rows before the first */
    struct ArrowArray *held; /* batches that were looked at to decide the schema */
    size_t n_held, at_held, held_capacity;
    gsai_arrow_column *column;
    size_t n_columns;
    size_t ids, values; /* the lists that have the features in them; SIZE_MAX: none */
    size_t width;       /* of values without ids, which are dense rows; 0: not known yet */
    int64_t at;         /* the row of the batch that is next */
    uint64_t n_rows;    /* taken from the stream, good or bad */
} gsai_arrow_reader;

/* Fails with a message about a column. */
gsa_status gsai_arrow_fail_column(const gsai_arrow_reader *arrow, size_t column, gsa_status status, const char *what,
                                  gsa_error *error);
/* Takes the next row of the batch. */
gsa_status gsai_arrow_row(gsai_arrow_reader *arrow, gsai_rows *rows, gsa_error *error);

#endif
