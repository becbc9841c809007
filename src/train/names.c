/* Names that processes have in common.
 *
 *   N1  Shares are in the order of the ranks, and what a process has read before its share begins with the first row:
 *       of those who know a name, the lowest rank has the first one.
 *   N2  Books of names may be full, so they do not travel. For each feature one process decides whose name counts, by
 *       numbers alone; only names that count are handed round, and these are no more than one book has.
 *   N3  A name that one reader of everything would keep is in the book of its rank: before it came there only features
 *       that the one reader has met too. */
#include "train/names.h"

#include "train/comm.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- whose name counts ------------------------------------------------------------------------------------------ */

typedef struct resolution {
    gsai_job *job;
    size_t n_ranks, n; /* names of this process */
    size_t *size;      /* bytes for each rank */
    size_t *next;      /* of each rank, where its next one is */
    uint32_t *feature; /* of all names: those that rank 0 decides on (feature % n_ranks), in the order they came, ... */
    size_t n_own;      /* names that count; their numbers take the place of the features */
    size_t own_size;
} resolution;

static uint64_t feature_of(const resolution *all, size_t number)
{
    uint64_t feature = 0;
    (void)gsa_reader_name_at(all->job->reader, number, &feature);
    return feature;
}

static void find_places(resolution *all, size_t element_size)
{
    for (size_t r = 0, at = 0; r < all->n_ranks; at += all->size[r++] / element_size)
        all->next[r] = at;
}

static gsa_status deal(resolution *all, gsa_error *error)
{
    const gsa_env *env = &all->job->env;
    uint64_t feature;
    while (gsa_reader_name_at(all->job->reader, all->n, &feature))
        all->n++;
    all->size = gsai_alloc_zeroed(env, all->n_ranks, sizeof *all->size);
    all->next = gsai_alloc_zeroed(env, all->n_ranks, sizeof *all->next);
    all->feature = gsai_alloc(env, all->n, sizeof *all->feature);
    if (!all->size || !all->next || !all->feature)
        return gsai_fail_memory(env, error, "no memory for the names of %zu features", all->n);
    for (size_t i = 0; i < all->n; i++)
        all->size[feature_of(all, i) % all->n_ranks] += sizeof *all->feature;
    find_places(all, sizeof *all->feature);
    for (size_t i = 0; i < all->n; i++) {
        feature = feature_of(all, i);
        all->feature[all->next[feature % all->n_ranks]++] = (uint32_t)feature;
    }
    return GSA_OK;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* For each of the features that were asked about, by rank: 1 if it is there for the first time. */
static gsa_status decide(const resolution *all, const unsigned char *asked, size_t n, gsai_bytes *is_first,
                         gsa_error *error)
{
    const gsa_env *env = &all->job->env;
    uint64_t *at = gsai_alloc(env, n, sizeof *at);
    is_first->at = gsai_alloc_zeroed(env, n, 1);
    if (!at || !is_first->at || n > UINT32_MAX) {
        gsai_free(env, at);
        return gsai_fail_memory(env, error, "no memory for the names of %zu features", n);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t feature;
        memcpy(&feature, asked + i * sizeof feature, sizeof feature);
        at[i] = (uint64_t)feature << 32 | i;
    }
    qsort(at, n, sizeof *at, by_number);
    for (size_t i = 0; i < n; i++)
        is_first->at[(uint32_t)at[i]] = i == 0 || at[i] >> 32 != at[i - 1] >> 32;
    gsai_free(env, at);
    return GSA_OK;
}

/* Keeps what was found of the names of this process. */
static gsa_status take_answers(resolution *all, const unsigned char *is_first, const size_t *sizes, gsa_error *error)
{
    uint64_t feature;
    for (size_t r = 0; r < all->n_ranks; r++)
        if (sizes[r] != all->size[r] / sizeof *all->feature)
            return gsai_comm_protocol_error(error);
    find_places(all, sizeof *all->feature);
    for (size_t i = 0; i < all->n; i++) {
        const char *name = gsa_reader_name_at(all->job->reader, i, &feature);
        if (is_first[all->next[feature % all->n_ranks]++]) {
            all->feature[all->n_own++] = (uint32_t)i;
            all->own_size += strlen(name) + 1;
        }
    }
    return GSA_OK;
}

static gsa_status resolve(resolution *all, gsa_error *error)
{
    gsai_job *job = all->job;
    const unsigned char *received;
    const size_t *sizes;
    gsai_bytes is_first = {.env = &job->env};
    gsa_status status = deal(all, error);
    status = gsai_comm_alltoall(job, status, all->feature, all->size, &received, &sizes, error);
    size_t n = 0;
    for (size_t r = 0; r < all->n_ranks && status == GSA_OK; r++)
        n += all->next[r] = sizes[r] / sizeof *all->feature; /* the answer has a byte for each */
    if (status == GSA_OK)
        status = decide(all, received, n, &is_first, error);
    status = gsai_comm_alltoall(job, status, is_first.at, all->next, &received, &sizes, error);
    if (status == GSA_OK)
        status = take_answers(all, received, sizes, error);
    gsai_bytes_free(&is_first);
    return status;
}

/* ---- names that count ------------------------------------------------------------------------------------------- */

typedef struct name_count {
    uint64_t n, size;
} name_count;

/* Of this process, as many as are kept behind those of lower ranks. */
static gsa_status pack(const resolution *all, name_count before, gsai_bytes *to, gsa_error *error)
{
    int failed = 0;
    for (size_t i = 0; i < all->n_own && before.n < GSA_MAX_NAMES && !failed; i++) {
        uint64_t number;
        const char *name = gsa_reader_name_at(all->job->reader, all->feature[i], &number);
        size_t size = strlen(name) + 1;
        uint32_t feature = (uint32_t)number;
        if (before.size > GSA_NAMES_SIZE || size > GSA_NAMES_SIZE - before.size)
            continue;
        before.n++;
        before.size += size;
        failed = gsai_bytes_add(to, &feature, sizeof feature) != 0 || gsai_bytes_add(to, name, size) != 0;
    }
    return failed ? gsai_fail_memory(to->env, error, "no memory for the names of %zu features", all->n_own) : GSA_OK;
}

static gsa_status unpack(gsai_common_names *names, const unsigned char *from, size_t size, const gsa_env *env,
                         gsa_error *error)
{
    names->text = gsai_alloc(env, size, 1);
    names->at = gsai_alloc(env, GSA_MAX_NAMES, sizeof *names->at);
    if (!names->text || !names->at)
        return gsai_fail_memory(env, error, "no memory for %zu bytes of names", size);
    memcpy(names->text, from, size);
    for (size_t at = 0; at < size;) {
        uint32_t feature;
        const char *end =
            size - at > sizeof feature ? memchr(from + at + sizeof feature, 0, size - at - sizeof feature) : NULL;
        if (!end || names->n == GSA_MAX_NAMES || at > UINT32_MAX - sizeof feature)
            return gsai_comm_protocol_error(error);
        memcpy(&feature, from + at, sizeof feature);
        names->at[names->n++] = (uint64_t)feature << 32 | (at + sizeof feature);
        at = (size_t)((const unsigned char *)end - from) + 1;
    }
    qsort(names->at, names->n, sizeof *names->at, by_number);
    return GSA_OK;
}

static gsa_status share_names(gsai_common_names *names, resolution *all, gsa_status status, gsa_error *error)
{
    gsai_job *job = all->job;
    gsai_bytes mine = {.env = &job->env};
    const unsigned char *every;
    const size_t *sizes;
    name_count own = {all->n_own, all->own_size}, before = {0};
    status = gsai_comm_allgather(job, status, &own, sizeof own, &every, &sizes, error);
    for (size_t r = 0; r < gsai_comm_rank(job) && status == GSA_OK; r++) {
        memcpy(&own, every + r * sizeof own, sizeof own);
        before.n += own.n;
        before.size += own.size;
    }
    if (status == GSA_OK)
        status = pack(all, before, &mine, error);
    status = gsai_comm_allgather(job, status, mine.at, mine.size, &every, &sizes, error);
    gsai_bytes_free(&mine);
    return status == GSA_OK ? unpack(names, every, gsai_comm_total(job, sizes), &job->env, error) : status;
}

gsa_status gsai_common_names_make(gsai_common_names *names, gsai_job *job, gsa_error *error)
{
    const char *schema = gsa_reader_schema(job->reader);
    gsa_schema_info info = {0};
    resolution all = {.job = job, .n_ranks = gsai_comm_size(job)};
    gsa_status status = schema ? gsa_schema_get_info(schema, &info, error) : GSA_OK;
    if (status != GSA_OK || info.n_words + info.n_crosses == 0)
        return status;
    status = share_names(names, &all, resolve(&all, error), error);
    names->reader = job->reader;
    names->n_columns = info.n_numbers;
    gsai_free(&job->env, all.size);
    gsai_free(&job->env, all.next);
    gsai_free(&job->env, all.feature);
    return status;
}

const char *gsai_common_names_find(const void *ctx, uint64_t feature)
{
    const gsai_common_names *names = ctx;
    if (feature < names->n_columns)
        return gsa_reader_name(names->reader, feature);
    size_t from = 0, to = names->n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (names->at[middle] >> 32 < feature)
            from = middle + 1;
        else
            to = middle;
    }
    const char *text =
        from < names->n && names->at[from] >> 32 == feature ? names->text + (uint32_t)names->at[from] : "";
    return *text ? text : NULL;
}

void gsai_common_names_free(gsai_common_names *names, const gsa_env *env)
{
    gsai_free(env, names->at);
    gsai_free(env, names->text);
    *names = (gsai_common_names){0};
}
