/* What is the same for all verbs: said once, on the page of the command. A test compares the environment with what the
 * sources ask for. */
#include "manual.h"

#include <stddef.h>

static const manual_entry options[] = {
    {"--name VALUE, --name=VALUE",
     "Options stand anywhere behind the verb, each once at most; a dash and an underscore in a name are the same. -- "
     "ends them: what follows is a file, whatever it begins with."},
    {"--name on, --name off, --name, --no-name", "A switch, such as --intercept."},
    {"-h, --help", "Of a verb: what `greedystep help VERB` prints."},
    {"N", "A count is 10000, 10_000 or 1e4."},
    {"SIZE", "A size is 512M or 1.5G, in powers of 1024."},
    {NULL, NULL},
};

static const manual_entry files[] = {
    {"MODEL", "A model, in a form that other programs read as well (safetensors). `predict`, `evaluate`, `inspect` and "
              "`export` need nothing else."},
    {"MODEL.state",
     "Beside it, what a run needs to go on: `train --resume`, `train --start-from` and `merge` read it."},
    {"FILE.gsac", "Rows after parsing, which `convert` writes and every verb reads in place of text."},
    {"-", "In place of a file: standard input, or standard output behind -o."},
    {NULL, NULL},
};

static const manual_entry environment[] = {
    {"NO_COLOR", "If it is set and not empty, nothing is coloured and no chart drawn, whatever the terminal can."},
    {"TERM", "Unset or dumb: plain lines, as into a file."},
    {"LC_ALL, LC_CTYPE, LANG",
     "The first that is set says whether the terminal shows UTF-8, as charts need. Numbers are read and "
     "written alike in every locale."},
    {"TMPDIR", "Where `train` keeps a temporary cache of the rows of compressed files; without it /tmp."},
    {"GREEDYSTEP_DUCKDB", "The library of DuckDB, which reads Parquet and --sql; without it libduckdb.so, wherever "
                          "libraries are."},
    {"GREEDYSTEP_MPI", "The library by which processes of a cluster learn together; without it the one of ours for the "
                       "MPI whose launcher started them."},
    {"GREEDYSTEP_HEARTBEAT_SECONDS",
     "How long a process of a cluster may be silent before it counts as hung: 60 without it; 0: nobody watches."},
    {"OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE, PMI_RANK, PMI_SIZE, PMIX_RANK, SLURM_NTASKS, SLURM_STEP_NUM_TASKS",
     "Set by the launchers of Open MPI, MPICH and Slurm: several processes of one `train` learn together."},
    {NULL, NULL},
};

static const manual_entry exit_status[] = {
    {"0", "Done."},
    {"1", "It failed; the message on standard error says where, and what to do."},
    {"2", "The command line cannot be right; nothing was done."},
    {"128 + N", "Ended by signal N, such as 130 by Ctrl-C."},
    {NULL, NULL},
};

const manual_section manual_about[] = {
    {"Options", options}, {"Files", files}, {"Environment", environment}, {"Exit status", exit_status}, {NULL, NULL}};
