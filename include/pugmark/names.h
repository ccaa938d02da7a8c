// SPDX-License-Identifier: MIT
/**
 * @file Names: what the places of an executable file are called in its source.
 *
 *     struct pug_names *names = pug_names_new(NULL);
 *     struct pug_names_wanted wanted = {.path = "/usr/bin/ls"};
 *     if (pug_names_open(names, &wanted, &file) == PUG_OK)
 *         count = pug_names_frames(file, vaddr, frames, 16);
 *
 * A place is an ELF virtual address of a file. Functions come from its symbols (of the file, of
 * separate debug information, of .gnu_debugdata). Lines and inlined functions come from DWARF: in
 * the file, compressed or not, in a file found by build id or .gnu_debuglink, in split .dwo files,
 * and in packages of them, .dwp, with libdw from elfutils 0.191 on; pug_names_unread() says where
 * it cannot read them.  Symbols may also come from a kernel's kallsyms or from the map of a JIT
 * compiler.
 *
 * What was read is kept, up to a limit; a lookup in it is two binary searches. Texts belong to the
 * names and live as long as they do. Names belong to one thread at a time. Files are not trusted;
 * only regular ones are opened. Nothing is asked of a network.
 *
 * Built without libelf, files are read by a reader of the library's own. Without libdw there are no
 * lines and inlined functions, and compressed symbol tables and separate files of symbols are not
 * read.
 */
#ifndef PUGMARK_NAMES_H
#define PUGMARK_NAMES_H

#include "pugmark/element.h"
#include "pugmark/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pug_names;

/** An executable file, or a text of symbols. Belongs to the names. */
struct pug_names_file;

/** The folders to search, and how much is kept. */
struct pug_names_options {
    const char *symfs;             /**< recorded paths are below this folder; NULL: "/" */
    const char *const *symdirs;    /**< folders that are looked into, for the last component */
    size_t symdir_count;           /**< how many there are */
    const char *const *debug_dirs; /**< of separate debug information; none: symfs/usr/lib/debug */
    size_t debug_dir_count;        /**< how many there are */
    size_t limit;                  /**< bytes of lines and inlined functions kept; 0: 256 MiB */
    uint64_t spare[4];             /**< zero */
};

/** NULL options: defaults. NULL: no memory. Texts of options are copied. */
struct pug_names *pug_names_new(const struct pug_names_options *options);
/** With all files. NULL is left alone. */
void pug_names_free(struct pug_names *names);
/**
 * PUG_ERR_MEM: there was no memory for something since they were made, so that places may have got
 * less than is known of them; else PUG_OK. Of NULL: PUG_OK.
 */
enum pug_status pug_names_status(const struct pug_names *names);
/**
 * The same, and which file: also PUG_ERR_FILE, of a file that was said to be there (`file` of
 * struct pug_names_wanted) and that could not be read; pug_names_status() answers so, too. False:
 * all is well. The path lives as long as the names.
 */
bool pug_names_failure(const struct pug_names *names, struct pug_read_failure *failure);

/** The wanted file. */
struct pug_names_wanted {
    const char *path;        /**< as recorded; looked for below symfs, in symdirs, and as it is */
    const char *file;        /**< where it is said to be, or NULL: that is tried first */
    const uint8_t *build_id; /**< what its build id must be */
    size_t build_id_size;    /**< 0: any file of that name will do */
    const char *debug;       /**< where its separate debug information is said to be, or NULL */
    uint64_t spare[4];       /**< zero */
};

/**
 * The file, read when it is first asked for, kept for the next time. PUG_ERR_FILE: there is none,
 * it is no ELF file, or another build, which stays so; PUG_ERR_MEM. A library that was built
 * without libelf reads ELF files as well; compressed symbol tables and source lines need libdw.
 */
enum pug_status pug_names_open(struct pug_names *names, const struct pug_names_wanted *wanted,
                               struct pug_names_file **file);

/** How a text of symbols looks. */
enum pug_names_text {
    PUG_NAMES_KALLSYMS, /**< "ADDRESS TYPE NAME [MODULE]", the kernel's /proc/kallsyms */
    PUG_NAMES_JIT_MAP,  /**< "ADDRESS SIZE NAME", as JIT compilers write /tmp/perf-PID.map */
};

/** Symbols from a text, for an object that has none of its own. */
struct pug_names_symbols {
    enum pug_names_text kind; /**< how it looks */
    const char *path;         /**< of the object: what pug_names_open() asks for */
    const char *file;         /**< the text; NULL: it is `text` */
    const char *text;         /**< ended by a NUL; not needed any more afterwards */
    const char *module;       /**< only symbols of this module; "": only the kernel's; NULL: all */
    uint64_t moved;           /**< subtracted from its addresses: places are those of the object */
    uint64_t spare[4];        /**< zero */
};

/**
 * From then on pug_names_open() of the path gives these, whatever the build id, if no such file was
 * opened before; so does asking again for symbols of that path. A text of at most 1 GiB.
 * PUG_ERR_FILE: it cannot be read, or has no symbol; of a text file that stays so.
 */
enum pug_status pug_names_open_symbols(struct pug_names *names,
                                       const struct pug_names_symbols *symbols,
                                       struct pug_names_file **file);

/** Opens a text file, all of it, at the addresses that it lists. */
enum pug_status pug_names_open_text(struct pug_names *names, enum pug_names_text kind,
                                    const char *path, const char *text_path,
                                    struct pug_names_file **file);

/* ---- functions ---- */

/** The visibility of a symbol. */
enum pug_names_binding { PUG_NAMES_LOCAL, PUG_NAMES_GLOBAL, PUG_NAMES_WEAK };

/**
 * A function symbol, or a label in code. Names of functions that are equal are one text, in all
 * files that the names have.
 */
struct pug_names_function {
    const char *name; /**< as the linker knows it; pug_names_readable() makes it one for people */
    uint64_t start, size; /**< where it begins, and its bytes */
    uint8_t binding;      /**< enum pug_names_binding */
    bool label; /**< no function by its type, or without a size: it reaches to the next one */
};

/** The function at an address; false: none is known. */
bool pug_names_function(struct pug_names_file *file, uint64_t vaddr,
                        struct pug_names_function *function);

/** Gets the n-th function, by start; false after the last one. */
bool pug_names_function_at(struct pug_names_file *file, size_t n,
                           struct pug_names_function *function);

/** The function that a stub of the linkage table (PLT) at this address calls, or NULL. */
const char *pug_names_stub(struct pug_names_file *file, uint64_t vaddr, uint64_t *start);

/* ---- lines ---- */

/** A line of source code. */
struct pug_names_line {
    const char *path;       /**< of the source file, absolute where the debug information has it */
    uint32_t line;          /**< 0: compiled, but from no line */
    uint32_t discriminator; /**< distinguishes several places that one line was compiled to */
    uint64_t start, end;    /**< the addresses around that have just this */
};

/** The source line of an address; false: none is known. */
bool pug_names_line(struct pug_names_file *file, uint64_t vaddr, struct pug_names_line *line);

/**
 * All lines of a file, by address: calls `take` until it returns false. PUG_ERR_NOT_FOUND: it has
 * no line information.
 */
enum pug_status pug_names_lines(struct pug_names_file *file,
                                bool (*take)(void *context, const struct pug_names_line *line),
                                void *context);

/** A function at a place: the one that runs there, or one that it was inlined into. */
struct pug_names_frame {
    const char *function;   /**< linkage name, else the name in the source; NULL: not known */
    const char *path;       /**< of `line`; NULL: not known */
    uint32_t line;          /**< that runs; in functions around it the line of the inlined call */
    uint32_t discriminator; /**< distinguishes several places that one line was compiled to */
    const char *declared_path; /**< where the function is declared; NULL: not known */
    uint32_t declared;         /**< its line there, 0: not known */
    bool inlined;              /**< into the next frame */
};

/**
 * The functions at an address, the innermost one first, at most `room`; 0: nothing is known. The
 * last one is the function that the linker knows.
 */
size_t pug_names_frames(struct pug_names_file *file, uint64_t vaddr, struct pug_names_frame *frames,
                        size_t room);

/* ---- variables ---- */

/** How the bits of a value are to be read. */
enum pug_names_encoding {
    PUG_NAMES_NO_ENCODING, /**< not known, or no single value */
    PUG_NAMES_UNSIGNED,
    PUG_NAMES_SIGNED,
    PUG_NAMES_UNSIGNED_CHAR,
    PUG_NAMES_SIGNED_CHAR,
    PUG_NAMES_BOOL,
    PUG_NAMES_FLOAT,
    PUG_NAMES_POINTER,
    PUG_NAMES_ENUM, /**< pug_names_enumerator() has names of values */
};

/** A variable of the program, or a member of one. Texts live as long as the names. */
struct pug_names_variable {
    const char *name;     /**< "speed", "motor.state", "table[3].x"; "speed+1" within one */
    const char *type;     /**< in words of C, "unsigned int"; "" where it is not known */
    uint64_t start, size; /**< where it begins, and its bytes */
    uint64_t type_die;    /**< private */
    uint8_t encoding;     /**< enum pug_names_encoding */
    uint64_t spare[2];    /**< zero */
};

/** The variable at an address, by debug information or else by symbol; false: none is known. */
bool pug_names_variable(struct pug_names_file *file, uint64_t address,
                        struct pug_names_variable *variable);

/** What an enumeration calls a value; NULL: it has no name, or this is no enumeration. */
const char *pug_names_enumerator(struct pug_names_file *file,
                                 const struct pug_names_variable *variable, int64_t value);

/* ---- the file ---- */

/** A loadable segment. */
struct pug_names_segment {
    uint64_t vaddr, offset, size; /**< `size` in the file */
    bool executable;              /**< it holds code */
};

/** Returns the path of its bytes; NULL for a text of symbols. */
const char *pug_names_path(const struct pug_names_file *file);
/** Its loadable segments; 0 for a text. */
size_t pug_names_segments(const struct pug_names_file *file,
                          const struct pug_names_segment **segments);
/** How many bytes it has, 0: none; *build_id is theirs. */
size_t pug_names_build_id(const struct pug_names_file *file, const uint8_t **build_id);
/**
 * Is there a package of split debug information (FILE.dwp) beside it that the libdw of this build
 * does not read? Its path then; inlined functions are not known where it has them.
 */
bool pug_names_unread(const struct pug_names_file *file, char *package, size_t size);
/**
 * Is debug information of it left out, since unpacked it would be larger than 16 MiB and 16 times
 * its file? Of a file of its own that is known once lines or functions were asked for.
 */
bool pug_names_too_large(const struct pug_names_file *file);
/**
 * The path of a file of which lines and functions are left out, since its units together say more
 * of them than its size lets expect (two million, or two for each byte); NULL: of none so far.
 */
const char *pug_names_left_out(const struct pug_names *names);
/** Has it lines? */
bool pug_names_has_lines(struct pug_names_file *file);
/** e_machine of its ELF header; 0 for a text. */
uint16_t pug_names_machine(const struct pug_names_file *file);

/** A stretch of instructions of one instruction set. */
struct pug_names_code {
    uint64_t start, end;  /**< addresses; `end` is one past the last byte */
    const uint8_t *bytes; /**< end - start of them */
    uint8_t isa;          /**< enum pug_isa */
    bool plt;             /**< of a procedure linkage table */
};

/** The n-th stretch of code, by start: sections with instructions, without data among them. */
bool pug_names_code_at(struct pug_names_file *file, size_t n, struct pug_names_code *code);

/* ---- demangling ---- */

/**
 * A linkage name of C++ (Itanium ABI) or Rust (v0 and before) as people write it; the name as it is
 * where it is none. Lives as long as the names do. NULL gives NULL.
 */
const char *pug_names_readable(struct pug_names *names, const char *name);

/**
 * The same without names: writes at most `size` bytes with the closing NUL. The length of the whole
 * text; 0: it is no such name, and nothing is written.
 */
size_t pug_demangle(const char *name, char *buffer, size_t size);

/** The first bytes of a text, kept with the names; NULL: no memory. */
const char *pug_names_keep(struct pug_names *names, const char *text, size_t length);

#ifdef __cplusplus
}
#endif
#endif
