/* Numbers as people write them; counts and sizes in whole numbers throughout, so that 18446744073709551615 is exact. */
#include "number.h"

#include <string.h>

/* A decimal as mantissa * 10^exponent, read from the front of a text. */
typedef struct decimal {
    uint64_t mantissa;
    int exponent;
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool times(uint64_t *number, uint64_t factor)
{
    if (factor != 0 && *number > UINT64_MAX / factor)
        return false;
    *number *= factor;
    return true;
}

static bool push_digit(decimal *number, char digit)
{
    uint64_t value = (uint64_t)(digit - '0');
    if (!times(&number->mantissa, 10) || number->mantissa > UINT64_MAX - value)
        return false;
    number->mantissa += value;
    return true;
}

/* Digits, with single underscores between them. NULL if there is none or they are too many. */
static const char *read_digits(const char *at, decimal *number, int *n_digits)
{
    if (!is_digit(*at))
        return NULL;
    for (*n_digits = 0; is_digit(*at) || (*at == '_' && is_digit(at[1])); at++) {
        if (*at == '_')
            continue;
        if (!push_digit(number, *at))
            return NULL;
        ++*n_digits;
    }
    return at;
}

static const char *read_exponent(const char *at, int *exponent)
{
    bool negative = *at == '-';
    if (*at == '+' || *at == '-')
        at++;
    if (!is_digit(*at))
        return NULL;
    int value = 0;
    for (; is_digit(*at); at++) {
        value = 10 * value + (*at - '0');
        if (value > 99)
            return NULL;
    }
    *exponent += negative ? -value : value;
    return at;
}

/* The number at the front of the text; gives what follows it, NULL if there is no number. */
static const char *read_decimal(const char *at, decimal *out)
{
    int n_digits = 0;
    *out = (decimal){0, 0};
    if (*at != '.') /* .3 is a number too */
        at = read_digits(at, out, &n_digits);
    if (at != NULL && *at == '.') {
        at = read_digits(at + 1, out, &n_digits);
        out->exponent = -n_digits;
    }
    if (at != NULL && (*at == 'e' || *at == 'E'))
        at = read_exponent(at + 1, &out->exponent);
    return at;
}

/* number * unit as a whole number; false where there is a rest or no room. */
static bool make_whole(decimal number, uint64_t unit, uint64_t *out)
{
    *out = number.mantissa;
    if (!times(out, unit))
        return false;
    for (; number.exponent < 0 && *out != 0; number.exponent++) {
        if (*out % 10 != 0)
            return false;
        *out /= 10;
    }
    for (; number.exponent > 0 && *out != 0; number.exponent--) {
        if (!times(out, 10))
            return false;
    }
    return true;
}

bool number_parse_count(const char *text, uint64_t *out)
{
    decimal number;
    const char *rest = read_decimal(text, &number);
    return rest != NULL && *rest == '\0' && make_whole(number, 1, out);
}

bool number_parse_real(const char *text, double *out)
{
    decimal number;
    const char *rest = read_decimal(text, &number);
    if (rest == NULL || *rest != '\0')
        return false;
    double power = 1;
    for (int i = number.exponent; i != 0; i += i < 0 ? 1 : -1)
        power *= 10;
    *out = number.exponent < 0 ? (double)number.mantissa / power : (double)number.mantissa * power;
    return true;
}

/* The unit named by a suffix, 0 if there is none of that name. */
static uint64_t unit_of(const char *suffix)
{
    static const char letters[] = "KMGT";
    if (*suffix == '\0' || strcmp(suffix, "B") == 0)
        return 1;
    char letter = *suffix >= 'a' && *suffix <= 'z' ? (char)(*suffix - 'a' + 'A') : *suffix;
    const char *found = strchr(letters, letter);
    const char *rest = suffix + 1;
    if (found == NULL || (*rest != '\0' && strcmp(rest, "B") != 0 && strcmp(rest, "iB") != 0))
        return 0;
    return (uint64_t)1 << (10 * (found - letters + 1));
}

bool number_parse_size(const char *text, uint64_t *out)
{
    decimal number;
    const char *rest = read_decimal(text, &number);
    uint64_t unit = rest != NULL ? unit_of(rest) : 0;
    return unit != 0 && make_whole(number, unit, out);
}
