/* Files of a folder, in memory. */
#define _XOPEN_SOURCE 700
#include "tree.h"

#include <err.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tree found; /* nftw hands nothing through */

static void read_all(int fd, char *bytes, size_t size, const char *path)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = read(fd, bytes + at, size - at);
        if (n <= 0)
            err(2, "reading %s", path);
        at += (size_t)n;
    }
}

static int add_file(const char *path, const struct stat *facts, int type, struct FTW *where)
{
    (void)where;
    if (type != FTW_F)
        return 0;
    found.file = realloc(found.file, (found.n + 1) * sizeof *found.file);
    tree_file *file = &found.file[found.n++];
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        err(2, "opening %s", path);
    *file = (tree_file){strdup(path), malloc((size_t)facts->st_size + 1), (size_t)facts->st_size};
    read_all(fd, file->bytes, file->size, path);
    close(fd);
    return 0;
}

tree tree_read(void)
{
    found = (tree){0};
    if (nftw(".", add_file, 8, FTW_PHYS) != 0)
        err(2, "looking through the folder");
    return found;
}

void tree_free(tree *files)
{
    for (size_t i = 0; i < files->n; i++) {
        free(files->file[i].path);
        free(files->file[i].bytes);
    }
    free(files->file);
    *files = (tree){0};
}

const tree_file *tree_find(const tree *files, const char *path)
{
    for (size_t i = 0; i < files->n; i++)
        if (strcmp(files->file[i].path, path) == 0)
            return &files->file[i];
    return NULL;
}

bool tree_same(const tree_file *a, const tree_file *b)
{
    if (!a || !b)
        return a == b;
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static void write_file(const tree_file *file)
{
    int fd = open(file->path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || write(fd, file->bytes, file->size) != (ssize_t)file->size || close(fd) != 0)
        err(2, "writing %s", file->path);
}

void tree_restore(const tree *wanted, const tree *now)
{
    for (size_t i = 0; i < now->n; i++)
        if (!tree_find(wanted, now->file[i].path))
            unlink(now->file[i].path);
    for (size_t i = 0; i < wanted->n; i++)
        if (!tree_same(&wanted->file[i], tree_find(now, wanted->file[i].path)))
            write_file(&wanted->file[i]);
}
