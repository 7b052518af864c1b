"""Prompts side by side: what is paid for is kept, and an end is one."""

import subprocess
import sys
import threading

import pytest

from pneuma_assets.core.models.language.parallel import in_parallel


def test_what_is_under_way_at_a_failure_is_yielded_before_it_is_raised():
    begun, failed = threading.Barrier(3), threading.Event()

    def work(prompt):
        if prompt < 3:
            begun.wait(timeout=60)
        if prompt == 1:
            failed.set()
            raise IndexError("of its own")
        failed.wait(timeout=60)
        return prompt

    given = []
    with pytest.raises(IndexError, match="of its own"):
        given.extend(in_parallel(work, range(50), 3))
    assert {at for at, _ in given} >= {0, 2}
    assert len(given) < 6, "no other is begun"


def test_a_process_ends_while_a_prompt_hangs():
    code = (
        "import threading\n"
        "from pneuma_assets.core.models.language.parallel import in_parallel\n"
        "def work(prompt):\n"
        "    if prompt: threading.Event().wait()\n"
        "for _ in in_parallel(work, [0, 1], 2): raise KeyboardInterrupt"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=False, timeout=60, capture_output=True)
    assert b"KeyboardInterrupt" in done.stderr
