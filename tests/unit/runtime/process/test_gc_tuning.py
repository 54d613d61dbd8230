import subprocess
import sys

CODE = """
from posse.runtime.process.gc_tuning import leave_memory_to_the_system

class Circle:
    def __init__(self):
        self.itself = self

    def __del__(self):
        print("taken apart")

Circle()
{last}
"""


def said(last):
    words = [sys.executable, "-c", CODE.format(last=last)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_what_is_left_at_the_end_is_not_taken_apart():
    assert said("leave_memory_to_the_system()") == ""
    assert said("") == "taken apart\n"
