/* Names of the strongest features. */
#include "learn/names.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "learn/inside.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void gsai_names_release(gsai_names *names, const gsai_env *env)
{
    gsai_free(env, names->id);
    gsai_free(env, names->start);
    gsai_free(env, names->text);
    *names = (gsai_names){0};
}

const char *gsai_names_find(const gsai_names *names, uint64_t feature)
{
    size_t from = 0, to = names->n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (names->id[middle] < feature)
            from = middle + 1;
        else
            to = middle;
    }
    return from < names->n && names->id[from] == feature ? names->text + names->start[from] : NULL;
}

/* Reserves memory for n names with text_size bytes of text, NULs included. */
static gsa_status make_room(gsai_names *names, size_t n, size_t text_size, const gsai_env *env, gsa_error *error)
{
    names->id = gsai_alloc(env, n, sizeof *names->id);
    names->start = gsai_alloc_zeroed(env, n + 1, sizeof *names->start);
    names->text = gsai_alloc_zeroed(env, text_size + 1, 1);
    if (names->id && names->start && names->text)
        return GSA_OK;
    gsai_names_release(names, env);
    return gsai_fail_memory(env, error, "no memory for the names of %zu features", n);
}

/* Appends a name. Bytes that are no UTF-8, in data of another encoding, become question marks. */
static void append(gsai_names *names, uint32_t id, const char *text)
{
    size_t size = strlen(text) + 1, start = (size_t)names->start[names->n];
    char *to = memcpy(names->text + start, text, size);
    for (size_t at = 0, len; at + 1 < size; at += len > 0 ? len : 1)
        if ((len = gsai_utf8_character(to + at, size - at)) == 0)
            to[at] = '?';
    names->id[names->n++] = id;
    names->start[names->n] = start + size;
}

/* ---- the strongest ---------------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const gsai_feature_strength *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int descending(const void *a, const void *b)
{
    const gsai_feature_strength *x = a, *y = b;
    if (x->strength != y->strength)
        return x->strength < y->strength ? 1 : -1;
    return ascending(a, b);
}

/* Brings the n_first strongest of n features to the front, in any order: parts the features that they are among by the
 * middle one, or sorts them if that has not brought them together soon. */
static void select_strongest(gsai_feature_strength *at, size_t n, size_t n_first)
{
    size_t from = 0, end = n;
    for (int left = 64; from < n_first && n_first < end && left > 0; left--) {
        const gsai_feature_strength middle = at[from + (end - from) / 2];
        size_t low = from, high = end - 1;
        for (;; high--) {
            while (descending(&at[low], &middle) < 0)
                low++;
            while (descending(&middle, &at[high]) < 0)
                high--;
            if (low >= high)
                break;
            const gsai_feature_strength other = at[low];
            at[low++] = at[high];
            at[high] = other;
        }
        *(low < n_first ? &from : &end) = low;
    }
    if (from < n_first && n_first < end)
        qsort(at + from, end - from, sizeof *at, descending);
}

/* Twice as many as wanted are gathered, then the weaker half goes. */
static void drop_weaker(gsai_strongest *strongest)
{
    if (strongest->n <= strongest->max)
        return;
    select_strongest(strongest->at, strongest->n, strongest->max);
    strongest->n = strongest->max;
    strongest->least = INFINITY;
    for (size_t i = 0; i < strongest->n; i++)
        strongest->least = fmin(strongest->least, strongest->at[i].strength);
}

bool gsai_strongest_add(gsai_strongest *strongest, gsai_feature_strength feature)
{
    if (strongest->n == 2 * strongest->max)
        drop_weaker(strongest);
    if (!gsai_reserve(strongest->env, &strongest->at, &strongest->capacity, strongest->n + 1, sizeof *strongest->at))
        return false;
    strongest->at[strongest->n++] = feature;
    return true;
}

void gsai_strongest_finish(gsai_strongest *strongest)
{
    drop_weaker(strongest);
    if (strongest->n > 1)
        qsort(strongest->at, strongest->n, sizeof *strongest->at, ascending);
}

static double strength_of(const gsa_state *state, size_t slot)
{
    double max = 0;
    for (size_t k = 0; k < state->table.n_outputs; k++)
        max = fmax(max, fabs(gsai_state_average(state, slot, k)));
    return max * gsai_state_deviation(state, slot);
}

/* The source of names. */
struct source {
    const gsa_state *state;
    const char *(*name)(const void *ctx, uint64_t feature);
    const void *ctx;
    uint64_t at, end; /* of the knots, of which rows know nothing: what comes after them has another id there */
};

static const char *name_of(const struct source *source, uint64_t id)
{
    bool is_knot = id >= source->at && id < source->end;
    uint64_t of_rows = id < source->at ? id : id - (source->end - source->at);
    const char *text = is_knot ? NULL : source->name(source->ctx, of_rows);
    return text ? text : gsai_names_find(&source->state->names, id);
}

/* Finds the strongest features, or of those with names. Returns false if out of memory. */
static bool find_strongest(const struct source *source, bool with_names, gsai_strongest *strongest)
{
    const gsa_state *state = source->state;
    const gsai_waiting *waiting = gsai_waiting_rows(state->waiting) > 0 ? state->waiting : NULL;
    const gsai_table *table = &state->table;
    size_t learned = gsai_table_next(table, 1), waits = gsai_waiting_next(waiting, 0);
    strongest->max = GSAI_MAX_NAMES;
    strongest->max += waiting ? waiting->n_features : 0; /* it is not known yet which of them will be strong */
    strongest->least = -1;
    strongest->n = 0;
    while (learned < table->n_slots || waits != SIZE_MAX) {
        size_t slot = learned < table->n_slots && learned <= waits ? learned : waits + 1;
        uint64_t id = slot - 1;
        bool is_seen = slot < table->n_slots && gsai_state_n_seen(state, slot) > 0;
        double strength = is_seen ? strength_of(state, slot) : id == waits ? 0 : -1; /* most are never seen */
        learned = learned == slot ? gsai_table_next(table, slot + 1) : learned;
        waits = waits == id ? gsai_waiting_next(waiting, waits + 1) : waits;
        const char *text = with_names && strength > strongest->least ? name_of(source, id) : NULL;
        if (strength > strongest->least && (text || !with_names) &&
            !gsai_strongest_add(strongest, (gsai_feature_strength){(uint32_t)id, 0, strength, text}))
            return false;
    }
    for (size_t i = 0; i < state->basis.n && !waiting; i++) { /* their knots have weights in their place */
        uint32_t id = state->basis.curve[i].feature;
        const char *text = with_names ? name_of(source, id) : NULL;
        if ((text || !with_names) && !gsai_strongest_add(strongest, (gsai_feature_strength){id, 0, DBL_MAX, text}))
            return false;
    }
    gsai_strongest_finish(strongest);
    return true;
}

/* A name is far away: at first it is looked up of the strongest features alone, nearly all of which have one. */
static gsa_status set_names(gsa_state *state, struct source source, gsa_error *error)
{
    const gsai_env *env = &state->env;
    gsai_strongest strongest = {.env = env};
    gsai_names names = {0};
    size_t size = 0, n_named = 0, n_found;
    bool done = find_strongest(&source, false, &strongest);
    n_found = strongest.n;
    for (size_t i = 0; i < n_found; i++) {
        strongest.at[n_named] = strongest.at[i];
        strongest.at[n_named].text = name_of(&source, strongest.at[i].id);
        n_named += strongest.at[n_named].text != NULL;
    }
    strongest.n = n_named;
    if (done && n_named < n_found && n_found == strongest.max)
        done = find_strongest(&source, true, &strongest);
    gsa_status status =
        done ? GSA_OK : gsai_fail_memory(env, error, "no memory for the names of %zu features", strongest.n);
    for (size_t i = 0; i < strongest.n; i++)
        size += strlen(strongest.at[i].text) + 1;
    if (status == GSA_OK && strongest.n > 0)
        status = make_room(&names, strongest.n, size, env, error);
    if (status == GSA_OK && strongest.n > 0) {
        for (size_t i = 0; i < strongest.n; i++)
            append(&names, strongest.at[i].id, strongest.at[i].text);
        gsai_names_release(&state->names, env);
        state->names = names;
    }
    gsai_free(env, strongest.at);
    return status;
}

gsa_status gsa_state_set_names(gsa_state *state, const char *(*name)(const void *ctx, uint64_t feature),
                               const void *ctx, gsa_error *error)
{
    const gsai_basis *basis = &state->basis;
    return set_names(state, (struct source){state, name, ctx, basis->at, basis->at + basis->n_ids}, error);
}

typedef struct several {
    const gsa_state *const *states;
    size_t n;
} several;

static const char *find_in_several(const void *ctx, uint64_t feature)
{
    const several *from = ctx;
    const char *found = NULL;
    for (size_t i = 0; i < from->n && !found; i++)
        found = gsai_names_find(&from->states[i]->names, feature);
    return found;
}

gsa_status gsai_names_merge(gsa_state *state, const gsa_state *const *from, size_t n_from, gsa_error *error)
{
    const several all = {from, n_from};
    size_t n_names = 0;
    for (size_t i = 0; i < n_from; i++)
        n_names += from[i]->names.n;
    return n_names > 0 ? set_names(state, (struct source){state, find_in_several, &all, 0, 0}, error) : GSA_OK;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static const gsai_tensor_key feature_key = {"feature_names.feature", GSAI_U32, GSA_MAX_ID},
                             text_key = {"feature_names.text", GSAI_U8, 0};

void gsai_names_save(gsai_snapshot *snapshot, const gsai_names *names)
{
    if (names->n == 0)
        return;
    gsai_snapshot_add(snapshot, &feature_key, names->id, names->n);
    gsai_snapshot_add(snapshot, &text_key, names->text, names->start[names->n]);
}

gsa_status gsai_names_read(gsai_names *out, const uint32_t *id, size_t n, const char *text, size_t size,
                           const gsai_env *env, gsa_error *error)
{
    bool fits = size > 0 && text[size - 1] == '\0';
    size_t n_texts = 0;
    for (size_t at = 0, len; at < size && fits; at += len + 1, n_texts++) {
        len = strlen(text + at);
        fits = n_texts < n && (n_texts == 0 || id[n_texts] > id[n_texts - 1]) &&
               (len == 0 || gsai_is_text(text + at, len));
    }
    if (!fits || n_texts != n)
        return gsai_fail(error, GSA_FORMAT, "the names of features are damaged");
    GSA_TRY(make_room(out, n, size, env, error));
    for (size_t i = 0; i < n; i++)
        append(out, id[i], text + out->start[i]);
    return GSA_OK;
}

gsa_status gsai_names_copy(gsai_names *out, const gsai_names *from, const gsai_env *env, gsa_error *error)
{
    return from->n == 0 ? GSA_OK
                        : gsai_names_read(out, from->id, from->n, from->text, (size_t)from->start[from->n], env, error);
}

gsa_status gsai_names_load(gsai_names *out, const gsai_bundle *bundle, const gsai_env *env, gsa_error *error)
{
    const gsai_tensor *ids, *texts;
    GSA_TRY(gsai_bundle_may_have(bundle, &feature_key, GSAI_ANY_LEN, &ids, error));
    if (!ids)
        return GSA_OK;
    GSA_TRY(gsai_bundle_need(bundle, &text_key, GSAI_ANY_LEN, &texts, error));
    return gsai_names_read(out, ids->data, (size_t)gsai_tensor_len(ids), texts->data, (size_t)gsai_tensor_len(texts),
                           env, error);
}

static void release(gsa_state *state)
{
    gsai_names_release(&state->names, &state->env);
}

static gsa_status copy_names(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    return gsai_names_copy(&to->names, &from->names, &to->env, error);
}

static void save_names(gsai_snapshot *snapshot, const gsa_state *state)
{
    gsai_names_save(snapshot, &state->names);
}

static gsa_status load_names(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    return gsai_names_load(&state->names, bundle, &state->env, error);
}

const gsai_part_functions gsai_names_part = {
    .release = release, .copy = copy_names, .save = save_names, .load = load_names};
