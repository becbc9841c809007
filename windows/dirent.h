/* The names in a folder, in UTF-8. */
#ifndef GSA_WINDOWS_DIRENT_H
#define GSA_WINDOWS_DIRENT_H

#define opendir gsai_windows_opendir
#define readdir gsai_windows_readdir
#define closedir gsai_windows_closedir

typedef struct gsai_windows_folder DIR;
struct dirent {
    char d_name[1024]; /* 255 units of UTF-16 are at most 765 bytes */
};
DIR *opendir(const char *path);
struct dirent *readdir(DIR *folder);
int closedir(DIR *folder);

#endif
