case gets.chomp
when "echo" then print $stdin.read
when "fail" then raise "as asked"
when "loop" then loop {}
when "flood" then loop { puts "x" * 1000 }
when "hoard"
  held = []
  loop { held << "x" * (1 << 20) }
end
