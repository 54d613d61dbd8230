"""What answers kube-apiserver in place of the kubelets of simulated nodes.

`kubectl logs`, `exec`, `attach` and `port-forward` end here: each gets one sentence that says why.
"""

from aiohttp import web

from posse.apiserver.http.answers import failure
from posse.apiserver.http.certificates import Certificates
from posse.apiserver.http.not_served import needs_containers
from posse.apiserver.http.server import Listener, serve

# The subresource of pods that each path of a kubelet belongs to.
SUBRESOURCES = {"containerLogs": "log", "exec": "exec", "attach": "attach", "portForward": "portforward"}
# Of a refusal without a Status, kube-apiserver hands on the text alone if the code is this one.
TEXT_IS_HANDED_ON = 400


async def serve_kubelets(host: str, certificates: Certificates) -> Listener:
    """Answer for all kubelets on one free port."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", _refuse)
    return await serve(app, host, 0, certificates.server_context())


async def _refuse(request: web.Request) -> web.Response:
    asked = SUBRESOURCES.get(request.path.split("/")[1], "proxy")
    error = needs_containers("pods", asked)
    if asked == "log":
        return web.Response(status=TEXT_IS_HANDED_ON, text=str(error))
    return failure(error)
