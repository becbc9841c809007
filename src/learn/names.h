/* Names of features, for people: of the strongest ones (weight x deviation), as far as the reader of the rows knows
 * them.
 *
 *   1 Ids ascend; texts stand one after the other in the order of the ids, each with its NUL.
 *   2 Nothing that is learned depends on them. */
#ifndef GSA_LEARN_NAMES_H
#define GSA_LEARN_NAMES_H

#include "base/bundle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GSAI_MAX_NAMES ((size_t)65536)

typedef struct gsai_names {
    uint32_t *id;
    uint64_t *start; /* of each text, and one more */
    char *text;
    size_t n;
} gsai_names;

void gsai_names_release(gsai_names *names, const gsai_env *env);
gsa_status gsai_names_copy(gsai_names *out, const gsai_names *from, const gsai_env *env, gsa_error *error);
/* Keeps the names that any of these states has for the strongest features of `state`. */
gsa_status gsai_names_merge(gsa_state *state, const gsa_state *const *from, size_t n_from, gsa_error *error);

/* Returns the name of a feature, NULL if it has none. */
const char *gsai_names_find(const gsai_names *names, uint64_t feature);
/* Makes names from n ids and `size` bytes of text. GSA_FORMAT if these are not as above. */
gsa_status gsai_names_read(gsai_names *out, const uint32_t *id, size_t n, const char *text, size_t size,
                           const gsai_env *env, gsa_error *error);
/* Add the names, if there are any, to a file, and read them from one. */
void gsai_names_save(gsai_snapshot *snapshot, const gsai_names *names);
gsa_status gsai_names_load(gsai_names *out, const gsai_bundle *bundle, const gsai_env *env, gsa_error *error);

/* ---- the strongest features -------------------------------------------------------------------------------------- */

/* By |weight| x deviation; of equals the lower id. They are offered with ascending ids. */
typedef struct gsai_feature_strength {
    uint32_t id;
    float deviation;
    double strength;
    const char *text; /* its name; NULL: none was asked for */
} gsai_feature_strength;

typedef struct gsai_strongest {
    const gsai_env *env;
    size_t max; /* how many are wanted */
    gsai_feature_strength *at;
    size_t n, capacity;
    double least; /* a feature that is not stronger is not among the strongest; -1 at first */
} gsai_strongest;

/* Adds a feature that is stronger than `least`. Returns false if out of memory. */
bool gsai_strongest_add(gsai_strongest *strongest, gsai_feature_strength feature);
/* Leaves the strongest, with ascending ids. */
void gsai_strongest_finish(gsai_strongest *strongest);

#endif
