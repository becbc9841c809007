/* Names of features, for people: of the strongest ones, as far as the reader of the rows knows them.
 *
 *   1 Ids ascend; texts stand one after the other in the order of the ids, each with its NUL.
 *   2 Nothing that is learned depends on them. */
#ifndef GSA_CORE_NAMES_H
#define GSA_CORE_NAMES_H

#include "core/snapshot_build.h"

#define GSA__NAMES_MOST ((size_t)65536)

typedef struct gsa__names {
    uint32_t *id;
    uint64_t *start; /* of each text, and one more */
    char *text;
    size_t n;
} gsa__names;

void gsa__names_release(gsa__names *names, const gsa_env *env);
gsa_status gsa__names_copy(gsa__names *out, const gsa__names *from, const gsa_env *env, gsa_error *error);
/* The names that any of these states has for the strongest features of `state`. */
gsa_status gsa__names_unite(gsa_state *state, const gsa_state *const *from, size_t n_from, gsa_error *error);

void gsa__names_snapshot(gsa__snapshot *snapshot, const gsa__names *names);
gsa_status gsa__names_restore(gsa__names *out, const gsa__bundle *bundle, const gsa_env *env, gsa_error *error);

#endif
