// Structs as JSON objects, described by tables: every value is read back, unknown members are ignored, and impossible
// values are refused.
#include "tests/e2e.h"
#include "tests/testing.h"

#include "tuner/base/record.h"
#include "tuner/protocol/message.h"

struct side {
    const char *name;
    double length;
};

struct box {
    int64_t id;
    const char *label;
    bool open;
    int colour; // written as a word
    int grid[3];
    size_t count_of;
    double width;
    struct side front;
    const struct side *back;
    const struct side *sides;
    size_t side_count;
    const double *weights;
    size_t weight_count;
    const char *const *notes;
    size_t note_count;
    const struct record_named_integer *sizes;
    size_t size_count;
    const json_t *rest;
};

static const char *const colours[] = {"red", "green", "blue", NULL};

static const struct record_field side_fields[] = {
    {"name", RECORD_MEMBER(struct side, name), .flags = RECORD_REQUIRED},
    {"length", RECORD_MEMBER(struct side, length), .low = 0.5, .high = 100},
    {0}};
static const struct record side_record = {"a side", sizeof(struct side), side_fields, NULL};

static const struct record_field front_fields[] = {{"front", RECORD_MEMBER(struct side, length)}, {0}};
static const struct record *front_record(void)
{
    static const struct record record = {"a front", sizeof(struct side), front_fields, NULL};
    return &record;
}

static int no_id_twice(const void *record, struct error *err)
{
    const struct box *b = record;
    return b->back && b->id == 13 ? error_set(err, "box 13 has no back") : 0;
}

static const struct record_field box_fields[] = {
    {"id", RECORD_MEMBER(struct box, id), .fallback = -1},
    {"label", RECORD_MEMBER(struct box, label)},
    {"open", RECORD_MEMBER(struct box, open)},
    {"colour", RECORD_WORDS(struct box, colour, colours)},
    {"grid", RECORD_PLACES(struct box, grid), .low = 1, .high = 64},
    {"count", RECORD_MEMBER(struct box, count_of)},
    {"width", RECORD_MEMBER(struct box, width), .low = -1, .high = 1},
    {"in place", RECORD_INCLUDE(struct box, front, front_record)},
    {"back", RECORD_RECORD(struct box, back, side_record)},
    {"sides", RECORD_RECORDS(struct box, sides, side_count, side_record)},
    {"weights", RECORD_VALUES(struct box, weights, weight_count), .flags = RECORD_HOLES | RECORD_ALWAYS},
    {"notes", RECORD_VALUES(struct box, notes, note_count)},
    {"sizes", RECORD_PAIRS(struct box, sizes, size_count), .low = 1, .high = 9},
    {"rest", RECORD_MEMBER(struct box, rest)},
    {0}};
static const struct record box_record = {"a box", sizeof(struct box), box_fields, no_id_twice};

static json_t *parse(const char *text)
{
    struct error err;
    json_t *value = json_parse(text, &err);
    if (!value) fail_msg("%s", err.message);
    return test_json(value);
}

TEST(a_struct_comes_back_as_it_was_written)
{
    static const char *const texts[] = {
        "{\"grid\":[1,2,3],\"weights\":[]}",
        "{\"id\":5,\"label\":\"x\",\"open\":true,\"colour\":\"blue\",\"grid\":[1,1,1],\"count\":3,\"width\":0.5,"
        "\"front\":2.5,\"back\":{\"name\":\"b\",\"length\":100.0},\"sides\":[{\"name\":\"s\",\"length\":1.0},{\"name\":"
        "\"t\"}],\"weights\":[1.0,null,-2.0],\"notes\":[\"a\",\"\"],\"sizes\":{\"M\":1,\"N\":9},\"rest\":{\"a\":[1]}}",
        "{\"grid\":[1,2,3],\"sides\":[],\"weights\":[],\"notes\":[]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct arena memory = {NULL};
        struct error err = {""};
        struct box box;
        json_t *from = parse(texts[i]);
        if (record_read(&box_record, from, &box, &memory, &err)) fail_msg("%s", err.message);
        json_t *back = test_json(record_write(&box_record, &box));
        assert_string_equal(test_owned(json_dumps(back, JSON_COMPACT)), texts[i]); // also in the order of the table
        arena_release(&memory);
    }
}

TEST(what_is_missing_or_null_is_unknown)
{
    struct arena memory = {NULL};
    struct box box;
    json_t *from = parse("{\"id\":null,\"width\":null,\"label\":null,\"sides\":null,\"back\":null,\"other\":7}");
    assert_int_equal(record_read(&box_record, from, &box, &memory, NULL), 0);
    assert_true(box.id == -1 && isnan(box.width) && !*box.label && !box.sides && !box.back && !box.colour &&
                isnan(box.front.length));
    arena_release(&memory);
}

TEST(what_cannot_be_is_refused_with_its_name)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"{\"id\":1.5}", "'id' of a box is not an integer"},
        {"{\"label\":1}", "'label' of a box is not a text"},
        {"{\"open\":1}", "'open' of a box is neither true nor false"},
        {"{\"colour\":\"pink\"}", "'colour' of a box is the unknown word 'pink'"},
        {"{\"colour\":2}", "'colour' of a box is not a text"},
        {"{\"grid\":[1,2]}", "'grid' of a box is not a list of 3"},
        {"{\"grid\":[1,2,65]}", "'grid' of a box is 65, outside 1 to 64"},
        {"{\"count\":-1}", "'count' of a box is -1, outside 0 to"},
        {"{\"width\":1.01}", "'width' of a box is 1.01, outside -1 to 1"},
        {"{\"width\":\"1\"}", "'width' of a box is not a number"},
        {"{\"front\":[]}", "'front' of a front is not a number"},
        {"{\"back\":[]}", "'back' of a box is not an object"},
        {"{\"back\":{}}", "'name' of a side is missing"},
        {"{\"sides\":{}}", "'sides' of a box is not a list"},
        {"{\"sides\":[{\"name\":\"a\",\"length\":0}]}", "'length' of a side is 0, outside 0.5 to 100"},
        {"{\"sides\":[null]}", "'sides' of a box is not an object"},
        {"{\"weights\":[true]}", "entry 0: 'weights' of a box is not a number"},
        {"{\"notes\":[null]}", "entry 0: 'notes' of a box is not a text"},
        {"{\"sizes\":[]}", "'sizes' of a box is not an object"},
        {"{\"sizes\":{\"M\":10}}", "'M': 'sizes' of a box is 10, outside 1 to 9"},
        {"{\"id\":13,\"back\":{\"name\":\"b\"}}", "box 13 has no back"},
        {"[]", "a box is not an object"},
        {"{}", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena memory = {NULL};
        struct error err = {""};
        struct box box;
        json_t *from = parse(cases[i].text);
        int failed = record_read(&box_record, from, &box, &memory, &err);
        if (failed != (*cases[i].why ? -1 : 0) || !strstr(err.message, cases[i].why))
            fail_msg("%s: %s", cases[i].text, err.message);
        arena_release(&memory);
    }
}

TEST(a_worker_of_another_version_is_refused)
{
    static const struct {
        const char *greeting, *why; // "": it is not refused
    } cases[] = {
        {"{\"protocol\":2,\"compiler\":\"nvrtc\"}", ""},
        {"{\"status\":\"environment\",\"reason\":\"no CUDA driver\"}", ""}, // the reason is not the protocol
        {"{\"compiler\":\"nvrtc\"}", "the worker uses version 0 of the protocol, this program uses version 2: install"},
        {"{\"status\":\"ok\",\"protocol\":7}", "the worker uses version 7"},
        {"{\"protocol\":\"1\"}", "'protocol' of the greeting is not an integer"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {""};
        json_t *greeting = parse(cases[i].greeting);
        if (greeting_check(greeting, &err) != (*cases[i].why ? -1 : 0) || !strstr(err.message, cases[i].why))
            fail_msg("%s: %s", cases[i].greeting, err.message);
    }
}

TEST_MAIN(NULL, NULL)
