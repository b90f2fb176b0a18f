input <- file("stdin", "r")
order <- readLines(input, 1)
switch(order,
  echo = writeLines(readLines(input)),
  fail = stop("as asked"),
  loop = repeat {},
  flood = repeat cat(strrep("x", 1000), "\n"),
  hoard = { held <- list(); repeat held[[length(held) + 1]] <- rep(0.5, 131072) })
