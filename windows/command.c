/* Before main: lines end as they do everywhere, and the folder for temporary files is where others look for it. */
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>

__attribute__((constructor)) static void prepare_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        (void)_setmode(fd, _O_BINARY);
    const char *temporary = getenv("TEMP");
    if (getenv("TMPDIR") == NULL && temporary != NULL)
        (void)_putenv_s("TMPDIR", temporary);
}
