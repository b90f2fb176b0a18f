SELEC a + b FROM numbers;
