/* The labels that a run has met, numbered as they came.
 *
 * A label is its text: numbers are written as briefly as reads back equal, so that "+1", "1" and "1.0" are one label.
 * Numbers have a table of their own, so that a row of a known class costs no formatting. */
#ifndef GSA_CORE_LABELS_H
#define GSA_CORE_LABELS_H

#include "core/row.h"

#define GSA__LABELS_MOST ((size_t)1 << 20)
#define GSA__NO_LABEL SIZE_MAX

typedef struct gsa__label {
    char *text;
    double number; /* meaningful if is_number */
    bool is_number;
} gsa__label;

/* Open addressing: slot holds class + 1, 0 is free. */
typedef struct gsa__label_slots {
    uint32_t *slot;
    size_t n_slots; /* a power of two, or 0 */
} gsa__label_slots;

typedef struct gsa__labels {
    gsa_env env;
    gsa__label *at;
    size_t n, capacity;
    gsa__label_slots by_text, by_number;
} gsa__labels;

/* What can be the text of a label, since files have no others: UTF-8 without control characters. */
bool gsa__is_label(const char *text, size_t size);

void gsa__labels_init(gsa__labels *labels, const gsa_env *env);
void gsa__labels_release(gsa__labels *labels);

/* The class of a label, GSA__NO_LABEL if it is unknown. */
size_t gsa__labels_find_number(const gsa__labels *labels, double number);
size_t gsa__labels_find_text(const gsa__labels *labels, const char *text);
/* The class of a label, entered if it is new. */
gsa_status gsa__labels_add_number(gsa__labels *labels, double number, size_t *out, gsa_error *error);
gsa_status gsa__labels_add_word(gsa__labels *labels, const char *text, size_t *out, gsa_error *error);
/* Forgets the label that was entered last. */
void gsa__labels_drop_last(gsa__labels *labels);
/* A label as another table has it, and all of them. */
gsa_status gsa__labels_add_label(gsa__labels *labels, const gsa__label *label, size_t *out, gsa_error *error);
gsa_status gsa__labels_add_all(gsa__labels *labels, const gsa__labels *from, gsa_error *error);
/* The same in canonical order, numbers by value, then words by their bytes, after those that are there. */
gsa_status gsa__labels_add_sorted(gsa__labels *labels, const gsa__labels *from, gsa_error *error);
/* The same labels in the same order? */
bool gsa__labels_equal(const gsa__labels *a, const gsa__labels *b);

/* The label of a row of a batch: found in or added to the table. */
size_t gsa__labels_find_row(const gsa__labels *labels, const gsa_batch *batch, size_t row);
gsa_status gsa__labels_add_row(gsa__labels *labels, const gsa_batch *batch, size_t row, size_t *out, gsa_error *error);

#endif
