__device__ __forceinline__ void tk_commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
// Waits for all but the newest `PENDING` groups of copies.
template <int PENDING> __device__ __forceinline__ void tk_wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}
