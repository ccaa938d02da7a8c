// SPDX-License-Identifier: MIT
#include "capture_options.h"
#include "common/messages.h"

#include <stdio.h>
#include <string.h>

const struct option capture_option_table[] = {
    OPTION_GROUP("Debug information"),
    {"debug-dir", "DIR", "separate debug information is below DIR (default /usr/lib/debug)",
     option_to_list, offsetof(struct capture_options, debug_dirs)},
    {"rtos", "KERNEL",
     "threads of this kernel: a name (`pugmark threads --kernels`), a description's FILE, flow: by "
     "program flow alone, off (default: the kernel that the program has)",
     option_string, offsetof(struct capture_options, rtos)},
};
const size_t capture_option_count = sizeof(capture_option_table) / sizeof(capture_option_table[0]);

struct pug_names *capture_names(const struct input_options *input,
                                const struct capture_options *options)
{
    const struct pug_names_options wanted = {
        .symfs = input->symfs,
        .symdirs = input->symdirs.items,
        .symdir_count = input->symdirs.count,
        .debug_dirs = options->debug_dirs.items,
        .debug_dir_count = options->debug_dirs.count,
    };
    struct pug_names *names = pug_names_new(&wanted);
    if (!names)
        message_say("pugmark: out of memory\n");
    return names;
}

void capture_names_end(struct pug_names *names)
{
    struct pug_read_failure failure;
    if (pug_names_failure(names, &failure) && failure.status == PUG_ERR_FILE) {
        message_say("pugmark: %s: %s: names of its code are not known\n", failure.path,
                    strerror(failure.reason));
        input_lose();
    }
    const char *overfull = pug_names_left_out(names);
    if (overfull)
        message_say(
            "pugmark: %s: its debug information says more than a file of its size should: some "
            "lines and inlined functions are not known\n",
            overfull);
    pug_names_free(names);
}
