/* Numbers of a struct as tensors, there and back. */
#include "store/fields.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

const gsai_purpose gsai_save_state = {"save the state", "; scale features and labels to a similar range", GSA_LIMIT,
                                      GSA_DIVERGED},
                   gsai_load_state = {"load the state", "", GSA_FORMAT, GSA_FORMAT},
                   gsai_load_model = {"load the model", "", GSA_FORMAT, GSA_FORMAT};

void gsai_snapshot_fields(gsai_snapshot *snapshot, const gsai_field *fields, size_t n, const void *from)
{
    for (size_t i = 0; i < n; i++)
        gsai_snapshot_vector(snapshot, fields[i].name, fields[i].dtype, (const char *)from + fields[i].at,
                             fields[i].len);
}

static gsa_status check_count(const gsai_field *field, uint64_t count, const gsai_purpose *why, gsa_error *error)
{
    return count <= field->limit ? GSA_OK
                                 : gsai_fail(error, why->beyond, "cannot %s: %s is %llu, beyond any run", why->verb,
                                             field->name, (unsigned long long)count);
}

static gsa_status fail_not_finite(const char *name, const gsai_purpose *why, gsa_error *error)
{
    return gsai_fail(error, why->not_finite, "cannot %s: %s has a value that is not finite%s", why->verb, name,
                     why->advice);
}

static gsa_status check_number(const gsai_field *field, double number, const gsai_purpose *why, gsa_error *error)
{
    if (!isfinite(number) && field->limit != GSAI_OR_NAN)
        return fail_not_finite(field->name, why, error);
    if (field->limit == GSAI_NOT_NEGATIVE && number < 0)
        return gsai_fail(error, why->beyond, "cannot %s: %s is negative", why->verb, field->name);
    return GSA_OK;
}

gsa_status gsai_fields_check(const gsai_field *fields, size_t n, const void *from, const gsai_purpose *why,
                             gsa_error *error)
{
    for (size_t i = 0; i < n; i++) {
        const void *element = (const char *)from + fields[i].at;
        for (size_t k = 0; k < fields[i].len; k++)
            GSA_TRY(fields[i].dtype == GSAI_U64 ? check_count(&fields[i], ((const uint64_t *)element)[k], why, error)
                                                : check_number(&fields[i], ((const double *)element)[k], why, error));
    }
    return GSA_OK;
}

gsa_status gsai_fields_restore(const gsai_field *fields, size_t n, const gsai_bundle *bundle, void *to,
                               const gsai_purpose *why, gsa_error *error)
{
    for (size_t i = 0; i < n; i++) {
        const gsai_tensor *found;
        GSA_TRY(gsai_bundle_need(bundle, fields[i].name, fields[i].dtype, fields[i].len, &found, error));
        memcpy((char *)to + fields[i].at, found->data, fields[i].len * gsai_dtype_size(fields[i].dtype));
    }
    return gsai_fields_check(fields, n, to, why, error);
}

/* ---- floats of all tensors ----------------------------------------------------------------------------------------
 */

static bool are_finite(gsai_dtype dtype, const void *elements, size_t n)
{
    size_t n_bad = 0;
    for (size_t i = 0; i < n; i++) {
        double x = dtype == GSAI_F32 ? (double)((const float *)elements)[i] : ((const double *)elements)[i];
        n_bad += isfinite(x) ? 0 : 1;
    }
    return n_bad == 0;
}

gsa_status gsai_snapshot_check_finite(const gsai_snapshot *snapshot, size_t first, gsa_error *error)
{
    enum { STRETCH = 512 };
    double room[STRETCH];
    for (size_t t = first; t < snapshot->bundle.n_tensors; t++) {
        const gsai_tensor *tensor = &snapshot->tensors[t];
        bool is_float = tensor->dtype == GSAI_F32 || tensor->dtype == GSAI_F64;
        uint64_t len = is_float ? gsai_tensor_len(tensor) : 0;
        size_t size = gsai_dtype_size(tensor->dtype);
        for (uint64_t from = 0; from < len; from += STRETCH) {
            size_t n = len - from < STRETCH ? (size_t)(len - from) : STRETCH;
            if (!tensor->data)
                tensor->fill(tensor->ctx, from, n, room);
            if (!are_finite(tensor->dtype, tensor->data ? (const char *)tensor->data + from * size : (char *)room, n))
                return fail_not_finite(tensor->name, &gsai_save_state, error);
        }
    }
    return GSA_OK;
}
