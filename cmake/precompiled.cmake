# Most of what a file here compiles is not in it: the JSON library, fmt, GoogleTest and the standard
# headers, the same ones each time. They are compiled once for all rooms and once for all tests, which
# takes a full build from 25 minutes of processor time to some 10.
#
# What a precompiled header was compiled with must be what its user is compiled with, so its owner is a
# target of the same sort: a static library for rooms, a program for tests.
set(precompiled_for_rooms <fmt/format.h> <nlohmann/json.hpp> <algorithm> <array> <cstdint> <filesystem>
  <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <unordered_map> <utility>
  <vector>)

# Written once only: to write it again would compile everything again.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cc
  CONTENT "// Owns precompiled headers; see cmake/precompiled.cmake.\n")

add_library(precompiled_rooms STATIC EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled.cc)
target_link_libraries(precompiled_rooms PRIVATE swizzleperf_options fmt::fmt nlohmann_json::nlohmann_json)
target_precompile_headers(precompiled_rooms PRIVATE ${precompiled_for_rooms})

if(BUILD_TESTING AND NOT SWIZZLEPERF_NODE)
  add_executable(precompiled_tests EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled.cc)
  target_link_libraries(precompiled_tests PRIVATE swizzleperf_options fmt::fmt
    nlohmann_json::nlohmann_json GTest::gtest GTest::gmock GTest::gtest_main)
  target_precompile_headers(precompiled_tests PRIVATE ${precompiled_for_rooms} <gtest/gtest.h>
    <gmock/gmock.h>)
  target_compile_options(precompiled_tests PRIVATE -O0)
endif()
