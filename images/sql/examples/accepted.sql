SELECT a + b FROM numbers;
