/* --checkpoint: saves the state of a run in a folder at intervals. --publish: saves state and model of a run at
 * intervals, where they will be in the end.
 *
 * A checkpoint is there only while a run is: it is removed when another begins from the start, and when the run has
 * ended and left its state beside its model. So a checkpoint that is there is the one that --resume should continue. */
#include "train.h"

#include "message.h"
#include "output.h"
#include "session.h"

#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Removes files left by processes that were killed while they wrote, ".NAME.123456.tmp"; one that still writes has
 * locked its file. */
static void remove_unfinished(const char *folder, const char *name)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    size_t length = strlen(name), size = strlen(folder) + length + sizeof "/..123456.tmp";
    char *path = malloc(size);
    DIR *found = path != NULL ? opendir(folder) : NULL;
    for (const struct dirent *each; found != NULL && (each = readdir(found)) != NULL;) {
        const char *base = each->d_name;
        if (base[0] != '.' || strncmp(base + 1, name, length) != 0 ||
            strlen(base) != length + sizeof "..123456.tmp" - 1 ||
            strcmp(base + length + sizeof "..123456" - 1, ".tmp") != 0)
            continue;
        snprintf(path, size, "%s/%s", folder, base);
        int file = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
        bool is_left = file >= 0 && fcntl(file, F_SETLK, &whole) == 0;
        if (file >= 0)
            close(file); /* before it is removed, as Windows requires */
        if (is_left)
            (void)unlink(path);
    }
    if (found != NULL)
        closedir(found);
    free(path);
}

int train_checkpoint_open(const cli_arguments *arguments, train_checkpoint *out)
{
    const char *model = arguments_text(arguments, "output"), *name = model + gsai_directory_len(model);
    const char *folder = arguments_text(arguments, "checkpoint");
    char *beside = name > model ? strndup(model, (size_t)(name - model)) : strdup(".");
    char *state = session_state_path(name);
    struct stat a, b;
    int code = beside != NULL && state != NULL ? EXIT_DONE : complain_failed("out of memory");
    *out = (train_checkpoint){.every = arguments_real(arguments, "every")};
    if (code == EXIT_DONE) {
        remove_unfinished(beside, name);
        remove_unfinished(beside, state);
    }
    if (code == EXIT_DONE && arguments_given(arguments, "publish")) { /* the file that --resume asks for */
        out->model = arguments_text(arguments, "publish");
        out->last = progress_clock();
        out->path = session_state_path(out->model);
        code = out->path != NULL ? EXIT_DONE : EXIT_FAILED;
        if (code == EXIT_DONE)
            note("publishes %s every %s, with %s to --resume from", out->model, arguments_text(arguments, "every"),
                 out->path);
    } else if (code == EXIT_DONE && folder != NULL) {
        if (access(folder, W_OK | X_OK) != 0)
            code = complain_failed("--checkpoint %s: %s; give a writable folder", folder, strerror(errno));
        /* The checkpoint would have the name of the state beside the model, which must outlive it. */
        else if (stat(folder, &a) == 0 && stat(beside, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
            code = complain_failed("--checkpoint %s: the folder of the model, whose state has the same name; give "
                                   "another",
                                   folder);
        size_t size = strlen(folder) + strlen(state) + 2;
        out->path = code == EXIT_DONE ? malloc(size) : NULL;
        if (code == EXIT_DONE && out->path == NULL)
            code = complain_failed("out of memory");
        if (code == EXIT_DONE) {
            snprintf(out->path, size, "%s/%s", folder, state);
            remove_unfinished(folder, state);
            if (!arguments_flag(arguments, "resume"))
                train_checkpoint_remove(out);
            code = output_check_place(out->path);
        }
    }
    free(beside);
    free(state);
    return code;
}

bool train_checkpoint_is_there(const train_checkpoint *checkpoint)
{
    return checkpoint->path != NULL && access(checkpoint->path, F_OK) == 0;
}

bool train_checkpoint_is_due(const train_checkpoint *checkpoint)
{
    return (checkpoint->has_new || checkpoint->model == NULL) &&
           progress_clock() - checkpoint->last >= checkpoint->every;
}

bool train_checkpoint_keep(train_checkpoint *checkpoint, const gsa_state *state, const gsai_env *env,
                           cli_progress *progress)
{
    gsa_error error = {0};
    if (checkpoint->path == NULL || !train_checkpoint_is_due(checkpoint))
        return false;
    progress_clear(progress);
    bool publishes = checkpoint->model != NULL;
    bool is_saved = publishes ? session_save(state, checkpoint->model, env, NULL) == EXIT_DONE
                              : gsa_state_save(state, checkpoint->path, &error) == GSA_OK;
    checkpoint->last = progress_clock();
    checkpoint->has_new = !is_saved;
    if (!is_saved)
        complain("%s%s", error.message,
                 publishes ? "the run continues, the model stays" : "; the run continues without this checkpoint");
    return is_saved;
}

void train_checkpoint_remove(const train_checkpoint *checkpoint)
{
    if (checkpoint->path != NULL && checkpoint->model == NULL)
        (void)unlink(checkpoint->path);
}

void train_checkpoint_close(train_checkpoint *checkpoint)
{
    free(checkpoint->path);
    checkpoint->path = NULL;
}
