/* What most verbs begin with: the environment, readers, models and the states beside them. Every function gives an exit
 * code and has said what is wrong when it is not EXIT_DONE. */
#ifndef GREEDYSTEP_CLI_SESSION_H
#define GREEDYSTEP_CLI_SESSION_H

#include "options.h"

#include <greedystep/data.h>
#include <greedystep/greedystep.h>

#include <stdbool.h>

/* TMPDIR, or where the system has it. */
const char *session_temporary_folder(void);
/* Whether a name ends so, and does not begin with it. */
bool session_is_named(const char *path, const char *ending);
/* The memory limit asked for (or half of the memory) and the interrupts. */
gsa_env session_env(const cli_arguments *arguments);

int session_open_reader(const cli_arguments *arguments, const char *const *paths, size_t n_paths, const gsa_env *env,
                        gsa_reader **out);
/* Reads as far as it takes to know what the input is, and says it unless there is --quiet. */
gsa_status session_begin_reader(const cli_arguments *arguments, gsa_reader *reader, gsa_error *error);
/* The columns of the reader must be those of a model, NULL: the model has none. */
int session_match(gsa_reader *reader, const char *schema);
int session_load_model(const char *path, const gsa_env *env, gsa_model **out);
/* Loads the state that lies beside a model. A path that names a state itself is fine too. */
int session_load_state(const char *model_path, const gsa_env *env, gsa_state **out);
/* Whether a signal has come and judging by the held-out rows would take seconds: the model is then not calibrated. */
bool session_skips_calibration(const gsa_state *state);
/* The state and then the model of it, so that a model that is there has its state. */
int session_save(const gsa_state *state, const char *model_path, const gsa_env *env);

/* MODEL.state, to be freed; NULL after a message when there is no memory. */
char *session_state_path(const char *model_path);
bool session_has_state(const char *model_path);
/* By name, or because the system says so. */
bool session_is_same_file(const char *a, const char *b);
/* An output, of this option, that is one of the inputs is refused; "-" is none. */
int session_check_not_input(const char *path, const char *option, const char *const *inputs, size_t n_inputs);
/* Before the work begins: a model can be written there, and it would not replace one of the inputs. */
int session_check_model_path(const char *path, const char *const *inputs, size_t n_inputs);

#endif
