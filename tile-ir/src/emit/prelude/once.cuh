// Reads and writes of what nothing touches again: first to leave the caches.
template <int BYTES> struct tk_bytes;
template <> struct tk_bytes<1> { typedef unsigned char bits; };
template <> struct tk_bytes<2> { typedef unsigned short bits; };
template <> struct tk_bytes<4> { typedef unsigned int bits; };
template <> struct tk_bytes<8> { typedef uint2 bits; };
template <> struct tk_bytes<16> { typedef uint4 bits; };
template <class T> __device__ __forceinline__ T tk_load_once(const T* place) {
    typedef typename tk_bytes<sizeof(T)>::bits bits;
    const bits loaded = __ldcs(reinterpret_cast<const bits*>(place));
    T value;
    *reinterpret_cast<bits*>(&value) = loaded;
    return value;
}
template <class T> __device__ __forceinline__ void tk_store_once(T* place, const T& value) {
    typedef typename tk_bytes<sizeof(T)>::bits bits;
    __stcs(reinterpret_cast<bits*>(place), *reinterpret_cast<const bits*>(&value));
}
