/* The inner loops over the entries of a row (the paper's method; K1 to K5), or of a group of rows.
 *
 * loops.h has them once, in plain C. It is compiled for the machine's baseline (generic.c, the reference) and for wider
 * vectors where the compiler can; which is used is decided at run time. All give the same bits, because the order of
 * additions is specified and no product is fused with a sum:
 *   K1  entries that are zero are passed over and do not count as a position;
 *   K2  a sum over positions adds position j to partial sum j mod 8 (double), and the eight are added as
 *       ((0+4)+(2+6)) + ((1+5)+(3+7)); the intercept is added last;
 *   K3  with several outputs, each class has one sum, in the order of positions, the intercept last: four positions
 *       are (0+1)+(2+3) in float, the fours are added in double;
 *   K4  an update rounds once: u = (float)(scale * x), weight += u, average += (float)(past_weight * u). With
 *       several outputs scale, step * x, past_weight and their products are floats, as the weights are: vectors are
 *       then twice as wide;
 *   K5  the mean of squares of a feature that was in 2^16 rows or more is cut to a float after adding the fraction
 *       count * 2^32 / phi mod 2^32, in units of its last place: rounding then has no side that it prefers. */
#ifndef GSA_LEARN_KERNEL_KERNEL_H
#define GSA_LEARN_KERNEL_KERNEL_H

#include "learn/group.h"
#include "learn/kernel/merge_block.h"
#include "learn/row.h"
#include "learn/table.h"

#include <stdbool.h>

#define GSAI_LANES 8

/* Adds the partial sums in the order of K2. */
static inline double gsai_add_lanes(const double s[GSAI_LANES])
{
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* All arrays of the entries have room for the row; ids in a row are distinct, slots below the table's end. */
typedef struct gsai_kernels {
    const char *name;
    void (*gather)(gsai_entries *entries, const gsai_row *row, bool intercept);
    /* x.x; not finite if a value is not. */
    double (*square_length)(const gsai_entries *entries);
    /* One output: the margin. The means and counts of the entries are gathered, this row of weight c counted; they go
     * back with the update. */
    double (*take_one)(const gsai_table *table, const gsai_entries *entries, double c);
    /* The same for several outputs; false if a margin is not finite. */
    bool (*take_many)(const gsai_table *table, const gsai_entries *entries, double c, double *margins);
    /* weight += scale * x, average += past_weight * that, and the counts; of several outputs weight += scale * (step *
     * x), one scale per output and 0 in the padding. */
    void (*update_one)(gsai_table *table, const gsai_entries *entries, double scale, double past_weight);
    void (*update_many)(gsai_table *table, const gsai_entries *entries, double step, const float *scale,
                        double past_weight);
    void (*scan_row)(const gsai_row *row, gsai_row_scan *out);
    /* The slots and values of a row that are not 0, into a group; returns their number. */
    size_t (*copy_row)(const gsai_row *row, bool has_zeros, uint32_t *slot, float *x);
    /* Groups of rows with one output (groups.h). The inverse frequency of a feature that was in `count` rows. */
    float (*inverse_frequency_of)(float count);
    /* Directions, x.Dx and, of one output, margins of the rows; standardised: centred and per_unit are filled in. */
    void (*group_margins)(const gsai_group *group, const gsai_table *table, const gsai_prior_totals *before,
                          bool standardised, gsai_group_margins *out);
    /* weight += scale * direction, average += past_weight * that, counts, and means of squares unless none moves. */
    void (*group_update)(const gsai_group *group, gsai_table *table, const float *scale, float past_weight,
                         bool means_move);
    void (*group_update_intercept)(const gsai_group *group, gsai_table *table, float by, float past_weight);
    /* For a whole group: 1 - p, the greedy step and e^-|m| of margins m with the sign of the row's class. */
    void (*logistic_steps)(const float *m, const float *sign, float *rest, float *lambda, float *e);
    /* Groups with several outputs (groups_many.h). Directions and x.Dx of columns, and their squares; c: the weights of
     * the rows. */
    void (*column_directions)(const gsai_columns *columns, const gsai_table *table, const gsai_prior_totals *before,
                              const float *c, bool standardised, float *xdx);
    /* The margins of all rows of a group with columns, [rows x stride]; weight += the sum of scale * direction over the
     * rows, average += past_weight * that, means and counts. Scales are 0 beyond the outputs and rows. */
    void (*column_margins)(const gsai_columns *columns, const gsai_table *table, float *margins, size_t stride);
    void (*column_update)(const gsai_columns *columns, gsai_table *table, const float *scales, size_t stride,
                          float past_weight);
    /* The same of one row, without columns. */
    void (*row_margins)(const gsai_group *group, const gsai_table *table, size_t row, double *margins);
    void (*row_update)(const gsai_group *group, gsai_table *table, size_t row, const float *scale, float past_weight);
    /* And of one feature. */
    void (*move)(gsai_cell *weight, gsai_cell *average, float direction, float past_weight, const float *scale,
                 size_t n);
    /* Floats of n classes and their padding to a multiple of 16. The first sets *shift to the largest of itself and all
     * m, and m to e^(m - shift), which is 0 below e^-64; it returns their sum. The second sets e to p = e * per_total;
     * it returns the sum of p (e^p - 1). */
    float (*exponentiate_floats)(float *m, size_t n, float *shift);
    float (*share_floats)(float *e, size_t n, float per_total);
    /* Doubles of n classes, sums as in K2. The first sets *shift to the largest of itself and all m, and m to e^(m -
     * shift); it returns their sum. The second returns the sum of p (e^p - 1), p in [0, 1]. The bits of base/real.h. */
    double (*exponentiate)(double *m, size_t n, double *shift);
    double (*expected_growth)(const double *p, size_t n);
    /* Blocks of slots that are merged (merge_loops.h). Records of a table into a view; terms of averages times
     * per_total. */
    void (*view_records)(gsai_view *view, const gsai_cell *cells, size_t room, size_t n, float per_total);
    /* The sums of one state, of whose average the base's is `kept`. False if it knows less of a slot than the base. */
    bool (*sum_changes)(gsai_sums *sums, const gsai_view *state, const gsai_view *base, float kept, bool standardised,
                        size_t n);
    void (*add_sums)(gsai_sums *to, const gsai_sums *from, size_t n_outputs, size_t n);
    /* merge/apply.h has the formula; alpha > 0. */
    void (*aggregations)(const float *all, const float *one, size_t n, float alpha, float *aggregation);
    /* Sums of changes become their means; totals of the base become those of the result. n_states: how many count; 0:
     * those that touched a slot. */
    void (*mean_changes)(gsai_sums *sums, gsai_view *start, bool standardised, double n_states, size_t n,
                         gsai_block_steps *out);
    /* The records of the result. */
    void (*enter_slots)(gsai_cell *cells, size_t room, const gsai_view *start, const gsai_sums *changes,
                        const gsai_block_steps *by, size_t n);
} gsai_kernels;

extern const gsai_kernels gsai_kernels_generic, gsai_kernels_avx2, gsai_kernels_avx512;
/* Return the widest kernels that this machine can run, and those of this build by number (0 is generic), NULL beyond
 * the end or if the machine cannot run them. */
const gsai_kernels *gsai_kernels_best(void);
const gsai_kernels *gsai_kernels_at(size_t number);

#endif
