/* Crosses of features. */
#include "data/format/cross.h"

#include "base/byte_order.h"
#include "base/hash.h"

#include <math.h>
#include <string.h>

#define NAME_SIZE 512

static size_t put(char *out, size_t at, const char *text, size_t size)
{
    size_t n = size < NAME_SIZE - at ? size : NAME_SIZE - at;
    memcpy(out + at, text, n);
    return at + n;
}

/* "column=word", or the column of a number, cut where it is too long. */
static size_t put_term(char *out, size_t at, const gsai_term *term)
{
    at = put(out, at, term->name, term->name_size);
    if (term->word_size > 0 && term->name_size > 0)
        at = put(out, at, "=", 1);
    return term->word_size > 0 ? put(out, at, term->word, term->word_size) : at;
}

bool gsai_cross_add(gsai_features *features, const gsai_format_input *input, uint32_t base, const gsai_term *a,
                    const gsai_term *b)
{
    float value = a->value * b->value;
    if (a->value == 0 || b->value == 0)
        return true;
    unsigned char both[16];
    gsai_store_u64(a->hash, both);
    gsai_store_u64(b->hash, both + 8);
    uint32_t id = (uint32_t)(gsai_hash(both, sizeof both, 0) & ((UINT64_C(1) << input->schema->bits) - 1));
    if (gsai_feature_names_is_new(input->names, id)) {
        char name[NAME_SIZE];
        size_t size = put_term(name, put(name, put_term(name, 0, a), "*", 1), b);
        gsai_feature_names_enter(input->names, id, "", 0, name, size);
    }
    gsai_features_add(features, base + id, value);
    return isfinite(value);
}
