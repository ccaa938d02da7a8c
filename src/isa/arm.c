// SPDX-License-Identifier: MIT
#include "isa/arm.h"

unsigned pug_arm_gates(const struct pug_isa_config *config)
{
    unsigned gates = config->reference_classes ? PUG_GATE_REFERENCE : PUG_GATE_RIGHT;
    if (config->dsb_dmb_waypoints)
        gates |= PUG_GATE_DSB;
    if (config->wfx_waypoints)
        gates |= PUG_GATE_WFX;
    if (config->check_opcode)
        gates |= PUG_GATE_CHECK;
    /* Below their level these opcodes are undefined or hints, so a wrong core name must not hide
       them; the reference believes the name. */
    if (!config->reference_classes || config->arch >= PUG_ARCH_V8R3)
        gates |= PUG_GATE_V8R3;
    if (!config->reference_classes || config->arch >= PUG_ARCH_AA64)
        gates |= PUG_GATE_AA64;
    return gates;
}

const struct pug_arm_rule *pug_arm_match(const struct pug_arm_rule *rules, size_t count,
                                         unsigned gates, uint32_t opcode)
{
    for (const struct pug_arm_rule *rule = rules; rule < rules + count; rule++) {
        if ((opcode & rule->mask) != rule->value || (rule->needs & gates) != rule->needs)
            continue;
        if (rule->not_mask && (opcode & rule->not_mask) == rule->not_value)
            continue;
        return rule;
    }
    return NULL;
}

const struct pug_arm_rule *pug_arm_find(const struct pug_arm_group *groups, size_t count,
                                        unsigned gates, uint32_t opcode)
{
    for (const struct pug_arm_group *group = groups; group < groups + count; group++)
        if ((opcode & group->mask) == group->value)
            return pug_arm_match(group->rules, group->count, gates, opcode);
    return NULL;
}

void pug_arm_apply(const struct pug_arm_rule *rule, uint32_t opcode, struct pug_insn *insn)
{
    insn->type = rule->type;
    insn->subtype = rule->subtype;
    insn->conditional = rule->cond;
    if (rule->link == PUG_LINK_ALWAYS ||
        (rule->link != PUG_LINK_NEVER && (opcode >> rule->link & 1))) {
        insn->link = true;
        insn->subtype = PUG_SUB_BR_LINK;
    }
}
