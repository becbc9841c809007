/* Characters: what may stand in a label, and how a piece of input is shown in a message. */
#ifndef GSA_DATA_FORMAT_INPUT_TEXT_H
#define GSA_DATA_FORMAT_INPUT_TEXT_H

#include "base/text.h"

#include <greedystep/greedystep.h>

#include <string.h>

/* A byte order mark, which may stand at the beginning of a file and does not belong to its text. */
#define GSAI_MARK_SIZE 3
static inline bool gsai_is_mark(const char *text, const char *end)
{
    return end - text >= GSAI_MARK_SIZE && memcmp(text, "\xEF\xBB\xBF", GSAI_MARK_SIZE) == 0;
}

#define GSAI_LABEL_SIZE 255 /* bytes of a label that is a word, at most */

/* Returns why these bytes cannot be a word as label, as a phrase that ends a message; NULL if they can. Words that look
 * like numbers are not checked here, nor infinities. */
#define GSAI_LABEL_INFINITE "a label must be finite"
const char *gsai_label_objection(const char *text, size_t size);

/* Returns whether the text is this word. */
static inline bool gsai_is_word(const char *text, size_t size, const char *word)
{
    return strlen(word) == size && memcmp(text, word, size) == 0;
}

/* Returns whether the text is this word of lower-case ASCII letters, in any case. */
bool gsai_equals_word(const char *text, size_t size, const char *word);

/* Returns whether the text is inf, infinity, nan or nan(...), with or without a sign, in any case. */
bool gsai_is_nonfinite_word(const char *text, size_t size);

/* Returns whether the text of a cell means a missing value: nothing, NaN, null or NA, in any case. */
bool gsai_is_absent(const char *text, size_t size);

/* Returns whether the text of a feature's cell says so: also -, ?, a dot, N/A or None, any of which may be a label. */
bool gsai_means_missing(const char *text, size_t size);
static inline bool gsai_is_missing(const char *text, size_t size)
{
    return size <= 4 && gsai_means_missing(text, size);
}

/* A quotation for messages: cut after a few dozen bytes, control characters and bytes that are no UTF-8 as \xHH. */
#define GSAI_QUOTE_SIZE 64
const char *gsai_quote(const char *text, size_t size, char buffer[GSAI_QUOTE_SIZE]);

#endif
