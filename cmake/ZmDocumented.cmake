# Files that are built into the program (the documented catalogue, the profiles of qualify): they are there
# wherever the program is.
#
#   zm_documented(FOLDER dir OUTPUT file TYPE t ARRAY a HEADER h)
#     every *.yaml below dir becomes bytes in the table a of struct t, declared by h: its path without
#     the suffix, its text, its length.
function(zm_documented)
  cmake_parse_arguments(arg "" "FOLDER;OUTPUT;TYPE;ARRAY;HEADER" "" ${ARGN})
  cmake_path(RELATIVE_PATH arg_FOLDER BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE room)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${arg_FOLDER}/*.yaml)
  list(SORT files)
  set(texts "")
  set(rows "")
  set(number 0)
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${arg_FOLDER} OUTPUT_VARIABLE id)
    string(REGEX REPLACE "\\.yaml$" "" id "${id}")
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(APPEND texts "static const unsigned char text_${number}[] = { ${bytes}0 };\n")
    string(APPEND rows "\t{ \"${id}\", text_${number}, sizeof(text_${number}) - 1 },\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${arg_OUTPUT} @ONLY CONTENT
"/* Written by the build from @room@/. */
#include \"@arg_HEADER@\"

@texts@
const struct @arg_TYPE@ @arg_ARRAY@[] = {
@rows@\t{ 0, 0, 0 },
};
")
endfunction()
