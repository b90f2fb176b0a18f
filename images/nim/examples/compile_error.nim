import std/[strutils, sequtils]

let numbers = stdin.readLine.splitWhitespace.map(parseInt)
echo missing + numbers[1]
