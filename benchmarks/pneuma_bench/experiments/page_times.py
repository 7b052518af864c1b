"""How long the page's server takes for first results, all results, suggestions and tables.

Serve a deployment (`pneuma-assets serve`), then run
`python -m pneuma_bench.experiments.page_times --url http://127.0.0.1:8765`. It prints milliseconds
as a client on the same machine waits: the server's time and what HTTP takes.
"""

import argparse
import re
import statistics
import time
from collections.abc import Sequence

import httpx

QUESTIONS = (
    "average salary by department", "rainfall in seattle", "population of countries",
    "who won the championship", "sea surface temperature", "train timetable",
    "hospital patients by disease", "football players and clubs", "airport codes",
    "wine production by region",
)  # fmt: skip
BEGINNINGS = ("po", "sal", "rain", "coun", "air", "sea", "pat", "tr", "foot", "win")
ROUNDS = 3


def main() -> None:
    """Ask everything a few times, and print the figures."""
    parser = argparse.ArgumentParser(description="Time the page.")
    parser.add_argument("--url", default="http://127.0.0.1:8765")
    with httpx.Client(base_url=parser.parse_args().url, timeout=60) as client:
        listed = re.findall(r'href="(/tables/[^"?]+)', client.get("/results").text)
        report(client, "first results (words)", "/results?words=1&q={}", QUESTIONS)
        report(client, "all results", "/results?q={}", QUESTIONS)
        report(client, "suggestions", "/suggestions?q={}", BEGINNINGS)
        report(client, "page of a table", "{}", listed[:10])


def report(client: httpx.Client, what: str, address: str, asked: Sequence[str]) -> None:
    """Print median, 95th percentile and worst of one kind of request, after one that warms up."""
    client.get(address.format(asked[0])).raise_for_status()
    times = []
    for one in list(asked) * ROUNDS:
        begun = time.perf_counter()
        client.get(address.format(one)).raise_for_status()
        times.append(1000 * (time.perf_counter() - begun))
    p95 = sorted(times)[int(0.95 * len(times))]
    print(f"{what}: {statistics.median(times):.0f} ms, p95 {p95:.0f}, worst {max(times):.0f}")


if __name__ == "__main__":
    main()
