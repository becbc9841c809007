/* Records of a table: the bytes that matter (separators, line ends, quotes) are found 64 at a time, without a branch,
 * so that a cell without quotes costs a few instructions whatever its length. */
#include "data/format/records.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/format/digits.h"
#include "data/format/input_text.h"
#include "data/format/json.h"
#include "data/format/table_schema.h"

#include <string.h>

gsa_status gsai_records_init(gsai_records *records, size_t buffer_size, const gsai_env *env, gsa_error *error)
{
    uint64_t affordable = gsai_memory_limit(env) / 4 / GSAI_FIELD_COST + 1;
    *records = (gsai_records){.separator = ',', .most_cells = GSAI_RECORDS_CELLS};
    if (affordable < records->most_cells)
        records->most_cells = (size_t)affordable;
    return gsai_lines_init(&records->lines, buffer_size, env, error);
}

void gsai_records_free(gsai_records *records)
{
    gsai_free(records->lines.env, records->cell);
    gsai_free(records->lines.env, records->copy);
    gsai_lines_free(&records->lines);
}

void gsai_records_begin(gsai_records *records, gsai_decode *stream)
{
    gsai_lines_begin(&records->lines, stream);
    records->declared = '\0';
    gsai_records_back(records, 0);
}

void gsai_records_back(gsai_records *records, size_t held)
{
    records->skipping = false;
    records->held = records->lines.held = held;
    records->at = 0;
    records->line = records->byte = records->n_recoded = 0;
}

/* ---- one record ------------------------------------------------------------------------------------------------- */

typedef enum outcome { COMPLETE, PARTIAL, AFTER_QUOTE, TOO_MANY, NO_MEMORY, NO_OBJECT } outcome;

/* A record being taken apart: [p, end) is what the buffer has of it. */
typedef struct scan {
    const char *p, *end;
    bool is_last;              /* the stream ends at `end` */
    uint64_t n_lines;          /* line ends passed */
    size_t n_cells, n_escaped; /* n_escaped: bytes of cells with doubled quotes */
    const char *objection;     /* to an object, at p */
} scan;

/* A cell that begins with a quote at s->p; *after is the byte behind its end. */
static outcome scan_quoted(scan *s, char separator, gsai_text_cell *out, const char **after)
{
    const char *quote = s->p + 1;
    out->text = quote;
    for (;; quote += 2) {
        const char *found = memchr(quote, '"', (size_t)(s->end - quote));
        if (!found || (found + 1 == s->end && !s->is_last))
            return PARTIAL;
        for (const char *c = quote; c < found; c++)
            s->n_lines += *c == '\n' || (*c == '\r' && c[1] != '\n');
        quote = found;
        if (found + 1 == s->end || found[1] != '"')
            break;
        out->is_escaped = true;
    }
    out->size = (size_t)(quote - out->text);
    s->n_escaped += out->is_escaped ? out->size + 1 : 0;
    const char *at = *after = quote + 1;
    bool is_end = at == s->end || *at == separator || *at == '\n' || *at == '\r';
    s->p = is_end ? s->p : at;
    return is_end ? COMPLETE : AFTER_QUOTE;
}

/* An object a line. A line without one is blank. */
static outcome scan_object(gsai_records *records, scan *s)
{
    const gsai_env *env = records->lines.env;
    const char *newline = memchr(s->p, '\n', (size_t)(s->end - s->p)), *end = newline ? newline : s->end, *at = s->p;
    if (!newline && !s->is_last)
        return PARTIAL;
    size_t n_keys = records->keys->n_words, n_cells = n_keys > 0 ? n_keys : 1;
    if (!gsai_reserve(env, &records->cell, &records->cell_capacity, n_cells, sizeof *records->cell) ||
        !gsai_reserve(env, &records->copy, &records->copy_capacity, 2 * (size_t)(end - s->p) + GSAI_CELL_PADDING, 1))
        return NO_MEMORY;
    const char *quote = memchr(s->p, '"', (size_t)(end - s->p)); /* by which an object is told from a blank line */
    for (size_t i = 0; i < n_cells; i++)
        records->cell[i] = (gsai_text_cell){.text = end, .at = quote ? quote : end};
    bool is_blank = s->p + strspn(s->p, " \t\r") == end;
    if (!is_blank)
        s->objection = gsai_json_cells(s->p, end, records->keys, records->collects, records->cell, records->copy, &at);
    s->n_cells = is_blank ? 1 : n_cells;
    s->p = s->objection ? at : newline ? newline + 1 : s->end;
    s->n_lines += !s->objection;
    return s->objection ? NO_OBJECT : COMPLETE;
}

/* Cells up to the end of the record; s->p is then what follows it. A line end ends the padding of the buffer at the
 * latest, so that `end` is asked for there only. Members of a cell are stored one by one: a struct that is made
 * elsewhere and copied would have to wait for them. */
static outcome scan_record(gsai_records *records, scan *s)
{
    const char separator = records->separator, *p = s->p, *block = p, *at;
    if (records->keys)
        return scan_object(records, s);
    if (!records->cell &&
        !gsai_reserve(records->lines.env, &records->cell, &records->cell_capacity, 1, sizeof *records->cell))
        return NO_MEMORY;
    gsai_text_cell *cell = records->cell, *last = cell + records->cell_capacity;
    for (uint64_t marks = gsai_marks(block, separator);; cell++, p = at + 1) {
        if (cell == last) {
            s->n_cells = (size_t)(cell - records->cell);
            if (s->n_cells >= records->most_cells) {
                s->p = p;
                return TOO_MANY;
            }
            if (!gsai_reserve(records->lines.env, &records->cell, &records->cell_capacity, s->n_cells + 1,
                              sizeof *records->cell))
                return NO_MEMORY;
            cell = records->cell + s->n_cells;
            last = records->cell + records->cell_capacity;
        }
        cell->at = cell->text = p;
        cell->is_escaped = false;
        do { /* the next mark; a quote is one at the beginning of a cell alone */
            for (; marks == 0; marks = gsai_marks(block, separator))
                block += 64;
            at = block + __builtin_ctzll(marks);
            marks &= marks - 1;
        } while (*at == '"' && at > p);
        if (*at == '"' && at < s->end) {
            s->p = p;
            outcome result = scan_quoted(s, separator, cell, &at);
            if (result != COMPLETE)
                return result;
            block = at;
            marks = gsai_marks(block, separator) & ~UINT64_C(1);
        } else {
            cell->size = (size_t)(at - p);
        }
        if (*at != separator || at >= s->end)
            break;
    }
    if (at >= s->end && !s->is_last)
        return PARTIAL;
    s->n_cells = (size_t)(cell - records->cell) + 1;
    s->p = at + (at < s->end);
    if (at < s->end && *at == '\r') {
        if (s->p == s->end && !s->is_last)
            return PARTIAL;
        s->p += s->p < s->end && *s->p == '\n';
    }
    s->n_lines++;
    return COMPLETE;
}

/* Looks at 64 bytes at a time, up to 63 more than there are. */
static bool is_ascii(const char *p, const char *end)
{
    uint64_t all = 0, word;
    for (; p < end; p += 64)
        for (size_t i = 0; i < 64; i += sizeof word) {
            memcpy(&word, p + i, sizeof word);
            all |= word;
        }
    return !(all & UINT64_C(0x8080808080808080));
}

/* Copies cells with doubled quotes, which become single ones, and those that are not UTF-8, which are made it. */
static bool copy_cells(gsai_records *records, const scan *s, bool has_ascii_only)
{
    size_t size = s->n_escaped, n_recoded = 0;
    for (size_t i = 0; i < s->n_cells && !has_ascii_only; i++) {
        gsai_text_cell *cell = &records->cell[i];
        cell->is_1252 = !gsai_is_utf8(cell->text, cell->size);
        n_recoded += cell->is_1252;
        if (cell->is_1252 && cell->size > (SIZE_MAX - 1 - size) / 3)
            return false;
        size += cell->is_1252 ? 3 * cell->size + 1 : 0;
    }
    if (size == 0)
        return true;
    if (!gsai_reserve(records->lines.env, &records->copy, &records->copy_capacity, size + GSAI_CELL_PADDING, 1))
        return false;
    records->n_recoded += n_recoded;
    char *out = records->copy;
    for (size_t i = 0; i < s->n_cells; i++) {
        gsai_text_cell *cell = &records->cell[i];
        bool is_1252 = n_recoded > 0 && cell->is_1252;
        if (!cell->is_escaped && !is_1252)
            continue;
        const char *from = cell->text, *end = from + cell->size;
        cell->text = out;
        for (; from < end; from += 1 + (cell->is_escaped && *from == '"'))
            if (is_1252)
                out = gsai_utf8_of_1252((unsigned char)*from, out);
            else
                *out++ = *from;
        cell->size = (size_t)(out - cell->text);
        *out++ = '\n';
    }
    return true;
}

/* ---- one after the other ---------------------------------------------------------------------------------------- */

static void take(gsai_records *records, const char *up_to, uint64_t n_lines)
{
    size_t size = (size_t)(up_to - (records->lines.buffer + records->lines.start)) - records->at;
    records->at += size;
    records->byte += size;
    records->line += n_lines;
}

/* Reads as much more as it takes to look again: a whole record has a line end, and bytes that need not be waited for
 * come along until there is twice as much. A long record is else taken apart anew at every read. GSA_END: nothing came,
 * and nothing will. */
static gsa_status read_enough(gsai_records *records, gsa_error *error)
{
    gsai_lines *lines = &records->lines;
    size_t wanted = 2 * (lines->end - lines->start - records->at);
    wanted = wanted < lines->max_size ? wanted : lines->max_size;
    bool may_end = records->skipping || (lines->end > lines->start && lines->buffer[lines->end - 1] == '\r');
    for (size_t had = 0;; had = lines->end - lines->start) {
        if (!records->held) {
            gsai_lines_drop(lines, records->at);
            records->at = 0;
        }
        size_t size = lines->end - lines->start - records->at;
        bool is_full = records->held && lines->end - lines->start > records->held;
        char text[GSAI_SIZE_TEXT];
        if (!is_full && size > lines->max_size)
            return gsai_fail_line(error, GSA_LIMIT, records->line + 1, records->byte,
                                  "the row that begins here is longer than %s: is there a quote that is never closed, "
                                  "or is this no table?",
                                  gsai_size_text(lines->max_size, text));
        if (is_full || (lines->hurried && gsai_decode_is_idle(lines->stream)))
            return had == 0 ? GSA_END : GSA_OK;
        gsa_status status = gsai_lines_refill(lines, error);
        if (status != GSA_OK || lines->ended)
            return status == GSA_END && had > 0 ? GSA_OK : status;
        const char *new_bytes = lines->buffer + lines->start + had;
        size_t n_new = lines->end - lines->start - had;
        may_end = may_end || memchr(new_bytes, '\n', n_new) || memchr(new_bytes, '\r', n_new);
        if (may_end && (lines->end - lines->start - records->at >= wanted || gsai_decode_is_idle(lines->stream)))
            return GSA_OK;
    }
}

/* Refuses the record at `start`, and the rest of its line: what comes up to the next newline is skipped. */
static gsa_status fail_record(gsai_records *records, scan *s, const char *start, outcome result, gsa_error *error)
{
    uint64_t line = records->line + 1 + (result == AFTER_QUOTE ? s->n_lines : 0), byte = records->byte;
    const char *objection = result == NO_OBJECT     ? s->objection
                            : result == AFTER_QUOTE ? "text after a closing quote: a cell in quotes ends with its last "
                                                      "quote, and a quote inside it is written twice"
                                                    : "the quote that opens this cell is never closed";
    if (result != TOO_MANY)
        gsai_fail_line(error, GSA_INPUT, line, byte + (uint64_t)(s->p - start), "%s", objection);
    else
        gsai_fail_line(error, GSA_INPUT, line, byte,
                       "the row that begins here has more than %zu cells%s: is this no table?", records->most_cells,
                       records->most_cells < GSAI_RECORDS_CELLS ? " (a quarter of the memory limit)" : "");
    records->skipping = result != PARTIAL;
    take(records, records->skipping ? s->p : s->end, s->n_lines);
    return GSA_INPUT;
}

/* Returns the size of a first line that declares the separator, with its end; SIZE_MAX if more bytes will tell. */
static size_t size_of_declaration(const scan *s)
{
    size_t n = (size_t)(s->end - s->p), longest = sizeof "sep=;\r\n" - 1;
    if (memcmp(s->p, "sep=", n < 4 ? n : 4) != 0)
        return 0;
    if (n < longest && !s->is_last)
        return SIZE_MAX;
    if (n < 6 || !memchr(",;|\t", s->p[4], 4))
        return 0;
    if (s->p[5] == '\r')
        return n > 6 && s->p[6] == '\n' ? 7 : 6;
    return s->p[5] == '\n' ? 6 : 0;
}

static gsa_status next_record(gsai_records *records, gsai_record *out, gsa_error *error)
{
    for (;;) {
        const gsai_lines *lines = &records->lines;
        const char *start = lines->buffer + lines->start + records->at;
        scan s = {.p = start, .end = lines->buffer + lines->end, .is_last = lines->ended};
        if (records->byte == 0 && gsai_is_mark(s.p, s.end)) {
            take(records, s.p + GSAI_MARK_SIZE, 0);
            continue;
        }
        if (records->skipping && s.p < s.end) {
            const char *newline = memchr(s.p, '\n', (size_t)(s.end - s.p));
            records->skipping = !newline && !s.is_last;
            take(records, newline ? newline + 1 : s.end, newline != NULL);
            continue;
        }
        if (s.p == s.end && s.is_last)
            return GSA_END;
        bool is_first = records->line == 0 && !records->keys && lines->stream; /* of a file, not of a chunk */
        size_t declaration = is_first ? size_of_declaration(&s) : 0;
        if (declaration > 0 && declaration < SIZE_MAX) {
            records->declared = records->separator = s.p[4];
            take(records, s.p + declaration, 1);
            continue;
        }
        outcome result = s.p == s.end || declaration == SIZE_MAX ? PARTIAL : scan_record(records, &s);
        if (result == PARTIAL && !s.is_last) {
            GSA_TRY(read_enough(records, error));
            continue;
        }
        /* Other text that follows soon may make plain cells look as if they were not. */
        bool is_plain = result != COMPLETE || records->keys || is_ascii(start, s.p);
        if (result == NO_MEMORY ||
            ((s.n_escaped > 0 || !is_plain) && result == COMPLETE && !copy_cells(records, &s, is_plain)))
            return gsai_fail_memory(records->lines.env, error, "no memory for a row of %zu cells", s.n_cells);
        if (result != COMPLETE)
            return fail_record(records, &s, start, result, error);
        *out = (gsai_record){records->cell, s.n_cells, {start, s.p, records->line + 1, records->byte}};
        take(records, s.p, s.n_lines);
        return GSA_OK;
    }
}

gsa_status gsai_records_next(gsai_records *records, gsai_record *out, gsa_error *error)
{
    gsa_status status;
    do
        status = next_record(records, out, error);
    while (status == GSA_OK && out->n_cells == 1 && out->cell->size == 0 && *out->cell->at != '"'); /* a blank line */
    return records->held && records->at > records->held ? GSA_END : status;
}

/* ---- to another thread ------------------------------------------------------------------------------------------ */

/* The end of the last record that is whole, among the bytes from start on. Without quotes that of the last line is one;
 * else records are taken apart to find it, up to one that is refused. */
static const char *last_end(void *memory, const char *start, const char *end)
{
    gsai_records *records = memory;
    const char *p = !records->keys && memchr(start, '"', (size_t)(end - start)) ? start : end;
    while (p > start && p[-1] != '\n')
        p--;
    if (p > start || records->keys)
        return p;
    for (scan s = {.p = p, .end = end}; s.p < end && scan_record(records, &s) == COMPLETE;)
        s = (scan){.p = p = s.p, .end = end};
    return p;
}

gsa_status gsai_records_give(gsai_records *records, gsai_records *to, gsa_error *error)
{
    gsai_lines *lines = &records->lines;
    gsai_lines_drop(lines, records->at);
    lines->byte = records->byte;
    records->at = 0;
    bool is_ready = !records->skipping && records->byte > 0;
    GSA_TRY(is_ready ? gsai_lines_give(lines, &to->lines, last_end, records, error) : GSA_END);
    to->separator = records->separator;
    to->keys = records->keys;
    to->skipping = false;
    to->at = 0;
    to->line = 0;
    to->byte = records->byte;
    records->byte = lines->byte;
    return GSA_OK;
}
