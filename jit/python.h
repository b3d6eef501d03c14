/* Python's headers, internal ones included: the engine reaches into frames, code objects
 * and types of exactly the release it is linked with. */
#ifndef JIT_PYTHON_H
#define JIT_PYTHON_H

#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE 1
#endif

/* CPython's own assertions are those of its debug build, which this is not. */
#ifndef NDEBUG
#define NDEBUG 1
#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wpointer-arith"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <Python.h>
#include <frameobject.h>
#include <opcode.h>
#include <structmember.h>
#include "internal/pycore_abstract.h"
#include "internal/pycore_call.h"
#include "internal/pycore_ceval.h"
#include "internal/pycore_code.h"
#include "internal/pycore_dict.h"
#include "internal/pycore_frame.h"
#include "internal/pycore_function.h"
#include "internal/pycore_genobject.h"
#include "internal/pycore_global_objects.h"
#include "internal/pycore_interp.h"
#include "internal/pycore_list.h"
#include "internal/pycore_long.h"
#include "internal/pycore_moduleobject.h"
#include "internal/pycore_object.h"
#include "internal/pycore_opcode.h"
#include "internal/pycore_pyerrors.h"
#include "internal/pycore_pystate.h"
#include "internal/pycore_runtime.h"
#include "internal/pycore_tuple.h"
#include "internal/pycore_unicodeobject.h"
#pragma GCC diagnostic pop

#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030c0000
#error "this engine is for CPython 3.11"
#endif

#endif
