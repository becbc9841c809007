/* The labels of a run. */
#include "learn/labels.h"

#include "learn/inside.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

void gsai_labels_init(gsai_labels *labels, const gsai_env *env)
{
    memset(labels, 0, sizeof *labels);
    labels->env = *env;
}

void gsai_labels_release(gsai_labels *labels)
{
    for (size_t i = 0; i < labels->n; i++)
        gsai_free(&labels->env, labels->at[i].text);
    gsai_free(&labels->env, labels->at);
    gsai_free(&labels->env, labels->slot);
    gsai_env env = labels->env;
    gsai_labels_init(labels, &env);
}

static uint64_t hash_number(double number)
{
    uint64_t bits;
    if (number == 0)
        number = 0; /* -0 is 0 */
    memcpy(&bits, &number, sizeof bits);
    return gsai_mix(bits);
}

/* Returns the slot of a label by its text, or (NULL) by its number; a free one if it is not there. */
static uint32_t *slot_of(const gsai_labels *labels, const char *text, double number)
{
    for (size_t i = (size_t)(text ? gsai_hash(text, strlen(text), 0) : hash_number(number));; i++) {
        uint32_t *slot = &labels->slot[i & (labels->n_slots - 1)];
        const gsai_label *label = *slot ? &labels->at[*slot - 1] : NULL;
        if (!label || (text ? strcmp(label->text, text) == 0 : label->is_number && label->number == number))
            return slot;
    }
}

size_t gsai_labels_find_text(const gsai_labels *labels, const char *text)
{
    uint32_t entry = labels->n_slots ? *slot_of(labels, text, 0) : 0;
    return entry ? entry - 1 : GSAI_NO_LABEL;
}

size_t gsai_labels_find_number(const gsai_labels *labels, double number)
{
    uint32_t entry = labels->n_slots ? *slot_of(labels, NULL, number) : 0;
    char text[GSAI_NUMBER_TEXT];
    if (entry)
        return entry - 1;
    gsai_number_text(number, text); /* perhaps it came as a word */
    return gsai_labels_find_text(labels, text);
}

/* Sets the slots of a label: to its class + 1, or 0. */
static void set_slots(gsai_labels *labels, size_t label_number, uint32_t entry)
{
    const gsai_label *label = &labels->at[label_number];
    *slot_of(labels, label->text, 0) = entry;
    if (label->is_number)
        *slot_of(labels, NULL, label->number) = entry;
}

/* Keeps the slots at most half full, with two for each label. */
static bool grow_slots(gsai_labels *labels)
{
    if (labels->n_slots >= 4 * (labels->n + 1))
        return true;
    size_t n_slots = labels->n_slots ? 2 * labels->n_slots : 32;
    uint32_t *slot = gsai_alloc_zeroed(&labels->env, n_slots, sizeof *slot);
    if (!slot)
        return false;
    gsai_free(&labels->env, labels->slot);
    labels->slot = slot;
    labels->n_slots = n_slots;
    for (size_t i = 0; i < labels->n; i++)
        set_slots(labels, i, (uint32_t)i + 1);
    return true;
}

gsa_status gsai_labels_add(gsai_labels *labels, const char *word, double number, size_t *out, gsa_error *error)
{
    char text[GSAI_NUMBER_TEXT];
    *out = word ? gsai_labels_find_text(labels, word) : gsai_labels_find_number(labels, number);
    if (*out != GSAI_NO_LABEL)
        return GSA_OK;
    if (labels->n >= GSAI_MAX_LABELS)
        return gsai_fail(error, GSA_LIMIT, "more than %zu different labels; is it the right column?", GSAI_MAX_LABELS);
    if (!word)
        gsai_number_text(number, text);
    char *copy = gsai_copy_text(&labels->env, word ? word : text);
    if (!copy || !grow_slots(labels) ||
        !gsai_reserve(&labels->env, &labels->at, &labels->capacity, labels->n + 1, sizeof *labels->at)) {
        gsai_free(&labels->env, copy);
        return gsai_fail_memory(&labels->env, error, "no memory for a label");
    }
    labels->at[labels->n] = (gsai_label){copy, word ? 0 : number, !word};
    *out = labels->n++;
    set_slots(labels, *out, (uint32_t)*out + 1);
    return GSA_OK;
}

/* The last one in: no other label was put behind it, so that its slots can be freed without moving any. */
void gsai_labels_drop_last(gsai_labels *labels)
{
    set_slots(labels, labels->n - 1, 0);
    gsai_free(&labels->env, labels->at[--labels->n].text);
}

gsa_status gsai_labels_add_label(gsai_labels *labels, const gsai_label *label, size_t *out, gsa_error *error)
{
    return gsai_labels_add(labels, label->is_number ? NULL : label->text, label->number, out, error);
}

gsa_status gsai_labels_add_all(gsai_labels *labels, const gsai_labels *from, gsa_error *error)
{
    size_t number;
    for (size_t i = 0; i < from->n; i++)
        GSA_TRY(gsai_labels_add_label(labels, &from->at[i], &number, error));
    return GSA_OK;
}

static int in_order(const void *left, const void *right)
{
    const gsai_label *a = *(const gsai_label *const *)left, *b = *(const gsai_label *const *)right;
    if (a->is_number != b->is_number)
        return a->is_number ? -1 : 1;
    if (a->is_number)
        return (a->number > b->number) - (a->number < b->number);
    return strcmp(a->text, b->text);
}

bool gsai_labels_are_swapped(const gsai_labels *labels)
{
    return labels->n == 2 && in_order(&(const gsai_label *){&labels->at[0]}, &(const gsai_label *){&labels->at[1]}) > 0;
}

gsa_status gsai_labels_add_sorted(gsai_labels *labels, const gsai_labels *from, gsa_error *error)
{
    const gsai_label **order = gsai_alloc(&labels->env, from->n, sizeof *order);
    GSAI_TRY_MEMORY(order, &labels->env, error, "no memory for %zu labels", from->n);
    for (size_t i = 0; i < from->n; i++)
        order[i] = &from->at[i];
    qsort(order, from->n, sizeof *order, in_order);
    gsa_status status = GSA_OK;
    size_t number;
    for (size_t i = 0; i < from->n && status == GSA_OK; i++)
        status = gsai_labels_add_label(labels, order[i], &number, error);
    gsai_free(&labels->env, order);
    return status;
}

bool gsai_labels_equal(const gsai_labels *a, const gsai_labels *b)
{
    bool same = a->n == b->n;
    for (size_t k = 0; k < a->n && same; k++)
        same = strcmp(a->at[k].text, b->at[k].text) == 0;
    return same;
}

/* Returns whether this can be the text of a label, since files have no others: UTF-8 without control characters. */
static bool is_label(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < 0x20)
            return false;
    return size == 0 || gsai_is_text(text, size);
}

size_t gsai_labels_find_row(const gsai_labels *labels, const gsa_batch *batch, size_t row)
{
    if (!gsai_row_is_word(batch, row))
        return gsai_labels_find_number(labels, batch->label[row]);
    size_t word = (size_t)batch->word[row];
    return word < batch->n_words ? gsai_labels_find_text(labels, batch->words[word]) : GSAI_NO_LABEL;
}

gsa_status gsai_labels_add_row(gsai_labels *labels, const gsa_batch *batch, size_t row, size_t *out, gsa_error *error)
{
    const char *text = gsai_row_is_word(batch, row) ? batch->words[batch->word[row]] : NULL;
    if (text && !is_label(text, strlen(text)))
        return gsai_fail_row(error, GSA_INPUT, row, "label '%s' is no text: expected UTF-8 without control characters",
                             text);
    return gsai_labels_add(labels, text, text ? 0 : batch->label[row], out, error);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Texts one after the other, each with its NUL; which are numbers; and the numbers, exactly. */
static const gsai_tensor_key text_key = {"labels.text", GSAI_U8, 0}, is_number_key = {"labels.is_number", GSAI_U8, 0},
                             number_key = {"labels.number", GSAI_F64, GSAI_FINITE};

void gsai_labels_save(gsai_snapshot *snapshot, const gsai_labels *labels)
{
    size_t text_size = 0;
    for (size_t k = 0; k < labels->n; k++)
        text_size += strlen(labels->at[k].text) + 1;
    char *text = gsai_arena_take(&snapshot->owned, text_size, 1);
    uint8_t *is_number = gsai_arena_take(&snapshot->owned, labels->n, 1);
    double *number = gsai_arena_take(&snapshot->owned, labels->n, sizeof *number);
    gsai_snapshot_add(snapshot, &text_key, text, text_size);
    gsai_snapshot_add(snapshot, &is_number_key, is_number, labels->n);
    gsai_snapshot_add(snapshot, &number_key, number, labels->n);
    for (size_t k = 0; k < labels->n && number; k++) {
        size_t size = strlen(labels->at[k].text) + 1;
        memcpy(text, labels->at[k].text, size);
        text += size;
        is_number[k] = labels->at[k].is_number;
        number[k] = labels->at[k].number;
    }
}

gsa_status gsai_labels_load(gsai_labels *labels, const gsai_bundle *bundle, gsa_error *error)
{
    const gsai_tensor *texts, *kinds, *numbers;
    GSA_TRY(gsai_bundle_need(bundle, &text_key, GSAI_ANY_LEN, &texts, error));
    GSA_TRY(gsai_bundle_need(bundle, &is_number_key, GSAI_ANY_LEN, &kinds, error));
    GSA_TRY(gsai_bundle_need(bundle, &number_key, gsai_tensor_len(kinds), &numbers, error));
    const char *at = texts->data, *end = at + gsai_tensor_len(texts);
    for (size_t k = 0, out; k < gsai_tensor_len(kinds); k++) {
        const char *nul = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
        double number = ((const double *)numbers->data)[k];
        bool is_number = ((const uint8_t *)kinds->data)[k];
        char expected[GSAI_NUMBER_TEXT];
        if (!nul || !is_label(at, (size_t)(nul - at)))
            return gsai_fail(error, GSA_FORMAT, "label %zu is not a text", k);
        if (is_number)
            gsai_number_text(number, expected);
        if (is_number && strcmp(at, expected) != 0)
            return gsai_fail(error, GSA_FORMAT, "label %zu has a text that is not its number", k);
        GSA_TRY(gsai_labels_add(labels, is_number ? NULL : at, number, &out, error));
        if (out != k)
            return gsai_fail(error, GSA_FORMAT, "label '%.60s' occurs twice", at);
        at = nul + 1;
    }
    return at == end ? GSA_OK : gsai_fail(error, GSA_FORMAT, "there is text after the last label");
}

/* ---- the part of a state ----------------------------------------------------------------------------------------- */

static void release(gsa_state *state)
{
    gsai_labels_release(&state->labels);
}

static gsa_status copy_labels(gsa_state *to, const gsa_state *from, gsa_error *error)
{
    return gsai_labels_add_all(&to->labels, &from->labels, error);
}

/* A run that continues keeps the order of the labels that it knew. */
static gsa_status merge_labels(const gsai_merge *merge, gsa_error *error)
{
    gsai_labels all, *into = &merge->into->labels;
    gsai_labels_init(&all, &merge->into->env);
    gsa_status status = merge->continues ? gsai_labels_add_all(into, &merge->base->labels, error) : GSA_OK;
    for (size_t s = 0; s < merge->n_states && status == GSA_OK; s++)
        status = gsai_labels_add_all(&all, &merge->states[s]->labels, error);
    if (status == GSA_OK)
        status = gsai_labels_add_sorted(into, &all, error);
    gsai_labels_release(&all);
    return status;
}

static void save_labels(gsai_snapshot *snapshot, const gsa_state *state)
{
    gsai_labels_save(snapshot, &state->labels);
}

static gsa_status load_labels(gsa_state *state, const gsai_bundle *bundle, gsa_error *error)
{
    return gsai_labels_load(&state->labels, bundle, error);
}

const gsai_part_functions gsai_labels_part = {
    .release = release, .copy = copy_labels, .merge = merge_labels, .save = save_labels, .load = load_labels};
