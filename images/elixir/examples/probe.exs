defmodule Probe do
  def loop(n), do: loop(n + 1)

  def hoard(held), do: hoard([:binary.copy("x", 1_048_576) | held])

  def flood() do
    IO.puts(String.duplicate("x", 1000))
    flood()
  end
end

case IO.gets("") |> String.trim() do
  "echo" -> IO.stream(:stdio, :line) |> Enum.each(&IO.write/1)
  "fail" -> raise "as asked"
  "loop" -> Probe.loop(0)
  "flood" -> Probe.flood()
  "hoard" -> Probe.hoard([])
end
