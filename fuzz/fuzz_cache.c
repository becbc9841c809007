/* Caches of parsed rows (.gsac): R1 to R6 of rows.h. A cache has hashes of its parts, which would keep every changed
 * byte from being looked at: with REPAIR they are computed anew, so that everything behind them is reached. */
#include "rows.h"

#include "base/byte_order.h"
#include "base/hash.h"
#include "data/format/cache.h"

enum { REPAIR = 1, REPAIR_INDEX = 2, REPAIR_ORDER = 4 };
enum { START = GSAI_CACHE_HEAD_SIZE, HEADER = GSAI_CACHE_HEADER_SIZE, TAIL = GSAI_CACHE_FOOT_SIZE };

static void repair(unsigned char *file, size_t size, uint8_t how)
{
    uint64_t n_rows = 0;
    size_t at = START, last = START;
    while (size >= TAIL + HEADER && at <= size - TAIL - HEADER) {
        unsigned char *header = file + at;
        uint64_t payload = gsai_load_u64(header + 8), most = size - TAIL - HEADER - at;
        if ((how & REPAIR_ORDER) && memcmp(header, "BLOCK", 5) == 0)
            gsai_store_u64(n_rows, header + 24);
        n_rows += gsai_load_u64(header + 32);
        if (payload <= most)
            gsai_store_u64(gsai_hash(header + HEADER, (size_t)payload, 0), header + 16);
        gsai_store_u64(gsai_hash(header, 72, 0), header + 72);
        last = at;
        if (payload > most)
            break;
        at += HEADER + (size_t)payload + gsai_cache_padding(payload);
    }
    if ((how & REPAIR_INDEX) && size >= TAIL)
        gsai_store_u64(last, file + size - TAIL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > FUZZ_MAX)
        return -1;
    fuzz_input in = {data, size};
    uint8_t what = fuzz_byte(&in), choice = fuzz_byte(&in), how = fuzz_byte(&in);
    size_t n = in.left;
    unsigned char *file = malloc(n > 0 ? n : 1);
    fuzz_must(file != NULL, "there is memory", NULL);
    memcpy(file, in.at, n);
    if (how & REPAIR)
        repair(file, n, how);
    const fuzz_source from = {file, n, "rows.gsac", NULL, {0}, (how & REPAIR) != 0};
    bool is_cache = n >= 8 && memcmp(file, "\x89GSAC", 5) == 0;
    const unsigned n_checks = is_cache ? FUZZ_WRITINGS : FUZZ_PROPERTIES;
    fuzz_check_text(&from, what % n_checks, choice, true);
    free(file);
    return 0;
}
