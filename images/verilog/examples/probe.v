module probe;
  integer status, c;
  reg [8*8:1] order;
  reg [8*1024:1] line;
  initial begin
    status = $fscanf('h8000_0000, "%s", order);
    c = $fgetc('h8000_0000);
    if (order == "echo")
      while ($fgets(line, 'h8000_0000) > 0) $write("%0s", line);
    if (order == "fail") $fatal(1, "as asked");
    if (order == "loop") while (1) c = c + 1;
    if (order == "flood") while (1) $display("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    $finish(0);
  end
endmodule
