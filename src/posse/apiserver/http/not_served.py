"""What the embedded server does not serve, said in one sentence that names the way out."""

from posse.kinds.machinery.errors import NOT_FOUND, ApiError

WAY_OUT = "`posse up --control-plane kubernetes` runs a real API server"
NOTHING_RUNS = "pods of simulated nodes run in name only"
# Subresources that need a container: what each would be asked for.
OF_CONTAINERS = {
    "log": "no logs",
    "exec": "no processes to run commands in",
    "attach": "no processes to attach to",
    "portforward": "no ports to forward",
    "proxy": "nothing to connect to",
    "ephemeralcontainers": "no containers to debug",
}
NOT_IMPLEMENTED = 501


def not_served(path: str) -> ApiError:
    """Return the refusal for a path below which nothing is served."""
    segments = path.strip("/").split("/")
    if len(segments) > 3 and segments[-2:-1] != ["namespaces"]:
        for place, segment in enumerate(segments):
            is_below_object = place >= 4 and segments[place - 2] in ("pods", "nodes", "services")
            if is_below_object and (lack := OF_CONTAINERS.get(segment)):
                text = f"{segments[place - 2]}/{segment} is not served: {NOTHING_RUNS}, so there are {lack}"
                return ApiError(NOT_IMPLEMENTED, "NotImplemented", text.replace("are nothing", "is nothing"))
    if segments[0] in ("api", "apis"):
        text = (
            f"the server could not find the requested resource: `posse up` does not serve {path}; {WAY_OUT}"
        )
        return ApiError(NOT_FOUND, "NotFound", text, {})
    return ApiError(NOT_FOUND, "NotFound", "the server could not find the requested resource", {})
