/* read_model MODEL N: loads a model N times while another process replaces it: it is there from the first time on, and
 * always whole. Prints how many different ones it saw. */
#define _POSIX_C_SOURCE 200809L
#include <greedystep/greedystep.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    uint64_t last = 0;
    long n_different = 0, n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    for (int tries = 0; n > 0 && access(argv[1], F_OK) != 0 && tries < 60000; tries++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    for (long i = 0; i < n; i++) {
        gsa_error error = {0};
        gsa_model *model = NULL;
        gsa_model_info info = {.size = sizeof info};
        if (gsa_model_load(argv[1], NULL, NULL, &model, &error) != GSA_OK) {
            printf("read %ld: %s\n", i, error.message);
            return 1;
        }
        gsa_model_get_info(model, &info);
        if (info.n_rows < last) {
            printf("read %ld: %llu rows after %llu\n", i, (unsigned long long)info.n_rows, (unsigned long long)last);
            return 1;
        }
        n_different += info.n_rows != last;
        last = info.n_rows;
        gsa_model_free(model);
        nanosleep(&(struct timespec){0, 500000}, NULL);
    }
    printf("%ld reads, %ld different models\n", n, n_different);
    return n > 0 && n_different > 1 ? 0 : 1;
}
