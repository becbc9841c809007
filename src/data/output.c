/* Files that writers write. */
#include "data/output.h"

#include "base/error.h"
#include "base/memory.h"

gsa_status gsai_output_open(gsai_output *output, const char *path, const gsai_env *env, gsa_error *error)
{
    const gsai_codec_entry *entry = gsai_codec_named(path);
    if (entry && !entry->codec)
        return gsai_fail(error, GSA_UNSUPPORTED,
                         "cannot write %s: this build does not compress with %s; build it with %s, or leave out %s",
                         path, entry->name, entry->library, entry->ending);
    if (entry && !entry->codec->open_encoder)
        return gsai_fail(error, GSA_UNSUPPORTED,
                         "cannot write %s: %s is read and not written; end the name in .gz or .zst, or leave out %s",
                         path, entry->name, entry->ending);
    GSA_TRY(gsai_atomic_file_open(path, env, &output->file, error));
    if (!entry)
        return GSA_OK;
    output->encode = gsai_encode_new(entry, output->file, env);
    return output->encode ? GSA_OK : gsai_fail_memory(env, error, "%s: no memory for %s", path, entry->name);
}

gsa_status gsai_output_put(gsai_output *output, const void *bytes, size_t size, gsa_error *error)
{
    if (output->max_bytes > 0 && size > output->max_bytes - output->n_bytes)
        return gsai_fail(error, GSA_LIMIT, "the file would become too large");
    output->n_bytes += size;
    return output->encode ? gsai_encode_write(output->encode, bytes, size, error)
                          : gsai_atomic_file_write(output->file, bytes, size, error);
}

void gsai_output_discard(gsai_output *output)
{
    gsai_encode_free(output->encode); /* and with it threads that write to the file */
    gsai_atomic_file_discard(output->file);
    *output = (gsai_output){0};
}

gsa_status gsai_output_commit(gsai_output *output, gsa_error *error)
{
    gsa_status status = output->encode ? gsai_encode_finish(output->encode, error) : GSA_OK;
    if (status == GSA_OK) {
        status = gsai_atomic_file_commit(output->file, error);
        output->file = NULL;
    }
    gsai_output_discard(output);
    return status;
}
