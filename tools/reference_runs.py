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

from pytest_memfail.running import SHIPPED_REFERENCE, Asked, Unit, digest, question_digest
from pytest_memfail.suites import BUILT_IN, DEFAULT, TaskRequest, choose_suites, load_tasks


def main() -> None:
    """Run a system that is not the reference over all shipped rows, and ship the reference that the run makes.

    The system shows everything, because a reference is only made for questions that the run decides.
    """
    others = [name for name in BUILT_IN if name not in DEFAULT]
    SHIPPED_REFERENCE.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder, "cache", "d", "memfail", "reference.json")
        suites = f"--memfail-suite={','.join([*DEFAULT, *others])}"
        Path(folder, "pytest.ini").write_text("[pytest]\ncache_dir = cache\n")
        command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "--memfail-system=full-context", suites, "memfail"]
        subprocess.run(command, cwd=folder, check=False)
        found = json.loads(kept.read_text(encoding="utf-8"))
    for task in load_tasks(TaskRequest(suites=choose_suites(BUILT_IN))):
        for plan in task.stores:
            unit = Unit(task, plan, plan.id)
            known = found.setdefault(digest(unit), {})
            for question in plan.questions:  # what the run did not decide, the reference does not either
                known.setdefault(question_digest(Asked(unit, question, question.k or task.k or 5, "")), None)
    lines = (f"{json.dumps(store)}: {json.dumps(known, sort_keys=True)}" for store, known in sorted(found.items()))
    SHIPPED_REFERENCE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    counts = Counter(outcome for known in found.values() for outcome in known.values())
    print(f"{SHIPPED_REFERENCE}: {len(found)} stores, {counts}")


if __name__ == "__main__":
    main()
