/* The meaning of labels: a loss, if none was asked for, and the class or number of each row. */
#include "learn/prepare.h"
#include "learn/inside.h"
#include "learn/learner.h"
#include "learn/lineage.h"
#include "learn/schema.h"
#include "learn/state_slots.h"

#include "base/error.h"
#include "base/label_rule.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_whole(double number)
{
    return number == floor(number);
}

gsa_status gsai_label_check(const gsa_batch *batch, size_t row, gsa_error *error)
{
    if (!gsai_row_is_word(batch, row) && !isfinite(batch->label[row]))
        return gsai_fail_row(error, GSA_INPUT, row, "the label is not a finite number");
    if (gsai_row_is_word(batch, row) && (size_t)batch->word[row] >= batch->n_words)
        return gsai_fail_row(error, GSA_ARGUMENT, row, "the label is word %d of %zu", batch->word[row], batch->n_words);
    return GSA_OK;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Counts the labels of rows, which are whole numbers. */
static gsa_status count_values(const gsa_state *state, const gsa_batch *rows, gsai_label_values *out, gsa_error *error)
{
    size_t n = rows->n_rows;
    double *sorted = gsai_alloc(&state->env, n, sizeof *sorted);
    GSAI_TRY_MEMORY(sorted, &state->env, error, "no memory for %zu labels", n);
    memcpy(sorted, rows->label, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    *out = (gsai_label_values){.n_rows = n, .min = sorted[0], .max = sorted[n - 1]};
    for (size_t i = 0; i < n; i++) {
        out->n_values += i == 0 || sorted[i] != sorted[i - 1];
        gsai_label_values_add(out, sorted[i], 1);
    }
    gsai_free(&state->env, sorted);
    return GSA_OK;
}

/* Returns whether the rows have columns, in a table or an array, rather than feature ids. */
static bool has_columns(const gsa_state *state, const gsa_batch *rows)
{
    return gsai_schema_is_table(state->schema) || !rows->index;
}

/* Words are classes, a fraction means regression, and whole numbers are looked at. */
static gsa_status decide_auto(gsa_state *state, const gsa_batch *first, bool are_told, const gsai_loss **loss,
                              gsa_error *error)
{
    size_t first_word = SIZE_MAX, first_fraction = SIZE_MAX;
    for (size_t row = first->n_rows; row-- > 0;) {
        if (gsai_row_is_word(first, row))
            first_word = row;
        else if (!is_whole(first->label[row]))
            first_fraction = row;
    }
    if (first_word != SIZE_MAX && first_fraction != SIZE_MAX)
        return gsai_fail_row(
            error, GSA_LABEL, first_fraction,
            "label %g is a fraction while other labels are words; choose softmax loss if every label is "
            "the name of a class",
            first->label[first_fraction]);
    bool are_classes = first_fraction == SIZE_MAX;
    if (are_classes && !are_told && first_word == SIZE_MAX) {
        gsai_label_values values;
        GSA_TRY(count_values(state, first, &values, error));
        are_classes = gsai_label_values_are_classes(&values, !has_columns(state, first));
        state->n_label_values = are_classes && !has_columns(state, first) ? 0 : values.n_values;
    }
    *loss = are_classes ? &gsai_loss_logistic : &gsai_loss_squared;
    return GSA_OK;
}

static bool all_labels_are_numbers(const gsai_labels *labels)
{
    for (size_t i = 0; i < labels->n; i++)
        if (!labels->at[i].is_number)
            return false;
    return true;
}

static bool loss_is_auto(const gsa_state *state)
{
    return !gsai_loss_asked(&state->params) && !gsai_loss_is_custom(state->loss);
}

/* Refuses a third label if the loss knows two, `row` being that of the third label; and whole numbers that are more
 * than the user may mean by classes: too many, or, of rows with columns, many of which the first rows had few. */
static gsa_status check_classes(const gsa_state *state, const gsa_batch *rows, const char *where, size_t n_before,
                                uint64_t row, gsa_error *error)
{
    const gsai_label *label = state->labels.at;
    size_t n = state->labels.n;
    bool is_auto = loss_is_auto(state),
         is_late = has_columns(state, rows) && n_before > 0 && n_before <= GSAI_FEW_VALUES;
    size_t limit = is_late ? GSAI_FEW_VALUES : GSAI_MAX_CLASSES;
    if (is_auto && n > limit && all_labels_are_numbers(&state->labels))
        return gsai_fail(error, GSA_LABEL,
                         "%s more than %zu different whole numbers as labels%s: choose squared loss to "
                         "predict numbers, or softmax loss to tell that many classes apart",
                         where, limit, is_late ? ", and fewer in the first rows, which decide" : "");
    if (!is_auto && state->loss && n > state->loss->max_labels)
        return gsai_fail_row(error, GSA_LABEL, row,
                             "label '%s' is the third after '%s' and '%s', and %s loss knows two; "
                             "leave the loss out or choose softmax",
                             label[2].text, label[0].text, label[1].text, state->loss->name);
    return GSA_OK;
}

/* Refuses labels of rows with columns of which nearly every one is another word. */
static gsa_status check_words(const gsa_state *state, const gsa_batch *first, gsa_error *error)
{
    size_t n = state->labels.n, last = n > 0 ? n - 1 : 0;
    if (!loss_is_auto(state) || !has_columns(state, first) || n <= GSAI_FEW_VALUES || 2 * n <= first->n_rows ||
        state->labels.at[last].is_number)
        return GSA_OK;
    return gsai_fail(error, GSA_LABEL,
                     "the label has %zu different words in %zu rows, such as '%.40s': too many for "
                     "classes; choose the column to predict, or softmax loss if each is a class",
                     n, first->n_rows, state->labels.at[last].text);
}

/* Refuses a fraction where whole numbers or words were taken for classes. */
static gsa_status check_fraction(const gsa_state *state, const gsa_batch *batch, size_t row, gsa_error *error)
{
    if (!loss_is_auto(state) || gsai_row_is_word(batch, row) || is_whole(batch->label[row]))
        return GSA_OK;
    return gsai_fail_row(error, GSA_LABEL, row,
                         "label %g is a fraction, but the labels of the first rows were taken for classes; choose "
                         "squared loss to predict numbers, or softmax loss if it is the name of a class",
                         batch->label[row]);
}

/* Enters the labels of the rows in canonical order, after those that are there. */
static gsa_status prepare_classes(gsa_state *state, const gsa_batch *first, bool are_told, gsa_error *error)
{
    size_t n_before = are_told ? SIZE_MAX : state->labels.n, number;
    for (size_t row = 0; row < first->n_rows && state->loss; row++)
        GSA_TRY(check_fraction(state, first, row, error));
    gsai_labels seen;
    gsai_labels_init(&seen, &state->env);
    gsa_status status = GSA_OK;
    for (size_t row = 0; row < first->n_rows && status == GSA_OK; row++)
        status = gsai_labels_add_row(&seen, first, row, &number, error);
    if (status == GSA_OK)
        status = gsai_labels_add_sorted(&state->labels, &seen, error);
    gsai_labels_release(&seen);
    GSA_TRY(status);
    size_t third = 0;
    while (state->labels.n > 2 && third < first->n_rows && gsai_labels_find_row(&state->labels, first, third) != 2)
        third++;
    if (n_before == 0)
        GSA_TRY(check_words(state, first, error));
    return check_classes(state, first, n_before == 0 ? "the first rows have" : "there are", n_before,
                         third < first->n_rows ? third : GSA_NO_ROW, error);
}

static void forget_labels(gsa_state *state, size_t n_before)
{
    while (state->labels.n > n_before)
        gsai_labels_drop_last(&state->labels);
    if (state->class_sums.n > state->labels.n + 1)
        state->class_sums.n = state->labels.n + 1;
}

/* Makes room for the labels there are now: more outputs, or one output for two classes becomes one per class (logistic
 * becomes softmax). On failure no output has changed. */
static gsa_status fit_labels(gsa_state *state, gsa_error *error)
{
    if (gsai_state_offset(state).loss && (state->labels.n > 2 || gsai_loss_outputs(state->loss, state->labels.n) > 1))
        return gsai_fail_param(
            error, "loss", GSA_ARGUMENT,
            "an offset is added to one margin, that of a number or of two classes; %s a margin for each "
            "class, and a number added to all of them changes nothing; leave the offset out%s",
            state->labels.n > 2 ? "more classes have" : "softmax loss has",
            state->labels.n > 2 ? "" : ", or choose logistic loss");
    bool binary = gsai_state_is_binary(state);
    size_t n_known = binary ? 2 : state->table.n_outputs;
    if (gsai_params_balance(&state->params))
        GSA_TRY(
            gsai_array_grow(&state->class_sums, state->labels.n + 1, sizeof *state->class_sums.at, &state->env, error));
    if (state->labels.n <= n_known)
        return GSA_OK;
    GSA_TRY(gsai_state_close_own_group(state, error)); /* of rows with fewer outputs */
    return gsai_state_widen(state, state->labels.n, error);
}

/* A label that the loss cannot take is a matter of the loss. */
static gsa_status about_loss(gsa_error *error, gsa_status status)
{
    return status == GSA_LABEL ? gsai_fail_about(error, "loss", status) : status;
}

/* Decides on the loss, the labels and the outputs for them. A failure is for the caller to take back. */
static gsa_status decide(gsa_state *state, const gsa_batch *first, bool are_told, gsa_error *error)
{
    const gsai_loss *loss = state->loss;
    if (!loss)
        GSA_TRY(decide_auto(state, first, are_told, &loss, error));
    if (gsai_loss_has_classes(loss))
        GSA_TRY(prepare_classes(state, first, are_told, error));
    if (!state->loss) {
        GSA_TRY(gsai_state_decide(state, loss, error));
        gsai_state_scale_as_asked(state);
    }
    if (gsai_loss_has_classes(loss))
        GSA_TRY(fit_labels(state, error));
    if (gsai_state_offset(state).loss && gsai_loss_is_custom(loss))
        return gsai_fail(error, GSA_ARGUMENT, "a loss of your own has no offset: leave it out");
    if (!gsai_schema_has_exposure(state->schema) || state->loss->has_log_link)
        return GSA_OK;
    return gsai_fail_param(error, "loss", GSA_ARGUMENT,
                           "labels per unit of exposure are counts, and %s loss is not for them; choose "
                           "poisson loss",
                           state->loss->name);
}

/* are_told: the labels are those of classes. A failure leaves the state as it was. */
static gsa_status decide_or_take_back(gsa_state *state, const gsa_batch *first, bool are_told, gsa_error *error)
{
    size_t n_labels_before = state->labels.n;
    bool was_undecided = !state->loss;
    gsa_status status = decide(state, first, are_told, error);
    if (status == GSA_OK)
        return GSA_OK;
    forget_labels(state, n_labels_before);
    if (was_undecided && state->loss) {
        gsai_table_release(&state->table, &state->env);
        state->loss = NULL;
    }
    return about_loss(error, status);
}

gsa_status gsa_state_prepare(gsa_state *state, const gsa_batch *first, gsa_error *error)
{
    GSA_TRY(gsai_batch_check(first, NULL, first->n_rows, 1, error));
    if (first->n_rows == 0)
        return GSA_OK;
    for (size_t row = 0; row < first->n_rows; row++) {
        GSA_TRY(gsai_batch_check_ids(first, row, error));
        GSA_TRY(gsai_label_check(first, row, error));
    }
    GSA_TRY(decide_or_take_back(state, first, false, error));
    while (!state->run_id.closed && state->run_id.n_rows < first->n_rows)
        gsai_run_id_add_row(&state->run_id, first, (size_t)state->run_id.n_rows);
    state->run_id.closed = 1;
    return GSA_OK;
}

/* They are labels of rows without features. */
gsa_status gsa_state_add_labels(gsa_state *state, const double *numbers, const char *const *words, size_t n_labels,
                                gsa_error *error)
{
    if (n_labels == 0)
        return GSA_OK;
    if (!numbers == !words || n_labels > INT32_MAX)
        return gsai_fail(error, GSA_ARGUMENT, "give labels as numbers or as words");
    if (state->loss && !gsai_loss_has_classes(state->loss))
        return gsai_fail_param(error, "loss", GSA_ARGUMENT,
                               "%s loss predicts numbers and has no classes; choose "
                               "logistic or softmax loss",
                               gsai_loss_name(state->loss));
    for (size_t i = 0; numbers && i < n_labels; i++) /* they can only be classes */
        if (!isfinite(numbers[i]) || (loss_is_auto(state) && !is_whole(numbers[i])))
            return about_loss(error, gsai_fail_row(error, GSA_LABEL, i,
                                                   "%g is not the label of a class; choose softmax loss if it is one",
                                                   numbers[i]));
    gsa_batch labels = {.n_rows = n_labels, .label = numbers, .words = words, .n_words = words ? n_labels : 0};
    int32_t *word = words ? gsai_alloc(&state->env, n_labels, sizeof *word) : NULL;
    if (words && !word)
        return gsai_fail_memory(&state->env, error, "no memory for %zu labels", n_labels);
    for (size_t i = 0; word && i < n_labels; i++)
        word[i] = (int32_t)i;
    labels.word = word;
    gsa_status status = decide_or_take_back(state, &labels, true, error);
    gsai_free(&state->env, word);
    return status;
}

const char *gsa_state_label(const gsa_state *state, size_t number)
{
    return number < state->labels.n ? state->labels.at[number].text : NULL;
}

bool gsai_state_describe_task(const gsa_state *state, gsa_error *note)
{
    size_t n = state->labels.n, name_size;
    const char *name = gsai_schema_label(state->schema, &name_size);
    bool is_table = state->n_label_values > 2, is_few = n <= GSAI_FEW_VALUES;
    if (!loss_is_auto(state) || (!is_table && (is_few || !all_labels_are_numbers(&state->labels))))
        return false;
    if (!gsai_loss_has_classes(state->loss))
        (void)gsai_fail(note, GSA_LABEL, "a number, since the label has %llu different values",
                        (unsigned long long)state->n_label_values);
    else
        (void)gsai_fail(note, GSA_LABEL, "%zu classes, %s", n,
                        !is_table ? "one for each whole number"
                        : is_few  ? "since the label has few different values"
                                  : "since they are numbered from 0 and evenly frequent");
    gsai_error_prefix(note, name_size > 0 ? "predicts '%.*s': " : "predicts %.*s",
                      (int)(name_size < 80 ? name_size : 80), name);
    return true;
}

/* ---- labels of later rows ---------------------------------------------------------------------------------------- */

static gsa_status class_of(gsa_state *state, const gsa_batch *batch, size_t row, size_t *out, gsa_error *error)
{
    const gsai_label *known = state->labels.at;
    *out = state->labels.n == 2 && known[1].number == batch->label[row]; /* most often there are two */
    if (state->labels.n == 2 && known[*out].is_number && known[*out].number == batch->label[row] &&
        !gsai_row_is_word(batch, row))
        return GSA_OK;
    *out = gsai_labels_find_row(&state->labels, batch, row);
    if (*out != GSAI_NO_LABEL)
        return GSA_OK;
    GSA_TRY(check_fraction(state, batch, row, error));
    /* A label stays known for good: everything else that can fail comes first, or takes it out again. */
    gsai_row view = gsai_row_at(batch, row);
    size_t n_before = state->labels.n;
    GSA_TRY(gsai_state_fit_row(state, &view, error));
    GSA_TRY(gsai_labels_add_row(&state->labels, batch, row, out, error));
    gsa_status status = check_classes(state, batch, "there are", n_before, row, error);
    if (status == GSA_OK)
        status = fit_labels(state, error);
    if (status != GSA_OK)
        forget_labels(state, n_before);
    return status;
}

static gsa_status number_of(const gsa_state *state, const gsa_batch *batch, size_t row, double *out, gsa_error *error)
{
    if (gsai_row_is_word(batch, row))
        return gsai_fail_row(
            error, GSA_LABEL, row, "label '%s' is a word, but %s; choose softmax loss if labels are names of classes",
            batch->words[batch->word[row]],
            loss_is_auto(state) ? "the first rows had numbers to predict" : "this loss predicts numbers");
    *out = batch->label[row];
    if (state->loss->has_log_link && *out < 0)
        return gsai_fail_row(error, GSA_LABEL, row,
                             "label %g is below 0, and %s loss predicts counts or rates; choose squared loss for other "
                             "numbers",
                             *out, state->loss->name);
    return GSA_OK;
}

gsa_status gsai_label_take(gsa_state *state, const gsa_batch *batch, size_t row, size_t *class_number, double *y,
                           gsa_error *error)
{
    return about_loss(error, gsai_loss_has_classes(state->loss) ? class_of(state, batch, row, class_number, error)
                                                                : number_of(state, batch, row, y, error));
}
