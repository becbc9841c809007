/* allreduce BYTES [REPEATS]: the minimum cost of a merge over MPI: a bare MPI_Allreduce of so many bytes of floats.
 * Rank 0 prints the median of its seconds. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    enum { MAX_REPEATS = 1000 };
    static double seconds[MAX_REPEATS];
    long bytes = argc > 1 ? strtol(argv[1], NULL, 10) : 0, repeats = argc > 2 ? strtol(argv[2], NULL, 10) : 5;
    int rank, n = (int)(bytes / (long)sizeof(float));
    if (bytes <= 0 || repeats < 1 || repeats > MAX_REPEATS)
        return EXIT_FAILURE;
    float *from = calloc((size_t)n, sizeof *from), *to = calloc((size_t)n, sizeof *to);
    if (from == NULL || to == NULL)
        return EXIT_FAILURE;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (long i = -1; i < repeats; i++) { /* the first is to make connections */
        MPI_Barrier(MPI_COMM_WORLD);
        double began = MPI_Wtime();
        MPI_Allreduce(from, to, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        seconds[i < 0 ? 0 : i] = MPI_Wtime() - began;
    }
    qsort(seconds, (size_t)repeats, sizeof *seconds, by_size);
    if (rank == 0)
        printf("%.6f\n", seconds[repeats / 2]);
    MPI_Finalize();
    free(from);
    free(to);
    return EXIT_SUCCESS;
}
