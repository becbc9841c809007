/* SIGINT and SIGTERM: the first asks the library to stop where it can go on later, the same again a second later ends
 * the process. */
#ifndef GREEDYSTEP_CLI_INTERRUPT_H
#define GREEDYSTEP_CLI_INTERRUPT_H

/* From here on the two signals are caught. */
void interrupt_catch(void);
/* The signal that came, or 0. */
int interrupt_signal(void);
/* 130 for SIGINT, 143 for SIGTERM. */
int interrupt_exit_code(void);
/* For gsa_call: nonzero once a signal came. */
int interrupt_should_stop(void *ctx);

#endif
