/* kernels ROWS COLUMNS OUTPUTS [SECONDS]: how fast the loops over dense rows are, in billions of operations per second
 * of one processor.
 *
 * Prints a line per loop: its name and the median of its repeats. The products are those of bench/probes/run.py, which
 * measures BLAS on the same shapes: rows times weights and rows times residuals of the solver, and margins and updates
 * of the learner, by groups of eight rows. */
#include "learn/inside.h"
#include "solve/kernel/solve_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_REPEATS 1001

typedef struct task {
    size_t n_rows, n_columns, n_outputs, stride;
    uint32_t *row;
    float *x, *weight, *margin; /* [rows x columns], [columns x stride], [rows x stride] */
    gsai_table table;
    gsai_columns columns;
    float *scales;
} task;

static void *aligned_zeros(size_t size)
{
    size = (size + 4095) / 4096 * 4096;
    void *memory = aligned_alloc(4096, size);
    if (!memory) {
        fprintf(stderr, "kernels: no memory\n");
        exit(1);
    }
    return memset(memory, 0, size);
}

static void fill(float *x, size_t n)
{
    uint32_t state = 1;
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)(int32_t)state * 0x1p-33F;
    }
}

static void make_group(task *of)
{
    gsai_columns *columns = &of->columns;
    size_t n = of->n_columns;
    of->table = (gsai_table){.n_outputs = of->n_outputs, .room = gsai_table_padded(of->n_outputs)};
    of->table.cells = aligned_zeros((n + 1) * gsai_table_stride(&of->table) * sizeof(gsai_cell));
    columns->n = n;
    columns->x = aligned_zeros(GSAI_GROUP_ROWS * n * sizeof(float));
    columns->direction = aligned_zeros(GSAI_GROUP_ROWS * n * sizeof(float));
    columns->square = aligned_zeros(n * sizeof(float));
    columns->slot = aligned_zeros(n * sizeof(uint32_t));
    columns->n_rows = aligned_zeros(n * sizeof(uint32_t));
    fill(columns->x, GSAI_GROUP_ROWS * n);
    fill(columns->direction, GSAI_GROUP_ROWS * n);
    for (size_t i = 0; i < n; i++) {
        columns->slot[i] = (uint32_t)i + 1;
        columns->n_rows[i] = 1;
    }
    of->scales = aligned_zeros(GSAI_GROUP_ROWS * gsai_scales_stride(of->n_outputs) * sizeof(float));
    fill(of->scales, GSAI_GROUP_ROWS * gsai_scales_stride(of->n_outputs));
}

static void make(task *of)
{
    of->stride = of->n_outputs == 1 ? 1 : (of->n_outputs + 7) / 8 * 8;
    of->row = aligned_zeros(of->n_rows * sizeof *of->row);
    of->x = aligned_zeros(of->n_rows * of->n_columns * sizeof *of->x);
    of->weight = aligned_zeros(of->n_columns * of->stride * sizeof *of->weight);
    of->margin = aligned_zeros(of->n_rows * of->stride * sizeof *of->margin);
    for (size_t i = 0; i < of->n_rows; i++)
        of->row[i] = (uint32_t)i;
    fill(of->x, of->n_rows * of->n_columns);
    fill(of->weight, of->n_columns * of->stride);
    make_group(of);
}

/* ---- the loops --------------------------------------------------------------------------------------------------- */

static gsai_row_list rows_of(const task *of)
{
    return (gsai_row_list){.row = of->row, .n = of->n_rows, .dense = of->x, .width = of->n_columns};
}

static void solver_margins(task *of)
{
    gsai_row_list rows = rows_of(of);
    gsai_solve_kernels_best()->margins(&rows, of->weight, of->stride, of->margin);
}

static void solver_sums(task *of)
{
    gsai_row_list rows = rows_of(of);
    gsai_solve_kernels_best()->sums(&rows, of->margin, of->stride, of->weight);
}

static void learner_margins(task *of)
{
    for (size_t i = 0; i < of->n_rows; i += GSAI_GROUP_ROWS)
        gsai_kernels_best()->column_margins(&of->columns, &of->table, of->scales, gsai_scales_stride(of->n_outputs));
}

static void learner_update(task *of)
{
    for (size_t i = 0; i < of->n_rows; i += GSAI_GROUP_ROWS)
        gsai_kernels_best()->column_update(&of->columns, &of->table, of->scales, gsai_scales_stride(of->n_outputs),
                                           0.5F);
}

/* ---- the clock --------------------------------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *name, void (*loop)(task *), task *of, double limit)
{
    double took[MAX_REPEATS], end = seconds() + limit;
    int n = 0;
    for (; n < MAX_REPEATS && (n < 3 || seconds() < end); n++) {
        fill(of->margin, of->n_rows * of->stride);
        fill(of->weight, of->n_columns * of->stride);
        fill(of->scales, GSAI_GROUP_ROWS * gsai_scales_stride(of->n_outputs));
        double begun = seconds();
        loop(of);
        took[n] = seconds() - begun;
    }
    qsort(took, (size_t)n, sizeof *took, compare);
    double operations = 2 * (double)of->n_rows * (double)of->n_columns * (double)of->n_outputs;
    printf("%s %.2f\n", name, operations / took[n / 2] * 1e-9);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "kernels ROWS COLUMNS OUTPUTS [SECONDS]\n");
        return 2;
    }
    task of = {.n_rows = strtoul(argv[1], NULL, 10) / 8 * 8,
               .n_columns = gsai_row_width(strtoul(argv[2], NULL, 10)),
               .n_outputs = strtoul(argv[3], NULL, 10)};
    double limit = argc > 4 ? strtod(argv[4], NULL) : 1;
    make(&of);
    measure("solver_margins", solver_margins, &of, limit);
    measure("solver_sums", solver_sums, &of, limit);
    if (of.n_outputs > 1) {
        measure("learner_margins", learner_margins, &of, limit);
        measure("learner_update", learner_update, &of, limit);
    }
    return 0;
}
