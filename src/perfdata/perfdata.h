// SPDX-License-Identifier: MIT
/**
 * @file perf.data from inside. One way: containers to records (open.c, walk.c, unzip.c), records to
 * facts (record.c, feature.c, info.c), facts to segments (cut.c), to tasks and address spaces by
 * time (tasks.c, process.c, space.c), to objects and their text (object.c, seek.c, folders.c,
 * program.c, kernel.c, module.c); decode.c gives it all to the capture.
 *
 * Numbers of sections are those of the file format as perf's sources describe it.
 */
#ifndef PUG_PERFDATA_PERFDATA_H
#define PUG_PERFDATA_PERFDATA_H

#include "base/bytes.h"
#include "base/grow.h"
#include "capture/capture.h"
#include "files/infile.h"
#include "files/roots.h"
#include "perfdata/facts.h"
#include "perfdata/ranges.h"

#include <stdatomic.h>

/* ---- tasks and spaces ---- */

/** A time, and which of its records have been: those in front of this one. */
struct pug_perf_moment {
    uint64_t time;
    uint32_t order;
};

/** A change of a process's address space. */
struct pug_perf_change {
    uint64_t time;
    uint32_t order; /**< of records: of several at a time */
    struct pug_perf_range range;
    bool executable; /**< else it only makes room */
    bool clears;     /**< exec: everything goes */
};

/** One life of a process id. */
struct pug_perf_process {
    int32_t pid;
    uint64_t begin;
    uint32_t parent;         /**< whose ranges it began with, or UINT32_MAX */
    size_t parent_state;     /**< how many changes that one had then */
    struct pug_list changes; /**< struct pug_perf_change, by time */
    /* The results so far: versions as far as they were made. */
    struct pug_perf_node *now;
    size_t applied;         /**< changes in `now` */
    struct pug_list epochs; /**< struct pug_perf_epoch, in ascending order */
};

/** A version of an address space: ranges that do not change any more. Several spaces have it. */
struct pug_perf_version {
    struct pug_perf_node *ranges;
    uint32_t process; /**< whose: a life's number */
    size_t to;        /**< its changes so far */
};

/** Which version there is while nothing is taken away: up to so many changes. */
struct pug_perf_epoch {
    size_t to;
    struct pug_perf_version *version;
};

/** From when on a process id is which process. */
struct pug_perf_life {
    int32_t pid;
    uint64_t time;
    uint32_t process;
};

/** When a thread is a task. */
struct pug_perf_thread {
    int32_t tid;
    uint64_t time;
    uint32_t task; /**< number in the capture */
};

struct pug_perf_space {
    struct pug_address_space public; /**< first */
    struct pug_perf *perf;
    const struct pug_perf_version *user, *user_before, *kernel; /**< or NULL */
    struct pug_image image;
};

/* ---- objects ---- */

struct pug_perf_program;

#define PUG_PERF_NO_GUEST (-1)

struct pug_perf_symbol {
    const char *name, *module; /**< module: "" for the kernel's own */
    uint64_t address;
    bool is_global;     /**< others than its own file, or module, may mean it */
    uint32_t namesakes; /**< of the first one of its name and module: how many they are */
    bool is_meant;      /**< of the first one of its name: others mean `meant` by it */
    uint64_t meant;
};

/** The places of a kernel's symbols. */
struct pug_perf_kallsyms {
    bool read;               /**< it was looked for */
    struct pug_list symbols; /**< struct pug_perf_symbol: functions, by name */
    char *text;              /**< that they point into */
    const char *path;        /**< that it was read from, or NULL */
    uint64_t moved;          /**< the distance from the written addresses to the kernel's */
};

/** A guest of the host's kernel. */
struct pug_perf_guest {
    int32_t pid;      /**< of the process that is the machine; 0: of a guest without a number */
    uint32_t process; /**< that has its kernel's maps */
    struct pug_perf_program *memory; /**< a copy of it in the directory, or NULL */
    const char *memory_path, *kallsyms_path;
    bool sought;
    struct pug_perf_kallsyms symbols;
};

struct pug_perf_object {
    struct pug_perf_program *program; /**< its text, where it was found */
    _Atomic bool sought;
    int32_t guest;       /**< of which guest's kernel it is, by its process; PUG_PERF_NO_GUEST */
    int32_t jit_pid;     /**< of memory that a JIT compiler may have filled; 0: of other objects */
    const char *jit_map; /**< of such memory: the map that names it; NULL: not found yet */
    const char *module;  /**< of a module, as kallsyms calls it; NULL: not determined yet */
    bool high;           /**< it was mapped above 4 GiB */
    uint64_t first_address; /**< kernel and modules: where it was mapped first */
    uint64_t first_offset;
    uint64_t first_size;
    /* From simpleperf's FILE features. */
    bool has_memory_offset;
    uint64_t memory_offset, min_vaddr;
    bool no_offset;      /**< as in struct pug_perf_file_fact */
    const char *symbols; /**< the same */
};

/* ---- the whole ---- */

struct pug_perf_told {
    const char *path;
    int32_t guest; /**< or PUG_PERF_NO_GUEST */
    uint8_t build_id[20];
    uint8_t size;
    bool deleted; /**< the path ended in the mark that its file was replaced */
};

/** simpleperf's information about a file: where its lowest address lies. */
struct pug_perf_file_fact {
    const char *path;
    uint64_t min_vaddr, offset;
    bool in_memory;      /**< a module: `offset` is from where it is mapped */
    bool no_offset;      /**< unknown: `min_vaddr` is where its code is mapped */
    const char *symbols; /**< lines "ADDRESS SIZE NAME" of its own addresses, or NULL */
};

/** A library in a package. */
struct pug_perf_member {
    uint32_t archive, object;
    uint64_t begin, size;
};

/** A row of a branch list. */
struct pug_perf_row {
    uint32_t object, branches;
    uint64_t vaddr; /**< or, of a kernel that lay where the list says, an address in memory */
    const uint8_t *taken;
    uint64_t count;
    bool in_memory;
};

/** The files in the folders that are searched. */
struct pug_perf_folders {
    bool walked, has_ids;
    struct pug_list files; /**< struct kept (folders.c), by name */
    struct pug_list by_id; /**< the same with build ids: struct kept *, by these */
};

struct pug_perf_file {
    struct pug_infile *in;
    char *path;
};

/** A place in a file, for messages. */
struct pug_perf_place {
    uint64_t offset;
    uint32_t file;
};

struct pug_perf {
    uint64_t packed, unpacked; /**< bytes of compressed records, of all files together */
    struct pug_capture *capture;
    struct pug_image nothing; /**< the memory of processes that have none */
    /** What of its files could not be read; any thread may say it, the first one counts. */
    struct pug_read_failure unread;
    atomic_bool unread_taken, unread_told;
    char *folder; /**< of a directory, or NULL */
    struct pug_list files;
    struct pug_list attrs; /**< struct pug_perf_attr */
    struct pug_list ids;   /**< struct pug_perf_id, by id */
    bool ids_sorted;
    bool has_last_id; /**< an event id that was found, and its attribute */
    uint64_t last_id;
    uint32_t last_attr;
    bool simpleperf;
    bool has_times;        /**< of records */
    const char *own_clock; /**< that these are of, where it is not perf's; else NULL */
    uint64_t last_time;
    uint32_t order; /**< of records */
    bool piped;
    struct pug_perf_place place;               /**< of the record or feature that is being read */
    struct pug_perf_place lost_at, refused_at; /**< of the first such records */
    uint64_t mounts;  /**< the mount namespace of the last record; 0: none */
    bool many_mounts; /**< there are others */
    bool told_id;     /**< an event id that belongs to no event was reported */

    bool has_aux;        /**< there are such records */
    struct pug_list aux; /**< struct pug_perf_aux: those with trace … */
    struct pug_perf_aux_part {
        struct pug_list list;
        uint32_t before; /**< records of the file before the part */
        uint32_t later;  /**< what its times lack: without times these are numbers of records */
    } aux_parts[PUG_PERF_SCOUTS]; /**< … after those of parts of a long file */
    struct pug_list auxtrace;     /**< struct pug_perf_auxtrace */
    struct pug_list hw_ids;       /**< struct pug_perf_hw_id */
    struct pug_list events;       /**< struct pug_perf_event */
    struct pug_list cpus;         /**< struct pug_perf_cpu, by number */
    bool has_info, snapshot_mode, refused_hw_id;
    uint64_t info_version;
    uint64_t lost, lost_samples, decoder_errors;
    uint64_t kernel_start; /**< where kernel addresses begin */
    char *kallsyms;        /**< that the file holds, or NULL */
    const char *release;   /**< of the kernel, or NULL */
    uint64_t first_sample, last_sample;

    struct pug_list index; /**< uint64_t: places of AUXTRACE records, as the index says */

    struct {
        bool known;
        uint64_t shift, mult, zero, cycles, mask;
        bool is_short;
    } clock;
    bool virtual_time; /**< all sources' timestamps are the clock's cycles */
    enum { PUG_PERF_NO_IDS, PUG_PERF_CONTEXT_ID, PUG_PERF_VMID } ids_in;
    struct pug_list guests; /**< struct pug_perf_guest */

    struct pug_list cuts;             /**< struct pug_perf_cut: by segment */
    struct pug_list source_tree_sets; /**< struct pug_perf_source_trees */
    struct pug_list processes;        /**< struct pug_perf_process; kernels first */
    struct pug_list lives;            /**< struct pug_perf_life: processes by pid and time */
    struct pug_list threads;          /**< struct pug_perf_thread, by tid and time */
    struct pug_list details;          /**< struct pug_perf_object: by the capture's object */
    struct pug_list table;            /**< uint32_t: objects by hash of path and build id, plus 1 */
    struct pug_list file_facts;       /**< struct pug_perf_file_fact */
    struct pug_list members;          /**< struct pug_perf_member */
    unsigned archive_questions;
    struct pug_list told;        /**< struct pug_perf_told: build ids by path */
    struct pug_list spaces;      /**< struct pug_perf_space *, by number less 1 */
    struct pug_list space_slots; /**< uint32_t: their numbers by hash; 0: free */
    struct pug_list versions;    /**< struct pug_perf_version * */
    struct pug_perf_nodes nodes;
    bool ranges_full;                 /**< a process has more ranges than are kept */
    struct pug_perf_kallsyms symbols; /**< the host's */
    struct pug_perf_program *memory;  /**< the kernel's, as a core file; or NULL */
    const char *memory_path;
    const char *memory_kallsyms; /**< that was kept with it, or NULL */
    bool memory_sought;
    struct pug_perf_folders given, modules; /**< the user's, and where the kernel's modules are */
    struct pug_list branches;               /**< struct pug_perf_row */
};

/** The sources that may be in a segment: one tree decodes all segments of a set of source trees. */
struct pug_perf_source_trees {
    bool raw, one_sink;
    uint32_t *cpus; /**< numbers in `cpus` */
    size_t count;
};

/** The place of a segment's bytes. */
struct pug_perf_cut {
    uint64_t at;
    uint32_t before; /**< 1 + the segment that emptied its buffer before; 0: unknown */
    uint32_t order;  /**< of its record */
    uint32_t file;
    uint32_t source_trees; /**< number of the sources that may be in it */
};

#define PUG_PERF_NO_PARENT UINT32_MAX
#define PUG_PERF_KERNEL    0u /* number of the host kernel among the processes */

/* walk.c */
/** Read all records of a file's part. What is damaged ends it, with a message. */
enum pug_status pug_perf_walk(struct pug_perf *perf, uint32_t file, uint64_t from, uint64_t end);
/**
 * Records that many threads look through, each its part: what is of no order, and where the rest
 * is.
 */
struct pug_perf_scout {
    struct pug_perf perf;   /**< of its own: what it has of AUX and AUXTRACE records */
    uint64_t from, end;     /**< of its part … */
    uint64_t limit;         /**< … of all that ends here */
    struct pug_list others; /**< struct pug_perf_other */
    bool whole;             /**< it came to its end, and all of it can be done in parts */
    /* Where what it found is among all: records before, and its first ones. */
    uint32_t before;
    size_t first_auxtrace;
};

/** A record for the one thread that knows all of them. */
struct pug_perf_other {
    uint64_t offset;
    uint32_t order; /**< in its part */
};

void pug_perf_walk_scout(struct pug_perf_scout *scout);
/** Take the others of a part that was whole, where so many records were before it. */
enum pug_status pug_perf_walk_others(struct pug_perf *perf, const struct pug_perf_scout *scout,
                                     uint32_t before);

/* scout.c */
/** As pug_perf_walk() of the first file, on many threads where it is long. */
enum pug_status pug_perf_walk_all(struct pug_perf *perf, uint64_t from, uint64_t end);
/** The places where parts may begin, from the index of AUXTRACE records. */
void pug_perf_take_index(struct pug_perf *perf, const uint8_t *bytes, size_t size);

/** Records in memory; returns how many bytes of it were whole ones. `place` is for messages. */
size_t pug_perf_walk_memory(struct pug_perf *perf, uint32_t file, uint64_t place,
                            const uint8_t *bytes, size_t size, bool *damaged);
/** The same where no more can follow: what is no whole record is damage. */
void pug_perf_walk_whole(struct pug_perf *perf, uint32_t file, uint64_t place, const uint8_t *bytes,
                         size_t size);
/**
 * A file of the recording cannot be read there (errno): pug_capture_failure() returns the first
 * one.
 */
void pug_perf_fail(struct pug_perf *perf, const char *path, uint64_t offset,
                   enum pug_status status);
/** Report damage at a place. */
void pug_perf_damage(struct pug_perf *perf, uint32_t file, uint64_t offset, uint32_t type,
                     const char *why);
/** Report damage in a feature, which begins at perf->place. */
void pug_perf_damage_feature(struct pug_perf *perf, uint64_t bit, const char *why);

/* unzip.c */
struct pug_perf_unzip;
/** The bytes of one compressed record; the records that are complete by now are read. */
enum pug_status pug_perf_unzip(struct pug_perf *perf, struct pug_perf_unzip **state, uint32_t file,
                               uint64_t place, const uint8_t *bytes, size_t size);
/** The file is over: is anything left? May be NULL. */
void pug_perf_unzip_end(struct pug_perf *perf, struct pug_perf_unzip *state, uint32_t file);
void pug_perf_unzip_free(struct pug_perf_unzip *state);

/* record.c */
/** Does a record change nothing that others depend on, and is it all right? */
bool pug_perf_is_apart(struct pug_perf *perf, const struct pug_perf_record *record);
void pug_perf_take_record(struct pug_perf *perf, const struct pug_perf_record *record);

/* attr.c */
enum pug_status pug_perf_take_attr(struct pug_perf *perf, const uint8_t *attr, size_t size,
                                   const uint8_t *ids, size_t id_count);
/** Event ids in order, for many threads. */
void pug_perf_sort_ids(struct pug_perf *perf);
/** Read the sample id block and cut it off the body; false: the record is too short for it. */
bool pug_perf_take_sample(struct pug_perf *perf, struct pug_perf_record *record,
                          struct pug_perf_sample *sample);
/**
 * How long it is. False: the record's event id belongs to no event, which has to be reported once.
 */
bool pug_perf_sample_size(struct pug_perf *perf, const struct pug_perf_record *record,
                          size_t *size);

/* info.c */
/** AUXTRACE_INFO's words. */
void pug_perf_take_info(struct pug_perf *perf, const struct pug_perf_record *record);
/** Match trace ids with processors, when all records were read. */
enum pug_status pug_perf_settle_ids(struct pug_perf *perf);
/** A processor's source as the tree takes it; `items` has room for 12 settings. */
const char *pug_perf_source(const struct pug_perf_cpu *cpu, struct pug_setting *items,
                            size_t *count);

/* feature.c */
void pug_perf_take_feature(struct pug_perf *perf, uint64_t bit, const uint8_t *bytes, size_t size);
/** An entry of build ids: from its pid on. False: it cannot be one. */
bool pug_perf_take_build_id(struct pug_perf *perf, uint16_t misc, const uint8_t *body, size_t size);

/* simpleperf.c */
void pug_perf_take_simpleperf(struct pug_perf *perf, uint64_t bit, const uint8_t *bytes,
                              size_t size);

/* branch_list.c */
void pug_perf_take_branch_list(struct pug_perf *perf, const uint8_t *content, size_t size);
/** As `row` and `read_object` of struct pug_capture_ops. */
bool pug_perf_row(struct pug_capture *capture, size_t n, struct pug_capture_row *row);
size_t pug_perf_read_object(struct pug_capture *capture, uint32_t object, uint64_t vaddr,
                            uint8_t *bytes, size_t size);

/* cut.c */
enum pug_status pug_perf_cut(struct pug_perf *perf);
/** AUX records of a part of a file, in the order of their times. */
void pug_perf_sort_aux(struct pug_list *list);
/** Nothing in a segment is younger. */
/** Nothing in it is older. */
struct pug_perf_moment pug_perf_cut_begin(const struct pug_perf *perf,
                                          const struct pug_perf_cut *cut);
struct pug_perf_moment pug_perf_cut_end(const struct pug_capture_segment *segment,
                                        const struct pug_perf_cut *cut);

/* tasks.c: all events to tasks and processes */
enum pug_status pug_perf_settle_events(struct pug_perf *perf);
uint32_t pug_perf_task_at(const struct pug_perf *perf, int32_t tid, uint64_t time);
/** The life of a process at a time, or UINT32_MAX. */
uint32_t pug_perf_process_at(const struct pug_perf *perf, int32_t pid, uint64_t time);

/* process.c */
/**
 * The ranges of a process at a time, with all that were added later and took nothing away. Under
 * the capture's lock. NULL: no memory.
 */
const struct pug_perf_version *pug_perf_ranges_at(struct pug_perf *perf, uint32_t process,
                                                  struct pug_perf_moment moment);
/** The version that has these; NULL: there is none, or no memory. Under the lock. */
const struct pug_perf_version *pug_perf_version_named(struct pug_perf *perf, uint64_t process,
                                                      uint64_t to);
void pug_perf_process_free(struct pug_perf_process *process);

/* space.c */
/** The space of these ranges; `before` fills holes. Under the lock; NULL: no memory. */
const struct pug_perf_space *pug_perf_space_of(struct pug_perf *perf,
                                               const struct pug_perf_version *user,
                                               const struct pug_perf_version *before,
                                               const struct pug_perf_version *kernel);
void pug_perf_space_name(const struct pug_address_space *space, struct pug_space_name *name);
const struct pug_address_space *pug_perf_space_named(struct pug_capture *capture,
                                                     const struct pug_space_name *name);
bool pug_perf_locate(struct pug_capture *capture, const struct pug_address_space *space,
                     uint64_t address, struct pug_location *location);

/* guest.c */
/**
 * The number of the process that has a guest's kernel maps, made if need be; UINT32_MAX: no memory.
 */
uint32_t pug_perf_add_guest(struct pug_perf *perf, int32_t pid);
/** The same, for what runs in a machine of this process (-1: not known); UINT32_MAX: none. */
uint32_t pug_perf_guest_kernel(const struct pug_perf *perf, int32_t pid);
/** A guest, with what the directory has of it; NULL: there is none. */
struct pug_perf_guest *pug_perf_guest_of(struct pug_perf *perf, int32_t pid);
/** Is it a kernel's memory, which many objects share? */
bool pug_perf_is_memory(const struct pug_perf *perf, const struct pug_perf_program *program);
void pug_perf_free_guests(struct pug_perf *perf);

/* object.c */
/** The object of a path and a build id (size 0: none), made if need be; PUG_NO_OBJECT: no memory.
    `pid` counts where `misc` says that it is of a guest's kernel: the machine's process.
 */
uint32_t pug_perf_object(struct pug_perf *perf, const char *path, size_t length,
                         const uint8_t *build_id, size_t build_id_size, uint16_t misc, int32_t pid);
/** A path has this build id, unless its maps give another; of a guest's kernel as above. */
void pug_perf_tell_build_id(struct pug_perf *perf, const char *path, const uint8_t *build_id,
                            size_t size, uint16_t misc, int32_t pid);
/** When all records and features were read: objects get their build ids. */
void pug_perf_settle_objects(struct pug_perf *perf);
bool pug_perf_same_build_id(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size);

static inline struct pug_perf_object *pug_perf_details(const struct pug_perf *perf)
{
    return perf->details.items;
}

/* seek.c */
void pug_perf_seek(struct pug_capture *capture, uint32_t object);
/** Take a file for an object if it has its build id, or whatever it has; true: it was taken. */
bool pug_perf_try(struct pug_perf *perf, uint32_t object, const char *path, bool whatever);
/** A build id in digits: room for 41. */
void pug_perf_hex(const uint8_t *id, size_t size, char *text);
/** Finds the build id cache; false: it does not exist. */
bool pug_perf_cache(const struct pug_perf *perf, char *folder, size_t size);
/** The folder that recorded paths are below; NULL: none was given, and the user wants no other. */
const char *pug_perf_symfs(const struct pug_perf *perf);
/** Take a file below it. */
bool pug_perf_try_symfs(struct pug_perf *perf, uint32_t object, const char *path);
bool pug_perf_try_cache(struct pug_perf *perf, uint32_t object);

/* folders.c */
/** True: that is it, no other is wanted. */
typedef bool pug_perf_file_fn(void *context, const char *file);
/**
 * The files in the user's folders that have a path's name, those first that have more folders of it
 * around them; `high`: what it names was mapped above 4 GiB. False: none was it.
 */
bool pug_perf_each_called(struct pug_perf *perf, const char *path, bool high,
                          pug_perf_file_fn *take, void *context);
/** Take one by the object's path, or `name` if that is not NULL, or by build id alone. */
bool pug_perf_try_folders(struct pug_perf *perf, uint32_t object, const char *name);
/** "[name]" may be of any file of that module, of the recorded kernel. */
bool pug_perf_try_release(struct pug_perf *perf, uint32_t object);
void pug_perf_folders_free(struct pug_perf_folders *folders);

/* archive.c */
/** What a map means whose file is an Android package: the library at that offset in it. */
void pug_perf_enter_archive(struct pug_perf *perf, uint32_t *object, uint64_t *offset);

/* symbols.c */
/** Look for the symbols and lines of an object whose text was found. Under the lock. */
void pug_perf_seek_symbols(struct pug_perf *perf, uint32_t object);
/** Is there a map for code that was made at run time? */
void pug_perf_seek_jit(struct pug_perf *perf, uint32_t object);
/** As `symbols` of struct pug_capture_ops. */
bool pug_perf_symbols(struct pug_capture *capture, uint32_t object,
                      struct pug_names_symbols *symbols);
/** "/lib/…/rq-stats.ko" and "[rq_stats]" are the module rq_stats. */
void pug_perf_module_name(const char *path, char *name, size_t size);

/* kallsyms.c */
/** The symbol that a kernel's map is named after, and where it was. */
const char *pug_perf_kernel_mark(const struct pug_capture_object *kernel);
uint64_t pug_perf_kernel_marked(const struct pug_perf_object *kernel);
/** The host's kernel, or PUG_NO_OBJECT. */
uint32_t pug_perf_own_kernel(const struct pug_perf *perf);
/**
 * The distance from the addresses in a text of kallsyms to those of the host's kernel; false:
 * unknown.
 */
bool pug_perf_kallsyms_moved(const struct pug_perf *perf, const char *text, uint64_t *moved);
/**
 * A kernel's symbols, looked for and read once; of the host: PUG_PERF_NO_GUEST. NULL: no such
 * guest.
 */
const struct pug_perf_kallsyms *pug_perf_kallsyms_of(struct pug_perf *perf, int32_t guest);
/**
 * How many functions of a name a module (or, "", the kernel itself) has, and where the lowest is.
 */
size_t pug_perf_kernel_symbols(struct pug_perf *perf, int32_t guest, const char *module,
                               const char *name, uint64_t *lowest);
/** The target of a module's calls of a function in another file; false: unknown. */
bool pug_perf_kernel_global(struct pug_perf *perf, int32_t guest, const char *name,
                            uint64_t *address);
void pug_perf_kallsyms_free(struct pug_perf_kallsyms *kallsyms);

/* kernel.c */
/** Look for a copy of the kernel's memory, once. */
void pug_perf_seek_memory(struct pug_perf *perf);
void pug_perf_seek_kernel(struct pug_perf *perf, uint32_t object);
/** Take a copy of the kernel's memory for an object of it; false: there is none. */
bool pug_perf_take_memory(struct pug_perf *perf, uint32_t object);

/* module.c */
/** Place a module's code as it lies in memory, with its branches relocated. */
enum pug_status pug_perf_place_module(struct pug_perf *perf, uint32_t object,
                                      struct pug_perf_program *program);

/* source_trees.c */
/** Find the set of source trees of each segment, and list the capture's sources. */
enum pug_status pug_perf_line_up(struct pug_perf *perf);
/** The processor whose trace id it is in a set of source trees, or NULL. */
const struct pug_perf_cpu *pug_perf_cpu_of(const struct pug_perf *perf, uint32_t source_trees,
                                           uint16_t id);
enum pug_status pug_perf_tree(struct pug_perf *perf, uint32_t source_trees, bool decode,
                              struct pug_log *log, struct pug_tree **tree);

/* decode.c */
/** Are times those of the trace's timestamps, since nothing says how they and records' belong? */
static inline bool pug_perf_counts_ticks(const struct pug_perf *perf)
{
    return perf->capture->told_times && !perf->virtual_time;
}
extern const struct pug_capture_ops pug_perf_ops;

#endif
