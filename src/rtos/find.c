// SPDX-License-Identifier: MIT
#include "rtos/find.h"

#include "files/infile.h"
#include "pugmark/advanced.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/** Programs of a capture, as its memory has them. */
struct programs {
    struct pug_tree *tree;
    struct pug_names *names;
};

static void programs_open(struct programs *programs, struct pug_capture *capture,
                          struct pug_names *names)
{
    const struct pug_capture_buffer *buffer;
    *programs = (struct programs){.names = names};
    for (size_t n = 0; (buffer = pug_capture_buffer_at(capture, n)) != NULL; n++)
        if (buffer->chosen && buffer->segment_count > 0) {
            (void)pug_capture_tree(capture, buffer->first_segment, false, NULL, &programs->tree);
            return;
        }
}

/** The n-th file of program memory, where it has names; false: there are no more. */
static bool program_at(const struct programs *programs, size_t n, struct pug_names_file **file)
{
    const struct pug_image *image = programs->tree ? pug_tree_image(programs->tree) : NULL;
    struct pug_image_range range;
    *file = NULL;
    if (!image || !pug_image_range(image, n, &range))
        return false;
    const struct pug_names_wanted wanted = {.path = range.path, .file = range.path};
    if (range.path && range.first && pug_names_open(programs->names, &wanted, file) != PUG_OK)
        *file = NULL;
    return true;
}

/** The program that has the kernel, or the first one; NULL: there is none. */
static struct pug_names_file *program_of(const struct programs *programs,
                                         const struct rtos_kernel *kernel)
{
    struct pug_names_file *file;
    for (size_t n = 0; program_at(programs, n, &file); n++)
        if (file && (!kernel || pug_rtos_is_in(kernel, file)))
            return file;
    return NULL;
}

static struct rtos_kernel *read_builtin(const struct rtos_builtin *builtin)
{
    struct rtos_mistake mistake;
    struct rtos_kernel *kernel = NULL;
    (void)pug_rtos_kernel_read(builtin->text, strlen(builtin->text), &kernel, &mistake);
    return kernel;
}

/** Is a kernel called so? The words are of users, in letters of either case. */
static bool is_called(const struct rtos_builtin *builtin, const struct rtos_kernel *kernel,
                      const char *wanted)
{
    return strcasecmp(builtin->name, wanted) == 0 || strcasecmp(kernel->name, wanted) == 0;
}

static void tell(const struct thread_kernel_wanted *wanted, struct thread_kernel_told told)
{
    told.wanted = wanted->wanted;
    if (wanted->tell)
        wanted->tell(wanted->context, &told);
}

/** A description in a file; NULL, having said what is wrong with it. */
static struct rtos_kernel *read_file(const struct thread_kernel_wanted *wanted)
{
    struct rtos_mistake mistake;
    struct rtos_kernel *kernel = NULL;
    uint8_t *text = NULL;
    size_t size = 0;
    enum pug_status status = pug_infile_load(wanted->wanted, RTOS_TEXT_LIMIT, &text, &size);
    if (status != PUG_OK) {
        tell(wanted, (struct thread_kernel_told){.status = status});
        return NULL;
    }
    status = pug_rtos_kernel_read((const char *)text, size, &kernel, &mistake);
    free(text);
    if (status == PUG_ERR_INVALID_PARAM_VAL)
        tell(wanted, (struct thread_kernel_told){.status = status, .mistake = &mistake});
    else if (status != PUG_OK)
        tell(wanted, (struct thread_kernel_told){.status = status});
    return kernel;
}

/** The builtin that is called so, or that a program of the capture has. */
static struct rtos_kernel *find_builtin(const struct programs *programs, const char *wanted)
{
    const struct rtos_builtin *builtin;
    for (size_t n = 0; (builtin = pug_rtos_builtin_at(n)) != NULL; n++) {
        struct rtos_kernel *kernel = read_builtin(builtin);
        if (kernel &&
            (wanted ? is_called(builtin, kernel, wanted) : program_of(programs, kernel) != NULL))
            return kernel;
        pug_rtos_kernel_free(kernel);
    }
    return NULL;
}

/** The kernel that was asked for, or that a program has; false, having said what is wrong. */
static bool choose_kernel(const struct programs *programs,
                          const struct thread_kernel_wanted *wanted, struct thread_kernel *found)
{
    const bool flow = wanted->wanted && strcmp(wanted->wanted, "flow") == 0;
    if (!flow)
        found->kernel = find_builtin(programs, wanted->wanted);
    if (!found->kernel && wanted->wanted && !flow && !(found->kernel = read_file(wanted)))
        return false;
    if (found->kernel && !(found->file = program_of(programs, found->kernel))) {
        tell(wanted, (struct thread_kernel_told){.absent = found->kernel});
        pug_thread_kernel_end(found);
    }
    if (!found->file)
        found->file = program_of(programs, NULL);
    return true;
}

enum thread_kernel_answer pug_thread_kernel_find(const struct thread_kernel_wanted *wanted,
                                                 struct thread_kernel *found)
{
    struct programs programs;
    *found = (struct thread_kernel){.kernel = NULL};
    if (pug_capture_kind(wanted->capture) == PUG_CAPTURE_PERF ||
        (wanted->wanted && strcmp(wanted->wanted, "off") == 0))
        return THREAD_KERNEL_NONE;
    programs_open(&programs, wanted->capture, wanted->names);
    const bool right = choose_kernel(&programs, wanted, found);
    pug_tree_free(programs.tree);
    if (!right)
        return THREAD_KERNEL_WRONG;
    return found->kernel || wanted->wanted ? THREAD_KERNEL_THERE : THREAD_KERNEL_NONE;
}

void pug_thread_kernel_end(struct thread_kernel *found)
{
    pug_rtos_kernel_free(found->kernel);
    found->kernel = NULL;
}
