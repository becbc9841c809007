/* One row of a batch. */
#include "core/row.h"

#include "base/error.h"
#include "base/hash.h"

#include <math.h>
#include <string.h>

gsa_status gsa__row_weight(const gsa_batch *batch, size_t row, double *out, gsa_error *error)
{
    double c = *out = batch->weight ? (double)batch->weight[row] : 1.0;
    if (!(c >= 0) || !isfinite(c))
        return gsa__fail(error, GSA_INPUT, "the weight of the row is %g, expected a finite number of at least 0", c);
    return GSA_OK;
}

uint64_t gsa__row_word_hash(const gsa_batch *batch, size_t row)
{
    const char *text = batch->words[batch->word[row]];
    return gsa__hash(text, strlen(text), 0);
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

uint64_t gsa__row_hash(const gsa_batch *batch, size_t row_number)
{
    return gsa__row_hash_with(batch, row_number, gsa__row_features_hash(batch, row_number));
}
