// SPDX-License-Identifier: MIT
/**
 * @file Names of addresses, looked up again and again at random places of a program's code.
 *
 *     names_bench [PROGRAM] [LOOKUPS]
 *
 * The first round reads what it needs; the second one counts (docs/performance.md). PROGRAM: an ELF
 * file, best with debug information; without one this benchmark's own file.
 */
#include "bench.h"

#include "recorder/bytes.h"

struct code {
    uint64_t start, end;
};

static struct code code_of(const struct pug_names_file *file)
{
    const struct pug_names_segment *segments;
    const size_t count = pug_names_segments(file, &segments);
    struct code code = {0, 0};
    for (size_t n = 0; n < count; n++)
        if (segments[n].executable)
            code = (struct code){segments[n].vaddr, segments[n].vaddr + segments[n].size};
    return code;
}

enum what { FUNCTION, LINE, FRAMES, IMAGE_LINE, IMAGE_FRAMES, WHATS };

/** The program, as its own names have it and as memory. */
struct program {
    struct pug_names *names;
    struct pug_names_file *file;
    struct pug_image *image;
};

/** True: something is known of the address. */
static bool look_up(const struct program *program, enum what what, uint64_t at)
{
    struct pug_names_function function;
    struct pug_names_line line;
    struct pug_names_frame frames[16];
    switch (what) {
    case FUNCTION: return pug_names_function(program->file, at, &function);
    case LINE: return pug_names_line(program->file, at, &line);
    case FRAMES: return pug_names_frames(program->file, at, frames, 16) > 0;
    case IMAGE_LINE: return pug_image_line(program->image, NULL, at, program->names, &line, NULL);
    default:
        return pug_image_frames(program->image, NULL, at, program->names, frames, 16, NULL) > 0;
    }
}

/** How many of the lookups found something. */
static unsigned long round_of(const struct program *program, const struct code *code,
                              enum what what, unsigned long lookups)
{
    struct rec_random random = {.state = 7};
    unsigned long found = 0;
    for (unsigned long i = 0; i < lookups; i++) {
        const uint64_t at =
            (code->start + rec_random(&random) % (code->end - code->start)) & ~UINT64_C(3);
        found += look_up(program, what, at);
    }
    return found;
}

int main(int argc, char **argv)
{
    const struct bench_arguments arguments = bench_begin(argc, argv, "[PROGRAM] [LOOKUPS]");
    static const char *const whats[WHATS] = {"functions", "lines", "frames", "image lines",
                                             "image frames"};
    const char *path = bench_text(&arguments, 1, "/proc/self/exe");
    const unsigned long lookups = bench_number(&arguments, 2, 1000000);
    struct program program = {.names = pug_names_new(NULL), .image = pug_image_new()};
    if (!program.names || !program.image ||
        pug_image_add_elf(program.image, NULL, path, 0) != PUG_OK ||
        pug_names_open(program.names, &(struct pug_names_wanted){.path = path, .file = path},
                       &program.file) != PUG_OK) {
        printf("(%s cannot be read, or this build has no libelf)\n", path);
        return 0;
    }
    const struct code code = code_of(program.file);
    printf("%s: %llu bytes of code\n", path, (unsigned long long)(code.end - code.start));
    for (unsigned what = 0; what < WHATS && code.end > code.start; what++) {
        double seconds[2];
        unsigned long found = 0;
        for (unsigned i = 0; i < 2; i++) {
            const double start = bench_seconds();
            found = round_of(&program, &code, (enum what)what, lookups);
            seconds[i] = bench_seconds() - start;
        }
        printf("%-12s %8.2f million a second (%.2f in the first round), %lu of %lu found\n",
               whats[what], (double)lookups / seconds[1] / 1e6, (double)lookups / seconds[0] / 1e6,
               found, lookups);
    }
    pug_names_free(program.names);
    pug_image_free(program.image);
    return 0;
}
