"""How many racks does a week of gangs need, and would one more large gang still start?

Run it with `python examples/python/racks.py` from the folder of the project.
"""

from posse import Cluster, plan, simulate
from posse.library import ClusterChanges

GANG = """
apiVersion: batch/v1
kind: Job
metadata: {name: pretraining}
spec:
  parallelism: 24
  completions: 24
  completionMode: Indexed
  scheduling: {schedulingPolicy: {gang: {}}}
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: worker
          image: training
          resources: {limits: {nvidia.com/gpu: 8}}
"""


def main() -> None:
    for racks in (1, 2, 3):
        cluster = Cluster.of_equal_nodes(racks * 8, gpus=8, topology="rack=8")
        result = simulate("examples/traces/day.csv", cluster, policies=["fifo", "greedy"])
        fifo, greedy = (run.figures for run in result.runs)
        print(f"{racks} racks: mean wait {fifo.mean_wait:.0f} s (fifo), {greedy.mean_wait:.0f} s (greedy)")

    cluster = Cluster.of_equal_nodes(16, gpus=8, topology="rack=8")
    answer = plan(cluster, GANG)
    print(f"24 workers on 16 nodes: {answer.outcome}; {answer.submitted[0].why}")
    answer = plan(cluster, GANG, changes=ClusterChanges(add_nodes=("8=node-0001",)))
    print(f"with 8 more nodes: {answer.outcome} on {len(answer.submitted[0].nodes)} nodes")


if __name__ == "__main__":
    main()
