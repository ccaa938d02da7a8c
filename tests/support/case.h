// SPDX-License-Identifier: MIT
/**
 * @file Readable test cases: the program, the packets as bytes, and what must come out.
 *
 * tests/unit/test_cases.c runs every text file below tests/cases whose first statement is
 * `protocol`: to test a protocol write such files, no code. `#` begins a comment.
 *
 *     protocol ETMV4I               what the source speaks
 *     transport coresight           how its bytes are framed; left out: not at all
 *     TRCIDR0 = 0x28000EA1          a setting of the source: a number or a word
 *     transport.NAME = VALUE        a setting of the transport
 *     option halt_on_bad_packet     an option, see struct pug_decode_options; `option NAME = N`
 *     quirk NAME                    a bit of struct pug_quirks; `quirk reference` for all of them
 *     packets only                  no decoder
 *     wait N                        the consumer answers WAIT to the N-th element
 *     memory 0x1000: 1f2003d5 aa    program memory, groups of two hex digits are bytes in order,
 *     memory 0x1000 EL1N: d503201f  of four a halfword, of eight a word (both little-endian).
 *                                   Lines that go on where the one before ended are one piece
 *     case a taken branch           begins a case. What stands before the first is for all
 *
 * Then, in a case, the data path. A line of bytes (or `end`, `flush`, `reset`) is given to the tree
 * as one operation. The next lines list its effects, in order and completely:
 *
 *     01 00                         trace bytes
 *     = 12 I_TRACE_INFO : ...       a packet: its index and its text. Checked where a line of
 *                                   bytes has any; `=` alone: no packet
 *     > 21 INSTR_RANGE(...)         an element: its index and its text
 *     ! warning 25 14 some text     a log record: severity, error number, index or -, text
 *     ~ FATAL_INVALID_DATA          the answer. Left out: any that goes on
 *
 * Each case is run again with the bytes one by one, with batches, and with consumers that wait at
 * every, every second and every third element: packets, elements and log must be the same. Without
 * quirks elements are the same, too, where a packet reader hands its packets to another tree.
 */
#ifndef PUG_TESTS_SUPPORT_CASE_H
#define PUG_TESTS_SUPPORT_CASE_H

/** Run all cases of a file; prints what differs. Returns how many failed; *count: how many ran. */
int case_run_file(const char *path, int *count);

#endif
