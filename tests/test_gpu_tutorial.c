// Follows docs/tutorial.md step by step on a GPU.
#include "tests/gpu.h"
#include "tests/tutorial.h"

GPU_TEST(the_tutorial_ends_with_a_program_that_launches_the_winner)
{
    tutorial_follow("docs/tutorial.md", true);
}

TEST_MAIN(NULL, NULL)
