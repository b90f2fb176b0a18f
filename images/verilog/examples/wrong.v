module main;
  integer a, b, count;
  initial begin
    count = $fscanf('h8000_0000, "%d %d", a, b);
    $display("%0d", a - b);
    $finish;
  end
endmodule
