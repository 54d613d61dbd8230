"""What stands in for the kubelets of simulated nodes refuses everything, in words that kubectl shows."""

import asyncio
import ssl
import time

import aiohttp
import pytest

from posse.apiserver.http.certificates import ensure_certificates
from posse.runtime.kubernetes.kubelet_endpoint import serve_kubelets


async def answer_to(folder, path):
    certificates = ensure_certificates(folder, time.time())
    trusted = ssl.create_default_context(cadata=certificates.authority_pem.decode())
    listener = await serve_kubelets("127.0.0.1", certificates)
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.post(listener.url + path, ssl=trusted) as answer,
        ):
            return answer.status, answer.content_type, await answer.text()
    finally:
        await listener.close()


def asked(folder, path):
    return asyncio.run(answer_to(folder, path))


def test_logs_are_refused_with_a_text_because_the_api_server_hands_only_that_on(tmp_path):
    status, content_type, text = asked(tmp_path, "/containerLogs/default/web/web?follow=true")
    assert (status, content_type) == (400, "text/plain")
    assert text == (
        "pods/log is not served: pods of simulated nodes run in name only, so there are no logs; "
        "use a cluster with real nodes for this"
    )


@pytest.mark.parametrize(
    ("path", "subresource"),
    [
        ("/exec/default/web/web", "exec"),
        ("/attach/default/web/web", "attach"),
        ("/portForward/default/web", "portforward"),
        ("/metrics", "proxy"),
        ("/", "proxy"),
    ],
)
def test_streams_are_refused_with_a_status_that_clients_read(tmp_path, path, subresource):
    status, content_type, text = asked(tmp_path, path)
    assert (status, content_type) == (501, "application/json")
    assert f"pods/{subresource} is not served" in text
    assert '"kind":"Status"' in text
