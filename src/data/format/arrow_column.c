/* Columns of Arrow batches: their types, whether their arrays hold together, and their cells. */
#include "data/format/arrow_column.h"

#include "base/half.h"
#include "base/text.h"
#include "data/format/input_text.h"
#include "data/format/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers: one function per type ----------------------------------------------------------------------------- */

#define COPY_NUMBERS(name, type)                                                 \
    static void copy_##name(const void *data, int64_t at, size_t n, double *out) \
    {                                                                            \
        const type *from = (const type *)data + at;                              \
        for (size_t i = 0; i < n; i++)                                           \
            out[i] = (double)from[i];                                            \
    }

COPY_NUMBERS(i8, int8_t)
COPY_NUMBERS(u8, uint8_t)
COPY_NUMBERS(i16, int16_t)
COPY_NUMBERS(u16, uint16_t)
COPY_NUMBERS(i32, int32_t)
COPY_NUMBERS(u32, uint32_t)
COPY_NUMBERS(i64, int64_t)
COPY_NUMBERS(u64, uint64_t)
COPY_NUMBERS(f32, float)
COPY_NUMBERS(f64, double)

static void copy_f16(const void *data, int64_t at, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        float x;
        gsa_half_read(GSA_HALF_F16, (const uint16_t *)data + at + i, 1, &x);
        out[i] = (double)x;
    }
}

static void copy_bool(const void *data, int64_t at, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++, at++)
        out[i] = (double)(((const uint8_t *)data)[at / 8] >> at % 8 & 1);
}

/* Returns the function of a type; NULL: its cells are not plain numbers. */
static gsai_arrow_copy copy_of(char type)
{
    static const struct {
        char type;
        gsai_arrow_copy copy;
    } types[] = {{'c', copy_i8},  {'C', copy_u8},  {'s', copy_i16}, {'S', copy_u16}, {'i', copy_i32}, {'I', copy_u32},
                 {'l', copy_i64}, {'L', copy_u64}, {'e', copy_f16}, {'f', copy_f32}, {'g', copy_f64}, {'b', copy_bool}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type)
            return types[i].copy;
    return NULL;
}

/* ---- types ------------------------------------------------------------------------------------------------------ */

/* "d:precision,scale" of 128 bits; false if it is another. */
static bool is_decimal(const char *format, unsigned *scale)
{
    const char *comma = strncmp(format, "d:", 2) == 0 ? strchr(format, ',') : NULL;
    *scale = 0;
    const char *p = comma ? comma + 1 : "";
    bool has_digits = gsai_is_digit(*p);
    for (; gsai_is_digit(*p) && *scale < 100; p++)
        *scale = *scale * 10 + (unsigned)(*p - '0');
    return has_digits && *scale <= 22 && (!strchr(comma + 1, ',') || strcmp(strchr(comma + 1, ','), ",128") == 0);
}

static char scalar_type(const char *format, unsigned *scale)
{
    static const char *const dates[] = {"tdD", "tdm", "tss:", "tsm:", "tsu:", "tsn:"};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++)
        if (strncmp(format, dates[i], strlen(dates[i])) == 0)
            return "DM0369"[i];
    if (is_decimal(format, scale))
        return 'd';
    static const char units[] = "smun";
    const char *unit = strncmp(format, "tD", 2) == 0 && strlen(format) == 3 ? strchr(units, format[2]) : NULL;
    if (unit) {
        *scale = (unsigned)(unit - units) * 3;
        return 't';
    }
    if (strcmp(format, "vu") == 0)
        return 'v';
    return (char)(strlen(format) == 1 && strchr("nbcCsSiIlLefguU", *format) ? *format : '\0');
}

/* Returns whether metadata has the key "greedystep" with the value "text": the dictionary is an encoding, as Parquet
 * has it for texts, and no type that was declared. Sizes and texts follow each other, keys and values by turns. */
static bool is_encoded_text(const char *at)
{
    int32_t n = 0, size = 0;
    bool is_ours = false;
    if (at) {
        memcpy(&n, at, sizeof n);
        at += sizeof n;
    }
    for (int64_t i = 0; i < 2 * (int64_t)n; i++, at += size) {
        memcpy(&size, at, sizeof size);
        at += sizeof size;
        if (is_ours && i % 2 == 1)
            return size == 4 && memcmp(at, "text", 4) == 0;
        is_ours = size == 10 && memcmp(at, "greedystep", 10) == 0;
    }
    return false;
}

void gsai_arrow_column_init(gsai_arrow_column *column, const struct ArrowSchema *schema)
{
    const struct ArrowSchema *cells = schema;
    const char *format = schema->format;
    *column = (gsai_arrow_column){.schema = schema, .name = schema->name ? schema->name : ""};
    if (schema->dictionary) {
        column->index = scalar_type(format, &column->scale);
        column->is_category = !is_encoded_text(schema->metadata);
        cells = schema->dictionary;
    } else if (*format == '+' && schema->n_children == 1 && (strcmp(format, "+l") == 0 || strcmp(format, "+L") == 0)) {
        column->list = format[1];
        cells = schema->children[0];
    } else if (strncmp(format, "+w:", 3) == 0 && schema->n_children == 1 &&
               gsai_count_parse(format + 3, &column->width)) {
        column->list = 'w';
        cells = schema->children[0];
    }
    column->type = scalar_type(cells->format, &column->scale);
    if ((schema->dictionary && !gsai_arrow_is_integer(column->index)) || (cells != schema && cells->dictionary) ||
        (column->list && (gsai_arrow_is_text(column->type) || gsai_arrow_is_date(column->type))))
        column->type = '\0';
    column->copy = copy_of(column->type);
    column->copy_index = copy_of(column->index);
}

const char *gsai_arrow_type_name(const struct ArrowSchema *schema)
{
    static const char *const names[] = {
        "+s", "struct",  "+m", "map",    "+u", "union",        "+r", "run-end encoded", "+v", "list view",
        "+",  "list",    "z",  "binary", "Z",  "large binary", "vz", "binary view",     "w:", "fixed-size binary",
        "d:", "decimal", "tt", "time",   "tD", "duration",     "ti", "interval"};
    const char *format = (schema->dictionary ? schema->dictionary : schema)->format;
    for (size_t i = 0; i < sizeof names / sizeof *names; i += 2)
        if (strncmp(format, names[i], strlen(names[i])) == 0)
            return names[i + 1];
    return format;
}

/* ---- cells ------------------------------------------------------------------------------------------------------ */

static bool is_valid(const struct ArrowArray *array, int64_t at)
{
    const uint8_t *bits = array->n_buffers > 0 ? array->buffers[0] : NULL;
    return !bits || (bits[at / 8] >> at % 8 & 1);
}

static int64_t offset_at(const struct ArrowArray *array, bool is_large, int64_t at)
{
    return is_large ? ((const int64_t *)array->buffers[1])[at] : ((const int32_t *)array->buffers[1])[at];
}

/* A view: its size, then up to 12 bytes of text, or 4 of them, the number of a buffer and where it stands in it. */
typedef struct view {
    int32_t size, prefix, buffer, start;
} view;

static view view_at(const struct ArrowArray *array, int64_t at)
{
    view out;
    memcpy(&out, (const char *)array->buffers[1] + (size_t)at * sizeof out, sizeof out);
    return out;
}

static inline gsai_text_cell text_at(char type, const struct ArrowArray *array, int64_t at)
{
    gsai_text_cell out = {0};
    if (type == 'v') {
        view seen = view_at(array, at);
        out.size = (size_t)seen.size;
        out.text = seen.size <= 12 ? (const char *)array->buffers[1] + (size_t)at * sizeof seen + sizeof seen.size
                                   : (const char *)array->buffers[2 + seen.buffer] + seen.start;
    } else {
        int64_t start = offset_at(array, type == 'U', at);
        out.size = (size_t)(offset_at(array, type == 'U', at + 1) - start);
        out.text = out.size > 0 ? (const char *)array->buffers[2] + start : "";
    }
    return gsai_cell_trim(out);
}

/* A day, or a count of units since 1970, rounded down to days and seconds. */
static gsai_date date_at(char type, const void *data, int64_t at)
{
    if (type == 'D')
        return (gsai_date){((const int32_t *)data)[at], 0};
    int64_t count = ((const int64_t *)data)[at];
    int64_t units = type == '0' ? 1 : type == '6' ? 1000000 : type == '9' ? 1000000000 : 1000, day = 86400 * units;
    int64_t days = count / day - (count % day < 0);
    return (gsai_date){days, (uint32_t)((count % day + (count % day < 0 ? day : 0)) / units)};
}

static double power_of_ten(unsigned scale)
{
    double power = 1;
    for (unsigned i = 0; i < scale; i++)
        power *= 10;
    return power;
}

/* Exact where the digits are at most 2^53, as text would be. */
static double decimal_at(const void *data, int64_t at, unsigned scale)
{
    uint64_t word[2];
    memcpy(word, (const char *)data + (size_t)at * sizeof word, sizeof word);
    const bool is_little = *(const unsigned char *)&(const uint16_t){1} == 1;
    uint64_t low = word[is_little ? 0 : 1], high = word[is_little ? 1 : 0];
    bool is_negative = high >> 63;
    if (is_negative) {
        low = ~low + 1;
        high = ~high + (low == 0);
    }
    double value = (double)high * 0x1p64 + (double)low;
    return (is_negative ? -value : value) / power_of_ten(scale);
}

static gsai_arrow_cell read_scalar(const gsai_arrow_column *column, const struct ArrowArray *array, int64_t at)
{
    const char type = column->type;
    gsai_arrow_cell cell = {.kind = GSAI_CELL_ABSENT};
    at += array->offset;
    if (type == 'n' || !is_valid(array, at))
        return cell;
    if (gsai_arrow_is_text(type)) {
        const gsai_text_cell text = text_at(type, array, at);
        const gsai_cell_kind kind = gsai_is_absent(text.text, text.size) ? GSAI_CELL_ABSENT : GSAI_CELL_WORD;
        return (gsai_arrow_cell){.kind = kind, .text = text.text, .size = text.size};
    }
    if (column->copy) {
        column->copy(array->buffers[1], at, 1, &cell.number);
        cell.whole = type == 'l' || type == 'L' ? ((const int64_t *)array->buffers[1])[at] : 0;
    } else if (gsai_arrow_is_date(type)) {
        cell.date = date_at(type, array->buffers[1], at);
        cell.number = gsai_date_value(cell.date);
        cell.whole = type == 'D' ? 0 : ((const int64_t *)array->buffers[1])[at];
    } else if (type == 'd') {
        cell.number = decimal_at(array->buffers[1], at, column->scale);
    } else { /* a duration: days, as dates count */
        cell.number = (double)((const int64_t *)array->buffers[1])[at] / (86400 * power_of_ten(column->scale));
    }
    cell.kind = isnan(cell.number) ? GSAI_CELL_ABSENT : GSAI_CELL_NUMBER;
    return cell;
}

static int64_t location(const gsai_arrow_column *column, int64_t row)
{
    const struct ArrowArray *array = column->array;
    int64_t at = row + array->offset;
    if (!is_valid(array, at))
        return -1;
    if (column->index == 'i') /* what nearly all have */
        return ((const int32_t *)array->buffers[1])[at];
    if (column->index == 'l' || column->index == 'L')
        return ((const int64_t *)array->buffers[1])[at];
    double number;
    column->copy_index(array->buffers[1], at, 1, &number);
    return (int64_t)number;
}

gsai_arrow_cell gsai_arrow_read(const gsai_arrow_column *column, int64_t row)
{
    if (!column->index)
        return read_scalar(column, column->array, row);
    int64_t place = location(column, row);
    return place < 0 ? (gsai_arrow_cell){.kind = GSAI_CELL_ABSENT} : read_scalar(column, column->values, place);
}

size_t gsai_arrow_list(const gsai_arrow_column *column, int64_t row, int64_t *first)
{
    row += column->array->offset;
    *first = 0;
    if (!is_valid(column->array, row))
        return 0;
    *first = column->list == 'w' ? row * (int64_t)column->width : offset_at(column->array, column->list == 'L', row);
    return column->list == 'w' ? (size_t)column->width
                               : (size_t)(offset_at(column->array, column->list == 'L', row + 1) - *first);
}

gsai_arrow_text gsai_arrow_terminate(const gsai_arrow_cell *cell)
{
    gsai_arrow_text out;
    bool fits = cell->size < sizeof out.text;
    out.size = fits ? cell->size : sizeof out.text - 1;
    memset(out.text, 'x', sizeof out.text);
    if (fits && cell->size > 0)
        memcpy(out.text, cell->text, cell->size);
    out.text[out.size] = '\n';
    return out;
}

bool gsai_arrow_floats(const gsai_arrow_column *column, int64_t first, size_t n, float *out)
{
    const struct ArrowArray *array = column->values;
    const int64_t at = first + array->offset;
    if ((column->type != 'f' && column->type != 'e') || (array->buffers[0] && array->null_count != 0))
        return false;
    if (column->type == 'e')
        gsa_half_read(GSA_HALF_F16, (const uint16_t *)array->buffers[1] + at, n, out);
    else
        memcpy(out, (const float *)array->buffers[1] + at, n * sizeof *out);
    int n_bad = 0;
    for (size_t i = 0; i < n; i++)
        n_bad |= !isfinite(out[i]);
    return !n_bad;
}

void gsai_arrow_items(const gsai_arrow_column *column, int64_t first, size_t n, double *out)
{
    const struct ArrowArray *array = column->values;
    const int64_t at = first + array->offset;
    if (column->copy)
        column->copy(array->buffers[1], at, n, out);
    const bool has_nulls = column->copy && array->buffers[0] && (array->null_count != 0 || !column->list);
    for (size_t i = 0; i < n && has_nulls; i++)
        out[i] = is_valid(array, at + (int64_t)i) ? out[i] : (double)NAN;
    for (size_t i = 0; i < n && !column->copy; i++) {
        gsai_arrow_cell cell = read_scalar(column, array, first + (int64_t)i);
        out[i] = cell.kind == GSAI_CELL_NUMBER ? cell.number : (double)NAN;
    }
}

void gsai_arrow_words(gsai_arrow_column *column, const gsai_key *key, int64_t row, size_t n)
{
    const struct ArrowArray *array = column->values;
    for (size_t i = 0; i < n; i++) {
        int64_t at = column->index ? location(column, row + (int64_t)i) : row + (int64_t)i;
        bool has_text = at >= 0 && is_valid(array, at + array->offset);
        gsai_text_cell cell = has_text ? text_at(column->type, array, at + array->offset) : (gsai_text_cell){0};
        bool is_missing = gsai_is_missing(cell.text, cell.size);
        column->block.word[i] = is_missing
                                    ? (gsai_arrow_word){0}
                                    : (gsai_arrow_word){cell.text, cell.size, gsai_key_hash(key, cell.text, cell.size)};
    }
}

/* ---- whether an array holds together ---------------------------------------------------------------------------- */

static const char *check_offsets(const struct ArrowArray *array, bool is_large, int64_t max)
{
    int64_t last = array->length > 0 ? offset_at(array, is_large, array->offset) : 0;
    bool ascend = last >= 0;
    for (int64_t i = 1; i <= array->length && ascend; i++) {
        int64_t next = offset_at(array, is_large, array->offset + i);
        ascend = next >= last;
        last = next;
    }
    return ascend && last <= max ? NULL : "its offsets descend, or lie beyond what they are offsets of";
}

static const char *check_views(const struct ArrowArray *array)
{
    const int64_t *sizes = array->buffers[array->n_buffers - 1];
    for (int64_t at = array->offset; at < array->offset + array->length; at++) {
        view seen = is_valid(array, at) ? view_at(array, at) : (view){0};
        bool fits =
            seen.size >= 0 && (seen.size <= 12 || (seen.buffer >= 0 && seen.buffer < array->n_buffers - 3 &&
                                                   seen.start >= 0 && sizes[seen.buffer] - seen.size >= seen.start));
        if (!fits)
            return "its views lie outside of their buffers";
    }
    return NULL;
}

/* Lengths that can be added up, and as many buffers as the type has; the first is that of nulls. */
static const char *check_shape(const struct ArrowArray *array, int64_t n_buffers, bool has_more)
{
    if (!array || array->length < 0 || array->offset < 0 || array->offset >= INT64_MAX - array->length)
        return "the length or the offset of its array is not one";
    bool is_whole = array->n_buffers >= n_buffers && (has_more || array->n_buffers == n_buffers) &&
                    (n_buffers == 0 || array->buffers);
    bool has_data = is_whole && (n_buffers < 2 || array->length == 0 || array->buffers[1]);
    return has_data ? NULL : "buffers of its array are missing";
}

static const char *check_scalars(char type, const struct ArrowArray *array)
{
    bool is_text = gsai_arrow_is_text(type);
    const char *objection = check_shape(array, type == 'n' ? 0 : is_text ? 3 : 2, type == 'v' || type == 'n');
    if (objection || !is_text)
        return objection;
    return type == 'v' ? check_views(array) : check_offsets(array, type == 'U', array->buffers[2] ? INT64_MAX : 0);
}

const char *gsai_arrow_column_take(gsai_arrow_column *column, const struct ArrowArray *array, int64_t end)
{
    const char *objection = column->list ? check_shape(array, column->list == 'w' ? 1 : 2, false)
                                         : check_scalars(column->index ? column->index : column->type, array);
    if (!objection && array->length < end)
        objection = "it has fewer rows than its batch";
    if (!objection && column->list && (array->n_children != 1 || !array->children))
        objection = "the items of its list are missing";
    if (objection)
        return objection;
    column->array = column->values = array;
    if (!column->list && !column->index)
        return NULL;
    column->values = column->list ? array->children[0] : array->dictionary;
    objection = check_scalars(column->type, column->values);
    if (objection)
        return objection;
    if (column->list == 'w') {
        const uint64_t width = column->width, n_items = (uint64_t)column->values->length;
        bool fits = width == 0 || (uint64_t)(array->offset + array->length) <= n_items / width;
        return fits ? NULL : "its list has fewer items than rows need";
    }
    if (column->list)
        return check_offsets(array, column->list == 'L', column->values->length);
    bool fits = true;
    for (int64_t i = 0; i < array->length; i++) {
        int64_t place = location(column, i);
        fits &= place < column->values->length && (place >= 0 || !is_valid(array, i + array->offset));
    }
    return fits ? NULL : "its indices lie outside its dictionary";
}

void gsai_arrow_make_word(gsai_arrow_column *column, gsai_arrow_cell *cell)
{
    if (column->type == 'l')
        cell->size = (size_t)snprintf(column->digits, sizeof column->digits, "%" PRId64, cell->whole);
    else if (column->type == 'L')
        cell->size = (size_t)snprintf(column->digits, sizeof column->digits, "%" PRIu64, (uint64_t)cell->whole);
    else if (isinf(cell->number))
        cell->size = (size_t)snprintf(column->digits, sizeof column->digits, "%s", cell->number > 0 ? "inf" : "-inf");
    else
        cell->size = gsai_number_text(cell->number, column->digits);
    cell->text = column->digits;
}

void gsai_arrow_make_text(gsai_arrow_column *column, gsai_arrow_cell *cell)
{
    const size_t room = sizeof column->digits;
    char *out = column->digits;
    if (column->type == 'b') {
        cell->size = (size_t)snprintf(out, room, "%s", cell->number != 0 ? "true" : "false");
        cell->text = out;
        return;
    }
    if (!gsai_arrow_is_date(column->type)) {
        gsai_arrow_make_word(column, cell);
        return;
    }
    gsai_calendar day = gsai_calendar_of(cell->date.days);
    int size = snprintf(out, room, "%04" PRId64 "-%02d-%02d", day.year, day.month, day.day);
    if (column->type != 'D' && column->type != 'M') {
        /* The time of a timestamp: its seconds with the digits of its unit if they are not 0, and Z for an instant. */
        const struct ArrowSchema *of = column->schema->dictionary ? column->schema->dictionary : column->schema;
        int n_digits = column->type - '0';
        int64_t unit = n_digits == 3 ? 1000 : n_digits == 6 ? 1000000 : n_digits == 9 ? 1000000000 : 1;
        int64_t rest = cell->whole % unit;
        unsigned seconds = cell->date.seconds;
        size += snprintf(out + size, room - (size_t)size, "T%02u:%02u:%02u", seconds / 3600, seconds / 60 % 60,
                         seconds % 60);
        if (rest != 0)
            size += snprintf(out + size, room - (size_t)size, ".%0*" PRId64, n_digits, rest < 0 ? rest + unit : rest);
        bool has_zone = strlen(of->format) > strlen("tss:");
        size += snprintf(out + size, room - (size_t)size, "%s", has_zone ? "Z" : "");
    }
    cell->size = (size_t)size;
    cell->text = out;
}
