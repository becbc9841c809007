/* Scans a reader: its rows come in pieces, which threads compute with and the caller takes in their order. */
#ifndef GSA_TRAIN_SCAN_H
#define GSA_TRAIN_SCAN_H

#include "train/block.h"

/* Consecutive rows. The stages may use the arrays: the scan frees them. */
typedef struct gsai_piece {
    gsa_batch rows;
    uint64_t first_row; /* number of rows before it */
    double *number;
    size_t number_capacity;
    char *text;
    size_t text_size, text_capacity;
    gsai_block block;
    gsa_status status; /* of `compute` */
    gsa_error error;
} gsai_piece;

typedef gsa_status (*gsai_scan_stage)(void *ctx, gsai_piece *piece, gsa_error *error);

typedef struct gsai_scan {
    gsa_reader *reader;
    size_t max_rows;         /* of a piece */
    size_t width;            /* numbers of a row, for which each piece has room */
    gsai_scan_stage compute; /* called from any thread, for several pieces at a time */
    gsai_scan_stage take;    /* called from the caller's thread, for one piece after the other */
    void *ctx;
} gsai_scan;

/* Reads all rows. No row waits for later ones, so a stream is answered as it comes. All rows before the first that
 * fails are taken; the error says where it is. */
gsa_status gsai_scan_rows(const gsai_scan *scan, const gsai_env *env, gsa_error *error);

#endif
