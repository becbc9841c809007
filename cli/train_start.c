/* How a training run begins: from nothing, where it was interrupted, or from another run. */
#include "train.h"

#include "message.h"
#include "session.h"
#include "typed.h"
#include "views.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
    bool has_checkpoint = checkpoint->model == NULL && train_checkpoint_is_there(checkpoint);
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
