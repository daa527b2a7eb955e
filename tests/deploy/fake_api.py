# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A part of the Kubernetes API, for a real kubectl: it serves pods, and obeys selectors.

It replaces a cluster, because no package of Debian contains an API server. It has no exec: tests
replace `kubectl exec` and `kubectl debug`.
"""
import http.server
import json
import threading
import urllib.parse
from contextlib import contextmanager

import yaml

DISCOVERY = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [
        {"name": "pods", "singularName": "pod", "namespaced": True, "kind": "Pod",
         "shortNames": ["po"], "verbs": ["get", "list"]}]},
}


def pod(name, namespace, node, containers=(), labels=None, phase="Running"):
    """`containers`: (name, ID, whether it runs)."""
    return {
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {}},
        "spec": {"nodeName": node} if node else {},
        "status": {"phase": phase, "containerStatuses": [
            {"name": one, "containerID": ident,
             "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}} if runs else
                      {"waiting": {"reason": "CrashLoopBackOff"}}}
            for one, ident, runs in containers]}}


def value_at(one, path):
    for part in path.split("."):
        one = one.get(part, {})
    return one or ""


def selected(pods, query):
    def fits(one):
        labels = urllib.parse.parse_qs(query).get("labelSelector", [""])[0]
        fields = urllib.parse.parse_qs(query).get("fieldSelector", [""])[0]
        wanted = [pair.split("=") for pair in labels.split(",") if pair]
        places = [pair.split("=") for pair in fields.split(",") if pair]
        return (all(one["metadata"]["labels"].get(name) == value for name, value in wanted) and
                all(value_at(one, name) == value for name, value in places))
    return [one for one in pods if fits(one)]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        parts = url.path.strip("/").split("/")
        answer, status = DISCOVERY.get(url.path), 200
        if parts[:3] == ["api", "v1", "namespaces"] and len(parts) == 4:
            answer = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": parts[3]}}
        if answer is None and parts[:3] == ["api", "v1", "namespaces"] and parts[4:5] == ["pods"]:
            there = [one for one in self.server.pods if one["metadata"]["namespace"] == parts[3]]
            if len(parts) == 5:
                answer = {"kind": "PodList", "apiVersion": "v1",
                          "items": selected(there, url.query)}
            else:
                answer = next((one for one in there if one["metadata"]["name"] == parts[5]), None)
        if answer is None:
            status = 404
            answer = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404,
                      "reason": "NotFound", "message": f'pods "{parts[-1]}" not found'}
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def serving(pods, place):
    """Serves pods while the block runs. Yields the path of a kubeconfig in the directory `place`."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.pods = pods
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        config = place / "kubeconfig"
        config.write_text(yaml.safe_dump({
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [],
            "clusters": [{"name": "k", "cluster": {
                "server": f"http://127.0.0.1:{server.server_port}"}}],
            "contexts": [{"name": name, "context": {"cluster": "k", "user": "", "namespace": "shop"}}
                         for name in ("c", "other")]}), encoding="utf-8")
        yield config
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
