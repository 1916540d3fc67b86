// Counts the words of 8 bytes in which two arrays differ. The bytes after the last
// whole word count as one.
extern "C" __global__ void count_differences(const unsigned long long *one, const unsigned long long *other,
                                             unsigned long long n_bytes, unsigned long long *count)
{
    const unsigned long long n_words = n_bytes / 8;
    const unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    unsigned long long found = 0;
    for (unsigned long long at = first; at < n_words; at += stride) {
        found += one[at] != other[at];
    }
    if (first == 0) {
        const unsigned char *one_bytes = (const unsigned char *)one;
        const unsigned char *other_bytes = (const unsigned char *)other;
        bool differs = false;
        for (unsigned long long at = n_words * 8; at < n_bytes; ++at) {
            differs |= one_bytes[at] != other_bytes[at];
        }
        found += differs;
    }
    if (found != 0) {
        atomicAdd(count, found);
    }
}
