/* Numbers as text, whatever the process's locale; words and their letters. */
#ifndef GSA_BASE_TEXT_H
#define GSA_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The shortest decimal that reads back to the same double; finite values only. Returns its length. */
#define GSAI_NUMBER_TEXT 32
size_t gsai_number_text(double number, char out[GSAI_NUMBER_TEXT]);

/* Parses a count: digits, with `_` between them and a power of ten (`1e6`) allowed. Returns false for all else, and if
 * it is too large. */
bool gsai_count_parse(const char *text, uint64_t *out);

/* Returns how many letters must be inserted, deleted, changed or swapped to get from a to b; for "did you mean". */
size_t gsai_edit_distance(const char *a, const char *b);

/* Returns the bytes (1 to 4) of the well-formed UTF-8 character at text, 0 if not found within size bytes. */
size_t gsai_utf8_character(const char *text, size_t size);

/* Returns whether the bytes are UTF-8. */
bool gsai_is_utf8(const char *text, size_t size);
/* Writes a code point up to U+10FFFF as UTF-8, at most 4 bytes, and returns the end. */
char *gsai_put_utf8(uint32_t c, char *out);
/* Writes a character of Windows-1252 as UTF-8, at most 3 bytes, and returns the end. The five bytes without a character
 * are control characters, as web browsers have it. */
char *gsai_utf8_of_1252(unsigned char c, char *out);

/* Returns whether the bytes are UTF-8 without NUL and not empty, as a label must be. */
bool gsai_is_text(const char *text, size_t size);

/* Bytes of the directory part of a path, the last separator included; 0 for a bare name. */
size_t gsai_directory_len(const char *path);

/* Numbers to a given count of significant decimal digits. */
#define GSAI_DECIMAL_SIZE 32 /* room for any number; no NUL is written */

/* d.ddd * 10^exponent; the last digit is not 0 unless it is the only one. */
typedef struct gsai_significant {
    char digit[24];
    int n;
    int exponent;
} gsai_significant;

/* Rounds a value > 0 and finite as "%.*e" does: the exact value to the nearest. */
void gsai_significant_round(double value, int n_digits, gsai_significant *out);

/* Write to out and return the end of what was written. */
char *gsai_decimal_unsigned(uint64_t value, char *out);
/* Writes the number without an exponent, which must be at least -5. */
char *gsai_significant_plain(const gsai_significant *number, char *out);
/* Writes d.ddd, e and the exponent: 1e-7, 1e22, or as printf does, 1e-07, 1e+22. */
char *gsai_significant_scientific(const gsai_significant *number, bool as_printf, char *out);
/* Writes what "%.*g" prints in the C locale. */
char *gsai_decimal_general(double value, int n_digits, char *out);

#endif
