/* One row of a batch. */
#include "core/row.h"

#include "base/error.h"
#include "base/hash.h"

#include <math.h>
#include <string.h>

gsa__row gsa__row_at(const gsa_batch *batch, size_t row)
{
    if (!batch->index)
        return (gsa__row){batch->width, NULL, batch->width > 0 ? batch->value + row * batch->width : batch->value};
    size_t from = (size_t)batch->row_start[row];
    size_t n = (size_t)(batch->row_start[row + 1] - batch->row_start[row]);
    return (gsa__row){n, batch->index + from, batch->value ? batch->value + from : NULL};
}

gsa_status gsa__row_weight(const gsa_batch *batch, size_t row, double *out, gsa_error *error)
{
    double c = *out = batch->weight ? (double)batch->weight[row] : 1.0;
    if (!(c >= 0) || !isfinite(c))
        return gsa__fail(error, GSA_INPUT, "the weight of the row is %g, expected a finite number of at least 0", c);
    return GSA_OK;
}

uint64_t gsa__row_label_hash(const gsa_batch *batch, size_t row)
{
    if (!batch->label)
        return 0;
    if (gsa__row_is_word(batch, row) && (size_t)batch->word[row] < batch->n_words) {
        const char *text = batch->words[batch->word[row]];
        return gsa__hash(text, strlen(text), 0);
    }
    double number = batch->label[row] + 0.0; /* -0 is 0 */
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

gsa__row_look gsa__row_look_at(const gsa__row *row)
{
    gsa__row_look look = {0};
    uint64_t position = 0;
    for (size_t i = 0; i < row->n; i++) {
        uint32_t bits = GSA__ONE_BITS, id = row->index ? row->index[i] : (uint32_t)i;
        if (row->value)
            memcpy(&bits, &row->value[i], sizeof bits);
        look.last = id > look.last ? id : look.last;
        if (bits << 1 != 0) /* neither 0 nor -0 */
            look.hash += gsa__hash_entry(++position, id, bits);
    }
    look.hash = gsa__mix(look.hash);
    return look;
}

uint64_t gsa__row_features_hash(const gsa_batch *batch, size_t row_number)
{
    gsa__row row = gsa__row_at(batch, row_number);
    return gsa__row_look_at(&row).hash;
}

uint64_t gsa__row_hash_with(const gsa_batch *batch, size_t row_number, uint64_t features_hash)
{
    float weight = batch->weight ? batch->weight[row_number] : 1.0f;
    uint32_t weight_bits;
    memcpy(&weight_bits, &weight, sizeof weight_bits);
    return gsa__mix(features_hash ^ gsa__mix(gsa__row_label_hash(batch, row_number) ^ weight_bits));
}

uint64_t gsa__row_hash(const gsa_batch *batch, size_t row_number)
{
    return gsa__row_hash_with(batch, row_number, gsa__row_features_hash(batch, row_number));
}
