// SPDX-License-Identifier: MIT
/**
 * @file What this project uses of QEMU's plugin interface: version 1, which QEMU 5.1 to 8.2 load,
 * and 2, which those from 9.0 on do. Debian's package has no header for it; these are the
 * prototypes that QEMU documents under "Writing plugins" (docs/devel/tcg-plugins). QEMU itself
 * defines the functions. What only newer ones have is weak: NULL elsewhere.
 */
#ifndef PUG_RECORDER_QEMU_PLUGIN_H
#define PUG_RECORDER_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;

struct qemu_plugin_tb;
struct qemu_plugin_insn;

struct qemu_info_t {
    const char *target_name;
    struct {
        int min, cur;
    } version;
    bool system_emulation;
    union {
        struct {
            int smp_vcpus, max_vcpus;
        } system;
    };
};

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_CB_RW_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void qemu_plugin_udata_cb(qemu_plugin_id_t id, void *userdata);
typedef void qemu_plugin_vcpu_cb(qemu_plugin_id_t id, unsigned vcpu);
typedef void qemu_plugin_vcpu_udata_cb(unsigned vcpu, void *userdata);
typedef void qemu_plugin_tb_trans_cb_fn(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void qemu_plugin_mem_cb(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr,
                                void *userdata);
typedef void qemu_plugin_syscall_cb(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1,
                                    uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
                                    uint64_t a7, uint64_t a8);

/* Symbols that a plugin defines. */
extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv);

/* Symbols that QEMU defines. */
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_trans_cb_fn *cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_vcpu_udata_cb *cb,
                                          enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
                                            qemu_plugin_vcpu_udata_cb *cb,
                                            enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_mem_cb *cb,
                                      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
                                      void *userdata);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_plugin_syscall_cb *cb);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_cb *cb);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb *cb, void *userdata);

unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
/**
 * Before version 3: returns the place of the bytes; `insn` itself is not read. From 3 on: copies at
 * most `size` bytes, and returns how many.
 */
uintptr_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *bytes, size_t size);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
char *qemu_plugin_insn_disas(const struct qemu_plugin_insn *insn); /* freed with free() */
const char *qemu_plugin_path_to_binary(void);                      /* owned by QEMU */
uint64_t qemu_plugin_start_code(void);
void qemu_plugin_outs(const char *text);

/* Registers: from version 2 on. Their lists and bytes are GLib's GArray and GByteArray, which a
 * QEMU that can do this has loaded. */
#define QEMU_MAYBE __attribute__((weak))

struct qemu_plugin_register;

typedef struct {
    struct qemu_plugin_register *handle;
    const char *name, *feature;
} qemu_plugin_reg_descriptor;

struct qemu_array_t {
    char *data;
    unsigned size;
};

struct qemu_bytes_t {
    uint8_t *data;
    unsigned size;
};

QEMU_MAYBE void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_cb *cb);
QEMU_MAYBE struct qemu_array_t *qemu_plugin_get_registers(void);
QEMU_MAYBE int qemu_plugin_read_register(struct qemu_plugin_register *handle,
                                         struct qemu_bytes_t *bytes);
QEMU_MAYBE struct qemu_bytes_t *g_byte_array_new(void);
QEMU_MAYBE struct qemu_bytes_t *g_byte_array_set_size(struct qemu_bytes_t *bytes, unsigned size);

#endif
