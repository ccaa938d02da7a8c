// SPDX-License-Identifier: MIT
/**
 * @file The reference's deterministic defects, each one named bit. The native default is none of
 * them; trc_pkt_lister and the OpenCSD drop-in set them all. Each bit has a test of both ways.
 */
#ifndef PUGMARK_QUIRKS_H
#define PUGMARK_QUIRKS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Deterministic defects of the reference, each of which can be asked for. */
struct pug_quirks {
    /* ---- tree and transport ---- */
    /** A run without bytes is fatal for its source. Right: skip it. */
    unsigned empty_run_fatal : 1;
    /** With a decoder attached the packet reader has no log. Right: it reports what it sees. */
    unsigned mute_reader : 1;
    /**
     * A full decoder without an element consumer, or without program memory where it needs some,
     * answers FATAL_NOT_INIT. Right: decode; elements are dropped, memory is not accessible.
     */
    unsigned unattached_is_fatal : 1;
    /**
     * END reaches every source also while the consumer waits. Elements that it has not taken then
     * are lost (by PTM before EO_TRACE, otherwise after the next element), and so are runs that the
     * transport holds back. After an END another one ends all sources once more. Right: END waits
     * as DATA does, and a second one does nothing.
     */
    unsigned end_does_not_wait : 1;
    /** 4 FSYNCs in memory-aligned frames are frame data unless asked for. Right: padding. */
    unsigned fsync_padding_is_data : 1;
    /** CoreSight frames: a block whose size is no multiple of 16 (FSYNCs 4, HSYNCs 2) is fatal, the
        search for the first FSYNC gives a block's last 3 bytes back, and an FSYNC group that a new
        block continues resets again. Right: blocks of any size mean the same. */
    unsigned strict_blocks : 1;
    /** CoreSight frames: a sync where none is expected is fatal. Right: resynchronise. */
    unsigned sync_error_fatal : 1;
    /** CoreSight frames: HSYNCs before a frame do not count in its index. Right: they do. */
    unsigned hsync_not_in_index : 1;
    /**
     * CoreSight frames: skipped bytes, a partial frame at the end, trigger and flush ids go
     * unmentioned. Right: the log has them.
     */
    unsigned silent_framing : 1;
    /**
     * A packet that the end of trace cuts off goes unmentioned (but by E-Trace and N-Trace). Right:
     * the log has it.
     */
    unsigned silent_end : 1;
    /* ---- STM and ITM ---- */
    /**
     * A bad packet is fatal for a full decode; a packet listing stays synchronised after it. Right:
     * the source looks for the next synchronisation packet.
     */
    unsigned bad_software_packet_fatal : 1;
    /* ---- STM ---- */
    /**
     * A packet that begins in the high nibble of a byte has the index of the next byte. Right: of
     * the byte that it begins in.
     */
    unsigned stm_index_of_next_byte : 1;
    /** While not synchronised nibbles and runs of F are counted in 8 bits, from the block's start:
        a NOTSYNC can be missing or too short, an ASYNC's index too low; F beyond 21 are no part of
        an ASYNC, and 256 of them are none. Right: count them all. */
    unsigned stm_counts_in_8_bits : 1;
    /**
     * An ASYNC that is broken, or not complete at the end, is called what the packet before it was.
     * Right: ASYNC.
     */
    unsigned stm_stale_error_type : 1;
    /* ---- ITM ---- */
    /**
     * While not synchronised, a NOTSYNC has the index of the block or of the last zero byte, and
     * the decoder gets one notification, even where there was nothing. Right: each with its own
     * index.
     */
    unsigned itm_search_reports : 1;
    /** Headers 0x80, 0x90, 0xA0, 0xB0 are local timestamps. Right: they are reserved. */
    unsigned itm_reserved_timestamps : 1;
    /**
     * Of an ASYNC only the zeros of its own packet count. Right: all the zeros before the 0x80, so
     * that a packet that was cut off and swallows some does not hide it.
     */
    unsigned itm_zeros_of_one_packet : 1;
    /** Bit 31 of a 32-bit extension is an error. Right: its last byte has 8 bits of value. */
    unsigned itm_extension_31_bits : 1;
    /** The flags in the last byte of a long GTS1 are not shown. Right: the bytes of the stream. */
    unsigned itm_gts1_bytes_altered : 1;
    /** Elements never say that they have a time, or that the clock changed. Right: they do. */
    unsigned itm_no_time_flags : 1;
    /** The stimulus port page outlives an ASYNC. Right: the page is sent again after it. */
    unsigned itm_page_survives_sync : 1;
    /** The local time is 0 after an overflow. Right: it goes on from what was known. */
    unsigned itm_overflow_clears_time : 1;
    /** TSPrescale counts only where SWOENA is set. Right: it divides either clock. */
    unsigned itm_prescale_needs_swo : 1;
    /** A reset leaves the decoder running until a NOTSYNC comes. Right: it restarts. */
    unsigned itm_reset_keeps_running : 1;
    /* ---- image ---- */
    /** Files are added by the reference's rules: a path fits one accessor only, a bad region but
       the first one vanishes silently, the region at offset 0 grows up to the offset of the first
        other one, and only it is tested for overlaps (0 to 0 where there is none). All memory is
        whole halfwords, at even addresses, four bytes at least; that of space 0 is nowhere; a file
        that cannot be opened, or is too short, is PUG_ERR_NOT_READY. Right: each region is what it
        says and is tested; any memory that is not empty; everywhere; PUG_ERR_FILE, with errno, or
        PUG_ERR_TRUNCATED. */
    unsigned reference_files : 1;
    /**
     * A read ends with the accessor that it began in, so that an instruction across the border of
     * two is not accessible. Right: memory is what all of them hold.
     */
    unsigned reads_end_with_image : 1;
    /* ---- snapshot ---- */
    /** Snapshots: only what the reference knows of them. Buffers of one file and one source list
        entry, its own formats, types and keys, one memory map for all cores. Right: the format's
        document, and this project's additions to it (pugmark/advanced/snapshot.h). */
    unsigned reference_snapshots : 1;
    /* ---- isa ---- */
    /**
     * Classify instructions as the reference does where the architecture says otherwise; ETMv3 and
     * PTM without the conditions that T32 instructions have from IT blocks.
     */
    unsigned reference_classes : 1;
    /** A T32 instruction needs 4 readable bytes, so that the last 2 bytes of a range cannot be
        executed, and what is of no known instruction set is read as well. Right: a 16-bit
        instruction needs 2. */
    unsigned t32_word_reads : 1;
    /* ---- ETMv4 and ETE: packet reader ---- */
    /**
     * A context packet that announces ids of configured size 0 takes one more byte. Right: none.
     */
    unsigned etm4_context_extra_byte : 1;
    /**
     * Bytes dropped before the first ASYNC are placed after those dropped before them. Zeros in
     * front of the ASYNC, and the ASYNC itself, are placed at the first of those zeros, all named
     * ASYNC. Right: each at its own place, the zeros as bytes not in sync.
     */
    unsigned etm4_hunt_labels : 1;
    /**
     * Bits 16 and 17 of a TRACE_INFO's INFO field mark it as the first, and as having a SPEC field.
     * Right: they mean nothing.
     */
    unsigned etm4_info_marks : 1;
    /** PE_RESET and TRANS_FAIL count as bad packets. Right: they are good ones. */
    unsigned etm4_reset_is_bad : 1;
    /* ---- ETMv4 and ETE: decoder ---- */
    /** A configuration that cannot be decoded is not reported when the decoder is made. */
    unsigned etm4_silent_refusal : 1;
    /** A Q element removes the next element. Right: nothing is lost. */
    unsigned etm4_q_eats_element : 1;
    /** Source addresses cannot be cancelled. Right: they are P0 elements like others. */
    unsigned etm4_source_not_p0 : 1;
    /**
     * A source address does not ask the return stack where execution is, and that of an exception
     * return gives no EXCEPTION_RET. Right: it does both, as an atom would.
     */
    unsigned etm4_source_is_bare : 1;
    /**
     * The range of a source address carries the ISA after the branch. Right: that of the range.
     */
    unsigned etm4_source_next_isa : 1;
    /** Of the bytes up to a source address 32 bits count. Right: all. */
    unsigned etm4_source_32_bits : 1;
    /**
     * DISCARD and OVERFLOW drop instrumentation elements. Right: they are put out, as events are.
     */
    unsigned etm4_discard_drops_ite : 1;
    /** A PE reset is an unknown packet. Right: it commits all before it and is an exception. */
    unsigned etm4_pe_reset_unknown : 1;
    /**
     * An exception whose address is the branch's target asks the return stack too, and fails if
     * that is empty. Right: the target is given.
     */
    unsigned etm4_match_prev_pops : 1;
    /** Exceptions, Q elements and source addresses go on from a stale address when the address or
        the context is not known; before the first context that is A32. Right: no range before
        them. An overflow whose TRACE_ON is missing colours the next one. Right: not after an
* address. */
    unsigned etm4_stale_state : 1;
    /** An exception without its address logs a second error. Right: one. */
    unsigned etm4_missing_address_twice : 1;
    /** After a cancel of more than there is the events taken back stay. Right: all is dropped. */
    unsigned etm4_failed_cancel_keeps : 1;
    /** An error takes the elements of its commit run with it. Right: what was decoded stays. */
    unsigned etm4_error_drops_run : 1;
    /**
     * At the end of trace uncommitted source addresses and function returns are passed over, and an
     * exception return that is no P0 element is lost with everything after it. Right: elements
     * after an uncommitted P0 element are not known to have happened; all others are.
     */
    unsigned etm4_end_passes_p0 : 1;
    /**
     * An error in the walk of an exception, Q element or source address is fatal. Right: the
     * decoder looks for its next synchronisation, as it does for atoms.
     */
    unsigned etm4_walk_error_fatal : 1;
    /** A packet cut off by the end of trace is an error, and drops what waits. Right: it ends. */
    unsigned etm4_incomplete_is_error : 1;
    /**
     * A range over the limit is walked to its end, with an error for each instruction. Right: it
     * stops at the first.
     */
    unsigned etm4_limit_runs_on : 1;
    /** The count of an IT block continues after a jump that the trace made. Right: it is over. */
    unsigned etm4_stale_it : 1;
    /**
     * Where the consumer waits in a packet that loses the synchronisation, NO_SYNC comes with the
     * packet after it. Right: at once, whatever the consumer does.
     */
    unsigned etm4_wait_delays_no_sync : 1;
    /* ---- ETMv3 and PTM ---- */
    /** Gray-coded timestamps are not decoded; changes of the clock are not reported. */
    unsigned armv7_raw_timestamps : 1;
    /** A VMID is printed as the character with that number. Right: as a number. */
    unsigned armv7_vmid_as_character : 1;
    /**
     * A hypervisor's code is looked for in the space of all non-secure code. Right: in EL2 alone,
     * and other non-secure code in EL1N.
     */
    unsigned armv7_space_without_hyp : 1;
    /* ---- ETMv3 ---- */
    /** The last instruction is held back for a cancel only if it is all there is. Right: always. */
    unsigned etmv3_hold_whole_list : 1;
    /** A cancel leaves the count of held elements, so that later ones are held or removed too. */
    unsigned etmv3_cancel_keeps_count : 1;
    /** A packet that the end of trace cuts short is taken as a whole one. Right: INCOMPLETE_EOT. */
    unsigned etmv3_incomplete_is_whole : 1;
    /** An I-sync with load/store in progress may end before the second address, which is then a
        branch packet or replaces the first; where only data are traced, and there are no addresses,
        it ends at a byte with bit 7 clear. Right: the first instruction, then the second address.
     */
    unsigned etmv3_lsip_cut : 1;
    /** Exceptions in address byte 5 use the numbers of exception bytes. Right: their own. */
    unsigned etmv3_old_exceptions : 1;
    /** The first zeros that are no A-sync come as a reserved header. Right: NOTSYNC. */
    unsigned etmv3_first_zeros_reserved : 1;
    /**
     * Unsynchronised bytes come in pieces that end with their block, and may get the index of the
     * block after. Right: in pieces of 16, with the index of the first byte.
     */
    unsigned etmv3_unsynced_by_block : 1;
    /** BAD_TRACEMODE names the packet before. Right: the header at fault. */
    unsigned etmv3_tracemode_names_previous : 1;
    /**
     * Of a data address only the first byte counts, and goes into the instruction address; there is
     * a value also where values are not traced.
     */
    unsigned etmv3_data_fields : 1;
    /** Value-not-traced headers always have an address. Right: when bit 4 says so. */
    unsigned etmv3_untraced_has_address : 1;
    /**
     * Elements are not cleared before they are used again; what a packet does not say is what an
     * earlier one left. Right: the current state, and no element for a P-header without atoms.
     */
    unsigned etmv3_stale_elements : 1;
    /**
     * BLX immediate changes the ISA for the rest of its P-header, also when it is not taken. Right:
     * until the trace says otherwise, if taken.
     */
    unsigned etmv3_blx_forgotten : 1;
    /** A bad packet, or lost synchronisation, is fatal. Right: wait for the next A-sync. */
    unsigned etmv3_bad_packet_fatal : 1;
    /**
     * Malformed P-headers, branch addresses and context ids are logged, then taken as they are.
     * Right: bad packets.
     */
    unsigned etmv3_malformed_passes : 1;
    /**
     * Branch, timestamp and data packets may go on beyond their longest form. Right: bad packet.
     */
    unsigned etmv3_endless_packets : 1;
    /* ---- PTM ---- */
    /** Exception bytes with number 0 are an exception. Right: an ordinary branch. */
    unsigned ptm_exception_zero : 1;
    /** Security state and Hyp of exception bytes are not taken over. Right: PE_CONTEXT. */
    unsigned ptm_exception_context_lost : 1;
    /** Hyp of an I-sync is not taken over. Right: EL2. */
    unsigned ptm_isync_hyp_lost : 1;
    /** AltISA of exception bytes and of I-syncs are two things. Right: one state. */
    unsigned ptm_alt_isa_apart : 1;
    /** PE_CONTEXT only when the ISA changes or a context id is traced. Right: on each change. */
    unsigned ptm_silent_context : 1;
    /** 16 zeros in a row are forgotten, so that an A-sync may be missed. Right: they count. */
    unsigned ptm_zero_run_lost : 1;
    /**
     * Unsynchronised bytes come in pieces that end with their block; zeros kept from the block
     * before come twice and shift the index. Right: in pieces of 16, each byte once.
     */
    unsigned ptm_unsynced_by_block : 1;
    /**
     * An E atom on an indirect branch with an empty return stack, and an error in the program, are
     * fatal. Right: the address is unknown until the next address packet.
     */
    unsigned ptm_errors_fatal : 1;
    /** RESET leaves the bytes of a possible A-sync in place. Right: forget them. */
    unsigned ptm_reset_keeps_zeros : 1;
    /**
     * Where memory or the address is not there a packet's cycle count is lost. Right: it is kept.
     */
    unsigned ptm_cycles_lost : 1;
    /**
     * A waypoint update is followed to the end of memory, through waypoints, and the limit of a
     * range does not count. Right: reported.
     */
    unsigned ptm_waypoint_unbounded : 1;
    /** A bad packet gives NO_SYNC without a reason and nothing in the log. */
    unsigned ptm_bad_packet_silent : 1;
    /** BLX immediate changes the ISA also when it is not taken. Right: only if taken. */
    unsigned ptm_untaken_blx : 1;
    /**
     * A short address is of the ISA that packets gave last, also after a BLX immediate or a return
     * by the stack that changed it. Right: of the ISA in force.
     */
    unsigned ptm_told_isa : 1;
    /* ---- ETMv4, ETE and PTM ---- */
    /**
     * A taken indirect branch without its address goes unmentioned where there is no return stack.
     * Right: the log has it, as the unit had one.
     */
    unsigned silent_stack : 1;
    /**
     * How many elements a later TRACE_INFO says are uncommitted goes unmentioned where it is not
     * how many wait. Right: the log has it, as TRCIDR8 is another one in the unit.
     */
    unsigned silent_depth : 1;
    /* ---- ETMv4: corrected in version 1.8.3 of the reference ---- */
    /**
     * The exception return of an M profile core is a P0 element on ARMv7-M alone. Right: on all.
     */
    unsigned etm4_return_not_p0 : 1;
    /** A preferred return address inside an instruction is not noticed: the range before the
        exception runs on until memory ends. Right: it ends in front of that instruction, which did
        not complete. */
    unsigned etm4_walks_over_return : 1;
    /**
     * The return stack is asked where an exception return went when another exception follows it at
     * once. Right: an exception's return is no function's, and the exception says where.
     */
    unsigned etm4_exception_return_pops : 1;
    /** Each TRACE_INFO empties the return stack, and what a branch before it went to by the stack
        is lost with it; calls are kept again from the next address on. Right: only the first
        TRACE_INFO does, and a branch takes its target from the stack when it ends. */
    unsigned etm4_info_empties_stack : 1;
    /* ---- ETMv3 ---- */
    /**
     * Exceptions of an ARMv8-M core have an A profile's numbers and names. Right: an M profile's.
     */
    unsigned etmv3_v8m_is_not_m : 1;
    /**
     * Exceptions of an M profile core have no return address. Right: the instruction that they came
     * before, where that is known.
     */
    unsigned etmv3_no_return_address : 1;
    /** Room for more, so that what holds quirks stays as large as it is; their value is nothing. */
    unsigned : 0;
    unsigned spare[5]; /**< zero */
};

/** All bits set: what version 1.8.0 of the reference does. */
struct pug_quirks pug_quirks_reference(void);
/**
 * What a version of the reference does: "1.8.0", or "1.8.3", which corrected some of it. False: no
 * such version is known, and nothing is written.
 */
bool pug_quirks_of_version(const char *version, struct pug_quirks *quirks);
/** Is any bit set? */
bool pug_quirks_any(const struct pug_quirks *quirks);

#ifdef __cplusplus
}
#endif
#endif
