/* greedystep_manual: prints one part of the manual. What the writers share is here too. */
#include "manual.h"

#include "verbs.h"

#include <stdio.h>
#include <string.h>

value_kind manual_value(const cli_option *option)
{
    static const struct {
        const char *takes;
        value_kind kind;
    } known[] = {{"FILE", VALUE_FILE}, {"MODEL", VALUE_MODEL}, {"DIR", VALUE_FOLDER}, {"LIST", VALUE_METHODS}};
    if (option->kind == OPTION_FLAG)
        return VALUE_NONE;
    if (option->kind == OPTION_CHOICE || option->kind == OPTION_SWITCH)
        return VALUE_CHOICE;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(option->takes, known[i].takes) == 0)
            return known[i].kind;
    }
    return VALUE_ANY;
}

void manual_put_value(const cli_option *option, const char *const text[VALUE_KINDS], const char *after_choices)
{
    value_kind kind = manual_value(option);
    fputs(text[kind], stdout);
    for (const char *at = option->takes; kind == VALUE_CHOICE && *at != '\0'; at++)
        putchar(*at == '|' ? ' ' : *at);
    fputs(kind == VALUE_CHOICE ? after_choices : "", stdout);
}

size_t manual_method_name(const char *usage)
{
    return strcspn(usage, "[:");
}

size_t manual_first_clause(const char *help)
{
    size_t at = 0, depth = 0;
    for (; help[at] != '\0' && !(depth == 0 && help[at] == ';'); at++)
        depth += (size_t)(help[at] == '(') - (size_t)(help[at] == ')');
    return at;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*of_verb)(const cli_verb *verb);
        void (*of_all)(void);
    } writers[] = {{"scdoc", manual_write_scdoc, NULL},
                   {"markdown", manual_write_markdown, NULL},
                   {"bash", NULL, manual_write_bash},
                   {"zsh", NULL, manual_write_zsh},
                   {"fish", NULL, manual_write_fish}};
    const cli_verb *verb = argc > 2 ? verb_find(argv[2]) : NULL;
    for (size_t i = 0; i < sizeof writers / sizeof *writers && argc > 1 && (argc == 2 || verb != NULL); i++) {
        if (strcmp(argv[1], writers[i].name) != 0)
            continue;
        if (writers[i].of_verb != NULL)
            writers[i].of_verb(verb);
        else
            writers[i].of_all();
        return fflush(stdout) == 0 ? 0 : 1;
    }
    fputs("usage: greedystep_manual scdoc|markdown [VERB], or bash|zsh|fish\n", stderr);
    return 2;
}
