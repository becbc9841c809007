/* Finding the blocks of caches. */
#include "train/index.h"

#include "train/block.h"
#include "train/comm.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

#include <string.h>

void gsai_index_free(gsai_index *index, const gsai_env *env)
{
    gsai_free(env, index->block);
    *index = (gsai_index){0};
}

gsa_status gsai_index_make(const gsai_job *job, gsai_index *index, gsa_error *error)
{
    gsa_row_range range;
    gsa_status status = gsa_reader_rewind(job->reader, error);
    while (status == GSA_OK && (status = gsa_reader_skip(job->reader, &range, error)) == GSA_OK) {
        gsa_row_range *last = index->n > 0 ? &index->block[index->n - 1] : NULL;
        if (last && range.begins_file && !gsai_block_ends(last->n_rows, last->n_entries)) { /* one block of two files */
            last->n_rows += range.n_rows;
            last->n_entries += range.n_entries;
            last->hash = gsai_mix(last->hash) ^ range.hash;
            continue;
        }
        GSAI_TRY_MEMORY(gsai_reserve(&job->env, &index->block, &index->capacity, index->n + 1, sizeof *index->block),
                        &job->env, error, "no memory for the index of %zu blocks", index->n);
        index->block[index->n++] = range;
    }
    return status == GSA_END ? GSA_OK : status;
}

gsa_status gsai_index_agree(gsai_job *job, gsa_status status, const gsai_index *index, gsa_error *error)
{
    uint64_t hash = index->n;
    const unsigned char *all;
    const size_t *sizes;
    for (size_t i = 0; i < index->n; i++) {
        const gsa_row_range *block = &index->block[i];
        const uint64_t parts[] = {block->at.byte, block->n_rows, block->n_entries, block->hash};
        for (size_t j = 0; j < sizeof parts / sizeof *parts; j++)
            hash = gsai_mix(hash ^ parts[j]);
    }
    GSA_TRY(gsai_comm_allgather(job, status, &hash, sizeof hash, &all, &sizes, error));
    for (size_t r = 1; r < gsai_comm_size(job); r++)
        if (memcmp(all + r * sizeof hash, all, sizeof hash) != 0)
            return gsai_fail(error, GSA_CONFLICT,
                             "rank %zu has other rows than rank 0: all processes must read the same files", r);
    return GSA_OK;
}
