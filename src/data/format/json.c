/* Flat JSON objects, taken apart where they lie. */
#include "data/format/json.h"

#include "base/text.h"

#include <string.h>

bool gsai_json_matches(const unsigned char *start, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (start[i] == '\0' || !strchr(" \t\r\n\xEF\xBB\xBF", start[i]))
            return start[i] == '{';
    return false;
}

typedef struct object {
    const char *p, *end;
    char *copy; /* where the next string with escapes goes */
} object;

static void skip_blanks(object *from)
{
    while (from->p < from->end && (*from->p == ' ' || *from->p == '\t' || *from->p == '\r'))
        from->p++;
}

/* Passes over a character, with the blanks before it. */
static bool take(object *from, char c)
{
    skip_blanks(from);
    bool is_there = from->p < from->end && *from->p == c;
    from->p += is_there;
    return is_there;
}

/* Reads four hexadecimal digits; returns UINT32_MAX if not found. */
static uint32_t take_hex(const char *p, const char *end)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        const char *digit = p + i < end && p[i] ? strchr(digits, gsai_is_digit(p[i]) ? p[i] : p[i] | 0x20) : NULL;
        if (!digit)
            return UINT32_MAX;
        value = value * 16 + (uint32_t)(digit - digits);
    }
    return value;
}

/* Takes the character of an escape behind its backslash, at *p; returns false if the escape is unknown. A surrogate
 * comes with its other half. */
static bool take_escape(const char **p, const char *end, char **out)
{
    static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    const char *letter = *p < end && **p ? strchr(letters, **p) : NULL;
    if (letter) {
        *(*out)++ = means[letter - letters];
        ++*p;
        return true;
    }
    uint32_t c = *p < end && **p == 'u' ? take_hex(*p + 1, end) : UINT32_MAX;
    *p += 5;
    if (c >= 0xD800 && c < 0xDC00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        uint32_t low = take_hex(*p + 2, end);
        c = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00) : UINT32_MAX;
        *p += 6;
    }
    if (c == UINT32_MAX || c == 0 || (c >= 0xD800 && c < 0xE000))
        return false;
    *out = gsai_put_utf8(c, *out);
    return true;
}

/* A string whose quote is at p: where it lies, or copied if it has escapes. Returns what is wrong at p, or NULL. */
static const char *take_string(object *from, gsai_text_cell *out)
{
    const char *start = from->p + 1, *p = start;
    char *to = from->copy;
    unsigned char all = 0; /* bits of its bytes */
    for (; p < from->end && *p != '"' && *p != '\\' && (unsigned char)*p >= ' '; p++)
        all |= (unsigned char)*p;
    *out = (gsai_text_cell){.text = start, .size = (size_t)(p - start), .at = from->p};
    if (p < from->end && *p == '\\') {
        memcpy(to, start, out->size);
        to += out->size;
        while (p < from->end && *p != '"' && (unsigned char)*p >= ' ') {
            const char *escape = p;
            if (*p != '\\') {
                all |= (unsigned char)*p;
                *to++ = *p++;
            } else if (p++, !take_escape(&p, from->end, &to)) {
                from->p = escape;
                return "not an escape of JSON strings";
            }
        }
        *out = (gsai_text_cell){.text = from->copy, .size = (size_t)(to - from->copy), .at = from->p};
        *to++ = '\n';
        from->copy = to;
    }
    if (p >= from->end)
        return "the string that begins here does not end in this line";
    if (*p != '"') {
        from->p = p;
        return "a control character cannot stand in a string: write an escape, such as \\t or \\n";
    }
    if (all >= 0x80 && !gsai_is_text(out->text, out->size))
        return "the string that begins here is not UTF-8: save the file as UTF-8";
    from->p = p + 1;
    return NULL;
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && gsai_is_digit(*p))
        p++;
    return p;
}

/* Returns the end of the JSON number that begins at p; p if not found. */
static const char *end_of_number(const char *p, const char *end)
{
    const char *start = p, *digits = p + (p < end && *p == '-'), *whole = skip_digits(digits, end);
    bool is_number = whole > digits && (*digits != '0' || whole == digits + 1);
    p = whole;
    if (is_number && p < end && *p == '.') {
        const char *fraction = skip_digits(p + 1, end);
        is_number = fraction > p + 1;
        p = fraction;
    }
    if (is_number && p < end && (*p == 'e' || *p == 'E')) {
        p += 1 + (p + 1 < end && (p[1] == '+' || p[1] == '-'));
        const char *exponent = skip_digits(p, end);
        is_number = exponent > p;
        p = exponent;
    }
    return is_number ? p : start;
}

/* The value behind a key. */
static const char *take_value(object *from, gsai_text_cell *out)
{
    skip_blanks(from);
    const char *start = from->p;
    if (start < from->end && *start == '"')
        return take_string(from, out);
    if (start < from->end && (*start == '{' || *start == '['))
        return "a value is an object or a list: columns are flat; take such values apart with a query";
    while (from->p < from->end && *from->p && !strchr(",} \t\r", *from->p))
        from->p++;
    *out = (gsai_text_cell){.text = start, .size = (size_t)(from->p - start), .at = start};
    bool is_true = out->size == 4 && memcmp(start, "true", 4) == 0;
    bool is_false = out->size == 5 && memcmp(start, "false", 5) == 0;
    if (is_true || is_false) {
        out->text = is_true ? "1\n" : "0\n";
        out->size = 1;
    } else if (out->size == 4 && memcmp(start, "null", 4) == 0) {
        out->size = 0;
    } else if (out->size == 0 || end_of_number(start, from->p) != from->p) {
        bool is_number = out->size > 0 && (gsai_is_digit(*start) || *start == '-');
        from->p = start;
        return is_number ? "not a number of JSON: digits without leading zeros, and digits on both sides of a point"
                         : "expected a value: a string, a number, true, false or null";
    }
    return NULL;
}

/* Returns the number of a key, which is mostly the one after the last; -1 if out of memory, -2 if it is not known. */
static int32_t find_key(gsai_words *keys, bool collects, const gsai_text_cell *name, int32_t guess)
{
    if ((size_t)guess < keys->n_words && strlen(keys->word[guess]) == name->size &&
        memcmp(keys->word[guess], name->text, name->size) == 0)
        return guess;
    int32_t number = gsai_words_find(keys, name->text, name->size);
    if (number >= 0 || !collects)
        return number >= 0 ? number : -2;
    return gsai_words_add(keys, name->text, name->size) ? (int32_t)keys->n_words - 1 : -1;
}

const char *gsai_json_cells(const char *start, const char *end, gsai_words *keys, bool collects, gsai_text_cell *cell,
                            char *copy, const char **at)
{
    object from = {start, end, copy};
    int32_t number = -1;
    const char *first = NULL; /* the first key: where cells without a value lie */
    const char *objection = take(&from, '{') ? NULL : "expected an object per line: {\"name\": value, ...}";
    for (bool more = !objection && !take(&from, '}'); more && !objection; more = !objection && !take(&from, '}')) {
        gsai_text_cell name, value;
        *at = from.p;
        if (number >= 0 && !take(&from, ','))
            return "expected a comma or the end of the object";
        skip_blanks(&from);
        const char *key = *at = from.p;
        if (from.p == from.end || *from.p != '"')
            return "expected a key in quotes and a colon";
        objection = take_string(&from, &name);
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
        number = find_key(keys, collects, &name, number + 1);
        *at = key;
        if (number < 0)
            objection = number == -1 ? "no memory for the names of the columns"
                                     : "neither the first rows nor a model have this key: ignore it";
        else if (!collects && cell[number].at != first)
            objection = "the object has this key twice";
        else if (!collects)
            cell[number] = value;
    }
    skip_blanks(&from);
    if (!objection) {
        *at = from.p;
        objection = from.p == end ? NULL : "text after the object: expected one object per line";
    }
    return objection;
}
