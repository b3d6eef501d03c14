"""An incremental solver of one-way constraints with strengths: many small methods.

The problem of the DeltaBlue paper (Freeman-Benson, Maloney, Borning: "An incremental
constraint solver", 1990), written from its description: a chain of equalities, and a
projection with scale and offset, are edited again and again.

Usage: deltablue.py [LENGTH]; 1500 in the tests
"""

import sys
from enum import IntEnum


class Strength(IntEnum):
    """Smaller is stronger."""

    REQUIRED = 0
    PREFERRED = 1
    DEFAULT = 2
    WEAK = 3
    WEAKEST = 4


REQUIRED, PREFERRED, DEFAULT, WEAK, WEAKEST = (int(s) for s in Strength)


class Variable:
    def __init__(self, name, value=0):
        self.name = name
        self.value = value
        self.constraints = []
        self.determined_by = None
        self.walk_strength = WEAKEST
        self.stays = True
        self.mark = 0


class Constraint:
    """Keeps a relation by computing one variable, its output, from the others."""

    def __init__(self, strength):
        self.strength = strength

    def add_to(self, planner):
        for variable in self.variables():
            variable.constraints.append(self)
        self.choose_none()
        planner.add(self)

    def remove_from(self, planner):
        if self.is_satisfied():
            planner.remove(self)
        for variable in self.variables():
            variable.constraints.remove(self)

    def satisfy(self, mark, planner):
        """Enforces this constraint if it is strong enough; returns the one it overrode."""
        self.choose_method(mark)
        if not self.is_satisfied():
            if self.strength == REQUIRED:
                raise RuntimeError("a required constraint cannot be satisfied")
            return None
        for variable in self.inputs():
            variable.mark = mark
        out = self.output()
        overridden = out.determined_by
        if overridden is not None:
            overridden.choose_none()
        out.determined_by = self
        if not planner.propagate(self, mark):
            raise RuntimeError("a cycle of constraints")
        out.mark = mark
        return overridden

    def inputs_known(self, mark):
        for variable in self.inputs():
            if not (variable.mark == mark or variable.stays
                    or variable.determined_by is None):
                return False
        return True

    def is_input(self):
        return False

    def recalculate(self):
        out = self.output()
        strength = self.strength
        stays = True
        for variable in self.inputs():
            if variable.walk_strength > strength:
                strength = variable.walk_strength
            stays = stays and variable.stays
        out.walk_strength = strength
        out.stays = stays
        if stays:
            self.execute()


class UnaryConstraint(Constraint):
    def __init__(self, variable, strength, planner):
        super().__init__(strength)
        self.out = variable
        self.satisfied = False
        self.add_to(planner)

    def variables(self):
        return (self.out,)

    def inputs(self):
        return ()

    def output(self):
        return self.out

    def is_satisfied(self):
        return self.satisfied

    def choose_none(self):
        self.satisfied = False

    def choose_method(self, mark):
        self.satisfied = (
            self.out.mark != mark and self.strength < self.out.walk_strength
        )

    def recalculate(self):
        self.out.walk_strength = self.strength
        self.out.stays = not self.is_input()
        if self.out.stays:
            self.execute()


class Stay(UnaryConstraint):
    def execute(self):
        pass


class Edit(UnaryConstraint):
    def is_input(self):
        return True

    def execute(self):
        pass


class BinaryConstraint(Constraint):
    def __init__(self, first, second, strength, planner):
        super().__init__(strength)
        self.first = first
        self.second = second
        self.forward = None
        self.add_to(planner)

    def variables(self):
        return (self.first, self.second)

    def inputs(self):
        return (self.first,) if self.forward else (self.second,)

    def output(self):
        return self.second if self.forward else self.first

    def is_satisfied(self):
        return self.forward is not None

    def choose_none(self):
        self.forward = None

    def choose_method(self, mark):
        first, second = self.first, self.second
        if first.mark == mark:
            possible = second.mark != mark and self.strength < second.walk_strength
            self.forward = True if possible else None
        elif second.mark == mark:
            self.forward = False if self.strength < first.walk_strength else None
        elif first.walk_strength > second.walk_strength:
            self.forward = False if self.strength < first.walk_strength else None
        else:
            self.forward = True if self.strength < second.walk_strength else None


class Equal(BinaryConstraint):
    def execute(self):
        if self.forward:
            self.second.value = self.first.value
        else:
            self.first.value = self.second.value


class Scaled(BinaryConstraint):
    """second = first * scale + offset."""

    def __init__(self, source, scale, offset, target, strength, planner):
        self.scale = scale
        self.offset = offset
        super().__init__(source, target, strength, planner)

    def variables(self):
        return (self.first, self.second, self.scale, self.offset)

    def inputs(self):
        known = self.first if self.forward else self.second
        return (known, self.scale, self.offset)

    def execute(self):
        if self.forward:
            self.second.value = self.first.value * self.scale.value + self.offset.value
        else:
            self.first.value = (self.second.value - self.offset.value) // self.scale.value


class Planner:
    def __init__(self):
        self.mark = 0

    def new_mark(self):
        self.mark += 1
        return self.mark

    def add(self, constraint):
        mark = self.new_mark()
        overridden = constraint.satisfy(mark, self)
        while overridden is not None:
            overridden = overridden.satisfy(mark, self)

    def remove(self, constraint):
        out = constraint.output()
        constraint.choose_none()
        for unsatisfied in self.forget_downstream(out):
            self.add(unsatisfied)

    def forget_downstream(self, out):
        """Marks what depended on `out` as undetermined; the constraints to try again."""
        out.determined_by = None
        out.walk_strength = WEAKEST
        out.stays = True
        unsatisfied = []
        todo = [out]
        while todo:
            variable = todo.pop()
            for constraint in variable.constraints:
                if not constraint.is_satisfied():
                    unsatisfied.append(constraint)
            for constraint in self.users(variable):
                constraint.recalculate()
                todo.append(constraint.output())
        unsatisfied.sort(key=lambda constraint: constraint.strength)
        return unsatisfied

    def users(self, variable):
        determining = variable.determined_by
        return [
            constraint
            for constraint in variable.constraints
            if constraint is not determining and constraint.is_satisfied()
        ]

    def propagate(self, constraint, mark):
        todo = [constraint]
        while todo:
            current = todo.pop()
            if current.output().mark == mark:
                self.remove(constraint)
                return False
            current.recalculate()
            todo.extend(self.users(current.output()))
        return True

    def plan_from(self, edits):
        sources = [edit for edit in edits if edit.is_input() and edit.is_satisfied()]
        mark = self.new_mark()
        plan = []
        while sources:
            constraint = sources.pop()
            out = constraint.output()
            if out.mark != mark and constraint.inputs_known(mark):
                plan.append(constraint)
                out.mark = mark
                sources.extend(self.users(out))
        return plan

    def change(self, variable, values):
        """Edits `variable` through `values`, executing one plan for all of them."""
        edit = Edit(variable, PREFERRED, self)
        plan = self.plan_from([edit])
        for value in values:
            variable.value = value
            for constraint in plan:
                constraint.execute()
        edit.remove_from(self)


def chain(length):
    planner = Planner()
    variables = [Variable(f"v{i}") for i in range(length + 1)]
    for first, second in zip(variables, variables[1:]):
        Equal(first, second, REQUIRED, planner)
    Stay(variables[-1], DEFAULT, planner)
    edit = Edit(variables[0], PREFERRED, planner)
    plan = planner.plan_from([edit])
    total = 0
    for value in range(100):
        variables[0].value = value
        for constraint in plan:
            constraint.execute()
        if variables[-1].value != value:
            raise RuntimeError(f"the chain's end is {variables[-1].value}, not {value}")
        total += variables[length // 2].value
    edit.remove_from(planner)
    return total


def projection(length):
    planner = Planner()
    scale = Variable("scale", 10)
    offset = Variable("offset", 1000)
    sources, targets = [], []
    for i in range(length):
        source = Variable(f"source{i}", i)
        target = Variable(f"target{i}", i)
        sources.append(source)
        targets.append(target)
        Stay(source, DEFAULT, planner)
        Scaled(source, scale, offset, target, REQUIRED, planner)
    planner.change(sources[0], [17])
    results = [targets[0].value]
    planner.change(targets[0], [1050])
    results.append(sources[0].value)
    planner.change(scale, range(5, 8))
    results.append(sum(target.value for target in targets))
    planner.change(offset, range(2000, 2003))
    results.append(sum(target.value for target in targets))
    return results


def main(length=36000):
    print(chain(length))
    print(projection(length))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
