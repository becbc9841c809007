/* Putting copies aside, and merging what was put aside. */
#include "engine/aside.h"

#include "engine/peers.h"

#include "base/error.h"
#include "base/memory.h"

/* Features that one process unites at a time: so much of a merge is on its way at once. */
#define RANGE_FEATURES ((uint64_t)1 << 21)

void gsa__aside_begin(gsa__aside *aside, gsa__job *job)
{
    gsa_summary summary = gsa__summary_of(job->state);
    uint64_t n_ranks = gsa__peers_count(job), n = summary.n_features > n_ranks ? summary.n_features : n_ranks;
    uint64_t n_steps = (n + n_ranks * RANGE_FEATURES - 1) / (n_ranks * RANGE_FEATURES);
    *aside = (gsa__aside){.job = job, .heads = {.env = &job->env}, .n_ranges = (size_t)(n_ranks * n_steps)};
    aside->width = n / aside->n_ranges;
}

void gsa__aside_drop(gsa__aside *aside)
{
    if (!aside->job)
        return;
    const gsa_env *env = &aside->job->env;
    gsa__bytes_free(&aside->heads);
    for (size_t i = 0; i < aside->n_sliced; i++) {
        gsa__bytes_free(&aside->sliced[i].bytes);
        gsa__free(env, aside->sliced[i].at);
    }
    gsa__free(env, aside->sliced);
    *aside = (gsa__aside){0};
}

static gsa_status add_heads(gsa__aside *aside, const gsa_state *const *copy, size_t n, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t s = 0; s < n && status == GSA_OK; s++) {
        size_t start = gsa__thing_begin(&aside->heads);
        status = gsa_state_write_head(copy[s], aside->job->state, gsa__bytes_add, &aside->heads, error);
        if (status == GSA_OK)
            status = gsa__thing_end(&aside->heads, start, error);
    }
    return status;
}

gsa_status gsa__aside_add(gsa__aside *aside, const gsa_state *const *copy, size_t n, size_t first, gsa_error *error)
{
    const gsa_env *env = &aside->job->env;
    if (!gsa__reserve(env, &aside->sliced, &aside->capacity, aside->n_sliced + 1, sizeof *aside->sliced))
        return gsa__fail_memory(env, error, "no memory for %zu copies", n);
    gsa__sliced *to = &aside->sliced[aside->n_sliced++];
    *to = (gsa__sliced){.bytes = {.env = env}, .at = gsa__alloc_zeroed(env, aside->n_ranges + 1, sizeof *to->at)};
    gsa_status status =
        to->at ? add_heads(aside, copy, n, error) : gsa__fail_memory(env, error, "no memory for %zu copies", n);
    for (size_t i = 0; i < aside->n_ranges && status == GSA_OK; i++) {
        uint64_t from = i * aside->width, rest = (uint64_t)GSA_MAX_ID + 1 - from;
        size_t start = gsa__thing_begin(&to->bytes);
        status =
            gsa_state_write_slice(copy, n, first, aside->job->state, from,
                                  i + 1 < aside->n_ranges ? aside->width : rest, gsa__bytes_add, &to->bytes, error);
        if (status == GSA_OK)
            status = gsa__thing_end(&to->bytes, start, error);
        to->at[i + 1] = to->bytes.size;
    }
    return status;
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

typedef struct merger {
    gsa__aside *aside;
    size_t n_copies;
    gsa_state **head;   /* of every copy */
    gsa__bytes united;  /* of the ranges of this process */
    const void **slice; /* scratch, of copies or ranges */
    size_t *slice_size;
} merger;

static gsa_status gather(merger *all, gsa_status status, const gsa__bytes *mine, const unsigned char **every,
                         size_t *size, gsa_error *error)
{
    gsa__job *job = all->aside->job;
    const size_t *sizes;
    status = gsa__peers_gather(job, status, mine->at, mine->size, every, &sizes, error);
    *size = status == GSA_OK ? gsa__peers_total(job, sizes) : 0;
    return status;
}

static gsa_status take_heads(merger *all, gsa_status status, gsa_error *error)
{
    const unsigned char *every, *head;
    size_t left, size, s = 0;
    status = gather(all, status, &all->aside->heads, &every, &left, error);
    while (status == GSA_OK && s < all->n_copies && gsa__thing_next(&every, &left, &head, &size))
        status = gsa_state_read(head, size, &all->aside->job->env, &all->head[s++], error);
    return status == GSA_OK && s < all->n_copies ? gsa__peers_surprise(error) : status;
}

/* The slices of one range, from all processes, become one. */
static gsa_status unite(merger *all, const unsigned char *from, size_t left, gsa__bytes *to, gsa_error *error)
{
    const unsigned char *slice;
    size_t n = 0, size, start = gsa__thing_begin(to);
    while (n < all->n_copies && gsa__thing_next(&from, &left, &slice, &size)) {
        all->slice[n] = slice;
        all->slice_size[n++] = size;
    }
    gsa_status status =
        gsa_slices_unite(all->slice, all->slice_size, n, &all->aside->job->env, gsa__bytes_add, to, error);
    return status == GSA_OK ? gsa__thing_end(to, start, error) : status;
}

/* The ranges of a step, each with all that was put aside of it. */
static gsa_status lay_out(const merger *all, size_t first, gsa__bytes *to, size_t *sizes, gsa_error *error)
{
    for (size_t r = 0; r < gsa__peers_count(all->aside->job); r++) {
        size_t before = to->size;
        for (size_t i = 0; i < all->aside->n_sliced; i++) {
            const gsa__sliced *some = &all->aside->sliced[i];
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there are n_sliced */
            size_t at = some->at[first + r], end = some->at[first + r + 1];
            if (gsa__bytes_add(to, some->bytes.at + at, end - at) != 0)
                return gsa__fail_memory(to->env, error, "no memory for what other processes are to have");
        }
        sizes[r] = to->size - before;
    }
    return GSA_OK;
}

/* Everyone gets what it is to unite of the ranges of this step. */
static gsa_status unite_step(merger *all, gsa_status status, size_t first, gsa_error *error)
{
    gsa__job *job = all->aside->job;
    gsa__bytes several = {.env = &job->env};
    size_t n_ranks = gsa__peers_count(job), *sizes = all->slice_size;
    const gsa__sliced *only = all->aside->n_sliced == 1 ? all->aside->sliced : NULL;
    for (size_t r = 0; r < n_ranks; r++)
        sizes[r] = only ? only->at[first + r + 1] - only->at[first + r] : 0;
    if (status == GSA_OK && !only)
        status = lay_out(all, first, &several, sizes, error);
    const unsigned char *mine = only ? only->bytes.at + only->at[first] : several.at;
    const size_t *given = sizes;
    status = gsa__peers_exchange(job, status, mine, sizes, &mine, &given, error);
    if (status == GSA_OK)
        status = unite(all, mine, gsa__peers_total(job, given), &all->united, error);
    gsa__bytes_free(&several);
    return status;
}

/* What everyone has united, in the order of the features: process r has the ranges r, r + n, r + 2n ... */
static gsa_status join(merger *all, gsa_status status, gsa_state **out, gsa_error *error)
{
    const gsa__aside *aside = all->aside;
    const unsigned char *every, *range;
    size_t left, size, n_ranks = gsa__peers_count(aside->job), n = 0;
    status = gather(all, status, &all->united, &every, &left, error);
    for (size_t r = 0; r < n_ranks && status == GSA_OK; r++)
        for (size_t i = r; i < aside->n_ranges && gsa__thing_next(&every, &left, &range, &size); i += n_ranks, n++) {
            all->slice[i] = range;
            all->slice_size[i] = size;
        }
    if (status == GSA_OK && n < aside->n_ranges)
        status = gsa__peers_surprise(error);
    return status == GSA_OK
               ? gsa_state_merge_slices((const gsa_state *const *)all->head, all->n_copies, aside->job->state,
                                        all->slice, all->slice_size, aside->n_ranges, &aside->job->env, out, error)
               : status;
}

gsa_status gsa__aside_merge(gsa__aside *aside, gsa_status status, size_t n_copies, gsa_state **out, gsa_error *error)
{
    gsa__job *job = aside->job;
    const gsa_env *env = &job->env;
    size_t n_ranks = gsa__peers_count(job), n = n_copies > aside->n_ranges ? n_copies : aside->n_ranges;
    merger all = {.aside = aside, .n_copies = n_copies, .united = {.env = env}};
    all.head = gsa__alloc_zeroed(env, n_copies, sizeof(gsa_state *));
    all.slice = gsa__alloc(env, n, sizeof *all.slice);
    all.slice_size = gsa__alloc(env, n, sizeof *all.slice_size);
    bool has_room = all.head && all.slice && all.slice_size;
    if (!has_room && status == GSA_OK)
        status = gsa__fail_memory(env, error, "no memory for %zu copies", n_copies);
    /* A process that has failed says so at the next meeting, and leaves. */
    status = has_room ? take_heads(&all, status, error) : gsa__peers_agree(job, status, error);
    for (size_t i = 0; i < aside->n_ranges && !job->parted; i += n_ranks)
        status = unite_step(&all, status, i, error);
    if (!job->parted)
        status = join(&all, status, out, error);
    for (size_t s = 0; s < n_copies && all.head; s++)
        gsa_state_free(all.head[s]);
    gsa__free(env, all.head);
    gsa__free(env, all.slice);
    gsa__free(env, all.slice_size);
    gsa__bytes_free(&all.united);
    return status;
}
