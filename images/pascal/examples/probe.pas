program Probe;
var
  order, line: ansistring;
  held: pointer;
  count: int64;
begin
  readln(order);
  count := 0;
  if order = 'echo' then
    while not eof do
    begin
      readln(line);
      writeln(line);
    end;
  if order = 'fail' then
    halt(3);
  if order = 'loop' then
    while true do
      count := count + 1;
  if order = 'flood' then
    while true do
      writeln(StringOfChar('x', 1000));
  if order = 'hoard' then
    while true do
    begin
      getmem(held, 1048576);
      fillchar(held^, 1048576, 1);
    end;
end.
