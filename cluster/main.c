// SPDX-License-Identifier: MIT
/** @file pugmark-mpi: pugmark's commands on many processes, with the output of one. */
#include "common/command.h"
#include "common/help_text.h"
#include "common/outputs.h"
#include "common/sandbox.h"
#include "file.h"
#include "input/input.h"
#include "inputs.h"
#include "many.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct command *const commands[] = {
    &command_coverage, &command_index, &command_list, &command_pc, &command_profile, &command_stat,
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

struct cluster_options {
    bool many; /* inputs: one that fails does not cost the others */
    uint64_t piece, block, large;
    const char *resume, *output;
    uint64_t every;
    bool traffic;
};

static const struct option table[] = {
    OPTION_GROUP("Before the command"),
    {"large", "BYTES", "of many inputs, one from this size on is cut among all (default 1 GiB)",
     option_number, offsetof(struct cluster_options, large)},
    {"output", "FILE", "standard output goes to FILE, which all processes write at once (-o)",
     option_string, offsetof(struct cluster_options, output)},
    {"resume", "FOLDER", "keep there what is done, and go on with what is there", option_string,
     offsetof(struct cluster_options, resume)},
    {"every", "SECONDS", "keep it so often (default 60; 0: as often as can be)", option_number,
     offsetof(struct cluster_options, every)},
    {"traffic", NULL, "say in the end how much was sent among processes", option_flag,
     offsetof(struct cluster_options, traffic)},
    {"piece", "BYTES", "that a thread takes at once", option_size,
     offsetof(struct cluster_options, piece)},
    {"block", "BYTES", "between the first places where processes take over from each other",
     option_size, offsetof(struct cluster_options, block)},
};

static void usage(FILE *file, const struct option_set *sets)
{
    fputs("usage: mpirun -n N pugmark-mpi [OPTIONS] COMMAND [COMMAND'S OPTIONS] INPUT...\n\n"
          "Does what `pugmark COMMAND` does on N processes, with the same output.\n\n",
          file);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(file, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
    fflush(file);
    if (file == stdout)
        help_options(sets, 1, false);
    fputs("\n`pugmark COMMAND --help` tells a command's options; pugmark-mpi(1) says more.\n",
          file);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i]->name) == 0)
            return commands[i];
    return NULL;
}

/** Does one of our options take the next word? */
static bool takes_word(const char *word)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (table[i].name && strncmp(word, "--", 2) == 0 && strcmp(word + 2, table[i].name) == 0)
            return table[i].argument != NULL;
    return false;
}

/** Which of the words is the command: the first that is none of our options. 0: none. */
static int find_word(int argc, char **argv)
{
    int at = 1;
    while (at < argc && argv[at][0] == '-')
        at += takes_word(argv[at]) ? 2 : 1;
    return at < argc ? at : 0;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

/** Only process 0 prints; the others fall silent. */
static void fall_silent(void)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0)
        return;
    (void)dup2(nowhere, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

/* ---- inputs ---- */

/** The words of a command that name inputs. */
struct words {
    char **words;
    struct option_list operands, inputs;
    bool good;
};

static void note_inputs(void *context, char **operands, size_t count)
{
    struct words *words = context;
    for (size_t i = 0; i < count && words->good; i++)
        words->good = option_list_add(&words->operands, operands[i]) &&
                      inputs_add(&words->inputs, operands[i]);
}

/** Move what is no input to the front; how many words that is. */
static int leave_inputs_out(const struct words *words, int argc, char **argv)
{
    int kept = 0;
    for (int i = 0; i < argc; i++) {
        bool is_input = false;
        for (size_t n = 0; n < words->operands.count; n++)
            is_input |= words->operands.items[n] == argv[i];
        if (!is_input)
            argv[kept++] = argv[i];
    }
    return kept;
}

/**
 * One input is cut; many are spread. The command parses its words first, to tell which they are.
 */
static int run_command(struct cluster *cluster, struct cluster_options *options,
                       const struct command *command, int argc, char **argv)
{
    struct words words = {.words = calloc((size_t)argc + 1, sizeof(*argv)), .good = true};
    const struct command_watcher watcher = {note_inputs, &words};
    if (!words.words)
        return EXIT_INPUT;
    memcpy(words.words, argv, (size_t)argc * sizeof(*argv));
    command_watch(&watcher);
    int code = command->run(command, argc, words.words);
    command_watch(NULL);
    const struct option_list *inputs = &words.inputs;
    if (code == EXIT_DONE && !words.good) {
        code = EXIT_INPUT;
    } else if (code == EXIT_DONE && inputs->count == 1 &&
               inputs->items[0] == words.operands.items[0]) {
        code = command->run(command, argc, argv);
    } else if (code == EXIT_DONE && words.operands.count > 0) {
        const struct many many = {.cluster = cluster,
                                  .command = command,
                                  .words = argv,
                                  .word_count = leave_inputs_out(&words, argc, argv),
                                  .inputs = inputs,
                                  .large = options->large,
                                  .keep = options->resume};
        options->many = true;
        code = many_run(&many);
    }
    free(words.words);
    return code;
}

/** What is done is kept in a folder; false, having said why: it cannot be. */
static bool keep(struct cluster *cluster, const struct cluster_options *options, int argc,
                 char **argv)
{
    static struct pug_peers_keep kept;
    struct pug_peers *peers = cluster_peers(cluster);
    uint64_t identity = inputs_identity(argv, (size_t)argc);
    if (!options->resume)
        return true;
    if (mkdir(options->resume, 0777) != 0 && errno != EEXIST) {
        if (peers->number == 0)
            cluster_say(cluster, "pugmark-mpi: %s: %s\n", options->resume, strerror(errno));
        return false;
    }
    const char *version = pug_version();
    identity ^= inputs_identity((char *[]){(char *)(uintptr_t)version}, 1);
    kept = (struct pug_peers_keep){.folder = options->resume,
                                   .identity = identity,
                                   .interval = options->every * 1000,
                                   .settle = cluster_file_settle};
    peers->keep = &kept;
    return true;
}

/* ---- output ---- */

/** What goes to standard output past output.h is caught for the file; NULL: it cannot be. */
static FILE *catch_output(void)
{
    FILE *caught = tmpfile();
    fflush(stdout);
    if (caught && dup2(fileno(caught), STDOUT_FILENO) < 0) {
        fclose(caught);
        caught = NULL;
    }
    return caught;
}

static void give_caught(FILE *caught)
{
    char bytes[4096];
    size_t size;
    fflush(stdout);
    rewind(caught);
    while ((size = fread(bytes, 1, sizeof(bytes), caught)) > 0)
        output_sink()->put(NULL, bytes, size);
    output_flush();
    fclose(caught);
}

static int run_into_file(struct cluster *cluster, struct cluster_options *options,
                         const struct command *command, int argc, char **argv)
{
    struct cluster_file *file = cluster_file_open(cluster, options->output);
    FILE *caught = file ? catch_output() : NULL;
    if (!caught)
        return EXIT_INPUT;
    output_into(cluster_file_target(file));
    if (cluster_peers(cluster)->keep)
        cluster_peers(cluster)->keep->context = file;
    int code = run_command(cluster, options, command, argc, argv);
    give_caught(caught);
    if (!cluster_file_close(file, options->many || (code < EXIT_INPUT && !input_failed())))
        code = EXIT_INPUT;
    output_into(NULL);
    return code;
}

static int run(struct cluster *cluster, int argc, char **argv)
{
    struct cluster_options options = {.large = UINT64_C(1) << 30, .every = 60};
    const struct option_set sets[] = {OPTION_SET(table, &options)};
    struct pug_peers *peers = cluster_peers(cluster);
    const int word = find_word(argc, argv);
    int found;
    if (peers->number > 0)
        fall_silent();
    if (asks_for_help(word ? word : argc, argv)) {
        usage(stdout, sets);
        return EXIT_DONE;
    }
    const struct command *command = word ? find_command(argv[word]) : NULL;
    if (!command) {
        usage(stderr, sets);
        return EXIT_USAGE;
    }
    if (!options_parse(word, argv, sets, 1, &found))
        return EXIT_USAGE;
    outputs_add(options.output);
    sandbox_waive(); /* MPI has files and connections of its own */
    peers->piece = (size_t)options.piece;
    peers->block = (size_t)options.block;
    input_among(peers);
    if (options.traffic)
        cluster_tell_traffic(cluster);
    if (!keep(cluster, &options, argc - word, argv + word))
        return EXIT_INPUT;
    return (options.output ? run_into_file : run_command)(cluster, &options, command, argc - word,
                                                          argv + word);
}

int main(int argc, char **argv)
{
    static char room[1 << 16];
    struct cluster *cluster = cluster_open(&argc, &argv);
    if (!cluster)
        return EXIT_INPUT;
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, room, _IOFBF, sizeof(room));
    const int code = run(cluster, argc, argv);
    inputs_free();
    option_lists_free();
    const int shown = command_printed(code);
    return cluster_close(cluster, shown < EXIT_INPUT && input_failed() ? EXIT_INPUT : shown);
}
