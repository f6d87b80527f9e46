# BPF programs: FOLDER/NAME.bpf.c is compiled by clang and embedded by bpftool into NAME.skel.h.
#
#   zm_bpf(TARGET target FOLDER dir)
#     every *.bpf.c of dir; target's sources may include "runner/monitors/bpf/NAME.skel.h" and see
#     ZM_HAVE_BPF_PROGRAMS=1. Without clang's BPF back-end, bpftool or libbpf nothing is done, and the
#     monitors say that they were built without.
#
# The programs need no vmlinux.h: what they know of the kernel is in mini.h, found at load time by CO-RE.
find_program(ZM_BPF_CLANG NAMES clang clang-14 clang-15 clang-16 clang-17 clang-18 clang-19)
find_program(ZM_BPFTOOL bpftool PATHS /usr/sbin /sbin)

function(zm_bpf_check)
  if(NOT ZM_BPF_FOUND OR NOT ZM_BPF_CLANG OR NOT ZM_BPFTOOL)
    return()
  endif()
  if(NOT DEFINED ZM_BPF_COMPILES)
    set(probe ${CMAKE_BINARY_DIR}/CMakeFiles/probe.bpf.c)
    file(WRITE ${probe} "#include <linux/types.h>\n#include <bpf/bpf_helpers.h>\n__u64 x;\n")
    execute_process(
      COMMAND ${ZM_BPF_CLANG} -target bpf -g -O2 -I/usr/include/${CMAKE_C_LIBRARY_ARCHITECTURE}
              -c ${probe} -o ${probe}.o
      RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      set(ZM_BPF_COMPILES ON CACHE INTERNAL "clang compiles for BPF")
    else()
      set(ZM_BPF_COMPILES OFF CACHE INTERNAL "clang compiles for BPF")
    endif()
  endif()
endfunction()

zm_bpf_check()
add_feature_info(bpf-programs "${ZM_BPF_COMPILES}"
                 "lock contention and PCP monitors (clang, bpftool, libbpf)")

function(zm_bpf)
  cmake_parse_arguments(arg "" "TARGET;FOLDER" "" ${ARGN})
  if(NOT ZM_BPF_COMPILES)
    return()
  endif()
  cmake_path(RELATIVE_PATH arg_FOLDER BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE room)
  set(out ${PROJECT_BINARY_DIR}/bpf/${room})
  file(MAKE_DIRECTORY ${out})
  file(GLOB sources CONFIGURE_DEPENDS ${arg_FOLDER}/*.bpf.c)
  file(GLOB headers CONFIGURE_DEPENDS ${arg_FOLDER}/*.h)
  set(skeletons)
  foreach(source IN LISTS sources)
    cmake_path(GET source FILENAME file)
    string(REGEX REPLACE "\\.bpf\\.c$" "" name ${file})
    add_custom_command(
      OUTPUT ${out}/${name}.skel.h
      COMMAND ${ZM_BPF_CLANG} -std=gnu11 -O2 -g -target bpf -mcpu=v2 -Wall -Wextra
              -fdebug-prefix-map=${PROJECT_SOURCE_DIR}=. -fdebug-compilation-dir=.
              -I${PROJECT_SOURCE_DIR} -I/usr/include/${CMAKE_C_LIBRARY_ARCHITECTURE}
              -c ${source} -o ${out}/${name}.bpf.o
      COMMAND ${ZM_BPFTOOL} gen skeleton ${out}/${name}.bpf.o name ${name}_bpf > ${out}/${name}.skel.h
      DEPENDS ${source} ${headers}
      COMMENT "BPF ${room}/${name}"
      VERBATIM)
    list(APPEND skeletons ${out}/${name}.skel.h)
  endforeach()
  target_sources(${arg_TARGET} PRIVATE ${skeletons})
  target_include_directories(${arg_TARGET} SYSTEM PRIVATE ${PROJECT_BINARY_DIR}/bpf)
  target_compile_definitions(${arg_TARGET} PRIVATE ZM_HAVE_BPF_PROGRAMS=1)
  target_link_libraries(${arg_TARGET} PUBLIC zm::bpf)
endfunction()
