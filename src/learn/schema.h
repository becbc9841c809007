/* The schema of a state or a model: a text about the columns that states and models keep but do not read. NULL: no
 * schema. */
#ifndef GSA_LEARN_SCHEMA_H
#define GSA_LEARN_SCHEMA_H

#include "base/bundle.h"

#include <stdbool.h>

/* Replaces *to, which is left as it was on failure. */
gsa_status gsai_schema_copy(char **to, const char *from, const gsai_env *env, gsa_error *error);
/* Compares two schemas: GSA_CONFLICT with the first difference if they differ. */
gsa_status gsai_schema_check(const char *a, const char *b, gsa_error *error);
/* Returns whether the schema is that of a table's columns; those of Vowpal Wabbit text have namespaces instead. */
bool gsai_schema_is_table(const char *schema);
/* Returns the first feature of words if there are columns of texts; else a number above all features. */
uint64_t gsai_schema_words_of_texts(const char *schema);
/* Returns the first feature of customers, who have *n_features each; without customers a number above all features. */
uint64_t gsai_schema_customers(const char *schema, uint64_t *n_features);
/* Returns whether labels are counts per unit of a column, and rows weigh that. */
bool gsai_schema_has_exposure(const char *schema);
/* Finds the feature of the column of offsets. The features of a table begin with the numbers of its columns. */
bool gsai_schema_offset(const char *schema, uint32_t *feature);
/* The next feature with a sign, from the text and the feature at which the search is, first 0: 1 if predictions never
 * fall with it, -1 if they never rise; 0 after the last. */
int gsai_schema_next_sign(const char **schema, uint64_t *next, uint32_t *feature);
/* Refuses a schema with signs where rows are not solved all at once. */
gsa_status gsai_schema_check_unsigned(const char *schema, gsa_error *error);
/* Returns the name of the label's column as the schema has it, and its length; 0 if not found. */
const char *gsai_schema_label(const char *schema, size_t *size);

/* Add the schema, if there is one, to a file, and read it from one. */
void gsai_schema_save(gsai_snapshot *snapshot, const char *schema);
gsa_status gsai_schema_load(char **out, const gsai_bundle *bundle, const gsai_env *env, gsa_error *error);

#endif
