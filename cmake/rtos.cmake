# SPDX-License-Identifier: MIT
# cmake -DSOURCE=… -DTARGET=… -P rtos.cmake: the descriptions of share/rtos as texts in a C file.
file(GLOB files ${SOURCE}/share/rtos/*.rtos)
list(SORT files)
set(texts "")
set(list "")
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  string(MAKE_C_IDENTIFIER ${name} word)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
  string(APPEND texts "static const unsigned char text_${word}[] = {\n${bytes}0};\n")
  string(APPEND list "    {\"${name}\", (const char *)text_${word}},\n")
endforeach()
file(WRITE ${TARGET} "// SPDX-License-Identifier: MIT\n// Made from share/rtos by cmake/rtos.cmake.\n#include \"rtos/kernel.h\"\n\n${texts}
static const struct rtos_builtin all[] = {\n${list}};

const struct rtos_builtin *pug_rtos_builtin_at(size_t n)
{
    return n < sizeof(all) / sizeof(all[0]) ? &all[n] : 0;
}
")
