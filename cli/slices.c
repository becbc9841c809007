/* Metrics of parts of the rows. */
#include "slices.h"

#include "printable.h"
#include "report.h"
#include "views.h"

#include "base/error.h"
#include "base/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SLICES = 1000, SLICES_SHOWN = 100, DAY_SIZE = sizeof "2026-11-20" - 1, ROWS_AT_ONCE = 256 };

typedef struct slice {
    char *name;
    gsa_metrics *metrics;
    double weight, label, prediction; /* sums, the latter two weighted: of numbers, or of the second of two classes */
} slice;

struct slices {
    const gsa_model *model;
    slice at[MAX_SLICES]; /* ascending by name */
    size_t n;
    bool has_means; /* of predictions and labels */
};

slices *slices_new(const gsa_model *model)
{
    slices *of = calloc(1, sizeof *of);
    if (of != NULL) {
        gsa_model_info info = info_of(model);
        of->model = model;
        of->has_means = info.n_classes <= 2 && strstr(info.loss, "hinge") == NULL;
    }
    return of;
}

void slices_free(slices *of)
{
    for (size_t i = 0; of != NULL && i < of->n; i++) {
        gsa_metrics_free(of->at[i].metrics);
        free(of->at[i].name);
    }
    free(of);
}

/* Returns how much of a cell names its slice: of a moment its day. */
static size_t size_of_name(const char *cell)
{
    static const char shape[] = "0000-00-00";
    size_t size = strlen(cell), n = 0;
    while (n < DAY_SIZE && n < size && (shape[n] == '0' ? cell[n] >= '0' && cell[n] <= '9' : cell[n] == shape[n]))
        n++;
    return n == DAY_SIZE && (cell[n] == 'T' || cell[n] == ' ') ? n : size;
}

/* Finds the slice of a name, or inserts it. */
static gsa_status slice_of(slices *of, const char *name, size_t size, slice **out, gsa_error *error)
{
    size_t low = 0, high = of->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strncmp(of->at[middle].name, name, size);
        if (order == 0 && of->at[middle].name[size] == '\0') {
            *out = &of->at[middle];
            return GSA_OK;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (of->n == MAX_SLICES)
        return gsai_fail_param(error, "by", GSA_ARGUMENT,
                               "the column has more than %d values; give one with fewer, such as a category or a date",
                               MAX_SLICES);
    slice new = {.name = strndup(name, size)};
    if (new.name == NULL)
        return gsai_fail(error, GSA_MEMORY, "out of memory");
    gsa_status status = gsa_metrics_new(of->model, &new.metrics, error);
    if (status != GSA_OK) {
        free(new.name);
        return status;
    }
    memmove(&of->at[low + 1], &of->at[low], (of->n++ - low) * sizeof of->at[0]);
    of->at[low] = new;
    *out = &of->at[low];
    return GSA_OK;
}

/* Adds rows of one slice. */
static gsa_status add_run(const slices *of, slice *to, const gsa_batch *rows, gsa_error *error)
{
    GSA_TRY(gsa_metrics_update(to->metrics, rows, error));
    double number[2 * ROWS_AT_ONCE];
    const bool is_class = info_of(of->model).n_classes == 2;
    const size_t width = is_class ? 2 : 1;
    for (size_t first = 0, n; first < rows->n_rows && of->has_means; first += n) {
        n = rows->n_rows - first < ROWS_AT_ONCE ? rows->n_rows - first : ROWS_AT_ONCE;
        gsa_batch some = gsai_batch_slice(rows, first, n);
        const float *weight = some.weight;
        some.weight = NULL; /* with exposures rates are compared, not counts */
        GSA_TRY(gsa_model_predict(of->model, &some, number, error));
        for (size_t r = 0; r < n; r++) {
            double each = weight != NULL ? (double)weight[r] : 1;
            to->weight += each;
            to->prediction += each * number[r * width + width - 1];
            to->label += is_class ? 0 : each * some.label[r];
        }
    }
    return GSA_OK;
}

gsa_status slices_add(slices *to, const gsa_batch *rows, gsa_error *error)
{
    slice *of = NULL;
    size_t first = 0, size = 0;
    const char *name = "";
    for (size_t r = 0; r < rows->n_rows; r++) {
        const char *cell = rows->kept + rows->kept_start[r];
        size_t length = size_of_name(cell);
        if (r > 0 && length == size && memcmp(cell, name, size) == 0)
            continue;
        if (r > 0) {
            gsa_batch run = gsai_batch_slice(rows, first, r - first);
            GSA_TRY(add_run(to, of, &run, error));
        }
        GSA_TRY(slice_of(to, cell, length, &of, error));
        first = r;
        name = cell;
        size = length;
    }
    gsa_batch run = gsai_batch_slice(rows, first, rows->n_rows - first);
    return rows->n_rows > 0 ? add_run(to, of, &run, error) : GSA_OK;
}

gsa_status slices_finish(slices *of, gsa_error *error)
{
    for (size_t i = 0; i < of->n; i++) {
        slice *each = &of->at[i];
        gsa_status status = gsa_metrics_finish(each->metrics, error);
        if (status != GSA_OK && status != GSA_LABEL) /* a slice may have labels that the model does not know */
            return status;
        gsa_class_metrics positive = {.size = sizeof positive};
        if (info_of(of->model).n_classes == 2 && gsa_metrics_class_at(each->metrics, 1, &positive) == GSA_OK)
            each->label = positive.rows;
    }
    return GSA_OK;
}

/* Prints how many rows, the first metric behind them, and means of labels and predictions. */
void slices_print(const slices *of, const char *column)
{
    gsa_metric rows = {0}, loss = {0};
    if (of->n == 0 || gsa_metrics_at(of->at[0].metrics, 1, &loss) != GSA_OK)
        return;
    putchar('\n');
    report_heading(of->has_means ? "%10s  %16s  %12s  %12s  %s" : "%10s  %16s  %.0s%.0s%s", "rows", loss.name,
                   "observed", "predicted", column);
    for (size_t i = 0; i < of->n && i < SLICES_SHOWN; i++) {
        const slice *each = &of->at[i];
        if (gsa_metrics_at(each->metrics, 0, &rows) != GSA_OK || gsa_metrics_at(each->metrics, 1, &loss) != GSA_OK)
            continue;
        printf("%10.10g  %16.6g  ", rows.value, loss.value);
        if (of->has_means)
            printf("%12.6g  %12.6g  ", each->label / each->weight, each->prediction / each->weight);
        printable_put(stdout, each->name);
        putchar('\n');
    }
    if (of->n > SLICES_SHOWN)
        puts("...; --json has all of them");
}

json_t *slices_json(const slices *of)
{
    json_t *list = json_array();
    for (size_t i = 0; i < of->n; i++) {
        const slice *each = &of->at[i];
        json_t *object = json_object();
        json_object_set_new(object, "value", report_text(each->name));
        report_metrics_json(object, each->metrics);
        if (of->has_means) {
            json_object_set_new(object, "observed", report_real(each->label / each->weight));
            json_object_set_new(object, "predicted", report_real(each->prediction / each->weight));
        }
        json_array_append_new(list, object);
    }
    return list;
}
