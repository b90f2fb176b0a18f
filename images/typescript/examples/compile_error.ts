import { readFileSync } from "fs";

const [a, b: number[] = readFileSync(0, "utf8").split(" ").map(Number);
console.log(a OP b);
