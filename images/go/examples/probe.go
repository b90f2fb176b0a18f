package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	in := bufio.NewReader(os.Stdin)
	order, _ := in.ReadString('\n')
	switch strings.TrimSpace(order) {
	case "echo":
		io.Copy(os.Stdout, in)
	case "fail":
		panic("as asked")
	case "loop":
		for {
		}
	case "flood":
		for {
			fmt.Println(strings.Repeat("x", 1000))
		}
	case "hoard":
		held := []string{}
		for {
			held = append(held, strings.Repeat("x", 1<<20))
		}
	}
}
