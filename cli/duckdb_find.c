/* Finds the DuckDB library: as the system finds libraries, beside the command, where package managers put it, or inside
 * of Python's module of that name.
 *
 *   1 Places are absolute: nothing is taken from the current folder or from that of the data.
 *   2 The module needs the symbols of Python's own library, which it does not name: that is loaded before it. */
#include "duckdb_find.h"

#include "siblings.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* ---- Python's library ------------------------------------------------------------------------------------------- */

/* Loads libpython of the version in a module's path, PREFIX/lib/python3.X/site-packages/_duckdb*.so. */
static bool load_python(const char *module, char lacking[DUCKDB_LACKING_SIZE])
{
    static const char *const endings[] = {".so.1.0", ".dylib", ".so"};
    const char *version = strstr(module, "/python3.");
    char home[PATH_SIZE], path[PATH_SIZE], line[PATH_SIZE];
    if (version == NULL || strstr(version, "/_duckdb") == NULL)
        return true;
    int length = (int)strcspn(version + 1, "/");
    /* The folder of the Python that a virtual environment was made with, or else that of its modules. */
    int lib = (int)(version - module);
    snprintf(home, sizeof home, "%.*s", lib, module);
    snprintf(path, sizeof path, "%.*s/../pyvenv.cfg", lib, module);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "home = /", 8) == 0)
            snprintf(home, sizeof home, "%.*s", (int)strcspn(line + 7, "\r\n"), line + 7);
    }
    if (file != NULL)
        fclose(file);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        int size = snprintf(path, sizeof path, "%s/../lib/lib%.*s%s", home, length, version + 1, endings[i]);
        if ((size_t)size < sizeof path && dlopen(path, RTLD_NOW | RTLD_GLOBAL) != NULL)
            return true;
        if (dlopen(strrchr(path, '/') + 1, RTLD_NOW | RTLD_GLOBAL) != NULL)
            return true;
    }
    snprintf(lacking, DUCKDB_LACKING_SIZE, "lib%.*s", length, version + 1);
    return false;
}

/* ---- places ----------------------------------------------------------------------------------------------------- */

/* Opens a library that matches a pattern relative to a folder of programs; tries the last name, the newest Python,
 * first. */
static void *open_matching(const char *folder, int length, const char *pattern, char lacking[DUCKDB_LACKING_SIZE])
{
    char path[PATH_SIZE];
    glob_t found = {0};
    void *library = NULL;
    int size = snprintf(path, sizeof path, "%.*s/%s", length, folder, pattern);
    if ((size_t)size >= sizeof path || folder[0] != '/' || glob(path, 0, NULL, &found) != 0)
        return NULL;
    for (size_t i = found.gl_pathc; i > 0 && library == NULL; i--) {
        if (load_python(found.gl_pathv[i - 1], lacking))
            library = dlopen(found.gl_pathv[i - 1], RTLD_NOW | RTLD_LOCAL);
    }
    globfree(&found);
    return library;
}

void *duckdb_find(const char *given, char lacking[DUCKDB_LACKING_SIZE])
{
    static const char *const patterns[] = {"libduckdb.so", "../lib/libduckdb.so", "../lib/libduckdb.dylib",
                                           "../lib*/python3*/site-packages/_duckdb*.so",
                                           "../lib*/python3*/dist-packages/_duckdb*.so"};
    char folders[16 * PATH_SIZE];
    lacking[0] = '\0';
    if (given != NULL)
        return load_python(given, lacking) ? dlopen(given, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *library = dlopen("libduckdb.so", RTLD_NOW | RTLD_LOCAL);
    /* The folders of programs, with colons between: the command's own, the user's (virtual environments, Conda and
     * Homebrew are among them), and the usual ones. */
    const char *path = getenv("PATH"), *home = getenv("HOME");
    char self[SIBLING_PATH_SIZE];
    home = home != NULL ? home : "";
    snprintf(folders, sizeof folders,
             "%s:%s:%s/.local/lib:%s/.pyenv/versions/*/bin:/usr/local/bin:/opt/homebrew/bin:"
             "/home/linuxbrew/.linuxbrew/bin:/usr/bin",
             sibling_folder(self), path != NULL ? path : "", home, home);
    for (const char *at = folders; *at != '\0' && library == NULL;) {
        int length = (int)strcspn(at, ":");
        for (size_t i = 0; i < sizeof patterns / sizeof *patterns && library == NULL; i++)
            library = open_matching(at, length, patterns[i], lacking);
        at += length + (at[length] == ':');
    }
    return library;
}
