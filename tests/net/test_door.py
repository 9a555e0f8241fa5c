"""Nothing that a user can call is lost: names and signatures, verbs and options."""

import copy
import json

import pytest

from net import door


def had(path):
    return json.loads(path.read_text(encoding="utf-8"))


# what changed on purpose -> why it loses nothing
WIDER = {
    "liaison.FORMALISMS: type was mappingproxy, is Formalisms": "a mapping still, which takes more",
    "liaison.Helical.mapped returned Helical, returns JointType": "as every joint type says it",
    "liaison.Table(): parameter 'kind' had default 'cubic', has 'monotone'": "cubic by its name",
    "liaison.friction: parameter 'dry' had default 0, has None": "it follows from 'static' then",
    "liaison.inverse_dynamics returned Efforts, returns Efforts|Array": "of a run Efforts still",
    "liaison.Rod.mapped returned Rod, returns JointType": "as every joint type says it",
}


def test_no_public_name_is_lost_and_no_signature_is_narrower():
    lost = [x for x in door.lost_names(had(door.NAMES), door.names()) if x not in WIDER]
    assert not lost, "\n".join(lost)


def test_no_verb_and_no_option_is_lost():
    lost = door.lost_verbs(had(door.VERBS), door.verbs())
    assert not lost, "\n".join(lost)


def test_options_that_signatures_do_not_name_are_those_of_public_functions():
    names = had(door.NAMES)
    open_ended = {
        x
        for x, about in names.items()
        if about["kind"] == "function"
        and any(y["kind"] == "var_keyword" for y in about["signature"]["parameters"].values())
    }
    assert set(door.DOCUMENTED) == open_ended - {"assemble"}  # whose keywords are coordinates


# the net itself: each change is one that it must tell


def changed(path, change):
    """What the net says after a change to a copy of what there was."""
    now = copy.deepcopy(had(path))
    change(now)
    return (door.lost_names if path == door.NAMES else door.lost_verbs)(had(path), now)


def parameters(now, name="simulate"):
    return now[name]["signature"]["parameters"]


def explicit(now):
    """`**options` of simulate as keywords of their own."""
    given = parameters(now)
    given.pop("options")
    for x in door.DOCUMENTED["simulate"].split():
        given[x] = {"kind": "keyword_only", "is": "float|None", "default": "None"}


def without_facets(now):
    explicit(now)
    parameters(now).pop("facets")


NARROWED = {
    "liaison.simulate is gone": lambda now: now.pop("simulate"),
    "liaison.simulate: parameter 'start' is gone": lambda now: parameters(now).pop("start"),
    "liaison.simulate: keyword 'facets' of **options is gone": without_facets,
    "parameter 'x' is new and has no default": lambda now: parameters(now).update(
        x={"kind": "keyword_only", "is": "int"}
    ),
    "liaison.simulate: parameter 'invariants' had default False, has True": (
        lambda now: parameters(now)["invariants"].update(default="True")
    ),
    "liaison.simulate: parameter 'given' took Given|Kernel, takes Given": (
        lambda now: parameters(now)["given"].update({"is": "Given"})
    ),
    "liaison.Trajectory.resample is gone": lambda now: now["Trajectory"]["members"].pop("resample"),
    "liaison.Trajectory.q is gone": lambda now: now["Trajectory"]["members"].pop("q"),
    "liaison.TextError is no longer a LiaisonError": lambda now: now["TextError"].update(bases=[]),
    "liaison.FORMALISMS lost 'kane'": lambda now: now["FORMALISMS"]["keys"].remove("kane"),
}


@pytest.mark.parametrize("said", NARROWED)
def test_what_is_lost_is_named(said):
    assert said in "\n".join(changed(door.NAMES, NARROWED[said]))


WIDENED = {
    "a name": lambda now: now.update(more=now["simulate"]),
    "a keyword": lambda now: parameters(now).update(
        x={"kind": "keyword_only", "is": "int", "default": "1"}
    ),
    "options by name": explicit,
    "a member of a union": lambda now: parameters(now)["given"].update({"is": "Given|Kernel|Tree"}),
    "a method": lambda now: now["Trajectory"]["members"].update(more={"kind": "attribute"}),
}


@pytest.mark.parametrize("what", WIDENED)
def test_what_is_added_passes(what):
    assert changed(door.NAMES, WIDENED[what]) == []


LOST_OPTIONS = {
    "the verb 'check' is gone": lambda now: now.pop("check"),
    "simulate: --until is gone": lambda now: now["simulate"].pop("until"),
    "simulate: --until: default was '10', is '5'": (
        lambda now: now["simulate"]["until"].update(default="5")
    ),
    "simulate: FILE is gone": lambda now: now["simulate"].pop("file"),
    "simulate: x is new and required": lambda now: now["simulate"].update(
        x=now["simulate"]["file"]
    ),
}


@pytest.mark.parametrize("said", LOST_OPTIONS)
def test_an_option_that_is_lost_is_named(said):
    assert said in changed(door.VERBS, LOST_OPTIONS[said])


def test_an_option_may_be_added_and_its_variable_renamed():
    def change(now):
        now["simulate"]["length"] = now["simulate"].pop("until")
        now["simulate"]["more"] = now["simulate"]["step"] | {"flags": ["--more"]}

    assert changed(door.VERBS, change) == []
