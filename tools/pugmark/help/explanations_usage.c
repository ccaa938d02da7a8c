// SPDX-License-Identifier: MIT
/** @file Messages of command lines: what they mean and what to do. */
#include "explanations.h"

const struct explanation explanations_usage[] = {
    {"check-rules",
     "*: a folder, not a file of rules*|*: more than * rules, or a line longer than *|*: more "
     "threads than can be told apart*|*: there are "
     "no rules in it|more rules are wrong; mend these first",
     "The file of rules of `pugmark check` is none, is empty, or has lines that are no rules.",
     "Begin with `pugmark check --init INPUT`, which writes rules from what a capture shows, or "
     "give one with --rule."},
    {"no-command",
     "'*' is no code of a message*|"
     "'*' is no command*",
     "The first word after `pugmark` is not the name of a command.",
     "`pugmark help` lists the commands by task."},
    {"unknown-option", "unknown option '*",
     "No option of this command has that name. Options begin with two dashes and come before or "
     "after the input.",
     "`pugmark COMMAND --help` lists a command's options, --help-all those that many commands "
     "have."},
    {"option-value", "option '*' takes no argument|option '*' needs *|--version takes --json*",
     "An option was given a value that it does not have, or lacks the one that it needs.",
     "Write --option VALUE or --option=VALUE; `pugmark COMMAND --help` shows which options have "
     "one."},
    {"number-of-words", "too many words: '*|too few words*|no input*",
     "The command was called with more or fewer inputs than it takes.",
     "The line `usage:` below the message shows what the command takes. Quote names that hold "
     "spaces."},
    {"no-core", "--core *: no core of this name is known*",
     "--core names a core or an architecture that Pugmark does not know.",
     "`pugmark --list-cores` lists all names. An architecture will do, too: ARMv8-A, ARMv7-M."},
    {"no-function", "*there is no function '*|*no function * in *",
     "No function of that name is in the programs that were given.",
     "Check the spelling, and give the program with --elf. C++ names can be written as the source "
     "has them."},
    {"no-such-exception", "--exception *: no exception of a Cortex-M is called so*",
     "`find --exception` was given a name that neither the architecture nor the program's vector "
     "table has.",
     "Write the name that the message suggests, the handler's name, or the number. --elf gives the "
     "program whose handlers have names."},
    {"no-place",
     "*that program lies in the memory of no process here*|*: no code of that line is in the "
     "programs at hand*|*: no code of line *|*in --filter * the end is not behind "
     "the start|*no packet tells this address*|"
     "--* *: no function, FILE:LINE or number*|--* *: no code of that line*|*has no program to "
     "look for*|--* *: * is in * places*|--before *: expected *|--until *: expected *|--filter "
     "'*': expected *",
     "An address was asked for by a name, a line or a number that cannot be found in the programs "
     "that were given.",
     "Write a number (0x8000), a function, FUNCTION+0x10, or FILE:LINE, and give the program with "
     "--elf."},
    {"settings-names",
     "settings of *:*|--set *: *|--set *|a value of --set is out of range|no setting '*'; there "
     "are*",
     "--set names a register or parameter that the protocol does not read, or gives it a value "
     "that it cannot have.",
     "The message lists the names that are read. Write --set NAME=VALUE, or --set "
     "SOURCE:NAME=VALUE for one source of a snapshot."},
    {"same-file",
     "*, which is an input: nothing was written; *|"
     "--* *: it is the same file as *|--* and --* are both *",
     "An output has the name of an input, or two outputs have the same name. Nothing was written.",
     "Give the output another name."},
    {"formats",
     "--* *: no element type; there are*|"
     "--format *: the formats are*|--format *: no format*|--type *: no element type; there "
     "are*|--format ctf needs --output*",
     "The option names a format or type that does not exist.",
     "Choose one of those that the message lists."},
    {"options-exclude",
     "--csv and --callers are of *|--times and --histogram are of one capture*|-- starts GDB "
     "itself*|"
     "--csv and --rows are of *|a table of times is of all that is chosen*|--init takes one INPUT*|"
     "*: a snapshot is made of one file of trace *|"
     "* select what ran; *|"
     "* exclude each other*|--* is of *|--* is for *|--* says what *|--* is a table of its "
     "own*|--raw is *|--exact is of times*|--running is of *|--tail is for *|--verify *|--json is "
     "of *|--from * must be before *|--* select* what ran; *|find takes one --source|*: an index "
     "is of one buffer*|--after and --before are of one buffer*|* --* *: an index is of one "
     "buffer*",
     "Two options contradict each other, or one says nothing about what was asked for.",
     "Leave one of them out; `pugmark COMMAND --help` says what each is for."},
    {"what-to-find", "find needs one of *", "`pugmark find` looks for one thing at a time.",
     "Give one of the options that the message lists, such as --time T, --exception N or --address "
     "FUNCTION."},
    {"needs-output",
     "snapshot needs -o DIR*|"
     "merge needs --output*|*: the index of a stream needs an --output*|record: --out has to say *",
     "The command writes a file and was not told where.", "Add -o FILE (`record`: --out DIR)."},
    {"out-of-range",
     "--* *: not a number*|--* *: at least *|--* *: more than *|--* is a number from *|--block *: "
     "must be *|--around *: * has * bytes|--from * leaves nothing to index*|*: --from * leaves "
     "nothing to index*|source id must be*|*must be * to *|xlen must be *",
     "A number is outside of what the option takes.",
     "Give a number in the range that the message names. 0x begins a hexadecimal number."},
    {"time-range",
     "* *: expected *|"
     "--time *: nothing is between these*|--time *: expected FROM,TO*|--time: nothing in this "
     "input has a time|*: the trace has no timestamps of such times|nothing has a timestamp of *",
     "The time is not in the form or not in the range of the input's times.",
     "`pugmark info INPUT` says in which unit times are and which range they have. Write FROM,TO; "
     "either may be left out."},
    {"not-there",
     "*: no whole call of a function '*' is in it*|"
     "*: no whole call of a function '*' is in it|"
     "*: no * in it; there are*|*: no trace buffer *; there are*|--dso *: not one that ran; there "
     "are*|--dso *: it ran in neither|* is of one program or library; choose with --dso*|*: there "
     "is no * in it|there is no * in it|nothing ran at *|the trace does not come to offset *|*: "
     "nothing was written to port *; there is on port*",
     "What an option chooses is not in this input.",
     "Choose one of those that the message lists; `pugmark info INPUT` lists all. Without the "
     "option everything is shown."},
    {"replacement", "--dso *: files are taken for what perf.data names*",
     "--dso NAME=FILE replaces a program that a perf.data names. This input is no perf.data.",
     "Give the program with --elf FILE or --image FILE@ADDRESS."},
    {"terminal", "* is not written to a terminal; *|*: a page is not written to a terminal*",
     "The output is binary data or an HTML page, which a terminal cannot show.",
     "Write it to a file with -o FILE, or send it to another program with |."},
    {"not-on-this-system",
     "gdb needs a POSIX system*|"
     "recording needs QEMU's user mode*|trace is not encoded on Windows|serve is not there on this "
     "system|*not written on Windows*|--sandbox: not on this system*|a stream of perf is not read "
     "on Windows*",
     "This system lacks what the command or option needs.",
     "Use Linux for this step. For --sandbox: Linux 5.13 or later with Landlock, or leave the "
     "option out."},
    {"profile-has-no-order",
     "*: a profile keeps no order*|*: of a profile nothing can be chosen by *|no call stacks in "
     "it: *|--weight *: *|*are different things, and are not added up*|--clock *, and all times "
     "are 0|--clock *: *",
     "A saved profile holds counts. What the option asks for (order, single threads, stacks, "
     "cycles) is not in it.",
     "Run the command on the capture itself, or save the profile again with what is needed, such "
     "as --stacks."},
    {"encode-line", "line * is too long|line *: no such packet, or what it has does not fit",
     "A line of `pugmark encode`'s input has no packet's form, or a number that is too large for "
     "its field.",
     "Compare the line with `pugmark encode --help` and set field widths with --set."},
    {"convert-line", "is it *, and is this the line?|the shortest pulses say * bits in a second*",
     "The logic analyser's line does not decode as it was asked for.",
     "Choose the line with --line, the coding with --coding; leave --rate out to have it found."},
};
const size_t explanations_usage_count = sizeof(explanations_usage) / sizeof(explanations_usage[0]);
