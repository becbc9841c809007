/* Characters: labels, quotations. */
#include "data/format/input_text.h"

#include <stdio.h>

/* C0, DEL and C1 (U+0080 to U+009F, in UTF-8 C2 80 to C2 9F). */
static bool is_control(const char *text, size_t len)
{
    unsigned char first = (unsigned char)text[0];
    if (len == 1)
        return first < 0x20 || first == 0x7F;
    return len == 2 && first == 0xC2 && (unsigned char)text[1] < 0xA0;
}

const char *gsai_label_objection(const char *text, size_t size)
{
    if (size == 0)
        return "a label cannot be empty";
    if (size > GSAI_LABEL_SIZE)
        return "a label has at most 255 bytes";
    if (memchr(text, '\0', size))
        return "a NUL byte cannot stand in text";
    for (size_t i = 0; i < size;) {
        size_t len = gsai_utf8_character(text + i, size - i);
        if (len == 0)
            return "a label must be UTF-8";
        if (is_control(text + i, len))
            return "a label cannot have control characters";
        i += len;
    }
    return NULL;
}

bool gsai_equals_word(const char *text, size_t size, const char *word)
{
    if (size != strlen(word))
        return false;
    for (size_t i = 0; i < size; i++)
        if ((text[i] | 0x20) != word[i])
            return false;
    return true;
}

bool gsai_is_nonfinite_word(const char *text, size_t size)
{
    size_t sign = size > 0 && (*text == '+' || *text == '-');
    text += sign;
    size -= sign;
    if (gsai_equals_word(text, size, "inf") || gsai_equals_word(text, size, "infinity"))
        return true;
    return size >= 3 && gsai_equals_word(text, 3, "nan") && (size == 3 || (text[3] == '(' && text[size - 1] == ')'));
}

/* One rule for every format: an empty cell, NaN, null and NA are absent. */
bool gsai_is_absent(const char *text, size_t size)
{
    if (size == 0 || size > 4)
        return size == 0;
    size_t sign = *text == '+' || *text == '-';
    return gsai_equals_word(text + sign, size - sign, "nan") || gsai_equals_word(text, size, "null") ||
           gsai_equals_word(text, size, "na");
}

bool gsai_means_missing(const char *text, size_t size)
{
    if (size == 1)
        return *text == '-' || *text == '?' || *text == '.';
    if (size > 0 && (*text | 0x20) != 'n' && *text != '-' && *text != '+')
        return false;
    return gsai_is_absent(text, size) || gsai_equals_word(text, size, "n/a") || gsai_equals_word(text, size, "none");
}

const char *gsai_quote(const char *text, size_t size, char buffer[GSAI_QUOTE_SIZE])
{
    const size_t room = GSAI_QUOTE_SIZE - sizeof "...";
    size_t n = 0, i = 0;
    while (i < size) {
        size_t len = gsai_utf8_character(text + i, size - i);
        bool plain = len > 0 && !is_control(text + i, len);
        if (n + (plain ? len : 4) > room)
            break;
        if (plain) {
            memcpy(buffer + n, text + i, len);
            n += len;
        } else {
            n += (size_t)snprintf(buffer + n, sizeof "\\xHH", "\\x%02X", (unsigned)(unsigned char)text[i]);
        }
        i += plain ? len : 1;
    }
    memcpy(buffer + n, i < size ? "..." : "", i < size ? sizeof "..." : 1);
    return buffer;
}
