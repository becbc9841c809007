/* Arrays of NumPy (.npy): rows of numbers, and their labels from other files. docs/formats/arrow.md has the rules. */
#ifndef GSA_DATA_FORMAT_NPY_H
#define GSA_DATA_FORMAT_NPY_H

#include "data/format/format.h"

/* The header of a file: the type and shape of the array behind it. */
typedef struct gsai_npy_header {
    char kind;   /* f float, h bf16, i and u integers, b truth, U and S text */
    bool is_big; /* items begin with their highest byte */
    size_t item; /* bytes per item */
    uint64_t n_rows, width;
    size_t size; /* of the head, in bytes */
} gsai_npy_header;

/* Returns whether content begins like an array. */
bool gsai_npy_matches(const unsigned char *start, size_t size);
/* Parses the head of a stream that was peeked at; nothing is read. GSA_FORMAT or GSA_UNSUPPORTED, with the name. */
gsa_status gsai_npy_header_parse(const gsai_decode *stream, const char *name, gsai_npy_header *out, gsa_error *error);
/* Returns number i of items that are numbers. */
double gsai_npy_number(const gsai_npy_header *header, const unsigned char *items, size_t i);

/* Labels of the rows of one file. */
typedef struct gsai_npy_labels {
    const gsai_env *env;
    gsai_decode stream;
    bool is_open;
    char *name;
    gsai_npy_header header;
    unsigned char *item; /* those of the rows at hand */
    size_t capacity, filled;
} gsai_npy_labels;

/* Opens the labels of file number `file` and checks that there are as many as the file has rows. */
gsa_status gsai_npy_labels_open(gsai_npy_labels *labels, const gsai_format_input *input, uint64_t n_rows,
                                gsa_error *error);
/* Checks, of an input that was peeked at, what opening its labels would: one file of labels for each of n_files, and as
 * many labels as rows. */
gsa_status gsai_npy_labels_check(const gsai_format_input *input, size_t n_files, const gsai_env *env, gsa_error *error);
/* Reads those of the next n rows. */
gsa_status gsai_npy_labels_read(gsai_npy_labels *labels, size_t n, gsa_error *error);
/* Fills in label i: a number or, if *word is not negative, a word of rows. GSA_INPUT if it is neither. */
gsa_status gsai_npy_label(const gsai_npy_labels *labels, size_t i, gsai_rows *rows, double *label, int32_t *word,
                          gsa_error *error);
/* Fails unless nothing follows the last label. */
gsa_status gsai_npy_labels_end(gsai_npy_labels *labels, gsa_error *error);
void gsai_npy_labels_close(gsai_npy_labels *labels);

/* Fills `to` up to `size` bytes from a stream; *filled says how many are there, also after GSA_STOPPED. */
gsa_status gsai_npy_fill(gsai_decode *stream, const char *name, unsigned char *to, size_t size, size_t *filled,
                         gsa_error *error);
/* Fails if a stream goes on. */
gsa_status gsai_npy_end(gsai_decode *stream, const char *name, gsa_error *error);

const gsai_format *gsai_format_npy(void);

#endif
