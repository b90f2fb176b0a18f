<?php
switch (trim(fgets(STDIN))) {
    case "echo":
        fpassthru(STDIN);
        break;
    case "fail":
        throw new Exception("as asked");
    case "loop":
        while (true);
    case "flood":
        while (true) echo str_repeat("x", 1000), "\n";
    case "hoard":
        $held = [];
        while (true) $held[] = str_repeat("x", 1 << 20);
}
