/* SIGINT, SIGTERM and SIGHUP: the first asks the library to stop where it can go on later, the same again a second
 * later ends the process. */
#ifndef GREEDYSTEP_CLI_INTERRUPT_H
#define GREEDYSTEP_CLI_INTERRUPT_H

/* Catches the signals from now on; SIGHUP unless it is ignored (nohup). */
void interrupt_catch(void);
/* Returns the signal that came, or 0. */
int interrupt_signal(void);
/* Returns the exit code of the signal: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP. */
int interrupt_exit_code(void);
/* Returns nonzero once a signal came: the should_stop of gsa_call. */
int interrupt_should_stop(void *ctx);

#endif
