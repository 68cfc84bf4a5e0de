# swizzleperf_room(NAME sources...) declares the static library of one folder under src/ with the
# project's warnings; swizzleperf_test(NAME sources... LINK libs...) declares one GoogleTest program,
# whose tests carry its name as a label.
add_library(swizzleperf_options INTERFACE)
target_compile_options(swizzleperf_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-sign-conversion -Werror)
target_include_directories(swizzleperf_options INTERFACE ${CMAKE_SOURCE_DIR}/include
  ${CMAKE_SOURCE_DIR}/src)
if(SWIZZLEPERF_SANITIZE)
  target_compile_options(swizzleperf_options INTERFACE -fsanitize=address,undefined
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(swizzleperf_options INTERFACE -fsanitize=address,undefined)
endif()

function(swizzleperf_room name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC swizzleperf_options fmt::fmt nlohmann_json::nlohmann_json)
  target_precompile_headers(${name} REUSE_FROM precompiled_rooms)
endfunction()

function(swizzleperf_test name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${arg_LINK} fmt::fmt nlohmann_json::nlohmann_json GTest::gtest
    GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE -O0)  # most wait for what they test
  target_precompile_headers(${name} REUSE_FROM precompiled_tests)
  gtest_discover_tests(${name} PROPERTIES TIMEOUT 300 LABELS ${name} DISCOVERY_TIMEOUT 60)
endfunction()
