local order = io.read("l")
if order == "echo" then
  io.write(io.read("a"))
elseif order == "fail" then
  error("as asked")
elseif order == "loop" then
  while true do end
elseif order == "flood" then
  while true do print(("x"):rep(1000)) end
elseif order == "hoard" then
  local held = {}
  while true do held[#held + 1] = ("x"):rep((1 << 20) + #held) end
end
