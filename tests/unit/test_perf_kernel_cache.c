// SPDX-License-Identifier: MIT
/**
 * @file Kernels of perf.data whose symbols and memory perf keeps in its build id cache, of this or
 * another boot; guests' modules.
 */
#include "support/kernel_run.h"
#include "support/said.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define AT(offset) (KERNEL + (offset))
#define ID         "abcdefabcdefabcdefabcdefabcdefabcdefabcd"

/* Two NOPs and a branch to 0x20, two and a branch back. */
static const uint32_t kernel_text[] = {NOP, NOP, 0x14000006, NOP, NOP,        NOP,
                                       NOP, NOP, NOP,        NOP, 0x17fffff6, NOP};

static void make_folder(const struct kernel_run *r, const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", r->folder, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

/** The recorder says which build a kernel, or a module of it, is; `mode` as in maps. */
static void tell_build(struct kernel_run *r, uint32_t pid, uint16_t mode, const char *path,
                       uint8_t first)
{
    struct rec_bytes body = {0};
    rec_put_le(&body, pid, 4);
    for (unsigned i = 0; i < 20; i++)
        rec_put_le(&body, i == 0 ? first : i % 3 == 0 ? 0xab : i % 3 == 1 ? 0xcd : 0xef, 1);
    rec_put_le(&body, 20, 4);
    rec_put_n(&body, path, strlen(path) + 1);
    while (body.size % 8 != 0)
        rec_put(&body, 0);
    rec_perf_record(&r->perf, 67, (uint16_t)(1u << 15 | mode), &body, NULL);
    rec_bytes_free(&body);
}

/** kallsyms of a boot that was so far before this one. */
static void write_kallsyms(const struct kernel_run *r, const char *name, uint64_t before)
{
    char lines[256];
    const int size = snprintf(
        lines, sizeof(lines),
        "%llx T _text\n%llx T _stext_of_others\n%llx T _stext\n"
        "%llx T helper\n%llx t foo_work\t[foo]\n",
        (unsigned long long)(KERNEL - before - 0x10000),
        (unsigned long long)(KERNEL - before - 0x8000), (unsigned long long)(KERNEL - before),
        (unsigned long long)(AT(0x20) - before), (unsigned long long)(MODULE - before + 0x1000));
    kernel_run_bytes(r, name, lines, (size_t)size);
}

static void begin(struct kernel_run *r)
{
    kernel_run_begin(r);
    tell_build(r, UINT32_MAX, 1, "[kernel.kallsyms]", 0xab);
    kernel_run_map(r, MODULE, 0x3000, 0, "/foo.ko");
    make_folder(r, "cache");
    make_folder(r, "cache/.build-id");
    make_folder(r, "cache/.build-id/ab");
    make_folder(r, "cache/[kernel.kallsyms]");
    make_folder(r, "cache/[kernel.kallsyms]/" ID);
}

/** As perf links it: the folder, or, long ago, the file. */
static void link_kallsyms(const struct kernel_run *r, const char *to)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/cache/.build-id/ab/%s", r->folder, &ID[2]);
    assert_int_equal(symlink(to, path), 0);
}

static void check_names(const struct kernel_heard *heard, const char *in_kernel,
                        const char *in_module)
{
    struct pug_names *names = pug_names_new(NULL);
    assert_non_null(names);
    const char *found = kernel_heard_name(heard, names, "[kernel.kallsyms]_stext", AT(0x24));
    assert_int_equal(!found, !in_kernel);
    if (found)
        assert_string_equal(found, in_kernel);
    found = kernel_heard_name(heard, names, "/foo.ko", 0x1004);
    assert_int_equal(!found, !in_module);
    if (found)
        assert_string_equal(found, in_module);
    pug_names_free(names);
}

/** Symbols that were kept name the kernel, wherever it lay; modules only where it lay the same. */
static void test_symbols(void **state)
{
    static const struct {
        const char *file, *link;
        uint64_t before;
        const char *in_module;
    } forms[] = {
        {"cache/[kernel.kallsyms]/" ID "/kallsyms", "../../[kernel.kallsyms]/" ID, 0, "foo_work"},
        {"cache/[kernel.kallsyms]/" ID "/kallsyms", "../../[kernel.kallsyms]/" ID, 0x200000, NULL},
        {"cache/[kernel.kallsyms]/" ID "/old", "../../[kernel.kallsyms]/" ID "/old", 0, "foo_work"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct kernel_run r;
        char cache[128];
        begin(&r);
        kernel_run_finish(&r, "perf.data");
        write_kallsyms(&r, forms[i].file, forms[i].before);
        link_kallsyms(&r, forms[i].link);
        snprintf(cache, sizeof(cache), "%s/cache", r.folder);
        struct kernel_heard heard = kernel_run_hear(
            &r, "perf.data", &(struct pug_capture_roots){.build_ids = cache, .symfs = r.folder});
        check_names(&heard, "helper", forms[i].in_module);
        pug_capture_free(heard.capture);
        kernel_run_end(&r);
    }
}

/** A copy of the kernel's memory counts if it is of this boot. */
static void test_memory(void **state)
{
    static const struct kernel_file kcore = {
        .type = 4, .vaddr = KERNEL, .text = kernel_text, .words = 12};
    static const uint64_t wanted[] = {AT(0), AT(4), AT(8), AT(0x20), AT(0x24), AT(0x28)};
    (void)state;
    for (unsigned same = 0; same < 2; same++) {
        struct kernel_run r;
        char cache[128];
        begin(&r);
        kernel_run_at(&r, 100, KERNEL, 2, KERNEL);
        kernel_run_finish(&r, "perf.data");
        make_folder(&r, "cache/[kernel.kcore]");
        make_folder(&r, "cache/[kernel.kcore]/" ID);
        make_folder(&r, "cache/[kernel.kcore]/" ID "/2026010212304500");
        make_folder(&r, "cache/[kernel.kcore]/" ID "/2026010312304500");
        kernel_run_file(&r, "cache/[kernel.kcore]/" ID "/2026010212304500/kcore", &kcore);
        write_kallsyms(&r, "cache/[kernel.kcore]/" ID "/2026010212304500/kallsyms",
                       same ? 0 : 0x200000);
        kernel_run_file(&r, "cache/[kernel.kcore]/" ID "/2026010312304500/kcore", &kcore);
        snprintf(cache, sizeof(cache), "%s/cache", r.folder);
        struct kernel_heard heard =
            kernel_run_hear(&r, "perf.data", &(struct pug_capture_roots){.build_ids = cache});
        kernel_heard_check(&heard, wanted, same ? 6 : 0);
        check_names(&heard, same ? "helper" : NULL, same ? "foo_work" : NULL);
        pug_capture_free(heard.capture);
        kernel_run_end(&r);
    }
}

/* A guest's module, which calls its kernel, and that kernel. */
static const uint32_t module_text[] = {NOP, 0x94000000, NOP, NOP};
static const struct kernel_symbol module_symbols[] = {{"helper", 0, 0}, {"foo_work", 0, 1}};
static const struct kernel_file guests_module = {.type = 1,
                                                 .text = module_text,
                                                 .words = 4,
                                                 .symbols = module_symbols,
                                                 .symbol_count = 2,
                                                 .call_at = 4};
static const struct kernel_symbol guests_symbols[] = {{"_stext", LINKED, 1}};
static const struct kernel_file guests_kernel = {.type = 2,
                                                 .vaddr = LINKED,
                                                 .text = kernel_text,
                                                 .words = 12,
                                                 .symbols = guests_symbols,
                                                 .symbol_count = 1};

/** A guest's module calls what its own kernel has, by its own kallsyms. */
static void test_guests_module(void **state)
{
    static const uint64_t wanted[] = {MODULE + 0x1000, MODULE + 0x1004, AT(0x20), AT(0x24),
                                      AT(0x28)};
    static const struct rec_perf_sample task = {.pid = 7, .tid = 107, .time = 2};
    const struct rec_context context = {
        .el = 1, .sf = true, .ns = true, .has_vmid = true, .vmid = 107};
    struct kernel_run r;
    char file[128], guest[128];
    (void)state;
    kernel_run_begin_with(&r, &kernel_run_vhe_cpu, &kernel_run_vhe_config);
    kernel_run_map_of(&r, 7, 4, KERNEL, 0x10000, KERNEL, "[guest.kernel.kallsyms.7]_stext");
    kernel_run_map_of(&r, 7, 4, MODULE, 0x3000, 0, "/foo.ko");
    rec_perf_comm(&r.perf, &task, "vcpu", false);
    rec_etmv4_trace_on(r.unit);
    rec_etmv4_start(r.unit, MODULE + 0x1000, false, &context);
    rec_etmv4_atom(r.unit, true);
    rec_etmv4_atom(r.unit, true);
    rec_etmv4_exception(r.unit, 0x0e, KERNEL, false, false);
    kernel_run_finish(&r, "data");
    kernel_run_file(&r, "foo.ko", &guests_module);
    kernel_run_file(&r, "guest", &guests_kernel);
    make_folder(&r, "kcore_dir__7");
    write_kallsyms(&r, "kcore_dir__7/kallsyms", 0);
    snprintf(file, sizeof(file), "%s/foo.ko", r.folder);
    snprintf(guest, sizeof(guest), "%s/guest", r.folder);
    const struct pug_capture_replacement given[] = {
        {.path = "/foo.ko", .file = file},
        {.path = "[guest.kernel.kallsyms.7]_stext", .file = guest}};
    struct kernel_heard heard =
        kernel_run_hear(&r, "",
                        &(struct pug_capture_roots){
                            .build_ids = "", .replacements = given, .replacement_count = 2});
    kernel_heard_check(&heard, wanted, 5);
    pug_capture_free(heard.capture);
    kernel_run_end(&r);
}

/** kallsyms of a guest: where its module lies, and what that calls. */
static void write_guests_kallsyms(const struct kernel_run *r, const char *name, uint64_t helper,
                                  uint64_t module)
{
    char lines[160];
    const int size =
        snprintf(lines, sizeof(lines), "%llx T _stext\n%llx T helper\n%llx t foo_work\t[foo]\n",
                 (unsigned long long)KERNEL, (unsigned long long)helper,
                 (unsigned long long)module + 0x1000);
    kernel_run_bytes(r, name, lines, (size_t)size);
}

/** The module works in the guest whose thread it is, up to what it calls. */
static void work_in_guest(struct kernel_run *r, uint32_t thread, uint64_t module)
{
    const struct rec_context context = {
        .el = 1, .sf = true, .ns = true, .has_vmid = true, .vmid = thread};
    rec_etmv4_trace_on(r->unit);
    rec_etmv4_start(r->unit, module + 0x1000, false, &context);
    rec_etmv4_atom(r->unit, true);
    rec_etmv4_atom(r->unit, true);
    rec_etmv4_exception(r->unit, 0x0e, KERNEL, false, false);
}

/** Two guests have a module of one path: each at its place, calling its own kernel. */
static void test_guests_same_module(void **state)
{
    static const struct {
        uint32_t pid;
        uint64_t module, helper;
        const char *path, *folder, *kallsyms;
    } guests[] = {{7, MODULE, AT(0x20), "[guest.kernel.kallsyms.7]_stext", "kcore_dir__7",
                   "kcore_dir__7/kallsyms"},
                  {9, MODULE + 0x40000, AT(0x24), "[guest.kernel.kallsyms.9]_stext", "kcore_dir__9",
                   "kcore_dir__9/kallsyms"}};
    static const uint64_t wanted[] = {MODULE + 0x1000,  MODULE + 0x1004, AT(0x20),
                                      AT(0x24),         AT(0x28),        MODULE + 0x41000,
                                      MODULE + 0x41004, AT(0x24),        AT(0x28)};
    static const int32_t tids[] = {107, 107, 107, 107, 107, 109, 109, 109, 109};
    struct kernel_run r;
    char file[128], kernel[128];
    (void)state;
    kernel_run_begin_with(&r, &kernel_run_vhe_cpu, &kernel_run_vhe_config);
    for (size_t i = 0; i < 2; i++) {
        const struct rec_perf_sample task = {
            .pid = (int32_t)guests[i].pid, .tid = (int32_t)guests[i].pid + 100, .time = 2};
        kernel_run_map_of(&r, guests[i].pid, 4, KERNEL, 0x10000, KERNEL, guests[i].path);
        kernel_run_map_of(&r, guests[i].pid, 4, guests[i].module, 0x3000, 0, "/foo.ko");
        rec_perf_comm(&r.perf, &task, "vcpu", false);
        make_folder(&r, guests[i].folder);
        write_guests_kallsyms(&r, guests[i].kallsyms, guests[i].helper, guests[i].module);
        work_in_guest(&r, guests[i].pid + 100, guests[i].module);
    }
    kernel_run_finish(&r, "data");
    kernel_run_file(&r, "foo.ko", &guests_module);
    kernel_run_file(&r, "guest", &guests_kernel);
    snprintf(file, sizeof(file), "%s/foo.ko", r.folder);
    snprintf(kernel, sizeof(kernel), "%s/guest", r.folder);
    const struct pug_capture_replacement given[] = {{.path = "/foo.ko", .file = file},
                                                    {.path = guests[0].path, .file = kernel},
                                                    {.path = guests[1].path, .file = kernel}};
    struct kernel_heard heard =
        kernel_run_hear(&r, "",
                        &(struct pug_capture_roots){
                            .build_ids = "", .replacements = given, .replacement_count = 3});
    kernel_heard_check(&heard, wanted, sizeof(wanted) / sizeof(wanted[0]));
    for (size_t i = 0; i < sizeof(tids) / sizeof(tids[0]); i++)
        assert_int_equal(heard.tids[i], tids[i]);
    pug_capture_free(heard.capture);
    kernel_run_end(&r);
}

/** Records about guests apply to their own kernels and modules, whatever these are called. */
static void test_guests_builds(void **state)
{
    static const struct {
        const char *path;
        uint8_t first; /* of its build id; 0: it has none */
    } wanted[] = {{"[kernel.kallsyms]_stext", 1},
                  {"[guest.kernel.kallsyms.7]_stext", 2},
                  {"/foo.ko", 3},
                  {"[guest.kernel.kallsyms.9]_stext", 0},
                  {"/foo.ko", 0}};
    struct kernel_run r;
    (void)state;
    kernel_run_begin_with(&r, &kernel_run_vhe_cpu, &kernel_run_vhe_config);
    kernel_run_map_of(&r, 7, 4, KERNEL, 0x10000, KERNEL, "[guest.kernel.kallsyms.7]_stext");
    kernel_run_map_of(&r, 7, 4, MODULE, 0x3000, 0, "/foo.ko");
    kernel_run_map_of(&r, 9, 4, KERNEL, 0x10000, KERNEL, "[guest.kernel.kallsyms.9]_stext");
    kernel_run_map_of(&r, 9, 4, MODULE, 0x3000, 0, "/foo.ko");
    tell_build(&r, UINT32_MAX, 1, "[kernel.kallsyms]", 1);
    tell_build(&r, 7, 4, "[guest.kernel.kallsyms.7]", 2);
    tell_build(&r, 7, 4, "/foo.ko", 3);
    kernel_run_finish(&r, "perf.data");
    struct kernel_heard heard =
        kernel_run_hear(&r, "perf.data", &(struct pug_capture_roots){.build_ids = ""});
    const struct pug_capture_object *object;
    size_t count = 0;
    for (; (object = pug_capture_object_at(heard.capture, count)) != NULL; count++) {
        assert_true(count < sizeof(wanted) / sizeof(wanted[0]));
        assert_string_equal(object->path, wanted[count].path);
        assert_int_equal(object->build_id_size, wanted[count].first > 0 ? 20 : 0);
        if (wanted[count].first > 0)
            assert_int_equal(object->build_id[0], wanted[count].first);
    }
    assert_int_equal(count, sizeof(wanted) / sizeof(wanted[0]));
    pug_capture_free(heard.capture);
    kernel_run_end(&r);
}

/**
 * Files that the user names as the kernel, or as its symbols, and that are missing or of another
 * kind, are reported.
 */
static void test_wrong_files(void **state)
{
    static const char hidden[] = "0000000000000000 T _text\n";
    static const char *const kernels[] = {"nothing", "hidden"};
    static const char *const why[] = {"No such file or directory", "no ELF file, or a damaged one"};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct kernel_run r;
        char kernel[128], wanted[400];
        struct said said = {""};
        struct pug_log *log = pug_log_new(PUG_SEV_WARN);
        assert_non_null(log);
        pug_log_set_sink(log, said_record, &said);
        kernel_run_begin(&r);
        kernel_run_map(&r, MODULE, 0x3000, 0, "/foo.ko");
        kernel_run_at(&r, 100, KERNEL, 2, KERNEL);
        kernel_run_finish(&r, "perf.data");
        kernel_run_bytes(&r, "hidden", hidden, sizeof(hidden) - 1);
        snprintf(kernel, sizeof(kernel), "%s/%s", r.folder, kernels[i]);
        const struct kernel_heard heard = kernel_run_hear_with(
            &r, "perf.data",
            &(struct pug_capture_options){
                .log = log, .roots = {.kernel = kernel, .kallsyms = kernel, .build_ids = ""}});
        assert_int_equal(heard.count, 0);
        const struct pug_capture_object *object = pug_capture_object_at(heard.capture, 0);
        assert_non_null(object);
        snprintf(wanted, sizeof(wanted), "%s: %s; give --dso %s=FILE", kernel, why[i],
                 object->path);
        assert_string_equal(object->why, wanted);
        struct pug_names *names = pug_names_new(NULL);
        assert_null(kernel_heard_name(&heard, names, object->path, 0));
        pug_names_free(names);
        if (i == 0)
            snprintf(wanted, sizeof(wanted),
                     "%s: there is no kernel: %s\n%s: there are no symbols: %s\n", kernel, why[0],
                     kernel, why[0]);
        else
            snprintf(wanted, sizeof(wanted), "%s: it says of no kernel function where it is\n",
                     kernel);
        assert_string_equal(said.text, wanted);
        pug_capture_free(heard.capture);
        pug_log_free(log);
        kernel_run_end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_files),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_guests_module),
        cmocka_unit_test(test_guests_same_module),
        cmocka_unit_test(test_guests_builds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
