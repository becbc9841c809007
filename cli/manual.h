/* The manual: pages, command reference and completions, all written from the tables that the command itself goes by.
 * A program of the build (greedystep_manual) that is not installed; it links what the command does. */
#ifndef GREEDYSTEP_CLI_MANUAL_H
#define GREEDYSTEP_CLI_MANUAL_H

#include "options.h"

/* To standard output. verb NULL: the command as a whole. */
void manual_write_scdoc(const cli_verb *verb);
void manual_write_markdown(const cli_verb *verb);
void manual_write_bash(void);
void manual_write_zsh(void);
void manual_write_fish(void);

/* What is the same for all verbs, and said once: on the page of the command. */
typedef struct manual_entry {
    const char *term, *text;
} manual_entry;
typedef struct manual_section {
    const char *title;
    const manual_entry *entries; /* ends with a term that is NULL */
} manual_section;
extern const manual_section manual_about[]; /* ends with a title that is NULL */

/* What can follow an option. What stands without one are files to read, and no file that ends in .state is. */
typedef enum value_kind {
    VALUE_NONE, /* nothing follows */
    VALUE_ANY,  /* a number, a name: nothing to propose */
    VALUE_CHOICE,
    VALUE_METHODS, /* of compare, separated by commas */
    VALUE_MODEL,   /* a file that does not end in .state */
    VALUE_FILE,
    VALUE_FOLDER,
    VALUE_KINDS
} value_kind;
value_kind manual_value(const cli_option *option);

/* What completes the value of an option: the text of its kind. That of a choice is followed by the choices, separated
 * by spaces, and by what comes after them. */
void manual_put_value(const cli_option *option, const char *const text[VALUE_KINDS], const char *after_choices);
/* How long the name of a method of compare is in its usage, which goes on with what follows it. */
size_t manual_method_name(const char *usage);
/* The length of the first clause of a help text, which can stand alone. */
size_t manual_first_clause(const char *help);

#endif
