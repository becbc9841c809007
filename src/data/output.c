/* Files that writers write. The pieces of a compressed one are a ring: the caller takes the next one that is
 * compressed, writes it to the file, fills it anew and releases it, so a slot of the pipeline is filled already. */
#include "data/output.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

/* Against one member, a cache of a click log grows by 1.8 % with zstd and by .4 % with gzip. */
#define PIECE_SIZE ((size_t)512 << 10)
#define PACKED_SIZE (PIECE_SIZE + (PIECE_SIZE >> 6)) /* no codec makes more of a piece that it cannot compress */
/* The bytes of a piece with its encoder; all of them may take 1/SHARE of the memory that is left. */
#define COST ((uint64_t)4 << 20)
#define SHARE 8

static void compress(void *memory, size_t slot)
{
    gsai_output *output = memory;
    gsai_piece *of = &output->piece[slot];
    const gsai_codec *codec = output->entry->codec;
    if (!of->is_begun)
        return;
    gsai_codec_io io = {of->plain, of->plain_size, of->packed, PACKED_SIZE, .is_last = true};
    of->is_whole = gsai_codec_restart(codec, of->encoder, output->env, true) &&
                   codec->step(of->encoder, &io) == GSAI_CODEC_MEMBER_END && io.in_size == 0;
    of->packed_size = PACKED_SIZE - io.out_size;
}

/* Gives the next piece to the caller. */
static void take_next(gsai_output *output)
{
    size_t slot = 0;
    (void)gsai_pipeline_next(output->pipeline, &slot); /* always: nothing stops it */
    output->current = &output->piece[slot];
}

/* Makes the pieces, as many as there is memory for; returns false without memory for one. */
static bool make_pieces(gsai_output *output)
{
    static const gsai_stages stages = {NULL, compress};
    const gsai_env *env = output->env;
    size_t n_threads = gsai_workers_count(env);
    output->max_pieces = n_threads + 2;
    if (n_threads < 2 || gsai_memory_left(env) / SHARE / output->max_pieces < COST) {
        n_threads = 0;
        output->max_pieces = 1;
    }
    output->piece = gsai_alloc_zeroed(env, output->max_pieces, sizeof *output->piece);
    for (; output->piece && output->n_pieces < output->max_pieces; output->n_pieces++) {
        gsai_piece *to = &output->piece[output->n_pieces];
        to->plain = gsai_alloc(env, PIECE_SIZE, 1);
        to->packed = gsai_alloc(env, PACKED_SIZE, 1);
        to->encoder = to->plain && to->packed ? gsai_codec_open(output->entry->codec, env, true) : NULL;
        if (!to->encoder)
            break;
    }
    if (output->n_pieces > 0)
        output->pipeline = gsai_pipeline_new(n_threads, output->n_pieces, &stages, output, env);
    if (!output->pipeline)
        return false;
    gsai_pipeline_start(output->pipeline);
    take_next(output);
    return true;
}

gsa_status gsai_output_open(gsai_output *output, const char *path, const gsai_env *env, gsa_error *error)
{
    const gsai_codec_entry *entry = gsai_codec_named(path);
    if (entry && !entry->codec)
        return gsai_fail(error, GSA_UNSUPPORTED,
                         "cannot write %s: this build does not compress with %s; build it with %s, or leave out %s",
                         path, entry->name, entry->library, entry->ending);
    if (entry && !entry->codec->can_encode)
        return gsai_fail(error, GSA_UNSUPPORTED,
                         "cannot write %s: %s is read and not written; end the name in .gz or .zst, or leave out %s",
                         path, entry->name, entry->ending);
    GSA_TRY(gsai_atomic_file_open(path, env, &output->file, error));
    output->env = env;
    output->entry = entry;
    return !entry || make_pieces(output) ? GSA_OK
                                         : gsai_fail_memory(env, error, "%s: no memory for %s", path, entry->name);
}

/* Releases the current piece, and writes the one that was released first: that is the current one then. */
static gsa_status end_piece(gsai_output *output, gsa_error *error)
{
    gsai_pipeline_release(output->pipeline);
    take_next(output);
    gsai_piece *of = output->current;
    if (!of->is_begun)
        return GSA_OK;
    of->is_begun = false;
    of->plain_size = 0;
    return of->is_whole ? gsai_atomic_file_write(output->file, of->packed, of->packed_size, error)
                        : gsai_fail_memory(output->env, error, "no memory to compress with %s", output->entry->name);
}

gsa_status gsai_output_put(gsai_output *output, const void *bytes, size_t size, gsa_error *error)
{
    if (output->max_bytes > 0 && size > output->max_bytes - output->n_bytes)
        return gsai_fail(error, GSA_LIMIT, "the file would become too large");
    output->n_bytes += size;
    if (!output->entry)
        return gsai_atomic_file_write(output->file, bytes, size, error);
    const unsigned char *from = bytes;
    for (size_t n; size > 0; from += n, size -= n) {
        gsai_piece *to = output->current;
        n = PIECE_SIZE - to->plain_size < size ? PIECE_SIZE - to->plain_size : size;
        memcpy(to->plain + to->plain_size, from, n);
        to->plain_size += n;
        to->is_begun = true;
        if (to->plain_size == PIECE_SIZE)
            GSA_TRY(end_piece(output, error));
    }
    return GSA_OK;
}

void gsai_output_discard(gsai_output *output)
{
    gsai_pipeline_free(output->pipeline); /* and with it threads that compress */
    for (size_t i = 0; output->piece && i < output->max_pieces; i++) {
        gsai_codec_close(output->entry->codec, output->piece[i].encoder, output->env);
        gsai_free(output->env, output->piece[i].plain);
        gsai_free(output->env, output->piece[i].packed);
    }
    if (output->piece)
        gsai_free(output->env, output->piece);
    gsai_atomic_file_discard(output->file);
    *output = (gsai_output){0};
}

gsa_status gsai_output_commit(gsai_output *output, gsa_error *error)
{
    gsa_status status = GSA_OK;
    if (output->entry && output->n_bytes == 0) /* a member without content */
        output->current->is_begun = true;
    for (size_t i = 0; i < output->n_pieces && status == GSA_OK; i++)
        status = end_piece(output, error);
    if (status == GSA_OK) {
        status = gsai_atomic_file_commit(output->file, error);
        output->file = NULL;
    }
    gsai_output_discard(output);
    return status;
}
