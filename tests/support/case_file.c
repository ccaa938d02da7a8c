// SPDX-License-Identifier: MIT
#include "support/case_file.h"
#include "pugmark/advanced/image.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *case_realloc(void *memory, size_t size)
{
    void *grown = realloc(memory, size ? size : 1);
    if (!grown)
        abort();
    return grown;
}

char *case_copy(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(case_realloc(NULL, size), text, size);
}

/** One more item at the end of an array; zeroed. */
static void *append(void *array, size_t *count, size_t size)
{
    void **items = array;
    *items = case_realloc(*items, (*count + 1) * size);
    return memset((char *)*items + size * (*count)++, 0, size);
}

/* ---- names ---- */

static bool set_option(struct pug_decode_options *options, const char *name, uint64_t value)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        {"halt_on_bad_packet", &options->halt_on_bad_packet},
        {"error_on_bad_packet", &options->error_on_bad_packet},
        {"check_direct_branch", &options->check_direct_branch},
        {"check_strict_branch", &options->check_strict_branch},
        {"check_range_continuity", &options->check_range_continuity},
        {"check_skips_thumb", &options->check_skips_thumb},
        {"split_source_address", &options->split_source_address},
        {"check_opcode", &options->check_opcode},
        {"data_elements", &options->data_elements},
        {"join_payloads", &options->join_payloads},
    };
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (strcmp(flags[i].name, name) == 0) {
            *flags[i].flag = true;
            return true;
        }
    if (strcmp(name, "range_limit") != 0)
        return false;
    options->range_limit = (uint32_t)value;
    return true;
}

#define QUIRK(name_)                                                                               \
    {                                                                                              \
#name_,                                                                                    \
        {                                                                                          \
            .name_ = 1                                                                             \
        }                                                                                          \
    }

static bool set_quirk(struct pug_quirks *quirks, const char *name)
{
    static const struct {
        const char *name;
        struct pug_quirks bit;
    } bits[] = {
        QUIRK(empty_run_fatal),
        QUIRK(mute_reader),
        QUIRK(unattached_is_fatal),
        QUIRK(fsync_padding_is_data),
        QUIRK(strict_blocks),
        QUIRK(sync_error_fatal),
        QUIRK(hsync_not_in_index),
        QUIRK(silent_framing),
        QUIRK(bad_software_packet_fatal),
        QUIRK(stm_index_of_next_byte),
        QUIRK(stm_counts_in_8_bits),
        QUIRK(stm_stale_error_type),
        QUIRK(itm_search_reports),
        QUIRK(itm_reserved_timestamps),
        QUIRK(itm_zeros_of_one_packet),
        QUIRK(itm_extension_31_bits),
        QUIRK(itm_gts1_bytes_altered),
        QUIRK(itm_no_time_flags),
        QUIRK(itm_page_survives_sync),
        QUIRK(itm_overflow_clears_time),
        QUIRK(itm_prescale_needs_swo),
        QUIRK(itm_reset_keeps_running),
        QUIRK(reference_classes),
        QUIRK(t32_word_reads),
        QUIRK(armv7_raw_timestamps),
        QUIRK(armv7_vmid_as_character),
        QUIRK(armv7_space_without_hyp),
        QUIRK(etmv3_hold_whole_list),
        QUIRK(etmv3_cancel_keeps_count),
        QUIRK(etmv3_incomplete_is_whole),
        QUIRK(etmv3_lsip_cut),
        QUIRK(etmv3_old_exceptions),
        QUIRK(etmv3_first_zeros_reserved),
        QUIRK(etmv3_unsynced_by_block),
        QUIRK(etmv3_tracemode_names_previous),
        QUIRK(etmv3_data_fields),
        QUIRK(etmv3_untraced_has_address),
        QUIRK(etmv3_stale_elements),
        QUIRK(etmv3_blx_forgotten),
        QUIRK(etmv3_bad_packet_fatal),
        QUIRK(etmv3_malformed_passes),
        QUIRK(etmv3_endless_packets),
        QUIRK(ptm_exception_zero),
        QUIRK(ptm_exception_context_lost),
        QUIRK(ptm_isync_hyp_lost),
        QUIRK(ptm_alt_isa_apart),
        QUIRK(ptm_silent_context),
        QUIRK(ptm_zero_run_lost),
        QUIRK(ptm_unsynced_by_block),
        QUIRK(ptm_errors_fatal),
        QUIRK(ptm_reset_keeps_zeros),
        QUIRK(ptm_cycles_lost),
        QUIRK(ptm_waypoint_unbounded),
        QUIRK(ptm_bad_packet_silent),
        QUIRK(ptm_untaken_blx),
        QUIRK(reads_end_with_image),
        QUIRK(silent_end),
        QUIRK(ptm_told_isa),
        QUIRK(silent_stack),
        QUIRK(silent_depth),
        QUIRK(etm4_context_extra_byte),
        QUIRK(etm4_hunt_labels),
        QUIRK(etm4_info_marks),
        QUIRK(etm4_reset_is_bad),
        QUIRK(etm4_silent_refusal),
        QUIRK(etm4_q_eats_element),
        QUIRK(etm4_source_not_p0),
        QUIRK(etm4_source_is_bare),
        QUIRK(etm4_source_next_isa),
        QUIRK(etm4_source_32_bits),
        QUIRK(etm4_discard_drops_ite),
        QUIRK(etm4_pe_reset_unknown),
        QUIRK(etm4_match_prev_pops),
        QUIRK(etm4_stale_state),
        QUIRK(etm4_missing_address_twice),
        QUIRK(etm4_failed_cancel_keeps),
        QUIRK(etm4_error_drops_run),
        QUIRK(etm4_end_passes_p0),
        QUIRK(etm4_walk_error_fatal),
        QUIRK(etm4_incomplete_is_error),
        QUIRK(etm4_limit_runs_on),
        QUIRK(etm4_stale_it),
        QUIRK(etm4_wait_delays_no_sync),
        QUIRK(etm4_return_not_p0),
        QUIRK(etm4_walks_over_return),
        QUIRK(etm4_exception_return_pops),
        QUIRK(etm4_info_empties_stack),
        QUIRK(etmv3_v8m_is_not_m),
        QUIRK(etmv3_no_return_address),
    };
    if (strcmp(name, "reference") == 0) {
        *quirks = pug_quirks_reference();
        return true;
    }
    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
        if (strcmp(bits[i].name, name) != 0)
            continue;
        unsigned char bytes[sizeof(*quirks)], bit[sizeof(*quirks)];
        memcpy(bytes, quirks, sizeof(bytes));
        memcpy(bit, &bits[i].bit, sizeof(bit));
        for (size_t j = 0; j < sizeof(bytes); j++)
            bytes[j] |= bit[j];
        memcpy(quirks, bytes, sizeof(bytes));
        return true;
    }
    return false;
}

/* ---- lines ---- */

/** Groups of 2, 4 or 8 hex digits, as bytes; false for anything else. */
static bool read_bytes(const char *text, uint8_t **bytes, size_t *size)
{
    for (;;) {
        text += strspn(text, " \t");
        if (!*text)
            return true;
        size_t digits = strcspn(text, " \t");
        if ((digits != 2 && digits != 4 && digits != 8) ||
            strspn(text, "0123456789abcdefABCDEF") < digits)
            return false;
        unsigned long value = strtoul(text, NULL, 16);
        *bytes = case_realloc(*bytes, *size + digits / 2);
        for (size_t i = 0; i < digits / 2; i++)
            (*bytes)[(*size)++] = (uint8_t)(value >> 8 * i);
        text += digits;
    }
}

/** `0xADDRESS [SPACE]: bytes` */
/** Memory that goes on where the line before it ended is one piece with it. */
static void join_memory(struct case_case *test)
{
    if (test->memory_count < 2)
        return;
    struct case_memory *last = &test->memory[test->memory_count - 1], *before = last - 1;
    if (before->space != last->space || before->address + before->size != last->address)
        return;
    before->bytes = case_realloc(before->bytes, before->size + last->size);
    memcpy(before->bytes + before->size, last->bytes, last->size);
    before->size += last->size;
    free(last->bytes);
    test->memory_count--;
}

static bool read_memory(struct case_case *test, const char *text)
{
    char *after;
    struct case_memory *memory = append(&test->memory, &test->memory_count, sizeof(*memory));
    memory->space = PUG_SPACE_ANY;
    memory->address = strtoull(text, &after, 16);
    after += strspn(after, " \t");
    size_t length = strcspn(after, ":");
    char space[16] = "";
    if (length >= sizeof(space) || after[length] != ':')
        return false;
    memcpy(space, after, length);
    space[strcspn(space, " ")] = '\0';
    if (space[0])
        memory->space = pug_space_by_name(space);
    bool good = read_bytes(after + length + 1, &memory->bytes, &memory->size);
    join_memory(test);
    return good;
}

/** `NAME = VALUE`: a number, or a word. */
static bool read_setting(struct case_case *test, const char *name, const char *value)
{
    bool transport = strncmp(name, "transport.", 10) == 0;
    struct pug_setting *setting =
        transport
            ? append(&test->transport_settings, &test->transport_setting_count, sizeof(*setting))
            : append(&test->settings, &test->setting_count, sizeof(*setting));
    char *end;
    setting->name = case_copy(transport ? name + 10 : name);
    setting->value = strtoull(value, &end, 0);
    if (*end || !*value)
        setting->text = case_copy(value);
    return true;
}

/** A line that configures; false when it is none. */
static bool read_configuration(struct case_case *test, char *word, char *rest)
{
    char *equals = strstr(rest, "= ");
    if (strcmp(word, "protocol") == 0) {
        free(test->protocol);
        test->protocol = case_copy(rest);
    } else if (strcmp(word, "transport") == 0) {
        free(test->transport);
        test->transport = case_copy(rest);
    } else if (strcmp(word, "memory") == 0) {
        return read_memory(test, rest);
    } else if (strcmp(word, "quirk") == 0) {
        return set_quirk(&test->quirks, rest);
    } else if (strcmp(word, "option") == 0) {
        uint64_t value = equals ? strtoull(equals + 2, NULL, 0) : 1;
        rest[strcspn(rest, " =")] = '\0';
        return set_option(&test->options, rest, value);
    } else if (strcmp(word, "packets") == 0) {
        test->packets_only = true;
    } else if (strcmp(word, "wait") == 0) {
        test->wait_at = strtoull(rest, NULL, 0);
    } else if (equals == rest) {
        return read_setting(test, word, rest + 2);
    } else {
        return false;
    }
    return true;
}

/** A line of the data path; false when it is none. */
static bool read_step(struct case_case *test, const char *line, int number)
{
    static const struct {
        const char *word;
        enum pug_op op;
    } operations[] = {{"end", PUG_OP_END}, {"flush", PUG_OP_FLUSH}, {"reset", PUG_OP_RESET}};
    struct case_step step = {.line = number, .op = PUG_OP_DATA};
    bool good = false;
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        if (strcmp(line, operations[i].word) == 0) {
            step.op = operations[i].op;
            good = true;
        }
    if (!good && !read_bytes(line, &step.bytes, &step.size)) {
        free(step.bytes);
        return false;
    }
    *(struct case_step *)append(&test->steps, &test->step_count, sizeof(step)) = step;
    return true;
}

static bool read_expect(struct case_case *test, const char *line, int number)
{
    if (test->step_count == 0)
        return false;
    struct case_step *step = &test->steps[test->step_count - 1];
    struct case_expect *expect = append(&step->expects, &step->expect_count, sizeof(*expect));
    expect->line = number;
    expect->text = case_copy(line);
    return true;
}

/** The lines before the first case are copied into each. */
static struct case_case *begin_case(struct case_file *file, const struct case_case *common,
                                    const char *title)
{
    struct case_case *test = append(&file->cases, &file->case_count, sizeof(*test));
    test->file = file->path;
    test->title = case_copy(title);
    test->protocol = common->protocol ? case_copy(common->protocol) : NULL;
    test->transport = common->transport ? case_copy(common->transport) : NULL;
    test->options = common->options;
    test->quirks = common->quirks;
    test->packets_only = common->packets_only;
    for (size_t i = 0; i < common->memory_count; i++) {
        struct case_memory *memory = append(&test->memory, &test->memory_count, sizeof(*memory));
        *memory = common->memory[i];
        memory->bytes = case_realloc(NULL, memory->size);
        if (memory->size > 0)
            memcpy(memory->bytes, common->memory[i].bytes, memory->size);
    }
    return test;
}

/** Settings of a case stand before the common ones, as the first of a name wins. */
static void copy_settings(struct pug_setting **to, size_t *count, const struct pug_setting *from,
                          size_t from_count)
{
    for (size_t i = 0; i < from_count; i++) {
        struct pug_setting *setting = append(to, count, sizeof(*setting));
        setting->name = case_copy(from[i].name);
        setting->value = from[i].value;
        setting->text = from[i].text ? case_copy(from[i].text) : NULL;
    }
}

static void free_case(struct case_case *test)
{
    for (size_t i = 0; i < test->memory_count; i++)
        free(test->memory[i].bytes);
    for (size_t i = 0; i < test->setting_count; i++) {
        free((char *)test->settings[i].name);
        free((char *)test->settings[i].text);
    }
    for (size_t i = 0; i < test->transport_setting_count; i++) {
        free((char *)test->transport_settings[i].name);
        free((char *)test->transport_settings[i].text);
    }
    for (size_t i = 0; i < test->step_count; i++) {
        for (size_t j = 0; j < test->steps[i].expect_count; j++)
            free(test->steps[i].expects[j].text);
        free(test->steps[i].expects);
        free(test->steps[i].bytes);
    }
    free(test->memory);
    free(test->settings);
    free(test->transport_settings);
    free(test->steps);
    free(test->title);
    free(test->protocol);
    free(test->transport);
}

void case_file_free(struct case_file *file)
{
    for (size_t i = 0; i < file->case_count; i++)
        free_case(&file->cases[i]);
    free(file->cases);
    free(file->path);
    free(file);
}

/** One line without comment and without blanks around it. */
static bool read_line(struct case_file *file, struct case_case *common, char *line, int number)
{
    struct case_case *test = file->case_count > 0 ? &file->cases[file->case_count - 1] : common;
    if (strncmp(line, "case ", 5) == 0) {
        begin_case(file, common, line + 5);
        return true;
    }
    if (strchr("=>!~", line[0]))
        return read_expect(test, line, number);
    if (test != common && read_step(test, line, number))
        return true;
    size_t length = strcspn(line, " \t");
    char *rest = line + length;
    rest += strspn(rest, " \t");
    if (!*rest)
        return false;
    line[length] = '\0';
    return read_configuration(test, line, rest);
}

struct case_file *case_file_read(const char *path)
{
    FILE *stream = fopen(path, "r");
    if (!stream) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return NULL;
    }
    struct case_file *file = case_realloc(NULL, sizeof(*file));
    *file = (struct case_file){.path = case_copy(path)};
    struct case_case common = {.file = file->path};
    bool good = true;
    char buffer[8192];
    for (int number = 1; fgets(buffer, sizeof(buffer), stream); number++) {
        buffer[strcspn(buffer, "#\n")] = '\0';
        char *line = buffer + strspn(buffer, " \t");
        for (size_t n = strlen(line); n > 0 && isspace((unsigned char)line[n - 1]); n--)
            line[n - 1] = '\0';
        if (*line && !read_line(file, &common, line, number)) {
            fprintf(stderr, "%s:%d: cannot be understood: %s\n", path, number, line);
            good = false;
        }
    }
    fclose(stream);
    for (size_t i = 0; i < file->case_count; i++) {
        struct case_case *test = &file->cases[i];
        copy_settings(&test->settings, &test->setting_count, common.settings, common.setting_count);
        copy_settings(&test->transport_settings, &test->transport_setting_count,
                      common.transport_settings, common.transport_setting_count);
    }
    free_case(&common);
    if (good)
        return file;
    case_file_free(file);
    return NULL;
}
