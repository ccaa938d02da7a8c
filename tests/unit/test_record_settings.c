// SPDX-License-Identifier: MIT
/**
 * @file Every setting of a decoder of program flow can occur in a recording, or this file says why
 * not.
 */
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/settings.h"
#include "pugmark/author/protocol.h"
#include "recorder/page.h"
#include "recorder/unit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants the four first */
#include <cmocka.h>

#define NAMES 160u
#define SEEDS 50u

/* Why a recording has it in one way alone. */
#define OF_CORE     "the processor or the id, not a choice of the trace"
#define OTHER_NAME  "another name of a setting that is here, too"
#define READER      "how the decoder reads, nothing of the trace"
#define OF_TOOLS    "a dialect of other encoders"
#define CONDITIONAL "of conditional tracing, which is not recorded (docs/recorder.md)"

struct row {
    const char *protocol, *setting, *option, *why; /* one of the last two */
};

static const struct row etmv4[] = {
    {"etmv4", "TRCIDR0", "commit_packets", NULL},
    {"etmv4", "TRCIDR0", "q_once_in", NULL},
    {"etmv4", "TRCIDR1", "version", NULL},
    {"etmv4", "TRCIDR8", "speculation", NULL},
    {"etmv4", "TRCIDR2", NULL, OF_CORE},
    {"etmv4", "TRCIDR9", NULL, CONDITIONAL},
    {"etmv4", "TRCIDR10", NULL, CONDITIONAL},
    {"etmv4", "TRCIDR11", NULL, CONDITIONAL},
    {"etmv4", "TRCIDR12", NULL, CONDITIONAL},
    {"etmv4", "TRCIDR13", NULL, CONDITIONAL},
    {"etmv4", "TRCCONFIGR", "return_stack", NULL},
    {"etmv4", "TRCCONFIGR", "branch_broadcast", NULL},
    {"etmv4", "TRCCONFIGR", "cycles", NULL},
    {"etmv4", "TRCCONFIGR", "timestamps", NULL},
    {"etmv4", "TRCCONFIGR", "context_id", NULL},
    {"etmv4", "TRCCONFIGR", "vmid", NULL},
    {"etmv4", "TRCCONFIGR", "q_once_in", NULL},
    {"etmv4", "TRCTRACEIDR", NULL, OF_CORE},
    {"etmv4", "TRCDEVARCH", NULL, "of ETE"},
};

static const struct row ete[] = {
    {"ete", "TRCIDR0", "commit_packets", NULL},
    {"ete", "TRCIDR0", "q_once_in", NULL},
    {"ete", "TRCDEVARCH", "version", NULL},
    {"ete", "TRCIDR8", "speculation", NULL},
    {"ete", "TRCIDR1", NULL, OF_CORE},
    {"ete", "TRCIDR2", NULL, OF_CORE},
    {"ete", "TRCIDR9", NULL, "of ETMv4"},
    {"ete", "TRCIDR10", NULL, "of ETMv4"},
    {"ete", "TRCIDR11", NULL, "of ETMv4"},
    {"ete", "TRCIDR12", NULL, "of ETMv4"},
    {"ete", "TRCIDR13", NULL, "of ETMv4"},
    {"ete", "TRCCONFIGR", "return_stack", NULL},
    {"ete", "TRCCONFIGR", "branch_broadcast", NULL},
    {"ete", "TRCCONFIGR", "cycles", NULL},
    {"ete", "TRCCONFIGR", "timestamps", NULL},
    {"ete", "TRCCONFIGR", "context_id", NULL},
    {"ete", "TRCCONFIGR", "vmid", NULL},
    {"ete", "TRCCONFIGR", "q_once_in", NULL},
    {"ete", "TRCTRACEIDR", NULL, OF_CORE},
};

static const struct row armv7[] = {
    {"etmv3", "ETMCR", "cycles", NULL},
    {"etmv3", "ETMCR", "branch_broadcast", NULL},
    {"etmv3", "ETMCR", "timestamps", NULL},
    {"etmv3", "ETMCR", "context_bytes", NULL},
    {"etmv3", "ETMIDR", "version", NULL},
    {"etmv3", "ETMIDR", "alternative", NULL},
    {"etmv3", "ETMCCER", "wide_timestamps", NULL},
    {"etmv3", "ETMTRACEIDR", NULL, OF_CORE},
};

static const struct row ptm[] = {
    {"ptm", "ETMCR", "cycles", NULL},
    {"ptm", "ETMCR", "branch_broadcast", NULL},
    {"ptm", "ETMCR", "timestamps", NULL},
    {"ptm", "ETMCR", "context_bytes", NULL},
    {"ptm", "ETMCR", "return_stack", NULL},
    {"ptm", "ETMIDR", "version", NULL},
    {"ptm", "ETMCCER", "wide_timestamps", NULL},
    {"ptm", "ETMCCER", "barriers", NULL},
    {"ptm", "ETMTRACEIDR", NULL, OF_CORE},
};

static const struct row ntrace[] = {
    {"ntrace", "btm", "btm", NULL},
    {"ntrace", "implicit_return", "implicit_return", NULL},
    {"ntrace", "sequential_jump", "sequential_jump", NULL},
    {"ntrace", "all_jumps", "all_jumps", NULL},
    {"ntrace", "extend_addr_msb", "extend_addr_msb", NULL},
    {"ntrace", "ts", "timestamps", NULL},
    {"ntrace", "dialect", "sifive", NULL},
    {"ntrace", "src_bits", "src_bits", NULL},
    {"ntrace", "zcmt", "zcmt", NULL},
    {"ntrace", "jvt_base", "jvt_base", NULL},
    {"ntrace", "trTeControl", NULL, OTHER_NAME},
    {"ntrace", "trTeImpl", NULL, OTHER_NAME},
    {"ntrace", "trTeInstFeatures", NULL, OTHER_NAME},
    {"ntrace", "trTsControl", NULL, OTHER_NAME},
    {"ntrace", "mode", NULL, OTHER_NAME},
    {"ntrace", "zcmp_zcmt", NULL, OTHER_NAME},
    {"ntrace", "xlen", NULL, OF_CORE},
    {"ntrace", "addr_bits", "addr_bits", NULL},
    {"ntrace", "ts_width", "ts_width", NULL},
    {"ntrace", "return_stack_depth", "stack_depth", NULL},
    {"ntrace", "walk_limit", NULL, READER},
    {"ntrace", "align", NULL, READER},
};

static const struct row etrace[] = {
    {"etrace", "context_width_p", "context_bits", NULL},
    {"etrace", "nocontext_p", "context_bits", NULL},
    {"etrace", "time_width_p", "time_bits", NULL},
    {"etrace", "notime_p", "time_bits", NULL},
    {"etrace", "f0s_width_p", "jump_cache", NULL},
    {"etrace", "bpred_size_p", "branch_prediction", NULL},
    {"etrace", "cache_size_p", "jump_cache", NULL},
    {"etrace", "return_stack_size_p", "return_stack", NULL},
    {"etrace", "call_counter_size_p", "call_counter", NULL},
    {"etrace", "sijump_p", "sijump", NULL},
    {"etrace", "support_format", "standard_support", NULL},
    {"etrace", "iret_field", "irets", NULL},
    {"etrace", "resync_disabled", "resync_disabled", NULL},
    {"etrace", "implicit_exception", "implicit_exception", NULL},
    {"etrace", "implicit_exception_vector", "vector", NULL},
    {"etrace", "implicit_exception_vectored", "vectored", NULL},
    {"etrace", "srcid_bits", "src_bits", NULL},
    {"etrace", "timestamp_bytes", "timestamp_bytes", NULL},
    {"etrace", "padding", "padding", NULL},
    {"etrace", "zcmt", "zcmt", NULL},
    {"etrace", "jvt_base", "jvt_base", NULL},
    {"etrace", "format_set", "data_mma_cas", NULL},
    {"etrace", "diff_bits", "data_diff_bits", NULL},
    {"etrace", "noaddr", "data_form", NULL},
    {"etrace", "nodata", "data_form", NULL},
    {"etrace", "split", "data_split", NULL},
    {"etrace", "compression", "data_method", NULL},
    {"etrace", "full_address", NULL, "support packets say it: --set full_address"},
    {"etrace", "sijump_enabled", NULL, "support packets say it: --set sijump"},
    {"etrace", "implicit_return", NULL, "support packets say it: --set return_stack, call_counter"},
    {"etrace", "branch_prediction", NULL, "support packets say it"},
    {"etrace", "jump_target_cache", NULL, "support packets say it: --set jump_cache"},
    {"etrace", "full_daddress", NULL, "support packets say it; data_method=1 sends whole data"},
    {"etrace", "full_data", NULL, "support packets say it; data_method=1 sends whole data"},
    {"etrace", "xlen", NULL, OF_CORE},
    {"etrace", "iaddress_width_p", "iaddress_width", NULL},
    {"etrace", "iaddress_lsb_p", "iaddress_lsb", NULL},
    {"etrace", "iaddress_sign_extend", "iaddress_sign_extend", NULL},
    {"etrace", "privilege_width_p", "privilege_width", NULL},
    {"etrace", "ecause_width_p", "ecause_width", NULL},
    {"etrace", "data_width_p", "data_width", NULL},
    {"etrace", "daddress_width_p", "daddress_width", NULL},
    {"etrace", "lrid_width_p", "lrid_width", NULL},
    {"etrace", "dtype_width_p", "dtype_width", NULL},
    {"etrace", "type_bits", "type_bits", NULL},
    {"etrace", "payload_bytes", NULL, OF_TOOLS},
    {"etrace", "block_size", NULL, OF_TOOLS},
    {"etrace", "bit_stream", NULL, OF_TOOLS},
    {"etrace", "framed", NULL, OF_TOOLS},
    {"etrace", "start", NULL, OF_TOOLS},
    {"etrace", "pad_mode", NULL, OF_TOOLS},
    {"etrace", "layout", NULL, OF_TOOLS},
    {"etrace", "container", NULL, OF_TOOLS},
    {"etrace", "daddr_units", NULL, OF_TOOLS},
    {"etrace", "data_format_bits", NULL, OF_TOOLS},
    {"etrace", "sijump_returns", NULL, OF_TOOLS},
    {"etrace", "context_is_asid_vmid", NULL, OF_TOOLS},
    {"etrace", "diff_code_1_is_subtraction", NULL, OF_TOOLS},
    {"etrace", "ref_atomic_codes", NULL, OF_TOOLS},
    {"etrace", "flow", NULL, READER},
    {"etrace", "only_data", NULL, READER},
    {"etrace", "data_trace", NULL, READER},
    {"etrace", "data_queue", NULL, READER},
    {"etrace", "walk_limit", NULL, READER},
    {"etrace", "branch_limit", NULL, READER},
    {"etrace", "instruction_type", NULL, READER},
    {"etrace", "data_type", NULL, READER},
};

/** Other names of what the tables have: of an id or a core, of a register, and of an attribute. */
static bool is_other_name(const char *name)
{
    static const char *const others[] = {"core",
                                         "arch",
                                         "profile",
                                         "src_id",
                                         "srcid",
                                         "hart_index",
                                         "src_bits",
                                         "trTsWidth",
                                         "trTsEnable",
                                         "discovery_info_0",
                                         "discovery_info_1",
                                         "zcmp_zcmt",
                                         "implicit_exception_vector_u",
                                         "implicit_exception_vector_s",
                                         "implicit_exception_vector_m",
                                         "implicit_exception_vector_vs"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(others[i], name) == 0)
            return true;
    return strncmp(name, "trTe", 4) == 0;
}

struct asked {
    char names[NAMES][48];
    unsigned count;
};

static void asked_for(void *context, const char *name, bool word)
{
    struct asked *asked = context;
    (void)word;
    for (unsigned i = 0; i < asked->count; i++)
        if (strcmp(asked->names[i], name) == 0)
            return;
    assert_true(asked->count < NAMES);
    snprintf(asked->names[asked->count++], sizeof(asked->names[0]), "%s", name);
}

static void ask(const char *protocol, struct asked *asked)
{
    const struct pug_settings_watch watch = {asked_for, asked};
    const struct pug_settings settings = {.watch = &watch};
    const struct pug_protocol *of = pug_protocol_find(protocol);
    void *config = NULL;
    assert_non_null(of);
    asked->count = 0;
    if (of->config_new(&settings, NULL, &config) == PUG_OK) /* else a register has no default */
        of->config_free(config);
    assert_true(asked->count > 0);
}

/**
 * What a description says of the setting, with the option at that value, and others as the seed has
 * them.
 */
static void described(const struct rec_unit_class *of, int option, uint64_t value, uint64_t seed,
                      const char *setting, char *text, size_t size)
{
    bool given[REC_OPTIONS] = {false};
    uint64_t values[REC_OPTIONS];
    struct rec_page page;
    char key[64];
    const uint8_t family = of->families >> REC_FAMILY_ARM & 1 ? REC_FAMILY_ARM : REC_FAMILY_RV64;
    for (unsigned i = 0; i < of->option_count; i++)
        values[i] = of->options[i].otherwise;
    values[option] = value;
    given[option] = true;
    rec_unit_values(of, family, given, seed, values);
    const struct rec_unit_setup setup = {
        .family = family, .source = 1, .sources = 1, .values = values, .data = of->tells != NULL};
    assert_true(rec_page_open(&page));
    fputc('\n', page.file);
    of->describe(&setup, page.file);
    if (of->describe_buffer)
        of->describe_buffer(&setup, page.file);
    assert_true(rec_page_close(&page));
    snprintf(key, sizeof(key), "\n%s", setting);
    const char *at = page.text;
    while ((at = strstr(at, key)) && !strchr("=(", at[strlen(key)]))
        at++;
    if (at)
        snprintf(text, size, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
    else
        fail_msg("%s: nothing is said of %s", of->name, setting);
    free(page.text);
}

static bool makes_difference(const struct rec_unit_class *of, int option, uint64_t seed,
                             const char *setting)
{
    char first[160], text[160];
    uint64_t most = of->options[option].most;
    described(of, option, 0, seed, setting, first, sizeof(first));
    for (uint64_t value = 1; value <= (most < 16 ? most : 16); value++) {
        described(of, option, value, seed, setting, text, sizeof(text));
        if (strcmp(first, text) != 0)
            return true;
    }
    return false;
}

/** The option changes the decoder's input, alone or beside others. */
static void check_option(const struct row *row)
{
    const struct rec_unit_class *of = rec_unit_find(row->protocol);
    int option = rec_unit_option(of, row->option);
    bool differs = false;
    if (option < 0)
        fail_msg("%s has no option %s", row->protocol, row->option);
    for (uint64_t seed = 0; seed < SEEDS && !differs; seed++)
        differs = makes_difference(of, option, seed, row->setting);
    if (!differs)
        fail_msg("%s: %s does nothing to %s", row->protocol, row->option, row->setting);
}

static void check(const char *protocol, const struct row *rows, size_t count)
{
    struct asked asked;
    ask(protocol, &asked);
    for (unsigned n = 0; n < asked.count; n++) {
        bool known = is_other_name(asked.names[n]);
        for (size_t i = 0; i < count; i++) {
            size_t length = strlen(asked.names[n]);
            const char *rest = rows[i].setting + length;
            known = known || (strncmp(rows[i].setting, asked.names[n], length) == 0 &&
                              (!*rest || strcmp(rest, "_p") == 0));
        }
        if (!known)
            fail_msg("%s: %s is no option of record, and nothing says why", protocol,
                     asked.names[n]);
    }
    for (size_t i = 0; i < count; i++) {
        bool wanted = false;
        for (unsigned n = 0; n < asked.count; n++)
            wanted = wanted || strcmp(rows[i].setting, asked.names[n]) == 0;
        if (!wanted)
            fail_msg("%s: nobody asks for %s", protocol, rows[i].setting);
        assert_true(!rows[i].option == (rows[i].why != NULL));
        if (rows[i].option)
            check_option(&rows[i]);
    }
}

#define TABLE(rows) rows, sizeof(rows) / sizeof((rows)[0])

static void test_arm(void **state)
{
    (void)state;
    check("ETMV4I", TABLE(etmv4));
    check("ETE", TABLE(ete));
    check("ETMV3", TABLE(armv7));
    check("PTM", TABLE(ptm));
}

static void test_riscv(void **state)
{
    (void)state;
    check("N-Trace", TABLE(ntrace));
    check("E-Trace", TABLE(etrace));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_arm), cmocka_unit_test(test_riscv)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
