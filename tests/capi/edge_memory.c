// SPDX-License-Identifier: MIT
/** @file Program memory: buffers, files, callbacks. */
#include "edge.h"

static void memory_codes(void)
{
    static const uint8_t bytes[64] = {0};
    CODE(ocsd_dt_add_buffer_mem_acc(NULL, 0, OCSD_MEM_SPACE_ANY, bytes, 64));
    CODE(ocsd_dt_add_callback_mem_acc(NULL, 0, 1, OCSD_MEM_SPACE_ANY, on_memory, NULL));
    CODE(ocsd_dt_add_callback_trcid_mem_acc(NULL, 0, 1, OCSD_MEM_SPACE_ANY, on_memory_id, NULL));
    CODE(ocsd_dt_remove_mem_acc(NULL, 0, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_add_binfile_mem_acc(NULL, 0, OCSD_MEM_SPACE_ANY, "x"));
    ocsd_tl_log_mapped_mem_ranges(NULL);
    dcd_tree_handle_t tree = single();
    CODE(ocsd_dt_remove_mem_acc(tree, 0, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, NULL, 64));
    CODE(ocsd_dt_remove_mem_acc(tree, 0, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, bytes, 0));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, bytes, 3));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, bytes, 5));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1001, OCSD_MEM_SPACE_ANY, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_EL1N, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_EL1N, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x103e, OCSD_MEM_SPACE_N, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x103e, OCSD_MEM_SPACE_S, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0xfc2, OCSD_MEM_SPACE_ANY, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0xfc0, OCSD_MEM_SPACE_ANY, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0xfffffffffffffffcull, OCSD_MEM_SPACE_ANY, bytes, 4));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0xfffffffffffffffcull, OCSD_MEM_SPACE_ANY, bytes, 8));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x1020, OCSD_MEM_SPACE_S));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x1020, OCSD_MEM_SPACE_N));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x1020, OCSD_MEM_SPACE_N));
    CODE(ocsd_dt_add_callback_mem_acc(tree, 0x2000, 0x2fff, OCSD_MEM_SPACE_ANY, NULL, NULL));
    CODE(ocsd_dt_add_callback_mem_acc(tree, 0x2000, 0x1fff, OCSD_MEM_SPACE_ANY, on_memory, NULL));
    CODE(ocsd_dt_add_callback_mem_acc(tree, 0x2000, 0x2ffe, OCSD_MEM_SPACE_ANY, on_memory, NULL));
    CODE(ocsd_dt_add_callback_mem_acc(tree, 0x2000, 0x2fff, OCSD_MEM_SPACE_ANY, on_memory, NULL));
    CODE(ocsd_dt_add_callback_trcid_mem_acc(tree, 0x2000, 0x2fff, OCSD_MEM_SPACE_ANY, NULL, NULL));
    CODE(
        ocsd_dt_add_callback_trcid_mem_acc(tree, 0, ~0ull, OCSD_MEM_SPACE_ANY, on_memory_id, NULL));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x5000, OCSD_MEM_SPACE_ANY));
    ocsd_destroy_dcd_tree(tree);
}

static void make_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "wb");
    for (size_t i = 0; i < size; i++)
        fputc((int)(i & 0xff), file);
    fclose(file);
}

static void memory_files(void)
{
    make_file("edge_even.bin", 256);
    make_file("edge_odd.bin", 255);
    make_file("edge_empty.bin", 0);
    make_file("edge_one.bin", 1);
    dcd_tree_handle_t tree = single();
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, ""));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, "edge_missing.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, "edge_empty.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, "edge_one.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x1001, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x2000, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x2000, OCSD_MEM_SPACE_ANY, "./edge_even.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x3000, OCSD_MEM_SPACE_ANY, "edge_odd.bin"));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x30fe, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x30fd, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x3000, OCSD_MEM_SPACE_ANY, "edge_odd.bin"));
    dcd_tree_handle_t other = single();
    CODE(ocsd_dt_add_binfile_mem_acc(other, 0x8000, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_mem_acc(other, 0x1000, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    ocsd_destroy_dcd_tree(tree);
    CODE(ocsd_dt_add_binfile_mem_acc(other, 0x3000, OCSD_MEM_SPACE_ANY, "edge_odd.bin"));
    ocsd_destroy_dcd_tree(other);
    tree = single();
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x8000, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    ocsd_destroy_dcd_tree(tree);
}

static void memory_null_path(void)
{
    CODE(ocsd_dt_add_binfile_mem_acc(single(), 0x1000, OCSD_MEM_SPACE_ANY, NULL));
}

static void memory_null_region_path(void)
{
    ocsd_file_mem_region_t region = {.region_size = 0x20};
    CODE(ocsd_dt_add_binfile_region_mem_acc(single(), &region, 1, OCSD_MEM_SPACE_ANY, NULL));
}

static void memory_negative_regions(void)
{
    make_file("edge_even.bin", 256);
    ocsd_file_mem_region_t region = {.region_size = 0x20};
    CODE(ocsd_dt_add_binfile_region_mem_acc(single(), &region, -1, OCSD_MEM_SPACE_ANY,
                                            "edge_even.bin"));
}

static void memory_removed_file(void)
{
    make_file("edge_even.bin", 256);
    dcd_tree_handle_t tree = single();
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x3000, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
}

static void memory_regions(void)
{
    make_file("edge_even.bin", 256);
    dcd_tree_handle_t tree = single();
    ocsd_file_mem_region_t regions[] = {
        {.file_offset = 0x40, .start_address = 0x5000, .region_size = 0x20},
        {.file_offset = 0x80, .start_address = 0x6000, .region_size = 0x40},
        {.file_offset = 0xf0, .start_address = 0x7000, .region_size = 0x40},
    };
    CODE(ocsd_dt_add_binfile_region_mem_acc(NULL, regions, 1, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_region_mem_acc(tree, NULL, 1, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_region_mem_acc(tree, regions, 0, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_region_mem_acc(tree, &regions[2], 1, OCSD_MEM_SPACE_ANY,
                                            "edge_even.bin"));
    CODE(ocsd_dt_add_binfile_region_mem_acc(tree, regions, 3, OCSD_MEM_SPACE_ANY, "edge_even.bin"));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x7000, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x6000, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x5000, OCSD_MEM_SPACE_ANY));
}

static void mapped_ranges(void)
{
    static const uint8_t bytes[64] = {0};
    make_file("edge_even.bin", 256);
    dcd_tree_handle_t tree = single();
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    ocsd_tl_log_mapped_mem_ranges(tree);
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0, OCSD_MEM_SPACE_S, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_EL1N, bytes, 64));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x1100, (ocsd_mem_space_acc_t)0x1b, bytes, 64));
    CODE(ocsd_dt_add_callback_mem_acc(tree, 0x2000, 0x2fff, OCSD_MEM_SPACE_N, on_memory, NULL));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_EL3, "edge_even.bin"));
    ocsd_tl_log_mapped_mem_ranges(tree);
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_ERROR, 0));
    ocsd_tl_log_mapped_mem_ranges(tree);
}

static void memory_callback(void)
{
    dcd_tree_handle_t tree = single();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
    CODE(ocsd_dt_add_callback_trcid_mem_acc(tree, 0, ~0ull, (ocsd_mem_space_acc_t)0x1f,
                                            on_memory_id, NULL));
    data(tree, 0, flow, sizeof(flow));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY));
    CODE(ocsd_dt_add_callback_mem_acc(tree, 0x4000, 0x4fff, OCSD_MEM_SPACE_N, on_memory, NULL));
    op(tree, OCSD_OP_RESET);
    data(tree, 0, flow, sizeof(flow));
    CODE(ocsd_dt_remove_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_N));
    CODE(ocsd_dt_add_callback_mem_acc(tree, 0x4000, 0x4fff, OCSD_MEM_SPACE_S, on_memory, NULL));
    op(tree, OCSD_OP_RESET);
    data(tree, 0, flow, sizeof(flow));
}

static uint32_t on_memory_boast(const void *context, const ocsd_vaddr_t address,
                                const ocsd_mem_space_acc_t space, const uint32_t wanted,
                                uint8_t *buffer)
{
    (void)context;
    (void)address;
    (void)space;
    memset(buffer, 0, wanted);
    return wanted + 1;
}

static void memory_bad_length(void)
{
    dcd_tree_handle_t tree = single();
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
    CODE(ocsd_dt_add_callback_mem_acc(tree, 0, ~0ull, OCSD_MEM_SPACE_ANY, on_memory_boast, NULL));
    data(tree, 0, flow, 27);
}

const struct edge_case edge_memory[] = {
    CASE(memory_codes),
    CASE(memory_files),
    UNDEFINED(memory_null_path),
    UNDEFINED(memory_null_region_path),
    CASE(memory_negative_regions),
    CASE(memory_removed_file),
    CASE(memory_regions),
    CASE(mapped_ranges),
    CASE(memory_callback),
    CASE(memory_bad_length),
    {.name = NULL},
};
