// As `tk_copy_async` where `cond` holds; a predicate of the instruction.
template <int BYTES> __device__ __forceinline__ void tk_copy_async_if(
    bool cond, void* to, const void* from, bool valid
) {
    const unsigned int shared = (unsigned int)__cvta_generic_to_shared(to);
    const int n = valid ? BYTES : 0;
    if constexpr (BYTES == 16) {
        asm volatile(
            "{ .reg .pred p; setp.ne.s32 p, %3, 0; @p cp.async.cg.shared.global [%0], [%1], 16, %2; }" ::"r"(shared),
            "l"(from), "r"(n), "r"((int)cond) : "memory"
        );
    } else {
        asm volatile(
            "{ .reg .pred p; setp.ne.s32 p, %4, 0; @p cp.async.ca.shared.global [%0], [%1], %2, %3; }" ::"r"(shared),
            "l"(from), "n"(BYTES), "r"(n), "r"((int)cond) : "memory"
        );
    }
}
