/* Vowpal Wabbit text: [LABEL [IMPORTANCE]] ['TAG]|NAMESPACE[:WEIGHT] FEATURE[:VALUE] ... |NAMESPACE ...
 *
 *   1 A feature is hashed with its namespace as the word of a column is; its value is the one given, or 1, times the
 *     weight of its namespace. Where a feature stands twice in a row its values are added up.
 *   2 The token that touches the first bar, or begins with an apostrophe, is a tag, and not looked at.
 *   3 Of labels one number is understood; what else there is in VW is refused by name.
 *   4 Every line is followed by '\n' or '\r' in the buffer (lines.h). */
#include "data/format/cross.h"
#include "data/format/line_text.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TITLE "Vowpal Wabbit text"

/* Crosses may make so many features of a line: more take seconds for each. */
#define MOST_VALUES ((size_t)1 << 22)
/* Crosses between two looks at should_stop. */
#define PAIRS_BETWEEN ((uint64_t)1 << 16)

typedef struct vw {
    gsa__line_text text;
    gsa__key space;  /* the namespace of the features that are being read */
    gsa__term *term; /* of this line's features, if there are crosses */
    size_t n_terms, term_capacity;
    uint32_t *pair; /* numbers of the terms of two namespaces */
    size_t pair_capacity;
} vw;

static void close_vw(void *memory)
{
    vw *parser = memory;
    gsa__key_free(&parser->space, parser->text.env);
    gsa__free(parser->text.env, parser->term);
    gsa__free(parser->text.env, parser->pair);
    gsa__line_text_close(parser);
}

static gsa_status open_vw(size_t buffer_size, const gsa_env *env, void **out, gsa_error *error)
{
    return gsa__line_text_open(sizeof(vw), TITLE, buffer_size, env, out, error);
}

static gsa_status prepare_vw(void *memory, gsa_error *error)
{
    vw *parser = memory;
    gsa__format_input *input = parser->text.input;
    gsa__schema *schema = input->schema;
    gsa_status status = GSA_OK;
    if (!schema->text) {
        schema->is_namespaced = true;
        schema->bits = input->options->bits ? input->options->bits : GSA__DEFAULT_BITS;
        const char *list = input->options->cross, *name[2];
        size_t size[2];
        while (status == GSA_OK && gsa__schema_next_cross(&list, name, size))
            status = gsa__schema_add_cross(schema, name, size, error);
        if (status == GSA_OK)
            status = gsa__schema_complete(schema, error);
    }
    if (status == GSA_OK && input->options->remember_names)
        status = gsa__name_book_begin(input->names, schema->bits, parser->text.env, error);
    if (status == GSA_OK && input->understood[0] == '\0')
        snprintf(input->understood, sizeof input->understood, "%s: Vowpal Wabbit text; features are hashed to %u bits",
                 input->name, schema->bits);
    return status;
}

/* ---- a line ----------------------------------------------------------------------------------------------------- */

/* The end of the token at p; a bar ends it too. */
static const char *token_end(const char *p, const char *end)
{
    while (p < end && !gsa__is_blank(*p) && *p != '|')
        p++;
    return p;
}

/* A number that is the whole of [p, end) and fits a float. */
static bool take_float(const vw *parser, const char *p, const char *end, float *out)
{
    gsa__number number;
    gsa__number_parse_float(parser->text.locale, p, &number);
    if (p == end || number.after != end)
        return false;
    /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): a number that ends has a value */
    *out = (float)number.value;
    return gsa__number_fits_float(&number);
}

typedef struct head {
    double label;
    float importance;
    bool has_label;
} head;

static gsa_status take_label(const vw *parser, const gsa__line *line, const char *p, const char *end, unsigned number,
                             head *out, gsa_error *error)
{
    if (number == 2)
        return gsa__line_fail(line, p, end, "a third number before the bar",
                              "initial predictions are not supported; a tag begins with ' or touches the bar", error);
    if (number == 1)
        return take_float(parser, p, end, &out->importance) && out->importance >= 0
                   ? GSA_OK
                   : gsa__line_fail(line, p, end, "importance", "expected a finite number that is not negative", error);
    gsa__number value;
    gsa__number_parse(parser->text.locale, p, &value);
    out->has_label = true;
    out->label = value.after ? value.value + 0.0 : 0;
    if (value.after == end && gsa__number_fits_double(&value))
        return GSA_OK;
    const char *expected = "expected a number";
    if (memchr(p, ':', (size_t)(end - p)))
        expected = "labels with costs or actions (csoaa, cb) are not supported, only one number";
    else if ((end - p == 6 && memcmp(p, "shared", 6) == 0))
        expected = "examples of several lines (shared, ldf) are not supported";
    return gsa__line_fail(line, p, end, "label", expected, error);
}

/* What stands before the first bar; *at is then the bar, or the end of the line. */
static gsa_status take_head(const vw *parser, const gsa__line *line, const char **at, head *out, gsa_error *error)
{
    const char *p = gsa__skip_blanks(*at);
    *out = (head){.importance = 1};
    for (unsigned number = 0; p < line->end && *p != '|'; p = gsa__skip_blanks(p)) {
        const char *end = token_end(p, line->end);
        bool is_tag = *p == '\'' || (end < line->end && *end == '|');
        gsa_status status = is_tag ? GSA_OK : take_label(parser, line, p, end, number++, out, error);
        if (status != GSA_OK)
            return status;
        p = end;
    }
    *at = p;
    if (!out->has_label && !parser->text.input->options->without_labels)
        return gsa__fail_line(error, GSA_INPUT, line->number, line->byte,
                              "the line has no label before the bar, which only predict can do without");
    return GSA_OK;
}

/* The name and weight behind a bar at *at. */
static gsa_status take_namespace(vw *parser, const gsa__line *line, const char **at, float *weight, gsa_error *error)
{
    const char *p = *at + 1, *end = token_end(p, line->end);
    const char *colon = memchr(p, ':', (size_t)(end - p));
    *weight = 1;
    if (colon && !take_float(parser, colon + 1, end, weight))
        return gsa__line_fail(line, p, end, "namespace", "expected a number after the colon", error);
    *at = end;
    return gsa__key_set(&parser->space, p, (size_t)((colon ? colon : end) - p), parser->text.env)
               ? GSA_OK
               : gsa__fail_memory(parser->text.env, error, "no memory for a namespace");
}

/* What crosses may need of a feature. The name of the namespace is that in the line: the key changes with the next. */
static gsa_status remember_term(vw *parser, gsa__term term, gsa_error *error)
{
    if (!gsa__reserve(parser->text.env, &parser->term, &parser->term_capacity, parser->n_terms + 1, sizeof term))
        return gsa__fail_memory(parser->text.env, error, "no memory for the crosses of a line");
    parser->term[parser->n_terms++] = term;
    return GSA_OK;
}

static gsa_status take_feature(vw *parser, const gsa__line *line, const char *p, const char *end, const char *space,
                               float weight, gsa__features *features, gsa_error *error)
{
    const char *colon = memchr(p, ':', (size_t)(end - p));
    float value = 1;
    if (colon && !take_float(parser, colon + 1, end, &value))
        return gsa__line_fail(line, p, end, "feature", "expected a finite number after the colon", error);
    value *= weight;
    if (!isfinite(value))
        return gsa__line_fail(line, p, end, "feature", "its value times the weight of its namespace is not finite",
                              error);
    size_t size = (size_t)((colon ? colon : end) - p);
    uint64_t mask = (UINT64_C(1) << parser->text.input->schema->bits) - 1;
    uint64_t hash = gsa__key_hash(&parser->space, p, size);
    uint32_t id = (uint32_t)(hash & mask);
    gsa__name_book *names = parser->text.input->names;
    if (gsa__name_book_is_new(names, id))
        gsa__name_book_enter(names, id, parser->space.bytes, parser->space.size - 1, p, size);
    gsa__features_add(features, id, value);
    if (parser->text.input->schema->n_crosses == 0)
        return GSA_OK;
    return remember_term(parser, (gsa__term){hash, value, space, p, parser->space.size - 1, size}, error);
}

static gsa_status take_features(vw *parser, const gsa__line *line, const char *p, gsa__features *features,
                                gsa_error *error)
{
    const char *space = p;
    float weight = 1;
    gsa_status status = GSA_OK;
    parser->n_terms = 0;
    while (p < line->end && status == GSA_OK) {
        if (*p == '|') {
            space = p + 1;
            status = take_namespace(parser, line, &p, &weight, error);
        } else if (gsa__is_blank(*p)) {
            p++;
        } else {
            const char *end = token_end(p, line->end);
            status = take_feature(parser, line, p, end, space, weight, features, error);
            p = end;
        }
    }
    return status;
}

static bool is_of(const gsa__term *term, const char *space)
{
    return strlen(space) == term->name_size && memcmp(space, term->name, term->name_size) == 0;
}

/* Writes the numbers of the terms of a namespace, in their order; returns how many. */
static size_t terms_of(const vw *parser, const char *space, uint32_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < parser->n_terms; i++)
        if (is_of(&parser->term[i], space))
            out[n++] = (uint32_t)i;
    return n;
}

/* Makes room for n_pairs crosses behind the features of the row. */
static gsa_status reserve_pairs(const gsa__line *line, uint64_t n_pairs, gsa__features *features, gsa__rows *rows,
                                gsa_error *error)
{
    if (n_pairs > MOST_VALUES - features->n)
        return gsa__fail_line(error, GSA_LIMIT, line->number, line->byte,
                              "--cross makes more than %zu features of this line: cross namespaces that have fewer",
                              MOST_VALUES);
    gsa_status status = gsa__rows_reserve(rows, features->n + (size_t)n_pairs, error);
    features->index = rows->index + rows->n_values; /* what is there has moved with the memory */
    features->value = rows->value + rows->n_values;
    return status;
}

/* Adds all pairs of features of two namespaces; of one with itself each pair once, squares included. */
static gsa_status take_cross(vw *parser, const gsa__line *line, const gsa__cross *cross, gsa__features *features,
                             gsa__rows *rows, bool *finite, gsa_error *error)
{
    const gsa_env *env = parser->text.env;
    if (!gsa__reserve(env, &parser->pair, &parser->pair_capacity, 2 * parser->n_terms + 1, sizeof *parser->pair))
        return gsa__fail_memory(env, error, "no memory for the crosses of a line");
    bool with_itself = strcmp(cross->name[0], cross->name[1]) == 0;
    uint32_t *const a = parser->pair, *const b = parser->pair + parser->n_terms;
    uint64_t n_a = terms_of(parser, cross->name[0], a), n_b = terms_of(parser, cross->name[1], b);
    gsa_status status = reserve_pairs(line, with_itself ? n_a * (n_a + 1) / 2 : n_a * n_b, features, rows, error);
    uint64_t since_asked = 0;
    for (size_t i = 0; i < n_a && status == GSA_OK; i++) {
        for (size_t j = with_itself ? i : 0; j < n_b; j++)
            *finite &= gsa__cross_add(features, parser->text.input, 0, &parser->term[a[i]], &parser->term[b[j]]);
        since_asked += n_b;
        if (since_asked < PAIRS_BETWEEN)
            continue;
        since_asked = 0;
        if (env->should_stop(env->stop_ctx))
            status = gsa__fail(error, GSA_STOPPED, "stopped while reading %s", parser->text.input->name);
    }
    return status;
}

static gsa_status take_crosses(vw *parser, const gsa__line *line, gsa__features *features, gsa__rows *rows,
                               gsa_error *error)
{
    const gsa__schema *schema = parser->text.input->schema;
    bool finite = true;
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < schema->n_crosses && status == GSA_OK; i++)
        status = take_cross(parser, line, &schema->cross[i], features, rows, &finite, error);
    if (status == GSA_OK && (!gsa__features_finish(features) || !finite))
        status = gsa__fail_line(error, GSA_INPUT, line->number, line->byte,
                                "the values of a feature that stands several times in the line, or of a cross, are not "
                                "finite");
    return status;
}

static gsa_status parse_line(void *memory, const gsa__line *line, gsa__rows *rows, gsa_error *error)
{
    vw *parser = memory;
    const char *p = gsa__line_begin(line);
    head found;
    if (gsa__skip_blanks(p) == line->end)
        return GSA_OK;
    gsa_status status = take_head(parser, line, &p, &found, error);
    if (status == GSA_OK)
        status = gsa__rows_reserve(rows, (size_t)(line->end - p) / 2 + 1, error);
    if (status != GSA_OK)
        return status;
    gsa__features features = {
        .index = rows->index + rows->n_values, .value = rows->value + rows->n_values, .all_ones = true};
    status = take_features(parser, line, p, &features, error);
    if (status == GSA_OK)
        status = take_crosses(parser, line, &features, rows, error);
    if (status != GSA_OK)
        return status;
    gsa_place place = gsa__format_place(parser->text.input, line->number, line->byte);
    gsa__rows_finish(rows, features.n, features.all_ones, found.label, -1, place);
    gsa__rows_weigh(rows, found.importance);
    return GSA_OK;
}

static gsa_status read_vw(void *parser, gsa__rows *rows, gsa_error *error)
{
    gsa_status status = prepare_vw(parser, error);
    return status == GSA_OK ? gsa__line_text_read(parser, parse_line, rows, error) : status;
}

const gsa__format *gsa__format_vw(void)
{
    static const gsa__format format = {.title = TITLE,
                                       .open = open_vw,
                                       .begin = gsa__line_text_begin,
                                       .read = read_vw,
                                       .close = close_vw,
                                       .prepare = prepare_vw,
                                       .enter = gsa__line_text_enter,
                                       .is_divisible = true,
                                       .give = gsa__line_text_give,
                                       .lines = gsa__line_text_lines};
    return &format;
}
