/* Setup shared by the verbs: the environment, readers, models and their states. Functions that return an exit code have
 * printed a message if it is not EXIT_DONE. */
#ifndef GREEDYSTEP_CLI_SESSION_H
#define GREEDYSTEP_CLI_SESSION_H

#include "options.h"

#include "base/memory.h"

#include <greedystep/data.h>
#include <greedystep/greedystep.h>

#include <stdbool.h>

/* Returns TMPDIR, or /tmp. */
const char *session_temporary_folder(void);
/* Says whether a name has this ending, with something before it. */
bool session_is_named(const char *path, const char *ending);
bool session_is_folder(const char *path);
/* Returns the environment of a run: the memory limit (by default half of the memory) and the interrupt handler. */
gsai_env session_env(const cli_arguments *arguments);

/* Opens files, or the query of --sql if n_paths is 0, by the command line and what the verb wants of the reader. */
int session_open_reader(const cli_arguments *arguments, const gsa_reader_options *wanted, const char *const *paths,
                        size_t n_paths, const gsai_env *env, gsa_reader **out);
/* Reads until the format of the input is known, and prints it. */
gsa_status session_begin_reader(gsa_reader *reader, gsa_error *error);
/* Says, after the rows were read, how many cells were not UTF-8 if any were. */
void session_tell_recoded(const gsa_reader *reader);
/* Makes the reader follow the schema of a model; NULL: the model has none. keep: the option that names columns to keep.
 */
int session_match(gsa_reader *reader, const char *schema, const char *keep);
int session_load_model(const char *path, const gsai_env *env, gsa_model **out);
/* Loads the state beside a model. The path may also be that of the state itself. */
int session_load_state(const char *model_path, const gsai_env *env, gsa_state **out);
/* Says whether a signal came and calibration on the held-out rows would take seconds: the model is then not calibrated.
 */
bool session_skips_calibration(const gsa_state *state);
/* Saves the state, then its model, so that an existing model has its state; the state is written while another thread
 * makes the model. *out is the model; NULL: it is not wanted. */
int session_save(const gsa_state *state, const char *model_path, const gsai_env *env, gsa_model **out);

/* Returns MODEL.state, to be freed; NULL after a message if out of memory. */
char *session_state_path(const char *model_path);
bool session_has_state(const char *model_path);
/* Says whether two paths have one name or are one file. */
bool session_is_same_file(const char *a, const char *b);
/* Refuses an output (of this option) that is one of the positional arguments or the file of --test; accepts "-". */
int session_check_not_input(const cli_arguments *arguments, const char *option, const char *path);
/* Checks before the work begins that a model can be written there and would not replace an input; NULL: it may. */
int session_check_model_path(const cli_arguments *arguments, const char *path);

#endif
