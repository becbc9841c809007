#pragma GCC system_header /* include_next is no C17 */
#include_next <signal.h>

#include "posix.h"

#undef pthread_sigmask /* no thread is interrupted by a signal here */
#define pthread_sigmask(how, set, before) ((void)(set), (void)(before))
