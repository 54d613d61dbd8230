"""The Kubernetes REST verbs over the store, without HTTP.

Bodies may be in any served version of the kind; what comes back is in storage form and must not be edited.
The service takes over the bodies it is given. Every refusal is an ApiError. A call returns before its write
is durable: the caller that acknowledges it waits for `Committer.durable()` first.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from posse.apiserver.binding import bound, drawn_along
from posse.apiserver.deleting import check_preconditions, deletion_answer, departing, may_vanish
from posse.apiserver.eviction import budget_to_charge, charged, marked_evicted
from posse.apiserver.field_ownership import (
    OWNERS,
    Owners,
    application,
    compared,
    own_created,
    own_replaced,
    owners_of,
    set_owners,
    update_claim,
    without_owners,
)
from posse.apiserver.incoming import accept, check_place, check_scale, converted, in_version
from posse.apiserver.kind_store import KindStore, key_of, resource_of
from posse.apiserver.patches import apply_configuration, created_owners, patched, read_configuration
from posse.apiserver.requests import DeleteOptions, ListPage, Selection, WriteOptions
from posse.apiserver.selecting import listing, predicate
from posse.apiserver.server_metadata import carry_over, generated_name, stamp_created
from posse.apiserver.watching import Subscription
from posse.kinds.admission import AdmissionHook, admit_amounts, admit_create, admit_delete, admit_update
from posse.kinds.apply.owners import Claim, DifferencesIn
from posse.kinds.gating import drop_disabled_fields
from posse.kinds.machinery.conversion import to_version, version_of
from posse.kinds.machinery.errors import (
    ApiError,
    FieldError,
    already_exists,
    bad_request,
    conflict,
    expired,
    invalid,
)
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.machinery.patching import copy_json
from posse.kinds.machinery.scaling import rescaled, scale_of
from posse.kinds.machinery.validation import creation_errors, update_errors
from posse.kinds.registry import NAMESPACE, POD, POD_DISRUPTION_BUDGET
from posse.model.feature_gates import ALL_GATES, Gates
from posse.model.scale import Scale
from posse.model.timestamps import format_timestamp
from posse.store.change_log import Interest
from posse.store.errors import HistoryExpired
from posse.store.objects import Stored
from posse.store.store import Store
from posse.transport.patches import Patch

EVERYTHING = Selection()
PLAIN_DELETE = DeleteOptions()
NAME_ATTEMPTS = 8
NO_HOOKS: Mapping[Kind, AdmissionHook] = {}


class ObjectUpdate(NamedTuple):
    """What an object is to become, in storage form, and the version it was said in."""

    new: Json
    version: str
    subresource: str
    dry_run: bool
    claim: Claim | None = None
    owners: Owners | None = None
    """Known already for what was applied."""


class ApiService:
    def __init__(
        self,
        store: Store,
        clock: Callable[[], float],
        entropy: random.Random,
        gates: Gates = ALL_GATES,
        admission: Mapping[Kind, AdmissionHook] = NO_HOOKS,
    ) -> None:
        """`admission` completes or refuses new objects of a kind, as a webhook would."""
        self.store = store
        self.gates = gates
        self._objects = KindStore(store)
        self._clock = clock
        self._entropy = entropy
        self._admission = admission

    # Reading

    def get(self, kind: Kind, namespace: str, name: str) -> Json:
        return self._objects.existing(kind, namespace, name).obj

    def list(self, kind: Kind, namespace: str | None, selection: Selection = EVERYTHING) -> ListPage:
        return listing(self.store, kind, namespace, selection)

    def watch(
        self,
        kind: Kind,
        namespace: str | None,
        selection: Selection = EVERYTHING,
        resource_version: int | None = None,
        bookmarks: bool = False,
    ) -> Subscription:
        """None or 0: everything there is as ADDED first, closed by a BOOKMARK that says so if those are
        wanted.
        """
        interest = Interest(resource_of(kind), namespace, predicate(kind, selection))
        try:
            feed = self.store.watch(interest, resource_version or None)
        except HistoryExpired as error:
            raise expired(str(error)) from error
        return Subscription(kind, feed, marks_initial_end=bookmarks and not resource_version)

    # Writing

    def create(
        self,
        kind: Kind,
        namespace: str,
        body: Json,
        options: WriteOptions | None = None,
        *,
        owners: Owners | None = None,
    ) -> Json:
        """`owners` are the entries of managedFields if they are known already."""
        options = options or WriteOptions()
        obj, version = accept(kind, body, options), version_of(body)
        kind = kind.stored
        check_place(kind, obj, namespace)
        if obj["metadata"].get("resourceVersion"):
            raise bad_request("resourceVersion should not be set on objects to be created")
        stamp_created(kind, obj, self._clock(), self._entropy)
        self._generate_name(kind, obj)
        kind.rules.default_new(obj)
        kind.rules.default(obj)
        kind.rules.stamp(obj, None, format_timestamp(self._clock()))
        # Twice: admission must not judge what does not count, and what it fills in must not be kept.
        drop_disabled_fields(kind, obj, None, self.gates)
        admit_create(kind, obj, self._objects)
        if hook := self._admission.get(kind):
            hook(obj, self._objects)
        drop_disabled_fields(kind, obj, None, self.gates)
        kind.rules.prepare_create(obj)
        _refuse(kind, obj, creation_errors(kind, obj, version))
        admit_amounts(kind, obj, self._objects)
        if owners is None:
            own_created(kind, obj, version, options, self._clock())
        else:
            set_owners(obj, owners)
        if self.store.get(key_of(kind, obj)):
            raise already_exists(kind, obj["metadata"]["name"])
        self._objects.quotas.check(kind, obj)
        return obj if options.dry_run else self._objects.add(kind, obj).obj

    def would_create(self, kind: Kind, namespace: str, name: str) -> bool:
        """Whether an update creates the object, because there is none and the kind allows that."""
        return kind.rules.creates_on_update and self._objects.get(kind, namespace, name) is None

    def update(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        body: Json,
        *,
        subresource: str = "",
        options: WriteOptions | None = None,
    ) -> Json:
        options = options or WriteOptions()
        if not subresource and self.would_create(kind, namespace, name):
            metadata = body.get("metadata") or {}
            check_place(kind, {**body, "metadata": dict(metadata)}, namespace, name)
            return self.create(kind, namespace, body, options)
        old = self._objects.existing(kind, namespace, name)
        new = accept(kind, body, options, old.obj)
        check_place(kind, new, namespace, name)
        version = version_of(body)
        claim = update_claim(kind, version, options, subresource, self._clock())
        change = ObjectUpdate(new, version, subresource, options.dry_run, claim)
        return self._replace(kind.stored, old, change)

    def patch(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        patch: Patch,
        *,
        subresource: str = "",
        options: WriteOptions | None = None,
    ) -> Json:
        options = options or WriteOptions()
        old = self._objects.existing(kind, namespace, name)
        version = patch.version or kind.storage_version
        changed = patched(kind.struct_of(version), to_version(kind, old.obj, version), patch)
        new = accept(kind, in_version(kind, changed, version), options, old.obj)
        check_place(kind, new, namespace, name)
        claim = update_claim(kind, version, options, subresource, self._clock())
        change = ObjectUpdate(new, version, subresource, options.dry_run, claim)
        return self._replace(kind.stored, old, change)

    def apply(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        patch: Patch,
        *,
        subresource: str = "",
        options: WriteOptions,
    ) -> tuple[Json, bool]:
        """Return the object after a server-side apply, and whether it is new."""
        config = read_configuration(kind, name, patch, options)
        asked = application(kind, patch.version, config, options, subresource, self._clock())
        if self._objects.get(kind, namespace, name) is None and not subresource:
            owners = created_owners(asked)
            return self.create(kind, namespace, copy_json(config), options, owners=owners), True
        old = self._objects.existing(kind, namespace, name)
        live = to_version(kind, without_owners(old.obj), patch.version)

        def differences_to(new: Json) -> DifferencesIn:
            return compared(kind, old.obj, converted(kind, new, old.obj))

        result = apply_configuration(asked, live, owners_of(old.obj), differences_to)
        new = accept(kind, copy_json(result.obj), options, old.obj)
        check_place(kind, new, namespace, name)
        change = ObjectUpdate(new, patch.version, subresource, options.dry_run, owners=result.entries)
        return self._replace(kind.stored, old, change), False

    def get_scale(self, kind: Kind, namespace: str, name: str) -> Json:
        return scale_of(kind, self.get(kind, namespace, name))

    def update_scale(
        self, kind: Kind, namespace: str, name: str, scale: Json, options: WriteOptions | None = None
    ) -> Json:
        """Change how many parts the object has, and nothing else about it."""
        check_scale(scale, namespace, name)
        wanted = rescaled(self.get(kind, namespace, name), scale)
        return scale_of(kind, self.update(kind, namespace, name, copy_json(wanted), options=options))

    def patch_scale(
        self, kind: Kind, namespace: str, name: str, patch: Patch, options: WriteOptions | None = None
    ) -> Json:
        scale = patched(Scale, self.get_scale(kind, namespace, name), patch)
        return self.update_scale(kind, namespace, name, scale, options)

    def bind(self, namespace: str, pod_name: str, binding: Json) -> Json:
        """Return the bound pod."""
        old = self._objects.existing(POD, namespace, pod_name)
        return self._objects.replace(POD, bound(old.obj, binding, self._clock()), old).obj

    def bind_together(self, namespace: str, bindings: Sequence[Json]) -> Sequence[ApiError | None]:
        """Bind all of these pods or none. Answers are in the order of the bindings, None for success."""
        now = self._clock()
        answers: list[ApiError | None] = []
        changes: list[tuple[Json, Stored]] = []
        for binding in bindings:
            try:
                old = self._objects.existing(POD, namespace, binding["metadata"]["name"])
                changes.append((bound(old.obj, binding, now), old))
                answers.append(None)
            except ApiError as refusal:
                answers.append(refusal)
        if any(answers):
            return [
                refusal or drawn_along(b["metadata"]["name"])
                for refusal, b in zip(answers, bindings, strict=True)
            ]
        self._objects.replace_all(POD, changes)
        return answers

    def evict(self, namespace: str, name: str, options: DeleteOptions = PLAIN_DELETE) -> None:
        """Delete a pod if its disruption budget has room for that, and charge the budget."""
        old, now = self._objects.existing(POD, namespace, name), self._clock()
        check_preconditions(POD, old.obj, options.uid, options.resource_version)
        budget = budget_to_charge(old.obj, self._objects.list(POD_DISRUPTION_BUDGET, namespace))
        if options.dry_run:
            return
        if budget is not None:
            seen = self._objects.existing(POD_DISRUPTION_BUDGET, namespace, budget["metadata"]["name"])
            self._objects.replace(POD_DISRUPTION_BUDGET, charged(budget, name, now), seen)
        going = self._objects.replace(POD, marked_evicted(old.obj, now), old)
        self._delete(POD, going, replace(options, resource_version=""))

    def finalize_namespace(self, name: str, body: Json) -> Json:
        """Take over the finalizers in the spec, which only this subresource can change."""
        old = self._objects.existing(NAMESPACE, "", name)
        sent = accept(NAMESPACE, body, WriteOptions(field_validation="Ignore"))
        check_place(NAMESPACE, sent, "", name)
        _check_unmodified(NAMESPACE, sent, old)
        finalizers = sent.get("spec", {}).get("finalizers", [])
        new = {**old.obj, "spec": {**old.obj.get("spec", {}), "finalizers": finalizers}}
        carry_over(new, old.obj)
        return self._store_or_remove(NAMESPACE, old, new)

    # Deleting

    def delete(self, kind: Kind, namespace: str, name: str, options: DeleteOptions = PLAIN_DELETE) -> Json:
        """Return the object as it goes away or as it was, or a Status of success, as Kubernetes does."""
        return self._delete(kind.stored, self._objects.existing(kind, namespace, name), options)

    def delete_all(
        self, kind: Kind, found: Sequence[Stored], options: DeleteOptions = PLAIN_DELETE
    ) -> Sequence[ApiError]:
        """Delete these objects as they are by now, and return the refusals. One that may not go keeps no
        other.
        """
        refusals = []
        for seen in found:
            metadata = seen.obj["metadata"]
            present = self.store.get(key_of(kind, seen.obj))
            if present is None or present.obj["metadata"]["uid"] != metadata["uid"]:
                continue
            try:
                self._delete(kind.stored, present, options)
            except ApiError as refusal:
                refusals.append(refusal)
        return refusals

    def _delete(self, kind: Kind, old: Stored, options: DeleteOptions) -> Json:
        admit_delete(kind, old.obj["metadata"]["name"])
        check_preconditions(kind, old.obj, options.uid, options.resource_version)
        going = departing(kind, old.obj, options, self._clock())
        if going is None:
            gone = old if options.dry_run else self._objects.remove(kind, old)
            return deletion_answer(kind, gone.obj)
        if options.dry_run or going is old.obj:
            return going
        return self._objects.replace(kind, going, old).obj

    # The steps that writes share

    def _generate_name(self, kind: Kind, obj: Json) -> None:
        metadata = obj["metadata"]
        prefix = metadata.get("generateName", "")
        if metadata.get("name") or not prefix:
            return
        for _ in range(NAME_ATTEMPTS):
            metadata["name"] = generated_name(prefix, self._entropy)
            if self.store.get(key_of(kind, obj)) is None:
                return

    def _replace(self, kind: Kind, old: Stored, change: ObjectUpdate) -> Json:
        new, rules = change.new, kind.rules
        sent = new["metadata"].get(OWNERS)
        _check_unmodified(kind, new, old)
        rules.default(new)
        rules.stamp(new, old.obj, format_timestamp(self._clock()))
        drop_disabled_fields(kind, new, old.obj, self.gates)
        prepare = rules.prepare_status_update if change.subresource == "status" else rules.prepare_update
        prepare(new, old.obj)
        if not change.subresource:
            admit_update(kind, new, self._objects)
        carry_over(new, old.obj)
        _refuse(kind, new, update_errors(kind, new, old.obj, change.version))
        if change.owners is None:
            own_replaced(kind, new, old.obj, sent, change.claim)
        else:
            set_owners(new, change.owners)
        if not change.subresource:
            self._objects.quotas.check(kind, new, old.obj)
        if change.dry_run:
            return new
        return self._store_or_remove(kind, old, new)

    def _store_or_remove(self, kind: Kind, old: Stored, new: Json) -> Json:
        # Writing what is already there would wake every watcher for nothing.
        if new == old.obj:
            return old.obj
        if may_vanish(kind, new):
            self._objects.remove(kind, old)
            return new
        return self._objects.replace(kind, new, old).obj


def _check_unmodified(kind: Kind, new: Json, old: Stored) -> None:
    """Refuse a write that is based on another version of the object, or meant for a namesake."""
    metadata = new["metadata"]
    name = metadata["name"]
    check_preconditions(kind, old.obj, metadata.get("uid", ""), "")
    version = metadata.get("resourceVersion", "")
    if version in {"", "0"}:
        if not kind.rules.allow_unconditional_update:
            text = "must be specified for an update"
            raise invalid(kind, name, [FieldError.invalid("metadata.resourceVersion", 0, text)])
    elif version != old.obj["metadata"]["resourceVersion"]:
        raise conflict(kind, name)


def _refuse(kind: Kind, obj: Json, errors: list[FieldError]) -> None:
    if errors:
        raise invalid(kind, obj["metadata"].get("name", ""), errors)
