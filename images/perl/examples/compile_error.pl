my ($a, $b) = split " ", <STDIN>;
print $a + + ), "\n";
