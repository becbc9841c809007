/* The locale that numbers are read and written with: set_up and tear_down of a group of tests. */
#ifndef GSA_TESTS_DATA_C_LOCALE_H
#define GSA_TESTS_DATA_C_LOCALE_H

#include "unit/data/support.h"

#include "base/memory.h"
#include "data/format/number.h"

static gsai_env env;
static gsai_number_locale *c_locale;

static inline int set_up(void **state)
{
    (void)state;
    env = gsai_env_resolve(NULL);
    c_locale = gsai_os_c_locale();
    return c_locale ? 0 : -1;
}

static inline int tear_down(void **state)
{
    (void)state;
    gsai_os_c_locale_free(c_locale);
    return 0;
}

#endif
