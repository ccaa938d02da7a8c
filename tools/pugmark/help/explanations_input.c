// SPDX-License-Identifier: MIT
/** @file Messages of inputs, outputs and what belongs to them: what they mean and what to do. */
#include "explanations.h"

const struct explanation explanations_input[] = {
    {"no-kernel",
     "--rtos *: *|no program of this input is one of *|*: neither a known kernel nor a "
     "description|*: threads of Linux are in it, not those of "
     "a kernel *",
     "The kernel whose threads are asked for is not known, or is not in the program at hand.",
     "`pugmark threads --kernels` lists the names. Give the program with its symbols: --elf FILE."},
    {"no-latency", "from ready to running is not measurable: *",
     "How long threads waited needs the writes to control blocks that make them ready to run.",
     "Record data trace, and give the program with debug information: --elf FILE. A kernel's "
     "description needs a line \"ready\"."},
    {"no-gdb",
     "no memory to start GDB|pugmark-gdb.py is not there*|"
     "* cannot be started: *|no thread to read *",
     "Another program, such as GDB, or one more thread could not be started.",
     "Install the program (Debian: gdb-multiarch), name another with --gdb, or close some "
     "programs."},
    {"is-a-program", "*: this is a program*|*: this is source text*|*: this is an ELF file*",
     "INPUT is the program or its source, not its trace.",
     "Give the trace as INPUT and the program with --elf FILE; source text with --source-dir DIR "
     "where a command takes it."},
    {"undescribed-file",
     "*no snapshot; a single file of trace needs --protocol or --params*|*: `pugmark info` says "
     "what it looks like",
     "INPUT is one file of trace, and nothing says which protocol it has.",
     "Run `pugmark info FILE`: it says what the file looks like and ends with the command to try "
     "next."},
    {"missing-registers",
     "*registers are missing:*|*cannot be read without registers:*|*register * is missing*",
     "The trace unit's registers say how its packets are to be read, and some were not given.",
     "Give the registers with --set NAME=VALUE or --params FILE, or let --core CORE (such as "
     "Cortex-M33) supply the usual values of that core. `pugmark snapshot` keeps them beside the "
     "trace."},
    {"assumed-registers",
     "*are assumed*|*ids in this trace are taken*|"
     "*taken from --core *|*is assumed for *|*assumed*",
     "Registers that were not given were taken from what is usual for the core, or from the trace. "
     "If a unit was set up in another way, decoding goes wrong.",
     "Check the values that the message lists. Give the right ones with --set NAME=VALUE."},
    {"missing-parameters", "*parameters are missing*|*E-Trace parameters*|*encoder's parameters*",
     "E-Trace packets have fields whose widths are parameters of the encoder. With wrong widths "
     "everything after them is garbage.",
     "Give the parameters with --params FILE or --set NAME=VALUE: they stand in the core's manual "
     "or in its discovery_info registers."},
    {"no-snapshot",
     "*: no snapshot: *|*: no trace buffer in it*|*no NAME.SWO.raw or NAME.TB.raw *|*: no hardware "
     "trace in it; *|*: there is no trace in it",
     "The folder or file is no capture that Pugmark knows, or has no trace in it.",
     "Name the folder with snapshot.ini, a perf.data, a .ctrace-run.yml, or one file of trace with "
     "--protocol."},
    {"source-left-out",
     "*: type * is not known|*failed to create * decoder on decode tree.|"
     "*is left out*|*none of its sources can be decoded*|*: no such source in it|source *, *",
     "A source of the capture cannot be decoded: its description has an unknown type, or registers "
     "are missing.",
     "Give what the message names with --set SOURCE:NAME=VALUE, or mend the device's .ini file."},
    {"core-assumed",
     "*No type of core *|*Core type * is not known*|*Nothing says which core *|*Unrecognized Core "
     "name *",
     "The capture does not say which core was traced, so a usual one was assumed.",
     "Say it with --core CORE; `pugmark --list-cores` lists the names."},
    {"no-protocol", "no protocol '*'; there are*|no transport '*'; there are*|*no such protocol *",
     "--protocol or --transport has a name that is not known.",
     "The message lists the names; `pugmark info --help` says what each is."},
    {"snapshot-buffers",
     "*[source_buffers] says of no buffer *|*snapshot.ini names this file as the list of trace "
     "buffers*|*Done.*|*Parsed snapshot.ini*|*Trace Metadata*|*Device *: Ini file *|*%Missing "
     "*|*Missing *|* : *.ini*",
     "Something in the snapshot's files is missing or contradicts another file.",
     "Mend the file that the message names; docs/book/have/snapshot.md says what each line is "
     "for."},
    {"file-outside",
     "*: not in the snapshot's folder|read are files below the folders of inputs *|*the text of * "
     "source file* is left out*",
     "A capture of somebody else names files outside of its folder. They were not read.",
     "If the capture is yours: leave --confine out, use --no-sandbox, or permit a folder with "
     "--source-dir DIR."},
    {"memory-dump",
     "*it does not have all of the * bytes *|*there is nothing in it from offset *|*Failed to "
     "create memory accessor*",
     "A memory dump is shorter than the snapshot says.",
     "Dump the memory again, or mend offset= and length= in the device's .ini file."},
    {"program-unusable",
     "*: not a profile, or a damaged one|--elf has to say *|record: --elf has to say *|"
     "*: cannot use as a *|*not an ELF file, or a damaged one*|no ELF file, or a damaged one|*: "
     "cannot read its symbols*|it is no program|xlen is *, and * is a program of * bits|*: it is "
     "no program*",
     "The file given as a program is none, is damaged, or is for another kind of processor.",
     "Give the ELF file that ran, before it was stripped or converted; for raw memory use --image "
     "FILE@ADDRESS."},
    {"program-differs", "*no build id tells whether * is the * that ran*",
     "A program of this name was found, and nothing proves that it is the build that ran.",
     "Check it, or build with --build-id and record again; --symfs and --dso NAME=FILE say where "
     "the right one is."},
    {"text-missing",
     "*execution came * whose text is missing*|*execution came * where no record maps a file*|*and "
     "to * more; `pugmark info` lists what is missing*|*executions are not counted, because the "
     "text of their programs is missing*|*: no source lines of what ran*|*: its debug information "
     "*|*: names of its code are not known|*libdw does not read packages *",
     "Programs that ran are not on this machine, or their debug information is not.",
     "`pugmark info INPUT` lists each with what would bring it: --symfs, --symdir, --debug-dir, "
     "--vmlinux, --debuginfod. Or record with `perf archive`."},
    {"no-flow",
     "*: no source of program flow in it*|nothing was counted: there is no program flow in "
     "it*|nothing was decoded, nothing is verified|coverage is of counts of what ran*|*: no ITM in "
     "it*|*: no event of an ITM or a DWT*|*: no exception trace in it*|*: no such samples*",
     "The input has no trace of the kind that the command needs.",
     "`pugmark info INPUT` lists the sources; the message names the commands or unit settings that "
     "fit."},
    {"unread-setting", "*: nobody knows '*'; is * meant?",
     "A file of parameters has a name that nothing reads, and that is nearly a known one.",
     "Mend the name in the file. `pugmark info` lists all names that are not read."},
    {"live-no-bytes", "*no byte came*", "The live input was opened, and nothing arrived.",
     "Enable trace at the peer: for OpenOCD `tpiu enable` or `swo enable`, and check that the "
     "target runs and the clock is right."},
    {"live-begin",
     "*: there is *, too (--buffer *)|"
     "*: the first bytes are *|*: not synchronised: text may begin wrongly*|*: no ITM, TPIU frames "
     "or ORBFLOW in the first *|*the peer went away: waiting for it|*begins by a guess*|*: taken "
     "for the file of this name, not for the live input",
     "How a live input is framed was found from its first bytes, or could not be found.",
     "If it is wrong, say it with --protocol and --transport. Text is right from the next "
     "synchronisation on."},
    {"live-rate", "*: the bytes look like text that is sent at % baud and read at %: is it *",
     "A serial line is read at another rate than it is sent at, as its first 4 KiB show.",
     "Give the rate of the SWO pin: serial:DEVICE@BAUD."},
    {"live-dropped", "*: % bytes were dropped: decoding is slower than the input*",
     "Bytes of a live input came faster than they were decoded, and the room for them was full. An "
     "element says where.",
     "Keep all of them with --save FILE or FOLDER/, or the newest ones with --ring N; write the "
     "output to a file instead of a terminal."},
    {"live-kept",
     "*of what came the newest * bytes are kept*|the newest bytes cannot be kept in *|*after * "
     "bytes*|port * of *: *|no thread for clients: *|*% after % bytes*|live ended*|--save *: the "
     "folder holds files; name a new or an empty one|--save *: *: the bytes are not saved",
     "A live command reports what it kept, or cannot listen or keep more.",
     "Choose another --port, a smaller --ring, or a --save file on a disk with room."},
    {"cannot-write",
     "*: the snapshot was not written: *|"
     "cannot write the output: *|cannot write the timeline: *|no temporary file in *|*: no "
     "temporary file in *|the lines of threads cannot be kept: *|the index file's name is too "
     "long|*: a link, which may lead anywhere*|*: not a regular file, which an index has to "
     "be|left as it was, since the input is not whole",
     "The output could not be written. What was there before is unchanged.",
     "Check room and permissions of the folder; choose another with -o. TMPDIR chooses the folder "
     "of temporary files."},
    {"record-program",
     "*there is no such program*|it is no path, and no log that is known|--elf has to say what "
     "program that is|no data trace is made of it here|the program's exit status is *|the program "
     "was killed by signal *|QEMU does not report exceptions here*|there are more processors than "
     "ids*|code changed: there are * buffers*|* instructions "
     "of * processor*|* overflows|* is * where other options are as they are",
     "`pugmark record` reports how the program ended, or why it could not be run.",
     "Check that the program runs under qemu-user by itself. `pugmark record --help` lists what "
     "can be changed."},
    {"no-sysroot",
     "*it is linked dynamically for *, and its libraries are not here*|"
     "*its libraries are not here*|*--sysroot*|*sysroot*",
     "The program is linked dynamically for another architecture, and the libraries of that "
     "architecture were not found.",
     "Install the cross libraries that the message names (such as libc6-arm64-cross), give "
     "--sysroot DIR, or link with -static."},
    {"perf-records",
     "*: offset *, record of type *|*: offset *, feature *|*: offset *, header: *|*cannot be read "
     "as kernel symbols*|*it says of no kernel function where it is*|*nothing in it says how "
     "CoreSight was set up*|*: processors share a trace id *|*: its records have times of *|*: "
     "there is more in it than is looked at|*it cannot be read; what was recorded there is "
     "missing|*: there are no programs: *|*: process * has more than * executable ranges *",
     "A perf.data is damaged at a place, or lacks a record that decoding needs.",
     "Record again with a current perf, as the same user, without cutting the file. `perf report "
     "-D` shows the records."},
    {"many-sources",
     "*has trace of * sources, by its ids: only * are decoded*|*only * of them are "
     "decoded*|*sources in the first * bytes; what others say later is left out*|*ids in this "
     "trace:*",
     "One file has more trace ids than are followed, or the message lists those that are in it.",
     "Choose with --source ID, raise --source-limit N, or check --transport: wrong framing gives "
     "many false ids."},
    {"part-of-index",
     "*only its bytes from * to * of * are indexed*|*: no index: *|*`pugmark index --rebuild` "
     "makes it anew",
     "The index covers a part of the trace, or is of another capture.",
     "Run `pugmark index INPUT` to go on with it, or with --rebuild to make it again."},
};
const size_t explanations_input_count = sizeof(explanations_input) / sizeof(explanations_input[0]);
