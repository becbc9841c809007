/* Before main: lines end as they do everywhere, and text is UTF-8. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <fcntl.h>
#include <io.h>

__attribute__((constructor)) static void prepare_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        (void)_setmode(fd, _O_BINARY);
    SetConsoleOutputCP(CP_UTF8);
}
