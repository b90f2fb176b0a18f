#include <iostream>
#include <string>
#include <vector>

int main() {
    std::string order;
    std::getline(std::cin, order);
    if (order == "echo") std::cout << std::cin.rdbuf();
    if (order == "fail") throw 3;
    if (order == "loop")
        for (volatile long i = 0;; i = i + 1) { }
    if (order == "flood")
        for (;;) std::cout << std::string(1000, 'x') << "\n";
    if (order == "hoard")
        for (std::vector<std::string> held;;) held.emplace_back(1 << 20, 'x');
}
