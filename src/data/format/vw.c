/* Vowpal Wabbit text: [LABEL [IMPORTANCE]] ['TAG]|NAMESPACE[:WEIGHT] FEATURE[:VALUE] ... |NAMESPACE ...
 *
 *   1 A feature is hashed with its namespace as the word of a column is; its value is the one given, or 1, times the
 *     weight of its namespace. Where a feature stands twice in a row its values are added up.
 *   2 The token that touches the first bar, or begins with an apostrophe, is a tag, and kept only if asked for.
 *   3 A label is one number; all other labels that VW has are refused by name.
 *   4 Every line is followed by '\n' or '\r' in the buffer (text_lines.h). */
#include "base/error.h"
#include "base/memory.h"
#include "data/format/features.h"
#include "data/format/text_lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The maximum number of features that crosses make of a line: more take seconds for each line. */
#define MOST_VALUES ((size_t)1 << 22)
/* Crosses between two looks at should_stop. */
#define PAIRS_BETWEEN ((uint64_t)1 << 16)

typedef struct vw {
    gsai_line_text text;
    gsai_key space;  /* the namespace of the features that are being read */
    gsai_term *term; /* of this line's features, if there are crosses */
    size_t n_terms, term_capacity;
    uint32_t *pair; /* numbers of the terms of two namespaces */
    size_t pair_capacity;
} vw;

static void close_vw(void *memory)
{
    vw *parser = memory;
    gsai_key_free(&parser->space, parser->text.env);
    gsai_free(parser->text.env, parser->term);
    gsai_free(parser->text.env, parser->pair);
    gsai_line_text_close(parser);
}

static gsa_status prepare_vw(void *memory, gsa_error *error)
{
    vw *parser = memory;
    gsai_format_input *input = parser->text.input;
    gsai_schema *schema = input->schema;
    if (!schema->text) {
        schema->is_namespaced = true;
        schema->bits = input->options->bits ? input->options->bits : GSAI_DEFAULT_BITS;
        const char *list = input->options->cross, *name[2];
        size_t size[2];
        gsa_status status;
        while ((status = gsai_schema_next_cross(&list, name, size, error)) == GSA_OK)
            GSA_TRY(gsai_schema_add_cross(schema, name, size, error));
        GSA_TRY(status == GSA_END ? GSA_OK : status);
        GSA_TRY(gsai_schema_complete(schema, error));
    }
    if (input->options->remember_names)
        GSA_TRY(gsai_feature_names_begin(input->names, schema->bits, parser->text.env, error));
    if (input->description[0] == '\0')
        snprintf(input->description, sizeof input->description, "%s: Vowpal Wabbit text; features hashed to 2^%u slots",
                 input->name, schema->bits);
    return GSA_OK;
}

/* ---- a line ----------------------------------------------------------------------------------------------------- */

/* The end of the token at p; a bar ends it too. */
static const char *token_end(const char *p, const char *end)
{
    while (p < end && !gsai_is_blank(*p) && *p != '|')
        p++;
    return p;
}

/* A number that is the whole of [p, end) and fits a float. */
static bool take_float(const vw *parser, const char *p, const char *end, float *out)
{
    gsai_number number;
    gsai_number_parse_float(parser->text.locale, p, &number);
    if (p == end || number.after != end)
        return false;
    /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): a number that ends has a value */
    *out = (float)number.value;
    return gsai_number_fits_float(&number);
}

typedef struct head {
    double label;
    float importance;
    bool has_label;
    const char *tag; /* without its apostrophe */
    size_t tag_size;
} head;

static gsa_status take_label(const vw *parser, const gsai_line *line, const char *p, const char *end, unsigned number,
                             head *out, gsa_error *error)
{
    if (number == 2)
        return gsai_line_fail(line, p, end, "a third number before the bar",
                              "initial predictions are not supported; a tag begins with ' or touches the bar", error);
    if (number == 1)
        return take_float(parser, p, end, &out->importance) && out->importance >= 0
                   ? GSA_OK
                   : gsai_line_fail(line, p, end, "importance", "expected a finite number that is not negative", error);
    gsai_number value;
    gsai_number_parse(parser->text.locale, p, &value);
    out->has_label = true;
    out->label = value.after ? value.value + 0.0 : 0;
    if (value.after == end && gsai_number_fits_double(&value))
        return GSA_OK;
    const char *expected = "expected a number";
    if (memchr(p, ':', (size_t)(end - p)))
        expected = "labels with costs or actions (csoaa, cb) are not supported, only one number";
    else if ((end - p == 6 && memcmp(p, "shared", 6) == 0))
        expected = "examples of several lines (shared, ldf) are not supported";
    return gsai_line_fail(line, p, end, "label", expected, error);
}

/* Takes the text before the first bar; *at is then the bar, or the end of the line. */
static gsa_status take_head(const vw *parser, const gsai_line *line, const char **at, head *out, gsa_error *error)
{
    const char *p = gsai_skip_blanks(*at);
    *out = (head){.importance = 1};
    for (unsigned number = 0; p < line->end && *p != '|'; p = gsai_skip_blanks(p)) {
        const char *end = token_end(p, line->end);
        bool is_tag = *p == '\'' || (end < line->end && *end == '|');
        if (is_tag) {
            out->tag = p + (*p == '\'');
            out->tag_size = (size_t)(end - out->tag);
        } else {
            GSA_TRY(take_label(parser, line, p, end, number++, out, error));
        }
        p = end;
    }
    *at = p;
    if (!out->has_label && !parser->text.input->options->without_labels)
        return gsai_fail_line(error, GSA_INPUT, line->number, line->byte,
                              "the line has no label before the bar, which only predict can do without");
    return GSA_OK;
}

static gsa_status take_feature(vw *parser, const gsai_line *line, const char *p, const char *end, const char *space,
                               float weight, gsai_features *features, gsa_error *error)
{
    const char *colon = memchr(p, ':', (size_t)(end - p));
    float value = 1;
    if (colon && !take_float(parser, colon + 1, end, &value))
        return gsai_line_fail(line, p, end, "feature", "expected a finite number after the colon", error);
    value *= weight;
    if (!isfinite(value))
        return gsai_line_fail(line, p, end, "feature", "its value times the weight of its namespace is not finite",
                              error);
    size_t size = (size_t)((colon ? colon : end) - p);
    uint64_t mask = (UINT64_C(1) << parser->text.input->schema->bits) - 1;
    uint64_t hash = gsai_key_hash(&parser->space, p, size);
    uint32_t id = (uint32_t)(hash & mask);
    gsai_feature_names *names = parser->text.input->names;
    if (gsai_feature_names_is_new(names, id))
        gsai_feature_names_enter(names, id, parser->space.bytes, parser->space.size - 1, p, size);
    gsai_features_add(features, id, value);
    if (parser->text.input->schema->n_crosses == 0)
        return GSA_OK;
    GSAI_TRY_MEMORY(gsai_reserve(parser->text.env, &parser->term, &parser->term_capacity, parser->n_terms + 1,
                                 sizeof *parser->term),
                    parser->text.env, error, "no memory for the crosses of a line");
    /* The name of the namespace is that in the line: the key changes with the next. */
    parser->term[parser->n_terms++] = (gsai_term){hash, value, space, p, parser->space.size - 1, size};
    return GSA_OK;
}

static gsa_status take_features(vw *parser, const gsai_line *line, const char *p, gsai_features *features,
                                gsa_error *error)
{
    const char *space = p;
    float weight = 1;
    parser->n_terms = 0;
    while (p < line->end) {
        const char *end = token_end(p, line->end);
        if (*p == '|') { /* the name of a namespace, and its weight */
            space = p + 1;
            end = token_end(space, line->end);
            const char *colon = memchr(space, ':', (size_t)(end - space));
            weight = 1;
            if (colon && !take_float(parser, colon + 1, end, &weight))
                return gsai_line_fail(line, space, end, "namespace", "expected a number after the colon", error);
            GSAI_TRY_MEMORY(
                gsai_key_set(&parser->space, space, (size_t)((colon ? colon : end) - space), parser->text.env),
                parser->text.env, error, "no memory for a namespace");
        } else if (gsai_is_blank(*p)) {
            end++;
        } else {
            GSA_TRY(take_feature(parser, line, p, end, space, weight, features, error));
        }
        p = end;
    }
    return GSA_OK;
}

/* Writes the numbers of the terms of a namespace, in their order; returns how many. */
static size_t terms_of(const vw *parser, const char *space, uint32_t *out)
{
    size_t n = 0, size = strlen(space);
    for (size_t i = 0; i < parser->n_terms; i++)
        if (parser->term[i].name_size == size && memcmp(parser->term[i].name, space, size) == 0)
            out[n++] = (uint32_t)i;
    return n;
}

/* Adds all pairs of features of two namespaces; of one with itself each pair once, squares included. */
static gsa_status take_cross(vw *parser, const gsai_line *line, const gsai_cross *cross, gsai_features *features,
                             gsai_rows *rows, bool *finite, gsa_error *error)
{
    const gsai_env *env = parser->text.env;
    const gsai_format_input *input = parser->text.input;
    const uint64_t mask = (UINT64_C(1) << input->schema->bits) - 1;
    GSAI_TRY_MEMORY(
        gsai_reserve(env, &parser->pair, &parser->pair_capacity, 2 * parser->n_terms + 1, sizeof *parser->pair), env,
        error, "no memory for the crosses of a line");
    bool with_itself = strcmp(cross->name[0], cross->name[1]) == 0;
    uint32_t *const a = parser->pair, *const b = parser->pair + parser->n_terms;
    uint64_t n_a = terms_of(parser, cross->name[0], a), n_b = terms_of(parser, cross->name[1], b), since_asked = 0;
    uint64_t n_pairs = with_itself ? n_a * (n_a + 1) / 2 : n_a * n_b;
    if (n_pairs > MOST_VALUES - features->n)
        return gsai_fail_about(
            error, "cross",
            gsai_fail_line(error, GSA_LIMIT, line->number, line->byte,
                           "crosses make more than %zu features of this line; cross namespaces that have fewer",
                           MOST_VALUES));
    GSA_TRY(gsai_rows_reserve(rows, features->n + (size_t)n_pairs, error));
    features->index = rows->index + rows->n_values; /* what is there has moved with the memory */
    features->value = rows->value + rows->n_values;
    for (size_t i = 0; i < n_a; i++) {
        for (size_t j = with_itself ? i : 0; j < n_b; j++)
            *finite &= gsai_cross_add(features, input->names, 0, mask, &parser->term[a[i]], &parser->term[b[j]]);
        since_asked += n_b;
        if (since_asked < PAIRS_BETWEEN)
            continue;
        since_asked = 0;
        if (gsai_should_stop(env))
            return gsai_fail(error, GSA_STOPPED, "stopped while reading %s", input->name);
    }
    return GSA_OK;
}

static gsa_status parse_line(void *memory, const gsai_line *line, gsai_rows *rows, gsa_error *error)
{
    vw *parser = memory;
    const char *p = gsai_line_begin(line);
    head found;
    if (gsai_skip_blanks(p) == line->end)
        return GSA_OK;
    gsai_rows_begin_texts(rows);
    gsa_status status = take_head(parser, line, &p, &found, error);
    if (parser->text.input->options->keep_tags && rows->keeps) {
        GSA_TRY(gsai_rows_keep_texts(rows, found.tag ? found.tag : "", found.tag_size, error));
        GSA_TRY(gsai_rows_keep_texts(rows, "", 1, error));
    }
    GSA_TRY(status);
    GSA_TRY(gsai_rows_reserve(rows, (size_t)(line->end - p) / 2 + 1, error));
    gsai_features features = {
        .index = rows->index + rows->n_values, .value = rows->value + rows->n_values, .all_ones = true};
    GSA_TRY(take_features(parser, line, p, &features, error));
    const gsai_schema *schema = parser->text.input->schema;
    bool finite = true;
    for (size_t i = 0; i < schema->n_crosses; i++)
        GSA_TRY(take_cross(parser, line, &schema->cross[i], &features, rows, &finite, error));
    if (!gsai_features_finish(&features) || !finite)
        return gsai_fail_line(error, GSA_INPUT, line->number, line->byte,
                              "the values of a feature that stands several times in the line, or of a cross, are not "
                              "finite");
    gsa_place place = gsai_format_location(parser->text.input, line->number, line->byte);
    gsai_rows_finish(rows, features.n, features.all_ones, found.label, -1, place);
    gsai_rows_weigh(rows, found.importance);
    return GSA_OK;
}

static gsa_status read_vw(void *parser, gsai_rows *rows, gsa_error *error)
{
    GSA_TRY(prepare_vw(parser, error));
    return gsai_line_text_read(parser, parse_line, rows, error);
}

const gsai_format gsai_format_vw = {.title = "Vowpal Wabbit text",
                                    .size = sizeof(vw),
                                    .open = gsai_line_text_open,
                                    .begin = gsai_line_text_begin,
                                    .read = read_vw,
                                    .close = close_vw,
                                    .prepare = prepare_vw,
                                    .give = gsai_line_text_give,
                                    .lines = gsai_line_text_lines};
