// SPDX-License-Identifier: MIT
/** @file Sockets: connecting, and waiting for one peer at a time. */
#include "live/live.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#ifdef _WIN32

int pug_live_connect(const struct pug_live_place *place, int stop, const char **why)
{
    (void)place;
    (void)stop;
    *why = "sockets are not read on this system";
    errno = ENOSYS;
    return -1;
}

int pug_live_listen(const struct pug_live_place *place, const char **why)
{
    return pug_live_connect(place, -1, why);
}

void pug_live_set_up(int file)
{
    (void)file;
}

int pug_live_accept(int listener, int stop)
{
    (void)listener;
    (void)stop;
    return -1;
}

#else

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#define CONNECT_MS 10000

void pug_live_set_up(int file)
{
    const int on = 1;
    (void)fcntl(file, F_SETFD, FD_CLOEXEC);
    (void)setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    (void)setsockopt(file, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

/** Wait until a descriptor is ready; false, with errno: it was stopped, or it took too long. */
static bool wait_for(int file, short events, int stop, int timeout)
{
    struct pollfd both[] = {{.fd = file, .events = events}, {.fd = stop, .events = POLLIN}};
    int ready;
    do {
        ready = poll(both, 2, timeout);
    } while (ready < 0 && errno == EINTR && stop < 0);
    if (ready > 0 && !both[1].revents)
        return true;
    errno = ready == 0 ? ETIMEDOUT : EINTR;
    return false;
}

/** connect() that can be stopped. */
static bool connects(int file, const struct sockaddr *address, socklen_t size, int stop)
{
    int error = 0;
    socklen_t length = sizeof(error);
    const int flags = fcntl(file, F_GETFL);
    (void)fcntl(file, F_SETFL, flags | O_NONBLOCK);
    if (connect(file, address, size) != 0) {
        if (errno != EINPROGRESS || !wait_for(file, POLLOUT, stop, CONNECT_MS))
            return false;
        if (getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &length) != 0 || error) {
            errno = error ? error : errno;
            return false;
        }
    }
    (void)fcntl(file, F_SETFL, flags);
    return true;
}

static struct addrinfo *addresses_of(const struct pug_live_place *place, bool passive,
                                     const char **why)
{
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC,
                                    .ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0)};
    struct addrinfo *found = NULL;
    const int failed = getaddrinfo(place->host, place->port, &wanted, &found);
    if (!failed)
        return found;
    *why = failed == EAI_SYSTEM ? NULL : gai_strerror(failed);
    return NULL;
}

static int connect_tcp(const struct pug_live_place *place, int stop, const char **why)
{
    struct addrinfo *all = addresses_of(place, false, why);
    int file = -1, error = errno;
    for (const struct addrinfo *at = all; at && file < 0; at = at->ai_next) {
        file = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
        if (file >= 0 && connects(file, at->ai_addr, at->ai_addrlen, stop))
            break;
        error = errno;
        if (file >= 0)
            close(file);
        file = -1;
        if (error == EINTR)
            break;
    }
    if (all)
        freeaddrinfo(all);
    errno = error;
    return file;
}

static int connect_unix(const struct pug_live_place *place, int stop, const char **why)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(place->path) >= sizeof(address.sun_path)) {
        *why = "the path is too long for a socket";
        return -1;
    }
    memcpy(address.sun_path, place->path, strlen(place->path) + 1);
    const int file = socket(AF_UNIX, SOCK_STREAM, 0);
    if (file < 0 || connects(file, (const struct sockaddr *)&address, sizeof(address), stop))
        return file;
    const int error = errno;
    close(file);
    errno = error;
    return -1;
}

int pug_live_connect(const struct pug_live_place *place, int stop, const char **why)
{
    *why = NULL;
    const int file = place->scheme == PUG_LIVE_UNIX ? connect_unix(place, stop, why)
                                                    : connect_tcp(place, stop, why);
    if (file >= 0)
        pug_live_set_up(file);
    return file;
}

int pug_live_listen(const struct pug_live_place *place, const char **why)
{
    const int on = 1;
    *why = NULL;
    struct addrinfo *all = addresses_of(place, true, why);
    int file = -1, error = errno;
    for (const struct addrinfo *at = all; at && file < 0; at = at->ai_next) {
        file = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
        if (file < 0)
            continue;
        (void)fcntl(file, F_SETFD, FD_CLOEXEC);
        (void)setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        if (bind(file, at->ai_addr, at->ai_addrlen) == 0 && listen(file, 32) == 0)
            break;
        error = errno;
        close(file);
        file = -1;
    }
    if (all)
        freeaddrinfo(all);
    errno = error;
    return file;
}

int pug_live_accept(int listener, int stop)
{
    int file = -1;
    do {
        if (!wait_for(listener, POLLIN, stop, -1))
            return -1;
        file = accept(listener, NULL, NULL);
    } while (file < 0 && (errno == EINTR || errno == ECONNABORTED || errno == EAGAIN));
    if (file >= 0)
        pug_live_set_up(file);
    return file;
}

#endif
