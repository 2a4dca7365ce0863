# SPDX-License-Identifier: GPL-2.0-only
#
# Runs of the simulator, many at a time.  SEEDS=N is how often each is done, JOBS=N how many are
# under way.  PLOT=DIR: pictures of them, too.
import concurrent.futures, json, os, pathlib, subprocess, sys

ROWS = []	# of all that ran

# Settings: a policy and words. Ours is the module as it is when nothing is said: one set of options
# for every load. The module's other policies are with what they were published with.
OURS = ("adaptive",)
def published(policy, *options, reset="lazy"):
    return (policy, *("--opt=" + o for o in ("reset=" + reset, "finish=never", *options)))

def sim(lifezone, *args):
    """What is counted, or None where the simulator did not run to its end."""
    said = subprocess.run([lifezone, "sim", "--json", *args], check=False, stdout=subprocess.PIPE)
    if said.returncode:
        return None
    row = json.loads(said.stdout)[0]
    ROWS.append({**row, "policy": named(row["policy"], args)})
    return row

def named(policy, args):
    """What tells runs of one policy apart."""
    return " ".join([policy, *(a.removeprefix("--opt=") for a in args if a.startswith("--opt="))])

def plot(name, rows):
    """Pictures of these, in the order of loads, policies and seeds."""
    folder = os.environ.get("PLOT")
    if folder:
        rows = sorted(rows, key=lambda r: (r["load"], r["policy"], r["seed"]))
        if subprocess.run([pathlib.Path(__file__).with_name("plot"), folder, name], check=False,
                          input=json.dumps(rows), text=True).returncode:
            sys.exit(1)	# it has said why

def seeds():
    return range(1, int(os.environ.get("SEEDS") or 1) + 1)

def pool():
    return concurrent.futures.ThreadPoolExecutor(
        int(os.environ.get("JOBS") or len(os.sched_getaffinity(0))))
