/* Meetings of processes, and what they are for. */
#include "engine/peers.h"

#include "engine/bytes.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

/* Features that one process unites at a time: so much of a merge is on its way at once. */
#define SLICE_FEATURES ((uint64_t)1 << 21)

size_t gsa__peers_rank(const gsa__job *job)
{
    return job->hooks.peers ? job->hooks.peers->rank : 0;
}

size_t gsa__peers_count(const gsa__job *job)
{
    return job->hooks.peers ? job->hooks.peers->n_ranks : 1;
}

static size_t owner_of(const gsa__job *job, size_t item, size_t n)
{
    return item * gsa__peers_count(job) / n;
}

bool gsa__peers_is_mine(const gsa__job *job, size_t item, size_t n)
{
    return owner_of(job, item, n) == gsa__peers_rank(job);
}

/* ---- meetings ---------------------------------------------------------------------------------------------------- */

gsa_status gsa__peers_agree(gsa__job *job, gsa_status status, gsa_error *error)
{
    const gsa_peers *peers = job->hooks.peers;
    gsa_error mine = error ? *error : (gsa_error){0}, failure = {0};
    const unsigned char *all;
    const size_t *sizes;
    if (gsa__peers_count(job) == 1 || job->parted)
        return status;
    mine.status = status;
    gsa_status met = peers->gather(peers->ctx, &mine, status == GSA_OK ? 0 : sizeof mine, &all, &sizes, error);
    size_t first = 0, n_failed = 0;
    for (size_t r = 0; met == GSA_OK && r < peers->n_ranks; r++) {
        if (sizes[r] == sizeof failure && n_failed++ == 0) {
            memcpy(&failure, all, sizeof failure);
            first = r;
        }
    }
    job->parted = met != GSA_OK || n_failed > 0;
    if (!job->parted || met != GSA_OK)
        return met;
    if (n_failed < peers->n_ranks && failure.status != GSA_STOPPED)
        gsa__error_prefix(&failure, "rank %zu: ", first);
    if (error)
        *error = failure;
    return failure.status;
}

static gsa_status part(gsa__job *job, gsa_status status)
{
    job->parted = status != GSA_OK;
    return status;
}

gsa_status gsa__peers_gather(gsa__job *job, gsa_status status, const void *bytes, size_t size,
                             const unsigned char **all, const size_t **sizes, gsa_error *error)
{
    const gsa_peers *peers = job->hooks.peers;
    status = gsa__peers_agree(job, status, error);
    job->n_sent += size;
    return status == GSA_OK ? part(job, peers->gather(peers->ctx, bytes, size, all, sizes, error)) : status;
}

gsa_status gsa__peers_exchange(gsa__job *job, gsa_status status, const void *bytes, const size_t *sizes,
                               const unsigned char **all, const size_t **all_sizes, gsa_error *error)
{
    const gsa_peers *peers = job->hooks.peers;
    status = gsa__peers_agree(job, status, error);
    for (size_t r = 0; r < peers->n_ranks && status == GSA_OK; r++)
        job->n_sent += r != peers->rank ? sizes[r] : 0;
    return status == GSA_OK ? part(job, peers->exchange(peers->ctx, bytes, sizes, all, all_sizes, error)) : status;
}

/* ---- things that follow one another, each behind its size -------------------------------------------------------- */

static gsa_status end_thing(gsa__bytes *to, size_t start, gsa_error *error)
{
    if (to->size < start + sizeof(uint64_t))
        return gsa__fail(error, GSA_MEMORY, "no memory for what other processes are to have");
    uint64_t size = to->size - start - sizeof size;
    memcpy(to->at + start, &size, sizeof size);
    return GSA_OK;
}

static size_t begin_thing(gsa__bytes *to)
{
    static const uint64_t nothing = 0;
    size_t start = to->size;
    (void)gsa__bytes_add(to, &nothing, sizeof nothing);
    return start;
}

/* The next of them, where *left bytes follow; false: there is none. */
static bool next_thing(const unsigned char **from, size_t *left, const unsigned char **thing, size_t *size)
{
    uint64_t n;
    if (*left < sizeof n)
        return false;
    memcpy(&n, *from, sizeof n);
    if (n > *left - sizeof n)
        return false;
    *thing = *from + sizeof n;
    *size = (size_t)n;
    *from += sizeof n + n;
    *left -= sizeof n + (size_t)n;
    return true;
}

static gsa_status fail_missing(gsa_error *error)
{
    return gsa__fail(error, GSA_CONFLICT,
                     "other processes have sent something else than expected: do all run the same version?");
}

static size_t sum_of(const size_t *sizes, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += sizes[i];
    return sum;
}

/* ---- whole states ------------------------------------------------------------------------------------------------ */

static gsa_status pack_states(const gsa__job *job, gsa_state *const *item, size_t n, gsa__bytes *to, gsa_error *error)
{
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < n && status == GSA_OK; i++) {
        if (!gsa__peers_is_mine(job, i, n))
            continue;
        size_t start = begin_thing(to);
        status = gsa_state_write(item[i], gsa__bytes_add, to, error);
        if (status == GSA_OK)
            status = end_thing(to, start, error);
    }
    return status;
}

static gsa_status unpack_states(const gsa__job *job, const unsigned char *all, size_t size, gsa_state **item, size_t n,
                                gsa_error *error)
{
    const unsigned char *state;
    size_t state_size;
    gsa_status status = GSA_OK;
    for (size_t i = 0; i < n && status == GSA_OK; i++) {
        if (!next_thing(&all, &size, &state, &state_size))
            return fail_missing(error);
        if (gsa__peers_is_mine(job, i, n))
            continue;
        gsa_state_free(item[i]);
        item[i] = NULL;
        status = gsa_state_read(state, state_size, &job->env, &item[i], error);
    }
    return status;
}

gsa_status gsa__peers_share(gsa__job *job, gsa_status status, gsa_state **item, size_t n, gsa_error *error)
{
    gsa__bytes mine = {.env = &job->env};
    const unsigned char *all;
    const size_t *sizes;
    if (gsa__peers_count(job) == 1)
        return status;
    if (status == GSA_OK)
        status = pack_states(job, item, n, &mine, error);
    status = gsa__peers_gather(job, status, mine.at, mine.size, &all, &sizes, error);
    gsa__bytes_free(&mine);
    return status == GSA_OK ? unpack_states(job, all, sum_of(sizes, gsa__peers_count(job)), item, n, error) : status;
}

/* ---- copies in slices -------------------------------------------------------------------------------------------- */

typedef struct merger {
    gsa__job *job;
    gsa_state *const *copy; /* NULL where it is another's */
    size_t n_copies;
    gsa_state **head;    /* of every copy */
    uint64_t n_features; /* that any of them has */
    gsa__bytes united;   /* of all features so far */
    size_t *united_at;   /* by slice; one more for the end */
    size_t n_united, united_capacity;
} merger;

/* Before slices: heads, how many features there are, and whether a copy has met labels that the base does not know,
 * with which there are no slices. */
typedef struct announcement {
    uint64_t n_features, new_labels;
} announcement;

static announcement announce(const merger *all)
{
    announcement mine = {0};
    gsa_summary base, copy;
    gsa_state_summary(all->job->state, &base);
    for (size_t s = 0; s < all->n_copies; s++) {
        if (!all->copy[s])
            continue;
        gsa_state_summary(all->copy[s], &copy);
        mine.n_features = copy.n_features > mine.n_features ? copy.n_features : mine.n_features;
        mine.new_labels |= copy.n_classes != base.n_classes;
    }
    return mine;
}

static gsa_status pack_heads(const merger *all, gsa__bytes *to, gsa_error *error)
{
    announcement mine = announce(all);
    gsa_status status = gsa__bytes_add(to, &mine, sizeof mine) == 0
                            ? GSA_OK
                            : gsa__fail(error, GSA_MEMORY, "no memory for the heads of copies");
    for (size_t s = 0; s < all->n_copies && status == GSA_OK && !mine.new_labels; s++) {
        if (!all->copy[s])
            continue;
        size_t start = begin_thing(to);
        status = gsa_state_write_head(all->copy[s], all->job->state, gsa__bytes_add, to, error);
        if (status == GSA_OK)
            status = end_thing(to, start, error);
    }
    return status;
}

static gsa_status take_heads(merger *all, const unsigned char *at, const size_t *sizes, bool *sliced, gsa_error *error)
{
    gsa_status status = GSA_OK;
    size_t s = 0;
    *sliced = true;
    for (size_t r = 0; r < gsa__peers_count(all->job) && status == GSA_OK; at += sizes[r++]) {
        const unsigned char *next = at + sizeof(announcement), *head;
        size_t left = sizes[r] - sizeof(announcement), size;
        announcement theirs;
        if (sizes[r] < sizeof theirs)
            return fail_missing(error);
        memcpy(&theirs, at, sizeof theirs);
        *sliced = *sliced && !theirs.new_labels;
        all->n_features = theirs.n_features > all->n_features ? theirs.n_features : all->n_features;
        while (status == GSA_OK && s < all->n_copies && next_thing(&next, &left, &head, &size))
            status = gsa_state_read(head, size, &all->job->env, &all->head[s++], error);
    }
    return status == GSA_OK && *sliced && s < all->n_copies ? fail_missing(error) : status;
}

/* For every process what it is to unite in this step: `width` features each, of the copies that are here. */
static gsa_status pack_slices(const merger *all, uint64_t first, uint64_t width, gsa__bytes *to, size_t *sizes,
                              gsa_error *error)
{
    gsa_status status = GSA_OK;
    size_t first_copy = 0, n = 0;
    while (first_copy < all->n_copies && !all->copy[first_copy])
        first_copy++;
    while (first_copy + n < all->n_copies && all->copy[first_copy + n])
        n++;
    for (size_t r = 0; r < gsa__peers_count(all->job); r++) {
        size_t before = to->size;
        if (n > 0 && status == GSA_OK)
            status = gsa_state_write_slice((const gsa_state *const *)all->copy + first_copy, n, first_copy,
                                           all->job->state, first + r * width, width, gsa__bytes_add, to, error);
        sizes[r] = to->size - before;
    }
    return status;
}

/* Processes without copies have sent nothing. */
static gsa_status unite(const merger *all, const unsigned char *from, const size_t *sizes, gsa__bytes *to,
                        gsa_error *error)
{
    const gsa_env *env = &all->job->env;
    size_t n_ranks = gsa__peers_count(all->job), n = 0;
    const void **slice = gsa__alloc(env, n_ranks, sizeof *slice);
    size_t *slice_size = gsa__alloc(env, n_ranks, sizeof *slice_size);
    gsa_status status =
        slice && slice_size ? GSA_OK : gsa__fail(error, GSA_MEMORY, "no memory for %zu slices", n_ranks);
    for (size_t r = 0; r < n_ranks && status == GSA_OK; from += sizes[r++])
        if (sizes[r] > 0) {
            slice[n] = from;
            slice_size[n++] = sizes[r];
        }
    if (status == GSA_OK)
        status = gsa_slices_unite(slice, slice_size, n, env, gsa__bytes_add, to, error);
    gsa__free(env, slice);
    gsa__free(env, slice_size);
    return status;
}

static gsa_status keep_united(merger *all, const unsigned char *from, const size_t *sizes, gsa_error *error)
{
    for (size_t r = 0; r < gsa__peers_count(all->job); r++) {
        bool fits = gsa__reserve(&all->job->env, (void **)&all->united_at, &all->united_capacity, all->n_united + 2,
                                 sizeof *all->united_at);
        if (!fits || gsa__bytes_add(&all->united, from, sizes[r]) != 0)
            return gsa__fail(error, GSA_MEMORY, "no memory for the changes of %llu features",
                             (unsigned long long)all->n_features);
        all->united_at[all->n_united++] = all->united.size - sizes[r];
        all->united_at[all->n_united] = all->united.size;
        from += sizes[r];
    }
    return GSA_OK;
}

/* One step: everyone gets the slices that it is to unite, and then what all have united. */
static gsa_status unite_step(merger *all, gsa_status status, uint64_t first, uint64_t width, size_t *mine_sizes,
                             gsa_error *error)
{
    gsa__job *job = all->job;
    gsa__bytes mine = {.env = &job->env}, united = {.env = &job->env};
    const unsigned char *others;
    const size_t *sizes;
    if (status == GSA_OK)
        status = pack_slices(all, first, width, &mine, mine_sizes, error);
    status = gsa__peers_exchange(job, status, mine.at, mine_sizes, &others, &sizes, error);
    gsa__bytes_free(&mine);
    if (status == GSA_OK)
        status = unite(all, others, sizes, &united, error);
    status = gsa__peers_gather(job, status, united.at, united.size, &others, &sizes, error);
    gsa__bytes_free(&united);
    return status == GSA_OK ? keep_united(all, others, sizes, error) : status;
}

static gsa_status join(const merger *all, gsa_state **out, gsa_error *error)
{
    const gsa_env *env = &all->job->env;
    const void **slice = gsa__alloc(env, all->n_united, sizeof *slice);
    size_t *sizes = gsa__alloc(env, all->n_united, sizeof *sizes);
    gsa_status status =
        slice && sizes ? GSA_OK : gsa__fail(error, GSA_MEMORY, "no memory for %zu slices", all->n_united);
    for (size_t i = 0; i < all->n_united && status == GSA_OK; i++) {
        slice[i] = all->united.at + all->united_at[i];
        sizes[i] = all->united_at[i + 1] - all->united_at[i];
    }
    if (status == GSA_OK)
        status = gsa_state_merge_slices((const gsa_state *const *)all->head, all->n_copies, all->job->state, slice,
                                        sizes, all->n_united, env, out, error);
    gsa__free(env, slice);
    gsa__free(env, sizes);
    return status;
}

static gsa_status merge_slices(merger *all, gsa_status status, gsa_state **out, gsa_error *error)
{
    uint64_t n_ranks = gsa__peers_count(all->job), n = all->n_features > 0 ? all->n_features : 1;
    uint64_t width = (n + n_ranks - 1) / n_ranks;
    width = width < SLICE_FEATURES ? width : SLICE_FEATURES;
    size_t *sizes = gsa__alloc(&all->job->env, (size_t)n_ranks, sizeof *sizes);
    if (!sizes && status == GSA_OK)
        status = gsa__fail(error, GSA_MEMORY, "no memory for %zu sizes", (size_t)n_ranks);
    for (uint64_t first = 0; first < n && !all->job->parted; first += n_ranks * width)
        status = unite_step(all, status, first, width, sizes, error);
    gsa__free(&all->job->env, sizes);
    return status == GSA_OK ? join(all, out, error) : status;
}

static gsa_status merge_whole(merger *all, gsa_status status, gsa_state **out, gsa_error *error)
{
    gsa_state **every = gsa__alloc_zeroed(&all->job->env, all->n_copies, sizeof *every);
    if (!every && status == GSA_OK)
        status = gsa__fail(error, GSA_MEMORY, "no memory for %zu copies", all->n_copies);
    for (size_t s = 0; s < all->n_copies && every; s++)
        every[s] = all->copy[s];
    status = gsa__peers_share(all->job, status, every, all->n_copies, error);
    if (status == GSA_OK)
        status = gsa_state_merge((const gsa_state *const *)every, all->n_copies, all->job->state, &all->job->env, out,
                                 error);
    for (size_t s = 0; s < all->n_copies && every; s++)
        if (!all->copy[s])
            gsa_state_free(every[s]);
    gsa__free(&all->job->env, every);
    return status;
}

gsa_status gsa__peers_merge(gsa__job *job, gsa_status status, gsa_state *const *copy, size_t n, gsa_state **out,
                            gsa_error *error)
{
    merger all = {.job = job, .copy = copy, .n_copies = n, .united = {.env = &job->env}};
    gsa__bytes mine = {.env = &job->env};
    const unsigned char *others;
    const size_t *sizes;
    bool sliced = true;
    all.head = gsa__alloc_zeroed(&job->env, n, sizeof(gsa_state *));
    if (!all.head && status == GSA_OK)
        status = gsa__fail(error, GSA_MEMORY, "no memory for %zu copies", n);
    if (status == GSA_OK)
        status = pack_heads(&all, &mine, error);
    status = gsa__peers_gather(job, status, mine.at, mine.size, &others, &sizes, error);
    gsa__bytes_free(&mine);
    if (status == GSA_OK)
        status = take_heads(&all, others, sizes, &sliced, error);
    if (!job->parted && sliced)
        status = merge_slices(&all, status, out, error);
    else if (!job->parted)
        status = merge_whole(&all, status, out, error);
    for (size_t s = 0; s < n && all.head; s++)
        gsa_state_free(all.head[s]);
    gsa__free(&job->env, all.head);
    gsa__free(&job->env, all.united_at);
    gsa__bytes_free(&all.united);
    return status;
}
