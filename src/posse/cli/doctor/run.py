"""Runs `posse doctor`: reads facts, has every check look at them, prints what they find."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from posse.cli.configuration_file import engine_options, rules_in_force
from posse.cli.doctor.api_facts import ApiFacts
from posse.cli.doctor.checks.every_check import CHECKS, Diagnosis
from posse.cli.doctor.facts import ClusterFacts
from posse.cli.doctor.findings import Severity
from posse.cli.output import Output, print_data
from posse.cli.problems import Misuse
from posse.cli.reading.cluster_reader import survey_cluster
from posse.cli.reading.snapshot_file import read_snapshot
from posse.cli.reading.sources import ApiSource, ClusterSource
from posse.cli.session import Rules, connected

Json = dict[str, Any]

EXIT_CODES = {Severity.NOTE: 0, Severity.WARNING: 3, Severity.ERROR: 4}


def facts_of_cluster(kubeconfig: Path | None, account: str, rules: Rules) -> ClusterFacts:
    with connected(kubeconfig) as client:
        return _facts(ApiSource(client), rules, ApiFacts(client, account).read())


def facts_of_snapshot(snapshot: Path, rules: Rules) -> ClusterFacts:
    absent = {check.needs: "not in a snapshot" for check in CHECKS if check.needs}
    return _facts(read_snapshot(snapshot.expanduser()), rules, {"unread": absent})


def _facts(source: ClusterSource, rules: Rules, read: Mapping[str, Any]) -> ClusterFacts:
    has_settings = bool(source.settings())
    options = rules_in_force(rules, source) if has_settings else engine_options(rules)
    return ClusterFacts(
        survey=survey_cluster(source, options),
        now=source.now(),
        scheduler_names=tuple(options.profiles),
        gates=options.gates,
        **read,
    )


def show_diagnosis(diagnosis: Diagnosis, output: Output) -> None:
    """Exit: the code is that of the worst finding."""
    if output.is_data:
        print_data(as_data(diagnosis), output)
    else:
        for line in report_lines(diagnosis):
            typer.echo(line)
    raise typer.Exit(exit_code(diagnosis))


def exit_code(diagnosis: Diagnosis) -> int:
    return max((EXIT_CODES[finding.severity] for _, finding in diagnosis.findings), default=0)


def report_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """The worst first."""
    for severity in Severity:
        for name, finding in diagnosis.findings:
            if finding.severity is severity:
                yield f"{severity.value} ({name}): {finding.message}"
                if finding.advice:
                    yield f"    {finding.advice}"
    if diagnosis.findings:
        yield ""
    counts = [
        (sum(1 for _, finding in diagnosis.findings if finding.severity is severity), severity.value)
        for severity in Severity
    ]
    told = ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts)
    yield f"{told}; nothing found by: {', '.join(diagnosis.passed) or 'none'}"
    for reason in dict.fromkeys(reason for _, reason in diagnosis.skipped):
        names = ", ".join(name for name, other in diagnosis.skipped if other == reason)
        yield f"not checked: {names} ({reason})"


def as_data(diagnosis: Diagnosis) -> Json:
    return {
        "findings": [
            {
                "check": name,
                "severity": found.severity.value,
                "message": found.message,
                "advice": found.advice,
            }
            for name, found in diagnosis.findings
        ],
        "passed": list(diagnosis.passed),
        "skipped": [{"check": name, "reason": reason} for name, reason in diagnosis.skipped],
    }


def checked_account(text: str, snapshot: Path | None) -> str:
    """Misuse: it is not NAMESPACE/NAME, or there is no cluster to ask."""
    if text and (text.count("/") != 1 or not all(text.split("/"))):
        raise Misuse(f"--account: {text!r} is not NAMESPACE/NAME")
    if text and snapshot is not None:
        raise Misuse("--account and --snapshot exclude each other: a snapshot knows no rights")
    return text
