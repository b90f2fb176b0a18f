numbers <- scan(file("stdin"), quiet = TRUE)
cat(numbers[1] + + ), "\n", sep = "")
