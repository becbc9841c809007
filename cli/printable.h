/* Text of files, names and arguments, made fit for a terminal.
 *
 * A label, a column or a path may have line ends or escape sequences in it. Whatever the command prints for people goes
 * through here; what it prints for programs (predictions, JSON, CSV) keeps its bytes or has escapes of its own. */
#ifndef GREEDYSTEP_CLI_PRINTABLE_H
#define GREEDYSTEP_CLI_PRINTABLE_H

#include <stdio.h>

/* Puts a question mark in place of each byte that controls something; gives the text. */
char *printable_clean(char *text);
/* Prints a text in the same way without changing it. */
void printable_put(FILE *stream, const char *text);
/* Prints a word as a shell reads it back, in quotes if it needs them. */
void printable_put_word(FILE *stream, const char *word);

#endif
