#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What Python costs beside C: CPU time of one thread, in one run, the best round of each.

    PYTHONPATH=build/release/python bench/python/bench.py [CAPTURE] [ROUNDS] [BIN]

CAPTURE is a dense one, such as a snapshot of ETMv4; without it one of the repository's is taken,
which is short. Nothing here asserts a time.
"""

import pathlib
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def best(rounds, work):
    """The CPU time of the best of some rounds, in seconds, and what the work returned."""
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        result = work()
        times.append(time.process_time() - begin)
    return min(times), result


def of_command(rounds, *words):
    """The CPU time of the best of some runs of the command."""
    import resource

    times = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def import_time(rounds):
    """How long `import pugmark` takes beyond the start of Python, in milliseconds."""
    def run(code):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", code])
        return time.perf_counter() - begin
    return 1e3 * (min(run("import pugmark") for _ in range(rounds)) -
                  min(run("pass") for _ in range(rounds)))


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else SOURCE / "tests/captures/etmv4-a64-cycles"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    tools = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else SOURCE / "build/release/bin")
    print(f"import pugmark: {import_time(max(rounds, 5)):.1f} ms")
    import pugmark

    yardstick, count = subprocess.run([tools / "elements_bench", str(path), str(rounds)],
                                      capture_output=True, text=True, check=True).stdout.split()
    elements = int(count)
    print(f"{path}: {elements} elements; C, a consumer that counts: {yardstick} ns an element")
    with pugmark.open(path) as capture:
        def batches():
            for _ in capture.batches(threads=1):
                pass

        def arrays():
            return sum(int(((a := batch.numpy())["type"] == pugmark.RANGE).sum())
                       for batch in capture.batches(threads=1))

        def objects():
            for batch in capture.batches(threads=1):
                for _ in batch:
                    pass

        def attributes():
            for batch in capture.batches(threads=1):
                for element in batch:
                    element.start

        for name, work in (("batches, an empty loop", batches), ("a filter of arrays", arrays),
                           ("one object an element", objects),
                           ("and one attribute of it", attributes)):
            seconds, _ = best(rounds, work)
            print(f"  {name}: {seconds * 1e9 / elements:.2f} ns an element, "
                  f"{elements / seconds / 1e6:.1f} million a second")
        seconds, profile = best(rounds, lambda: capture.profile(threads=1))
        table = [tools / "pugmark", "profile", "--jobs", "1", "--quiet", "--no-sandbox", path]
        start = of_command(rounds, tools / "pugmark", "--version")
        print(f"  profile(): {seconds * 1e3:.1f} ms; the command, less its start: "
              f"{1e3 * (of_command(rounds, *table) - start):.1f} ms")


main()
