/* The held-out sample. */
#include "learn/holdout.h"

#include "learn/inside.h"
#include "learn/stored_rows.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

void gsai_sample_release(gsai_sample *sample, const gsai_env *env)
{
    for (size_t i = 0; i < sample->n; i++)
        gsai_free(env, sample->at[i]);
    gsai_free(env, sample->at);
    gsai_free(env, sample->hash);
    memset(sample, 0, sizeof *sample);
}

/* By hash, class, number and features: below 0, 0 or above. */
static int compare(const gsai_held_row *a, const gsai_held_row *b)
{
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    if (a->class_number != b->class_number)
        return a->class_number < b->class_number ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->features < b->features ? -1 : a->features > b->features;
}

/* Rows in order, with their hashes. */
struct list {
    gsai_held_row *const *row;
    const uint64_t *hash;
    size_t n;
};

/* Returns the settled rows, or (1) the late ones. */
static struct list list_of(const gsai_sample *sample, int late)
{
    size_t n = sample->n - sample->n_late;
    if (!late)
        return (struct list){sample->at, sample->hash, n};
    return sample->n_late > 0 ? (struct list){sample->at + n, sample->hash + n, sample->n_late} : (struct list){0};
}

/* The first place whose hash is not below. */
static size_t first_of(struct list list, uint64_t hash)
{
    size_t low = 0, n = list.n;
    for (; n > 1; n -= n / 2) /* without branches: none of them could be foreseen */
        low += (list.hash[low + n / 2 - 1] < hash) * (n / 2);
    return low + (n > 0 && list.hash[low] < hash);
}

/* The first place whose row is not below. */
static size_t place_of(struct list list, const gsai_held_row *row)
{
    size_t place = first_of(list, row->hash), n = 0;
    if (place < list.n && list.hash[place] == row->hash) /* a group may have many rows */
        n = (row->hash < UINT64_MAX ? first_of(list, row->hash + 1) : list.n) - place;
    while (n > 0) {
        size_t half = n / 2;
        bool is_above = compare(list.row[place + half], row) < 0;
        place += is_above ? half + 1 : 0;
        n = is_above ? n - half - 1 : half;
    }
    return place;
}

gsai_held_row *gsai_sample_find(const gsai_sample *sample, const gsai_held_row *row)
{
    for (int late = 1; late >= 0; late--) {
        struct list list = list_of(sample, late);
        size_t place = place_of(list, row);
        if (place < list.n && compare(list.row[place], row) == 0)
            return list.row[place];
    }
    return NULL;
}

/* Moves the rows from `from` to `end`. */
static void move(gsai_sample *sample, size_t to, size_t from, size_t end)
{
    memmove(sample->at + to, sample->at + from, (end - from) * sizeof *sample->at);
    memmove(sample->hash + to, sample->hash + from, (end - from) * sizeof *sample->hash);
}

static void put(gsai_sample *sample, size_t place, gsai_held_row *held)
{
    sample->at[place] = held;
    sample->hash[place] = held->hash;
}

/* From the back, so that every row is moved once. */
void gsai_sample_settle(gsai_sample *sample)
{
    gsai_held_row *late[GSAI_SAMPLE_LATE];
    size_t end = sample->n - sample->n_late;
    if (sample->n_late == 0)
        return;
    memcpy(late, sample->at + end, sample->n_late * sizeof *late);
    while (sample->n_late > 0) {
        gsai_held_row *held = late[--sample->n_late];
        size_t place = place_of((struct list){sample->at, sample->hash, end}, held);
        move(sample, place + sample->n_late + 1, place, end);
        put(sample, place + sample->n_late, held);
        end = place;
    }
}

/* Returns the place of the highest row, of which there is one. */
static size_t last_place(const gsai_sample *sample)
{
    size_t n = sample->n - sample->n_late;
    bool is_late = n == 0 || (sample->n_late > 0 && compare(sample->at[sample->n - 1], sample->at[n - 1]) > 0);
    return is_late ? sample->n - 1 : n - 1;
}

const gsai_held_row *gsai_sample_last(const gsai_sample *sample)
{
    return sample->n > 0 ? sample->at[last_place(sample)] : NULL;
}

gsai_held_row *gsai_sample_pop(gsai_sample *sample)
{
    if (sample->n == 0)
        return NULL;
    size_t place = last_place(sample);
    gsai_held_row *last = sample->at[place];
    sample->n_late -= place >= sample->n - sample->n_late;
    move(sample, place, place + 1, sample->n--);
    sample->below = last->hash < sample->below ? last->hash : sample->below;
    return last;
}

gsai_kind gsai_sample_kind(const gsai_sample *sample, uint64_t hash)
{
    gsai_kind kind = {0};
    for (int late = 0; late < 2; late++) {
        struct list list = list_of(sample, late);
        for (size_t i = first_of(list, hash); i < list.n && list.hash[i] == hash; i++) {
            kind.n++;
            kind.weight += list.row[i]->weight;
        }
    }
    return kind;
}

/* Walks the kinds in ascending order, over both lists. */
bool gsai_sample_is_low(const gsai_sample *sample, uint64_t hash)
{
    struct list lists[2] = {list_of(sample, 0), list_of(sample, 1)};
    size_t at[2] = {0, 0};
    for (size_t kinds = 0; kinds < GSAI_SAMPLE_MANY; kinds++) {
        uint64_t next = hash;
        for (int l = 0; l < 2; l++)
            next = at[l] < lists[l].n && lists[l].hash[at[l]] < next ? lists[l].hash[at[l]] : next;
        if (next == hash)
            return true;
        for (int l = 0; l < 2; l++)
            while (at[l] < lists[l].n && lists[l].hash[at[l]] == next)
                at[l]++;
    }
    return false;
}

bool gsai_sample_is_over(const gsai_sample *sample, size_t max, bool keeps_low)
{
    const gsai_held_row *last = gsai_sample_last(sample);
    if (!last || sample->n > max)
        return last != NULL;
    bool is_learned = last->weight == 0 || isinf(last->weight); /* infinite while states are merged */
    return last->hash >= sample->below && !(keeps_low && is_learned && gsai_sample_is_low(sample, last->hash));
}

size_t gsai_sample_count(const gsai_sample *sample)
{
    size_t n = first_of(list_of(sample, 0), sample->below), kinds = 0;
    double seen = 0;
    for (size_t i = n; i < sample->n; i++) {
        kinds += i == n || sample->hash[i] != sample->hash[i - 1];
        seen += sample->at[i]->seen;
    }
    return seen > GSAI_COMMON_WEIGHT * (double)kinds ? sample->n : n;
}

/* Above this share of rows with another label than most of their kind, rows of a kind are not copies. */
#define MAX_OTHER_LABELS 0.1
/* Fewer rows per kind are those that are equal by chance. */
#define MIN_COPIES 1.5

double gsai_sample_copies(const gsai_sample *sample)
{
    double kinds = 0, weight = 0, other = 0;
    for (size_t i = 0, next; i < sample->n; i = next) {
        double sum = 0, max = 0;
        for (next = i; next < sample->n && sample->hash[next] == sample->hash[i]; next++) {
            sum += sample->at[next]->weight;
            max = sample->at[next]->weight > max ? sample->at[next]->weight : max;
        }
        kinds += sum > 0;
        weight += sum;
        other += sum - max;
    }
    return sample->by == GSAI_BY_FEATURES && kinds >= GSAI_SAMPLE_MANY && weight >= MIN_COPIES * kinds &&
                   other <= MAX_OTHER_LABELS * weight
               ? weight / kinds
               : 1;
}

gsai_held_row *gsai_sample_next_held(gsai_sample *sample, uint64_t hash)
{
    gsai_sample_settle(sample);
    for (size_t i = first_of(list_of(sample, 0), hash); i < sample->n && sample->hash[i] == hash; i++)
        if (sample->at[i]->weight > 0)
            return sample->at[i];
    return NULL;
}

static size_t held_size(size_t n)
{
    return sizeof(gsai_held_row) + 2 * n * sizeof(uint32_t); /* n < 2^32: no overflow in 64 bits */
}

gsai_held_row *gsai_held_row_new(const gsai_row *row, uint64_t hash, uint64_t features, size_t class_number, double y,
                                 double c, const gsai_env *env)
{
    if (row->n > UINT32_MAX || row->n > (SIZE_MAX - sizeof(gsai_held_row)) / 8)
        return NULL;
    gsai_held_row *held = gsai_alloc(env, held_size(row->n), 1);
    if (!held)
        return NULL;
    uint32_t n = 0;
    for (size_t i = 0; i < row->n; i++)
        if (!row->value || row->value[i] != 0)
            held->entries[n++] = row->index ? row->index[i] : (uint32_t)i;
    uint32_t at = n;
    for (size_t i = 0; i < row->n; i++) {
        float value = row->value ? row->value[i] : 1.0f;
        if (value != 0)
            memcpy(&held->entries[at++], &value, sizeof value);
    }
    held->hash = hash;
    held->features = features;
    held->number = y + 0.0; /* -0 is 0 */
    held->class_number = (uint32_t)class_number;
    held->weight = held->seen = c;
    held->n = n;
    return held;
}

static gsai_held_row *copy_row(const gsai_held_row *held, const gsai_env *env)
{
    return gsai_copy(env, held, held_size(held->n), 1);
}

gsa_status gsai_sample_insert(gsai_sample *sample, gsai_held_row *held, const gsai_env *env, gsa_error *error)
{
    gsai_held_row *equal = held ? gsai_sample_find(sample, held) : NULL;
    if (equal) {
        equal->weight += held->weight;
        equal->seen += held->seen;
        gsai_free(env, held);
        return GSA_OK;
    }
    if (!held || !gsai_reserve(env, &sample->at, &sample->capacity, sample->n + 1, sizeof *sample->at) ||
        !gsai_reserve(env, &sample->hash, &sample->hash_capacity, sample->n + 1, sizeof *sample->hash)) {
        gsai_free(env, held);
        return gsai_fail_memory(env, error, "no memory for the held-out sample");
    }
    if (sample->n_late == GSAI_SAMPLE_LATE)
        gsai_sample_settle(sample);
    /* A row above all others need not wait among the late ones. */
    const gsai_held_row *last = gsai_sample_last(sample);
    size_t place = sample->n - sample->n_late + place_of(list_of(sample, 1), held);
    sample->n_late += sample->n_late > 0 || (last && compare(held, last) < 0);
    move(sample, place + 1, place, sample->n++);
    put(sample, place, held);
    return GSA_OK;
}

/* ---- the part of a state ----------------------------------------------------------------------------------------- */

static void release(gsa_state *state)
{
    gsai_sample_release(&state->sample, &state->env);
}

size_t gsai_state_max_held(const gsa_state *state)
{
    size_t max = gsai_params_holdout(&state->params);
    uint64_t tenth = state->fingerprint.n_rows / 10; /* of the rows of the first pass */
    return state->sample.by == GSAI_BY_TIME && tenth < max ? (size_t)tenth : max;
}

gsa_status gsai_state_hold_by(gsa_state *state, gsai_held_by by, gsa_error *error)
{
    bool is_new = state->position.pass == 0 && state->position.pass_rows == 0 && state->n_rows == 0;
    if (by == state->sample.by)
        return GSA_OK;
    if (!is_new)
        return gsai_fail(error, GSA_ARGUMENT,
                         "some rows have %s and others have not: give them for all rows, or leave them out",
                         by == GSAI_BY_TIME || state->sample.by == GSAI_BY_TIME ? "times" : "groups");
    state->sample.by = by;
    state->sample.below = by == GSAI_BY_TIME ? UINT64_MAX : GSAI_SAMPLE_BELOW;
    return GSA_OK;
}

static gsa_status copy_sample(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    for (size_t i = 0; i < from->sample.n; i++) {
        gsai_held_row *held = copy_row(from->sample.at[i], &to->env);
        GSA_TRY(gsai_sample_insert(&to->sample, held, &to->env, error));
    }
    to->sample.below = from->sample.below;
    to->sample.by = from->sample.by;
    return GSA_OK;
}

/* An entry that several replicas have is the base's once, and what each of them has added to it. What is common to one
 * of them is common to all: an infinite weight stands for that until the end. */
static gsa_status add_held(const gsai_merge *merge, const gsa_state *from, const gsai_held_row *held, gsa_error *error)
{
    gsa_state *into = merge->into;
    const gsai_held_row *before = merge->continues ? gsai_sample_find(&merge->base->sample, held) : NULL;
    bool is_news = !before || before->seen != held->seen || before->weight != held->weight;
    if ((held->hash >= into->sample.below && held->weight > 0) || !is_news)
        return GSA_OK;
    if (before && (held->seen < before->seen || (held->weight > 0 && held->weight < before->weight)))
        return gsai_fail(error, GSA_CONFLICT,
                         "cannot merge the states: a held-out row weighs less than in the base; give their own base");
    gsai_held_row *copy = copy_row(held, &into->env);
    if (copy) {
        copy->seen -= before ? before->seen : 0;
        copy->weight = held->weight > 0 ? held->weight - (before ? before->weight : 0) : INFINITY;
    }
    if (copy && gsai_loss_has_classes(into->loss))
        copy->class_number = (uint32_t)gsai_labels_find_text(&into->labels, from->labels.at[held->class_number].text);
    return gsai_sample_insert(&into->sample, copy, &into->env, error);
}

/* No entry of a common kind holds anything. */
static void clear_common(gsai_sample *sample)
{
    for (size_t i = 0, end; i < sample->n; i = end) {
        bool common = false;
        for (end = i; end < sample->n && sample->at[end]->hash == sample->at[i]->hash; end++)
            common = common || isinf(sample->at[end]->weight) || sample->at[end]->weight == 0;
        for (size_t k = i; k < end && common; k++)
            sample->at[k]->weight = 0;
    }
}

/* The entries below the threshold of all. After the first pass replicas hold the rows that the base holds. In it they
 * hold others too, and headers of deltas have these alone. Rows that a replica has given back are cut here. */
static gsa_status merge_sample(const gsai_merge *merge, gsa_error *error)
{
    gsa_state *into = merge->into;
    const gsa_state *const *states = merge->states;
    if (merge->continues)
        GSA_TRY(copy_sample(into, merge->base, error));
    if (merge->continues && merge->base->position.pass > 0)
        return GSA_OK;
    into->sample.below = into->sample.by == GSAI_BY_TIME ? UINT64_MAX : into->sample.below;
    for (size_t s = 0; s < merge->n_states; s++)
        if (states[s]->sample.below < into->sample.below)
            into->sample.below = states[s]->sample.below;
    for (size_t s = 0; s < merge->n_states; s++)
        for (size_t i = 0; i < states[s]->sample.n; i++)
            GSA_TRY(add_held(merge, states[s], states[s]->sample.at[i], error));
    while (gsai_sample_is_over(&into->sample, gsai_state_max_held(into), gsai_state_keeps_low(into)))
        gsai_free(&into->env, gsai_sample_pop(&into->sample));
    gsai_sample_settle(&into->sample);
    clear_common(&into->sample);
    return GSA_OK;
}

/* Leaves the rows that the base does not have, or has with other weights; no rows after the first pass. */
static void rows_since(gsa_state *view, const gsa_state *base, gsai_snapshot *snapshot)
{
    const gsai_sample now = view->sample;
    gsai_sample since = {
        .at = gsai_arena_take(&snapshot->owned, now.n + 1, sizeof *since.at), .below = now.below, .by = now.by};
    for (size_t i = 0; i < now.n && view->position.pass == 0 && since.at; i++) {
        const gsai_held_row *held = now.at[i], *known = gsai_sample_find(&base->sample, held);
        if (!known || known->weight != held->weight || known->seen != held->seen)
            since.at[since.n++] = now.at[i];
    }
    view->sample = since;
}

static const gsai_tensor_key keys[GSAI_ROW_TENSORS] = {
    [GSAI_ROW_START] = {"sample.row_start", GSAI_U64, UINT64_MAX},
    [GSAI_ROW_NUMBER] = {"sample.number", GSAI_F64, GSAI_FINITE},
    [GSAI_ROW_WEIGHT] = {"sample.weight", GSAI_F64, GSAI_NOT_NEGATIVE},
    [GSAI_ROW_CLASS] = {"sample.class", GSAI_U32, UINT32_MAX},
    [GSAI_ROW_INDEX] = {"sample.index", GSAI_U32, GSA_MAX_ID},
    [GSAI_ROW_VALUE] = {"sample.value", GSAI_F32, GSAI_FINITE},
    [GSAI_ROW_HASH] = {"sample.hash", GSAI_U64, UINT64_MAX},
    [GSAI_ROW_SEEN] = {"sample.seen", GSAI_F64, GSAI_NOT_NEGATIVE},
};

static void save_sample(gsai_snapshot *snapshot, const gsa_state *state)
{
    const gsai_sample *sample = &state->sample;
    uint64_t n_entries = 0;
    gsai_stored_rows rows = {0};
    if (sample->n == 0)
        return;
    for (size_t i = 0; i < sample->n; i++)
        n_entries += sample->at[i]->n;
    bool done = gsai_stored_rows_add(snapshot, keys, GSAI_ROW_TENSORS, sample->n, n_entries, &rows);
    for (size_t i = 0; i < sample->n && done; i++) {
        const gsai_held_row *held = sample->at[i];
        gsai_row row = gsai_held_row_view(held);
        rows.hash[i] = held->hash;
        rows.number[i] = held->number;
        rows.class_number[i] = held->class_number;
        rows.weight[i] = held->weight;
        rows.seen[i] = held->seen;
        rows.start[i + 1] = rows.start[i] + held->n;
        if (held->n > 0) {
            memcpy(rows.index + rows.start[i], row.index, held->n * sizeof *rows.index);
            memcpy(rows.value + rows.start[i], row.value, held->n * sizeof *rows.value);
        }
    }
}

/* Rows of a sample ascend by hash, class and number. */
static bool sample_row_is_above(const gsai_stored_rows *in, size_t i)
{
    if (i == 0 || in->hash[i] != in->hash[i - 1])
        return i == 0 || in->hash[i] > in->hash[i - 1];
    if (in->class_number[i] != in->class_number[i - 1])
        return in->class_number[i] > in->class_number[i - 1];
    return in->number[i] >= in->number[i - 1]; /* those of a group may differ in features alone */
}

static gsa_status load_sample(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    gsai_stored_rows in = {0};
    gsai_row row;
    GSA_TRY(gsai_stored_rows_find(bundle, keys, GSAI_ROW_TENSORS, &in, error));
    for (size_t i = 0; i < in.n; i++) {
        if (!gsai_stored_row(state, &in, i, &row) || !sample_row_is_above(&in, i) || in.seen[i] == 0 ||
            in.weight[i] > in.seen[i])
            return gsai_fail(error, GSA_FORMAT, "row %zu of the held-out sample is damaged", i);
        const gsa_batch batch = {
            .row_start = (const int64_t[]){0, (int64_t)row.n}, .index = row.index, .value = row.value};
        uint64_t features = state->sample.by ? gsai_row_features_hash(&batch, 0) : in.hash[i];
        if (state->sample.by)
            features = gsai_offset_hash(state->loss, features, in.number[i]);
        gsai_held_row *held =
            gsai_held_row_new(&row, in.hash[i], features, in.class_number[i], in.number[i], in.seen[i], &state->env);
        if (held)
            held->weight = in.weight[i];
        if (held && gsai_sample_find(&state->sample, held)) {
            gsai_free(&state->env, held);
            return gsai_fail(error, GSA_FORMAT, "row %zu of the held-out sample is there twice", i);
        }
        GSA_TRY(gsai_sample_insert(&state->sample, held, &state->env, error));
    }
    return GSA_OK;
}

const gsai_part_functions gsai_sample_part = {.release = release,
                                              .copy = copy_sample,
                                              .merge = merge_sample,
                                              .key = "sample.number",
                                              .save = save_sample,
                                              .load = load_sample,
                                              .since = rows_since};
