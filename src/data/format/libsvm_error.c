/* What is wrong with a line of libsvm text, in words. */
#include "data/format/libsvm_error.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

const char *gsai_libsvm_token_end(const gsai_line *line, const char *at)
{
    while (at < line->end && !gsai_is_blank(*at))
        at++;
    return at;
}

static bool begins_with(const gsai_line *line, const char *at, const char *text)
{
    size_t size = strlen(text);
    return (size_t)(line->end - at) >= size && memcmp(at, text, size) == 0;
}

gsa_status gsai_libsvm_fail_nul(const gsai_line *line, const char *at, gsa_error *error)
{
    const char *nul = memchr(at, '\0', (size_t)(line->end - at));
    return gsai_fail_line(error, GSA_INPUT, line->number, gsai_line_offset(line, nul ? nul : at),
                          "a NUL byte in the line: expected text; is this a binary file, or UTF-16?");
}

/* A token that cannot be what was expected there because it has a NUL byte in it is reported as that. */
static bool has_nul(const char *at, const char *end)
{
    return memchr(at, '\0', (size_t)(end - at)) != NULL;
}

gsa_status gsai_libsvm_fail_label(const gsai_line *line, const char *at, const char *end, gsa_error *error)
{
    if (has_nul(at, end))
        return gsai_libsvm_fail_nul(line, at, error);
    uint64_t number = 0;
    const char *after = gsai_number_digits(at, &number);
    if ((after > at && *after == ':') || begins_with(line, at, "qid:"))
        return gsai_line_fail(line, at, end, "the line begins with", "the label is missing in front of it", error);
    const char *objection = gsai_label_objection(at, (size_t)(end - at));
    return gsai_line_fail(line, at, end, "label", objection ? objection : "expected a number or a word", error);
}

gsa_status gsai_libsvm_fail_label_range(const gsai_line *line, const char *at, const char *end, gsa_error *error)
{
    return gsai_line_fail(line, at, end, "label", "the number does not fit a double", error);
}

gsa_status gsai_libsvm_fail_order(const gsai_line *line, const char *at, uint64_t index, uint64_t previous,
                                  gsa_error *error)
{
    uint64_t byte = gsai_line_offset(line, at);
    if (index == 0)
        return gsai_fail_line(error, GSA_INPUT, line->number, byte, "index 0: libsvm indices start at 1");
    if (index > (uint64_t)GSA_MAX_ID + 1)
        return gsai_fail_line(error, GSA_INPUT, line->number, byte, "index %" PRIu64 ": the highest index is %" PRIu64,
                              index, (uint64_t)GSA_MAX_ID + 1);
    if (index == previous)
        return gsai_fail_line(error, GSA_INPUT, line->number, byte, "index %" PRIu64 " twice: indices must ascend",
                              index);
    return gsai_fail_line(error, GSA_INPUT, line->number, byte,
                          "index %" PRIu64 " after %" PRIu64 ": indices must ascend", index, previous);
}

gsa_status gsai_libsvm_fail_index(const gsai_line *line, const char *at, gsa_error *error)
{
    const char *end = gsai_libsvm_token_end(line, at);
    if (has_nul(at, end))
        return gsai_libsvm_fail_nul(line, at, error);
    if (begins_with(line, at, "qid:"))
        return gsai_line_fail(line, at, end, "query id", "qid: (ranking) is not supported; remove it", error);
    uint64_t index = 0;
    const char *after = gsai_number_digits(at, &index);
    if (after == at)
        return gsai_line_fail(line, at, end, "feature", "expected INDEX:VALUE with an index of digits only", error);
    if (*after == ':')
        return gsai_line_fail(line, at, after, "index", "at most ten digits; the highest index is 4294967294", error);
    if (after == end)
        return gsai_line_fail(line, at, end, "feature", "expected a colon and a value after the index", error);
    return gsai_line_fail(line, at, end, "feature", "expected a colon after the digits of the index", error);
}

gsa_status gsai_libsvm_fail_value(const gsai_line *line, const char *at, gsa_error *error)
{
    const char *end = gsai_libsvm_token_end(line, at);
    if (has_nul(at, end))
        return gsai_libsvm_fail_nul(line, at, error);
    if (at == end)
        return gsai_fail_line(error, GSA_INPUT, line->number, gsai_line_offset(line, at),
                              "the value is missing after the colon: expected a decimal number");
    if (gsai_is_nonfinite_word(at, (size_t)(end - at)))
        return gsai_line_fail(line, at, end, "value", "values must be finite", error);
    return gsai_line_fail(line, at, end, "value", "expected a decimal number and then a blank", error);
}

gsa_status gsai_libsvm_fail_value_range(const gsai_line *line, const char *at, const char *end, gsa_error *error)
{
    return gsai_line_fail(line, at, end, "value", GSAI_NO_FLOAT, error);
}
