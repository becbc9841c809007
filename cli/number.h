/* Counts and sizes as people write them: 10_000, 1e6, 2.5e3; 512M, 2G, 1.5GiB. */
#ifndef GREEDYSTEP_CLI_NUMBER_H
#define GREEDYSTEP_CLI_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Exact: false if the text is no whole number or does not fit. */
bool number_parse_count(const char *text, uint64_t *out);
/* Bytes; K, M, G, T are powers of 1024, with or without B or iB, in either case. */
bool number_parse_size(const char *text, uint64_t *out);

#endif
