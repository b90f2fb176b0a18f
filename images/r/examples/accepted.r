numbers <- scan(file("stdin"), quiet = TRUE)
cat(numbers[1] + numbers[2], "\n", sep = "")
