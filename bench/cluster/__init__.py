"""The race: kube-scheduler and Posse with the same work, on the same API server and etcd."""
