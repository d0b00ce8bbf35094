"""Write what the reference holds of the shipped rows, so that no run has to make it: `python tools/reference_runs.py`.

The rows, the offline judge or the reference itself changed: run it again. It takes a minute.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from pytest_memfail.running import SHIPPED_REFERENCE
from pytest_memfail.suites import BUILT_IN, DEFAULT


def main() -> None:
    """Run a system that is not the reference over all shipped rows, and ship the reference that the run makes."""
    others = [name for name in BUILT_IN if name not in DEFAULT]
    SHIPPED_REFERENCE.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder, "cache", "d", "memfail", "reference.json")
        suites = f"--memfail-suite={','.join([*DEFAULT, *others])}"
        Path(folder, "pytest.ini").write_text("[pytest]\ncache_dir = cache\n")
        command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "--memfail-system=no-memory", suites, "memfail"]
        subprocess.run(command, cwd=folder, check=False)
        found = json.loads(kept.read_text(encoding="utf-8"))
    lines = (f"{json.dumps(store)}: {json.dumps(known, sort_keys=True)}" for store, known in sorted(found.items()))
    SHIPPED_REFERENCE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    counts = Counter(outcome for known in found.values() for outcome in known.values())
    print(f"{SHIPPED_REFERENCE}: {len(found)} stores, {counts}")


if __name__ == "__main__":
    main()
