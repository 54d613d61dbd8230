"""One run of the simulation of devices: a pure function of its seed. First everything goes wrong, then everything settles.

Pods and gangs with claims come, end and go; schedulers crash between any two writes, and answers get lost.
"""

import random
from collections import Counter, deque

from posse.engine.decisions import AllocateClaims, Bind, ReleaseClaim
from posse.engine.engine import Engine
from posse.engine.options import EngineOptions
from posse.engine.state.invariants import ensure
from posse.kinds.registry import (
    DEVICE_CLASS,
    NODE,
    POD,
    POD_GROUP,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_SLICE,
)
from posse.writes.round_writes import writes_of
from tests.simulation.device_world import ENDED, NAME, ClaimControllers, DeviceServer, DeviceWorld
from tests.simulation.faults import NO_FAULTS, draw_faults
from tests.simulation.run import SimulationFailed
from tests.simulation.scheduler_process import SchedulerProcess

DRIVER = "gpu.example.com"
_TAIL = 60
_SETTLING_SECONDS = 400.0
_MOST_ROUNDS = 400


class DeviceScheduler(SchedulerProcess):
    """Judged by what it writes, not by what it decides."""

    def absorb(self, event):
        self.is_stirred = True
        self.engine.absorb(event)

    def decide(self):
        due = [event for at, event in self._lost if at <= self._world.now]
        self._lost = [(at, event) for at, event in self._lost if at > self._world.now]
        for event in due:
            self.absorb(event)
        self.is_stirred = False
        decisions = self.engine.decide(self._world.now)
        if decisions:
            self._rounds.append((writes_of(decisions), None))
        return decisions


class DeviceRun:
    def __init__(self, seed, tell=None):
        self.seed = seed
        self.counts = Counter()
        self._random = random.Random(seed)
        self._tell = tell
        self._story = deque(maxlen=_TAIL)
        self._world = DeviceWorld(seed)
        self._server = DeviceServer(self._world, self._random)
        self._controllers = ClaimControllers(self._world, self._random)
        self._made = 0
        self._faults = draw_faults(self._random, binds_whole=False)
        self._steps = {
            self._arrive: 3.0,
            self._end_pod: 1.5,
            self._delete_pod: 1.0,
            self._delete_group: 0.3,
            self._run_pods: 3.0,
            self._control: 8.0,
            self._deliver: self._faults.deliveries,
            self._decide: 8.0,
            self._carry: self._faults.carrying,
            self._crash: self._faults.crashes,
        }

    def execute(self):
        try:
            self._disturb()
            self._settle()
        except Exception as error:
            tail = "\n".join(self._story)
            raise SimulationFailed(f"seed {self.seed}: {type(error).__name__}: {error}\n{tail}") from error
        return self.counts

    # --- everything goes wrong ---------------------------------------------------------------------------

    def _disturb(self):
        self._server.faults = self._faults
        self._begin()
        self._start()
        steps, weights = list(self._steps), list(self._steps.values())
        for action in self._random.choices(steps, weights, k=self._random.randint(80, 200)):
            self._world.now += self._random.choice((0.0, 0.0, 0.1, 1.0, 3.0))
            action()
            devices_are_given_once(self._world)
            pods_have_their_devices(self._world)

    def _begin(self):
        selector = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
        self._world.create(DEVICE_CLASS, "gpu", spec={"selectors": [selector]})
        spec = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
        self._world.create(RESOURCE_CLAIM_TEMPLATE, "one", spec={"spec": spec})
        for number in range(self._random.randint(2, 4)):
            name = f"n{number}"
            allocatable = {"cpu": "100", "memory": "100Gi", "pods": "100"}
            self._world.create(NODE, name, status={"allocatable": allocatable, "capacity": allocatable})
            devices = [{"name": f"d{index}"} for index in range(self._random.randint(1, 3))]
            pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
            slice_spec = {"driver": DRIVER, "pool": pool, "nodeName": name, "devices": devices}
            self._world.create(RESOURCE_SLICE, name, spec=slice_spec)

    def _start(self):
        self._process = DeviceScheduler(self._world, Engine(EngineOptions()), self._server)

    def _note(self, what):
        line = f"{self._world.now:8.2f}  {what}"
        self._story.append(line)
        if self._tell is not None:
            self._tell(line)

    def _arrive(self):
        """A pod, pods that share a claim, or a gang; with a claim each, or one of the group."""
        if len(self._world.pods()) > 12:
            return
        self._made += 1
        name, size = f"x{self._made}", self._random.randint(1, 3)
        form = self._random.choice(("alone", "shared", "gang", "gang", "group claim"))
        entry = {"name": "gpu", "resourceClaimTemplateName": "one"}
        members = {}
        if form == "shared":
            template = self._world.service.get(RESOURCE_CLAIM_TEMPLATE, NAME, "one")
            self._world.create(RESOURCE_CLAIM, name, spec=template["spec"]["spec"])
            entry = {"name": "gpu", "resourceClaimName": name}
        if form in ("gang", "group claim"):
            claims = {"resourceClaims": [entry]} if form == "group claim" else {}
            policy = {"schedulingPolicy": {"gang": {"minCount": size}}}
            self._world.create(POD_GROUP, name, spec=policy | claims)
            members = {"schedulingGroup": {"podGroupName": name}}
        for number in range(1 if form == "alone" else size):
            container = {"name": "c", "image": "i"}
            spec = {"containers": [container], "resourceClaims": [entry], "restartPolicy": "Never", **members}
            self._world.create(POD, f"{name}-{number}", spec=spec)
        self._note(f"{form} {name} of {size} comes")

    def _end_pod(self):
        running = [pod for pod in self._world.pods().values() if pod["status"]["phase"] == "Running"]
        if running:
            pod = self._random.choice(running)
            self._world.set_phase(pod, self._random.choice(("Succeeded", "Failed")))
            self._note(f"{pod['metadata']['name']} has ended")

    def _delete_pod(self):
        if pods := self._world.pods():
            name = self._random.choice(list(pods))
            self._world.delete(POD, name)
            self._note(f"{name} is deleted")

    def _delete_group(self):
        groups = [group["metadata"]["name"] for group in self._world.items(POD_GROUP)]
        if groups:
            self._remove_group(self._random.choice(groups))

    def _remove_group(self, name):
        for pod in self._world.pods():
            if pod.startswith(f"{name}-"):
                self._world.delete(POD, pod)
        self._world.delete(POD_GROUP, name)
        group = next((one for one in self._world.items(POD_GROUP) if one["metadata"]["name"] == name), None)
        if group is not None:
            without = {**group, "metadata": {k: v for k, v in group["metadata"].items() if k != "finalizers"}}
            self._world.do(lambda: self._world.service.update(POD_GROUP, NAME, name, without))
        self._note(f"group {name} is deleted with its pods")

    def _run_pods(self):
        for pod in self._world.pods().values():
            if pod["spec"].get("nodeName") and pod["status"]["phase"] == "Pending":
                self._world.set_phase(pod, "Running")

    def _control(self):
        self._controllers.step()

    def _deliver(self):
        if lagging := self._process.lagging():
            watch = self._random.choice(lagging)
            for _ in range(min(watch.lag, self._random.choice((1, 2, 5, 50)))):
                change = watch.advance()
                what = f"{type(change.obj).__name__} {change.obj.metadata.name}"
                self._note(
                    f"  sees {what} {'gone' if change.is_gone else change.obj.metadata.resource_version}"
                )

    def _decide(self):
        if self._process.is_starting:
            self._process.list_next()
        elif self._process.may_decide:
            for decision in self._process.decide():
                self.counts[type(decision).__name__] += 1
                if isinstance(decision, Bind | AllocateClaims | ReleaseClaim):
                    self._note(f"  decides {_told(decision)}")

    def _carry(self):
        if self._process.is_carrying:
            self._note(f"  {str(self._process.carry_on())[:220]}")

    def _crash(self):
        self.counts["crashes"] += 1
        self._note("the scheduler crashes and starts anew")
        self._start()

    # --- everything settles ------------------------------------------------------------------------------

    def _settle(self):
        self._note("faults are over")
        self._server.faults = NO_FAULTS
        end = self._world.now + _SETTLING_SECONDS
        for _ in range(_MOST_ROUNDS):
            if not self._round():
                wakeup = self._process.next_wakeup()
                if wakeup is None or wakeup > end:
                    break
                self._world.now = max(self._world.now, wakeup)
            devices_are_given_once(self._world)
            pods_have_their_devices(self._world)
        else:
            ensure(holds=False, law="a cluster without faults settles")
        nothing_is_held_for_nobody(self._world)
        who_fits_has_started(self._world)

    def _round(self):
        while self._process.is_starting:
            self._decide()
        self._run_pods()
        has_controlled = self._controllers.finish()
        for watch in self._process.lagging():
            while watch.lag:
                watch.advance()
        self._decide()
        while self._process.is_carrying:
            self._carry()
        is_busy = self._process.engine.has_work or self._process.is_stirred or self._process.lagging()
        return bool(is_busy or has_controlled)


def _told(decision):
    if isinstance(decision, ReleaseClaim):
        return (
            f"to release {decision.claim} at {decision.version} from {[c.name for c in decision.consumers]}"
        )
    places = ", ".join(f"{one.pod.name} to {one.node}" for one in decision.placements)
    claims = ", ".join(str(one.claim) for one in decision.claims)
    return f"{type(decision).__name__} {places} with {claims}"


def results_of(claim):
    allocation = (claim.get("status") or {}).get("allocation") or {}
    return [(one["pool"], one["device"]) for one in (allocation.get("devices") or {}).get("results") or ()]


def consumers_of(claim):
    return (claim.get("status") or {}).get("reservedFor") or ()


def devices_are_given_once(world):
    holders = {}
    for claim in world.items(RESOURCE_CLAIM):
        for device in results_of(claim):
            name = claim["metadata"]["name"]
            ensure(
                device not in holders,
                "no device is given twice",
                device=device,
                to=(holders.get(device), name),
            )
            holders[device] = name


def claims_by_pod(world):
    """Pods on nodes that have not ended, with their claims."""
    claims = {claim["metadata"]["name"]: claim for claim in world.items(RESOURCE_CLAIM)}
    for name, pod in world.pods().items():
        if pod["spec"].get("nodeName") and pod["status"]["phase"] not in ENDED:
            made = {
                one["name"]: one["resourceClaimName"]
                for one in pod["status"].get("resourceClaimStatuses", ())
            }
            for entry in pod["spec"].get("resourceClaims", ()):
                claim = entry.get("resourceClaimName") or made.get(entry["name"], "")
                yield name, pod, claims.get(claim)


def pods_have_their_devices(world):
    for name, pod, claim in claims_by_pod(world):
        ensure(claim is not None and results_of(claim), "no pod is bound without its devices", pod=name)
        group = (pod["spec"].get("schedulingGroup") or {}).get("podGroupName")
        reserved = any(
            one["uid"] == pod["metadata"]["uid"] or one["name"] == group for one in consumers_of(claim)
        )
        ensure(reserved, "no pod is bound without a reservation", pod=name, claim=claim["metadata"]["name"])
        pool = results_of(claim)[0][0]
        ensure(pool == pod["spec"]["nodeName"], "pods are where their devices are", pod=name, pool=pool)


def nothing_is_held_for_nobody(world):
    """Whatever is allocated is used by a pod on a node, or was by a group that still exists."""
    bound = {pod["metadata"]["uid"] for pod in world.pods().values() if pod["spec"].get("nodeName")}
    started = {
        (pod["spec"].get("schedulingGroup") or {}).get("podGroupName")
        for pod in world.pods().values()
        if pod["spec"].get("nodeName")
    }
    for claim in world.items(RESOURCE_CLAIM):
        if results_of(claim):
            consumers = consumers_of(claim)
            used = any(one["uid"] in bound or one["resource"] == "podgroups" for one in consumers)
            name = claim["metadata"]["name"]
            ensure(
                used, "no device stays allocated to nobody", claim=name, to=[one["name"] for one in consumers]
            )
            idle = [
                one["name"]
                for one in consumers
                if one["resource"] == "pods" and one["uid"] not in bound and one["name"] not in started
            ]
            ensure(not idle, "no claim is reserved for a pod that did not start", claim=name, idle=idle)


def who_fits_has_started(world):
    """A pod by itself waits only if no device is free."""
    taken = {device for claim in world.items(RESOURCE_CLAIM) for device in results_of(claim)}
    every = {
        (one["spec"]["pool"]["name"], device["name"])
        for one in world.items(RESOURCE_SLICE)
        for device in one["spec"]["devices"]
    }
    free = every - taken
    waiting = [
        name
        for name, pod in world.pods().items()
        if not pod["spec"].get("nodeName") and not pod["spec"].get("schedulingGroup")
    ]
    ensure(not (free and waiting), "who fits has started", free=sorted(free), waiting=waiting)
