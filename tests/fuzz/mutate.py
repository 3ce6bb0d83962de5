"""Byte mutation of every recorded or written capture, evenly over the formats: `make fuzz`.

Each mutant is read, assembled and shown in this process. What is no InputError is a find: its bytes
are written to `build/fuzz/`, to become a test. A mutant that takes over ten seconds is one too.
"""

from __future__ import annotations

import io
import random
import resource
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.support.truth import spans_of
from tests.unit.formats_more.samples import FORMATS, samples
from trajscope.conventions import Reader
from trajscope.errors import InputError
from trajscope.formats import FileSource, choose_format
from trajscope.pipeline.load import InputOptions, load
from trajscope.report.show import trace_json
from trajscope.store.columns import batches

ROOT = Path(__file__).parents[2]
FOUND = ROOT / "build" / "fuzz"
SLOW_S = 10.0
TOKENS = [b"{", b"}", b"[", b"]", b'"', b"null", b"-1", b"1e999", b"NaN", b"\x00", b"\xff\xfe"]
TOKENS += [b'"' + b"A" * 300 + b'"', b"[" * 3000, b"9" * 40, b"\\ud800", b"true", b'{"a":' * 1000]


def mutated(data: bytes, random_: random.Random) -> bytes:
    """Return `data` with one to eight edits: bytes flipped, cut, doubled, tokens put in."""
    out = bytearray(data)
    for _ in range(random_.randint(1, 8)):
        at = random_.randrange(len(out) + 1)
        kind = random_.randrange(6)
        if kind == 0 and at < len(out):
            out[at] ^= 1 << random_.randrange(8)
        elif kind == 1:
            del out[at : at + random_.randint(1, 200)]
        elif kind == 2:
            out[at:at] = out[at : at + random_.randint(1, 2000)]
        elif kind == 3:
            token = random_.choice(TOKENS)
            out[at : at + random_.choice((0, len(token)))] = token
        elif kind == 4:
            del out[at:]
        else:
            other = random_.randrange(len(out) + 1)
            out[at:at] = out[other : other + 500]
    return bytes(out)


def run(seconds: float, seed: int) -> int:
    """Fuzz for `seconds` in all and return the number of finds."""
    random_ = random.Random(seed)
    by_format: dict[str, list[bytes]] = defaultdict(list)
    for sample, data in samples().items():
        by_format[FORMATS[sample.split()[0]]].append(data)
    by_format["trajscope-parquet"].append(_own_parquet())
    places = [ROOT / "fixtures" / "traces", ROOT / "tests" / "cases"]
    for file in sorted(f for place in places for f in place.rglob("*") if f.is_file()):
        try:
            name = choose_format(FileSource(str(file), file)).name
        except InputError:
            continue
        if file.stat().st_size < 400_000 and "bomb" not in file.name:
            by_format[name].append(file.read_bytes())
    finds = tried = 0
    share = seconds / max(1, len(by_format))
    with tempfile.TemporaryDirectory() as folder:
        mutant = Path(folder) / "capture"
        for name, captures in sorted(by_format.items()):
            until = time.monotonic() + share
            own = 0
            while time.monotonic() < until:
                data = mutated(random_.choice(captures), random_)
                mutant.write_bytes(data)
                start = time.monotonic()
                # Half of them are read as what they were: a damaged head is recognised no more.
                fault = _fault(mutant, random_.choice((None, name)))
                if fault is None and time.monotonic() - start > SLOW_S:
                    fault = f"took {time.monotonic() - start:.0f} s"
                if fault is not None:
                    finds += 1
                    FOUND.mkdir(parents=True, exist_ok=True)
                    (FOUND / f"{name}-{finds}").write_bytes(data)
                    sys.stdout.write(f"{name}: {fault}\n")
                own += 1
            tried += own
            sys.stdout.write(f"{name}: {own} mutants of {len(captures)} captures\n")
            sys.stdout.flush()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    sys.stdout.write(f"{tried} mutants, {finds} finds, peak {peak} MiB\n")
    return finds


def _own_parquet() -> bytes:
    """Return a store's own Parquet of a recorded trace."""
    out = io.BytesIO()
    reader = Reader()
    spans = spans_of("pydantic_ai_v5-err/trace.otlp.json")
    found = list(batches((span, reader(span)) for span in spans))
    pq.write_table(pa.Table.from_batches(found), out)
    return out.getvalue()


def _fault(path: Path, format_name: str | None) -> str | None:
    options = InputOptions(format_name=format_name)
    try:
        loaded = load([str(path)], options)
        for trajectory in loaded.trajectories:
            trace_json(trajectory)
        for assembled in loaded.assembled:
            assembled.outline()
    except InputError:
        return None
    except Exception:
        return traceback.format_exc()
    return None


if __name__ == "__main__":
    seconds, seed = (float(a) for a in (*sys.argv[1:], "600", "1")[:2])
    sys.exit(run(seconds, int(seed)) > 0)
