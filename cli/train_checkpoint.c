/* --checkpoint: the state of a run that goes on, in a folder, now and then.
 *
 * It is there only while a run is: it is removed when another begins from the start, and when the run has ended and
 * left its state beside its model. So what is there is what --resume should go on with. */
#include "train.h"

#include "message.h"
#include "session.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* What processes that were killed while they wrote have left. */
static void remove_unfinished(const char *folder, const char *name)
{
    DIR *open = opendir(folder);
    size_t length = strlen(name);
    for (const struct dirent *each; open != NULL && (each = readdir(open)) != NULL;) {
        const char *found = each->d_name, *end = strrchr(found, '.');
        if (found[0] == '.' && strncmp(found + 1, name, length) == 0 && end != NULL && strcmp(end, ".tmp") == 0)
            (void)unlinkat(dirfd(open), found, 0);
    }
    if (open != NULL)
        closedir(open);
}

int train_checkpoint_open(const cli_arguments *arguments, train_checkpoint *out)
{
    const char *folder = arguments_text(arguments, "checkpoint");
    *out = (train_checkpoint){.every = (double)arguments_number(arguments, "checkpoint-every")};
    if (folder == NULL)
        return EXIT_DONE;
    if (access(folder, W_OK | X_OK) != 0)
        return complain_failed("--checkpoint %s: %s; give a folder that can be written to", folder, strerror(errno));
    char *name = session_state_path(base_name(arguments_text(arguments, "output")));
    size_t size = name != NULL ? strlen(folder) + strlen(name) + 2 : 0;
    out->path = size > 0 ? malloc(size) : NULL;
    if (out->path != NULL) {
        snprintf(out->path, size, "%s/%s", folder, name);
        remove_unfinished(folder, name);
    }
    free(name);
    if (out->path == NULL)
        return complain_failed("out of memory");
    if (!arguments_flag(arguments, "resume"))
        train_checkpoint_remove(out);
    return EXIT_DONE;
}

bool train_checkpoint_is_there(const train_checkpoint *checkpoint)
{
    return checkpoint->path != NULL && access(checkpoint->path, F_OK) == 0;
}

void train_checkpoint_keep(train_checkpoint *checkpoint, const gsa_state *state, cli_progress *progress)
{
    gsa_error error = {0};
    char text[sizeof error.message + 80];
    double now = progress_clock();
    if (checkpoint->path == NULL || now - checkpoint->last < checkpoint->every)
        return;
    gsa_status status = gsa_state_save(state, checkpoint->path, &error);
    checkpoint->last = progress_clock();
    if (status == GSA_OK)
        return;
    snprintf(text, sizeof text, "note: %s; the run goes on with the checkpoint before, if any", error.message);
    progress_say(progress, text);
}

void train_checkpoint_remove(const train_checkpoint *checkpoint)
{
    if (checkpoint->path != NULL)
        (void)unlink(checkpoint->path);
}

void train_checkpoint_close(train_checkpoint *checkpoint)
{
    free(checkpoint->path);
    checkpoint->path = NULL;
}
