-- The load of "bench add" for wrk, a generator that is not ours:
--   wrk -t1 -c64 -d10s --latency -s bench/peer/add.lua http://127.0.0.1:8002
local words = string.rep("the ring keeps the newest slots and lets the oldest go without a second page; ", 26)
local n = 0
request = function()
  n = n + 1
  local tool = (n * 7919) % 1000
  local output = string.format("found 12 results for request %012d: ", n) .. words
  output = output:sub(1, 2048 - 77)
  local body = string.format('{"workspace_id":"bench","tool_name":"tool-%06d","async":true,"include_history":false,"tool_call_results":[' ..
    '{"input":{"query":"how to keep a ring buffer of slots","language":"en","max_results":12},"output":"%s","success":true,"time_cost":1.25,"token_cost":512}]}',
    tool, output)
  return wrk.format("POST", "/add_tool_call_result", { ["Content-Type"] = "application/json" }, body)
end
