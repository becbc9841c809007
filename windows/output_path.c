/* Where an output goes: its path as it is. Links are not followed by hand, and renaming over one replaces it. */
#include "base/output_path.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

gsa_status gsa__output_path_open(const char *path, const gsa_env *env, gsa__output_path *out, gsa_error *error)
{
    gsa_env resolved = gsa__env_resolve(env);
    *out = (gsa__output_path){.directory = AT_FDCWD};
    if (path[gsa__directory_len(path)] == '\0')
        return gsa__fail(error, GSA_IO, "cannot write %s: it names a directory; give the name of a file", path);
    out->name = gsa__copy_text(&resolved, path);
    if (!out->name)
        return gsa__fail(error, GSA_MEMORY, "cannot write %s: no memory for its name", path);
    return GSA_OK;
}

int gsa__output_path_descriptor(const gsa__output_path *at, int flags)
{
    return open(at->name, flags | O_CLOEXEC, 0666);
}

void gsa__output_path_close(gsa__output_path *at, const gsa_env *env)
{
    gsa__free(env, at->name);
    *at = (gsa__output_path){.directory = -1};
}
