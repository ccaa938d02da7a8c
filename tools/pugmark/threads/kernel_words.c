// SPDX-License-Identifier: MIT
#include "kernel_words.h"

#include "common/messages.h"
#include "common/suggest.h"
#include "rtos/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/** "pxCurrentTCB, pxReadyTasksLists": what a program of the kernel has. */
static void say_missing(const struct rtos_kernel *kernel)
{
    message_say("pugmark: no program of this input is one of %s, which has the symbols",
                kernel->name);
    for (size_t i = 0; i < kernel->symbols.count; i++)
        message_say(" %s", kernel->symbols.at[i]);
    message_say(": give the firmware's ELF file with --elf; threads are told apart by program flow "
                "alone\n");
}

/** There is no such kernel, and no file of that name. */
static void say_unknown(const struct thread_kernel_told *told)
{
    const struct rtos_builtin *known;
    struct suggestion near;
    suggest_begin(&near, told->wanted);
    for (size_t n = 0; (known = pug_rtos_builtin_at(n)) != NULL; n++)
        suggest_offer(&near, known->name);
    message_say("pugmark: --rtos %s: %s; kernels that are known by name: `pugmark threads "
                "--kernels`%s\n",
                told->wanted,
                told->status == PUG_ERR_FILE ? strerror(errno) : pug_status_text(told->status),
                near.question);
}

void kernel_tell(void *context, const struct thread_kernel_told *told)
{
    (void)context;
    if (told->absent)
        say_missing(told->absent);
    else if (told->mistake)
        message_say("%s:%u:%u: %s (the book has the lines of a description: Threads of a real-time "
                    "kernel)\n",
                    told->wanted, told->mistake->line, told->mistake->column,
                    told->mistake->message);
    else if (told->status == PUG_ERR_MEM)
        message_say("pugmark: --rtos %s: %s\n", told->wanted, pug_status_text(told->status));
    else
        say_unknown(told);
}

struct thread_kernel_wanted kernel_wanted(const struct input *input, struct pug_names *names,
                                          const char *rtos)
{
    return (struct thread_kernel_wanted){
        .capture = input->capture, .names = names, .wanted = rtos, .tell = kernel_tell};
}

bool kernel_choice(const struct input *input, struct pug_names *names, const char *rtos)
{
    const struct input_options *options = input->options;
    const bool chosen =
        input_finds_threads(input) && options->tids.count + options->comms.count > 0;
    struct thread_kernel found = {.kernel = NULL};
    if ((!chosen && !rtos) || pug_capture_kind(input->capture) == PUG_CAPTURE_PERF)
        return true;
    const struct thread_kernel_wanted wanted = kernel_wanted(input, names, rtos);
    const enum thread_kernel_answer answer = pug_thread_kernel_find(&wanted, &found);
    if (answer == THREAD_KERNEL_THERE)
        pug_thread_kernel_end(&found);
    if (chosen && answer == THREAD_KERNEL_NONE)
        message_say("pugmark: %s: no thread %s%s in it; there are none\n", input->trace_path,
                    options->comms.count ? "of the name " : "",
                    options->comms.count ? options->comms.items[0] : options->tids.items[0]);
    return answer == THREAD_KERNEL_THERE || (answer == THREAD_KERNEL_NONE && !chosen);
}

bool kernel_stage(struct input *input, struct thread_stage_options *options,
                  struct thread_stage **stage)
{
    options->tids = input->lists.tids;
    options->tid_count = input->options->tids.count;
    options->comms = input->options->comms.items;
    options->comm_count = input->options->comms.count;
    const enum pug_status status = pug_thread_stage_new(options, stage);
    if (status == PUG_ERR_MEM)
        input_starve(input);
    return status == PUG_OK;
}

void kernel_list(void)
{
    const struct rtos_builtin *builtin;
    for (size_t n = 0; (builtin = pug_rtos_builtin_at(n)) != NULL; n++) {
        struct rtos_mistake mistake;
        struct rtos_kernel *kernel = NULL;
        (void)pug_rtos_kernel_read(builtin->text, strlen(builtin->text), &kernel, &mistake);
        if (!kernel)
            continue;
        printf("%-14s %-14s current thread: %s\n", builtin->name, kernel->name,
               kernel->current.at[0]);
        pug_rtos_kernel_free(kernel);
    }
}
