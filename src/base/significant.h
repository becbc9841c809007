/* Numbers to so many significant decimal digits, whatever the process's locale. */
#ifndef GSA_BASE_SIGNIFICANT_H
#define GSA_BASE_SIGNIFICANT_H

#include <stdint.h>

#define GSAI_DECIMAL_SIZE 32 /* room for any number; no NUL is written */

/* d.ddd * 10^exponent; the last digit is not 0 unless it is the only one. */
typedef struct gsai_significant {
    char digit[24];
    int n;
    int exponent;
} gsai_significant;

/* Rounded as "%.*e" does, the exact value to the nearest; value > 0 and finite. */
void gsai_significant_round(double value, int n_digits, gsai_significant *out);

/* Each writes to out and returns the end of what it wrote. */
char *gsai_decimal_unsigned(uint64_t value, char *out);
/* Without an exponent, which must be at least -5. */
char *gsai_significant_plain(const gsai_significant *number, char *out);
/* d.ddd and an e, which the exponent follows. */
char *gsai_significant_mantissa(const gsai_significant *number, char *out);
/* What "%.*g" prints in the C locale. */
char *gsai_decimal_general(double value, int n_digits, char *out);

#endif
