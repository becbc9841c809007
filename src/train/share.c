/* Labels, rows and names that processes exchange. */
#include "train/share.h"

#include "learn/names.h"
#include "learn/state.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- labels ----------------------------------------------------------------------------------------------------- */

/* A label on its way; its text follows. */
typedef struct label_head {
    double number;
    uint64_t is_number;
} label_head;

/* Lists the labels of `from` that the job's state does not know, each with its NUL. */
static gsa_status list_labels(const gsai_job *job, const gsa_state *from, gsai_bytes *to, gsa_error *error)
{
    size_t n = (size_t)gsai_summary_of(from).n_classes;
    for (size_t i = (size_t)gsai_summary_of(job->state).n_classes; i < n; i++) {
        const gsai_label *label = &gsai_state_labels(from)->at[i];
        label_head head = {label->number, label->is_number};
        if (gsai_bytes_add(to, &head, sizeof head) != 0 ||
            gsai_bytes_add(to, label->text, strlen(label->text) + 1) != 0)
            return gsai_fail_memory(to->env, error, "no memory for %zu labels", n);
    }
    return GSA_OK;
}

/* Adds listed labels to the job's state, each as a row without features. */
static gsa_status add_labels(gsai_job *job, const unsigned char *all, size_t size, gsa_error *error)
{
    static const int64_t no_entries[] = {0, 0};
    static const uint32_t no_index[1];
    for (size_t at = 0; at < size;) {
        label_head head;
        memcpy(&head, all + at, sizeof head);
        const char *text = (const char *)all + at + sizeof head;
        const int32_t word = head.is_number ? -1 : 0;
        const gsa_batch row = {.n_rows = 1,
                               .row_start = no_entries,
                               .index = no_index,
                               .label = &head.number,
                               .word = &word,
                               .words = &text,
                               .n_words = 1};
        GSA_TRY(gsa_state_prepare(job->state, &row, error));
        at += sizeof head + strlen(text) + 1;
    }
    return GSA_OK;
}

gsa_status gsai_labels_share(gsai_job *job, const gsa_state *from, gsa_error *error)
{
    gsai_bytes mine = {.env = &job->env};
    const unsigned char *all;
    const size_t *sizes;
    gsa_status status = list_labels(job, from, &mine, error);
    status = gsai_comm_allgather(job, status, mine.at, mine.size, &all, &sizes, error);
    if (status == GSA_OK)
        status = add_labels(job, all, gsai_comm_total(job, sizes), error);
    gsai_bytes_free(&mine);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

gsa_status gsai_rows_add_frame(gsai_bytes *to, const gsa_batch *rows, size_t n_rows, gsa_error *error)
{
    size_t start = gsai_frame_begin(to);
    GSAI_TRY_MEMORY(gsai_rows_pack(rows, 0, n_rows, gsai_bytes_add, to) == 0, to->env, error,
                    "no memory for the first %zu rows", n_rows);
    return gsai_frame_end(to, start, error);
}

gsa_status gsai_rows_share(gsai_job *job, gsa_status status, const gsai_bytes *mine, gsai_rows *to, gsa_error *error)
{
    const unsigned char *all, *frame;
    const size_t *sizes;
    size_t size;
    GSA_TRY(gsai_comm_allgather(job, status, mine->at, mine->size, &all, &sizes, error));
    for (size_t left = gsai_comm_total(job, sizes); gsai_frame_next(&all, &left, &frame, &size);)
        GSA_TRY(gsai_rows_unpack(to, frame, size, error));
    return GSA_OK;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* Feature and text of each name. */
static gsa_status pack_names(const gsai_names *names, gsai_bytes *to, gsa_error *error)
{
    for (size_t i = 0; i < names->n; i++) {
        const char *text = names->text + names->start[i];
        if (gsai_bytes_add(to, &names->id[i], sizeof *names->id) != 0 ||
            gsai_bytes_add(to, text, strlen(text) + 1) != 0)
            return gsai_fail_memory(to->env, error, "no memory for %zu names", names->n);
    }
    return GSA_OK;
}

/* The names of all processes: feature << 32 | where its text is, ascending. */
typedef struct name_index {
    uint64_t *at;
    size_t n, capacity;
    const char *text;
} name_index;

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static gsa_status index_names(name_index *names, const gsai_bytes *all, gsa_error *error)
{
    names->text = (const char *)all->at;
    for (size_t at = 0; at < all->size && all->size <= UINT32_MAX;) {
        uint32_t feature;
        GSAI_TRY_MEMORY(gsai_reserve(all->env, &names->at, &names->capacity, names->n + 1, sizeof *names->at), all->env,
                        error, "no memory for %zu names", names->n);
        memcpy(&feature, all->at + at, sizeof feature);
        at += sizeof feature;
        names->at[names->n++] = (uint64_t)feature << 32 | at;
        at += strlen(names->text + at) + 1;
    }
    if (names->n > 0)
        qsort(names->at, names->n, sizeof *names->at, by_number);
    return GSA_OK;
}

static const char *find_name(const void *ctx, uint64_t feature)
{
    const name_index *names = ctx;
    size_t from = 0, to = names->n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (names->at[middle] >> 32 < feature)
            from = middle + 1;
        else
            to = middle;
    }
    return from < names->n && names->at[from] >> 32 == feature ? names->text + (uint32_t)names->at[from] : NULL;
}

gsa_status gsai_names_share(gsai_job *job, gsa_status status, gsa_error *error)
{
    gsai_bytes mine = {.env = &job->env}, all = {.env = &job->env};
    name_index names = {0};
    const unsigned char *every;
    const size_t *sizes;
    if (status == GSA_OK)
        status = pack_names(gsai_state_names(job->state), &mine, error);
    status = gsai_comm_allgather(job, status, mine.at, mine.size, &every, &sizes, error);
    if (status == GSA_OK && gsai_bytes_add(&all, every, gsai_comm_total(job, sizes)) != 0)
        status = gsai_fail_memory(&job->env, error, "no memory for names");
    if (status == GSA_OK)
        status = index_names(&names, &all, error);
    if (status == GSA_OK)
        status = gsa_state_set_names(job->state, find_name, &names, error);
    gsai_free(&job->env, names.at);
    gsai_bytes_free(&mine);
    gsai_bytes_free(&all);
    return status;
}
