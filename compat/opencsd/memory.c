// SPDX-License-Identifier: MIT
/** @file Program memory: the client's accessors, over the tree's image. */
#include "base/text.h"
#include "listing/listing.h"
#include "shell.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- what the memory logs ---- */

#define COMPONENT "Gen_Info"
#define PREFIX    COMPONENT " : "

static void log_text(struct shell_tree *tree, enum pug_severity severity, enum pug_status code,
                     const char *text)
{
    pug_log_put(tree->log, &(struct pug_log_record){.severity = severity,
                                                    .code = code,
                                                    .index = PUG_NO_INDEX,
                                                    .source = PUG_NO_SOURCE,
                                                    .component = COMPONENT,
                                                    .text = text});
}

/* ---- callbacks ---- */

/** A client's callback; exactly one of the functions is set. */
struct callback {
    struct callback *next;
    Fn_MemAcc_CB plain;
    Fn_MemAccID_CB with_id;
    const void *context;
    struct shell_tree *tree;
};

/* ---- files ---- */

/**
 * Files are known in the whole process by the path as it was given, with the addresses at which
 * their ranges begin, until the last tree that used them goes.
 */
struct file {
    struct file *next;
    char *path;
    unsigned holders;
    ocsd_file_mem_region_t *regions;
    size_t count;
};

/** A tree's hold on a file. */
struct hold {
    struct hold *next;
    struct file *file;
};

struct shell_memory {
    struct callback *callbacks;
    struct hold *holds;
    bool mapped; /* something was to be added */
};

static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static struct file *files;

static struct file *find_file(const char *path)
{
    struct file *file = files;
    while (file && strcmp(file->path, path) != 0)
        file = file->next;
    return file;
}

static bool starts_at(const struct file *file, ocsd_vaddr_t address)
{
    for (size_t i = 0; i < file->count; i++)
        if (file->regions[i].start_address == address)
            return true;
    return false;
}

static void release_file(struct file *file)
{
    if (--file->holders > 0)
        return;
    struct file **link = &files;
    while (*link != file)
        link = &(*link)->next;
    *link = file->next;
    free(file->path);
    free(file->regions);
    free(file);
}

static struct file *new_file(const char *path, const ocsd_file_mem_region_t *regions, size_t count)
{
    struct file *file = calloc(1, sizeof(*file));
    if (!file)
        return NULL;
    file->path = strdup(path);
    file->regions = malloc(count * sizeof(*regions));
    if (!file->path || !file->regions) {
        free(file->path);
        free(file->regions);
        free(file);
        return NULL;
    }
    memcpy(file->regions, regions, count * sizeof(*regions));
    file->count = count;
    file->next = files;
    files = file;
    return file;
}

/** A file that is known, or NULL: it is made known. NULL: no memory. */
static const struct file *hold_file(struct shell_memory *memory, struct file *file,
                                    const char *path, const ocsd_file_mem_region_t *regions,
                                    size_t count)
{
    struct hold *hold = malloc(sizeof(*hold));
    if (hold && !file)
        file = new_file(path, regions, count);
    if (!hold || !file) {
        free(hold);
        return NULL;
    }
    *hold = (struct hold){.next = memory->holds, .file = file};
    memory->holds = hold;
    file->holders++;
    return file;
}

/** The last that was held. */
static void let_go(struct shell_memory *memory)
{
    struct hold *hold = memory->holds;
    memory->holds = hold->next;
    release_file(hold->file);
    free(hold);
}

/* ---- a tree's memory ---- */

bool shell_memory_new(struct shell_tree *tree)
{
    struct pug_quirks quirks = pug_quirks_reference();
    pug_image_set_quirks(tree->image, &quirks);
    tree->memory = calloc(1, sizeof(*tree->memory));
    return tree->memory != NULL;
}

void shell_memory_free(struct shell_tree *tree)
{
    struct shell_memory *memory = tree->memory;
    if (!memory)
        return;
    while (memory->callbacks) {
        struct callback *next = memory->callbacks->next;
        free(memory->callbacks);
        memory->callbacks = next;
    }
    pthread_mutex_lock(&files_lock);
    while (memory->holds)
        let_go(memory);
    pthread_mutex_unlock(&files_lock);
    free(memory);
}

/* ---- how much callbacks are asked for at a time ---- */

enum page_limit {
    DEFAULT_PAGE = 2048,
    LEAST_PAGE = 64,
    MOST_PAGE = 16384,
    LEAST_PAGES = 4,
    MOST_PAGES = 256
};

/** The size that the environment wants; 0: nothing is kept. */
static uint32_t page_from_environment(void)
{
    if (getenv("OPENCSD_MEMACC_CACHE_OFF"))
        return 0;
    const char *text = getenv("OPENCSD_MEMACC_CACHE_PAGE_SIZE");
    long wish = text ? strtol(text, NULL, 0) : 0;
    if (wish <= 0)
        return DEFAULT_PAGE;
    uint16_t size = (uint16_t)wish; /* as the reference cuts it */
    if (size < LEAST_PAGE)
        return LEAST_PAGE;
    return size > MOST_PAGE ? MOST_PAGE : size;
}

ocsd_err_t ocsd_dt_set_mem_acc_cacheing(const dcd_tree_handle_t handle, const int enable,
                                        const uint16_t page_size, const int nr_pages)
{
    struct shell_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_INVALID_PARAM_VAL;
    if (!tree->memory->mapped)
        return OCSD_ERR_NOT_INIT;
    const char *wrong = NULL;
    if (page_size < LEAST_PAGE)
        wrong = "MemAcc Caching: page size too small";
    else if (page_size > MOST_PAGE)
        wrong = "MemAcc Caching: page size too large";
    else if (nr_pages < LEAST_PAGES)
        wrong = "MemAcc Caching: number of pages too small";
    else if (nr_pages > MOST_PAGES)
        wrong = "MemAcc Caching: number of pages too large";
    if (enable && wrong) {
        log_text(tree, PUG_SEV_ERROR, PUG_ERR_INVALID_PARAM_VAL, wrong);
        return OCSD_ERR_INVALID_PARAM_VAL;
    }
    return shell_error(pug_tree_memory_page(tree->tree, enable ? page_size : 0));
}

/** The first attempt to add something gives the tree a memory, whether it succeeds or not. */
static ocsd_err_t open_memory(struct shell_tree *tree)
{
    if (tree->memory->mapped)
        return OCSD_OK;
    enum pug_status status = pug_tree_memory_page(tree->tree, page_from_environment());
    if (status != PUG_OK)
        return shell_error(status);
    pug_tree_attach_memory(tree->tree, true);
    tree->memory->mapped = true;
    return OCSD_OK;
}

static struct pug_place place_of(ocsd_mem_space_acc_t space)
{
    return (struct pug_place){.space = shell_space(space)};
}

ocsd_err_t ocsd_dt_add_buffer_mem_acc(const dcd_tree_handle_t handle, const ocsd_vaddr_t address,
                                      const ocsd_mem_space_acc_t mem_space,
                                      const uint8_t *p_mem_buffer, const uint32_t mem_length)
{
    struct shell_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_INVALID_PARAM_VAL;
    ocsd_err_t error = open_memory(tree);
    if (error != OCSD_OK)
        return error;
    struct pug_place place = place_of(mem_space);
    return shell_error(
        pug_image_add_buffer(tree->image, &place, address, p_mem_buffer, mem_length));
}

static enum pug_status add_regions(struct shell_tree *tree, const struct pug_place *place,
                                   const char *path, const ocsd_file_mem_region_t *regions,
                                   size_t count)
{
    struct pug_region *list = malloc(count * sizeof(*list));
    if (!list)
        return PUG_ERR_MEM;
    for (size_t i = 0; i < count; i++)
        list[i] = (struct pug_region){.offset = regions[i].file_offset,
                                      .address = regions[i].start_address,
                                      .size = regions[i].region_size};
    enum pug_status status = pug_image_add_file(tree->image, place, path, list, count);
    free(list);
    return status;
}

/** Under the files' lock. */
static ocsd_err_t add_file(struct shell_tree *tree, const struct pug_place *place, const char *path,
                           const ocsd_file_mem_region_t *regions, size_t count)
{
    struct file *known = find_file(path);
    if (known && !starts_at(known, regions[0].start_address))
        return OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE;
    const struct file *file = hold_file(tree->memory, known, path, regions, count);
    if (!file)
        return OCSD_ERR_MEM;
    enum pug_status status = add_regions(tree, place, path, file->regions, file->count);
    if (status != PUG_OK)
        let_go(tree->memory);
    return shell_error(status);
}

ocsd_err_t ocsd_dt_add_binfile_region_mem_acc(const dcd_tree_handle_t handle,
                                              const ocsd_file_mem_region_t *region_array,
                                              const int num_regions,
                                              const ocsd_mem_space_acc_t mem_space,
                                              const char *filepath)
{
    struct shell_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_INVALID_PARAM_VAL;
    ocsd_err_t error = open_memory(tree);
    if (error != OCSD_OK)
        return error;
    if (!region_array || num_regions <= 0 || !filepath || !*filepath)
        return OCSD_ERR_INVALID_PARAM_VAL;
    struct pug_place place = place_of(mem_space);
    pthread_mutex_lock(&files_lock);
    error = add_file(tree, &place, filepath, region_array, (size_t)num_regions);
    pthread_mutex_unlock(&files_lock);
    return error;
}

ocsd_err_t ocsd_dt_add_binfile_mem_acc(const dcd_tree_handle_t handle, const ocsd_vaddr_t address,
                                       const ocsd_mem_space_acc_t mem_space, const char *filepath)
{
    ocsd_file_mem_region_t whole = {.start_address = address};
    return ocsd_dt_add_binfile_region_mem_acc(handle, &whole, 1, mem_space, filepath);
}

static uint32_t call_back(void *context, uint64_t address, const struct pug_reader_space *space,
                          uint32_t wanted, uint8_t *buffer)
{
    const struct callback *callback = context;
    ocsd_mem_space_acc_t client_space = (ocsd_mem_space_acc_t)space->space;
    uint32_t got = callback->with_id
                       ? callback->with_id(callback->context, address, client_space,
                                           (uint8_t)space->source, wanted, buffer)
                       : callback->plain(callback->context, address, client_space, wanted, buffer);
    if (got > wanted)
        log_text(callback->tree, PUG_SEV_WARN, PUG_ERR_MEMORY_CALLBACK,
                 wanted >= LEAST_PAGE ? "Mem Acc: Cache access error"
                                      : "Mem acc: bad return length");
    return got;
}

/** Kept until the tree goes, and taken again when the client adds the same once more. */
static struct callback *keep_callback(struct shell_tree *tree, const struct callback *wanted)
{
    struct shell_memory *memory = tree->memory;
    struct callback *callback = memory->callbacks;
    while (callback && (callback->plain != wanted->plain || callback->with_id != wanted->with_id ||
                        callback->context != wanted->context))
        callback = callback->next;
    if (callback || !(callback = malloc(sizeof(*callback))))
        return callback;
    *callback = *wanted;
    callback->tree = tree;
    callback->next = memory->callbacks;
    memory->callbacks = callback;
    return callback;
}

static ocsd_err_t add_callback(dcd_tree_handle_t handle, ocsd_vaddr_t start, ocsd_vaddr_t end,
                               ocsd_mem_space_acc_t space, const struct callback *wanted)
{
    struct shell_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_INVALID_PARAM_VAL;
    ocsd_err_t error = open_memory(tree);
    if (error != OCSD_OK)
        return error;
    if (!wanted->plain && !wanted->with_id)
        return OCSD_ERR_INVALID_PARAM_VAL;
    struct callback *callback = keep_callback(tree, wanted);
    if (!callback)
        return OCSD_ERR_MEM;
    struct pug_place place = place_of(space);
    return shell_error(
        pug_image_add_callback(tree->image, &place, start, end, call_back, callback));
}

ocsd_err_t ocsd_dt_add_callback_mem_acc(const dcd_tree_handle_t handle,
                                        const ocsd_vaddr_t st_address,
                                        const ocsd_vaddr_t en_address,
                                        const ocsd_mem_space_acc_t mem_space,
                                        Fn_MemAcc_CB p_cb_func, const void *p_context)
{
    return add_callback(handle, st_address, en_address, mem_space,
                        &(struct callback){.plain = p_cb_func, .context = p_context});
}

ocsd_err_t ocsd_dt_add_callback_trcid_mem_acc(const dcd_tree_handle_t handle,
                                              const ocsd_vaddr_t st_address,
                                              const ocsd_vaddr_t en_address,
                                              const ocsd_mem_space_acc_t mem_space,
                                              Fn_MemAccID_CB p_cb_func, const void *p_context)
{
    return add_callback(handle, st_address, en_address, mem_space,
                        &(struct callback){.with_id = p_cb_func, .context = p_context});
}

ocsd_err_t ocsd_dt_remove_mem_acc(const dcd_tree_handle_t handle, const ocsd_vaddr_t st_address,
                                  const ocsd_mem_space_acc_t mem_space)
{
    struct shell_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_INVALID_PARAM_VAL;
    if (!tree->memory->mapped)
        return OCSD_ERR_NOT_INIT;
    return shell_error(pug_image_remove(tree->image, st_address, shell_space(mem_space)));
}

/* ---- what is mapped ---- */

/** One record for each message of a listing, in which every message begins with the prefix. */
static void log_messages(struct shell_tree *tree, char *listing)
{
    while (listing) {
        char *message = listing + strlen(PREFIX);
        char *next = strstr(message, PREFIX);
        if (next)
            *next = '\0';
        log_text(tree, PUG_SEV_INFO, PUG_OK, message);
        if (next)
            *next = PREFIX[0];
        listing = next;
    }
}

void ocsd_tl_log_mapped_mem_ranges(const dcd_tree_handle_t handle)
{
    struct shell_tree *tree = handle;
    if (!tree || !tree->memory->mapped)
        return;
    struct pug_text text = {0};
    pug_listing_image(&text, tree->image);
    size_t room = text.length + 1;
    char *buffer = malloc(room);
    if (!buffer) {
        log_text(tree, PUG_SEV_ERROR, PUG_ERR_MEM, "no memory for the list of mapped memory");
        return;
    }
    text = PUG_TEXT(buffer, room);
    pug_listing_image(&text, tree->image);
    pug_text_end(&text);
    log_messages(tree, buffer);
    free(buffer);
}
