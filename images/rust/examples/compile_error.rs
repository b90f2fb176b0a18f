use std::io;

fn main() {
    let line = String::new();
    io::stdin().read_line(&mut line).unwrap();
    let numbers: Vec<i64> = line.split_whitespace().map(|x| x.parse().unwrap()).collect();
    println!("{}", numbers[0] OP numbers[1]);
}
