"""The yardstick: decode every line of a capture with orjson and forget it. `bare_loads.py CAPTURE`.

One thing a newcomer would get wrong: nothing else may be loaded. Where a few thousand more objects
are alive, the garbage collector walks them again and again, and the loop takes up to 1.7 times as
long, which would flatter every ratio.
"""

import json
import sys
import time
from pathlib import Path


def main(name: str) -> None:
    """Print the seconds and the lines of one capture."""
    import orjson

    began = time.perf_counter()
    with Path(name).open("rb") as capture:
        lines = sum(1 for line in capture if orjson.loads(line))
    seconds = time.perf_counter() - began
    sys.stdout.write(json.dumps({"seconds": seconds, "said": lines}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
