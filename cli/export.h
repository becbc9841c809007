/* A model as source code. */
#ifndef GREEDYSTEP_CLI_EXPORT_H
#define GREEDYSTEP_CLI_EXPORT_H

#include <greedystep/data.h>
#include <greedystep/greedystep.h>

#include <stdbool.h>
#include <stdio.h>

typedef struct exported {
    const gsa_model *model;
    const char *name; /* an identifier of C, with which every name in the file begins */
    gsa_model_info info;
    gsa_schema_info schema; /* zeros if the model has none */
    uint64_t n_features;    /* at least 1: an array of C is not empty */
    uint32_t n_curves, n_pairs;
    uint64_t n_kept;  /* features whose weights are written, at least 1 */
    bool is_dense;    /* these are all; else those that have a weight, beside their numbers */
    bool has_offsets; /* some columns are measured from another number than 0 */
    bool is_constant; /* one label is all that was learned: weights do not matter */
} exported;

/* Write a text in which @ stands for the name, and the functions of the file (export_code.c). */
void export_put(const exported *what, const char *text, FILE *stream);
void export_put_functions(const exported *what, FILE *stream);
/* Writes the functions for cells of tables (export_words.c). */
void export_put_cells(const exported *what, FILE *stream);

#endif
