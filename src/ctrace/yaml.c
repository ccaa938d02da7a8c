// SPDX-License-Identifier: MIT
/** @file YAML by libyaml, which is loaded when the first document is read. */
#include "ctrace/ctrace.h"

#include <stdio.h>

#ifdef PUG_WITH_YAML

#include <dlfcn.h>
#include <string.h>
#include <yaml.h>

#define PLACE 512u
#define DEPTH 32u

struct libyaml {
    void *library;
    int (*begin)(yaml_parser_t *parser);
    void (*input)(yaml_parser_t *parser, const unsigned char *text, size_t size);
    int (*parse)(yaml_parser_t *parser, yaml_event_t *event);
    void (*forget)(yaml_event_t *event);
    void (*end)(yaml_parser_t *parser);
};

static bool load(struct libyaml *yaml)
{
    yaml->library = dlopen("libyaml-0.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!yaml->library)
        return false;
    *(void **)&yaml->begin = dlsym(yaml->library, "yaml_parser_initialize");
    *(void **)&yaml->input = dlsym(yaml->library, "yaml_parser_set_input_string");
    *(void **)&yaml->parse = dlsym(yaml->library, "yaml_parser_parse");
    *(void **)&yaml->forget = dlsym(yaml->library, "yaml_event_delete");
    *(void **)&yaml->end = dlsym(yaml->library, "yaml_parser_delete");
    return yaml->begin && yaml->input && yaml->parse && yaml->forget && yaml->end;
}

/** Where the document is being read: lists and mappings in each other. */
struct walk {
    pug_yaml_fn *take;
    void *context;
    char place[PLACE];
    size_t length;
    unsigned depth;
    struct {
        size_t length; /* of the place that it is at */
        bool list, at_value;
    } levels[DEPTH];
};

/** Go to a member's place. False: it is too far down. */
static bool enter(struct walk *walk, const char *name)
{
    const int added = snprintf(walk->place + walk->length, PLACE - walk->length, "%s%s",
                               walk->length ? "/" : "", name);
    if (added < 0 || (size_t)added >= PLACE - walk->length)
        return false;
    walk->length += (size_t)added;
    return true;
}

/** A value begins here: in a list it is another item. */
static bool begin_value(struct walk *walk)
{
    if (walk->depth == 0 || !walk->levels[walk->depth - 1].list)
        return true;
    if (!enter(walk, "-"))
        return false;
    walk->take(walk->context, walk->place, NULL);
    return true;
}

/** A value ends: what comes next is a key, or another item. */
static void end_value(struct walk *walk)
{
    if (walk->depth == 0)
        return;
    walk->length = walk->levels[walk->depth - 1].length;
    walk->place[walk->length] = 0;
    walk->levels[walk->depth - 1].at_value = false;
}

static bool begin_level(struct walk *walk, bool list)
{
    if (walk->depth == DEPTH || !begin_value(walk))
        return false;
    walk->levels[walk->depth].length = walk->length;
    walk->levels[walk->depth].list = list;
    walk->levels[walk->depth++].at_value = false;
    return true;
}

static bool take_scalar(struct walk *walk, const char *text)
{
    const bool key = walk->depth > 0 && !walk->levels[walk->depth - 1].list &&
                     !walk->levels[walk->depth - 1].at_value;
    if (key) {
        walk->levels[walk->depth - 1].at_value = true;
        return enter(walk, text);
    }
    if (!begin_value(walk))
        return false;
    walk->take(walk->context, walk->place, text);
    end_value(walk);
    return true;
}

static bool take_event(struct walk *walk, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT: return take_scalar(walk, (const char *)event->data.scalar.value);
    case YAML_ALIAS_EVENT: return take_scalar(walk, "");
    case YAML_SEQUENCE_START_EVENT: return begin_level(walk, true);
    case YAML_MAPPING_START_EVENT: return begin_level(walk, false);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        walk->depth--;
        end_value(walk);
        return true;
    default: return true;
    }
}

static bool read_events(const struct libyaml *yaml, yaml_parser_t *parser, struct walk *walk,
                        char *why, size_t size)
{
    yaml_event_t event;
    for (bool over = false; !over;) {
        if (!yaml->parse(parser, &event)) {
            snprintf(why, size, "line %zu: %s", parser->problem_mark.line + 1,
                     parser->problem ? parser->problem : "no YAML");
            return false;
        }
        over = event.type == YAML_STREAM_END_EVENT;
        const bool good = take_event(walk, &event);
        const size_t line = event.start_mark.line + 1;
        yaml->forget(&event);
        if (!good) {
            snprintf(why, size, "line %zu: names or levels go too far", line);
            return false;
        }
    }
    return true;
}

bool pug_yaml_read(const char *text, size_t length, pug_yaml_fn *take, void *context, char *why,
                   size_t size)
{
    struct libyaml yaml = {.library = NULL};
    struct walk walk = {.take = take, .context = context};
    yaml_parser_t parser;
    bool good = load(&yaml);
    if (!good)
        snprintf(why, size, "libyaml is not on this machine");
    if (good && !yaml.begin(&parser)) {
        snprintf(why, size, "out of memory");
        good = false;
    } else if (good) {
        yaml.input(&parser, (const unsigned char *)text, length);
        good = read_events(&yaml, &parser, &walk, why, size);
        yaml.end(&parser);
    }
    if (yaml.library)
        dlclose(yaml.library);
    return good;
}

#else

bool pug_yaml_read(const char *text, size_t length, pug_yaml_fn *take, void *context, char *why,
                   size_t size)
{
    (void)text;
    (void)length;
    (void)take;
    (void)context;
    snprintf(why, size, "this build reads no YAML (PUG_YAML)");
    return false;
}

#endif
