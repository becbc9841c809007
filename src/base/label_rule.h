/* Decides whether labels that are whole numbers are classes or a number to predict: docs/decisions/0032. */
#ifndef GSA_BASE_LABEL_RULE_H
#define GSA_BASE_LABEL_RULE_H

#include <stdbool.h>
#include <stdint.h>

/* Whole numbers that are classes where a format has no other way to write classes, if no loss is asked for. */
#define GSAI_MAX_CLASSES 10000u
/* Different whole numbers that are classes wherever they lie, if they come again: grades, stars, months. */
enum { GSAI_CLASSES_ANYWHERE = 12 };
/* Different values of a table's label that rows from later on may make classes. */
#define GSAI_FEW_VALUES 30u

/* The whole numbers that the first rows have as labels. */
typedef struct gsai_label_values {
    uint64_t n_rows, n_values;
    double min, max;
    uint64_t n_low, n_high; /* rows in the lowest and in the highest twentieth of the range */
} gsai_label_values;

/* Counts rows with a label in n_low and n_high; min and max are known. */
void gsai_label_values_add(gsai_label_values *values, double label, uint64_t n_rows);
/* Returns whether the values are classes; has_ids: their rows come with feature ids, as libsvm text has them. */
bool gsai_label_values_are_classes(const gsai_label_values *values, bool has_ids);

#endif
