"""A real control plane on loopback (etcd, kube-apiserver and others) for tests, conformance and benchmarks.

`assets` says which programs and where they lie, `building` makes them, `plane` runs them.
"""
