/* What somebody would come to who looks at no feature: the scale that a loss is read by.
 *
 * The library does not count labels. The rows of the first block are read again, which are all rows of a file that a
 * team has learned: a moment, also where the input is long. */
#include "inspect_data.h"
#include "train.h"
#include "views.h"

#include <math.h>
#include <string.h>

static bool count_labels(gsa_reader *reader, data_labels *labels, bool *is_exact)
{
    gsa_batch batch;
    row_label label;
    gsa_status status = gsa_reader_rewind(reader, NULL);
    bool is_fine = status == GSA_OK;
    while (is_fine && labels->n_rows < GSA_BLOCK_ROWS && (status = gsa_reader_next(reader, &batch, NULL)) == GSA_OK) {
        is_fine = batch.weight == NULL && batch.label != NULL;
        for (size_t r = 0; is_fine && r < batch.n_rows && labels->n_rows < GSA_BLOCK_ROWS; r++)
            is_fine = labels_add(labels, &batch, r, &label);
    }
    *is_exact = status == GSA_END;
    return is_fine && (status == GSA_OK || status == GSA_END) && labels->n_rows > 1;
}

/* The share of each class as its probability; of numbers, their mean. */
static double loss_of(const data_labels *labels, const char *loss)
{
    double sum = 0, n = (double)labels->n_rows, deviation = moments_deviation(&labels->numbers);
    if (strcmp(loss, "squared") == 0)
        return labels->n_words == 0 ? deviation * deviation / 2 : (double)NAN;
    if ((strcmp(loss, "logistic") != 0 && strcmp(loss, "softmax") != 0) || labels->values.sketch != NULL)
        return NAN;
    for (size_t i = 0; i < labels->values.n; i++) {
        double share = (double)labels->values.entry[i].count / n;
        sum -= share * log(share);
    }
    return sum;
}

double train_guess_loss(gsa_reader *reader, const char *loss, bool *is_exact)
{
    data_labels labels;
    double guess = NAN;
    gsa_reader_progress reading = progress_of(reader);
    if (reading.is_stream || reading.bytes_total == 0) /* a query may take long to be asked again */
        return guess;
    if (labels_init(&labels) && count_labels(reader, &labels, is_exact))
        guess = loss_of(&labels, loss);
    value_set_free(&labels.values);
    return guess;
}
