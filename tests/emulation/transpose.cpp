// templates/transpose.cu, emulated (cuda.h), with a configuration that is given by macros, as in the tuner. Matrices
// have several tiles, less than one tile, or sizes that VECTOR does not divide. Exit status 0 and "ok" if all results
// are correct.
#include "cuda.h"

#include "transpose.cu"

namespace
{

int rows, cols;
std::vector<float> from, to;

void kernel()
{
    transpose(from.data(), to.data(), rows, cols);
}

bool turned(int grid)
{
    from.resize((size_t)rows * (size_t)cols);
    to.assign(from.size(), NAN);
    for (size_t i = 0; i < from.size(); i++) from[i] = (float)i;
    emulation::launch((unsigned)grid, 1, BLOCK_SIZE, kernel);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            if (to[(size_t)j * (size_t)rows + (size_t)i] != from[(size_t)i * (size_t)cols + (size_t)j])
                return std::printf("%d x %d in %d blocks: row %d, column %d is off by something\n", rows, cols, grid, i,
                                   j),
                       false;
    return true;
}

} // namespace

int main()
{
    static const int shapes[][2] = {{9 * TILE_ROWS + 4, 11 * TILE_COLS + 8},
                                    {TILE_ROWS, TILE_COLS},
                                    {1, 200},
                                    {301, 1},
                                    {3 * TILE_ROWS - 1, 2 * TILE_COLS + 3}};
    bool all = true;
    for (const auto &shape : shapes) {
        rows = shape[0], cols = shape[1];
        all &= turned((rows + TILE_ROWS - 1) / TILE_ROWS * ((cols + TILE_COLS - 1) / TILE_COLS));
    }
    if (all) std::printf("ok\n");
    return all ? 0 : 1;
}
