// Float to integer: towards zero, saturating, NaN is 0. `below` and `above` are the first
// values on either side that do not fit.
template <class I, class F>
__device__ __forceinline__ I tk_saturate(F x, F below, F above, I least, I most) {
    if (x != x) { return 0; }
    if (x <= below) { return least; }
    if (x >= above) { return most; }
    return (I)x;
}
