/* What is wrong with a line of libsvm text, in words: kept apart so that the parser reads as the grammar does. Each
 * function looks again, at leisure, at what the parser refused, and returns the status. `at` is where the offending
 * token begins. */
#ifndef GSA_DATA_FORMAT_LIBSVM_ERROR_H
#define GSA_DATA_FORMAT_LIBSVM_ERROR_H

#include "data/format/line_text.h"

const char *gsai_libsvm_token_end(const gsai_line *line, const char *at);

/* The first token of a line is neither a number nor a word that can be a label. */
gsa_status gsai_libsvm_fail_label(const gsai_line *line, const char *at, const char *end, gsa_error *error);
gsa_status gsai_libsvm_fail_label_range(const gsai_line *line, const char *at, const char *end, gsa_error *error);
/* What begins at `at` is not digits and a colon. */
gsa_status gsai_libsvm_fail_index(const gsai_line *line, const char *at, gsa_error *error);
/* The index is 0, too high, or not above the previous one (0: there is none). */
gsa_status gsai_libsvm_fail_order(const gsai_line *line, const char *at, uint64_t index, uint64_t previous,
                                  gsa_error *error);
/* What begins at `at`, after a colon, is no number. */
gsa_status gsai_libsvm_fail_value(const gsai_line *line, const char *at, gsa_error *error);
gsa_status gsai_libsvm_fail_value_range(const gsai_line *line, const char *at, const char *end, gsa_error *error);
/* There is a NUL byte at or after `at`. */
gsa_status gsai_libsvm_fail_nul(const gsai_line *line, const char *at, gsa_error *error);

#endif
