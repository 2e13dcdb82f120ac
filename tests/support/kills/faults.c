/* Every change that a program makes below one folder, counted over all of its processes; the n-th one fails or is the last.

   cc -shared -fPIC -O2 -o faults.so faults.c -ldl

   Preloaded into a Python that runs the command line. Git, and the processes of the fleet, which the program starts with an
   environment of their own, get it by their execve. AGENTFORGE_FAULTS names a file of the size of `struct control`, which all of
   them share; `tests/support/kills/faults.py` writes and reads it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum mode { TRACE, KILLED, TORN, FULL, ONCE, CHILD };

struct control {
    _Atomic uint32_t armed, count, fired;
    uint32_t at, mode, server;
    char root[PATH_MAX], trace[PATH_MAX], struck[PATH_MAX + 16];
};

static struct control *control;
static char library[PATH_MAX], named[PATH_MAX];
static __thread int rest = -1; /* the descriptor whose next write finds no room, after half of one was taken */

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("AGENTFORGE_FAULTS"), *preloaded = getenv("LD_PRELOAD");
    if (!path || !preloaded) return;
    snprintf(library, sizeof library, "LD_PRELOAD=%s", preloaded);
    snprintf(named, sizeof named, "AGENTFORGE_FAULTS=%s", path);
    int file = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    void *mapped = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    syscall(SYS_close, file);
    if (mapped != MAP_FAILED) control = mapped;
}

static int below(const char *path) {
    size_t length = strlen(control->root);
    return !strncmp(path, control->root, length) && path[length] == '/';
}

static int path_of(int descriptor, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
    return length > 0;
}

static int absolute(int folder, const char *path, char *found) {
    char base[PATH_MAX];
    if (path[0] == '/') return snprintf(found, PATH_MAX, "%s", path) > 0;
    if (folder == AT_FDCWD) {
        if (syscall(SYS_getcwd, base, sizeof base) < 0) return 0;
    } else if (!path_of(folder, base))
        return 0;
    return snprintf(found, PATH_MAX, "%s/%s", base, path) > 0;
}

static pid_t parent_of(pid_t process) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    int file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
    ssize_t length = file < 0 ? -1 : syscall(SYS_read, file, text, sizeof text - 1);
    if (file >= 0) syscall(SYS_close, file);
    if (length <= 0) return 0;
    text[length] = 0;
    char *behind = strrchr(text, ')');
    return behind ? atoi(behind + 4) : 0;
}

static void die(void) {
    pid_t process = getpid(), parent = parent_of(process);
    while (control->mode != CHILD && parent > 1 && parent != (pid_t)control->server) process = parent, parent = parent_of(process);
    kill(process, SIGKILL);
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static void told(const char *call, const char *path) {
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%d %s %s\n", getpid(), call, path);
    int file = syscall(SYS_openat, AT_FDCWD, control->trace, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    syscall(SYS_write, file, line, (size_t)length);
    syscall(SYS_close, file);
}

/* What becomes of a change: 0 it is made, ENOSPC it fails, -1 half of it is made (and then, if it is torn, the process dies).
   `frees`: it needs no room, so that a full disk takes it. */
static int due(const char *call, const char *path, int writes, int frees) {
    if (!control || !control->armed || !below(path)) return 0;
    uint32_t number = atomic_fetch_add(&control->count, 1) + 1;
    if (control->mode == TRACE) told(call, path);
    if (!control->at || number < control->at) return 0;
    if (control->fired) return control->mode == FULL && !frees && strcmp(call, "sync") && strcmp(call, "rename") ? ENOSPC : 0;
    if (control->mode == TORN ? !writes : frees && (control->mode == FULL || control->mode == ONCE)) return 0; /* the next one, then */
    control->fired = 1;
    snprintf(control->struck, sizeof control->struck, "%s %s", call, path);
    if (control->mode == KILLED || control->mode == CHILD) die();
    size_t length = strlen(path);
    if (length > 6 && !strcmp(path + length - 6, "/lease")) return ENOSPC; /* it lies within a page: wholly taken or not at all */
    return writes ? -1 : ENOSPC;
}

/* Whether a call could do anything at all: nothing is removed that is not there, nothing made twice or in a folder that is missing. */
static int idle(const char *call, const char *path) {
    struct stat at;
    int there = lstat(path, &at) == 0;
    if (!strcmp(call, "unlink") || !strcmp(call, "truncate")) return !there;
    if (there) return !strcmp(call, "mkdir") || !strcmp(call, "link") || !strcmp(call, "symlink");
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *end = strrchr(folder, '/');
    if (end) *end = 0;
    return lstat(folder, &at) != 0;
}

static int refuses(const char *call, int folder, const char *path, int frees) {
    char found[PATH_MAX];
    int saved = errno;
    if (!control || !control->armed || !path || !absolute(folder, path, found)) return 0;
    if (!below(found) || idle(call, found)) {
        errno = saved;
        return 0;
    }
    int error = due(call, found, 0, frees);
    errno = error > 0 ? error : saved;
    return error > 0;
}

static int refuses_open(const char *call, int descriptor, int frees) {
    char found[PATH_MAX];
    int saved = errno;
    if (!control || !control->armed || !path_of(descriptor, found)) return 0;
    int error = due(call, found, 0, frees);
    errno = error > 0 ? error : saved;
    return error > 0;
}

/* How much of `length` bytes is taken: all, half, or -1 with ENOSPC. */
static ssize_t taken(int descriptor, size_t length) {
    char found[PATH_MAX];
    int saved = errno;
    if (!control || !control->armed || !path_of(descriptor, found)) return (ssize_t)length;
    if (rest == descriptor) {
        rest = -1, errno = ENOSPC;
        return -1;
    }
    int fate = due("write", found, 1, 0);
    if (fate > 0 || (fate < 0 && length < 2)) {
        if (fate < 0 && control->mode == TORN) die();
        errno = ENOSPC;
        return -1;
    }
    errno = saved;
    return fate ? (ssize_t)(length / 2) : (ssize_t)length;
}

static void halved(int descriptor, ssize_t took, size_t length) {
    if (took < 0 || (size_t)took >= length) return;
    if (control->mode == TORN) die();
    rest = descriptor;
}

ssize_t write(int descriptor, const void *data, size_t length) {
    ssize_t took = taken(descriptor, length);
    if (took < 0) return -1;
    ssize_t wrote = REAL(write)(descriptor, data, (size_t)took);
    halved(descriptor, took, length);
    return wrote;
}

ssize_t pwrite64(int descriptor, const void *data, size_t length, off64_t place) {
    ssize_t took = taken(descriptor, length);
    if (took < 0) return -1;
    ssize_t wrote = REAL(pwrite64)(descriptor, data, (size_t)took, place);
    halved(descriptor, took, length);
    return wrote;
}
ssize_t pwrite(int descriptor, const void *data, size_t length, off_t place) { return pwrite64(descriptor, data, length, place); }

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    ssize_t took = taken(descriptor, count ? parts[0].iov_len : 0);
    if (took < 0) return -1;
    if (!count || (size_t)took == parts[0].iov_len) return REAL(writev)(descriptor, parts, count);
    ssize_t wrote = REAL(write)(descriptor, parts[0].iov_base, (size_t)took);
    halved(descriptor, took, parts[0].iov_len);
    return wrote;
}

static int makes(int folder, const char *path, int flags) { /* only a file that is not there yet needs room, or one that is emptied */
    struct stat found;
    if (!control || !control->armed) return 0;
    return (flags & O_TRUNC) || ((flags & O_CREAT) && fstatat(folder, path, &found, AT_SYMLINK_NOFOLLOW) != 0);
}

static int opened(int descriptor) { /* another file may get the number of the one that found no room */
    if (descriptor == rest) rest = -1;
    return descriptor;
}

#define OPENED(folder)                                                                 \
    mode_t bits = 0;                                                                   \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                             \
        va_list more;                                                                  \
        va_start(more, flags), bits = va_arg(more, mode_t), va_end(more);              \
    }                                                                                  \
    if (makes(folder, path, flags) && refuses("create", folder, path, 0)) return -1;   \
    return opened((int)syscall(SYS_openat, folder, path, flags, bits))
int open(const char *path, int flags, ...) { OPENED(AT_FDCWD); }
int open64(const char *path, int flags, ...) { OPENED(AT_FDCWD); }
int openat(int folder, const char *path, int flags, ...) { OPENED(folder); }
int openat64(int folder, const char *path, int flags, ...) { OPENED(folder); }
int creat(const char *path, mode_t bits) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, bits); }
int creat64(const char *path, mode_t bits) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, bits); }

int rename(const char *from, const char *to) { return refuses("rename", AT_FDCWD, to, 0) ? -1 : REAL(rename)(from, to); }
int renameat(int a, const char *from, int b, const char *to) { return refuses("rename", b, to, 0) ? -1 : REAL(renameat)(a, from, b, to); }
int link(const char *from, const char *to) { return refuses("link", AT_FDCWD, to, 0) ? -1 : REAL(link)(from, to); }
int linkat(int a, const char *from, int b, const char *to, int flags) { return refuses("link", b, to, 0) ? -1 : REAL(linkat)(a, from, b, to, flags); }
int symlink(const char *from, const char *to) { return refuses("symlink", AT_FDCWD, to, 0) ? -1 : REAL(symlink)(from, to); }
int symlinkat(const char *from, int folder, const char *to) { return refuses("symlink", folder, to, 0) ? -1 : REAL(symlinkat)(from, folder, to); }
int mkdir(const char *path, mode_t bits) { return refuses("mkdir", AT_FDCWD, path, 0) ? -1 : REAL(mkdir)(path, bits); }
int mkdirat(int folder, const char *path, mode_t bits) { return refuses("mkdir", folder, path, 0) ? -1 : REAL(mkdirat)(folder, path, bits); }
int unlink(const char *path) { return refuses("unlink", AT_FDCWD, path, 1) ? -1 : REAL(unlink)(path); }
int unlinkat(int folder, const char *path, int flags) { return refuses("unlink", folder, path, 1) ? -1 : REAL(unlinkat)(folder, path, flags); }
int rmdir(const char *path) { return refuses("unlink", AT_FDCWD, path, 1) ? -1 : REAL(rmdir)(path); }
int truncate(const char *path, off_t size) { return refuses("truncate", AT_FDCWD, path, 1) ? -1 : REAL(truncate)(path, size); }
int ftruncate(int descriptor, off_t size) { return refuses_open("truncate", descriptor, 1) ? -1 : REAL(ftruncate)(descriptor, size); }
int ftruncate64(int descriptor, off64_t size) { return refuses_open("truncate", descriptor, 1) ? -1 : REAL(ftruncate64)(descriptor, size); }
int fsync(int descriptor) { return refuses_open("sync", descriptor, 0) ? -1 : REAL(fsync)(descriptor); }
int fdatasync(int descriptor) { return refuses_open("sync", descriptor, 0) ? -1 : REAL(fdatasync)(descriptor); }

/* Git and the fleet's processes are started with an environment that does not name this library. */
static int ours(const char *path, char *const *arguments) {
    const char *name = strrchr(path, '/');
    if (!strcmp(name ? name + 1 : path, "git")) return 1;
    for (; *arguments; arguments++)
        if (!strncmp(*arguments, "agentforge.fleet", 16)) return 1;
    return 0;
}

int execve(const char *path, char *const arguments[], char *const environment[]) {
    int count = 0, there = 0;
    for (; environment[count]; count++) there |= !strncmp(environment[count], "LD_PRELOAD=", 11);
    if (!control || there || !ours(path, arguments)) return REAL(execve)(path, arguments, environment);
    char *more[count + 3];
    memcpy(more, environment, sizeof(char *) * (size_t)count);
    more[count] = library, more[count + 1] = named, more[count + 2] = NULL;
    return REAL(execve)(path, arguments, more);
}
