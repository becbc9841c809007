/* The labels of a run, numbered as they came.
 *
 * A label is its text: numbers are written as briefly as reads back equal, so that "+1", "1" and "1.0" are one label.
 * Numbers have a table of their own, so that a row of a known class costs no formatting. */
#ifndef GSA_LEARN_LABELS_H
#define GSA_LEARN_LABELS_H

#include "base/bundle.h"
#include "learn/row.h"

#define GSAI_MAX_LABELS ((size_t)1 << 20)
#define GSAI_NO_LABEL SIZE_MAX

typedef struct gsai_label {
    char *text;
    double number; /* meaningful if is_number */
    bool is_number;
} gsai_label;

typedef struct gsai_labels {
    gsai_env env;
    gsai_label *at;
    size_t n, capacity;
    uint32_t *slot; /* open addressing: class + 1, by the text and by the number; 0 is free */
    size_t n_slots; /* a power of two, or 0 */
} gsai_labels;

void gsai_labels_init(gsai_labels *labels, const gsai_env *env);
void gsai_labels_release(gsai_labels *labels);

/* Return the class of a label, GSAI_NO_LABEL if it is unknown. */
size_t gsai_labels_find_number(const gsai_labels *labels, double number);
size_t gsai_labels_find_text(const gsai_labels *labels, const char *text);
/* Fills in the class of a label, a word or (NULL) a number, which is added if it is new. */
gsa_status gsai_labels_add(gsai_labels *labels, const char *word, double number, size_t *out, gsa_error *error);
/* Forgets the label that was entered last. */
void gsai_labels_drop_last(gsai_labels *labels);
/* Add a label of another table, and all of them. */
gsa_status gsai_labels_add_label(gsai_labels *labels, const gsai_label *label, size_t *out, gsa_error *error);
gsa_status gsai_labels_add_all(gsai_labels *labels, const gsai_labels *from, gsa_error *error);
/* Adds all labels of another table in canonical order, numbers by value, then words by their bytes, after those that
 * are there. */
gsa_status gsai_labels_add_sorted(gsai_labels *labels, const gsai_labels *from, gsa_error *error);
/* Returns whether they are two that change places where labels are sorted. */
bool gsai_labels_are_swapped(const gsai_labels *labels);
/* Returns whether both have the same labels in the same order. */
bool gsai_labels_equal(const gsai_labels *a, const gsai_labels *b);

/* Find the class of a row's label in the table, and add it if it is new. */
size_t gsai_labels_find_row(const gsai_labels *labels, const gsa_batch *batch, size_t row);
gsa_status gsai_labels_add_row(gsai_labels *labels, const gsa_batch *batch, size_t row, size_t *out, gsa_error *error);

/* Add the labels to a file, and read them from one. */
void gsai_labels_save(gsai_snapshot *snapshot, const gsai_labels *labels);
gsa_status gsai_labels_load(gsai_labels *labels, const gsai_bundle *bundle, gsa_error *error);

#endif
