// SPDX-License-Identifier: MIT
/** @file Any bytes as an ELF file: for program memory and symbols, and for functions and lines. */
#include "driver.h"
#include "files.h"
#include "pugmark/advanced/image.h"
#include "pugmark/pugmark.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
    struct pug_image *image = pug_image_new();
    struct pug_symbol symbol;
    uint8_t bytes[64];
    const struct pug_reader_space reader = {.space = PUG_SPACE_ANY};
    fuzz_write("a.elf", data, size);
    if (image && pug_image_add_elf(image, &anywhere, fuzz_place("a.elf"), 0) == PUG_OK) {
        struct pug_image_range range;
        for (size_t n = 0; n < 64 && pug_image_range(image, n, &range); n++) {
            (void)pug_image_read(image, &reader, range.start, bytes, sizeof(bytes));
            (void)pug_image_read(image, &reader, range.end, bytes, sizeof(bytes));
            (void)pug_image_symbol(image, range.start, &symbol);
        }
        for (size_t n = 0; n < 4096 && pug_image_symbol_at(image, n, &symbol); n++)
            continue;
        (void)pug_image_hash(image);
    }
    pug_image_free(image);
    struct pug_names *names = pug_names_new(&(struct pug_names_options){0});
    struct pug_names_file *file = NULL;
    const struct pug_names_wanted wanted = {.path = "a.elf", .file = fuzz_place("a.elf")};
    if (names && pug_names_open(names, &wanted, &file) == PUG_OK && file) {
        struct pug_names_function function;
        struct pug_names_line line;
        struct pug_names_variable variable;
        struct pug_names_code code;
        for (size_t n = 0; n < 16 && pug_names_code_at(file, n, &code); n++) {
            (void)pug_names_function(file, code.start, &function);
            (void)pug_names_line(file, code.start, &line);
            (void)pug_names_variable(file, code.start, &variable);
        }
    }
    pug_names_free(names);
    return 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    return fuzz_load(rec_random_once_in(random, 2) ? "examples/crash/crash"
                                                   : "examples/crash/crash.mended",
                     data, room);
}
