/* How a training run begins: from nothing, where it was interrupted, or from another run; and what it leaves on its way
 * to be continued from.
 *
 * --checkpoint: saves the state of a run in a folder at intervals. --publish: saves state and model of a run at
 * intervals, where they will be in the end.
 *
 * A checkpoint is there only while a run is: it is removed when another begins from the start, and when the run has
 * ended and left its state beside its model. So a checkpoint that is there is the one that --resume should continue. */
#include "train.h"

#include "message.h"
#include "output.h"
#include "session.h"
#include "typed.h"
#include "views.h"

#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

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

static bool is_there(const train_checkpoint *checkpoint)
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

/* ---- the first state --------------------------------------------------------------------------------------------- */

/* Makes a new state with the parameters that are given; with `from` not NULL it has that one's where none is given, and
 * begins with what that one knows. */
static int begin(const cli_arguments *arguments, const gsa_state *from, const gsai_env *env, gsa_state **out)
{
    char text[VALUE_TEXT_SIZE];
    gsa_error error = {0};
    gsa_config *config = NULL;
    gsa_status status = gsa_config_new(&env->memory, &config, &error);
    for (size_t i = 0; from != NULL && gsa_param_at(i) != NULL && status == GSA_OK; i++) {
        const char *name = gsa_param_at(i)->name, *value = gsa_state_get(from, name);
        if (value != NULL)
            status = gsa_config_set(config, name, value, &error);
    }
    for (size_t i = arguments->sections.parameter; i < arguments->n_options && status == GSA_OK; i++) {
        const char *value = arguments_plain_value(arguments, i, text);
        if (value != NULL)
            status = gsa_config_set(config, arguments->options[i].name, value, &error);
    }
    if (status == GSA_OK && from != NULL)
        status = gsa_state_start_from(from, config, out, &error);
    else if (status == GSA_OK)
        status = gsa_state_new(config, &env->memory, out, &error);
    gsa_config_free(config);
    return status == GSA_OK ? EXIT_DONE : complain_error(status, &error);
}

/* A resumed run keeps its parameters; a value that is given again is the one it has, or one that it has itself decided
 * on. Passes may differ: they do not change what a pass learns. */
static int check_given(const cli_arguments *arguments, gsa_state *state)
{
    char text[VALUE_TEXT_SIZE], name[OPTION_NAME_SIZE];
    for (size_t i = arguments->sections.parameter; i < arguments->n_options; i++) {
        gsa_error error = {0};
        const cli_option *option = &arguments->options[i];
        const char *value = arguments_plain_value(arguments, i, text);
        if (value == NULL)
            continue;
        if (strcmp(option->name, "passes") == 0) {
            gsa_status status = gsa_state_set(state, option->name, value, &error);
            if (status != GSA_OK)
                return complain_error(status, &error);
            continue;
        }
        const char *current = gsa_state_get(state, option->name);
        bool is_decided = strcmp(option->name, "loss") == 0 && strcmp(summary_of(state).loss, value) == 0;
        if (current != NULL && strcmp(current, value) != 0 && strcmp(value, "auto") != 0 && !is_decided)
            return complain_failed("--%s %s contradicts %s.state, which has %s; leave it out to continue that run, or "
                                   "leave out --resume to start a new one",
                                   option_display_name(option->name, name), value, arguments_text(arguments, "output"),
                                   current);
    }
    return EXIT_DONE;
}

/* With checkpoints the same command can be given again and again, until it has ended. */
static int resume(const cli_arguments *arguments, const train_checkpoint *checkpoint, const gsai_env *env,
                  gsa_state **out)
{
    const char *model = arguments_text(arguments, "output"), *position;
    bool has_checkpoint = checkpoint->model == NULL && is_there(checkpoint);
    if (!has_checkpoint && !session_has_state(model)) {
        if (checkpoint->path == NULL)
            return complain_failed("cannot resume: there is no %s.state; leave out --resume to start a new run", model);
        note("note: there is no state of this run: it starts from the beginning");
        return begin(arguments, NULL, env, out);
    }
    if (has_checkpoint && session_has_state(model))
        note("note: continues from %s; %s.state is older, or of another run", checkpoint->path, model);
    int code = session_load_state(has_checkpoint ? checkpoint->path : model, env, out);
    if (code == EXIT_DONE)
        code = check_given(arguments, *out);
    if (code != EXIT_DONE || !arguments_flag(arguments, "from-position"))
        return code;
    /* The position must be there, and what --position said of it. */
    position = gsa_state_position(*out);
    bool is_line = strspn(position, "0123456789") == strlen(position);
    if (*position == '\0')
        return complain_failed("%s.state has no position; leave out --from-position, and give all rows again", model);
    if (!is_line && !arguments_given(arguments, "position"))
        return complain_failed("the position in %s.state is not a line number; give --position COLUMN again", model);
    note("continues after position %s, row %" PRIu64, position, summary_of(*out).pass_rows);
    return EXIT_DONE;
}

int train_start(const cli_arguments *arguments, const train_checkpoint *checkpoint, const gsai_env *env,
                gsa_state **out)
{
    bool resumes = arguments_flag(arguments, "resume"), starts_from = arguments_given(arguments, "start-from");
    if (resumes && starts_from)
        return complain_usage("--resume continues the run of -o, --start-from starts a new one; give one of them");
    if (resumes)
        return resume(arguments, checkpoint, env, out);
    gsa_state *from = NULL;
    int code = starts_from ? session_load_state(arguments_text(arguments, "start-from"), env, &from) : EXIT_DONE;
    if (code == EXIT_DONE)
        code = begin(arguments, from, env, out);
    gsa_state_free(from);
    return code;
}
