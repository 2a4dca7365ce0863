# SPDX-License-Identifier: GPL-2.0-only
#
# Runs of the simulator, many at a time.  SEEDS=N is how often each is done, JOBS=N how many are
# under way.
import concurrent.futures, json, os, subprocess

def sim(lifezone, *args):
    """What is counted, or None where the simulator did not run to its end."""
    said = subprocess.run([lifezone, "sim", "--json", *args], check=False, stdout=subprocess.PIPE)
    return json.loads(said.stdout)[0] if not said.returncode else None

def seeds():
    return range(1, int(os.environ.get("SEEDS") or 1) + 1)

def pool():
    return concurrent.futures.ThreadPoolExecutor(
        int(os.environ.get("JOBS") or len(os.sched_getaffinity(0))))
