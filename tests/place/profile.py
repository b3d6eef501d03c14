"""Runs a command under a container's seccomp profile, as runc loads it: the JSON profile is
handed to libseccomp rule by rule.

    profile.py PROFILE.json [MORE-RULES.json...] -- COMMAND [ARG...]
"""
import ctypes
import json
import os
import sys


class Comparison(ctypes.Structure):
    """struct scmp_arg_cmp of seccomp.h."""
    _fields_ = [("argument", ctypes.c_uint), ("operator", ctypes.c_int),
                ("value", ctypes.c_uint64), ("other", ctypes.c_uint64)]


OPERATORS = {"SCMP_CMP_NE": 1, "SCMP_CMP_LT": 2, "SCMP_CMP_LE": 3, "SCMP_CMP_EQ": 4,
             "SCMP_CMP_GE": 5, "SCMP_CMP_GT": 6, "SCMP_CMP_MASKED_EQ": 7}


def action(name, error=1):
    if name == "SCMP_ACT_ALLOW":
        return 0x7fff0000
    if name == "SCMP_ACT_ERRNO":
        return 0x00050000 | error
    raise ValueError(name)


def check(result, what):
    if result < 0:
        sys.exit("profile.py: %s: %s" % (what, os.strerror(-result)))


def add_rule(library, context, rule, default):
    what = action(rule["action"], rule.get("errnoRet", 1))
    if what == default:
        return 0
    added = 0
    for name in rule["names"]:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number == -1:
            continue
        arguments = [Comparison(argument["index"], OPERATORS[argument["op"]],
                                argument["value"], argument.get("valueTwo", 0))
                     for argument in rule.get("args", [])]
        array = (Comparison * len(arguments))(*arguments)
        check(library.seccomp_rule_add_array(context, ctypes.c_uint32(what), number,
                                             len(arguments), array), name)
        added += 1
    return added


def load(profile):
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_rule_add_array.argtypes = [
        ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p]
    library.seccomp_load.argtypes = [ctypes.c_void_p]
    default = action(profile["defaultAction"])
    context = library.seccomp_init(ctypes.c_uint32(default))
    added = sum(add_rule(library, context, rule, default) for rule in profile["syscalls"])
    print("profile.py: %d rules" % added, file=sys.stderr)
    check(library.seccomp_load(context), "loading the filter")


def main():
    split = sys.argv.index("--")
    with open(sys.argv[1], encoding="utf-8") as file:
        profile = json.load(file)
    for path in sys.argv[2:split]:
        with open(path, encoding="utf-8") as file:
            profile["syscalls"].append(json.load(file))
    load(profile)
    os.execvp(sys.argv[split + 1], sys.argv[split + 1:])


main()
