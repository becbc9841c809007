/* Numbers as text, whatever the process's locale; words and their letters. */
#ifndef GSA_BASE_TEXT_H
#define GSA_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The shortest decimal that reads back to the same double; finite values only. Returns its length. */
#define GSAI_NUMBER_TEXT 32
size_t gsai_number_text(double number, char out[GSAI_NUMBER_TEXT]);

/* A count: digits, with `_` between them and a power of ten (`1e6`) allowed. False if it is anything else or too large.
 */
bool gsai_count_parse(const char *text, uint64_t *out);

/* How many letters one must insert, delete, change or swap to get from a to b; for "did you mean". */
size_t gsai_edit_distance(const char *a, const char *b);

/* Bytes (1 to 4) of the well-formed UTF-8 character at text, 0 if there is none within size bytes. */
size_t gsai_utf8_character(const char *text, size_t size);

/* UTF-8 without NUL, and not empty: what a label can be. */
bool gsai_is_text(const char *text, size_t size);

/* Bytes of the directory part of a path, the last separator included; 0 for a bare name. */
size_t gsai_directory_len(const char *path);

#endif
