// SPDX-License-Identifier: MIT
/**
 * @file A client of the OpenCSD C API that calls every function with good and bad arguments and
 * writes down what happens. It is built against any version's headers and run on any library: the
 * transcripts of two libraries tell how they differ. Each case runs in a process of its own, so
 * that a crash is one line of the transcript.
 *
 *     edge_client CASE | defined | undefined | version
 *
 * "defined": the cases that the reference answers; "undefined": those in which it crashes.
 */
#include "edge.h"

#include <sys/wait.h>
#include <unistd.h>

static void environment(void)
{
    setenv("OPENCSD_INSTR_RANGE_LIMIT", "1", 1);
    dcd_tree_handle_t tree = full_single();
    data(tree, 0, flow, 28);
    ocsd_destroy_dcd_tree(tree);
    unsetenv("OPENCSD_INSTR_RANGE_LIMIT");
    static const char *const sizes[] = {"100", "0x40", "10", "65536", "-5", "x", "20000"};
    for (size_t i = 0; i <= sizeof(sizes) / sizeof(sizes[0]); i++) {
        unsetenv("OPENCSD_MEMACC_CACHE_PAGE_SIZE");
        if (i < sizeof(sizes) / sizeof(sizes[0]))
            setenv("OPENCSD_MEMACC_CACHE_PAGE_SIZE", sizes[i], 1);
        else
            setenv("OPENCSD_MEMACC_CACHE_OFF", "", 1);
        tree = single();
        create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
        CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
        CODE(ocsd_dt_add_callback_mem_acc(tree, 0, ~0ull, OCSD_MEM_SPACE_ANY, on_memory, NULL));
        data(tree, 0, flow, 27);
        ocsd_destroy_dcd_tree(tree);
    }
}

static const struct edge_case rest[] = {
    CASE(environment),
    {.name = NULL},
};

static const struct edge_case *const lists[] = {edge_tree, edge_memory, edge_text,
                                                edge_log,  edge_custom, rest};

static bool is_wanted(const struct edge_case *item, const char *what)
{
    if (strcmp(what, "defined") == 0)
        return item->defined;
    if (strcmp(what, "undefined") == 0)
        return !item->defined;
    return strcmp(what, item->name) == 0;
}

static void run(const struct edge_case *item)
{
    say("==== %s", item->name);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        item->run();
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0)
        say("crashed");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "defined";
    if (strcmp(what, "version") == 0) {
        say("%s", ocsd_get_version_str());
        return 0;
    }
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        for (const struct edge_case *item = lists[i]; item->name; item++)
            if (is_wanted(item, what))
                run(item);
    return 0;
}
