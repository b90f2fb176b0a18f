program probe
  implicit none
  type block
    real(8), allocatable :: numbers(:)
  end type block
  type(block) :: held(4096)
  character(len=100000) :: line
  integer :: status, i, size
  integer(8), volatile :: count = 0
  read '(a)', line
  select case (trim(line))
  case ('echo')
    do
      read (*, '(a)', iostat=status) line
      if (status /= 0) exit
      print '(a)', trim(line)
    end do
  case ('fail')
    error stop 3
  case ('loop')
    do
      count = count + 1
    end do
  case ('flood')
    do
      print '(a)', repeat('x', 1000)
    end do
  case ('hoard')
    size = 131072
    do i = 1, 4096
      allocate (held(i)%numbers(size))
      held(i)%numbers = i
    end do
    print *, held(4096)%numbers(1)
  end select
end program probe
