// SPDX-License-Identifier: MIT
#include "recorder/qemu.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PLUGIN    "libpugmark_record.so"
#define ARGUMENTS 4096u

bool rec_qemu_find(const char *name, char *path, size_t size)
{
    const char *folders = strchr(name, '/') ? NULL : getenv("PATH");
    if (!folders)
        return snprintf(path, size, "%s", name) < (int)size && access(path, R_OK) == 0;
    while (*folders) {
        size_t length = strcspn(folders, ":");
        int wrote = snprintf(path, size, "%.*s/%s", (int)length, folders, name);
        if (length > 0 && wrote < (int)size && access(path, X_OK) == 0)
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

/** The plugin: beside this program's libraries, or where it was installed. */
static bool find_plugin(char *path, size_t size)
{
    static const char *const places[] = {"/../lib/" PLUGIN, "/../lib/pugmark/" PLUGIN,
#ifdef PUG_PLUGIN_FOLDER
                                         "/../" PUG_PLUGIN_FOLDER "/" PLUGIN
#endif
    };
    char self[3072];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length <= 0)
        return false;
    self[length] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (snprintf(path, size, "%s%s", self, places[i]) < (int)size && access(path, R_OK) == 0)
            return true;
    return false;
}

/** Do the arguments of QEMU say how it executes? */
static bool chooses_accelerator(char **argv)
{
    for (; *argv; argv++)
        if (strstr(*argv, "-accel") || strstr(*argv, "accel="))
            return true;
    return false;
}

/** In the child: become QEMU. */
static void become(const struct rec_qemu *qemu, const char *emulator, const char *plugin, int path)
{
    static char *arguments[ARGUMENTS];
    static char root[] = "-L", plug[] = "-plugin", end[] = "--";
    static char accelerator[] = "-accel", single[] = "tcg,thread=single", step[] = "-singlestep";
    char load[8192];
    unsigned n = 0;
    snprintf(load, sizeof(load), "%s,fd=%d%s%s%s", plugin, path, qemu->data ? ",data=1" : "",
             qemu->children ? ",children=" : "", qemu->children ? qemu->children : "");
    arguments[n++] = (char *)emulator;
    if (qemu->sysroot) {
        arguments[n++] = root;
        arguments[n++] = (char *)qemu->sysroot;
    }
    arguments[n++] = plug;
    arguments[n++] = load;
    if (!qemu->machine)
        arguments[n++] = end;
    /* The log of exceptions is one for all processors; where they take turns it is in order. */
    if (qemu->machine && !chooses_accelerator(qemu->argv)) {
        arguments[n++] = accelerator;
        arguments[n++] = single;
    }
    if (qemu->machine && qemu->single)
        arguments[n++] = step;
    for (char **argument = qemu->argv + qemu->machine; *argument && n + 1 < ARGUMENTS; argument++)
        arguments[n++] = *argument;
    execvp(emulator, arguments);
    fprintf(stderr, "pugmark: cannot run %s: %s\n", emulator, strerror(errno));
    _exit(127);
}

static volatile pid_t running; /* 0: nothing */

/** Whoever wants this to end wants the program to: then there is its trace up to here. */
static void forward(int signal)
{
    if (running > 0)
        kill(running, signal);
}

static void forward_signals(pid_t pid)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = forward, .sa_flags = SA_RESTART}, before;
    running = pid;
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

bool rec_qemu_start(struct rec_qemu *qemu, const char *machine, char *why, size_t size)
{
    char emulator[4096], found[4096], plugin[4096];
    int ends[2];
    if (qemu->machine || qemu->qemu)
        snprintf(emulator, sizeof(emulator), "%s", qemu->machine ? qemu->argv[0] : qemu->qemu);
    else
        snprintf(emulator, sizeof(emulator), "qemu-%s", machine);
    if (!rec_qemu_find(emulator, found, sizeof(found))) {
        snprintf(why, size, "there is no %.200s here: Debian has it in qemu-%s", emulator,
                 qemu->machine ? "system-arm and qemu-system-misc" : "user");
        return false;
    }
    if (qemu->plugin)
        snprintf(plugin, sizeof(plugin), "%s", qemu->plugin);
    else if (!find_plugin(plugin, sizeof(plugin))) {
        snprintf(why, size, "cannot find " PLUGIN "; --plugin says where it is");
        return false;
    }
    if (pipe(ends) != 0) {
        snprintf(why, size, "%s", strerror(errno));
        return false;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fflush(NULL);
    qemu->pid = fork();
    if (qemu->pid == 0)
        become(qemu, found, plugin, ends[1]);
    close(ends[1]);
    qemu->path = ends[0];
    if (qemu->pid > 0) {
        forward_signals(qemu->pid);
        return true;
    }
    snprintf(why, size, "%s", strerror(errno));
    close(ends[0]);
    return false;
}

/** Has it ended within so many milliseconds? It stays to be waited for. */
static bool ends_within(pid_t pid, unsigned milliseconds)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    for (unsigned i = 0; i < milliseconds; i++) {
        siginfo_t info = {.si_pid = 0};
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid)
            return true;
        nanosleep(&moment, NULL);
    }
    return false;
}

int rec_qemu_end(struct rec_qemu *qemu)
{
    close(qemu->path); /* what it still has to say is of no interest */
    kill(qemu->pid, SIGTERM);
    if (!ends_within(qemu->pid, 5000))
        kill(qemu->pid, SIGKILL);
    qemu->path = -1;
    return rec_qemu_wait(qemu);
}

int rec_qemu_wait(struct rec_qemu *qemu)
{
    int status;
    if (qemu->path >= 0)
        close(qemu->path);
    while (waitpid(qemu->pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    running = 0;
    return status;
}
