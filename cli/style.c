/* Finds out what a terminal can show. Plain text is a setting of the whole process, as in message.c. */
#include "style.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL_COLUMNS = 80 };

static bool is_plain;

void style_make_plain(void)
{
    is_plain = true;
}

/* NULL if it is not there or empty. */
static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

bool style_is_on(FILE *stream)
{
    const char *terminal = setting("TERM");
    return !is_plain && setting("NO_COLOR") == NULL && terminal != NULL && strcmp(terminal, "dumb") != 0 &&
           isatty(fileno(stream)) != 0;
}

const char *style_begin(FILE *stream, style_role role)
{
    static const char *const codes[] = {[STYLE_NAME] = "\033[36m",
                                        [STYLE_HEADING] = "\033[1m",
                                        [STYLE_ERROR] = "\033[1;31m",
                                        [STYLE_NOTE] = "\033[33m",
                                        [STYLE_NONE] = ""};
    return style_is_on(stream) ? codes[role] : "";
}

const char *style_end(FILE *stream, style_role role)
{
    return role != STYLE_NONE && style_is_on(stream) ? "\033[0m" : "";
}

int style_columns(FILE *stream)
{
    struct winsize size;
    return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : USUAL_COLUMNS;
}
