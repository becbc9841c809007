/* Pairs by bitmaps: where the bytes lie that are no digits is computed for 64 bytes at a time, without a branch, so
 * that neither the length of a number nor the end of the one before delays the next.
 *
 * A short value is the quotient of two integers that are doubles without error (number.h): it rounds once. */
#include "data/format/pairs.h"

#include "data/format/digits.h"

/* The bytes from `block` on that are no digits and were not taken yet. */
typedef struct others {
    const char *block;
    uint64_t bits;
} others;

static inline const char *next_other(others *o)
{
    while (o->bits == 0) {
        o->block += 64;
        o->bits = gsai_others(o->block);
    }
    const char *at = o->block + __builtin_ctzll(o->bits);
    o->bits &= o->bits - 1;
    return at;
}

static inline bool ends_token(const char *p, const char *end)
{
    return *p == ' ' || *p == '\t' || p == end;
}

/* 1 to 7 digits [. 1 to 8 digits] at p, `after` being the first byte that is no digit: returns the end of the value, or
 * NULL if it is something else. */
static inline const char *read_value(others *o, const char *p, const char *after, const char *end, float *out)
{
    static const double power[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
    size_t n = (size_t)(after - p), n_fraction = 0;
    if (n - 1 >= 7)
        return NULL;
    double mantissa = n == 1 ? *p - '0' : (double)(int64_t)gsai_read_digits(p, n);
    if (*after == '.') {
        const char *fraction = after + 1;
        after = next_other(o);
        n_fraction = (size_t)(after - fraction);
        if (n_fraction - 1 >= 8)
            return NULL;
        mantissa = mantissa * power[n_fraction] + (double)(int64_t)gsai_read_digits(fraction, n_fraction);
    }
    *out = (float)(mantissa / power[n_fraction]);
    return ends_token(after, end) ? after : NULL;
}

const char *gsai_pairs_take(gsai_pairs *pairs, const char *p, const char *end)
{
    others o = {p, gsai_others(p)};
    uint32_t *index = pairs->index + pairs->n;
    float *value = pairs->value + pairs->n;
    uint64_t previous = pairs->previous;
    bool all_ones = pairs->all_ones;
    while (p < end) {
        const char *colon = next_other(&o);
        size_t n = (size_t)(colon - p);
        if (n - 1 >= 8 || *colon != ':') {
            if (n > 0 || (*p != ' ' && *p != '\t'))
                break;
            p++;
            continue;
        }
        uint64_t id = gsai_read_digits(p, n);
        if (id <= previous)
            break;
        const char *after = next_other(&o);
        bool is_one = (after == colon + 2) & (colon[1] == '1'); /* one branch, which can be foreseen */
        if (is_one && ends_token(after, end)) {
            *index++ = (uint32_t)(id - 1);
            *value++ = 1;
        } else {
            float x;
            after = read_value(&o, colon + 1, after, end, &x);
            if (!after)
                break;
            *index = (uint32_t)(id - 1);
            *value = x;
            index += x != 0; /* a zero is the same as an absent feature: its place is taken by the next */
            value += x != 0;
            all_ones = all_ones && (x == 1 || x == 0);
        }
        previous = id;
        p = after + (after < end);
    }
    pairs->n = (size_t)(index - pairs->index);
    pairs->previous = previous;
    pairs->all_ones = all_ones;
    return p;
}
