/* Offsets of rows. */
#include "learn/offset.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/real.h"

#include <float.h>
#include <math.h>
#include <string.h>

gsa_status gsai_offset_move(const gsai_offset *offset, gsai_bent *memory, const gsai_env *env, gsai_row *row,
                            gsa_error *error)
{
    size_t n = 0, at = 0;
    while (offset->loss && at < row->n && gsai_row_id(row, at) != offset->feature)
        at++;
    if (!offset->loss || at == row->n)
        return GSA_OK;
    GSAI_TRY_MEMORY(gsai_reserve(env, &memory->index, &memory->index_capacity, row->n, sizeof *memory->index) &&
                        gsai_reserve(env, &memory->value, &memory->value_capacity, row->n, sizeof *memory->value),
                    env, error, "no memory for a row of %zu entries", row->n);
    for (size_t i = 0; i <= row->n; i++) {
        size_t from = i < row->n ? i : at;
        if (i == at || gsai_row_value(row, from) == 0)
            continue;
        memory->index[n] = gsai_row_id(row, from);
        memory->value[n++] = gsai_row_value(row, from);
    }
    *row = (gsai_row){n, memory->index, memory->value};
    return GSA_OK;
}

double gsai_offset_weight(const gsai_offset *offset, double o, double c)
{
    return o != 0 && offset->loss->has_log_link ? (double)fminf((float)c * (float)gsai_exp(o), FLT_MAX) : c;
}

double gsai_offset_number(const gsai_offset *offset, double o, double y)
{
    if (o == 0 || gsai_loss_has_classes(offset->loss))
        return o == 0 ? y : o;
    return offset->loss->has_log_link ? fmin(y / gsai_exp(o), DBL_MAX) : y - o;
}

gsa_status gsai_offset_check(const gsai_offset *offset, double o, size_t row, gsa_error *error)
{
    const double log_of_largest_float = 88, log_of_smallest = -87;
    if (o == 0 || (isfinite(o) && (!offset->loss->has_log_link || (o < log_of_largest_float && o > log_of_smallest))))
        return GSA_OK;
    return gsai_fail_row(error, GSA_INPUT, row, "the offset %g is too large: it is added to the margin%s", o,
                         offset->loss->has_log_link ? ", of which the prediction is an exponential" : "");
}

uint64_t gsai_offset_hash(const gsai_loss *loss, uint64_t hash, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return number != 0 && gsai_loss_has_classes(loss) ? gsai_mix(hash ^ gsai_mix(bits)) : hash;
}
