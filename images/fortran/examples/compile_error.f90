program sum
  implicit none
  integer :: a, b
  read *, a, b
  print '(i0)', a + c
end program sum
