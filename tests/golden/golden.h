/* Reading steps.csv, and the rule that makes the margins of its softmax lines. For tests only. */
#ifndef GSA_TESTS_GOLDEN_H
#define GSA_TESTS_GOLDEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN_FIELDS 12

typedef struct golden_line {
    char text[512];
    const char *field[GOLDEN_FIELDS];
    size_t n_fields;
} golden_line;

static inline void golden_split(golden_line *line)
{
    line->text[strcspn(line->text, "\r\n")] = '\0';
    line->n_fields = 0;
    for (char *at = line->text; at && line->n_fields < GOLDEN_FIELDS;) {
        line->field[line->n_fields++] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = '\0';
    }
}

/* The next line of that kind (its first field); false at the end. */
static inline bool golden_next(FILE *file, const char *kind, size_t n_fields, golden_line *line)
{
    while (fgets(line->text, sizeof line->text, file)) {
        golden_split(line);
        if (line->n_fields == n_fields && strcmp(line->field[0], kind) == 0)
            return true;
    }
    return false;
}

static inline double golden_number(const golden_line *line, size_t field)
{
    return strtod(line->field[field], NULL);
}

static inline uint32_t golden_draw(uint32_t *x)
{
    *x = (1103515245u * *x + 12345u) & 0x7FFFFFFFu;
    return *x >> 15;
}

/* Margins of all classes, m[k] to be set by the caller; the twin of others() in steps.py. */
static inline void golden_margins(const char *shape, size_t n_classes, size_t k, uint32_t seed, double *m)
{
    for (size_t j = 0; j < n_classes; j++) {
        double r = golden_draw(&seed);
        if (strcmp(shape, "dominant") == 0)
            m[j] = j == (k + 1) % n_classes ? 0 : -8 - r / 32768;
        else if (strcmp(shape, "random") == 0)
            m[j] = (r - 32768) / 8192;
        else if (strcmp(shape, "steep") == 0)
            m[j] = -(double)j / 2;
        else
            m[j] = 0;
    }
}

#endif
