/* The optimisers that greedy step averaging is compared with, one file each, all of one shape.
 *
 * None of this is part of libgreedystep: `greedystep compare` alone links it. Every file states its source and prints
 * its formula above the code. Rows cost O(non-zeros) wherever the method allows it: what a method would do to every
 * weight at every row is caught up with when a weight is next touched (lazily), and the list of methods says where
 * that is not possible. */
#ifndef GSA_BASELINE_OPTIMIZER_H
#define GSA_BASELINE_OPTIMIZER_H

#include "base/memory.h"
#include "base/rng.h"
#include "learn/loss/loss.h"

#define GSAI_KNOBS 4
#define GSAI_TABLES 4

/* Rows in memory, a loss, and weights as one table of doubles, [slots x outputs]: slot 0 is the intercept, slot i + 1
 * feature i. The gradient of a row is g_k x for output k, so that one number per output and the row's entries are all
 * there is to it. */
typedef struct gsai_problem {
    const gsa_batch *rows;   /* sparse rows; ids below n_features */
    const uint32_t *classes; /* by row; NULL for a loss of numbers, which takes rows->label */
    const gsai_loss *loss;
    size_t n_features;
    size_t n_outputs; /* 1, or the number of classes */
    bool intercept;
} gsai_problem;

static inline size_t gsai_problem_slots(const gsai_problem *problem)
{
    return problem->n_features + 1;
}

static inline size_t gsai_problem_cells(const gsai_problem *problem)
{
    return gsai_problem_slots(problem) * problem->n_outputs;
}

/* One term of a row: x of a slot. The intercept is a term like any other. */
typedef struct gsai_term {
    size_t slot;
    double x;
} gsai_term;

/* Fills in the terms of a row; the array has room for the longest row and the intercept. Returns their number. */
size_t gsai_problem_terms(const gsai_problem *problem, size_t row, gsai_term *terms);

typedef struct gsai_knob {
    const char *name;   /* NULL: no more knobs */
    double initial;     /* NaN: must be given */
    double least, most; /* inclusive */
    const char *help;
} gsai_knob;

typedef struct gsai_optimizer gsai_optimizer;

typedef struct gsai_method {
    const char *name;
    const char *help;   /* one line: what it is; what it costs beyond O(non-zeros) a row, if anything */
    const char *source; /* authors, year */
    gsai_knob knobs[GSAI_KNOBS];
    bool needs_rows;    /* full passes or a memory for every row: not for a stream */
    size_t n_tables;    /* tables [slots x outputs] beside the weights, at most GSAI_TABLES */
    size_t row_numbers; /* doubles kept for every row, times outputs */
    /* NULL where there is nothing to do. */
    void (*begin_pass)(gsai_optimizer *o);
    void (*learn)(gsai_optimizer *o, size_t row);
    /* Brings the weights of a slot from o->slot_time[slot] to o->time; called before they are read. */
    void (*advance)(gsai_optimizer *o, size_t slot);
    void (*end_pass)(gsai_optimizer *o);
    /* The weights to evaluate; NULL: o->w itself. */
    void (*returned)(const gsai_optimizer *o, double *out);
} gsai_method;

struct gsai_optimizer {
    const gsai_method *method;
    const gsai_problem *problem;
    gsai_env env;
    double knob[GSAI_KNOBS];
    gsai_rng rng;
    uint64_t t;                 /* rows learned */
    double *w;                  /* the iterate */
    double *table[GSAI_TABLES]; /* zero at first; what they hold is the method's business */
    double *slot_time;          /* [slots]: up to when a slot is up to date, in the method's own time; zero at first */
    double time;                /* the method's own */
    double scalar[4];           /* further numbers of the method, zero at first */
    double *row_memory;         /* [rows x row_numbers x outputs] */
    double last_step;           /* for the report: the step that the last row took, or NaN */
    /* Scratch for one row. */
    gsai_term *terms;
    size_t n_terms;
    double *g, *g2;           /* [outputs] */
    const uint32_t *order;    /* of the pass under way */
    size_t n_order, order_at; /* order_at: the position of the row being learned */
};

extern const gsai_method gsai_sgd, gsai_sgd_decay, gsai_momentum, gsai_gradient_average, gsai_iterate_average,
    gsai_adagrad, gsai_adadelta, gsai_sag, gsai_saga, gsai_svrg, gsai_scsg, gsai_coin, gsai_dog, gsai_polyak,
    gsai_fregata, gsai_ftrl, gsai_schedule_free;
/* All methods, NULL-terminated, in the order of the manual. */
extern const gsai_method *const gsai_methods[];
const gsai_method *gsai_method_find(const char *name);

/* Parses a method and its parameters, "sgd:0.1" or "scsg:0.1:200", with defaults filled in. Unknown names, too many
 * parameters and values out of range are GSA_ARGUMENT. */
gsa_status gsai_method_parse(const char *text, const gsai_method **method, double knobs[GSAI_KNOBS], gsa_error *error);

gsa_status gsai_optimizer_new(const gsai_method *method, const double knobs[GSAI_KNOBS], const gsai_problem *problem,
                              uint64_t seed, const gsai_env *env, gsai_optimizer **out, gsa_error *error);
void gsai_optimizer_free(gsai_optimizer *o);
/* Learns the rows in the order given: one pass. Returns GSA_DIVERGED if a weight is not finite at its end. */
gsa_status gsai_optimizer_pass(gsai_optimizer *o, const uint32_t *order, size_t n_rows, gsa_error *error);
/* Fills in the weights to evaluate after a pass, [slots x outputs]. */
void gsai_optimizer_weights(gsai_optimizer *o, double *out);

/* For the methods: advance the slots of the row in o->terms, or all slots. */
void gsai_optimizer_advance(gsai_optimizer *o);
void gsai_optimizer_catch_up(gsai_optimizer *o);
/* Computes the terms of a row, advances their slots, and computes margins and gradient under weights w, with g in o->g.
 * Returns the row's loss and greedy step. */
gsai_greedy_step gsai_optimizer_gradient(gsai_optimizer *o, const double *w, size_t row);
/* Return |x|^2 of the row whose terms are in o->terms, and |gradient|^2. */
double gsai_optimizer_length(const gsai_optimizer *o);
double gsai_optimizer_gradient_length(const gsai_optimizer *o);
/* Takes the step w -= step g x, with the gradient in o->g. */
void gsai_optimizer_step(gsai_optimizer *o, double step);
/* Computes the mean of all iterates: the weights less table[0] / total, if that is not 0. */
void gsai_optimizer_mean(const gsai_optimizer *o, double total, double *out);

#endif
