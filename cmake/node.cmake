# A GPU node's distribution is another one than the builder's, and what it has of libraries is not
# ours to choose. So libraries are compiled in where their headers suffice, and linked from archives
# where there are any; what stays dynamic is libc and its companions.
find_package(tomlplusplus REQUIRED)
set_target_properties(fmt::fmt PROPERTIES INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY)
set_target_properties(tomlplusplus::tomlplusplus PROPERTIES INTERFACE_COMPILE_OPTIONS -DTOML_HEADER_ONLY=1)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
target_link_options(swizzleperf_options INTERFACE -Wl,--as-needed -static-libstdc++ -static-libgcc)
# Nor is the compiler ours: one that warns of more must not stop anybody.
target_compile_options(swizzleperf_options INTERFACE -Wno-error)
