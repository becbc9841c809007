/* greedystep-compare: the program that `greedystep compare` runs. */
#include "cli/help.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/verbs.h"

#include <string.h>

int main(int argc, char **argv)
{
    program_begin();
    if (argc > 1 && (strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0)) {
        help_write_version("greedystep-compare");
        return output_finish_stdout(EXIT_DONE);
    }
    return output_finish_stdout(program_run(&compare_program, argc, argv, 1));
}
