// An array that a launch carries in its parameters, which lie in constant memory.
template <class T, int N>
struct __align__(16) tk_constant {
    T elems[N];
};
