/* Characters: what may stand in a label, and how a piece of input is shown in a message. */
#ifndef GSA_DATA_TEXT_H
#define GSA_DATA_TEXT_H

#include "base/text.h"

#include <greedystep/greedystep.h>

#include <string.h>

/* A byte order mark, which may stand at the beginning of a file and is no part of its text. */
#define GSA__MARK_SIZE 3
static inline bool gsa__is_mark(const char *text, const char *end)
{
    return end - text >= GSA__MARK_SIZE && memcmp(text, "\xEF\xBB\xBF", GSA__MARK_SIZE) == 0;
}

#define GSA__LABEL_SIZE 255 /* bytes of a label that is a word, at most */

/* Why these bytes cannot be a label that is a word in a format where it may have blanks, or NULL. */
const char *gsa__word_objection(const char *text, size_t size);

/* Why these bytes cannot be a label that is a word in libsvm text: a phrase that ends a message, or NULL if they can.
 * A word that looks like a number is not this function's business. */
const char *gsa__label_objection(const char *text, size_t size);

/* Whether the text is this word of lower-case ASCII letters, in any case. */
bool gsa__equals_word(const char *text, size_t size, const char *word);

/* inf, infinity, nan, nan(...), with or without a sign, in any case. */
bool gsa__is_nonfinite_word(const char *text, size_t size);

/* Whether the text of a cell says that there is no value: nothing, NaN, null or NA, in any case. */
bool gsa__is_absent(const char *text, size_t size);

/* A quotation for messages: cut after a few dozen bytes, control characters and bytes that are no UTF-8 as \xHH. */
#define GSA__QUOTE_SIZE 64
const char *gsa__quote(const char *text, size_t size, char buffer[GSA__QUOTE_SIZE]);

#endif
