# Fuzzers stand beside what they fuzz: FOLDER/fuzz/fuzz_NOUN.c defines LLVMFuzzerTestOneInput and
# becomes the program fuzz/ROOM_NOUN and the CTest FOLDER/fuzz/NOUN with the label fuzz; its first
# inputs are the files of FOLDER/fuzz/corpus/NOUN.
#
#   zm_fuzz(FOLDER dir LIBRARIES …)
#     every fuzz_*.c of FOLDER/fuzz. The comment lines of zm_tests hold here too.
#
# With clang and -DZM_FUZZ=ON (the preset fuzz) they are libFuzzer's programs; otherwise a driver of our
# own replays the corpus and a fixed number of mutations of it, the same ones every time.
option(ZM_FUZZ "Build the fuzzers with libFuzzer; needs clang and -DZM_SANITIZE=address;undefined" OFF)

if(ZM_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES Clang OR NOT ZM_SANITIZE MATCHES address)
    message(FATAL_ERROR "zonemark: ZM_FUZZ needs clang and the address sanitizer: cmake --preset fuzz")
  endif()
  target_compile_options(zm_build INTERFACE -fsanitize=fuzzer-no-link)
endif()

function(zm_fuzz)
  cmake_parse_arguments(arg "" "FOLDER" "LIBRARIES" ${ARGN})
  if(NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${arg_FOLDER}/fuzz/fuzz_*.c)
  cmake_path(RELATIVE_PATH arg_FOLDER BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE room)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    string(REGEX REPLACE "^fuzz_" "" noun ${stem})
    string(MAKE_C_IDENTIFIER "${room}_${noun}" name)
    set(corpus ${arg_FOLDER}/fuzz/corpus/${noun})
    add_executable(fuzz_${name} ${source})
    target_link_libraries(fuzz_${name} PRIVATE ${arg_LIBRARIES} zm_workloads zm::build)
    set_target_properties(fuzz_${name} PROPERTIES
      OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
    if(ZM_FUZZ)
      # New inputs go into the first directory, the build's; the second is only read.
      set(found ${PROJECT_BINARY_DIR}/fuzz/found/${name})
      file(MAKE_DIRECTORY ${found})
      target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
      set(arguments -seed=1 -runs=20000 -max_total_time=5 -timeout=10 -print_final_stats=0 -verbosity=0
          -artifact_prefix=${PROJECT_BINARY_DIR}/fuzz/ ${found} ${corpus})
    else()
      target_sources(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/workloads/fuzz/driver.c)
      set(arguments --mutations 5000 --seconds 3 ${corpus})
    endif()
    add_test(NAME ${room}/fuzz/${noun} COMMAND fuzz_${name} ${arguments})
    zm_test_properties(${room}/fuzz/${noun} ${source} fuzz)
  endforeach()
endfunction()
