"""What the embedded server does not serve, said in one sentence that names the way out."""

from posse.kinds.machinery.errors import NOT_FOUND, ApiError

WAY_OUT = "`posse up --control-plane kubernetes` runs a real API server"
NOTHING_RUNS = "pods of simulated nodes run in name only"
# Subresources that need a container: what each would be asked for.
OF_CONTAINERS = {
    "log": "there are no logs",
    "exec": "there are no processes to run commands in",
    "attach": "there are no processes to attach to",
    "portforward": "there are no ports to forward",
    "proxy": "there is nothing to connect to",
    "ephemeralcontainers": "there are no containers to debug",
}
REAL_NODES = "use a cluster with real nodes for this"
NOT_IMPLEMENTED = 501


def not_served(path: str) -> ApiError:
    """Return the refusal for a path below which nothing is served."""
    segments = path.strip("/").split("/")
    if len(segments) > 3 and segments[-2:-1] != ["namespaces"]:
        for place, segment in enumerate(segments):
            is_below_object = place >= 4 and segments[place - 2] in ("pods", "nodes", "services")
            if is_below_object and segment in OF_CONTAINERS:
                return needs_containers(segments[place - 2], segment)
    if segments[0] in ("api", "apis"):
        text = (
            f"the server could not find the requested resource: `posse up` does not serve {path}; {WAY_OUT}"
        )
        return ApiError(NOT_FOUND, "NotFound", text, {})
    return ApiError(NOT_FOUND, "NotFound", "the server could not find the requested resource", {})


def needs_containers(resource: str, subresource: str) -> ApiError:
    """Return the refusal for a subresource that only a kubelet can serve."""
    lack = OF_CONTAINERS[subresource]
    text = f"{resource}/{subresource} is not served: {NOTHING_RUNS}, so {lack}; {REAL_NODES}"
    return ApiError(NOT_IMPLEMENTED, "NotImplemented", text)
