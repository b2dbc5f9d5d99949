"""Follows docs/start.md with the built files alone: each block of code in its order.

start.py PAGE DIST WORK TRANSCRIPTS: runs in a copy of DIST, with the Python and the npm
package that deploy/package/check installed in WORK. TRANSCRIPTS are those of Claude Code.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

page, dist, work, transcripts = (pathlib.Path(a) for a in sys.argv[1:])
home, here = work / "home", work / "newcomer"
venv, project = work / "venvwhl", work / "npm"
here.mkdir()
shutil.copytree(transcripts, home / ".claude" / "projects" / "site")  # what learn finds on this machine
for built in dist.iterdir():
    if built.is_file():
        shutil.copy(built, here)
env = {"HOME": str(home), "PATH": f"{venv}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}
server = None


def stop():
    global server
    if server:
        server.terminate()
        if server.wait(30):
            sys.exit(f"FAILED: memoryd ended with {server.returncode}")
    server = None
    if shutil.which("memoryd", path=env["PATH"]):  # the local server of hooks
        subprocess.run(["memoryd", "stop"], env=env, cwd=here, capture_output=True)


def serve():
    global server
    server = subprocess.Popen(["memoryd"], env=env, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    ready = server.stdout.readline()
    if not ready.startswith("memoryd is ready on http://127.0.0.1:8002"):
        sys.exit(f"FAILED: memoryd says {ready!r}")


def run(*command, cwd=here, text=None):
    done = subprocess.run(command, env=env, cwd=cwd, input=text, capture_output=True, text=True, timeout=120)
    if done.returncode:
        sys.exit(f"FAILED with {done.returncode}: {command} {text or ''}\n{done.stdout}{done.stderr}")
    return done.stdout


ran = []
for part in re.split(r"(?m)^(?=##)", page.read_text()):
    title = part.splitlines()[0]
    if title.startswith("###") or title in ("## Run it as a service", "## Remove it"):
        stop()
    for language, block in re.findall(r"(?s)```(\w+)\n(.*?)```", part):
        ran.append(f"{title} {language}")
        if block == "memoryd\n":
            serve()
        elif language == "python":
            run("python3", "-", text=block)
        elif language == "js":
            (project / "start.mjs").write_text(block)
            run("node", "start.mjs", cwd=project)
        elif "systemctl" in block and not pathlib.Path("/run/systemd/system").exists():
            print("   not run without systemd:", block.strip())
        else:
            out = run("bash", "-e", text=block)
            if "memoryd show web_search" in block and "1 kept of 1 ever" not in out:
                sys.exit(f"FAILED: nothing is known of the tool that the page recorded\n{out}")
            print(f"   {title}: {len(block.splitlines())} lines, {len(out.splitlines())} lines of output")
    if "framework" in title and "search" not in run("memoryd", "tools"):
        sys.exit("FAILED: the functions of the page recorded nothing")
stop()
print("   blocks:", len(ran))
if len(ran) < 10:
    sys.exit(f"FAILED: only {ran}")
