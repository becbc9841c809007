/* Putting copies aside, and merging what was put aside. */
#include "engine/aside.h"

#include "engine/peers.h"

#include "base/error.h"
#include "base/memory.h"

/* Features that one process unites at a time: so much of a merge is on its way at once. */
#define RANGE_FEATURES ((uint64_t)1 << 21)

gsa_status gsa__aside_begin(gsa__aside *aside, gsa__job *job, gsa_error *error)
{
    gsa_summary summary;
    gsa_state_summary(job->state, &summary);
    uint64_t n_ranks = gsa__peers_count(job), n = summary.n_features > n_ranks ? summary.n_features : n_ranks;
    uint64_t n_steps = (n + n_ranks * RANGE_FEATURES - 1) / (n_ranks * RANGE_FEATURES);
    *aside = (gsa__aside){.job = job, .heads = {.env = &job->env}, .n_ranges = (size_t)(n_ranks * n_steps)};
    aside->width = n / aside->n_ranges;
    aside->slices = gsa__alloc_zeroed(&job->env, aside->n_ranges, sizeof *aside->slices);
    for (size_t i = 0; aside->slices && i < aside->n_ranges; i++)
        aside->slices[i].env = &job->env;
    return aside->slices ? GSA_OK : gsa__fail(error, GSA_MEMORY, "no memory for %zu slices", aside->n_ranges);
}

void gsa__aside_drop(gsa__aside *aside)
{
    if (!aside->job)
        return;
    gsa__bytes_free(&aside->heads);
    for (size_t i = 0; aside->slices && i < aside->n_ranges; i++)
        gsa__bytes_free(&aside->slices[i]);
    gsa__free(&aside->job->env, aside->slices);
    *aside = (gsa__aside){0};
}

gsa_status gsa__aside_add(gsa__aside *aside, const gsa_state *const *copy, size_t n, size_t first, gsa_error *error)
{
    const gsa_state *base = aside->job->state;
    gsa_status status = GSA_OK;
    for (size_t s = 0; s < n && status == GSA_OK; s++) {
        size_t start = gsa__thing_begin(&aside->heads);
        status = gsa_state_write_head(copy[s], base, gsa__bytes_add, &aside->heads, error);
        if (status == GSA_OK)
            status = gsa__thing_end(&aside->heads, start, error);
    }
    for (size_t i = 0; i < aside->n_ranges && n > 0 && status == GSA_OK; i++) {
        uint64_t from = i * aside->width, rest = (uint64_t)GSA_MAX_ID + 1 - from;
        size_t start = gsa__thing_begin(&aside->slices[i]);
        status = gsa_state_write_slice(copy, n, first, base, from, i + 1 < aside->n_ranges ? aside->width : rest,
                                       gsa__bytes_add, &aside->slices[i], error);
        if (status == GSA_OK)
            status = gsa__thing_end(&aside->slices[i], start, error);
    }
    return status;
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

typedef struct merger {
    gsa__aside *aside;
    size_t n_copies;
    gsa_state **head;  /* of every copy */
    gsa__bytes united; /* of all ranges so far, */
    size_t *united_at; /* where they begin and, behind the last, end */
    size_t n_united;
    const void **slice; /* scratch, of copies */
    size_t *slice_size;
} merger;

/* Alone, what one has is what all have. */
static gsa_status gather(merger *all, gsa_status status, const gsa__bytes *mine, const unsigned char **every,
                         size_t *size, gsa_error *error)
{
    gsa__job *job = all->aside->job;
    const size_t *sizes;
    *every = mine->at;
    *size = mine->size;
    if (gsa__peers_count(job) == 1)
        return status;
    status = gsa__peers_gather(job, status, mine->at, mine->size, every, &sizes, error);
    *size = 0;
    for (size_t r = 0; r < gsa__peers_count(job) && status == GSA_OK; r++)
        *size += sizes[r];
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

/* Everyone gets what it is to unite of the ranges of this step. */
static gsa_status exchange(merger *all, gsa_status status, size_t first, const unsigned char **mine, size_t *size,
                           gsa_error *error)
{
    gsa__job *job = all->aside->job;
    gsa__bytes *slices = all->aside->slices + first, for_all = {.env = &job->env};
    size_t n_ranks = gsa__peers_count(job), *sizes = all->slice_size;
    const size_t *given;
    *mine = slices[0].at;
    *size = slices[0].size;
    if (n_ranks == 1)
        return status;
    for (size_t r = 0; r < n_ranks; r++) {
        sizes[r] = slices[r].size;
        if (status == GSA_OK && gsa__bytes_add(&for_all, slices[r].at, slices[r].size) != 0)
            status = gsa__fail(error, GSA_MEMORY, "no memory for what other processes are to have");
        gsa__bytes_free(&slices[r]);
    }
    status = gsa__peers_exchange(job, status, for_all.at, sizes, mine, &given, error);
    gsa__bytes_free(&for_all);
    *size = 0;
    for (size_t r = 0; r < n_ranks && status == GSA_OK; r++)
        *size += given[r];
    return status;
}

static gsa_status keep_united(merger *all, const unsigned char *from, size_t left, gsa_error *error)
{
    const unsigned char *thing;
    for (size_t size; gsa__thing_next(&from, &left, &thing, &size) && all->n_united < all->aside->n_ranges;) {
        all->united_at[all->n_united++] = all->united.size;
        if (gsa__bytes_add(&all->united, thing, size) != 0)
            return gsa__fail(error, GSA_MEMORY, "no memory for the changes of all features");
        all->united_at[all->n_united] = all->united.size;
    }
    return GSA_OK;
}

static gsa_status unite_step(merger *all, gsa_status status, size_t first, gsa_error *error)
{
    gsa__bytes united = {.env = &all->aside->job->env};
    const unsigned char *some;
    size_t size;
    status = exchange(all, status, first, &some, &size, error);
    if (status == GSA_OK)
        status = unite(all, some, size, &united, error);
    status = gather(all, status, &united, &some, &size, error);
    if (status == GSA_OK)
        status = keep_united(all, some, size, error);
    gsa__bytes_free(&united);
    return status;
}

static gsa_status join(merger *all, gsa_state **out, gsa_error *error)
{
    const gsa__aside *aside = all->aside;
    const gsa_env *env = &aside->job->env;
    const void **range = gsa__alloc(env, aside->n_ranges, sizeof *range);
    size_t *sizes = gsa__alloc(env, aside->n_ranges, sizeof *sizes);
    gsa_status status = range && sizes ? GSA_OK : gsa__fail(error, GSA_MEMORY, "no memory for all slices");
    for (size_t i = 0; i < all->n_united && status == GSA_OK; i++) {
        range[i] = all->united.at + all->united_at[i];
        sizes[i] = all->united_at[i + 1] - all->united_at[i];
    }
    if (status == GSA_OK && all->n_united < aside->n_ranges)
        status = gsa__peers_surprise(error);
    if (status == GSA_OK)
        status = gsa_state_merge_slices((const gsa_state *const *)all->head, all->n_copies, aside->job->state, range,
                                        sizes, aside->n_ranges, env, out, error);
    gsa__free(env, range);
    gsa__free(env, sizes);
    return status;
}

gsa_status gsa__aside_merge(gsa__aside *aside, gsa_status status, size_t n_copies, gsa_state **out, gsa_error *error)
{
    gsa__job *job = aside->job;
    const gsa_env *env = &job->env;
    size_t n_ranks = gsa__peers_count(job), n = n_copies > n_ranks ? n_copies : n_ranks;
    merger all = {.aside = aside, .n_copies = n_copies, .united = {.env = env}};
    all.head = gsa__alloc_zeroed(env, n_copies, sizeof(gsa_state *));
    all.united_at = gsa__alloc_zeroed(env, aside->n_ranges + 1, sizeof *all.united_at);
    all.slice = gsa__alloc(env, n, sizeof *all.slice);
    all.slice_size = gsa__alloc(env, n, sizeof *all.slice_size);
    bool has_room = all.head && all.united_at && all.slice && all.slice_size;
    if (!has_room && status == GSA_OK)
        status = gsa__fail(error, GSA_MEMORY, "no memory for %zu copies", n_copies);
    /* A process that has failed says so at the next meeting, and leaves. */
    status = has_room ? take_heads(&all, status, error) : gsa__peers_agree(job, status, error);
    for (size_t i = 0; i < aside->n_ranges && (status == GSA_OK || (n_ranks > 1 && !job->parted)); i += n_ranks)
        status = unite_step(&all, status, i, error);
    if (status == GSA_OK)
        status = join(&all, out, error);
    for (size_t s = 0; s < n_copies && all.head; s++)
        gsa_state_free(all.head[s]);
    gsa__free(env, all.head);
    gsa__free(env, all.united_at);
    gsa__free(env, all.slice);
    gsa__free(env, all.slice_size);
    gsa__bytes_free(&all.united);
    return status;
}
