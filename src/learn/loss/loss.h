/* The losses: what is computed from the margins of a row. A loss is a const struct of functions in a file of its own;
 * GSAI_LOSSES below lists all. No other code tells losses apart by name.
 *
 * Notation as in the paper (arXiv 1611.03608): margin m = w.x, xx = x.x, probability p, label y or class k. The
 * gradient of the loss is g x (softmax: g_j x for class j). A greedy step eta would bring this one row to its target;
 * the functions return lambda = eta xx, which does not depend on the length of the row. The target of a probability is
 * P_HAT, fixed.
 *
 * All functions are total over finite arguments: no NaN, and no overflow for margins up to 1e300, but for the squared
 * losses, which are infinite where |y - m| or h is above 1.3e154, and the Poisson loss, where m is above 1e282. */
#ifndef GSA_LEARN_LOSS_LOSS_H
#define GSA_LEARN_LOSS_LOSS_H

#include <greedystep/greedystep.h>

#include <stdbool.h>
#include <stdint.h>

#define GSAI_P_HAT 0.95
/* The loss of a label that the model has never seen, -log(1e-15): its log loss would be infinite. */
#define GSAI_UNKNOWN_LOG_LOSS 34.538776394910684

/* The target of a row. */
typedef struct gsai_target {
    size_t class_number;           /* of losses with classes */
    double y;                      /* of the others, from the offset of labels if it depends on the residual */
    const gsa_margin_loss *custom; /* the caller's functions, for the loss that has none of its own */
    double width;                  /* of a loss that has one: residuals beyond it are outliers */
    double origin; /* with a log link, and of two classes with one margin: margins are measured from it; with a log link
                      g is in units of e^origin */
    double quantile; /* of a loss that has one */
} gsai_target;

typedef struct gsai_greedy_step {
    double loss;
    double lambda; /* eta xx */
    double g;      /* gradient scale; of several outputs its size at class k: 1 - p_k, or that of a hinge loss */
    double m;      /* margin, of one output */
} gsai_greedy_step;

/* The labels of a set of rows. */
typedef struct gsai_label_totals {
    const double *class_weight; /* [n_classes]: of the rows of each class */
    size_t n_classes;
    double weight;                      /* of all rows */
    bool balanced;                      /* every class that is there counts the same */
    double mean, mean_square, mean_log; /* of y, y^2 and y log y */
} gsai_label_totals;

/* Many rows at once (loss_rows.h). */
typedef struct gsai_rows_at gsai_rows_at;

struct gsai_kernels;

typedef struct gsai_loss gsai_loss;
struct gsai_loss {
    const char *name;          /* as --loss has it, and files */
    const char *measure;       /* what people call its mean */
    size_t max_labels;         /* 0: labels are numbers */
    size_t many_from;          /* labels from which on each has its own output; SIZE_MAX: one output for all */
    const gsai_loss *widened;  /* what it becomes with more than max_labels; NULL: they are refused */
    bool has_probabilities;    /* a greedy step goes for P_HAT; otherwise it ends at the row's own minimum */
    bool is_custom;            /* its functions are the caller's */
    bool depends_on_residual;  /* on y - m alone: labels are measured from their mean, and sums of squares tell
                                  divergence */
    bool has_log_link;         /* predicts e^m: labels are at least 0, and may be measured in any unit */
    bool has_width;            /* residuals beyond a width that follows from the data are outliers (residuals.h) */
    bool has_quantile;         /* a share of the labels is below its margins; its unit is that of the label */
    bool has_searchable_scale; /* without a curvature: calibrated by a search for the best scale */
    double unknown_loss;       /* of a second label, with a model that knows one */

    /* Turns the margins into gradient scales, in place. */
    gsai_greedy_step (*greedy_step)(double *m_to_g, size_t n_outputs, const gsai_target *target);
    /* The greedy steps of up to GSAI_GROUP_ROWS rows of one output and weights c; returns the weighted sum of their
     * losses. NULL: one after the other. */
    double (*greedy_steps)(const struct gsai_kernels *kernels, const double *m, const gsai_target *target,
                           const double *c, size_t n, gsai_greedy_step *out);
    /* The greedy step of a row with several outputs, from floats padded to a multiple of 16; the padding is 0
     * afterwards. NULL: by greedy_step. */
    gsai_greedy_step (*greedy_step_of_floats)(const struct gsai_kernels *kernels, float *m_to_g, size_t n_outputs,
                                              const gsai_target *target);
    /* The number of plain steps of length e = eta xx > 0 that a row of weight c > 1 moves by (heavy.c); g: what
     * greedy_step left there, step->g != 0. */
    double (*repeats)(const double *g, size_t n_outputs, const gsai_target *target, const gsai_greedy_step *step,
                      double e, double c);
    /* The loss of a row. Margins may be overwritten. */
    double (*value)(double *margins, size_t n_outputs, const gsai_target *target);
    /* A number, or a probability (a margin, without probabilities) per label, of which there are two or more; `out` may
     * be `margins`. NULL: the margin itself. */
    void (*predict)(const double *margins, size_t n_outputs, double *out);
    /* Classes only: predictions, and the loss of a row of class k; SIZE_MAX: one that the model does not know. */
    double (*evaluate)(const double *margins, size_t n_outputs, size_t k, double *out);
    /* The loss of the best constant prediction; NULL: not known. */
    double (*constant)(const gsai_label_totals *labels);
    /* The measure, from the mean; NULL: the mean itself. */
    double (*measure_of)(double mean);
    /* Value and derivatives of many rows; NULL: the loss can neither be solved nor calibrated. */
    void (*rows)(gsai_rows_at *at);
};

/* All losses, in the order of help texts: LOSS(name) is gsai_loss_name of loss/name.c and a choice of --loss. */
#define GSAI_LOSSES(LOSS) \
    LOSS(squared) LOSS(huber) LOSS(quantile) LOSS(poisson) LOSS(logistic) LOSS(softmax) LOSS(hinge) LOSS(squared_hinge)

#define GSAI_DECLARE_LOSS(name) extern const gsai_loss gsai_loss_##name;
GSAI_LOSSES(GSAI_DECLARE_LOSS)
extern const gsai_loss gsai_loss_custom; /* of the caller's functions */

/* Computes the greedy steps of some rows of one output, as a loss's own greedy_steps does. losses.c. */
double gsai_greedy_steps(const gsai_loss *loss, const struct gsai_kernels *kernels, const double *m,
                         const gsai_target *target, const double *c, size_t n, gsai_greedy_step *out);
/* Returns a loss by its name; NULL if not found, as for "auto". losses.c. */
const gsai_loss *gsai_loss_find(const char *name);

/* Returns the name of a loss; NULL is one that is not decided yet. */
static inline const char *gsai_loss_name(const gsai_loss *loss)
{
    return loss ? loss->name : "auto";
}

/* Returns whether labels, or the margins of a log link, are measured from an offset. */
static inline bool gsai_loss_has_offset(const gsai_loss *loss)
{
    return loss && (loss->depends_on_residual || loss->has_log_link);
}

static inline bool gsai_loss_has_classes(const gsai_loss *loss)
{
    return loss && loss->max_labels > 0;
}

static inline bool gsai_loss_has_probabilities(const gsai_loss *loss)
{
    return loss && loss->has_probabilities;
}

/* Returns the number of outputs: one per label, at least two (the first label is learned against "anything else"), or
 * one for all. */
static inline size_t gsai_loss_outputs(const gsai_loss *loss, size_t n_labels)
{
    return !loss || n_labels < loss->many_from ? 1 : n_labels > 2 ? n_labels : 2;
}

static inline bool gsai_loss_is_custom(const gsai_loss *loss)
{
    return loss && loss->is_custom;
}

/* Does it become the other with more labels? */
static inline bool gsai_loss_widens_to(const gsai_loss *loss, const gsai_loss *other)
{
    return loss && other && loss->widened == other;
}

/* Returns whether what was learned with one loss can continue with the other. */
static inline bool gsai_losses_agree(const gsai_loss *a, const gsai_loss *b)
{
    return a == b || gsai_loss_widens_to(a, b) || gsai_loss_widens_to(b, a);
}

/* ---- the formulas, by file --------------------------------------------------------------------------------------- */

/* softmax.c: K classes, K >= 1, k in [0, K). */
/* Turns the K margins into probabilities, in place, each to full relative accuracy. g = 1 - p_k, likewise: the gradient
 * scale of class k is -g. */
gsai_greedy_step gsai_softmax(double *m_to_p, size_t n_classes, size_t k);
/* Returns the entropy of the classes: what the best constant probabilities cost. */
double gsai_label_entropy(const gsai_label_totals *labels);

/* Computes h = max(0, 1 - z), or squared h^2 / 2, of a row of class k: for two classes by one output, or for n_outputs
 * classes. Turns the margins into gradient scales, in place; of many, g is that of the runner-up, and -g that of class
 * k. hinge.c. */
gsai_greedy_step gsai_hinge(double *m_to_g, size_t n_outputs, size_t k, bool squared);
/* Returns only the loss of one output per class; k beyond the classes is a class without weights, margin 0. */
double gsai_hinge_many_loss(const double *m, size_t n_classes, size_t k, bool squared);

/* search.c: Algorithm 2 for a loss that is known only as two functions of the margin. g = l'(m). The minimiser of
 * l(m - lambda g) over lambda >= 0 if there is one within 2^60 max(1, |m|); else (a loss that falls for ever) the point
 * where |l'| has come down to 1 - P_HAT of |g|. 0 for g = 0 and for a straight line. */
double gsai_search_lambda(const gsa_margin_loss *loss, double m, double y, double g);

/* The member `repeats` of several losses, heavy.c: of those with probabilities, and of those that are known by their
 * derivative, target->custom. */
double gsai_probability_repeats(const double *g, size_t n_outputs, const gsai_target *target,
                                const gsai_greedy_step *step, double e, double c);
double gsai_custom_repeats(const double *g, size_t n_outputs, const gsai_target *target, const gsai_greedy_step *step,
                           double e, double c);
/* Returns the same for the squared loss. */
double gsai_squared_repeats(double e, double c);

#endif
