// tuner/base/json.h: for any string, no value is NULL and no member is missing.
#include "tests/testing.h"
#include "tuner/base/json.h"

static const char latin[] = "caf\xe9", mended[] = "caf?";

static void expect(json_t *value, const char *text)
{
    assert_string_equal(test_owned(json_dumps(value, JSON_COMPACT)), text);
    json_decref(value);
}

TEST(text_that_is_not_utf8_makes_a_string_all_the_same)
{
    static const struct {
        const char *text, *made;
    } cases[] = {
        {"plain", "plain"},
        {"caf\xc3\xa9", "caf\xc3\xa9"},
        {latin, mended},
        {"\xff\xfe", "??"},
        {"\xc3", "?"},
        {"\xed\xa0\x80", "???"},      // a surrogate
        {"\xc0\x80", "??"},           // an overlong NUL
        {"\xf4\x90\x80\x80", "????"}, // beyond U+10FFFF
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autojson json_t *value = json_string(cases[i].text);
        assert_non_null(value);
        assert_string_equal(json_string_value(value), cases[i].made);
        assert_int_equal(json_takes(cases[i].text), !strcmp(cases[i].text, cases[i].made));
    }
    expect(json_sprintf("-D%s", latin), "\"-Dcaf?\"");
    expect(json_string(NULL), "null");
}

TEST(no_member_and_no_element_is_left_out)
{
    json_t *object = json_object(), *array = test_json(json_array());
    assert_int_equal(json_object_set_new(object, latin, json_string(latin)), 0);
    assert_int_equal(json_object_set_new(object, "nan", json_real(NAN)), 0);
    assert_int_equal(json_object_set_new(object, "none", NULL), -1);
    assert_int_equal(json_array_append_new(array, json_string(latin)), 0);
    assert_int_equal(json_array_append_new(array, json_real(INFINITY)), 0);
    assert_int_equal(json_array_append(array, NULL), 0);
    assert_int_equal(json_array_append_new(NULL, json_string("lost")), -1);
    expect(json_pack("{s:o, s:O, s:o}", "object", object, "array", array, "none", NULL),
           "{\"object\":{\"caf?\":\"caf?\",\"nan\":null},\"array\":[\"caf?\",null,null],\"none\":null}");
}

TEST(a_packed_value_is_whole)
{
    expect(json_pack("{s:s, s:i, s:I, s:b, s:n, s:[s, {s:f}, []]}", "text", latin, "int", -1, "long",
                     (json_int_t)INT64_MIN, "bool", 2, "null", "list", "a", "x", 0.5),
           "{\"text\":\"caf?\",\"int\":-1,\"long\":-9223372036854775808,\"bool\":true,\"null\":null,"
           "\"list\":[\"a\",{\"x\":0.5},[]]}");
    expect(json_pack("{s:s?, s:s*, s:o*, s:O?, s:f}", "a", NULL, "b", NULL, "c", NULL, "d", NULL, "e", NAN),
           "{\"a\":null,\"d\":null,\"e\":null}");
    expect(json_pack("[s*, s*, i]", NULL, "there", 1), "[\"there\",1]");
}

TEST_MAIN(NULL, NULL)
