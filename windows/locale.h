#pragma GCC system_header /* include_next is no C17 */
#include_next <locale.h>

typedef _locale_t locale_t;
#define LC_ALL_MASK LC_ALL
#define newlocale(category, name, base) _create_locale(category, name)
#define freelocale(locale) _free_locale(locale)
