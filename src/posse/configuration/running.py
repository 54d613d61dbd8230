"""Leader election and client limits: the parts of a configuration for a real API server."""

from collections.abc import Iterator
from dataclasses import dataclass

from posse.configuration.problems import ConfigurationProblem
from posse.configuration.shapes import ClientConnection, LeaderElection
from posse.model.durations import parse_duration

_LEASES = "leases"
_JITTER = 1.2


@dataclass(frozen=True, slots=True)
class LeaseTerms:
    """The lease for leader election and its timing, in seconds."""

    name: str = "posse"
    namespace: str = "kube-system"
    duration: float = 15.0
    """Another instance may take the lease when it has not changed for this long."""
    renew_deadline: float = 10.0
    """The holder stops when it could not renew for this long."""
    retry_period: float = 2.0


@dataclass(frozen=True, slots=True)
class Running:
    """None where the configuration does not say."""

    leader_elect: bool | None = None
    terms: LeaseTerms = LeaseTerms()
    kubeconfig: str = ""
    requests_per_second: float = 0.0
    burst: int = 0


def read_running(
    election: LeaderElection | None, connection: ClientConnection | None, problems: list[ConfigurationProblem]
) -> Running:
    election, connection = election or LeaderElection(), connection or ClientConnection()
    terms = _terms(election, problems)
    problems += _connection_problems(connection)
    return Running(election.leader_elect, terms, connection.kubeconfig, connection.qps, connection.burst)


def _terms(election: LeaderElection, problems: list[ConfigurationProblem]) -> LeaseTerms:
    usual = LeaseTerms()
    terms = LeaseTerms(
        election.resource_name or usual.name,
        election.resource_namespace or usual.namespace,
        _duration("leaseDuration", election.lease_duration, usual.duration, problems),
        _duration("renewDeadline", election.renew_deadline, usual.renew_deadline, problems),
        _duration("retryPeriod", election.retry_period, usual.retry_period, problems),
    )
    problems += _terms_problems(terms)
    if election.resource_lock not in {"", _LEASES}:
        problems.append(ConfigurationProblem("leaderElection.resourceLock", f"must be {_LEASES}"))
    return terms


def _duration(name: str, text: str, usual: float, problems: list[ConfigurationProblem]) -> float:
    if not text:
        return usual
    seconds = parse_duration(text)
    if seconds is None:
        problems.append(
            ConfigurationProblem(f"leaderElection.{name}", f"{text!r} is not a duration such as 15s")
        )
        return usual
    return seconds


def _terms_problems(terms: LeaseTerms) -> Iterator[ConfigurationProblem]:
    if terms.duration < 1.0:
        yield ConfigurationProblem("leaderElection.leaseDuration", "must be at least 1s")
    if terms.duration <= terms.renew_deadline:
        yield ConfigurationProblem("leaderElection.leaseDuration", "must be greater than renewDeadline")
    if terms.renew_deadline <= terms.retry_period * _JITTER:
        yield ConfigurationProblem(
            "leaderElection.renewDeadline", f"must be greater than {_JITTER} times retryPeriod"
        )
    if terms.retry_period <= 0.0:
        yield ConfigurationProblem("leaderElection.retryPeriod", "must be greater than 0")


def _connection_problems(connection: ClientConnection) -> Iterator[ConfigurationProblem]:
    if connection.qps < 0:
        yield ConfigurationProblem("clientConnection.qps", f"must not be negative, not {connection.qps}")
    if connection.burst < 0:
        yield ConfigurationProblem("clientConnection.burst", f"must not be negative, not {connection.burst}")
