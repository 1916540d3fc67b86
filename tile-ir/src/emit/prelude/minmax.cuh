// Of a NaN and a number, the number; -0 is below +0.
template <class T> __device__ __forceinline__ T tk_min(T a, T b) { return b < a ? b : a; }
template <class T> __device__ __forceinline__ T tk_max(T a, T b) { return a < b ? b : a; }
template <> __device__ __forceinline__ float tk_min(float a, float b) { return fminf(a, b); }
template <> __device__ __forceinline__ float tk_max(float a, float b) { return fmaxf(a, b); }
template <> __device__ __forceinline__ double tk_min(double a, double b) { return fmin(a, b); }
template <> __device__ __forceinline__ double tk_max(double a, double b) { return fmax(a, b); }
