use std::io::{self, BufRead};

fn main() {
    let mut input = io::stdin().lock();
    let mut order = String::new();
    input.read_line(&mut order).unwrap();
    match order.trim() {
        "echo" => { io::copy(&mut input, &mut io::stdout()).unwrap(); }
        "fail" => panic!("as asked"),
        "loop" => loop { std::hint::spin_loop() },
        "flood" => loop { println!("{}", "x".repeat(1000)) },
        "hoard" => {
            let mut held = Vec::new();
            loop { held.push(vec![1u8; 1 << 20]) }
        }
        _ => {}
    }
}
