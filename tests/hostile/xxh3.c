/* Prints XXH3 (64 bits, seed 0) of standard input in hexadecimal: the hash that model files and caches are sealed with,
 * so that a hostile file gets past it to what it is hostile about. Needs xxhash.h and nothing of ours. */
#define XXH_INLINE_ALL
#include <stdio.h>
#include <xxhash.h>

int main(void)
{
    static unsigned char buffer[1 << 16];
    XXH3_state_t *state = XXH3_createState();
    if (!state || XXH3_64bits_reset(state) != XXH_OK)
        return 1;
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, stdin)) > 0;)
        XXH3_64bits_update(state, buffer, got);
    printf("%016llx\n", (unsigned long long)XXH3_64bits_digest(state));
    XXH3_freeState(state);
    return ferror(stdin) != 0;
}
