/* Numbers as people write them. Sizes: 512M, 2G, 1.5GiB. Times: 60s, 5m, 1.5h. Real numbers: 0.5, 1e-3. Counts are
 * gsai_count_parse's. */
#ifndef GREEDYSTEP_CLI_NUMBER_H
#define GREEDYSTEP_CLI_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Parses a real number; returns false if the text is not a number, or a negative one. */
bool number_parse_real(const char *text, double *out);
/* Parses whole bytes, at least one; K, M, G, T are powers of 1024, with or without B or iB, in either case. */
bool number_parse_size(const char *text, uint64_t *out);
/* Parses a time in seconds: with s or without, or in minutes (m), hours (h) or days (d); a year at most. */
bool number_parse_time(const char *text, double *out);

#endif
