#include <unistd.h>

#undef fsync
int fsync(int fd);

int gsai_wasi_fsync(int fd)
{
    return fsync(fd) == 0 || errno == EBADF || errno == EINVAL || errno == ENOTSUP ? 0 : -1;
}
