/* What the columns of a table mean: the struct, and the text that states and models keep (docs/formats/schema.md).
 *
 *   1 The order of the fields is that of the first file; ids of numbers follow it, so that it is part of the meaning.
 *   2 Names are distinct, not empty, and without NUL. Without a header they are the numbers of the columns, from 1.
 *   3 Equal meanings have equal texts. */
#ifndef GSA_DATA_SCHEMA_H
#define GSA_DATA_SCHEMA_H

#include "data/format/words.h"

#define GSA__DEFAULT_BITS 24u
#define GSA__MOST_BITS 31u
#define GSA__MOST_FIELDS ((size_t)1 << 20)
/* About what a column takes: its field, its name, its share of the slots, and as much in its reader. */
#define GSA__FIELD_COST 128u

typedef enum gsa__field_kind {
    GSA__FIELD_NUMBER,
    GSA__FIELD_WORDS,
    GSA__FIELD_LABEL,
    GSA__FIELD_WEIGHT,
    GSA__FIELD_IGNORED,
    GSA__FIELD_KINDS
} gsa__field_kind;

typedef struct gsa__field {
    const char *name; /* one of the names */
    size_t name_size;
    gsa__field_kind kind;
} gsa__field;

/* Two columns or namespaces whose features are crossed. */
typedef struct gsa__cross {
    char *name[2];
} gsa__cross;

typedef struct gsa__schema {
    const gsa_env *env; /* borrowed, resolved */
    bool is_named;      /* the names are those of a header */
    bool is_namespaced; /* there are no columns: features have names of their own, in namespaces */
    unsigned bits;      /* words are hashed to this many */
    gsa__field *field;
    size_t n_fields, capacity;
    gsa__words names; /* of the fields, by number */
    uint32_t *number; /* the fields that are numbers, in their order */
    size_t number_capacity;
    size_t n_of_kind[GSA__FIELD_KINDS];
    gsa__cross *cross;
    size_t n_crosses, cross_capacity;
    char *text; /* NULL until it is complete */
} gsa__schema;

void gsa__schema_init(gsa__schema *schema, const gsa_env *env);
void gsa__schema_free(gsa__schema *schema);
/* GSA_ARGUMENT if the name is there already or cannot be one. */
gsa_status gsa__schema_add(gsa__schema *schema, const char *name, size_t name_size, gsa__field_kind kind,
                           gsa_error *error);
/* GSA_ARGUMENT if one of the two cannot be crossed, or they are already. */
gsa_status gsa__schema_add_cross(gsa__schema *schema, const char *const name[2], const size_t name_size[2],
                                 gsa_error *error);
bool gsa__schema_is_crossed(const gsa__schema *schema, const char *const name[2], const size_t name_size[2]);
/* The next of a list "A*B,C*D"; false at its end. A part that is missing has the size 0. */
bool gsa__schema_next_cross(const char **list, const char *name[2], size_t name_size[2]);
/* SIZE_MAX if there is none of that name. */
size_t gsa__schema_find(const gsa__schema *schema, const char *name, size_t name_size);
/* All fields are there: makes the text. */
gsa_status gsa__schema_complete(gsa__schema *schema, gsa_error *error);
/* Back from the text; GSA_FORMAT if it is none. */
gsa_status gsa__schema_parse(gsa__schema *schema, const char *text, gsa_error *error);

#endif
