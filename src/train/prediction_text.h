/* Predictions as text: lines for people, CSV (RFC 4180, but lines end in \n) or a JSON object a line. */
#ifndef GSA_TRAIN_PREDICTION_TEXT_H
#define GSA_TRAIN_PREDICTION_TEXT_H

#include <greedystep/train.h>

/* A line: begin ROW before_label LABEL before_number NUMBER before_every NUMBERS end, as far as it has them. */
typedef struct gsai_prediction_text {
    gsa_text kind;
    size_t n_classes, n_listed; /* listed: classes whose numbers stand in a line; all or none */
    const char *begin, *before_label, *before_number, *before_every, *end;
    const char *header, *prefix; /* the first columns of CSV; what stands before a label that names one */
    size_t *start; /* of each label in `label`, which lies behind it, as it is written: quoted where it must be */
    char *label;
    size_t room; /* that no line exceeds */
} gsai_prediction_text;

/* text->start is the caller's to free. */
gsa_status gsai_prediction_text_open(gsai_prediction_text *text, const gsa_model *model, const gsa_predict_hooks *hooks,
                                     const gsa_env *env, gsa_error *error);
/* Both write to out, which has text->room, and return the end. The names of the columns of CSV: p_LABEL for every class
 * whose probability stands in a line, m_LABEL for margins. */
char *gsai_prediction_text_header(const gsai_prediction_text *text, char *out);
/* Rows count from 1; best and number are the class and how sure that is, or the number alone; every: the numbers of all
 * classes. */
char *gsai_prediction_text_line(const gsai_prediction_text *text, uint64_t row, size_t best, double number,
                                const double *every, char *out);

#endif
