"""Records a call and reads it back, with the installed package."""

import sys

import memoryd

assert memoryd.__version__ == sys.argv[1], memoryd.__version__
client = memoryd.Client()
client.record([memoryd.Call("wheel", {"query": "rain"}, output="Found 2 results", time_cost=0.4)])
assert "wheel" in [t["tool_name"] for t in client.search("wheel")]
print("memoryd for Python", memoryd.__version__, "records and reads")
