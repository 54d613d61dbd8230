import subprocess
import sys

import pytest

CODE = """
from pathlib import Path
from posse.runtime.process.memory_return import return_memory

def megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 // 2**20

return_memory()
before, kept = megabytes(), []
# Blocks that grow, so that the allocator could learn, with something small behind each that stays.
for size in (300_000, 200_000, 150_000):
    large = []
    for _ in range(300):
        large.append(bytearray(size))
        kept.append(bytearray(5_000))
    large.clear()
print(megabytes() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="about the allocator of glibc")
def test_large_blocks_that_are_freed_go_back_to_the_system():
    words = [sys.executable, "-c", CODE]
    grown = int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert grown < 20
