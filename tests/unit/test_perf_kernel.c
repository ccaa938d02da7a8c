// SPDX-License-Identifier: MIT
/** @file Kernel text of perf.data: moved, changed while it ran, in modules, in copies of memory. */
#include "base/text.h"
#include "support/kernel_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static uint32_t branch(uint32_t from, uint32_t to)
{
    return 0x14000000u | (((to - from) / 4) & 0x3ffffff);
}

/* ---- the tests ---- */

/** Two NOPs and a branch to 0x20, two and a branch back. */
static const uint32_t kernel_text[] = {NOP, NOP, 0x14000006, NOP, NOP,        NOP,
                                       NOP, NOP, NOP,        NOP, 0x17fffff6, NOP};
static const struct kernel_symbol kernel_symbols[] = {{"_stext", LINKED, 1},
                                                      {"helper", LINKED + 0x20, 1}};
static const struct kernel_file vmlinux = {.type = 2,
                                           .vaddr = LINKED,
                                           .text = kernel_text,
                                           .words = 12,
                                           .symbols = kernel_symbols,
                                           .symbol_count = 2};

#define AT(offset) (KERNEL + (offset))
#define IN(offset) (MODULE + 0x1000 + (offset))

/** What is heard of the run with the kernel's file, whose path is to be kept. */
static struct kernel_heard hear_kernel(struct kernel_run *r, char path[128])
{
    kernel_run_finish(r, "perf.data");
    kernel_run_file(r, "vmlinux", &vmlinux);
    snprintf(path, 128, "%s/vmlinux", r->folder);
    return kernel_run_hear(r, "perf.data",
                           &(struct pug_capture_roots){.kernel = path, .build_ids = ""});
}

static void test_moved(void **state)
{
    static const uint64_t wanted[] = {AT(0), AT(4), AT(8), AT(0x20), AT(0x24), AT(0x28)};
    struct kernel_run r;
    char path[128];
    (void)state;
    assert_int_equal(branch(8, 0x20), kernel_text[2]);
    assert_int_equal(branch(0x28, 0), kernel_text[10]);
    kernel_run_begin(&r);
    kernel_run_at(&r, 100, KERNEL, 2, KERNEL);
    struct kernel_heard heard = hear_kernel(&r, path);
    kernel_heard_check(&heard, wanted, 6);
    for (size_t i = 0; i < heard.count; i++)
        assert_int_equal(heard.places[i], heard.pcs[i] - KERNEL + LINKED);
    pug_capture_free(heard.capture);
    kernel_run_end(&r);
}

/** A kernel without symbols: what its map is named after is not where its file begins. */
static void test_stripped(void **state)
{
    enum { HEAD = 0x10000 / 4, BEFORE = 0x10000, OFF = 0x20000 };
    static const uint64_t wanted[] = {AT(0), AT(4), AT(8), AT(0x20), AT(0x24), AT(0x28)};
    static uint32_t text[HEAD + 12];
    char line[64], path[128], kallsyms[128];
    (void)state;
    memcpy(text + HEAD, kernel_text, sizeof(kernel_text));
    for (unsigned told = 0; told < 2; told++) {
        /* only kallsyms can tell that it was moved by no multiple of 2 MiB */
        const struct kernel_file stripped = {
            .type = 2, .vaddr = LINKED - BEFORE - told * OFF, .text = text, .words = HEAD + 12};
        struct kernel_run r;
        kernel_run_begin(&r);
        kernel_run_at(&r, 100, KERNEL, 2, KERNEL);
        kernel_run_finish(&r, "perf.data");
        kernel_run_file(&r, "vmlinux", &stripped);
        const int size =
            snprintf(line, sizeof(line), "%llx T _text\n", (unsigned long long)(KERNEL - BEFORE));
        kernel_run_bytes(&r, "kallsyms", line, (size_t)size);
        snprintf(path, sizeof(path), "%s/vmlinux", r.folder);
        snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", r.folder);
        struct kernel_heard heard = kernel_run_hear(
            &r, "perf.data",
            &(struct pug_capture_roots){
                .kernel = path, .kallsyms = told ? kallsyms : NULL, .build_ids = ""});
        kernel_heard_check(&heard, wanted, 6);
        pug_capture_free(heard.capture);
        kernel_run_end(&r);
    }
}

/** A NOP becomes a branch while the kernel runs, and a NOP again: it has three texts. */
static void test_poked(void **state)
{
    static const uint64_t wanted[] = {AT(0),    AT(4),    AT(8), AT(0), AT(4), AT(0x20),
                                      AT(0x24), AT(0x28), AT(0), AT(4), AT(8)};
    struct kernel_run r;
    char path[128];
    (void)state;
    kernel_run_begin(&r);
    for (unsigned i = 0; i < 2; i++) {
        struct rec_bytes body = {0};
        const struct rec_perf_sample sample = {.pid = 0, .tid = 0, .time = 200 + 200 * i};
        rec_put_le(&body, KERNEL + 4, 8);
        rec_put_le(&body, 4, 2);
        rec_put_le(&body, 4, 2);
        rec_put_le(&body, i == 0 ? NOP : branch(4, 0x20), 4);
        rec_put_le(&body, i == 0 ? branch(4, 0x20) : NOP, 4);
        rec_put_le(&body, 0, 4);
        rec_perf_record(&r.perf, 20, 0, &body, &sample);
        rec_bytes_free(&body);
    }
    kernel_run_at(&r, 100, KERNEL, 1, AT(0x20));
    kernel_run_at(&r, 300, KERNEL, 2, KERNEL);
    kernel_run_at(&r, 500, KERNEL, 1, AT(0x20));
    struct kernel_heard heard = hear_kernel(&r, path);
    kernel_heard_check(&heard, wanted, sizeof(wanted) / sizeof(wanted[0]));
    for (size_t i = 0; i < heard.count; i++)
        assert_int_equal(heard.texts[i] != 0, i == 4 || i == 9);
    assert_true(heard.texts[4] != heard.texts[9]);
    pug_capture_free(heard.capture);
    kernel_run_end(&r);
}

/** A trampoline is taken away, without new text: nothing of the kernel's file stands in for it. */
static void test_poked_away(void **state)
{
    static const uint64_t wanted[] = {AT(0), AT(4), AT(8), AT(0)};
    const struct rec_perf_sample sample = {.pid = 0, .tid = 0, .time = 200};
    struct rec_bytes body = {0};
    struct kernel_run r;
    char path[128];
    (void)state;
    kernel_run_begin(&r);
    rec_put_le(&body, KERNEL + 4, 8);
    rec_put_le(&body, 4, 2);
    rec_put_le(&body, 0, 2);
    rec_put_le(&body, NOP, 4);
    rec_perf_record(&r.perf, 20, 0, &body, &sample);
    rec_bytes_free(&body);
    kernel_run_at(&r, 100, KERNEL, 1, AT(0x20));
    kernel_run_at(&r, 300, KERNEL, 1, AT(0x20));
    struct kernel_heard heard = hear_kernel(&r, path);
    kernel_heard_check(&heard, wanted, sizeof(wanted) / sizeof(wanted[0]));
    pug_capture_free(heard.capture);
    kernel_run_end(&r);
}

/** Names of the module's own file and of vmlinux, or those of kallsyms. */
static void check_names(const struct kernel_heard *heard, uint64_t in_module, uint64_t in_kernel)
{
    struct pug_names *names = pug_names_new(NULL);
    assert_non_null(names);
    const char *found = kernel_heard_name(heard, names, "/foo.ko", in_module);
    assert_non_null(found);
    assert_string_equal(found, "foo_work");
    found = kernel_heard_name(heard, names, "[kernel.kallsyms]_stext", in_kernel);
    assert_non_null(found);
    assert_string_equal(found, "helper");
    pug_names_free(names);
}

/** A module whose code runs, and calls the kernel. */
static void begin_module(struct kernel_run *r, const struct kernel_file *module)
{
    kernel_run_begin(r);
    kernel_run_map(r, MODULE, 0x3000, 0, "/foo.ko");
    kernel_run_at(r, 100, MODULE + 0x1000, 2, KERNEL);
    kernel_run_finish(r, "perf.data");
    kernel_run_file(r, "vmlinux", &vmlinux);
    kernel_run_file(r, "foo.ko", module);
}

/** A module's call leads to the kernel where the loader made it lead. */
static void test_module(void **state)
{
    static const uint32_t text[] = {NOP, 0x94000000, NOP, NOP};
    static const struct kernel_symbol symbols[] = {{"helper", 0, 0}, {"foo_work", 0, 1}};
    static const struct kernel_file module = {
        .type = 1, .text = text, .words = 4, .symbols = symbols, .symbol_count = 2, .call_at = 4};
    static const uint64_t wanted[] = {MODULE + 0x1000, MODULE + 0x1004, AT(0x20), AT(0x24),
                                      AT(0x28)};
    struct kernel_run r;
    char vmlinux_path[128], kallsyms[128], lines[256];
    (void)state;
    begin_module(&r, &module);
    const int size =
        snprintf(lines, sizeof(lines), "%llx T _stext\n%llx T helper\n%llx t foo_work\t[foo]\n",
                 (unsigned long long)KERNEL, (unsigned long long)AT(0x20),
                 (unsigned long long)(MODULE + 0x1000));
    kernel_run_bytes(&r, "kallsyms", lines, (size_t)size);
    snprintf(vmlinux_path, sizeof(vmlinux_path), "%s/vmlinux", r.folder);
    snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", r.folder);
    struct pug_capture_roots roots = {
        .kernel = vmlinux_path, .kallsyms = kallsyms, .symfs = r.folder, .build_ids = ""};
    struct kernel_heard heard = kernel_run_hear(&r, "perf.data", &roots);
    kernel_heard_check(&heard, wanted, 5);
    assert_int_equal(heard.places[0], 0);
    assert_int_equal(heard.places[1], 4);
    check_names(&heard, heard.places[0], heard.places[2]);
    pug_capture_free(heard.capture);
    /* Without kernel symbols the target of the call is unknown: the call is left out. */
    roots.kallsyms = NULL;
    heard = kernel_run_hear(&r, "perf.data", &roots);
    assert_true(heard.count < 5);
    pug_capture_free(heard.capture);
    kernel_run_end(&r);
}

/** What of kallsyms says where a module is, and where its calls lead. */
static void test_module_symbols(void **state)
{
    static const uint32_t text[] = {NOP, 0x94000000, NOP, NOP};
    static const struct kernel_symbol symbols[] = {
        {"helper", 0, 0}, {"twin", 0, 1}, {"twin", 8, 1}, {"foo_work", 4, 1}};
    static const struct kernel_file module = {
        .type = 1, .text = text, .words = 4, .symbols = symbols, .symbol_count = 4, .call_at = 4};
    static const uint64_t wanted[] = {MODULE + 0x1000, MODULE + 0x1004, AT(0x20), AT(0x24),
                                      AT(0x28)};
    const struct {
        uint64_t address;
        const char *symbol;
    } lines[][4] = {
        /* static functions of two files have one name */
        {{AT(0x20), "T helper"}, {IN(0), "t twin\t[foo]"}, {IN(8), "t twin\t[foo]"}},
        {{AT(0x20), "T helper"}, {IN(8), "t twin\t[foo]"}, {IN(0), "t twin\t[foo]"}},
        /* there is one less than in the file */
        {{AT(0x20), "T helper"}, {IN(8), "t twin\t[foo]"}, {IN(4), "t foo_work\t[foo]"}},
        /* what is static in the kernel, or data, no module can call */
        {{AT(0), "t helper"}, {AT(0x20), "T helper"}, {IN(4), "t foo_work\t[foo]"}},
        {{AT(0x20), "W helper"}, {AT(0x24), "t helper"}, {IN(4), "t foo_work\t[foo]"}},
        {{AT(0x20), "T helper"}, {AT(0x30), "D helper"}, {IN(4), "t foo_work\t[foo]"}},
        /* of another module, which exports it */
        {{AT(0x20), "T helper\t[bar]"}, {AT(4), "t helper\t[foo]"}, {IN(4), "t foo_work\t[foo]"}},
        /* unknown */
        {{AT(0x20), "T helper"}, {AT(8), "T helper"}, {IN(4), "t foo_work\t[foo]"}},
        {{AT(0x20), "t helper"}, {IN(4), "t foo_work\t[foo]"}},
    };
    const size_t count = sizeof(lines) / sizeof(lines[0]);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        struct kernel_run r;
        char vmlinux_path[128], kallsyms[128], file[256] = "";
        struct pug_text all = PUG_TEXT(file, sizeof(file));
        begin_module(&r, &module);
        for (size_t n = 0; n < 4 && lines[i][n].symbol; n++) {
            char line[64];
            snprintf(line, sizeof(line), "%llx %s\n", (unsigned long long)lines[i][n].address,
                     lines[i][n].symbol);
            pug_text_put(&all, line);
        }
        kernel_run_bytes(&r, "kallsyms", file, pug_text_end(&all));
        snprintf(vmlinux_path, sizeof(vmlinux_path), "%s/vmlinux", r.folder);
        snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", r.folder);
        struct kernel_heard heard = kernel_run_hear(
            &r, "perf.data",
            &(struct pug_capture_roots){
                .kernel = vmlinux_path, .kallsyms = kallsyms, .symfs = r.folder, .build_ids = ""});
        kernel_heard_check(&heard, wanted, i + 2 < count ? 5 : 1);
        pug_capture_free(heard.capture);
        kernel_run_end(&r);
    }
}

/** A directory with a copy of the kernel's memory: no slide, and modules are in it. */
static void test_kcore(void **state)
{
    static const struct kernel_file kcore = {
        .type = 4, .vaddr = KERNEL, .text = kernel_text, .words = 12};
    static const uint64_t wanted[] = {AT(0x20), AT(0x24), AT(0x28), AT(0), AT(4), AT(8)};
    struct kernel_run r;
    char folder[128], lines[256];
    (void)state;
    kernel_run_begin(&r);
    kernel_run_map(&r, MODULE, 0x3000, 0, "/foo.ko");
    kernel_run_at(&r, 100, AT(0x20), 2, AT(0x20));
    kernel_run_finish(&r, "data");
    snprintf(folder, sizeof(folder), "%s/kcore_dir", r.folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    kernel_run_file(&r, "kcore_dir/kcore", &kcore);
    const int size =
        snprintf(lines, sizeof(lines), "%llx t foo_work\t[foo]\n%llx T _stext\n%llx t helper\n",
                 (unsigned long long)(MODULE + 0x1000), (unsigned long long)KERNEL,
                 (unsigned long long)AT(0x20));
    kernel_run_bytes(&r, "kcore_dir/kallsyms", lines, (size_t)size);
    struct kernel_heard heard =
        kernel_run_hear(&r, "", &(struct pug_capture_roots){.build_ids = ""});
    kernel_heard_check(&heard, wanted, 6);
    /* there is no file with names: kallsyms has them */
    check_names(&heard, 0x1004, heard.places[1]);
    pug_capture_free(heard.capture);
    kernel_run_end(&r);
}

/* ---- guests ---- */

/** The same kernel address is mapped by the host and by its guest; a guest has modules, too. */
static void begin_guest(struct kernel_run *r)
{
    static const struct rec_perf_sample task = {.pid = 7, .tid = 7, .time = 2};
    kernel_run_begin_with(r, &kernel_run_vhe_cpu, &kernel_run_vhe_config);
    kernel_run_map_as(r, 4, KERNEL, 0x10000, KERNEL, "[guest.kernel.kallsyms]_stext");
    kernel_run_map_as(r, 4, MODULE, 0x3000, 0, "/foo.ko");
    rec_perf_comm(&r->perf, &task, "vcpu", false);
    kernel_run_file(r, "vmlinux", &vmlinux);
}

/** One branch is executed at an exception level, by the task that CONTEXTIDR_EL2 names. */
static void run_by(struct kernel_run *r, uint32_t tid, uint8_t el, uint64_t address, uint64_t end)
{
    const struct rec_context context = {
        .el = el, .sf = true, .ns = true, .has_vmid = true, .vmid = tid};
    rec_etmv4_trace_on(r->unit);
    rec_etmv4_start(r->unit, address, false, &context);
    rec_etmv4_timestamp(r->unit, 100);
    rec_etmv4_atom(r->unit, true);
    rec_etmv4_exception(r->unit, 0x0e, end, false, false);
}

static void run_at(struct kernel_run *r, uint8_t el, uint64_t address, uint64_t end)
{
    run_by(r, 7, el, address, end);
}

/** What runs at EL1 is a guest's: nothing of the host's kernel and files is taken for it. */
static void test_guest_is_not_the_host(void **state)
{
    static const uint32_t text[] = {NOP, NOP, 0x17fffffe, NOP};
    static const struct kernel_symbol symbols[] = {{"foo_work", 0, 1}};
    static const struct kernel_file module = {
        .type = 1, .text = text, .words = 4, .symbols = symbols, .symbol_count = 1};
    static const uint64_t wanted[] = {AT(0), AT(4), AT(8)};
    struct kernel_run r;
    char path[128];
    (void)state;
    begin_guest(&r);
    kernel_run_file(&r, "foo.ko", &module);
    run_at(&r, 1, KERNEL, AT(0x20));
    run_at(&r, 2, KERNEL, AT(0x20));
    run_at(&r, 1, MODULE, MODULE);
    kernel_run_finish(&r, "perf.data");
    snprintf(path, sizeof(path), "%s/vmlinux", r.folder);
    struct kernel_heard heard = kernel_run_hear(
        &r, "perf.data",
        &(struct pug_capture_roots){.kernel = path, .symfs = r.folder, .build_ids = ""});
    kernel_heard_check(&heard, wanted, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(heard.tids[i], 7);
    pug_capture_free(heard.capture);
    kernel_run_end(&r);
}

/** The guest's own kernel runs where its user names it, wherever it was moved to. */
static void test_guest_kernel(void **state)
{
    static const uint32_t text[] = {NOP, 0x14000003, NOP, NOP, NOP, 0x17fffffb};
    static const struct kernel_symbol symbols[] = {{"_stext", 0xffff000000080000, 1}};
    static const struct kernel_file guest = {.type = 2,
                                             .vaddr = 0xffff000000080000,
                                             .text = text,
                                             .words = 6,
                                             .symbols = symbols,
                                             .symbol_count = 1};
    static const uint64_t wanted[] = {AT(0), AT(4), AT(0), AT(4), AT(8), AT(0), AT(4)};
    struct kernel_run r;
    char path[128], guest_path[128];
    (void)state;
    begin_guest(&r);
    kernel_run_file(&r, "guest", &guest);
    run_at(&r, 1, KERNEL, AT(0x10));
    run_at(&r, 2, KERNEL, AT(0x20));
    run_at(&r, 1, KERNEL, AT(0x10));
    kernel_run_finish(&r, "perf.data");
    snprintf(path, sizeof(path), "%s/vmlinux", r.folder);
    snprintf(guest_path, sizeof(guest_path), "%s/guest", r.folder);
    const struct pug_capture_replacement given = {.path = "[guest.kernel.kallsyms]_stext",
                                                  .file = guest_path};
    struct kernel_heard heard = kernel_run_hear(
        &r, "perf.data",
        &(struct pug_capture_roots){
            .kernel = path, .build_ids = "", .replacements = &given, .replacement_count = 1});
    kernel_heard_check(&heard, wanted, 7);
    pug_capture_free(heard.capture);
    kernel_run_end(&r);
}

/** Each guest has its own kernel at the same address, and its own names; a third one nothing. */
static void test_guests(void **state)
{
    static const uint32_t of_7[] = {0x14000004, NOP, NOP, NOP, NOP, NOP};
    static const uint32_t of_9[] = {NOP, NOP, 0x17fffffe, NOP, NOP, NOP};
    static const uint32_t *const texts[] = {of_7, of_9};
    static const uint64_t wanted[] = {AT(0), AT(0), AT(4), AT(8), AT(0)};
    static const char *const names[] = {"start_of_7", "start_of_9"};
    struct kernel_run r;
    (void)state;
    kernel_run_begin_with(&r, &kernel_run_vhe_cpu, &kernel_run_vhe_config);
    for (uint32_t n = 0; n < 3; n++) {
        const uint32_t pid = 7 + 2 * n;
        char path[192], lines[128];
        const struct rec_perf_sample task = {
            .pid = (int32_t)pid, .tid = (int32_t)pid + 100, .time = 2};
        snprintf(path, sizeof(path), "[guest.kernel.kallsyms.%u]_stext", (unsigned)pid);
        kernel_run_map_of(&r, pid, 4, KERNEL, 0x10000, KERNEL, path);
        rec_perf_comm(&r.perf, &task, "vcpu", false);
        if (n == 2)
            continue; /* of this one nothing was copied */
        const struct kernel_file kcore = {.type = 4, .vaddr = KERNEL, .text = texts[n], .words = 6};
        snprintf(path, sizeof(path), "%s/kcore_dir__%u", r.folder, (unsigned)pid);
        assert_int_equal(mkdir(path, 0700), 0);
        snprintf(path, sizeof(path), "kcore_dir__%u/kcore", (unsigned)pid);
        kernel_run_file(&r, path, &kcore);
        snprintf(path, sizeof(path), "kcore_dir__%u/kallsyms", (unsigned)pid);
        const int size =
            snprintf(lines, sizeof(lines), "%llx T %s\n", (unsigned long long)KERNEL, names[n]);
        kernel_run_bytes(&r, path, lines, (size_t)size);
    }
    run_by(&r, 107, 1, KERNEL, AT(0x10));
    run_by(&r, 109, 1, KERNEL, AT(0));
    run_by(&r, 111, 1, KERNEL, AT(0x10));
    run_by(&r, 107, 1, KERNEL, AT(0x10));
    kernel_run_finish(&r, "data");
    struct kernel_heard heard =
        kernel_run_hear(&r, "", &(struct pug_capture_roots){.build_ids = ""});
    kernel_heard_check(&heard, wanted, 5);
    static const int32_t tids[] = {107, 109, 109, 109, 107};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(heard.tids[i], tids[i]);
    const struct pug_capture_object *object;
    struct pug_names *known = pug_names_new(NULL);
    size_t guests = 0;
    for (uint32_t n = 0; (object = pug_capture_object_at(heard.capture, n)) != NULL; n++) {
        struct pug_names_file *file;
        struct pug_names_function function;
        if (strncmp(object->path, "[guest", 6) != 0)
            continue;
        assert_int_equal(object->state, guests < 2 ? PUG_OBJECT_FOUND : PUG_OBJECT_MISSING);
        assert_int_equal(pug_capture_names(heard.capture, n, known, &file), guests < 2);
        if (guests < 2) {
            assert_true(pug_names_function(file, KERNEL + 4, &function));
            assert_string_equal(function.name, names[guests]);
        }
        guests++;
    }
    assert_int_equal(guests, 3);
    pug_names_free(known);
    pug_capture_free(heard.capture);
    kernel_run_end(&r);
}

/* ---- packed modules ---- */

#ifdef PUG_WITH_ZLIB
#include <zlib.h>

static size_t pack_gzip(const struct rec_bytes *bytes, uint8_t *out, size_t room)
{
    z_stream stream = {.next_in = bytes->data,
                       .avail_in = (uInt)bytes->size,
                       .next_out = out,
                       .avail_out = (uInt)room};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return room - stream.avail_out;
}
#endif

#ifdef PUG_WITH_LZMA
#include <lzma.h>

static size_t pack_xz(const struct rec_bytes *bytes, uint8_t *out, size_t room)
{
    size_t size = 0;
    assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, bytes->data, bytes->size,
                                             out, &size, room),
                     LZMA_OK);
    return size;
}
#endif

#ifdef PUG_WITH_ZSTD
#include <zstd.h>

static size_t pack_zstd(const struct rec_bytes *bytes, uint8_t *out, size_t room)
{
    const size_t size = ZSTD_compress(out, room, bytes->data, bytes->size, 3);
    assert_false(ZSTD_isError(size));
    return size;
}
#endif

static const struct {
    const char *name;
    size_t (*pack)(const struct rec_bytes *bytes, uint8_t *out, size_t room);
} packers[] = {
#ifdef PUG_WITH_ZLIB
    {"foo.ko.gz", pack_gzip},
#endif
#ifdef PUG_WITH_LZMA
    {"foo.ko.xz", pack_xz},
#endif
#ifdef PUG_WITH_ZSTD
    {"foo.ko.zst", pack_zstd},
#endif
    {NULL, NULL},
};

/** Modules are found as distributions pack them; a damaged one is no module. */
static void test_packed(void **state)
{
    static const uint32_t text[] = {NOP, NOP, 0x17fffffe, NOP};
    static const struct kernel_symbol symbols[] = {{"foo_work", 0, 1}};
    static const struct kernel_file module = {
        .type = 1, .text = text, .words = 4, .symbols = symbols, .symbol_count = 1};
    static const uint64_t wanted[] = {MODULE, MODULE + 4, MODULE + 8};
    (void)state;
    if (!packers[0].name)
        skip();
    for (size_t i = 0; packers[i].name; i++) {
        struct kernel_run r;
        struct rec_bytes bytes = {0};
        char path[64];
        kernel_run_begin(&r);
        snprintf(path, sizeof(path), "/%s", packers[i].name);
        kernel_run_map(&r, MODULE, 0x3000, 0, path);
        kernel_run_at(&r, 100, MODULE, 1, MODULE);
        kernel_run_finish(&r, "perf.data");
        kernel_file_put(&bytes, &module);
        uint8_t *packed = malloc(bytes.size + 4096);
        assert_non_null(packed);
        const size_t size = packers[i].pack(&bytes, packed, bytes.size + 4096);
        kernel_run_bytes(&r, packers[i].name, packed, size);
        const struct pug_capture_roots roots = {.symfs = r.folder, .build_ids = ""};
        struct kernel_heard heard = kernel_run_hear(&r, "perf.data", &roots);
        kernel_heard_check(&heard, wanted, 3);
        pug_capture_free(heard.capture);
        for (size_t cut = 0; cut < size; cut += size / 5 + 1) {
            kernel_run_bytes(&r, packers[i].name, packed, cut);
            heard = kernel_run_hear(&r, "perf.data", &roots);
            assert_int_equal(heard.count, 0);
            pug_capture_free(heard.capture);
        }
        kernel_run_bytes(&r, packers[i].name, packed, size / 2);
        heard = kernel_run_hear(&r, "perf.data", &roots);
        pug_capture_free(heard.capture);
        kernel_run_end(&r);
        free(packed);
        rec_bytes_free(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moved),
        cmocka_unit_test(test_stripped),
        cmocka_unit_test(test_poked),
        cmocka_unit_test(test_poked_away),
        cmocka_unit_test(test_module),
        cmocka_unit_test(test_module_symbols),
        cmocka_unit_test(test_kcore),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_guest_is_not_the_host),
        cmocka_unit_test(test_guest_kernel),
        cmocka_unit_test(test_guests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
