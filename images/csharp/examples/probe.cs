using System;
using System.Collections.Generic;

class Probe {
    static void Main() {
        switch (Console.ReadLine()) {
            case "echo":
                Console.Write(Console.In.ReadToEnd());
                break;
            case "fail":
                throw new Exception("as asked");
            case "loop":
                for (;;) { }
            case "flood":
                for (;;) Console.WriteLine(new string('x', 1000));
            case "hoard":
                for (var held = new List<string>();;) held.Add(new string('x', 1 << 20));
        }
    }
}
