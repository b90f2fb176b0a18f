const fs = require("fs");

const [order, ...lines] = fs.readFileSync(0, "utf8").split("\n");
if (order === "echo") process.stdout.write(lines.join("\n"));
if (order === "fail") throw new Error("as asked");
if (order === "loop") for (;;);
if (order === "flood") for (;;) fs.writeSync(1, "x".repeat(1000) + "\n");
if (order === "hoard") for (const held = [];;) held.push(new Array(131072).fill(0.5));
