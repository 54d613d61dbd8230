import subprocess
import sys

import pytest

CODE = """
from pathlib import Path
from posse.runtime.process.memory_return import LARGE_SERVER_BYTES, keep_memory, return_memory

def megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 // 2**20

return_memory()
{then}
before, kept = megabytes(), []
# Blocks that grow, so that the allocator could learn, with something small behind each that stays.
for size in (300_000, 200_000, 150_000):
    large = []
    for _ in range(300):
        large.append(bytearray(size))
        kept.append(bytearray(5_000))
    large.clear()
{finally}
print(megabytes() - before)
"""


def grown_megabytes(then, finally_=""):
    words = [sys.executable, "-c", CODE.replace("{then}", then).replace("{finally}", finally_)]
    return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="about the allocator of glibc")
@pytest.mark.parametrize("then", ["", "keep_memory(); return_memory()"])
def test_large_blocks_that_are_freed_go_back_to_the_system(then):
    assert grown_megabytes(then) < 20


@pytest.mark.skipif(sys.platform != "linux", reason="about the allocator of glibc")
def test_they_are_kept_while_they_are_needed_again_soon():
    assert grown_megabytes("keep_memory()") > 40


@pytest.mark.skipif(sys.platform != "linux", reason="about the allocator of glibc")
def test_in_a_server_they_go_back_with_the_next_call():
    serves = "return_memory(LARGE_SERVER_BYTES)"
    assert grown_megabytes(serves) > 40
    assert grown_megabytes(serves, serves) < 20
