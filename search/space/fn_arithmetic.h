// The functions of expressions, and the ratio of two sizes (FN is explained in fn.h; headers contain the text after the
// first empty line).

// The quotient rounded towards 0; 0 if there is none of 64 bits.
FN_FUNCTION long long FN(div)(long long a, long long b)
{
    return b && (b != -1 || a >= -9223372036854775807LL) ? a / b : 0;
}

// The remainder of that division.
FN_FUNCTION long long FN(rem)(long long a, long long b)
{
    return b && b != -1 ? a % b : 0;
}

// The quotient rounded towards plus infinity; 0 if there is none of 64 bits.
FN_FUNCTION long long FN(ceil_div)(long long a, long long b)
{
    return b && (b != -1 || a >= -9223372036854775807LL) ? a / b + (a % b != 0 && (a < 0) == (b < 0)) : 0;
}

FN_FUNCTION long long FN(round_up)(long long a, long long b)
{
    return (long long)((unsigned long long)FN(ceil_div)(a, b) * (unsigned long long)b);
}

FN_FUNCTION long long FN(min)(long long a, long long b)
{
    return a < b ? a : b;
}

FN_FUNCTION long long FN(max)(long long a, long long b)
{
    return a > b ? a : b;
}

FN_FUNCTION long long FN(abs)(long long a)
{
    return a < 0 ? -a : a;
}

FN_FUNCTION long long FN(is_pow2)(long long a)
{
    return a > 0 && (a & (a - 1)) == 0;
}

// Rounded down; 0 for numbers without a logarithm.
FN_FUNCTION long long FN(log2)(long long a)
{
    long long n = 0;
    for (; a > 1; a >>= 1) n++;
    return n;
}

// A member of a launch's shape. A number that has more than 32 bits becomes the largest one, which cannot be launched.
FN_FUNCTION unsigned FN(narrow)(long long a)
{
    return a < 0 || a > 4294967295LL ? 4294967295U : (unsigned)a;
}

// The larger of two sizes over the smaller; sizes below 1 count as 1.
FN_FUNCTION double FN(ratio)(long long a, long long b)
{
    const double x = a > 1 ? (double)a : 1, y = b > 1 ? (double)b : 1;
    return x > y ? x / y : y / x;
}
