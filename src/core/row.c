/* One row of a batch. */
#include "core/row.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"

#include <string.h>

gsa__row gsa__row_at(const gsa_batch *batch, size_t row)
{
    if (!batch->index)
        return (gsa__row){batch->width, NULL, batch->value + row * batch->width};
    size_t from = (size_t)batch->row_start[row];
    size_t n = (size_t)(batch->row_start[row + 1] - batch->row_start[row]);
    return (gsa__row){n, batch->index + from, batch->value ? batch->value + from : NULL};
}

uint64_t gsa__row_width(const gsa__row *row)
{
    uint64_t width = 0;
    if (!row->index) {
        for (size_t i = row->n; i > 0 && width == 0; i--)
            width = row->value[i - 1] != 0 ? i : 0;
        return width;
    }
    for (size_t i = 0; i < row->n; i++)
        if (row->index[i] >= width && (!row->value || row->value[i] != 0))
            width = (uint64_t)row->index[i] + 1;
    return width;
}

static uint64_t hash_label(const gsa_batch *batch, size_t row)
{
    char number[GSA__NUMBER_TEXT];
    const char *text = number;
    if (!batch->label)
        return 0;
    if (batch->word && batch->word[row] >= 0)
        text = batch->words[batch->word[row]];
    else
        gsa__number_text(batch->label[row], number);
    return gsa__hash(text, strlen(text), 0);
}

uint64_t gsa__row_hash(const gsa_batch *batch, size_t row_number)
{
    gsa__row row = gsa__row_at(batch, row_number);
    float weight = batch->weight ? batch->weight[row_number] : 1.0f;
    uint32_t weight_bits;
    memcpy(&weight_bits, &weight, sizeof weight_bits);
    uint64_t hash = gsa__mix(hash_label(batch, row_number) ^ weight_bits);
    for (size_t i = 0; i < row.n; i++) {
        float value = row.value ? row.value[i] : 1.0f;
        uint32_t bits, id = row.index ? row.index[i] : (uint32_t)i;
        if (value == 0)
            continue;
        memcpy(&bits, &value, sizeof bits);
        hash = gsa__mix(hash ^ ((uint64_t)id << 32 | bits));
    }
    return hash;
}

gsa_status gsa__batch_check(const gsa_batch *batch, int needs_labels, gsa_error *error)
{
    if (batch->n_rows == 0)
        return GSA_OK;
    if (batch->index ? !batch->row_start : !batch->value && batch->width > 0)
        return gsa__fail(error, GSA_ARGUMENT, "a batch of sparse rows needs row_start, one of dense rows value");
    if (!batch->index && (uint64_t)batch->width > (uint64_t)GSA_MAX_ID + 1)
        return gsa__fail(error, GSA_ARGUMENT, "dense rows of %zu values are too wide", batch->width);
    if (needs_labels && !batch->label)
        return gsa__fail(error, GSA_ARGUMENT, "these rows have no labels to learn from");
    return GSA_OK;
}
