"""What one user agent costs: ordinary ones, and ones made to be slow; `python -m benchmarks.user_agents`."""

import random
from time import perf_counter

from tracking_api.calls import bots

BUDGET_MILLISECONDS = 0.3
LONGEST = 512
ROUNDS, REPEATS = 25, 2


def hostile(number: int) -> str:
    """Return the beginnings of many bots' names and none of their ends: the matcher follows each as far as it can."""
    chosen = random.Random(number)
    words = (chosen.choice(bots.PATTERNS)[:-1] for _ in range(LONGEST))
    return "".join(words)[:LONGEST]


def milliseconds(user_agent: str) -> float:
    """Return the cost of a verdict that is not remembered: the best of some rounds, on a machine with other work."""
    verdict = bots.is_bot.__wrapped__

    def once() -> float:
        started = perf_counter()
        for _ in range(REPEATS):
            verdict(user_agent)
        return (perf_counter() - started) / REPEATS * 1_000

    return min(once() for _ in range(ROUNDS))


def main() -> None:
    repeated = [word * (LONGEST // len(word)) for word in ("x", "bot", "Google", "Current", "Spider", "ContextualBot")]
    kinds = {
        "ordinary": ["Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"],
        "one word, repeated": repeated,
        "beginnings of bots' names": [hostile(number) for number in range(100)],
    }
    for kind, user_agents in kinds.items():
        worst = max(milliseconds(each) for each in user_agents if not bots.is_bot(each))
        print(f"{kind}: at most {worst:.3f} ms; budget {BUDGET_MILLISECONDS} ms")


if __name__ == "__main__":
    main()
