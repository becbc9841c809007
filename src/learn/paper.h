/* The paper's method (--method paper): Algorithm 1 of arXiv 1611.03608, row by row. */
#ifndef GSA_LEARN_PAPER_H
#define GSA_LEARN_PAPER_H

#include "learn/inside.h"

/* Makes room for a row, whose values must be finite, and what it takes to learn it. */
gsa_status gsai_paper_fit(gsa_state *state, const gsai_row *row, gsa_error *error);
/* Learns a row of weight c > 0; *loss is its loss before that, times c. The caller counts the row. */
gsa_status gsai_paper_learn(gsa_state *state, const gsai_row *row, size_t class_number, double y, double c,
                            double *loss, gsa_error *error);

/* Asks for the records of a quarter of the entries of the row ahead. Not all at once: the processor can wait for a
 * dozen or so at a time. */
__attribute__((always_inline)) static inline void gsai_paper_fetch(const gsa_state *state, size_t quarter)
{
    const gsai_row *row = &state->ahead;
    size_t size = gsai_table_stride(&state->table) * sizeof(gsai_cell);
    uintptr_t first = (uintptr_t)state->table.cells + size; /* a number: the table may not reach as far yet */
    for (size_t i = row->n * quarter / 4, end = row->n * (quarter + 1) / 4; i < end; i++)
        __builtin_prefetch((const void *)(first + row->index[i] * size), 1);
}

#endif
