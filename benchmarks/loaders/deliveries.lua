-- Deliveries for wrk: bodies that are signed already, delivery ids that are random, one JSON line of results.
-- Arguments: path, number of places, seed, host, then a file with pairs of lines: signature, body.

local heads, tails = {}, {}
local path, places, turn = "", 1, 0

local function id()
  local r = math.random
  return string.format("%08x-%04x-4%03x-%04x-%06x%06x", r(0, 0x7fffffff) * 2 + r(0, 1), r(0, 0xffff), r(0, 0xfff),
    r(0x8000, 0xbfff), r(0, 0xffffff), r(0, 0xffffff))
end

function init(args)
  path, places = args[1], tonumber(args[2])
  math.randomseed(tonumber(args[3]))
  local signature
  for line in io.lines(args[5]) do
    if signature then
      tails[#tails + 1] = "\r\nContent-Type: application/json\r\nX-Host-Event: push\r\nX-Hub-Signature-256: " .. signature
        .. "\r\nContent-Length: " .. #line .. "\r\n\r\n" .. line
      signature = nil
    else
      signature = line
    end
  end
  for place = 1, places do
    local at = path:gsub("%%d", tostring(place - 1))
    heads[place] = "POST " .. at .. " HTTP/1.1\r\nHost: " .. args[4] .. "\r\nX-Host-Delivery: "
  end
end

function request()
  turn = turn % #tails + 1
  local place = places == 1 and 1 or math.random(1, places)
  return heads[place] .. id() .. tails[turn]
end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('\nRESULT {"requests": %d, "us": %d, "status": %d, "failed": %d', summary.requests,
    summary.duration, e.status, e.connect + e.read + e.write + e.timeout))
  for _, p in ipairs({ 50, 90, 99, 99.9 }) do
    io.write(string.format(', "p%s": %d', tostring(p), latency:percentile(p)))
  end
  io.write("}\n")
end
