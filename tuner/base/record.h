// C structs as JSON objects. One table describes a struct: the name of each member in JSON, where it is in the struct,
// its type, and its range. Objects are written, read and checked according to the table, so messages need no reader or
// writer of their own.
//
//     struct box { const char *name; double width; const struct side *sides; size_t side_count; };
//     static const struct record_field box_fields[] = {
//         {"name", RECORD_MEMBER(struct box, name), .flags = RECORD_REQUIRED},
//         {"width", RECORD_MEMBER(struct box, width), .high = 1e6},
//         {"sides", RECORD_RECORDS(struct box, sides, side_count, side_record)},
//         {0}};
//     const struct record box_record = {"a box", sizeof(struct box), box_fields};
//
// The member's C type decides its kind. The value that means unknown is NaN for a double, "" for a string (never NULL),
// NULL for a record, a list or JSON, and `fallback` for all other kinds. Unknown members are not written. Members that
// are missing or null are unknown after reading, and members that are not in the table are ignored.
#pragma once

#include "tuner/base/json.h"

enum record_kind {
    RECORD_BOOL,    // bool
    RECORD_INT,     // int
    RECORD_WORD,    // enum: an index in `words`
    RECORD_INTEGER, // int64_t
    RECORD_SIZE,    // size_t
    RECORD_REAL,    // double, finite or NaN
    RECORD_NUMBER,  // struct record_number: an integer or a real, kept exactly
    RECORD_TEXT,    // const char *
    RECORD_JSON,    // const json_t *: any JSON. After reading, it is borrowed from the value that was read
    RECORD_OBJECT,  // a struct that `of` describes
    RECORD_PART,    // such a struct inside the outer struct; in JSON, its members are members of the outer object
};

enum record_shape {
    RECORD_ONE,   // a value; for RECORD_OBJECT a pointer to the struct
    RECORD_LIST,  // a pointer to the elements; how many there are is stored at `count`
    RECORD_ARRAY, // `length` elements in place
    RECORD_NAMED, // a list too, but an object in JSON: each element begins with `const char *name`, and its value
                  // follows at sizeof(char *)
};

enum record_flags {
    RECORD_REQUIRED = 1, // reading fails without it
    RECORD_ALWAYS = 2,   // written even if unknown: "", null, []
    RECORD_HOLES = 8,    // a list keeps its nulls, as NaN or as cleared records; without this flag, lists of numbers
                         // drop them
    RECORD_SILENT = 16,  // neither written nor read, only cleared
    RECORD_NULL = 32,    // written as null if unknown
};

struct record;

struct record_number {
    double real; // NaN: unknown
    bool whole;  // it is an integer
    int64_t integer;
};

struct record_field {
    const char *name; // in JSON; NULL ends a table
    enum record_kind kind;
    enum record_shape shape;
    size_t offset, count; // offset of the member; offset of the size_t that holds its number of elements
    size_t length;        // of RECORD_ARRAY
    unsigned flags;
    double low, high;         // the allowed range; if `high` is not above `low`, the range of the type
    double fallback;          // for a bool, an integer or a word, the value that means unknown
    const char *const *words; // for RECORD_WORD, NULL-terminated
    const struct record *of;
    const struct record *(*made)(void); // instead of `of`, for a table that is made at run time
};

struct record {
    const char *what; // "a problem", for messages
    size_t size;
    const struct record_field *fields;
    // Checks conditions on several members; NULL: there are none. -1 with a message.
    int (*check)(const void *record, struct error *);
};

// Elements of RECORD_NAMED.
struct record_named_text {
    const char *name, *value;
};
struct record_named_real {
    const char *name;
    double value;
};
struct record_named_integer {
    const char *name;
    int64_t value;
};
struct record_named_number {
    const char *name;
    struct record_number value;
};

#define RECORD_KIND_OF(value) \
    _Generic((value),                \
        bool: RECORD_BOOL,           \
        int: RECORD_INT,             \
        int64_t: RECORD_INTEGER,     \
        size_t: RECORD_SIZE,         \
        double: RECORD_REAL,         \
        struct record_number: RECORD_NUMBER, \
        char *: RECORD_TEXT,         \
        const char *: RECORD_TEXT,   \
        json_t *: RECORD_JSON,       \
        const json_t *: RECORD_JSON)
#define RECORD_OF(type) ((const type *)0)
#define RECORD_MEMBER(type, member) .kind = RECORD_KIND_OF(RECORD_OF(type)->member), .offset = offsetof(type, member)
#define RECORD_VALUES(type, member, number)                                                                   \
    .kind = RECORD_KIND_OF(*RECORD_OF(type)->member), .shape = RECORD_LIST, .offset = offsetof(type, member), \
    .count = offsetof(type, number)
#define RECORD_PLACES(type, member)                                                                            \
    .kind = RECORD_KIND_OF(*RECORD_OF(type)->member), .shape = RECORD_ARRAY, .offset = offsetof(type, member), \
    .length = sizeof RECORD_OF(type)->member / sizeof *RECORD_OF(type)->member
// A struct interval as [value, low, high].
#define RECORD_INTERVAL(type, member) \
    .kind = RECORD_REAL, .shape = RECORD_ARRAY, .offset = offsetof(type, member), .length = 3, .flags = RECORD_HOLES
#define RECORD_PAIRS(type, member, number)                                                                           \
    .kind = RECORD_KIND_OF(RECORD_OF(type)->member->value), .shape = RECORD_NAMED, .offset = offsetof(type, member), \
    .count = offsetof(type, number)
#define RECORD_WORDS(type, member, all) .kind = RECORD_WORD, .words = (all), .offset = offsetof(type, member)
#define RECORD_RECORD(type, member, table) .kind = RECORD_OBJECT, .of = &(table), .offset = offsetof(type, member)
#define RECORD_RECORDS(type, member, number, table)                                                \
    .kind = RECORD_OBJECT, .shape = RECORD_LIST, .of = &(table), .offset = offsetof(type, member), \
    .count = offsetof(type, number)
// The row's name does not appear in JSON. `table` is a record, or a function that returns it.
#define RECORD_IN_PLACE(type, member, table) .kind = RECORD_PART, .of = &(table), .offset = offsetof(type, member)
#define RECORD_INCLUDE(type, member, table) .kind = RECORD_PART, .made = (table), .offset = offsetof(type, member)

// Sets every member in the table to unknown, and the rest of the struct to zero.
void record_clear(const struct record *, void *to);
// The struct as an object. New reference.
json_t *record_write(const struct record *, const void *from);
// Adds the members to an object.
void record_write_into(const struct record *, const void *from, json_t *object);
// Clears the struct and reads the object's members. Strings, lists and records are allocated in `memory`, which the
// caller releases. -1 with a message if a value has the wrong type or is out of range, or if a required value is
// missing.
int record_read(const struct record *, const json_t *object, void *to, struct arena *memory, struct error *);

// These functions test, write and read a single member. record_get returns null for an unknown value (new reference).
// record_take accepts null as unknown; if it fails, the member is unchanged. `what`: the record's name for messages.
bool record_knows(const struct record_field *, const void *from);
json_t *record_get(const struct record_field *, const void *from);
int record_take(const struct record_field *, const char *what, const json_t *value, void *to, struct arena *memory,
                struct error *);
