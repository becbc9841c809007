/* Flat JSON objects, taken apart where they lie. */
#include "data/format/json.h"

#include "base/text.h"
#include "data/format/digits.h"

#include <string.h>

bool gsai_json_matches(const unsigned char *start, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (start[i] == '\0' || !strchr(" \t\r\n\xEF\xBB\xBF", start[i]))
            return start[i] == '{';
    return false;
}

/* The bytes of the line that are left: a newline ends them, which none of these functions passes over. */
typedef struct object {
    const char *p;
    char *copy; /* where the next string with escapes goes */
} object;

static const char *skip_blanks(object *from)
{
    const char *p = from->p;
    while ((unsigned char)*p <= ' ' && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    return from->p = p;
}

/* Passes over a character, with the blanks before it. */
static bool take(object *from, char c)
{
    skip_blanks(from);
    bool is_there = *from->p == c;
    from->p += is_there;
    return is_there;
}

/* Reads four hexadecimal digits; returns UINT32_MAX if not found. */
static uint32_t take_hex(const char *p)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        const char *digit = p[i] ? strchr(digits, gsai_is_digit(p[i]) ? p[i] : p[i] | 0x20) : NULL;
        if (!digit)
            return UINT32_MAX;
        value = value * 16 + (uint32_t)(digit - digits);
    }
    return value;
}

/* Takes the character of an escape, whose backslash is before p; returns what follows, or NULL if the escape is
 * unknown. A surrogate comes with its other half. */
static const char *take_escape(const char *p, char **out)
{
    static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    const char *letter = *p ? strchr(letters, *p) : NULL;
    if (letter) {
        *(*out)++ = means[letter - letters];
        return p + 1;
    }
    uint32_t c = *p == 'u' ? take_hex(p + 1) : UINT32_MAX;
    p += 5;
    if (c >= 0xD800 && c < 0xDC00 && p[0] == '\\' && p[1] == 'u') {
        uint32_t low = take_hex(p + 2);
        c = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00) : UINT32_MAX;
        p += 6;
    }
    if (c == UINT32_MAX || c == 0 || (c >= 0xD800 && c < 0xE000))
        return NULL;
    *out = gsai_put_utf8(c, *out);
    return p;
}

/* A string whose quote is at p: where it lies, or copied if it has escapes. Returns what is wrong at p, or NULL. */
static const char *take_string(object *from, gsai_text_cell *out)
{
    const char *start = from->p + 1, *p = start;
    uint64_t all = 0, word, ends; /* bits of its bytes */
    for (;; p += 8, all |= word) {
        word = gsai_load_word(p);
        ends = gsai_string_ends(word);
        if (ends != 0)
            break;
    }
    p += (size_t)__builtin_ctzll(ends) / 8;
    all |= word & ((ends & -ends) - 1);
    all &= UINT64_C(0x8080808080808080);
    *out = (gsai_text_cell){.text = start, .size = (size_t)(p - start), .at = from->p};
    if (*p == '\\') {
        char *to = from->copy + out->size;
        memcpy(from->copy, start, out->size);
        while (*p != '"' && (unsigned char)*p >= ' ') {
            const char *after = *p == '\\' ? take_escape(p + 1, &to) : p + 1;
            if (!after) {
                from->p = p;
                return "not an escape of JSON strings";
            }
            if (*p != '\\') {
                all |= (unsigned char)*p & 0x80;
                *to++ = *p;
            }
            p = after;
        }
        *out = (gsai_text_cell){.text = from->copy, .size = (size_t)(to - from->copy), .at = from->p};
        *to++ = '\n';
        from->copy = to;
    }
    if (*p == '\n')
        return "the string that begins here does not end in this line";
    if (*p != '"') {
        from->p = p;
        return "a control character cannot stand in a string: write an escape, such as \\t or \\n";
    }
    if (all && !gsai_is_text(out->text, out->size))
        return "the string that begins here is not UTF-8: save the file as UTF-8";
    from->p = p + 1;
    return NULL;
}

/* Returns whether the text is a number of JSON: one of ours without a plus and without a zero before other digits, and
 * with digits on both sides of a point. */
static bool is_number(const char *text, size_t size)
{
    const char *digits = text + (*text == '-'), *point = memchr(text, '.', size);
    return gsai_is_digit(*digits) && !(*digits == '0' && gsai_is_digit(digits[1])) &&
           !(point && !gsai_is_digit(point[1])) && gsai_number_split(text).after == text + size;
}

/* Returns the size of a number of JSON without an exponent; 0: it is something else, or has one. */
static size_t size_of_plain(const char *text)
{
    const char *digits = text + (*text == '-'), *p = digits;
    while (gsai_is_digit(*p))
        p++;
    if (p == digits || (*digits == '0' && p - digits > 1))
        return 0;
    if (*p == '.' && gsai_is_digit(p[1]))
        for (p++; gsai_is_digit(*p);)
            p++;
    return *p == ',' || *p == '}' || *p == ' ' || *p == '\n' || *p == '\r' || *p == '\t' ? (size_t)(p - text) : 0;
}

/* The value behind a key. */
static const char *take_value(object *from, gsai_text_cell *out)
{
    const char *start = skip_blanks(from);
    if (*start == '"')
        return take_string(from, out);
    if (*start == '{' || *start == '[')
        return "a value is an object or a list: columns are flat; take such values apart with a query";
    *out = (gsai_text_cell){.text = start, .size = size_of_plain(start), .at = start};
    if (out->size > 0) {
        from->p += out->size;
        return NULL;
    }
    out->size = strcspn(start, ",} \t\r\n");
    bool is_true = gsai_is_word(start, out->size, "true"), is_null = gsai_is_word(start, out->size, "null");
    bool is_truth = is_true || gsai_is_word(start, out->size, "false");
    if (!is_truth && !is_null && !is_number(start, out->size))
        return gsai_is_digit(*start) || *start == '-'
                   ? "not a number of JSON: digits without leading zeros, and digits on both sides of a point"
                   : "expected a value: a string, a number, true, false or null";
    from->p += out->size;
    if (is_truth)
        out->text = is_true ? "1\n        " : "0\n        "; /* padded as other cells */
    if (is_truth || is_null)
        out->size = is_truth;
    return NULL;
}

const char *gsai_json_cells(const char *start, const char *end, gsai_words *keys, bool collects, gsai_text_cell *cell,
                            char *copy, const char **at)
{
    object from = {start, copy};
    int32_t number = -1;
    const char *first = NULL; /* the first key: where cells without a value lie */
    if (!take(&from, '{'))
        return "expected an object per line: {\"name\": value, ...}";
    while (!take(&from, '}')) {
        gsai_text_cell name, value;
        *at = from.p;
        if (number >= 0 && !take(&from, ','))
            return "expected a comma or the end of the object";
        const char *key = *at = skip_blanks(&from);
        if (*key != '"')
            return "expected a key in quotes and a colon";
        const char *objection = take_string(&from, &name);
        *at = from.p;
        if (objection)
            return objection;
        if (!take(&from, ':'))
            return "expected a colon behind the key";
        if (name.size == 0)
            return "a key is empty";
        first = first ? first : key;
        objection = take_value(&from, &value);
        *at = from.p;
        if (objection)
            return objection;
        *at = key;
        number++; /* that of a key is mostly the one after the last */
        if ((size_t)number >= keys->n_words || strncmp(keys->word[number], name.text, name.size) != 0 ||
            keys->word[number][name.size] != '\0')
            number = gsai_words_find(keys, name.text, name.size);
        if (number < 0 && !collects)
            return "neither the first rows nor a model have this key: ignore it";
        if (number < 0) {
            number = (int32_t)keys->n_words;
            if (!gsai_words_add(keys, name.text, name.size))
                return "no memory for the names of the columns";
        }
        if (!collects && cell[number].at != first)
            return "the object has this key twice";
        if (!collects)
            cell[number] = value;
    }
    *at = skip_blanks(&from);
    return from.p == end ? NULL : "text after the object: expected one object per line";
}
