use strict;
use warnings;

chomp(my $order = <STDIN>);
if ($order eq "echo") { print while <STDIN> }
if ($order eq "fail") { die "as asked" }
if ($order eq "loop") { 1 while 1 }
if ($order eq "flood") { print "x" x 1000, "\n" while 1 }
if ($order eq "hoard") {
    my @held;
    push @held, chr(120) x (1 << 20) while 1;
}
