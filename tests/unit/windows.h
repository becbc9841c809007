/* What unit tests call of POSIX and Windows has not, in front of each of their files there (tests/CMakeLists.txt). */
#ifndef GSA_TESTS_WINDOWS_H
#define GSA_TESTS_WINDOWS_H

#define WIN32_LEAN_AND_MEAN /* without sockets, which have a gethostname of their own */

#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define read(fd, bytes, size) _read(fd, bytes, (unsigned)(size))
#define write(fd, bytes, size) _write(fd, bytes, (unsigned)(size))

static struct gsa_test_text {
    FILE *file;
    char **text;
    size_t *size;
} gsa_test_texts[8];

/* A file that becomes a text when it is closed. */
static inline FILE *open_memstream(char **text, size_t *size)
{
    for (size_t i = 0; i < sizeof gsa_test_texts / sizeof *gsa_test_texts; i++)
        if (gsa_test_texts[i].file == NULL) {
            gsa_test_texts[i] = (struct gsa_test_text){tmpfile(), text, size};
            return gsa_test_texts[i].file;
        }
    return NULL;
}

static inline int gsa_test_fclose(FILE *file)
{
    for (size_t i = 0; i < sizeof gsa_test_texts / sizeof *gsa_test_texts; i++) {
        struct gsa_test_text *one = &gsa_test_texts[i];
        if (file == NULL || one->file != file)
            continue;
        *one->size = (size_t)ftell(file);
        *one->text = calloc(*one->size + 1, 1);
        rewind(file);
        if (*one->text == NULL || fread(*one->text, 1, *one->size, file) != *one->size)
            abort();
        one->file = NULL;
    }
    return (fclose)(file);
}
#define fclose(file) gsa_test_fclose(file)

#endif
