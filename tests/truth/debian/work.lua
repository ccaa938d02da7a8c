-- SPDX-License-Identifier: MIT
-- Loops that a compiler in the program turns into code, and back where a guess was wrong.
local function mix(n)
  local t, s = {}, 0
  for i = 1, n do t[i] = (i * 7919) % 503 end
  for i = 1, n do if t[i] % 3 == 0 then s = s + t[i] else s = s - 1 end end
  return s
end
local s = 0
for i = 1, 60 do s = s + mix(100 + i) end
print(s, (("x"):rep(20):gsub("x", function(c) return c .. "y" end)))
