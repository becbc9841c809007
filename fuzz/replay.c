/* Runs a fuzz target on files, and on those of folders, one after the other: what any compiler can do without a
 * fuzzer. Options (-runs=0) are for fuzzers and passed over. */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>

static size_t n_run;

static int run_file(const char *path)
{
    static fuzz_bytes bytes;
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "cannot read %s: %s\n", path, strerror(errno));
        return 1;
    }
    bytes.size = 0;
    size_t got;
    do {
        fuzz_reserve(&bytes, bytes.size + 4096);
        got = fread(bytes.data + bytes.size, 1, 4096, file);
        bytes.size += got;
    } while (got > 0);
    fclose(file);
    uint8_t *exact = malloc(bytes.size > 0 ? bytes.size : 1); /* so that a read beyond its end is seen */
    fuzz_must(exact != NULL, "there is memory", NULL);
    memcpy(exact, bytes.data, bytes.size);
    fprintf(stderr, "%s\n", path);
    (void)LLVMFuzzerTestOneInput(exact, bytes.size);
    free(exact);
    n_run++;
    return 0;
}

static int run_path(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        return run_file(path);
    int failed = 0;
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            failed |= run_path(inside);
    }
    closedir(folder);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-')
            failed |= run_path(argv[i]);
    fprintf(stderr, "%zu inputs, all properties hold\n", n_run);
    return failed;
}
