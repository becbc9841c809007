/* The slow path of decimal numbers: strtod in a locale of our own. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the system asks for it */
#define _GNU_SOURCE /* strtod_l */

#include "data/format/number.h"

#include "base/memory.h"

#include <locale.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <xlocale.h> /* strtod_l */
#endif

struct gsai_number_locale {
    locale_t c;
};

gsai_number_locale *gsai_number_locale_new(const gsa_env *env)
{
    gsai_number_locale *locale = gsai_alloc(env, 1, sizeof *locale);
    if (!locale)
        return NULL;
    locale->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (locale->c == (locale_t)0) {
        gsai_free(env, locale);
        return NULL;
    }
    return locale;
}

void gsai_number_locale_free(const gsa_env *env, gsai_number_locale *locale)
{
    if (!locale)
        return;
    freelocale(locale->c);
    gsai_free(env, locale);
}

const char *gsai_number_exponent(const char *text, int64_t *exponent)
{
    const int64_t far = 1000000000; /* a mantissa cannot be long enough to bring this back into range */
    bool negative = *text == '-';
    const char *p = text + (*text == '-' || *text == '+');
    if (!gsai_is_digit(*p))
        return NULL;
    int64_t value = 0;
    for (; gsai_is_digit(*p); p++)
        if (value < far)
            value = value * 10 + (*p - '0');
    *exponent = negative ? -value : value;
    return p;
}

static bool has_nonzero_digit(const char *p, const char *end)
{
    for (; p < end && *p != 'e' && *p != 'E'; p++)
        if (*p >= '1' && *p <= '9')
            return true;
    return false;
}

void gsai_number_slow(const gsai_number_locale *locale, const char *text, gsai_number *out)
{
    out->has_nonzero = has_nonzero_digit(text, out->after);
    out->value = out->has_nonzero ? strtod_l(text, NULL, locale->c) : *text == '-' ? -0.0 : 0.0;
}
