// SPDX-License-Identifier: MIT
#include "errlog.h"

#include "listing/listing.h"
#include "shell.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_FILE "ocsd_trace_decode.log"

struct errlog_output {
    struct errlog_output *next;
    unsigned holders;
    int flags; /* C_API_MSGLOGOUT_FLG_… */
    char *path;
    FILE *file; /* opened at the first write */
    FnDefLoggerPrintStrCB callback;
    const void *context, *tree;
};

/* The error logger: everything below is guarded by `lock`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum pug_severity verbosity = PUG_SEV_ERROR;
static struct errlog_output *outputs; /* all that live */
static struct errlog_output *current;
static struct {
    ocsd_err_t code;
    ocsd_trc_index_t index;
    uint8_t id;
    char text[512];
} last_error = {.index = OCSD_BAD_TRC_INDEX, .id = OCSD_BAD_CS_SRC_ID};

/* ---- outputs ---- */

/** False: no memory, and all is as it was. */
static bool set_path(struct errlog_output *output, const char *path)
{
    char *copy = path ? strdup(path) : NULL;
    if (path && !copy)
        return false;
    if (output->file)
        fclose(output->file);
    output->file = NULL;
    free(output->path);
    output->path = copy;
    return true;
}

static void release(struct errlog_output *output)
{
    if (!output || --output->holders > 0)
        return;
    struct errlog_output **link = &outputs;
    while (*link != output)
        link = &(*link)->next;
    *link = output->next;
    (void)set_path(output, NULL);
    free(output);
}

static enum pug_status make_current(void)
{
    struct errlog_output *output = calloc(1, sizeof(*output));
    if (!output)
        return PUG_ERR_MEM;
    output->holders = 1;
    output->flags = C_API_MSGLOGOUT_FLG_STDERR;
    output->next = outputs;
    outputs = output;
    release(current);
    current = output;
    return PUG_OK;
}

struct errlog_output *errlog_output_hold(void)
{
    pthread_mutex_lock(&lock);
    struct errlog_output *output = current;
    if (output)
        output->holders++;
    pthread_mutex_unlock(&lock);
    return output;
}

void errlog_output_release(struct errlog_output *output)
{
    pthread_mutex_lock(&lock);
    release(output);
    pthread_mutex_unlock(&lock);
}

bool errlog_output_is_used(const struct errlog_output *output)
{
    if (!output)
        return false;
    pthread_mutex_lock(&lock);
    bool used = output->flags != 0 || output->callback;
    pthread_mutex_unlock(&lock);
    return used;
}

/** Standard output, standard error, file; under the lock. */
static void write_streams(struct errlog_output *output, const char *text, size_t size)
{
    if (output->flags & C_API_MSGLOGOUT_FLG_STDOUT)
        fwrite(text, 1, size, stdout);
    if (output->flags & C_API_MSGLOGOUT_FLG_STDERR)
        fwrite(text, 1, size, stderr);
    if (!(output->flags & C_API_MSGLOGOUT_FLG_FILE))
        return;
    if (!output->file)
        output->file = fopen(output->path ? output->path : DEFAULT_FILE, "a");
    if (output->file)
        fwrite(text, 1, size, output->file);
}

void errlog_print(struct errlog_output *output, const char *text, size_t size)
{
    if (!output)
        return;
    pthread_mutex_lock(&lock);
    write_streams(output, text, size);
    FnDefLoggerPrintStrCB callback = output->callback;
    const void *context = output->context;
    pthread_mutex_unlock(&lock);
    if (callback)
        callback(context, text, (int)size);
}

void errlog_print_text(struct errlog_output *output, struct pug_text *text)
{
    size_t length = pug_text_end(text);
    errlog_print(output, text->buffer, length < text->size ? length : text->size - 1);
}

/* ---- errors and messages ---- */

enum pug_severity errlog_verbosity(void)
{
    pthread_mutex_lock(&lock);
    enum pug_severity now = verbosity;
    pthread_mutex_unlock(&lock);
    return now;
}

/** Under the lock. */
static void keep_error(const struct pug_log_record *record)
{
    last_error.code = shell_error(record->code);
    last_error.index = (ocsd_trc_index_t)record->index;
    last_error.id = (uint8_t)record->source;
    struct pug_text text = PUG_TEXT(last_error.text, sizeof(last_error.text));
    pug_listing_error(&text, record);
    pug_text_end(&text);
}

void errlog_put(const struct pug_log_record *record, enum pug_severity latched)
{
    if (record->severity > latched)
        return;
    pthread_mutex_lock(&lock);
    bool shown = record->severity <= verbosity;
    if (shown && record->code != PUG_OK)
        keep_error(record);
    struct errlog_output *output = shown ? current : NULL;
    if (output)
        output->holders++;
    pthread_mutex_unlock(&lock);
    if (errlog_output_is_used(output)) {
        char buffer[1024];
        struct pug_text text = PUG_TEXT(buffer, sizeof(buffer));
        pug_listing_log(&text, record);
        errlog_print_text(output, &text);
    }
    if (output)
        errlog_output_release(output);
}

void errlog_forget_tree(const void *tree)
{
    pthread_mutex_lock(&lock);
    for (struct errlog_output *output = outputs; output; output = output->next) {
        if (output->tree != tree)
            continue;
        output->callback = NULL;
        output->tree = NULL;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- the API ---- */

ocsd_err_t ocsd_def_errlog_init(const ocsd_err_severity_t new_verbosity,
                                const int create_output_logger)
{
    pthread_mutex_lock(&lock);
    verbosity = (enum pug_severity)new_verbosity;
    enum pug_status status = create_output_logger ? make_current() : PUG_OK;
    pthread_mutex_unlock(&lock);
    return shell_error(status);
}

/** Under the lock. */
static ocsd_err_t config_output(struct errlog_output *output, int flags, const char *file)
{
    if (!output)
        return OCSD_ERR_NOT_INIT;
    if (file && *file && !set_path(output, file))
        return OCSD_ERR_MEM;
    output->flags = flags & C_API_MSGLOGOUT_MASK;
    output->callback = NULL;
    output->tree = NULL;
    if (file && *file)
        output->flags |= C_API_MSGLOGOUT_FLG_FILE;
    else if (file)
        output->flags &= ~C_API_MSGLOGOUT_FLG_FILE;
    return OCSD_OK;
}

ocsd_err_t ocsd_def_errlog_config_output(const int output_flags, const char *log_file_name)
{
    pthread_mutex_lock(&lock);
    ocsd_err_t error = config_output(current, output_flags, log_file_name);
    pthread_mutex_unlock(&lock);
    return error;
}

ocsd_err_t ocsd_def_errlog_set_strprint_cb(const dcd_tree_handle_t handle, void *p_context,
                                           FnDefLoggerPrintStrCB p_str_print_cb)
{
    if (!handle || !shell_tree_is_live(handle))
        return OCSD_ERR_NOT_INIT;
    pthread_mutex_lock(&lock);
    struct errlog_output *output = current;
    if (output) {
        output->callback = p_str_print_cb;
        output->context = p_context;
        output->tree = p_str_print_cb ? handle : NULL;
    }
    pthread_mutex_unlock(&lock);
    return output ? OCSD_OK : OCSD_ERR_NOT_INIT;
}

void ocsd_def_errlog_msgout(const char *msg)
{
    if (!msg)
        return;
    struct errlog_output *output = errlog_output_hold();
    errlog_print(output, msg, strlen(msg));
    if (output)
        errlog_output_release(output);
}

ocsd_err_t ocsd_get_last_err(ocsd_trc_index_t *index, uint8_t *chan_id, char *message,
                             const int message_len)
{
    pthread_mutex_lock(&lock);
    ocsd_err_t code = last_error.code;
    if (index)
        *index = last_error.index;
    if (chan_id)
        *chan_id = last_error.id;
    if (message && message_len > 0)
        snprintf(message, (size_t)message_len, "%s", last_error.text);
    pthread_mutex_unlock(&lock);
    return code;
}
