/* Before main: its words are in UTF-8, what it prints too, lines end as they do everywhere, and the folder for
 * temporary files is where others look for it. */
#include "posix.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <fcntl.h>
#include <stdlib.h>

int gsai_windows_main(int argc, char **argv); /* main of the command */
int wmain(int argc, wchar_t **argv);

static UINT code_page_before;

static void restore_code_page(void)
{
    SetConsoleOutputCP(code_page_before);
}

static char *utf8_of(const wchar_t *wide)
{
    int size = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    char *text = malloc((size_t)size + 1);
    if (text == NULL)
        exit(1);
    WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, size, NULL, NULL);
    return text;
}

int wmain(int argc, wchar_t **argv)
{
    for (int fd = 0; fd <= 2; fd++)
        (void)_setmode(fd, _O_BINARY);
    code_page_before = GetConsoleOutputCP();
    if (code_page_before != 0 && code_page_before != CP_UTF8 && SetConsoleOutputCP(CP_UTF8))
        atexit(restore_code_page);
    const wchar_t *temporary = _wgetenv(L"TEMP");
    if (_wgetenv(L"TMPDIR") == NULL && temporary != NULL)
        (void)_putenv_s("TMPDIR", utf8_of(temporary));
    char **words = calloc((size_t)argc + 1, sizeof *words);
    if (words == NULL)
        return 1;
    for (int i = 0; i < argc; i++)
        words[i] = utf8_of(argv[i]);
    return gsai_windows_main(argc, words); /* the words are there until the process ends */
}
