// SPDX-License-Identifier: MIT
/** @file The kinds of rows, with their fields. */
#include "binding.h"
#include "pugmark/advanced/correlate.h"

#include <stddef.h>

#define AT(type, member, form, doc)                                                                \
    {                                                                                              \
#member, doc, offsetof(struct type, member), form, false                                   \
    }
#define ALSO(type, member, form, doc)                                                              \
    {                                                                                              \
#member, doc, offsetof(struct type, member), form, true                                    \
    }
#define END                                                                                        \
    {                                                                                              \
        NULL, NULL, 0, 0, false                                                                    \
    }

#define ELEMENT_FIELDS                                                                             \
    AT(pug_element, index, 'Q', "Trace index of the first byte of the packet."),                   \
        AT(pug_element, start, 'Q', "First address; of a payload its offset in the batch."),       \
        AT(pug_element, end, 'Q', "Address after the last instruction, or return address."),       \
        ALSO(pug_element, timestamp, 'Q', "Time, of elements that have one."),                     \
        AT(pug_element, value, 'Q', "Value; what it is depends on the type."),                     \
        AT(pug_element, count, 'I', "Instructions of a range, or bytes of a payload."),            \
        ALSO(pug_element, number, 'I', "Number of an exception, event, marker or port."),          \
        AT(pug_element, cycle_count, 'I', "Cycles since the last count, with HAS_CYCLES."),        \
        AT(pug_element, context_id, 'I', "Context id, where context_flags say so."),               \
        AT(pug_element, vmid, 'I', "Virtual machine, where context_flags say so."),                \
        AT(pug_element, source, 'H', "Trace id of the source."),                                   \
        AT(pug_element, security, 'B', "Security state, a number."),                               \
        AT(pug_element, level, 'b', "Exception level."),                                           \
        AT(pug_element, context_flags, 'B', "Bits: what of the context is known."),                \
        AT(pug_element, sw_flags, 'B', "Bits of software trace."),                                 \
        AT(pug_element, sw_bits, 'B', "Software trace: bits of payload a packet."),                \
        AT(pug_element, sw_packets, 'B', "Software trace: packets in the payload."),               \
        AT(pug_element, flags, 'H', "Bits: TAKEN, CONDITIONAL, HAS_CYCLES and others."),           \
        AT(pug_element, type, 'B', "Kind of element: RANGE, EXCEPTION, TIMESTAMP ..."),            \
        AT(pug_element, reason, 'B', "Number whose meaning depends on the type."),                 \
        AT(pug_element, last_type, 'B', "What the last instruction of a range does."),             \
        AT(pug_element, last_subtype, 'B', "What a branch is besides: call, return."),             \
        AT(pug_element, last_size, 'B', "Bytes of the last instruction, or of a value."),          \
        AT(pug_element, isa, 'B', "Instruction set, a number.")

static const struct field element_fields[] = {ELEMENT_FIELDS, END};
static const struct field merged_fields[] = {
    ELEMENT_FIELDS, AT(merged_row, time, 'Q', "When it happened, 0 where that is not known."),
    AT(merged_row, task, 'I', "Number of the task, NO_TASK where that is not known."),
    AT(merged_row, cpu, 'i', "Processor, -1 where that is not known."), END};
static const struct field correlated_fields[] = {
    ELEMENT_FIELDS,
    AT(pug_correlated, time, 'Q', "Time, as `when` says."),
    AT(pug_correlated, cycles, 'Q', "Cycles after `time`, as `when` says."),
    AT(pug_correlated, stream, 'I', "Number of the stream."),
    AT(pug_correlated, when, 'B',
       "What is known of the time: 0 exact, 1 cycles after, 2 at or "
       "after, 3 before, 4 unknown."),
    END};
static const struct field call_fields[] = {
    AT(call_row, begin, 'Q', "When it was entered, in `unit`."),
    AT(call_row, end, 'Q', "When it was left, in `unit`."),
    AT(call_row, took, 'Q', "Time between them."),
    AT(call_row, own, 'Q', "Of this, not spent in what it called."),
    AT(call_row, instructions, 'Q', "Instructions that ran, with those of callees."),
    AT(call_row, own_instructions, 'Q', "Instructions of its own."),
    AT(call_row, cycles, 'Q', "Cycles that the trace counted meanwhile."),
    AT(call_row, address, 'Q', "Where it was entered."),
    AT(call_row, start, 'Q', "Where the function begins; the entry where none is known."),
    AT(call_row, site, 'Q', "Instruction that called it; 0 where that is not known."),
    AT(call_row, function, 's', "Name of the function or exception, or None."),
    AT(call_row, file, 's', "Source file of the function, or None."),
    AT(call_row, line, 'I', "Line where the function begins; 0: not known."),
    AT(call_row, task, 'I', "Number of the task, or the trace id where there are no tasks."),
    AT(call_row, depth, 'I', "Calls around it that are known."),
    AT(call_row, exception, 'I', "Number of the exception that it is, or runs in."),
    AT(call_row, tid, 'i', "Thread, -1 where there are no tasks."),
    AT(call_row, caller, 's', "Name of the function below it, or None."),
    AT(call_row, handler, 's', "Name of the function that handles an exception, or None."),
    AT(call_row, kind, 'B', "How it was entered: FOUND, CALLED, TAIL, EXCEPTION_ENTRY."),
    AT(call_row, unit, 'B', "What times count: 0 nothing, 1 ticks or nanoseconds, 2 cycles."),
    AT(call_row, timed, '?', "The time of entry is known, not the first one after it."),
    AT(call_row, lost, '?', "It was not seen to return."),
    AT(call_row, tail, '?', "It was left by a tail call."),
    AT(call_row, ended, '?', "The trace ends in it."),
    AT(call_row, exception_numbers, 'B', "What `exception` means."),
    END};
static const struct field instruction_fields[] = {
    AT(instruction_row, index, 'Q', "Trace index of the packet that it comes from."),
    AT(instruction_row, address, 'Q', "Address of the instruction."),
    AT(instruction_row, time, 'Q', "Time of what it belongs to; 0: not known."),
    AT(instruction_row, offset, 'Q', "Bytes from the begin of the function."),
    AT(instruction_row, text, 's', "Mnemonic and operands."),
    AT(instruction_row, function, 's', "Name of the function, or None."),
    AT(instruction_row, file, 's', "Source file, or None."),
    AT(instruction_row, line, 'I', "Line of the source; 0: not known."),
    AT(instruction_row, task, 'I', "Number of the task, NO_TASK where that is not known."),
    AT(instruction_row, group, 'I', "Which of the events it came before, from 0 on."),
    AT(instruction_row, cpu, 'i', "Processor, -1 where that is not known."),
    AT(instruction_row, source, 'H', "Trace id of the source."),
    AT(instruction_row, size, 'B', "Bytes of the instruction; 0: its memory is missing."),
    AT(instruction_row, isa, 'B', "Instruction set, a number."),
    AT(instruction_row, type, 'B', "What it does to the flow: 0 nothing, 1 direct, 2 indirect."),
    AT(instruction_row, subtype, 'B', "What a branch is besides: call, return."),
    AT(instruction_row, executed, '?', "It was executed; a branch was taken."),
    AT(instruction_row, conditional, '?', "It may fail its condition."),
    AT(instruction_row, last, '?', "A range ends with it."),
    END};
static const struct field dwt_fields[] = {
    AT(pug_dwt_event, index, 'Q', "Trace index of its first packet."),
    AT(pug_dwt_event, time, 'Q', "Local time in cycles, with has_time."),
    AT(pug_dwt_event, pc, 'I', "Address of the instruction, with has_pc."),
    AT(pug_dwt_event, address, 'I', "Address of the access, with has_address."),
    AT(pug_dwt_event, value, 'I', "What was read, written or counted."),
    AT(pug_dwt_event, number, 'H', "Number of the exception or the port."),
    AT(pug_dwt_event, source, 'H', "Trace id of the source."),
    AT(pug_dwt_event, kind, 'B', "Kind of event: DWT_STIMULUS, DWT_EXCEPTION, DWT_DATA ..."),
    AT(pug_dwt_event, action, 'B', "Of an exception: 1 entered, 2 exited, 3 returned to."),
    AT(pug_dwt_event, counters, 'B', "Bits: counters that wrapped."),
    AT(pug_dwt_event, comparator, 'B', "Comparator that matched."),
    AT(pug_dwt_event, size, 'B', "Bytes of the value."),
    AT(pug_dwt_event, address_size, 'B', "Bytes of the address that are known."),
    AT(pug_dwt_event, time_kind, 'B', "How exact the time is."),
    AT(pug_dwt_event, has_pc, '?', "The address of the instruction is known."),
    AT(pug_dwt_event, has_address, '?', "The address is known."),
    AT(pug_dwt_event, has_value, '?', "The value is known."),
    AT(pug_dwt_event, has_time, '?', "The time is known."),
    AT(pug_dwt_event, write, '?', "Data was written, not read."),
    AT(pug_dwt_event, overflow, '?', "Trace was lost before it."),
    END};
static const struct field packet_fields[] = {
    AT(packet_row, index, 'Q', "Trace index of its first byte."),
    AT(packet_row, at, 'Q', "Offset of its bytes in the batch's payload."),
    AT(packet_row, size, 'I', "Bytes of the packet."),
    AT(packet_row, type, 'I', "Packet type number of the protocol."),
    AT(packet_row, flags, 'I', "Bits: 4 bad, 8 synchronisation."),
    AT(packet_row, text_size, 'I', "Bytes of its text, which follows its bytes."),
    AT(packet_row, name, 's', "Name of the packet's type."),
    AT(packet_row, protocol, 's', "Name of the protocol."),
    AT(packet_row, source, 'H', "Trace id of the source."),
    END};
static const struct field range_fields[] = {
    AT(pug_profile_range, first, 'Q', "Address of the first instruction, in the object."),
    AT(pug_profile_range, last, 'Q', "Address of the last instruction."),
    AT(pug_profile_range, count, 'Q', "How often it ran."),
    AT(pug_profile_range, cycles, 'Q', "Cycles that were counted after it."),
    AT(pug_profile_range, object, 'I', "Number of the object."),
    AT(pug_profile_range, instructions, 'I', "Instructions in it."),
    AT(pug_profile_range, last_size, 'B', "Bytes of the last instruction."),
    AT(pug_profile_range, isa, 'B', "Instruction set, a number."),
    ALSO(pug_profile_range, end, 'B', "Bits: how it ended."),
    END};
static const struct field branch_fields[] = {
    AT(pug_profile_branch, from, 'Q', "Address of the branch, in its object."),
    AT(pug_profile_branch, to, 'Q', "Where it went, in that object."),
    AT(pug_profile_branch, count, 'Q', "How often it was taken."),
    AT(pug_profile_branch, object, 'I', "Number of the branch's object."),
    AT(pug_profile_branch, to_object, 'I', "Number of the target's object."),
    END};

static const struct field slice_fields[] = {
    AT(slice_row, begin, 'Q', "When it begins, in the timeline's unit."),
    AT(slice_row, end, 'Q', "When it ends."),
    AT(slice_row, value, 'q', "Value of a counter."),
    AT(slice_row, track, 's', "Name of the track: a thread, a source, a processor ..."),
    AT(slice_row, name, 's', "Name of the function, event or counter."),
    AT(slice_row, file, 's', "Source file of the function, or None."),
    AT(slice_row, detail, 's', "What belongs to it: a line of text, why there is a gap; or None."),
    AT(slice_row, line, 'I', "Line of the source; 0: not known."),
    AT(slice_row, number, 'I', "Number of the track."),
    AT(slice_row, depth, 'I', "Slices around it on its track."),
    AT(slice_row, pid, 'i', "Process of the track, -1 where it is no thread's."),
    AT(slice_row, tid, 'i', "Thread of the track, -1 where it is no thread's."),
    AT(slice_row, kind, 'B', "SLICE_CALL, SLICE_INSTANT, SLICE_COUNTER or SLICE_GAP."),
    AT(slice_row, estimated, '?', "Its beginning lies between two timestamps."),
    END};

static size_t element_words(const struct chunk *chunk, const void *row, char *text, size_t size)
{
    struct pug_element element = *(const struct pug_element *)row;
    if (element.flags & PUG_ELEM_PAYLOAD)
        element.payload = chunk->payload + element.start; /* in a chunk it is an offset */
    return pug_element_text(&element, text, size);
}

static size_t dwt_words(const struct chunk *chunk, const void *row, char *text, size_t size)
{
    (void)chunk;
    return pug_dwt_text(row, text, size);
}

#define KIND(variable, title, type, list, in_words, what)                                          \
    struct row_kind variable = {title, what, sizeof(struct type), list, in_words, NULL, NULL}

KIND(kind_element, "Element", pug_element, element_fields, element_words,
     "An element of the trace: a range of instructions, an exception, a timestamp ...");
KIND(kind_merged, "MergedElement", merged_row, merged_fields, element_words,
     "An element with its task, processor and time.");
KIND(kind_correlated, "CorrelatedElement", pug_correlated, correlated_fields, element_words,
     "An element in the order of time.");
KIND(kind_call, "Call", call_row, call_fields, NULL, "A call of a function that is over.");
KIND(kind_instruction, "Instruction", instruction_row, instruction_fields, NULL,
     "An instruction that ran.");
KIND(kind_dwt, "DwtEvent", pug_dwt_event, dwt_fields, dwt_words,
     "What an ITM or DWT reported: a write to a port, an exception, a PC sample ...");
KIND(kind_slice, "Slice", slice_row, slice_fields, NULL,
     "A part of a timeline: a call, an event, a counter or a gap.");
KIND(kind_packet, "Packet", packet_row, packet_fields, NULL, "A packet of a trace protocol.");
KIND(kind_range, "ProfileRange", pug_profile_range, range_fields, NULL,
     "Instructions that ran without a break, and how often.");
KIND(kind_branch, "ProfileBranch", pug_profile_branch, branch_fields, NULL,
     "A taken branch, and how often it was taken.");

struct row_kind *const row_kinds[] = {
    &kind_element,    &kind_merged, &kind_call,   &kind_instruction, &kind_dwt, &kind_packet,
    &kind_correlated, &kind_range,  &kind_branch, &kind_slice,       NULL};
