// SPDX-License-Identifier: MIT
/** @file Messages of the trace itself: what they mean and what to do. */
#include "explanations.h"

const struct explanation explanations_trace[] = {
    {"nothing-to-debug", "*: no instruction of it can be rebuilt*",
     "Debugging backwards needs instructions, and none could be rebuilt from this input.",
     "`pugmark info INPUT` shows what is missing: usually the program (--elf FILE) or registers."},
    {"check-undecided",
     "nothing was decoded, so no rule was checked|what is said above of the input makes this "
     "result doubtful*",
     "The trace is incomplete or does not fit the program, so rules are neither kept nor violated. "
     "The exit code is 3.",
     "Deal with the messages above first; `pugmark info INPUT` says what is missing."},
    {"something-is-wrong", "*: something is wrong:*",
     "At the end of a run Pugmark lists what does not fit: program, settings, ids, damaged bytes. "
     "The exit code is 1.",
     "Read the lines that follow, each with * in front; each has an entry of its own."},
    {"program-does-not-match",
     "*program does not match the trace*|*decoded of it is not true*|*that the program "
     "contradicts*",
     "Branches in the trace contradict the program that was given: it is another build, or lies at "
     "another address.",
     "Give the build that ran, loaded where it ran: --elf FILE, or --elf FILE@BIAS. "
     "The book says how it is noticed: What Pugmark notices, and what it cannot."},
    {"settings-do-not-match", "*the settings do not match the trace*|*fits with *",
     "Packets have a form that the registers or parameters exclude.",
     "Set the register that the message names as it was in the unit. If the message says \"fits "
     "with --set NAME=VALUE\", add exactly that."},
    {"no-code-there", "*execution came * to addresses that no file or dump has*",
     "The program ran code that was not given: a boot ROM, a library, a second image.",
     "Load the file that belongs there: --elf FILE[@BIAS] or --image FILE@ADDRESS. It may be given "
     "more than once."},
    {"no-bytes-of-source",
     "*there are no bytes for source *|*the trace has no byte of *|*are of sources that nothing "
     "describes*",
     "The ids in the trace are not those of the settings.",
     "Compare TRCTRACEIDR (ETMTRACEIDR, src_id) with the ids that the message lists, and set it: "
     "--set TRCTRACEIDR=ID."},
    {"empty-trace", "*the trace is empty*",
     "The file or buffer has no bytes: trace was never on, or the buffer was read before it was "
     "flushed.",
     "Check that the unit was enabled and programmed, then stop and flush it before the buffer is "
     "read."},
    {"no-sync",
     "*no place in them where * could begin to decode*|*synchronis*ation point*nothing of it is "
     "decoded*|*nothing could be decoded of its *|*of its * bytes only * could be decoded*",
     "Decoding begins at a synchronisation point, and there is none, or few of the bytes can be "
     "decoded.",
     "Check --protocol and --transport with `pugmark info FILE`; make the unit synchronise more "
     "often (TRCSYNCPR, ITM_TCR.SYNCENA); use a larger buffer."},
    {"cut-off", "*the trace ends inside a packet or frame*",
     "The last packet or frame is not complete.",
     "This is usual when a buffer was read while the unit ran. Flush the unit before the buffer is "
     "read. Everything before the end is right."},
    {"bad-framing",
     "*bytes are of ids that cannot be*|*bytes were skipped: they are not framed as *|*its bytes "
     "look like nothing that is known here*|*its packets are right with *|"
     "*it looks like * in *|*they look like * in *",
     "The bytes are not framed as --transport or the capture says.",
     "Run `pugmark info FILE` without --protocol: it says what the bytes look like. Words in the "
     "wrong byte order are recognised there, too."},
    {"swo-rate",
     "*bytes have no stop bit|*packets end inside a byte|"
     "*look so if the probe reads it at another rate*|*noise on the line or bytes that the probe "
     "lost*|*no byte came*",
     "Bytes of an SWO line are wrong: the probe's rate is not the target's, or the line is too "
     "fast.",
     "Set the probe to the trace clock divided by TPIU_ACPR + 1, or lower the SWO rate."},
    {"many-bad-packets", "*bad packet*",
     "Packets were damaged, or the settings are not those of the unit. Decoding goes on at the "
     "next synchronisation point.",
     "One or two after an overflow are usual. If there are many, check --protocol, --transport and "
     "the registers."},
    {"trace-lost",
     "*trace was lost before offset *|trace was lost * times*|*trace was lost*|*some are missing, "
     "and what was open is in the column*",
     "The trace unit's buffer overflowed: what ran meanwhile is missing.",
     "Trace less at a time, or use a larger buffer or a faster port. Everything else is right; "
     "times and counts leave the gap out."},
    {"decoding-stopped", "*decoding stopped at offset *|what was decoded cannot be walked",
     "A consumer or the decoder could not go on after this place.",
     "The message before it says why. Report it if the input is right; choose a part with --source "
     "or list --to."},
    {"wrong-clock", "*SysTick comes * times a second, which is no usual rate*",
     "SysTick is a periodic interrupt, mostly of a round rate. With the clock that was given it "
     "has "
     "none.",
     "Give the core's clock with --clock; the message names the one that makes SysTick 1000 a "
     "second."},
    {"own-clocks",
     "local timestamps of * sources count a clock of their own *|*local timestamps alone, *",
     "Local timestamps of an ITM count cycles of its core from where its trace began. Nothing says "
     "how such times lie beside those of other sources.",
     "Let the ITM send global timestamps (GTSFREQ of ITM_TCR); with --clock and --global-clock "
     "both "
     "kinds are used together."},
    {"times-estimated",
     "source * of *: *of its *|source * of *: *|"
     "*calls have estimated times*|*are not in the order of time*|*with estimated times*|* calls*",
     "Times between two timestamps are estimated, or threads cannot be put in order.",
     "Trace more timestamps (TRCTSCTLR, perf's timestamp option), or use timeline --exact."},
    {"samples-outside",
     "*PC samples lie in no program*|*PC samples are in the middle of an instruction*",
     "Addresses that a DWT sampled lie outside of the program, or where none of its instructions "
     "begins.",
     "Give the program with --elf. If it was given, it is another build."},
    {"more-like-these",
     "and * more messages like these|*more of these lines, *are not shown|*more of these lines*",
     "Messages or lines that differ in numbers only were counted after the first few.",
     "Deal with the first ones; the rest usually go with them."},
    {"work-done",
     "threads of *, by the values of *|"
     "GDB can connect now:*|"
     "*: written; next: *|"
     "* calls|* calls, *|* instructions of * processor*|* overflows|* traces *|its functions have "
     "names with --elf *|*: * at * bits in a second, *",
     "A command says what it made.", "Nothing is to be done; --quiet leaves the line out."},
    {"verified",
     "*exceptions and returns from them were NOT compared*|*compared with the program; all agree",
     "`pc --verify` or the diagnosis says what was compared.",
     "Nothing is to be done; what was not compared is not verified."},
    {"out-of-memory", "out of memory|no memory", "The machine has no memory left for this.",
     "Decode a smaller part (--time, --source, list --from and --to), use fewer threads (--jobs "
     "1), or end other programs."},
};
const size_t explanations_trace_count = sizeof(explanations_trace) / sizeof(explanations_trace[0]);
