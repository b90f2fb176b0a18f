#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char order[16], text[65536];
    size_t count;
    if (scanf("%15[^\n]%*c", order) != 1) return 1;
    if (!strcmp(order, "echo"))
        while ((count = fread(text, 1, sizeof text, stdin)) > 0) fwrite(text, 1, count, stdout);
    if (!strcmp(order, "fail")) return 3;
    if (!strcmp(order, "loop"))
        for (volatile long i = 0;; i++) { }
    if (!strcmp(order, "flood"))
        for (;;) puts("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    if (!strcmp(order, "hoard"))
        for (;;) memset(malloc(1 << 20), 1, 1 << 20);
    return 0;
}
