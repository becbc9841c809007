/* Numbers as people write them. Counts: 10_000, 1e6, 2.5e3. Sizes: 512M, 2G, 1.5GiB. Real numbers: 0.5, 1e-3. */
#ifndef GREEDYSTEP_CLI_NUMBER_H
#define GREEDYSTEP_CLI_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Exact: false if the text is no whole number or does not fit. */
bool number_parse_count(const char *text, uint64_t *out);
/* To the nearest double or its neighbour, never below 0. */
bool number_parse_real(const char *text, double *out);
/* Bytes; K, M, G, T are powers of 1024, with or without B or iB, in either case. */
bool number_parse_size(const char *text, uint64_t *out);

#endif
