import std/strutils

case stdin.readLine
of "echo":
  stdout.write stdin.readAll
of "fail":
  quit 3
of "loop":
  var count {.volatile.} = 0
  while true:
    count = count xor 1
of "flood":
  while true:
    echo "x".repeat(1000)
of "hoard":
  var held: seq[string]
  while true:
    held.add "x".repeat(1 shl 20)
else:
  discard
