/* Files that appear whole or not at all. Every test works in a fresh directory of its own. */
#include "base/atomic_file.h"
#include "support/failing_memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct place {
    char directory[64];
    char target[512];
    int home; /* the directory to come back to */
} place;

static int setup(void **state)
{
    place *p = calloc(1, sizeof *p);
    assert_non_null(p);
    strcpy(p->directory, "/tmp/gsa-atomic-XXXXXX");
    assert_non_null(mkdtemp(p->directory));
    snprintf(p->target, sizeof p->target, "%s/model", p->directory);
    p->home = open(".", O_RDONLY | O_DIRECTORY);
    *state = p;
    return 0;
}

static size_t count_entries(const char *directory, bool remove)
{
    size_t n = 0;
    char path[1024];
    DIR *d = opendir(directory);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        n++;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (remove && unlink(path) != 0)
            rmdir(path);
    }
    closedir(d);
    return n;
}

static int teardown(void **state)
{
    place *p = *state;
    assert_int_equal(fchdir(p->home), 0);
    close(p->home);
    count_entries(p->directory, true);
    assert_int_equal(rmdir(p->directory), 0);
    free(p);
    return 0;
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void assert_content(const char *path, const void *expected, size_t size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *bytes = malloc(size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, size + 1, f), size);
    assert_memory_equal(bytes, expected, size);
    free(bytes);
    fclose(f);
}

static void save_text(const char *path, const char *text)
{
    gsai_atomic_file *file;
    gsa_error error;
    assert_int_equal(gsai_atomic_file_open(path, NULL, &file, &error), GSA_OK);
    assert_int_equal(gsai_atomic_file_write(file, text, strlen(text), &error), GSA_OK);
    assert_int_equal(gsai_atomic_file_commit(file, &error), GSA_OK);
}

static gsa_status open_fails(const char *path, gsa_error *error)
{
    gsai_atomic_file *file = (gsai_atomic_file *)error;
    gsa_status status = gsai_atomic_file_open(path, NULL, &file, error);
    assert_int_not_equal(status, GSA_OK);
    assert_null(file);
    assert_int_equal(error->status, status);
    assert_non_null(strstr(error->message, path));
    return status;
}

static void pieces_of_every_size_arrive_in_order(void **state)
{
    place *p = *state;
    const size_t pieces[] = {0, 1, 65535, 65536, 65537, 3, 200000, 65536, 7};
    unsigned char *all = malloc(600000);
    assert_non_null(all);
    for (size_t i = 0; i < 600000; i++)
        all[i] = (unsigned char)(i * 2654435761u >> 13);
    gsai_atomic_file *file;
    assert_int_equal(gsai_atomic_file_open(p->target, NULL, &file, NULL), GSA_OK);
    size_t done = 0;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        assert_int_equal(gsai_atomic_file_write(file, all + done, pieces[i], NULL), GSA_OK);
        done += pieces[i];
    }
    assert_int_equal(gsai_atomic_file_commit(file, NULL), GSA_OK);
    assert_content(p->target, all, done);
    assert_int_equal(count_entries(p->directory, false), 1);
    free(all);
}

static void an_empty_file_can_be_written(void **state)
{
    place *p = *state;
    save_text(p->target, "");
    assert_content(p->target, "", 0);
}

static void nothing_stands_under_the_name_before_commit(void **state)
{
    place *p = *state;
    gsai_atomic_file *file;
    static const char filler[100000];
    assert_int_equal(gsai_atomic_file_open(p->target, NULL, &file, NULL), GSA_OK);
    assert_int_equal(gsai_atomic_file_write(file, filler, sizeof filler, NULL), GSA_OK);
    assert_int_equal(access(p->target, F_OK), -1);
    assert_int_equal(count_entries(p->directory, false), 1);
    gsai_atomic_file_discard(file);
    assert_int_equal(count_entries(p->directory, false), 0);
}

static void discard_keeps_the_old_file(void **state)
{
    place *p = *state;
    gsai_atomic_file *file;
    put(p->target, "old");
    assert_int_equal(gsai_atomic_file_open(p->target, NULL, &file, NULL), GSA_OK);
    assert_int_equal(gsai_atomic_file_write(file, "new!", 4, NULL), GSA_OK);
    assert_content(p->target, "old", 3);
    gsai_atomic_file_discard(file);
    assert_content(p->target, "old", 3);
    assert_int_equal(count_entries(p->directory, false), 1);
    gsai_atomic_file_discard(NULL);
}

static void two_writers_of_one_name_do_not_meet(void **state)
{
    place *p = *state;
    gsai_atomic_file *a, *b;
    assert_int_equal(gsai_atomic_file_open(p->target, NULL, &a, NULL), GSA_OK);
    assert_int_equal(gsai_atomic_file_open(p->target, NULL, &b, NULL), GSA_OK);
    assert_int_equal(gsai_atomic_file_write(a, "first", 5, NULL), GSA_OK);
    assert_int_equal(gsai_atomic_file_write(b, "second", 6, NULL), GSA_OK);
    assert_int_equal(gsai_atomic_file_commit(a, NULL), GSA_OK);
    assert_content(p->target, "first", 5);
    assert_int_equal(gsai_atomic_file_commit(b, NULL), GSA_OK);
    assert_content(p->target, "second", 6);
    assert_int_equal(count_entries(p->directory, false), 1);
}

static void a_name_without_directory_goes_to_the_current_one(void **state)
{
    place *p = *state;
    assert_int_equal(chdir(p->directory), 0);
    save_text("model", "here");
    assert_content(p->target, "here", 4);
}

static void rights_follow_the_umask_or_the_file_replaced(void **state)
{
    place *p = *state;
    struct stat st;
    mode_t before = umask(027);
    save_text(p->target, "a");
    umask(before);
    assert_int_equal(stat(p->target, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(chmod(p->target, 0600), 0);
    save_text(p->target, "b");
    assert_int_equal(stat(p->target, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void a_read_only_file_is_not_replaced(void **state)
{
    place *p = *state;
    gsa_error error;
    if (geteuid() == 0)
        skip(); /* root may write everything */
    put(p->target, "kept");
    assert_int_equal(chmod(p->target, 0444), 0);
    assert_int_equal(open_fails(p->target, &error), GSA_IO);
    assert_content(p->target, "kept", 4);
}

static void a_link_stays_and_its_file_is_replaced(void **state)
{
    place *p = *state;
    char real[600], link[600];
    struct stat st;
    snprintf(real, sizeof real, "%s/real", p->directory);
    snprintf(link, sizeof link, "%s/link", p->directory);
    put(real, "old");
    assert_int_equal(symlink("real", link), 0);
    assert_int_equal(symlink(link, p->target), 0);
    save_text(p->target, "new");
    assert_content(real, "new", 3);
    assert_int_equal(lstat(p->target, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(count_entries(p->directory, false), 3);
}

static void a_dangling_link_gets_its_file(void **state)
{
    place *p = *state;
    char real[600];
    snprintf(real, sizeof real, "%s/real", p->directory);
    assert_int_equal(symlink("real", p->target), 0);
    save_text(p->target, "born");
    assert_content(real, "born", 4);
}

static void links_in_a_circle_fail(void **state)
{
    place *p = *state;
    gsa_error error;
    assert_int_equal(symlink("model", p->target), 0);
    assert_int_equal(open_fails(p->target, &error), GSA_IO);
    assert_int_equal(count_entries(p->directory, false), 1);
}

enum { OTHER_USER = 65534 };

/* Leaves a link of another user at the target and gives its folder an owner and a mode. */
static void plant_link(const place *p, const char *text, uid_t folder_owner, mode_t folder_mode)
{
    assert_int_equal(symlink(text, p->target), 0);
    assert_int_equal(lchown(p->target, OTHER_USER, OTHER_USER), 0);
    assert_int_equal(chown(p->directory, folder_owner, folder_owner), 0);
    assert_int_equal(chmod(p->directory, folder_mode), 0);
}

static void skip_unless_root(void)
{
    if (geteuid() == 0)
        return;
    print_message("SKIPPED: only root can leave a link of another user\n");
    skip();
}

static void a_link_of_another_user_in_a_shared_folder_is_refused(void **state)
{
    static const struct {
        uid_t owner;
        mode_t mode;
    } folders[] = {{0, 01777}, {0, 0777}, {0, 0775}, {OTHER_USER, 0755}, {OTHER_USER, 01777}};
    place *p = *state;
    char victim[600];
    gsa_error error;
    skip_unless_root();
    snprintf(victim, sizeof victim, "%s/victim", p->directory);
    put(victim, "mine");
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        for (int is_dangling = 0; is_dangling < 2; is_dangling++) {
            plant_link(p, is_dangling ? "absent" : victim, folders[i].owner, folders[i].mode);
            assert_int_equal(open_fails(p->target, &error), GSA_IO);
            assert_non_null(strstr(error.message, "the symbolic link model belongs to another user"));
            assert_int_equal(unlink(p->target), 0);
        }
    assert_content(victim, "mine", 4);
    assert_int_equal(count_entries(p->directory, false), 1);
}

static void a_link_of_another_user_to_a_device_is_refused(void **state)
{
    place *p = *state;
    gsa_error error;
    skip_unless_root();
    plant_link(p, "/dev/null", 0, 01777);
    assert_int_equal(open_fails(p->target, &error), GSA_IO);
}

static void a_directory_link_of_another_user_in_a_shared_folder_is_refused(void **state)
{
    place *p = *state;
    char path[600];
    gsa_error error;
    skip_unless_root();
    plant_link(p, "/tmp", 0, 01777);
    snprintf(path, sizeof path, "%s/gsa-atomic-never-made", p->target);
    assert_int_equal(open_fails(path, &error), GSA_IO);
    assert_non_null(strstr(error.message, "the symbolic link model belongs to another user"));
}

/* A link of the user that leads to one of another user is no way around. */
static void a_link_behind_a_link_is_checked_too(void **state)
{
    place *p = *state;
    char own[600];
    gsa_error error;
    skip_unless_root();
    plant_link(p, "absent", 0, 01777);
    snprintf(own, sizeof own, "%s/own", p->directory);
    assert_int_equal(symlink("model", own), 0);
    assert_int_equal(open_fails(own, &error), GSA_IO);
    assert_int_equal(count_entries(p->directory, false), 2);
}

static void links_that_only_trusted_users_can_make_are_followed(void **state)
{
    place *p = *state;
    char real[600];
    skip_unless_root();
    snprintf(real, sizeof real, "%s/real", p->directory);
    plant_link(p, "real", 0, 0755); /* another user's, in a folder of our own */
    save_text(p->target, "first");
    assert_content(real, "first", 5);
    assert_int_equal(lchown(p->target, 0, 0), 0);
    assert_int_equal(chmod(p->directory, 01777), 0); /* our own, in a shared folder */
    save_text(p->target, "second");
    assert_content(real, "second", 6);
}

static void a_directory_link_that_only_the_owner_of_its_folder_can_make_is_followed(void **state)
{
    place *p = *state;
    char path[700], real[600];
    skip_unless_root();
    plant_link(p, ".", OTHER_USER, 0755);
    snprintf(path, sizeof path, "%s//real", p->target);
    snprintf(real, sizeof real, "%s/real", p->directory);
    save_text(path, "through");
    assert_content(real, "through", 7);
}

static void a_descriptor_by_its_number_is_written(void **state)
{
    place *p = *state;
    char path[64], got[8] = {0};
    int ends[2];
    if (access("/dev/fd/0", F_OK) != 0)
        skip();
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    save_text(path, "piped");
    assert_int_equal(read(ends[0], got, sizeof got), 5);
    assert_string_equal(got, "piped");
    close(ends[0]);
    close(ends[1]);
    int fd = open(p->target, O_RDWR | O_CREAT, 0600);
    assert_int_equal(unlink(p->target), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    save_text(path, "unnamed");
    assert_int_equal(pread(fd, got, sizeof got, 0), 7);
    close(fd);
    assert_int_equal(count_entries(p->directory, false), 0);
}

static void names_up_to_the_longest_work(void **state)
{
    place *p = *state;
    char path[512];
    gsa_error error;
    size_t start = (size_t)snprintf(path, sizeof path, "%s/", p->directory);
    memset(path + start, 'n', 256);
    path[start + 255] = '\0';
    save_text(path, "long");
    assert_content(path, "long", 4);
    path[start + 255] = 'n';
    path[start + 256] = '\0';
    assert_int_equal(open_fails(path, &error), GSA_IO);
    assert_int_equal(count_entries(p->directory, false), 1);
}

static void places_that_cannot_be_written_are_named(void **state)
{
    place *p = *state;
    gsa_error error;
    char path[600];
    assert_int_equal(open_fails(p->directory, &error), GSA_IO);
    assert_non_null(strstr(error.message, "directory"));
    snprintf(path, sizeof path, "%s/missing/model", p->directory);
    assert_int_equal(open_fails(path, &error), GSA_IO);
    assert_non_null(strstr(error.message, "its directory does not exist"));
    snprintf(path, sizeof path, "%s/missing/", p->directory);
    assert_int_equal(open_fails(path, &error), GSA_IO);
    put(p->target, "a file");
    snprintf(path, sizeof path, "%s/under", p->target);
    assert_int_equal(open_fails(path, &error), GSA_IO);
    assert_int_equal(open_fails("", &error), GSA_IO);
    assert_int_equal(count_entries(p->directory, false), 1);
}

static void a_full_device_is_reported_with_path_and_reason(void **state)
{
    (void)state;
    gsai_atomic_file *file;
    gsa_error error;
    static const char filler[70000];
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(gsai_atomic_file_open("/dev/full", NULL, &file, &error), GSA_OK);
    assert_int_equal(gsai_atomic_file_write(file, "x", 1, &error), GSA_OK);
    assert_int_equal(gsai_atomic_file_commit(file, &error), GSA_IO);
    assert_non_null(strstr(error.message, "/dev/full"));
    assert_non_null(strstr(error.message, strerror(ENOSPC)));
    assert_int_equal(gsai_atomic_file_open("/dev/full", NULL, &file, &error), GSA_OK);
    assert_int_equal(gsai_atomic_file_write(file, filler, sizeof filler, &error), GSA_IO);
    gsai_atomic_file_discard(file);
}

/* A limit on the file's size stands in for a full disk: write is short first and then fails. */
static void a_disk_that_fills_up_leaves_nothing(void **state)
{
    place *p = *state;
    gsa_error error;
    gsai_atomic_file *file;
    struct rlimit before, small;
    static const char filler[100000];
    put(p->target, "old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 50000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    gsa_status opened = gsai_atomic_file_open(p->target, NULL, &file, &error);
    gsa_status written = opened == GSA_OK ? gsai_atomic_file_write(file, filler, sizeof filler, &error) : opened;
    gsa_status committed = opened == GSA_OK ? gsai_atomic_file_commit(file, NULL) : opened;
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(opened, GSA_OK);
    assert_int_equal(written, GSA_IO);
    assert_int_equal(committed, GSA_IO);
    assert_non_null(strstr(error.message, p->target));
    assert_non_null(strstr(error.message, strerror(EFBIG)));
    assert_content(p->target, "old", 3);
    assert_int_equal(count_entries(p->directory, false), 1);
}

static void a_pipe_by_name_is_written_directly(void **state)
{
    place *p = *state;
    gsai_atomic_file *file;
    char got[8] = {0};
    assert_int_equal(mkfifo(p->target, 0600), 0);
    int reader = open(p->target, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(gsai_atomic_file_open(p->target, NULL, &file, NULL), GSA_OK);
    assert_int_equal(gsai_atomic_file_write(file, "piped", 5, NULL), GSA_OK);
    assert_int_equal(gsai_atomic_file_commit(file, NULL), GSA_OK);
    assert_int_equal(read(reader, got, sizeof got), 5);
    assert_string_equal(got, "piped");
    close(reader);
    assert_int_equal(count_entries(p->directory, false), 1);
}

/* Runs `text` through "-" with standard output replaced by `fd`. */
static gsa_status write_stdout(int fd, const char *text, gsa_error *error)
{
    gsai_atomic_file *file;
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    dup2(fd, STDOUT_FILENO);
    gsa_status status = gsai_atomic_file_open("-", NULL, &file, error);
    if (status == GSA_OK) {
        status = gsai_atomic_file_write(file, text, strlen(text), error);
        status = status == GSA_OK ? gsai_atomic_file_commit(file, error) : status;
    }
    bool still_open = fcntl(STDOUT_FILENO, F_GETFD) != -1;
    dup2(saved, STDOUT_FILENO);
    close(saved);
    assert_true(still_open);
    return status;
}

static void a_dash_is_standard_output(void **state)
{
    place *p = *state;
    gsa_error error;
    int fd = open(p->target, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write_stdout(fd, "out", &error), GSA_OK);
    close(fd);
    assert_content(p->target, "out", 3);
    assert_int_equal(count_entries(p->directory, false), 1);
}

/* Whoever shares the pipe may have made it non-blocking: what does not fit waits for the reader, and all of it arrives.
 */
static void a_pipe_that_would_block_is_waited_for(void **state)
{
    (void)state;
    enum { SIZE = 300000 };
    int ends[2], code = -1;
    char *text = calloc(SIZE + 1, 1);
    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < SIZE; i++)
        text[i] = (char)('a' + i % 26);
    pid_t reader = fork();
    if (reader == 0) {
        size_t n = 0, wrong = 0;
        char got[4096];
        close(ends[1]);
        poll(NULL, 0, 50); /* until the pipe is full */
        for (ssize_t now; (now = read(ends[0], got, sizeof got)) > 0; n += (size_t)now)
            wrong += memcmp(got, text + n, (size_t)now) != 0;
        _exit(n == SIZE && wrong == 0 ? 0 : 1);
    }
    close(ends[0]);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    gsa_error error = {0};
    assert_int_equal(write_stdout(ends[1], text, &error), GSA_OK);
    close(ends[1]);
    assert_int_equal(waitpid(reader, &code, 0), reader);
    assert_int_equal(code, 0);
    free(text);
}

static void a_reader_that_went_away_is_an_error(void **state)
{
    (void)state;
    int ends[2];
    gsa_error error = {0};
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    gsa_status status = write_stdout(ends[1], "lost", &error);
    close(ends[1]);
    signal(SIGPIPE, SIG_DFL);
    assert_int_equal(status, GSA_IO);
    assert_non_null(strstr(error.message, "standard output"));
    assert_non_null(strstr(error.message, strerror(EPIPE)));
}

static void every_allocation_may_fail(void **state)
{
    place *p = *state;
    gsa_error error;
    assert_int_equal(symlink("real", p->target), 0);
    int failures = 0;
    for (size_t n = 0;; n++) {
        failing memory = {n, 0};
        gsai_env env = failing_env(&memory);
        gsai_atomic_file *file;
        gsa_status status = gsai_atomic_file_open(p->target, &env, &file, &error);
        if (status == GSA_OK) {
            gsai_atomic_file_discard(file);
            assert_int_equal(memory.live, 0);
            break;
        }
        failures++;
        assert_int_equal(status, GSA_MEMORY);
        assert_int_equal(memory.live, 0);
        assert_int_equal(count_entries(p->directory, false), 1);
    }
    assert_true(failures >= 1);
}

/* Hands out one block for whatever is large: the same address, so the same temporary name, twice. */
static void *same_block(void *ctx, size_t size)
{
    return size > 60000 ? ctx : malloc(size);
}

static void same_block_release(void *ctx, void *memory)
{
    if (memory != ctx)
        free(memory);
}

static void a_temporary_name_that_is_taken_is_left_alone(void **state)
{
    place *p = *state;
    void *block = malloc(100000);
    gsai_env env = {.memory = {sizeof(gsa_memory), same_block, same_block, NULL, same_block_release, block, NULL}};
    gsai_atomic_file *file;
    char taken[1024] = "";
    assert_int_equal(gsai_atomic_file_open(p->target, &env, &file, NULL), GSA_OK);
    DIR *d = opendir(p->directory);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));)
        if (strlen(entry->d_name) > 2)
            snprintf(taken, sizeof taken, "%s/%s", p->directory, entry->d_name);
    closedir(d);
    gsai_atomic_file_discard(file);
    put(taken, "somebody else's");
    assert_int_equal(gsai_atomic_file_open(p->target, &env, &file, NULL), GSA_OK);
    assert_int_equal(count_entries(p->directory, false), 2);
    assert_int_equal(gsai_atomic_file_commit(file, NULL), GSA_OK);
    assert_content(taken, "somebody else's", 15);
    free(block);
}

static int stop_now(void *ctx)
{
    (void)ctx;
    return 1;
}

static void on_alarm(int number)
{
    (void)number;
}

/* Nobody reads the pipe: the write blocks until the alarm interrupts it, and then should_stop is asked. */
static void an_interrupted_write_asks_whether_to_stop(void **state)
{
    place *p = *state;
    gsai_atomic_file *file;
    gsa_error error;
    gsai_env env = {ENV_SIZES};
    env.call.should_stop = stop_now;
    static const char filler[300000];
    struct sigaction action = {.sa_handler = on_alarm};
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(mkfifo(p->target, 0600), 0);
    int reader = open(p->target, O_RDONLY | O_NONBLOCK);
    assert_int_equal(gsai_atomic_file_open(p->target, &env, &file, &error), GSA_OK);
    alarm(1);
    assert_int_equal(gsai_atomic_file_write(file, filler, sizeof filler, &error), GSA_STOPPED);
    gsai_atomic_file_discard(file);
    close(reader);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(pieces_of_every_size_arrive_in_order),
        IN_PLACE(an_empty_file_can_be_written),
        IN_PLACE(nothing_stands_under_the_name_before_commit),
        IN_PLACE(discard_keeps_the_old_file),
        IN_PLACE(two_writers_of_one_name_do_not_meet),
        IN_PLACE(a_name_without_directory_goes_to_the_current_one),
        IN_PLACE(rights_follow_the_umask_or_the_file_replaced),
        IN_PLACE(a_read_only_file_is_not_replaced),
        IN_PLACE(a_link_stays_and_its_file_is_replaced),
        IN_PLACE(a_dangling_link_gets_its_file),
        IN_PLACE(links_in_a_circle_fail),
        IN_PLACE(a_link_of_another_user_in_a_shared_folder_is_refused),
        IN_PLACE(a_link_of_another_user_to_a_device_is_refused),
        IN_PLACE(a_directory_link_of_another_user_in_a_shared_folder_is_refused),
        IN_PLACE(a_link_behind_a_link_is_checked_too),
        IN_PLACE(links_that_only_trusted_users_can_make_are_followed),
        IN_PLACE(a_directory_link_that_only_the_owner_of_its_folder_can_make_is_followed),
        IN_PLACE(a_descriptor_by_its_number_is_written),
        IN_PLACE(names_up_to_the_longest_work),
        IN_PLACE(places_that_cannot_be_written_are_named),
        IN_PLACE(a_full_device_is_reported_with_path_and_reason),
        IN_PLACE(a_disk_that_fills_up_leaves_nothing),
        IN_PLACE(a_pipe_by_name_is_written_directly),
        IN_PLACE(a_dash_is_standard_output),
        IN_PLACE(a_pipe_that_would_block_is_waited_for),
        IN_PLACE(a_reader_that_went_away_is_an_error),
        IN_PLACE(every_allocation_may_fail),
        IN_PLACE(a_temporary_name_that_is_taken_is_left_alone),
        IN_PLACE(an_interrupted_write_asks_whether_to_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
