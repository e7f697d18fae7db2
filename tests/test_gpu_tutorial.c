// docs/tutorial.md, followed word by word on a GPU.
#include "tests/gpu.h"
#include "tests/tutorial.h"

static void the_tutorial_ends_with_a_program_that_launches_the_winner(void **state)
{
    NEEDS_GPU();
    tutorial_follow("docs/tutorial.md", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tutorial_ends_with_a_program_that_launches_the_winner),
    };
    cmocka_set_test_filter(getenv("TEST_FILTER"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
