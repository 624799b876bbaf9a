"""`make faults`: every fault at length, its line written into docs/reliability.md; `--only WORDS`, `--times N`."""

import argparse
import asyncio
import sys
import traceback

from tests.faults import campaign, catalog, report
from tests.faults.campaign import Fault
from tests.faults.places import CannotHappenHereError


def main() -> int:
    """Run the faults one after the other; return 1 if one of them did harm."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--only", default="", help="run faults whose name contains this")
    parser.add_argument("--times", type=int, help="let each happen so often")
    options = parser.parse_args()
    results = [_run(fault, options.times) for fault in catalog.FAULTS if options.only in fault.name]
    return 0 if all(results) else 1


def _run(fault: Fault, times: int | None) -> bool:
    """Run a fault, write its line, and say whether it did no harm."""
    try:
        outcome = asyncio.run(campaign.run(fault, times or fault.times))
    except CannotHappenHereError as reason:
        sys.stdout.write(f"{fault.name}: skipped, {reason}\n")
        return True
    except Exception:  # noqa: BLE001 - the other faults still happen
        sys.stdout.write(f"{fault.name}: {traceback.format_exc()}\n")
        return False
    sys.stdout.write(f"{fault.name}: {'clean' if outcome.is_clean else outcome}\n")
    sys.stdout.flush()
    report.write([outcome], [each.name for each in catalog.FAULTS])
    return outcome.is_clean


if __name__ == "__main__":
    sys.exit(main())
