"""Selectors of devices: what they see, what they say, and how they fail."""

import pytest

from posse.cel import (
    CelError,
    CostLimitError,
    DeviceFacts,
    DeviceSelectorError,
    device_selector,
    parse_semver,
)

FW = parse_semver("1.10.0")
assert FW is not None
CARD = DeviceFacts(
    driver="dra.example.com",
    attributes={"model": "A100", "rank": 2, "ecc": True, "fw": FW, "vendor.example.com/line": "max"},
    capacity={"memory": "40Gi", "vendor.example.com/lanes": "16"},
)
A = 'device.attributes["dra.example.com"]'
C = 'device.capacity["dra.example.com"]'


@pytest.mark.parametrize(
    "text",
    [
        f'{A}.model == "A100" && {C}.memory.compareTo(quantity("40Gi")) >= 0',
        f"{A}.ecc",
        f'{A}["model"] != "T4"',
        f"{A}.rank in [2, 4]",
        f'{A}.fw.isGreaterThan(semver("1.9.5")) && {A}.fw.isLessThan(semver("2.0.0-rc.1"))',
        f"{A}.fw.major() == 1 && {A}.fw.minor() == 10 && {A}.fw.patch() == 0",
        f'{A}.fw.compareTo(semver("v1.10", true)) == 0',
        f'{C}.memory == quantity("40960Mi")',
        f'{C}.memory.add(quantity("1Gi")).isLessThan(quantity("45G"))',
        f"{C}.memory.sub(1).isLessThan({C}.memory) && sign({C}.memory) == 1",
        f"{C}.memory.isInteger() && {C}.memory.asInteger() == 42949672960",
        'device.capacity["vendor.example.com"].lanes.asApproximateFloat() == 16.0',
        'has(device.attributes["vendor.example.com"].line)',
        '!has(device.attributes["vendor.example.com"].color)',
        f'{A}.?color.orValue("none") == "none"',
        f'{A}[?"model"].hasValue() && {A}.?model.value() == "A100"',
        f"{A}.?model.optMap(m, m.size()).orValue(0) == 4",
        'device.attributes["nobody.example.com"].size() == 0',
        '!("color" in device.attributes["paint.example.com"])',
        f'cel.bind(a, {A}, a.model.lowerAscii().startsWith("a") && a.model.matches("^A[0-9]+$"))',
        f'["T4", "A100"].exists(m, m == {A}.model)',
        f'{A}.all(name, name.size() < 10) && {A}.exists_one(name, name == "rank")',
        f'{A}.exists(name, value, name == "rank" && value == 2)',
        'device.driver.startsWith("dra.") && !device.allowMultipleAllocations',
        # The side that decides wins, whatever the error of the other.
        f"{A}.missing == 1 || {A}.ecc",
        f"{A}.ecc || {A}.missing == 1",
        f"!({A}.missing && {A}.rank == 3)",
        # Values of other types are different, not faulty.
        f'{A}.rank != "2" && {A}.model != 2 && {A}.rank == 2.0 && {A}.rank < 2.5',
        f"type({A}.rank) == int && type({A}.model) == string",
        'isQuantity("1Gi") && !isQuantity("x") && isSemver("1.2.3") && !isSemver("1.2") && isSemver("v1.2", true)',
        'cidr("10.0.0.0/8").containsIP("10.1.2.3") && ip("::1").family() == 6 && !isIP("10.0.0.256")',
        "sets.contains([1, 2, 3], [3]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])",
        '"a-b-c".split("-").reverse().join("+") == "c+b+a" && "x1y22".findAll("[0-9]+") == ["1", "22"]',
        "[3, 1, 2].sort() == [1, 2, 3] && [[1], [2]].flatten() == [1, 2] && lists.range(3).sum() == 3",
        '{"a": 1, "b": 2}.transformList(k, v, v > 1, k) == ["b"] && [1, 2].map(x, x > 1, x * 2) == [4]',
        "true ? 0x1F == 31 && -5 / 2 == -2 && -5 % 2 == -1 : false",
        "timestamp('2026-03-01T10:30:00.5+02:00') - timestamp('2026-02-28T08:30:00Z') == duration('24h0.5s')",
        "timestamp('2026-03-01T23:30:00Z').getHours('Europe/Berlin') == 0 && duration('-90m').getHours() == -1",
        "timestamp('2026-03-01T23:30:00Z').getDate('+02:00') == 2 && timestamp(0).getDayOfWeek() == 4",
        "string(duration('1h0.250s')) == '3600.25s' && string(timestamp(1)) == '1970-01-01T00:00:01Z'",
        "duration('1.5s').getMilliseconds() == 1500 && duration('1h') > duration('59m')",
        "type(duration('1s')) == type(duration('2s')) && int(timestamp('1970-01-01T00:01:00Z')) == 60",
        "'%s has %d of %.1f%%, %x'.format([device.driver, 8, 12.25, 255]) == 'dra.example.com has 8 of 12.2%, ff'",
        "'%s'.format([[1, 'a', {'k': true}]]) == '[1, a, {k: true}]' && '%X'.format(['hi']) == '6869'",
        "url('https://[::1]:80/a%20b?x=1&x=2&y').getHostname() == '::1' && !isURL('../x') && isURL('/x')",
        "url('https://u@example.com:443/a b?q').getEscapedPath() == '/a%20b'",
        "url('http://e.com:8/?x=1&x=a%20b+c&y=%zz').getQuery() == {'x': ['1', 'a b c']} && url('http://e.com:8/').getPort() == '8'",
        "!format.dns1123Label().validate('gpu-1').hasValue() && format.uuid().validate('x').hasValue()",
        "format.named('date').value().validate('2026-02-30').hasValue() && !format.named('ghost').hasValue()",
        "!format.dns1123LabelPrefix().validate('gpu-').hasValue() && format.byte().validate('!').hasValue()",
        "!format.qualifiedName().validate('example.com/Name').hasValue()",
        r'"\u0041\x42\103" == "ABC" && r"\n".size() == 2 && b"\xff".size() == 1 // a comment',
    ],
)
def test_holds_for_the_card(text: str) -> None:
    assert device_selector(text).matches(CARD)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("device.driver ==", "Syntax error: mismatched input '<EOF>'"),
        ("foo", "undeclared reference to 'foo' (in container '')"),
        ("nope(1)", "undeclared reference to 'nope'"),
        ("device.name", "undefined field 'name'"),
        ("device.driver == 1", "found no matching overload for '_==_' applied to '(string, int)'"),
        (
            "device.driver.startsWith(1)",
            "found no matching overload for 'startsWith' applied to 'string.(int)'",
        ),
        (f"{C}.memory > 1", "found no matching overload for '_>_' applied to '(kubernetes.Quantity, int)'"),
        (f"{C}.memory.sign() > 0", "found no matching overload for 'sign'"),
        ("device.driver", "must evaluate to bool or the unknown type, not string"),
        ("device.driver && true", "expected type 'bool' but found 'string'"),
        ("true ? 1 : 'a'", "found no matching overload for '_?_:_' applied to '(bool, int, string)'"),
        ("1.exists(x, true)", "cannot be range of a comprehension"),
        ("has(device)", "invalid argument to has() macro"),
        ("'abc", "token recognition error"),
        ("99999999999999999999 > 1", "invalid int literal"),
        ("for == 1", "reserved identifier: for"),
        ("(" * 60 + "true" + ")" * 60, "expression recursion limit exceeded"),
        ("1" + " + 1" * 500 + " > 1", "expression recursion limit exceeded"),
    ],
)
def test_invalid_expressions_are_refused_with_the_place(text: str, reason: str) -> None:
    with pytest.raises(CelError) as refused:
        device_selector(text)
    assert reason in str(refused.value)


def test_the_place_of_a_fault_is_pointed_at() -> None:
    with pytest.raises(CelError) as refused:
        device_selector("true &&\n  device.driver == 1")
    assert str(refused.value) == (
        "ERROR: <input>:2:17: found no matching overload for '_==_' applied to '(string, int)'\n"
        " |   device.driver == 1\n"
        " | ................^"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{A}.healthy", "no such key: healthy"),
        (f"{A}.model.asInteger() == 1", "no such overload"),
        (f"{A}.model", "did not evaluate to a boolean"),
        (f"{A}.rank / 0 == 1", "division by zero"),
        (f"{A}.rank + 9223372036854775807 > 0", "integer overflow"),
        ('"a".matches("(")', "error parsing regexp"),
        ('quantity("x").isInteger()', "is not a quantity"),
        ("[1, 2][5] == 1", "index out of bounds"),
        ("optional.none().value() == 1", "optional.none() dereference"),
    ],
)
def test_a_valid_expression_may_have_no_value_for_a_device(text: str, reason: str) -> None:
    with pytest.raises(DeviceSelectorError, match=r".*") as failed:
        device_selector(text).matches(CARD)
    assert reason in str(failed.value)


@pytest.mark.parametrize(
    "text",
    [
        "lists.range(dyn(100000)).map(x, lists.range(100000)).size() > 0",
        'cel.bind(a, dyn("0123456789"), ' + "cel.bind(a, a + a, " * 40 + "a.size() > 0" + ")" * 41,
        'dyn("a").replace("", "' + "b" * 9000 + '").replace("", "' + "b" * 900 + '").size() > 0',
    ],
)
def test_what_takes_too_many_steps_is_stopped(text: str) -> None:
    with pytest.raises((DeviceSelectorError, CelError), match=r"cost limit exceeded|exceeds cost limit"):
        device_selector(text).matches(CARD)


def test_what_would_take_too_many_steps_is_refused_beforehand() -> None:
    ten = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
    text = "".join(f"{ten}.all({name}, " for name in "abcdef") + "a + b + c + d + e + f >= 0" + ")" * 6
    with pytest.raises(CostLimitError):
        device_selector(text)


def test_long_chains_of_conditions_are_not_deep() -> None:
    assert device_selector(" && ".join([f"{A}.ecc"] * 150)).matches(CARD)
