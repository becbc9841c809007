/* Where an output goes: its path as it is. Links are not followed by hand, and renaming over one replaces it. */
#include "base/output_path.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

gsa_status gsai_output_path_open(const char *path, const gsa_env *env, gsai_output_path *out, gsa_error *error)
{
    gsa_env resolved = gsai_env_resolve(env);
    *out = (gsai_output_path){.directory = AT_FDCWD};
    if (path[gsai_directory_len(path)] == '\0')
        return gsai_fail(error, GSA_IO, "cannot write %s: it names a directory; give the name of a file", path);
    out->name = gsai_copy_text(&resolved, path);
    if (!out->name)
        return gsai_fail(error, GSA_MEMORY, "cannot write %s: no memory for its name", path);
    return GSA_OK;
}

int gsai_output_path_descriptor(const gsai_output_path *at, int flags)
{
    return open(at->name, flags | O_CLOEXEC, 0666);
}

void gsai_output_path_close(gsai_output_path *at, const gsa_env *env)
{
    gsai_free(env, at->name);
    *at = (gsai_output_path){.directory = -1};
}
