/* For the functions that do an instruction on the stack in memory. */
#ifndef JIT_RUNTIME_STACK_H
#define JIT_RUNTIME_STACK_H

#include "jit/python.h"
#include "jit/runtime.h"

/* The arguments every such function has; most do not need all of them. */
#define RUNTIME_OP(name)                                            \
	int name(PyThreadState *thread __attribute__((unused)),     \
		_PyInterpreterFrame *frame __attribute__((unused)), \
		PyObject **sp __attribute__((unused)),              \
		uint32_t oparg __attribute__((unused)))

/* Takes the `n`th entry from the top off the stack. */
static inline PyObject *runtime_take(PyObject **sp, int n)
{
	PyObject *value = sp[-n];

	sp[-n] = NULL;
	return value;
}

/* Replaces the `n`th entry by a result, and then drops it. -1 where the result is NULL.
 */
static inline int runtime_replace(PyObject **sp, int n, PyObject *result)
{
	PyObject *old = sp[-n];

	sp[-n] = result;
	Py_DECREF(old);
	return result ? 0 : -1;
}

static inline PyObject *runtime_name(_PyInterpreterFrame *frame, uint32_t number)
{
	return PyTuple_GET_ITEM(frame->f_code->co_names, number);
}

/* Every such function, by its instruction; RUNTIME_EACH(X) gives X(OPCODE, function). */
#define RUNTIME_EACH(X)                                 \
	X(UNARY_POSITIVE, runtime_positive)             \
	X(UNARY_NEGATIVE, runtime_negative)             \
	X(UNARY_INVERT, runtime_invert)                 \
	X(IS_OP, runtime_is)                            \
	X(GET_LEN, runtime_get_len)                     \
	X(MATCH_MAPPING, runtime_match_mapping)         \
	X(MATCH_SEQUENCE, runtime_match_sequence)       \
	X(MATCH_KEYS, runtime_match_keys)               \
	X(MATCH_CLASS, runtime_match_class)             \
	X(PUSH_EXC_INFO, runtime_push_exc_info)         \
	X(POP_EXCEPT, runtime_pop_except)               \
	X(CHECK_EXC_MATCH, runtime_check_exc_match)     \
	X(CHECK_EG_MATCH, runtime_check_eg_match)       \
	X(PREP_RERAISE_STAR, runtime_prep_reraise_star) \
	X(RERAISE, runtime_reraise_op)                  \
	X(RAISE_VARARGS, runtime_raise)                 \
	X(WITH_EXCEPT_START, runtime_with_except)       \
	X(BEFORE_WITH, runtime_before_with)             \
	X(BEFORE_ASYNC_WITH, runtime_before_async_with) \
	X(END_ASYNC_FOR, runtime_end_async_for)         \
	X(GET_AITER, runtime_get_aiter)                 \
	X(GET_ANEXT, runtime_get_anext)                 \
	X(GET_AWAITABLE, runtime_get_awaitable)         \
	X(ASYNC_GEN_WRAP, runtime_async_gen_wrap)       \
	X(SEND, runtime_send)                           \
	X(GET_ITER, runtime_get_iter)                   \
	X(GET_YIELD_FROM_ITER, runtime_get_yield_from)  \
	X(DELETE_SUBSCR, runtime_delete_subscript)      \
	X(DELETE_ATTR, runtime_delete_attribute)        \
	X(LOAD_NAME, runtime_load_name)                 \
	X(STORE_NAME, runtime_store_name)               \
	X(DELETE_NAME, runtime_delete_name)             \
	X(STORE_GLOBAL, runtime_store_global)           \
	X(DELETE_GLOBAL, runtime_delete_global)         \
	X(LOAD_CLASSDEREF, runtime_load_classderef)     \
	X(DELETE_DEREF, runtime_delete_deref)           \
	X(MAKE_CELL, runtime_make_cell)                 \
	X(COPY_FREE_VARS, runtime_copy_free_vars)       \
	X(SETUP_ANNOTATIONS, runtime_setup_annotations) \
	X(LOAD_BUILD_CLASS, runtime_load_build_class)   \
	X(LOAD_ASSERTION_ERROR, runtime_load_assertion) \
	X(IMPORT_NAME, runtime_import_name)             \
	X(IMPORT_FROM, runtime_import_from)             \
	X(IMPORT_STAR, runtime_import_star)             \
	X(PRINT_EXPR, runtime_print)                    \
	X(UNPACK_SEQUENCE, runtime_unpack)              \
	X(UNPACK_EX, runtime_unpack_ex)                 \
	X(BUILD_TUPLE, runtime_build_tuple)             \
	X(BUILD_LIST, runtime_build_list)               \
	X(BUILD_SET, runtime_build_set)                 \
	X(BUILD_MAP, runtime_build_map)                 \
	X(BUILD_CONST_KEY_MAP, runtime_build_const_map) \
	X(BUILD_STRING, runtime_build_string)           \
	X(BUILD_SLICE, runtime_build_slice)             \
	X(FORMAT_VALUE, runtime_format)                 \
	X(LIST_TO_TUPLE, runtime_list_to_tuple)         \
	X(LIST_APPEND, runtime_list_append)             \
	X(SET_ADD, runtime_set_add)                     \
	X(MAP_ADD, runtime_map_add)                     \
	X(LIST_EXTEND, runtime_list_extend)             \
	X(SET_UPDATE, runtime_set_update)               \
	X(DICT_UPDATE, runtime_dict_update)             \
	X(DICT_MERGE, runtime_dict_merge)               \
	X(MAKE_FUNCTION, runtime_make_function)         \
	X(CALL_FUNCTION_EX, runtime_call_ex)

#define RUNTIME_DECLARE_(opcode, name) runtime_op name;
RUNTIME_EACH(RUNTIME_DECLARE_)

#endif
