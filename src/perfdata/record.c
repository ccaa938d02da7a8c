// SPDX-License-Identifier: MIT
/** @file From records to facts (sections 5 and 6). */
#include "perfdata/perfdata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bits of misc. */
#define MISC_MODE     7u
#define MISC_DATA     (1u << 13) /* of MMAP */
#define MISC_EXEC     (1u << 13) /* of COMM */
#define MISC_MADE_UP  (1u << 13) /* of FORK: the process was there before recording began */
#define MISC_BUILD_ID (1u << 14) /* of MMAP2 */

enum { MODE_KERNEL = 1, MODE_USER = 2, MODE_GUEST_KERNEL = 4, MODE_GUEST_USER = 5 };

#define PROT_EXECUTE 4u

/* ---- events ---- */

static struct pug_perf_event *add_event(struct pug_perf *perf, enum pug_perf_event_kind kind,
                                        const struct pug_perf_sample *sample)
{
    struct pug_perf_event *event = pug_capture_add(perf->capture, &perf->events, sizeof(*event));
    if (!event)
        return NULL;
    event->kind = (uint8_t)kind;
    event->order = perf->order;
    event->time = sample->time;
    event->pid = event->tid = event->parent = event->parent_tid = -1;
    event->object = PUG_NO_OBJECT;
    return event;
}

/** A string of a record, which may lack its end. */
static const char *string(struct pug_bytes *body, size_t *length)
{
    const size_t left = pug_bytes_left(body);
    const char *text = (const char *)body->at;
    *length = left > 0 ? strnlen(text, left) : 0;
    return left > 0 ? text : "";
}

/** Memory of no file, in which JIT compilers put code. */
static bool is_made_at_run_time(const char *path, size_t length)
{
    static const char *const begins[] = {"//anon", "/anon_hugepage", "[anon",
                                         "[heap]", "[stack",         "/dev/zero",
                                         "/SYSV",  "/memfd:",        "anon_inode:"};
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        if (length >= strlen(begins[i]) && memcmp(path, begins[i], strlen(begins[i])) == 0)
            return true;
    return length == 0;
}

/** What such code is called may stand in a map of the process, which its object is named after. */
static uint32_t jit_object(struct pug_perf *perf, int32_t pid, uint16_t misc)
{
    char path[64];
    const int length = snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
    const uint32_t object = pug_perf_object(perf, path, (size_t)length, NULL, 0, misc, 0);
    if (object != PUG_NO_OBJECT) {
        pug_capture_objects(perf->capture)[object]->kind = PUG_OBJECT_MEMORY;
        pug_perf_details(perf)[object].jit_pid = pid;
    }
    return object;
}

static void take_map(struct pug_perf *perf, const struct pug_perf_record *record,
                     const struct pug_perf_sample *sample, struct pug_bytes *body)
{
    uint8_t id[20];
    size_t id_size = 0, length;
    const bool second = record->type == PUG_PERF_MMAP2;
    const unsigned mode = record->misc & MISC_MODE;
    const int32_t pid = (int32_t)pug_bytes_take_32(body), tid = (int32_t)pug_bytes_take_32(body);
    const uint64_t address = pug_bytes_take_64(body), size = pug_bytes_take_64(body);
    const uint64_t offset = pug_bytes_take_64(body);
    const uint8_t *extra = second ? pug_bytes_take(body, 24) : NULL;
    const uint32_t prot = second ? pug_bytes_take_32(body) : 0;
    if (second)
        (void)pug_bytes_take_32(body);
    const char *path = string(body, &length);
    if (mode == MODE_GUEST_USER)
        return; /* trace does not distinguish a guest's user from the host's */
    if (body->bad)
        return;
    if (size == 0) {
        pug_perf_damage(perf, record->file, record->offset, record->type, "its range is empty");
        return;
    }
    if (extra && (record->misc & MISC_BUILD_ID)) {
        id_size = extra[0] <= sizeof(id) ? extra[0] : 0;
        memcpy(id, extra + 4, id_size);
        if (extra[0] > sizeof(id))
            pug_perf_damage(perf, record->file, record->offset, record->type,
                            "its build id has no possible size");
    }
    struct pug_perf_event *event = add_event(perf, PUG_PERF_EVENT_MAP, sample);
    if (!event)
        return;
    event->kernel = mode == MODE_KERNEL || mode == MODE_GUEST_KERNEL;
    event->machine = mode == MODE_GUEST_KERNEL ? PUG_PERF_GUEST : PUG_PERF_HOST;
    event->executable =
        event->kernel || (second ? (prot & PROT_EXECUTE) != 0 : !(record->misc & MISC_DATA));
    event->pid = pid;
    event->tid = tid;
    event->address = address;
    event->size = size - 1 > UINT64_MAX - address ? UINT64_MAX - address : size;
    event->offset = offset;
    if (!event->executable)
        return;
    if (!event->kernel && is_made_at_run_time(path, length)) {
        event->object = jit_object(perf, pid, record->misc);
        event->offset = address;
    } else {
        event->object = pug_perf_object(perf, path, length, id, id_size, record->misc, pid);
    }
}

static void take_name(struct pug_perf *perf, const struct pug_perf_record *record,
                      const struct pug_perf_sample *sample, struct pug_bytes *body)
{
    size_t length;
    const int32_t pid = (int32_t)pug_bytes_take_32(body), tid = (int32_t)pug_bytes_take_32(body);
    const char *name = string(body, &length);
    struct pug_perf_event *event =
        body->bad
            ? NULL
            : add_event(perf, record->misc & MISC_EXEC ? PUG_PERF_EVENT_EXEC : PUG_PERF_EVENT_NAME,
                        sample);
    if (!event)
        return;
    event->pid = pid;
    event->tid = tid;
    event->name = pug_capture_keep(perf->capture, name, length);
}

static void take_fork(struct pug_perf *perf, const struct pug_perf_record *record,
                      const struct pug_perf_sample *sample, struct pug_bytes *body)
{
    const int32_t pid = (int32_t)pug_bytes_take_32(body), parent = (int32_t)pug_bytes_take_32(body);
    const int32_t tid = (int32_t)pug_bytes_take_32(body);
    const int32_t parent_tid = (int32_t)pug_bytes_take_32(body);
    struct pug_perf_event *event =
        body->bad
            ? NULL
            : add_event(perf, pid == parent ? PUG_PERF_EVENT_START : PUG_PERF_EVENT_FORK, sample);
    if (!event)
        return;
    event->pid = pid;
    event->tid = tid;
    event->parent = parent;
    event->parent_tid = parent_tid;
    event->has_maps = !(record->misc & MISC_MADE_UP);
}

static void take_start(struct pug_perf *perf, int32_t pid, int32_t tid,
                       const struct pug_perf_sample *sample)
{
    struct pug_perf_event *event =
        pid > 0 && tid > 0 ? add_event(perf, PUG_PERF_EVENT_START, sample) : NULL;
    if (!event)
        return;
    event->pid = pid;
    event->tid = tid;
}

/** A thread that the record names. */
static void take_itrace_start(struct pug_perf *perf, const struct pug_perf_sample *sample,
                              struct pug_bytes *body)
{
    const int32_t pid = (int32_t)pug_bytes_take_32(body), tid = (int32_t)pug_bytes_take_32(body);
    if (!body->bad)
        take_start(perf, pid, tid, sample);
}

/** Handle the task that came or went, and, with a processor's record, also the other one. */
static void take_switch(struct pug_perf *perf, const struct pug_perf_record *record,
                        const struct pug_perf_sample *sample, struct pug_bytes *body)
{
    take_start(perf, sample->pid, sample->tid, sample);
    if (record->type == PUG_PERF_SWITCH_CPU_WIDE)
        take_itrace_start(perf, sample, body);
}

static void take_lost(struct pug_perf *perf, struct pug_bytes *body)
{
    (void)pug_bytes_take_64(body); /* the event's id */
    const uint64_t count = pug_bytes_take_64(body);
    if (perf->lost == 0)
        perf->lost_at = perf->place;
    perf->lost += count;
}

/** Of containers paths are as seen inside: who looks for files has to know. */
static void take_namespaces(struct pug_perf *perf, struct pug_bytes *body)
{
    enum { MOUNTS = 5 };           /* after network, host name, messages, processes, users */
    (void)pug_bytes_take_64(body); /* pid, tid */
    const uint64_t count = pug_bytes_take_64(body);
    uint64_t number = 0;
    for (uint64_t i = 0; i < count && i <= MOUNTS; i++) {
        (void)pug_bytes_take_64(body); /* device */
        number = pug_bytes_take_64(body);
    }
    if (body->bad || count <= MOUNTS)
        return;
    perf->many_mounts |= perf->mounts && perf->mounts != number;
    perf->mounts = number;
}

static void take_symbol(struct pug_perf *perf, const struct pug_perf_sample *sample,
                        struct pug_bytes *body)
{
    static const uint16_t gone = 1;
    const uint64_t address = pug_bytes_take_64(body);
    const uint32_t size = pug_bytes_take_32(body), kind = pug_bytes_take_32(body);
    size_t length;
    const char *name = string(body, &length);
    struct pug_perf_event *event =
        body->bad || size == 0 ? NULL : add_event(perf, PUG_PERF_EVENT_SYMBOL, sample);
    char path[300];
    if (!event)
        return;
    event->kernel = true;
    event->executable = !(kind >> 16 & gone);
    event->address = address;
    event->size = size - 1 > UINT64_MAX - address ? UINT64_MAX - address : size;
    if (!event->executable)
        return;
    const int count = snprintf(path, sizeof(path), "[%s]", length > 0 ? name : "bpf");
    event->object =
        pug_perf_object(perf, path, (size_t)count < sizeof(path) ? (size_t)count : sizeof(path) - 1,
                        NULL, 0, MODE_KERNEL, 0);
}

/** A copy that lives as long as the capture; NULL: no memory. */
static const uint8_t *keep_text(struct pug_perf *perf, const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size);
    char **place =
        copy ? pug_capture_add(perf->capture, &perf->capture->texts, sizeof(*place)) : NULL;
    if (!place) {
        pug_capture_starve(perf->capture);
        free(copy);
        return NULL;
    }
    *place = (char *)copy;
    return memcpy(copy, bytes, size);
}

static void take_poke(struct pug_perf *perf, const struct pug_perf_record *record,
                      const struct pug_perf_sample *sample, struct pug_bytes *body)
{
    const uint64_t address = pug_bytes_take_64(body);
    const uint32_t sizes = pug_bytes_take_32(body);
    const uint16_t old_size = (uint16_t)sizes, new_size = (uint16_t)(sizes >> 16);
    (void)pug_bytes_take(body, old_size);
    const uint8_t *bytes = pug_bytes_take(body, new_size);
    const uint16_t size = new_size > 0 ? new_size : old_size; /* without new text it is gone */
    const bool fits = size == 0 || size - 1u <= UINT64_MAX - address;
    struct pug_perf_event *event =
        bytes && size > 0 && fits ? add_event(perf, PUG_PERF_EVENT_POKE, sample) : NULL;
    if (!fits)
        pug_perf_damage(perf, record->file, record->offset, record->type,
                        "its text would leave the address space");
    if (!event)
        return;
    event->kernel = true;
    event->executable = new_size > 0;
    event->address = address;
    event->size = size;
    event->text = (uint32_t)perf->events.count;
    if (new_size > 0 && !(event->bytes = keep_text(perf, bytes, new_size)))
        perf->events.count--;
}

/* ---- trace ---- */

static void take_aux(struct pug_perf *perf, const struct pug_perf_record *record,
                     const struct pug_perf_sample *sample, struct pug_bytes *body)
{
    struct pug_perf_aux aux = {.time = sample->time,
                               .cpu = sample->cpu,
                               .tid = sample->tid,
                               .order = perf->order,
                               .place = record->offset,
                               .file = (uint16_t)record->file};
    aux.offset = pug_bytes_take_64(body);
    aux.size = pug_bytes_take_64(body);
    aux.flags = (uint16_t)pug_bytes_take_64(body);
    perf->has_aux |= !body->bad;
    if (body->bad || aux.size == 0)
        return; /* nothing to cut */
    struct pug_perf_aux *taken = pug_capture_add(perf->capture, &perf->aux, sizeof(*taken));
    if (taken)
        *taken = aux;
}

static void take_auxtrace(struct pug_perf *perf, const struct pug_perf_record *record,
                          struct pug_bytes *body)
{
    struct pug_perf_auxtrace trace = {.at = record->behind, .file = record->file};
    trace.size = pug_bytes_take_64(body);
    trace.offset = pug_bytes_take_64(body);
    (void)pug_bytes_take_64(body); /* reference */
    (void)pug_bytes_take_32(body); /* number of the map */
    trace.tid = (int32_t)pug_bytes_take_32(body);
    trace.cpu = (int32_t)pug_bytes_take_32(body);
    if (body->bad)
        return;
    if (trace.size > UINT64_MAX - trace.offset) {
        pug_perf_damage(perf, record->file, record->offset, record->type,
                        "its place in the buffer cannot be");
        return;
    }
    struct pug_perf_auxtrace *taken =
        pug_capture_add(perf->capture, &perf->auxtrace, sizeof(*taken));
    if (taken)
        *taken = trace;
}

static void take_hw_id(struct pug_perf *perf, const struct pug_perf_record *record,
                       const struct pug_perf_sample *sample, struct pug_bytes *body)
{
    const uint64_t word = pug_bytes_take_64(body);
    if (body->bad)
        return;
    if (sample->cpu < 0) {
        pug_perf_damage(perf, record->file, record->offset, record->type, "it tells no processor");
        return;
    }
    if (word >> 60 != 0) {
        if (!perf->refused_hw_id)
            perf->refused_at = perf->place;
        perf->refused_hw_id = true;
        return;
    }
    struct pug_perf_hw_id *id = pug_capture_add(perf->capture, &perf->hw_ids, sizeof(*id));
    if (id)
        *id = (struct pug_perf_hw_id){.place = record->offset,
                                      .file = record->file,
                                      .cpu = sample->cpu,
                                      .sink = (uint32_t)(word >> 8),
                                      .id = (uint8_t)word & 0x7f,
                                      .has_sink = (word >> 56 & 0xf) > 0};
}

static void take_clock(struct pug_perf *perf, const struct pug_perf_record *record,
                       struct pug_bytes *body)
{
    perf->clock.shift = pug_bytes_take_64(body);
    perf->clock.mult = pug_bytes_take_64(body);
    perf->clock.zero = pug_bytes_take_64(body);
    perf->clock.known = !body->bad && perf->clock.shift < 64 && perf->clock.mult > 0;
    if (!body->bad && !perf->clock.known)
        pug_perf_damage(perf, record->file, record->offset, record->type,
                        "no times can be made with its numbers");
    if (pug_bytes_left(body) < 18)
        return;
    perf->clock.cycles = pug_bytes_take_64(body);
    perf->clock.mask = pug_bytes_take_64(body);
    perf->clock.is_short = body->at[1] != 0;
}

/* ---- all records ---- */

static void take_kernel_record(struct pug_perf *perf, struct pug_perf_record *record)
{
    struct pug_perf_sample sample;
    if (record->type == PUG_PERF_SAMPLE)
        return; /* another event's; it has fields of its own in the sample id block's place */
    if (!pug_perf_take_sample(perf, record, &sample)) {
        pug_perf_damage(perf, record->file, record->offset, record->type, "it is too short");
        return;
    }
    /* Records that a recorder made up, and files without times, are as old as what is before. */
    if (!perf->has_times)
        sample.time = perf->order;
    struct pug_bytes body = pug_bytes_of(record->body, record->size);
    switch (record->type) {
    case PUG_PERF_MMAP:
    case PUG_PERF_MMAP2: take_map(perf, record, &sample, &body); break;
    case PUG_PERF_COMM: take_name(perf, record, &sample, &body); break;
    case PUG_PERF_FORK: take_fork(perf, record, &sample, &body); break;
    case PUG_PERF_ITRACE_START: take_itrace_start(perf, &sample, &body); break;
    case PUG_PERF_SWITCH:
    case PUG_PERF_SWITCH_CPU_WIDE: take_switch(perf, record, &sample, &body); break;
    case PUG_PERF_LOST: take_lost(perf, &body); break;
    case PUG_PERF_LOST_SAMPLES: perf->lost_samples += pug_bytes_take_64(&body); break;
    case PUG_PERF_NAMESPACES: take_namespaces(perf, &body); break;
    case PUG_PERF_KSYMBOL: take_symbol(perf, &sample, &body); break;
    case PUG_PERF_TEXT_POKE: take_poke(perf, record, &sample, &body); break;
    case PUG_PERF_AUX: take_aux(perf, record, &sample, &body); break;
    case PUG_PERF_HW_ID: take_hw_id(perf, record, &sample, &body); break;
    default: break;
    }
    if (body.bad)
        pug_perf_damage(perf, record->file, record->offset, record->type, "it is too short");
    if (sample.time > perf->last_time)
        perf->last_time = sample.time;
}

static void take_attr_record(struct pug_perf *perf, const struct pug_perf_record *record)
{
    const size_t size = record->size >= 8 ? pug_bytes_32(record->body + 4) : 0;
    if (!perf->piped)
        return;
    if (size < 64 || size > record->size) {
        pug_perf_damage(perf, record->file, record->offset, record->type,
                        "its attribute has no possible size");
        return;
    }
    if (pug_perf_take_attr(perf, record->body, size, record->body + size,
                           (record->size - size) / 8) != PUG_OK)
        pug_perf_damage(perf, record->file, record->offset, record->type,
                        "there are more attributes or ids than can be");
}

static void take_feature_record(struct pug_perf *perf, struct pug_bytes *body)
{
    const uint64_t bit = pug_bytes_take_64(body);
    if (!body->bad)
        pug_perf_take_feature(perf, bit, body->at, pug_bytes_left(body));
}

/** simpleperf's: how long it is, and the text of kallsyms. */
static void take_kernel_symbols(struct pug_perf *perf, struct pug_bytes *body)
{
    (void)pug_bytes_take_32(body);
    if (!body->bad && !perf->kallsyms)
        perf->kallsyms = strndup((const char *)body->at, pug_bytes_left(body));
}

bool pug_perf_is_apart(struct pug_perf *perf, const struct pug_perf_record *record)
{
    size_t sampled;
    switch (record->type) {
    case PUG_PERF_AUX:
        return pug_perf_sample_size(perf, record, &sampled) && record->size >= 24u + sampled;
    case PUG_PERF_AUXTRACE:
        return record->size >= 40 &&
               pug_bytes_64(record->body) <= UINT64_MAX - pug_bytes_64(record->body + 8);
    case PUG_PERF_FINISHED_ROUND: return true;
    default: return false;
    }
}

void pug_perf_take_record(struct pug_perf *perf, const struct pug_perf_record *given)
{
    struct pug_perf_record record = *given;
    struct pug_bytes body = pug_bytes_of(record.body, record.size);
    perf->order++;
    perf->place = (struct pug_perf_place){record.offset, record.file};
    if (record.type < PUG_PERF_HEADER_ATTR) {
        take_kernel_record(perf, &record);
        return;
    }
    switch (record.type) {
    case PUG_PERF_HEADER_ATTR: take_attr_record(perf, &record); break;
    case PUG_PERF_BUILD_ID:
        body.bad = !pug_perf_take_build_id(perf, record.misc, record.body, record.size);
        break;
    case PUG_PERF_AUXTRACE_INFO: pug_perf_take_info(perf, &record); break;
    case PUG_PERF_AUXTRACE: take_auxtrace(perf, &record, &body); break;
    case PUG_PERF_AUXTRACE_ERROR: perf->decoder_errors++; break;
    case PUG_PERF_TIME_CONV: take_clock(perf, &record, &body); break;
    case PUG_PERF_FEATURE_RECORD: take_feature_record(perf, &body); break;
    case PUG_PERF_KERNEL_SYMBOLS: take_kernel_symbols(perf, &body); break;
    default: break;
    }
    if (body.bad)
        pug_perf_damage(perf, record.file, record.offset, record.type,
                        record.type == PUG_PERF_BUILD_ID ? "it holds no build id"
                                                         : "it is too short");
}
