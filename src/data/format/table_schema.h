/* The meaning of a table's columns: the struct, and the text that states and models keep (docs/formats/csv.md).
 *
 *   1 The order of the fields is that of the first file; ids of numbers follow it, so that it is part of the meaning.
 *   2 Names are distinct, not empty, and without NUL. Without a header they are the numbers of the columns, from 1.
 *   3 Equal meanings have equal texts. */
#ifndef GSA_DATA_FORMAT_TABLE_SCHEMA_H
#define GSA_DATA_FORMAT_TABLE_SCHEMA_H

#include "base/memory.h"
#include "base/words.h"
#include "data/format/column.h"

#define GSAI_DEFAULT_BITS 24u
#define GSAI_MAX_BITS 31u
#define GSAI_MAX_FIELDS ((size_t)1 << 20)
/* About what a column takes: its field, its name, its share of the slots, and as much in its reader. */
#define GSAI_FIELD_COST 640u

typedef struct gsai_field {
    const char *name; /* one of the names */
    size_t name_size;
    gsai_field_kind kind;
    float mean;      /* of numbers and dates: what a missing one counts as, after the offset */
    float deviation; /* of numbers and dates, from the mean; known where customers have slopes */
    double offset;   /* of numbers and dates: what is subtracted from the values before they are rounded to floats */
    gsai_reading *reading; /* NULL: numbers are plain */
    char *missing_name;    /* of the feature that marks a missing value */
    bool is_class;         /* of a label: its cells are names of classes, also if they look like numbers */
    int8_t sign; /* of a number: 1 where predictions never fall with it, -1 where they never rise, 0 for all others */
    gsai_field_kind time; /* its cells say when a row was, as numbers or dates; other kinds: they do not */
} gsai_field;

static inline bool gsai_field_is_time(const gsai_field *field)
{
    return field->time == GSAI_FIELD_NUMBER || field->time == GSAI_FIELD_DATE;
}

/* Two columns or namespaces whose features are crossed. */
typedef struct gsai_cross {
    char *name[2];
} gsai_cross;

typedef struct gsai_schema {
    const gsai_env *env; /* borrowed, resolved */
    bool is_named;       /* the names are those of a header */
    bool is_namespaced;  /* no columns: features have names of their own, in namespaces */
    unsigned bits;       /* categories are hashed to this many */
    gsai_field *field;
    size_t n_fields, capacity;
    gsai_words names; /* of the fields, by number */
    uint32_t *number; /* the fields that have a number among their features, in their order */
    size_t n_numbers, number_capacity;
    size_t n_of_kind[GSAI_FIELD_KINDS];
    gsai_cross *cross;
    size_t n_crosses, cross_capacity;
    gsai_arena memory; /* of readings, and of names that are not among `names` */
    char *text;        /* NULL until it is complete */
    size_t text_size, text_capacity;
    bool lacks_memory; /* for the text */
} gsai_schema;

void gsai_schema_init(gsai_schema *schema, const gsai_env *env);
void gsai_schema_free(gsai_schema *schema);
/* Adds a field; GSA_ARGUMENT if the name is there already or cannot be one. */
gsa_status gsai_schema_add(gsai_schema *schema, const char *name, size_t name_size, gsai_field_kind kind,
                           gsa_error *error);
/* Says how the cells of the field that was added last are read; the reading is copied, NULL: plain numbers. */
gsa_status gsai_schema_set_reading(gsai_schema *schema, float mean, const gsai_reading *reading, gsa_error *error);
/* Sets the offset of the field that was added last. */
static inline void gsai_schema_set_offset(gsai_schema *schema, double offset)
{
    schema->field[schema->n_fields - 1].offset = offset;
}
/* Returns the first hashed feature: behind the numbers, and a feature for each that it is missing. */
static inline uint32_t gsai_schema_first_word(const gsai_schema *schema)
{
    return (uint32_t)(2 * schema->n_numbers);
}
/* Returns the bits of ids from there on: those of customers follow those of words, and are as many. */
static inline unsigned gsai_schema_id_bits(const gsai_schema *schema)
{
    return schema->bits + (schema->n_of_kind[GSAI_FIELD_PER] > 0);
}
/* Returns the number of features of a customer (column_per.c). */
static inline uint64_t gsai_schema_per_customer(const gsai_schema *schema)
{
    return 1 + (uint64_t)schema->n_numbers;
}
/* Returns the number of cells of a row: of columns that have features, and of the parts of dates. */
static inline size_t gsai_schema_cells(const gsai_schema *schema)
{
    return schema->n_numbers + schema->n_of_kind[GSAI_FIELD_CATEGORICAL] + schema->n_of_kind[GSAI_FIELD_TEXT] +
           schema->n_of_kind[GSAI_FIELD_PER] + schema->n_of_kind[GSAI_FIELD_DATE] * gsai_kind_date.n_parts;
}
/* Returns the name of a feature below that. */
const char *gsai_schema_number_name(const gsai_schema *schema, uint64_t feature);
/* Adds a cross; GSA_ARGUMENT if one of the two cannot be crossed, or they are already. */
gsa_status gsai_schema_add_cross(gsai_schema *schema, const char *const name[2], const size_t name_size[2],
                                 gsa_error *error);
bool gsai_schema_is_crossed(const gsai_schema *schema, const char *const name[2], const size_t name_size[2]);
/* Takes the next pair of a list "A:B,C:D"; GSA_END at its end, GSA_ARGUMENT if the item is not a pair. */
gsa_status gsai_schema_next_cross(const char **list, const char *name[2], size_t name_size[2], gsa_error *error);
/* Returns the number of a field, SIZE_MAX if not found. */
size_t gsai_schema_find(const gsai_schema *schema, const char *name, size_t name_size);
/* Makes the text, after all fields were added. */
gsa_status gsai_schema_complete(gsai_schema *schema, gsa_error *error);
/* Parses the text; GSA_FORMAT if it is not a schema. */
gsa_status gsai_schema_parse(gsai_schema *schema, const char *text, gsa_error *error);

#endif
