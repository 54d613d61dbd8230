"""Traces: rows become gangs, and what cannot be read is refused with file, line and field."""

import pytest

from posse.simulation.trace_reading import Reading, TraceError, read_csv, read_swf

HEADER = "job,submit_s,duration_s,gpus,nodes,cpus,user,queue,state"
READING = Reading("jobs.csv")


def test_a_row_becomes_a_gang_of_equal_pods():
    (job,) = read_csv([HEADER, "a,10,60,16,4,,ann,q,pass"], READING)
    assert (job.name, job.submit, job.duration) == ("a", 10.0, 60.0)
    assert (job.pods, job.gpus_per_pod, job.user, job.queue) == (4, 4, "ann", "q")


@pytest.mark.parametrize(("gpus", "most", "pods"), [(1, 8, 1), (8, 8, 1), (16, 8, 2), (8, 4, 2), (64, 8, 8)])
def test_without_nodes_a_gang_has_as_few_pods_as_its_gpus_need(gpus, most, pods):
    (job,) = read_csv([HEADER, f"a,0,60,{gpus},,,,,"], Reading("jobs.csv", max_gpus_per_pod=most))
    assert (job.pods, job.gpus) == (pods, gpus)


def test_jobs_without_gpus_are_left_out_unless_they_are_asked_for():
    rows = [HEADER, "a,0,60,0,2,4,,,"]
    assert read_csv(rows, READING) == []
    (job,) = read_csv(rows, Reading("jobs.csv", with_cpu_jobs=True))
    assert (job.pods, job.cpu_milli_per_pod) == (2, 2000)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["job,submit_s,gpus"], "jobs.csv: line 1: the column duration_s is missing"),
        ([f"{HEADER},colour"], "jobs.csv: line 1: unknown column 'colour'"),
        ([HEADER, "a,-1,60,1,,,,,"], "jobs.csv: line 2: submit_s: '-1' is not a number of 0 or more"),
        ([HEADER, "a,0,0,1,,,,,"], "jobs.csv: line 2: duration_s: must be greater than 0"),
        ([HEADER, "a,0,nan,1,,,,,"], "jobs.csv: line 2: duration_s: 'nan' is not a number"),
        ([HEADER, "a,0,5,x,,,,,"], "jobs.csv: line 2: gpus: 'x' is not a whole number"),
        ([HEADER, "a,0,5,3,2,,,,"], "jobs.csv: line 2: gpus: 3 GPUs cannot be divided among 2 pods"),
        ([HEADER, "a,0,5,1,0,,,,"], "jobs.csv: line 2: nodes: must be at least 1"),
        ([HEADER, "a,9,5,1,,,,,", "b,8,5,1,,,,,"], "jobs.csv: line 3: submit_s: 8 is before the row above"),
        ([HEADER, "a,0,5,1,,,,,", "a,1,5,1,,,,,"], "jobs.csv: line 3: job: 'a' is there twice"),
        ([HEADER, "a,0,5"], "jobs.csv: line 2: job: the row has another number of fields"),
    ],
)
def test_what_cannot_be_read_is_named(rows, message):
    with pytest.raises(TraceError) as refused:
        read_csv(rows, READING)
    assert message in str(refused.value)


def test_swf_is_read_by_position():
    line = "7 100 5 3600 12 -1 -1 16 -1 -1 1 3 -1 -1 2 -1 -1 -1"
    never_ran = "8 200 5 -1 4 -1 -1 4 -1 -1 0 3 -1 -1 2 -1 -1 -1"
    (job,) = read_swf(["; a comment", line, never_ran], READING)
    assert (job.name, job.submit, job.duration) == ("job-7", 100.0, 3600.0)
    assert (job.pods, job.gpus, job.user, job.queue) == (2, 12, "3", "2")


def test_swf_with_missing_fields_is_refused():
    with pytest.raises(TraceError, match=r"jobs\.csv: line 1: fields: there are 3, SWF has 18"):
        read_swf(["1 2 3"], READING)
