// Moves values among the items of a warp, 32 bits at a time. `present` are the lanes that have
// items; of a lane that has none an item gets its own value.
template <class T>
__device__ __forceinline__ T tk_shuffle(unsigned int present, int own, T value, long long lane) {
    const bool is_there = lane >= 0 && lane < 32 && ((present >> (int)lane) & 1u) != 0;
    const int from = is_there ? (int)lane : own;
    union {
        T value;
        unsigned int words[(sizeof(T) + 3) / 4];
    } moved;
    moved.words[0] = 0;
    moved.value = value;
    for (unsigned int word = 0; word < (sizeof(T) + 3) / 4; ++word) {
        moved.words[word] = __shfl_sync(present, moved.words[word], from);
    }
    return moved.value;
}
