/* The optimisers that greedy step averaging is compared with, one file each, all of one shape.
 *
 * None of this is part of libgreedystep: `greedystep compare` alone links it. Every file states its source and prints
 * its formula above the code. Rows cost O(non-zeros) wherever the method allows it: what a method would do to every
 * weight at every row is caught up with when a weight is next touched (lazily), and the table of contents says where
 * that is not possible. */
#ifndef GSA_BASELINE_OPTIMIZER_H
#define GSA_BASELINE_OPTIMIZER_H

#include "base/rng.h"
#include "baseline/problem.h"

#define GSA__KNOBS 3
#define GSA__TABLES 4

typedef struct gsa__knob {
    const char *name;   /* NULL: no more knobs */
    double initial;     /* NaN: must be given */
    double least, most; /* inclusive */
    const char *help;
} gsa__knob;

typedef struct gsa__optimizer gsa__optimizer;

typedef struct gsa__method {
    const char *name;
    const char *help;   /* one line: what it is; what it costs beyond O(non-zeros) a row, if anything */
    const char *source; /* authors, year */
    gsa__knob knobs[GSA__KNOBS];
    bool needs_rows;    /* full passes or a memory for every row: not for a stream */
    size_t n_tables;    /* tables [slots x outputs] beside the weights, at most GSA__TABLES */
    size_t row_numbers; /* doubles kept for every row, times outputs */
    /* NULL where there is nothing to do. */
    void (*begin_pass)(gsa__optimizer *o, const uint32_t *order, size_t n_rows);
    void (*learn)(gsa__optimizer *o, size_t row);
    /* Brings every weight up to date; called before weights are read. */
    void (*catch_up)(gsa__optimizer *o);
    /* The weights to judge; NULL: o->w itself. */
    void (*returned)(const gsa__optimizer *o, double *out);
} gsa__method;

struct gsa__optimizer {
    const gsa__method *method;
    const gsa__problem *problem;
    gsa_env env;
    double knob[GSA__KNOBS];
    gsa__rng rng;
    uint64_t t;                 /* rows learned */
    double *w;                  /* the iterate */
    double *table[GSA__TABLES]; /* zero at first; what they hold is the method's business */
    double *slot_time;          /* [slots]: up to when a slot is up to date, in the method's own clock; zero at first */
    double clock;               /* the method's own */
    double scalar[4];           /* further numbers of the method, zero at first */
    double *row_memory;         /* [rows x row_numbers x outputs] */
    double last_step;           /* for the report: the step that the last row took, NaN where there is none */
    /* Scratch for one row. */
    gsa__term *terms;
    size_t n_terms;
    double *g, *g2;           /* [outputs] */
    const uint32_t *order;    /* of the pass under way */
    size_t n_order, order_at; /* order_at: the position of the row being learned */
};

/* All methods, NULL-terminated, in the order of the manual. */
extern const gsa__method *const gsa__methods[];
const gsa__method *gsa__method_find(const char *name);

/* "sgd:0.1" or "scsg:0.1:200": the method and its knobs, defaults filled in. Unknown names, too many knobs and values
 * out of range are GSA_ARGUMENT, with what there is to choose from. */
gsa_status gsa__method_parse(const char *text, const gsa__method **method, double knobs[GSA__KNOBS], gsa_error *error);

gsa_status gsa__optimizer_new(const gsa__method *method, const double knobs[GSA__KNOBS], const gsa__problem *problem,
                              uint64_t seed, const gsa_env *env, gsa__optimizer **out, gsa_error *error);
void gsa__optimizer_free(gsa__optimizer *o);
/* Learns the rows in the order given: one pass. GSA_DIVERGED if a weight is no longer finite at its end. */
gsa_status gsa__optimizer_pass(gsa__optimizer *o, const uint32_t *order, size_t n_rows, gsa_error *error);
/* The weights to judge, [slots x outputs]. */
void gsa__optimizer_weights(gsa__optimizer *o, double *out);

/* For the methods: terms, margins and gradient of a row under weights w; returns the loss, g in o->g. */
double gsa__optimizer_gradient(gsa__optimizer *o, const double *w, size_t row);
/* |x|^2 of the row whose terms are in o->terms, and |gradient|^2. */
double gsa__optimizer_length(const gsa__optimizer *o);
double gsa__optimizer_gradient_length(const gsa__optimizer *o);
/* w -= step g x, the gradient being in o->g. */
void gsa__optimizer_step(gsa__optimizer *o, double step);
/* The weights less table[0] / total, where that is not 0: the mean of all iterates. */
void gsa__optimizer_mean(const gsa__optimizer *o, double total, double *out);

#endif
