"""Write the commands of many runs: systems, seeds, shards.

Write one command and one record for each system, seed and shard, as a GitHub matrix, a Slurm array, a Kubernetes Job,
or lines of JSON. Options after -- are passed to every pytest command.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from pytest_memfail.cli.arguments import Arguments, listed
from pytest_memfail.core import MAX_K, UsageError, counted, write_whole

FIRST_SEED: Final = 42
"""The default of --memfail-seed, and the first of several seeds."""
OF_THE_PLAN: Final = ("--memfail-record", "--memfail-seed", "--memfail-shard", "--memfail-system")
"""Options that differ between the commands, so they must not follow --."""
FORMATS: Final = ("jsonl", "github", "slurm", "k8s")


@dataclass(frozen=True, slots=True)
class Part:
    """One command, and the record that it writes."""

    record: str
    command: str


def add(argument: Arguments) -> None:
    """Declare the arguments of the command."""
    argument("--systems LIST", "memory systems separated by commas, as for --memfail-system", required=True)
    argument("--seeds N", f"how many seeds, from {FIRST_SEED} on; or a list such as 1,2,3", default="1")
    argument("--k LIST", "as --memfail-k; one run asks all values, because a store is filled once")
    argument("--shards N", "parts of each run (--memfail-shard)", int, 1)
    argument("--format", "what to write", FORMATS, "jsonl")
    argument("--records DIR", "folder of the records", default="records")
    argument("--image NAME", "container image; k8s needs it")
    argument("-o --output FILE", "where to write (default: standard output)", Path)
    argument("options OPTION", "options for every pytest command, after --", nargs="*", metavar="-- OPTION")


def run(options: argparse.Namespace) -> int:
    """Write the plan, and on standard error how to join the records."""
    if options.shards < 1:
        raise UsageError(f"--shards: got {options.shards}, expected 1 or more")
    if options.format == "k8s" and not options.image:
        raise UsageError(
            "--format: got k8s without --image, expected the container image, such as --image=registry/mymem:1.2"
        )
    ks = [] if options.k is None else options.k.split(",")
    if wrong := [k for k in ks if not re.fullmatch(r"\s*0*[1-9]\d{0,6}\s*", k) or int(k) > MAX_K]:
        raise UsageError(f"--k: got {wrong[0]!r}, expected whole numbers from 1 to {MAX_K}, such as 5 or 5,10,15")
    for given in options.options:
        if (name := given.partition("=")[0]) in OF_THE_PLAN:
            raise UsageError(f"--: got {name}, which the plan sets for each command, expected other options of pytest")
    systems = list(dict.fromkeys(listed(options.systems)))
    if not systems:
        raise UsageError(f"--systems: got {options.systems!r}, expected at least one name")
    parts = list(_parts(systems, _seeds(options.seeds), options))
    text = {"jsonl": _jsonl, "github": _github, "slurm": _slurm, "k8s": _k8s}[options.format](parts, options)
    if options.output is None:
        print(text, end="")
    else:
        write_whole(options.output, text)
    folder = shlex.quote(options.records)
    after = (
        f"memfail merge {folder}/*.jsonl -o joined/ && memfail compare --over-seeds joined/*.jsonl"
        if len(parts) > 1
        else f"memfail show {shlex.quote(parts[0].record)}"
    )
    print(f"{counted(len(parts), 'run')}. Then: {after}", file=sys.stderr)
    return 0


def _seeds(given: str) -> list[int]:
    try:
        numbers = [int(one) for one in given.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 0 or numbers == [0]:
        raise UsageError(f"--seeds: got {given!r}, expected how many (3) or a list (1,2,3)")
    return numbers if "," in given else [FIRST_SEED + i for i in range(numbers[0])]


def _parts(systems: Sequence[str], seeds: Sequence[int], options: argparse.Namespace) -> Iterator[Part]:
    names = [re.sub(r"[^A-Za-z0-9]+", "-", system).strip("-") for system in systems]
    if len(set(names)) < len(names):
        raise UsageError(f"--systems: got {', '.join(systems)}, expected names that differ in letters and digits")
    for system, name in zip(systems, names, strict=True):
        for seed in seeds:
            for shard in range(1, options.shards + 1):
                of = f"-{shard}of{options.shards}" if options.shards > 1 else ""
                record = str(PurePosixPath(options.records, f"{name}-s{seed}{of}.jsonl"))
                words = ["pytest", f"--memfail-system={system}", f"--memfail-seed={seed}"]
                words += [f"--memfail-k={options.k}"] if options.k else []
                words += [f"--memfail-shard={shard}/{options.shards}"] if options.shards > 1 else []
                words += [*options.options, f"--memfail-record={record}"]
                # 1 means that questions failed, which is the measurement; any other code stops the run
                folder = shlex.quote(str(PurePosixPath(record).parent))
                yield Part(record, f"mkdir -p {folder}; {shlex.join(words)} || test $? -eq 1")


def _jsonl(parts: Sequence[Part], _: argparse.Namespace) -> str:
    return "".join(json.dumps({"record": part.record, "command": part.command}) + "\n" for part in parts)


def _github(parts: Sequence[Part], _: argparse.Namespace) -> str:
    include = [
        {"name": PurePosixPath(part.record).stem, "record": part.record, "command": part.command} for part in parts
    ]
    return json.dumps({"include": include}) + "\n"


def _slurm(parts: Sequence[Part], _: argparse.Namespace) -> str:
    head = f"#!/bin/bash\n#SBATCH --job-name=memfail\n#SBATCH --array=1-{len(parts)}\n#SBATCH --output=memfail-%a.log\n"
    return f"{head}{_chosen(parts, '$SLURM_ARRAY_TASK_ID', 1)}"


def _k8s(parts: Sequence[Part], options: argparse.Namespace) -> str:
    script = textwrap.indent(_chosen(parts, "$JOB_COMPLETION_INDEX", 0), " " * 14)
    return f"""apiVersion: batch/v1
kind: Job
metadata:
  name: memfail
spec:
  completionMode: Indexed
  completions: {len(parts)}
  parallelism: {len(parts)}
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: memfail
          image: {json.dumps(options.image)}
          command: ["/bin/sh", "-c"]
          args:
            - |
{script}          volumeMounts:
            - name: records
              mountPath: {json.dumps(options.records if options.records.startswith("/") else f"/work/{options.records}")}
          workingDir: /work
      volumes:
        - name: records
          persistentVolumeClaim:
            claimName: memfail-records
"""


def _chosen(parts: Sequence[Part], variable: str, first: int) -> str:
    """Return a shell script that runs the command whose number a variable holds."""
    cases = "".join(f"  {i}) {part.command} ;;\n" for i, part in enumerate(parts, first))
    return f'case "{variable}" in\n{cases}  *) echo "no run has the number {variable}" >&2; exit 2 ;;\nesac\n'
