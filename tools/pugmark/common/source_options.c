// SPDX-License-Identifier: MIT
#include "source_options.h"

#include "folders.h"
#include "messages.h"

#include <inttypes.h>

const struct option source_option_table[] = {
    OPTION_GROUP("Source text"),
    {"source-dir", "DIR",
     "source text is taken from below this folder, also of files that moved; may be repeated "
     "(default: folders of the inputs, and the current one)",
     option_to_list, offsetof(struct source_options, folders)},
};
const size_t source_option_count = sizeof(source_option_table) / sizeof(source_option_table[0]);

static bool permit(struct option_list *list, const char *folder)
{
    return !folder_is_own(folder) || option_list_add_copy(list, folder);
}

bool source_permit(const struct source_options *options, char *const *operands,
                   struct pug_report *report)
{
    struct option_list permitted = {0};
    char folder[4096];
    report->source_dirs = options->folders.items;
    report->source_dir_count = options->folders.count;
    bool good = true;
    for (size_t i = 0; options->folders.count == 0 && good && operands[i]; i++)
        good = !folder_of_input(operands[i], folder, sizeof(folder)) || permit(&permitted, folder);
    good = good && (options->folders.count > 0 || permit(&permitted, "."));
    report->permitted_dirs = permitted.items;
    report->permitted_dir_count = permitted.count;
    return good;
}

void source_say_withheld(const struct pug_report *report, bool quiet)
{
    const struct pug_report_withheld *withheld = report->withheld;
    if (withheld->count == 0 || quiet)
        return;
    message_say("pugmark: the text of %" PRIu64
                " source file%s is left out, as of %s: outside of the "
                "permitted folders; --source-dir DIR permits another one\n",
                withheld->count, withheld->count == 1 ? "" : "s", withheld->first);
}
