// SPDX-License-Identifier: MIT
#include "situation.h"

#include "qemu_plugin.h"
#include "state.h"

#include <string.h>

/** Registers of a processor; NULL: it has no such one. */
struct registers {
    struct qemu_plugin_register *state, *context; /* state: the one that gives the privilege */
    struct qemu_bytes_t *bytes;
};

static struct registers registers[REC_PATH_CPUS];

bool situation_can(void)
{
    return qemu_plugin_get_registers && qemu_plugin_read_register && g_byte_array_new &&
           g_byte_array_set_size;
}

void situation_begin(unsigned cpu)
{
    const struct qemu_array_t *all = cpu < REC_PATH_CPUS ? qemu_plugin_get_registers() : NULL;
    if (!all)
        return;
    const qemu_plugin_reg_descriptor *list = (const void *)all->data;
    for (unsigned i = 0; i < all->size; i++) {
        if (strcmp(list[i].name, "cpsr") == 0 || strcmp(list[i].name, "priv") == 0)
            registers[cpu].state = list[i].handle;
        if (strcmp(list[i].name, "CONTEXTIDR_EL1") == 0 || strcmp(list[i].name, "satp") == 0)
            registers[cpu].context = list[i].handle;
    }
    if (!registers[cpu].bytes)
        registers[cpu].bytes = g_byte_array_new();
}

static uint64_t read_register(const struct registers *of, struct qemu_plugin_register *which)
{
    uint64_t value = 0;
    if (!which)
        return 0;
    g_byte_array_set_size(of->bytes, 0);
    int size = qemu_plugin_read_register(which, of->bytes);
    for (int i = 0; i < size && i < 8; i++)
        value |= (uint64_t)of->bytes->data[i] << 8 * i;
    return value;
}

/** Exception level of a program status. */
static uint32_t level_of(uint32_t cpsr)
{
    enum { AARCH32 = 0x10, USER = 0x10, MONITOR = 0x16, HYPERVISOR = 0x1a };
    uint32_t mode = cpsr & 0x1f;
    if (!(mode & AARCH32))
        return mode >> 2;
    return mode == USER ? 0 : mode == HYPERVISOR ? 2 : mode == MONITOR ? 3 : 1;
}

/* ---- QEMU before 9.0 ---- */

struct object;

QEMU_MAYBE struct object *qemu_get_cpu(int index);
QEMU_MAYBE int aarch64_cpu_gdb_read_register(struct object *cpu, struct qemu_bytes_t *bytes, int n);
QEMU_MAYBE int arm_cpu_gdb_read_register(struct object *cpu, struct qemu_bytes_t *bytes, int n);

enum { A64_STATUS = 33, ARM_STATUS = 25 }; /* GDB's numbers of the program status */

static struct {
    struct state_field privilege, space; /* of RISC-V */
    struct qemu_bytes_t *bytes;
    uint32_t contexts[REC_PATH_CPUS];
} found;

bool situation_finds(enum rec_path_family family)
{
    if (!qemu_get_cpu || !g_byte_array_new || !g_byte_array_set_size)
        return false;
    found.bytes = g_byte_array_new();
    found.privilege = state_find(family, "env.priv");
    found.space = state_find(family, "env.satp");
    switch (family) {
    case REC_FAMILY_A64: return aarch64_cpu_gdb_read_register;
    case REC_FAMILY_ARM: return arm_cpu_gdb_read_register;
    default: return found.privilege.size > 0 && found.space.size > 0;
    }
}

void situation_context(unsigned cpu, uint32_t context)
{
    if (cpu < REC_PATH_CPUS)
        found.contexts[cpu] = context;
}

static struct situation find(unsigned cpu, enum rec_path_family family)
{
    /* The M profile has neither levels nor context ids. */
    struct situation situation = {.known = !state_is_m_profile(), .context = found.contexts[cpu]};
    uint32_t status = 0;
    if (family == REC_FAMILY_RV32 || family == REC_FAMILY_RV64) {
        situation.privilege = (uint32_t)state_read(cpu, found.privilege, 0) & 3;
        situation.context = rec_path_asid(family, state_read(cpu, found.space, 0));
        return situation;
    }
    if (!situation.known)
        return situation;
    g_byte_array_set_size(found.bytes, 0);
    if (family == REC_FAMILY_A64)
        aarch64_cpu_gdb_read_register(qemu_get_cpu((int)cpu), found.bytes, A64_STATUS);
    else
        arm_cpu_gdb_read_register(qemu_get_cpu((int)cpu), found.bytes, ARM_STATUS);
    for (unsigned i = 0; i < found.bytes->size && i < 4; i++)
        status |= (uint32_t)found.bytes->data[i] << 8 * i;
    situation.privilege = level_of(status);
    return situation;
}

struct situation situation_of(unsigned cpu, enum rec_path_family family)
{
    struct situation situation = {.known = false};
    const struct registers *of = &registers[cpu < REC_PATH_CPUS ? cpu : 0];
    if (found.bytes && cpu < REC_PATH_CPUS)
        return find(cpu, family);
    if (cpu >= REC_PATH_CPUS || !of->bytes || !of->state)
        return situation;
    uint64_t state = read_register(of, of->state), context = read_register(of, of->context);
    bool arm = family == REC_FAMILY_A64 || family == REC_FAMILY_ARM;
    situation.known = true;
    situation.privilege = arm ? level_of((uint32_t)state) : (uint32_t)state & 3;
    situation.context = arm ? (uint32_t)context : rec_path_asid(family, context);
    return situation;
}
