import std.range, std.stdio, std.string;

void main() {
    auto order = readln().strip();
    if (order == "echo")
        foreach (block; stdin.byChunk(65_536))
            stdout.rawWrite(block);
    if (order == "fail")
        throw new Exception("as asked");
    if (order == "loop")
        for (;;) { }
    if (order == "flood")
        for (;;)
            writeln("x".replicate(1000));
    if (order == "hoard")
        for (ubyte[][] held;;) {
            auto block = new ubyte[1 << 20];
            block[] = 1;
            held ~= block;
        }
}

string replicate(string text, size_t times) {
    return text.repeat(times).join();
}
