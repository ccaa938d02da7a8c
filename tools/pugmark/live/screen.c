// SPDX-License-Identifier: MIT
#include "screen.h"

#include "files/whole.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef _WIN32

bool screen_is_there(void)
{
    return false;
}

void screen_begin(bool keys)
{
    (void)keys;
}

void screen_end(void)
{
}

void screen_size(unsigned *rows, unsigned *columns)
{
    *rows = 24;
    *columns = 80;
}

int screen_key(int milliseconds)
{
    const struct timespec time = {.tv_sec = milliseconds / 1000,
                                  .tv_nsec = milliseconds % 1000 * 1000000L};
    nanosleep(&time, NULL);
    return 0;
}

void screen_draw(const char *text, size_t size)
{
    (void)pug_write_whole(STDOUT_FILENO, text, size);
}

#else

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

static struct termios old;
static bool begun, reads;

bool screen_is_there(void)
{
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

static void put(const char *text)
{
    (void)pug_write_whole(STDOUT_FILENO, text, strlen(text));
}

/** The other page of the terminal, without a cursor, and keys as they are pressed. */
void screen_begin(bool keys)
{
    reads = keys && isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &old) == 0;
    if (reads) {
        struct termios raw = old;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_cc[VMIN] = 0;
        raw.c_cc[VTIME] = 0;
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    begun = true;
    put("\033[?1049h\033[?25l\033[2J");
}

void screen_end(void)
{
    if (!begun)
        return;
    begun = false;
    put("\033[?25h\033[?1049l");
    if (reads)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &old);
    reads = false;
}

void screen_size(unsigned *rows, unsigned *columns)
{
    struct winsize size;
    *rows = 24;
    *columns = 80;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
        return;
    *rows = size.ws_row;
    *columns = size.ws_col;
}

int screen_key(int milliseconds)
{
    struct pollfd file = {.fd = reads ? STDIN_FILENO : -1, .events = POLLIN};
    unsigned char byte;
    if (poll(&file, 1, milliseconds) <= 0 || read(STDIN_FILENO, &byte, 1) != 1)
        return 0;
    return byte;
}

/** Each line erases the rest of its row; the rest of the page is erased in the end. */
void screen_draw(const char *text, size_t size)
{
    put("\033[H");
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t length = end ? (size_t)(end - (text + at)) : size - at;
        (void)pug_write_whole(STDOUT_FILENO, text + at, length);
        put(at + length + 1 < size ? "\033[K\r\n" : "\033[K");
        at += length + 1;
    }
    put("\033[J");
}

#endif
