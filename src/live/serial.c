// SPDX-License-Identifier: MIT
/**
 * @file Serial lines: 8N1, raw, at any rate that the driver takes. Rates without a constant of
 * termios are set with Linux's termios2.
 */
#include "live/live.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__linux__) && __has_include(<asm/termbits.h>)

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <fcntl.h>

/* <sys/ioctl.h> has structs that <asm/termbits.h> has, too. */
extern int ioctl(int file, unsigned long request, ...);

struct pug_live_line {
    struct termios2 old;
    uint32_t rate;
};

static bool set_up(const struct pug_live_place *place, int file, struct pug_live_line *line,
                   const char **why)
{
    if (ioctl(file, TCGETS2, &line->old) != 0) {
        *why = "not a serial line";
        return false;
    }
    struct termios2 raw = line->old;
    raw.c_iflag = IGNBRK;
    raw.c_oflag = 0;
    raw.c_lflag = 0;
    raw.c_cflag &= ~(unsigned)(CSIZE | PARENB | CSTOPB | CRTSCTS);
    raw.c_cflag |= CS8 | CREAD | CLOCAL;
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (place->baud) {
        raw.c_cflag &= ~(unsigned)(CBAUD | (CBAUD << IBSHIFT));
        raw.c_cflag |= BOTHER | (BOTHER << IBSHIFT);
        raw.c_ispeed = raw.c_ospeed = place->baud;
    }
    line->rate = raw.c_ispeed;
    if (ioctl(file, TCSETS2, &raw) == 0)
        return true;
    *why = "the driver does not take this rate";
    return false;
}

int pug_live_serial(const struct pug_live_place *place, struct pug_live_line **line,
                    const char **why)
{
    *why = NULL;
    const int file = open(place->path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    *line = file >= 0 ? calloc(1, sizeof(**line)) : NULL;
    if (*line && set_up(place, file, *line, why)) {
        (void)fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
        return file;
    }
    const int error = errno;
    free(*line);
    *line = NULL;
    if (file >= 0)
        close(file);
    errno = error;
    return -1;
}

uint32_t pug_live_serial_rate(const struct pug_live_line *line)
{
    return line->rate;
}

void pug_live_serial_end(struct pug_live_line *line, int file)
{
    if (line)
        (void)ioctl(file, TCSETS2, &line->old);
    free(line);
}

#else

int pug_live_serial(const struct pug_live_place *place, struct pug_live_line **line,
                    const char **why)
{
    (void)place;
    *line = NULL;
    *why = "serial lines are not read on this system";
    errno = ENOSYS;
    return -1;
}

uint32_t pug_live_serial_rate(const struct pug_live_line *line)
{
    (void)line;
    return 0;
}

void pug_live_serial_end(struct pug_live_line *line, int file)
{
    (void)line;
    (void)file;
}

#endif
