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

static const char *base_name(const char *path)
{
    return path + gsai_directory_len(path);
}

/* ".NAME.123456.tmp", as files are called while they are written. */
static bool is_unfinished(const char *found, const char *name)
{
    size_t length = strlen(name);
    return found[0] == '.' && strncmp(found + 1, name, length) == 0 &&
           strlen(found) == length + sizeof "..123456.tmp" - 1 &&
           strcmp(found + length + sizeof "..123456" - 1, ".tmp") == 0;
}

/* Removes files left by processes that were killed while they wrote; one that still writes has locked its file. */
static void remove_unfinished(const char *folder, const char *name)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    size_t size = strlen(folder) + strlen(name) + sizeof "/..123456.tmp";
    char *path = malloc(size);
    DIR *found = path != NULL ? opendir(folder) : NULL;
    for (const struct dirent *each; found != NULL && (each = readdir(found)) != NULL;) {
        if (!is_unfinished(each->d_name, name))
            continue;
        snprintf(path, size, "%s/%s", folder, each->d_name);
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

/* Removes unfinished files of the model and its state, beside them. Returns false if out of memory. */
static bool remove_unfinished_results(const char *model_path)
{
    const char *name = base_name(model_path);
    char *folder = strndup(model_path, (size_t)(name - model_path)), *state = session_state_path(name);
    if (folder != NULL && state != NULL) {
        remove_unfinished(folder[0] != '\0' ? folder : ".", name);
        remove_unfinished(folder[0] != '\0' ? folder : ".", state);
    }
    bool has_memory = folder != NULL && state != NULL;
    free(folder);
    free(state);
    return has_memory;
}

/* The checkpoint would have the name of the state beside the model, which must outlive it. */
static bool is_folder_of_model(const char *folder, const char *model_path)
{
    const char *name = base_name(model_path);
    char *of_model = name > model_path ? strndup(model_path, (size_t)(name - model_path)) : strdup(".");
    struct stat a, b;
    bool is_same = of_model != NULL && stat(folder, &a) == 0 && stat(of_model, &b) == 0 && a.st_dev == b.st_dev &&
                   a.st_ino == b.st_ino;
    free(of_model);
    return is_same;
}

int train_checkpoint_open(const cli_arguments *arguments, train_checkpoint *out)
{
    const char *folder = arguments_text(arguments, "checkpoint");
    *out = (train_checkpoint){.every = arguments_real(arguments, "every")};
    if (!remove_unfinished_results(arguments_text(arguments, "output")))
        return complain_failed("out of memory");
    if (arguments_given(arguments, "publish")) { /* the file that --resume asks for */
        out->model = arguments_text(arguments, "publish");
        out->last = progress_clock();
        out->path = session_state_path(out->model);
        if (out->path == NULL)
            return EXIT_FAILED;
        note("publishes %s every %s, with %s to --resume from", out->model, arguments_text(arguments, "every"),
             out->path);
        return EXIT_DONE;
    }
    if (folder == NULL)
        return EXIT_DONE;
    if (access(folder, W_OK | X_OK) != 0)
        return complain_failed("--checkpoint %s: %s; give a writable folder", folder, strerror(errno));
    if (is_folder_of_model(folder, arguments_text(arguments, "output")))
        return complain_failed("--checkpoint %s: the folder of the model, whose state has the same name; give another",
                               folder);
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
    return output_check_place(out->path);
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
