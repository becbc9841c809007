/* Operations on all parts of a state, by their table. */
#include "learn/parts.h"

#include "learn/inside.h"

#include "base/error.h"
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

typedef enum merge_rule { MERGE_NONE, MERGE_SUM, MERGE_TOTAL, MERGE_MAX, MERGE_KEEP } merge_rule;
enum { IN, OUT };

typedef struct part {
    gsai_stored_field field; /* where it is in a state; the key of an array; of a number also its length, 1 */
    size_t size;
    size_t element; /* bytes; 0: not an array */
    gsai_copy_kind copy;
    merge_rule merge;
    int header;
    const gsai_part_functions *own;
} part;

const gsai_part_functions gsai_plain_part = {0};

#define AT(name) offsetof(gsa_state, name)
#define SIZE(name) sizeof(((gsa_state *)NULL)->name)
static const part parts[] = {
#define GSAI_NUMBER(dtype, name, copy, merge, limit) \
    {{{#name, GSAI_##dtype, limit}, AT(name), 1}, SIZE(name), 0, GSAI_COPY_##copy, MERGE_##merge, IN, &gsai_plain_part},
#define GSAI_PART(type, name, copy, merge, header, own) \
    {{{0}, AT(name), 0}, SIZE(name), 0, GSAI_COPY_##copy, MERGE_##merge, header, &(own)},
#define GSAI_FIELD(dtype, number, merge, limit) GSAI_NUMBER(dtype, number, NONE, merge, limit)
#define GSAI_ARRAY(type, name, dtype, copy, limit, own) \
    {{{#name, GSAI_##dtype, limit}, AT(name), 0},       \
     SIZE(name),                                        \
     sizeof *((gsa_state *)NULL)->name.at,              \
     GSAI_COPY_##copy,                                  \
     MERGE_NONE,                                        \
     IN,                                                \
     &(own)},
#include "learn/parts.def"
#undef GSAI_NUMBER
#undef GSAI_PART
#undef GSAI_FIELD
#undef GSAI_ARRAY
};
enum { PARTS = sizeof parts / sizeof *parts };

static bool is_number(const part *of)
{
    return of->field.len == 1;
}

/* An array, whatever its elements are. */
typedef struct array {
    void *at;
    size_t n, capacity;
} array;

static array array_of(const gsa_state *state, const part *of)
{
    array out;
    memcpy(&out, (const char *)state + of->field.at, sizeof out);
    return out;
}

/* Copies n elements into an array that is empty. */
static gsa_status fill_array(gsa_state *state, const part *of, const void *from, size_t n, gsa_error *error)
{
    GSA_TRY(gsai_array_grow((char *)state + of->field.at, n, of->element, &state->env, error));
    if (n > 0)
        memcpy(array_of(state, of).at, from, n * of->element);
    return GSA_OK;
}

/* ---- free and copy ----------------------------------------------------------------------------------------------- */

void gsai_parts_release(gsa_state *state)
{
    for (size_t i = 0; i < PARTS; i++) {
        if (parts[i].own->release)
            parts[i].own->release(state);
        if (parts[i].element > 0)
            gsai_free(&state->env, array_of(state, &parts[i]).at);
    }
}

static gsa_status copy_part(gsa_state *to, const gsa_state *from, const part *of, gsa_error *error)
{
    if (of->own->copy)
        return of->own->copy(to, from, error);
    if (of->element > 0)
        return fill_array(to, of, array_of(from, of).at, array_of(from, of).n, error);
    memcpy((char *)to + of->field.at, (const char *)from + of->field.at, of->size);
    return GSA_OK;
}

gsa_status gsai_parts_copy(gsa_state *to, const gsa_state *from, gsai_copy_kind how, gsa_error *error)
{
    for (size_t i = 0; i < PARTS; i++)
        if (how <= parts[i].copy)
            GSA_TRY(copy_part(to, from, &parts[i], error));
    return GSA_OK;
}

/* ---- merge ------------------------------------------------------------------------------------------------------- */

/* Sums are exact for integers; those of doubles are in the order of gsai_merge_sum. */
static uint64_t merge_u64(const gsai_merge *merge, const part *of)
{
    const size_t at = of->field.at;
    bool since_base = merge->base && (merge->continues || of->merge == MERGE_TOTAL);
    uint64_t base = since_base ? *(const uint64_t *)(const void *)((const char *)merge->base + at) : 0, out = base;
    for (size_t s = 0; s < merge->n_states; s++) {
        uint64_t own = *(const uint64_t *)(const void *)((const char *)merge->states[s] + at);
        out = of->merge == MERGE_MAX ? (own > out ? own : out) : out + (own - base);
    }
    return out;
}

static double number_at(const gsa_state *state, size_t at)
{
    return *(const double *)(const void *)((const char *)state + at);
}

static double added(const gsai_merge *merge, const gsa_state *state, size_t at)
{
    return number_at(state, at) - (merge->continues ? number_at(merge->base, at) : 0);
}

static double merge_f64(const gsai_merge *merge, const part *of)
{
    double base = merge->continues ? number_at(merge->base, of->field.at) : 0, max = base;
    for (size_t s = 0; s < merge->n_states; s++)
        max = fmax(max, number_at(merge->states[s], of->field.at));
    return of->merge == MERGE_MAX ? max : gsai_merge_sum(merge, added, of->field.at) + base;
}

gsa_status gsai_parts_merge(const gsai_merge *merge, gsa_error *error)
{
    for (size_t i = 0; i < PARTS; i++) {
        void *into = (char *)merge->into + parts[i].field.at;
        if (is_number(&parts[i]) && parts[i].merge != MERGE_NONE && parts[i].field.key.dtype == GSAI_U64)
            *(uint64_t *)into = merge_u64(merge, &parts[i]);
        else if (is_number(&parts[i]) && parts[i].merge != MERGE_NONE)
            *(double *)into = merge_f64(merge, &parts[i]);
    }
    for (size_t i = 0; i < PARTS; i++) {
        if (parts[i].merge == MERGE_KEEP && merge->continues)
            GSA_TRY(copy_part(merge->into, merge->base, &parts[i], error));
        if (parts[i].own->merge)
            GSA_TRY(parts[i].own->merge(merge, error));
    }
    return GSA_OK;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Checks numbers that depend on each other, on saving as on loading: all that is saved can be loaded. */
static gsa_status check_numbers(const gsa_state *state, gsa_status status, gsa_error *error)
{
    const gsai_averaging *averaging = &state->averaging;
    const gsai_label_offset *offset = &state->label_offset;
    if (averaging->restart <= averaging->now || averaging->first > averaging->now || averaging->per_row == 0)
        return gsai_fail(error, status, "the numbers of averaging contradict each other");
    if (state->n_counted > state->rows_behind)
        return gsai_fail(error, status, "features are counted in more rows than were seen");
    if (state->row_weights.n_rows > 0 && state->row_weights.sum == 0)
        return gsai_fail(error, status, "all rows have weight 0");
    if (!gsai_loss_has_offset(state->loss) && (offset->at != 0 || offset->mean != 0 || offset->weight != 0))
        return gsai_fail(error, status, "%s loss has no label offset", gsai_loss_name(state->loss));
    return GSA_OK;
}

enum { MAX_LINES = 12 };

/* A state, and the parts with lines that its table does not tell of. */
typedef struct used_slots {
    const gsa_state *state;
    const gsai_part_functions *others[MAX_LINES];
    size_t n_others;
} used_slots;

static bool uses(const used_slots *of, size_t slot)
{
    bool any = slot == 0 || !gsai_table_is_zero(&of->state->table, slot);
    for (size_t i = 0; i < of->n_others && !any; i++)
        any = of->others[i]->uses(of->state, slot);
    return any;
}

/* The first and the last slot are always written: they say how large the table is. */
static size_t next_slot(const void *ctx, size_t slot, size_t n_slots)
{
    const used_slots *of = ctx;
    size_t last = slot < n_slots ? n_slots - 1 : n_slots;
    for (slot = gsai_table_next(&of->state->table, slot); slot < last && !uses(of, slot);
         slot = gsai_table_next(&of->state->table, slot + 1))
        ;
    return slot < last ? slot : last;
}

/* Finds the parts with lines; returns the number of their tensors. */
static size_t list_lines(const gsa_state *state, gsai_line_tensor *tensors, used_slots *used)
{
    size_t n = 0;
    *used = (used_slots){.state = state};
    for (size_t i = 0; i < PARTS; i++) {
        size_t n_own = parts[i].own->lines ? parts[i].own->lines(state, tensors + n) : 0;
        if (n_own > 0 && parts[i].own->uses)
            used->others[used->n_others++] = parts[i].own;
        n += n_own;
    }
    assert(n <= MAX_LINES);
    return n;
}

static void save_lines(gsai_snapshot *snapshot, const gsa_state *state)
{
    gsai_line_tensor tensors[MAX_LINES];
    used_slots used;
    size_t n = list_lines(state, tensors, &used);
    gsai_snapshot_lines(snapshot, tensors, n, &GSAI_SLOT_KEY, state->table.n_slots, state->table.n_used + 1, next_slot,
                        &used);
}

gsa_status gsai_parts_save(gsai_snapshot *snapshot, const gsa_state *state, gsa_error *error)
{
    GSA_TRY(check_numbers(state, GSA_LIMIT, error));
    for (size_t i = 0; i < PARTS; i++)
        gsai_snapshot_fields(snapshot, &parts[i].field, is_number(&parts[i]), state);
    for (size_t i = 0; i < PARTS; i++) {
        array of = parts[i].element > 0 ? array_of(state, &parts[i]) : (array){0};
        if (parts[i].own == &gsai_table_part && state->loss)
            save_lines(snapshot, state);
        if (parts[i].own->save)
            parts[i].own->save(snapshot, state);
        else if (of.n > 0 && !parts[i].own->lines)
            gsai_snapshot_add(snapshot, &parts[i].field.key, of.at,
                              of.n * (parts[i].element / gsai_dtype_size(parts[i].field.key.dtype)));
    }
    return gsai_snapshot_check(snapshot, error);
}

gsa_status gsai_parts_save_since(gsai_snapshot *snapshot, const gsa_state *replica, const gsa_state *base,
                                 gsa_error *error)
{
    gsa_state *view = gsai_arena_take(&snapshot->owned, 1, sizeof *view);
    if (view)
        *view = *replica;
    for (size_t i = 0; i < PARTS && view; i++) {
        if (parts[i].header == OUT)
            memset((char *)view + parts[i].field.at, 0, parts[i].size);
        if (parts[i].own->since)
            parts[i].own->since(view, base, snapshot);
    }
    GSA_TRY(gsai_arena_check(&snapshot->owned, "the header of a delta", error));
    return gsai_parts_save(snapshot, view, error);
}

static gsa_status load_array(gsa_state *state, const part *of, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *found;
    GSA_TRY(gsai_bundle_may_have(bundle, &of->field.key, GSAI_ANY_LEN, &found, error));
    if (!found)
        return GSA_OK;
    size_t size = (size_t)gsai_tensor_len(found) * gsai_dtype_size(of->field.key.dtype);
    GSA_TRY(fill_array(state, of, found->data, size / of->element, error));
    return size % of->element == 0 && (!of->own->is_sound || of->own->is_sound(state))
               ? GSA_OK
               : gsai_fail(error, GSA_FORMAT, "tensor '%s' does not fit the state", of->field.key.name);
}

static gsa_status load_lines(gsa_state *state, const part *of, const gsai_bundle *bundle, gsa_error *error)
{
    gsai_line_tensor tensors[MAX_LINES];
    gsai_lines lines;
    size_t n = of->own->lines(state, tensors);
    GSA_TRY(gsai_lines_find(bundle, &GSAI_SLOT_KEY, state->table.n_slots, &lines, error));
    for (size_t i = 0; i < n; i++)
        GSA_TRY(gsai_lines_restore(&tensors[i], &lines, bundle, error));
    return GSA_OK;
}

gsa_status gsai_parts_load(gsa_state *state, const gsai_loss *loss, const gsai_bundle *bundle, gsa_error *error)
{
    state->loss = loss;
    for (size_t i = 0; i < PARTS; i++)
        GSA_TRY(gsai_bundle_fields(bundle, &parts[i].field, is_number(&parts[i]), state, error));
    GSA_TRY(check_numbers(state, GSA_FORMAT, error));
    for (size_t i = 0; i < PARTS; i++) {
        const gsai_part_functions *own = parts[i].own;
        bool found = own->key && gsai_bundle_tensor(bundle, own->key);
        if (!loss && (found || state->labels.n > 0)) /* classes of rows could not be checked */
            return gsai_fail(error, GSA_FORMAT, "there are labels, weights or rows, but the loss is not decided");
        if (own->load && (!own->key || found || (own == &gsai_table_part && loss)))
            GSA_TRY(own->load(state, bundle, error));
        else if (parts[i].element > 0 && !own->load)
            GSA_TRY(load_array(state, &parts[i], bundle, error));
        if (found && own->lines)
            GSA_TRY(load_lines(state, &parts[i], bundle, error));
    }
    if (state->basis.n > 0 && (!loss || state->basis.at + state->basis.n_ids >= state->table.n_slots))
        return gsai_fail(error, GSA_FORMAT, "the table has no slots for the knots of curves");
    gsai_line_tensor tensors[MAX_LINES];
    used_slots used;
    (void)list_lines(state, tensors, &used);
    for (size_t slot = gsai_table_next(&state->table, 1); slot < state->table.n_slots;
         slot = gsai_table_next(&state->table, slot + 1))
        if (!uses(&used, slot)) /* a line of zeros */
            gsai_table_drop(&state->table, slot);
    return GSA_OK;
}
