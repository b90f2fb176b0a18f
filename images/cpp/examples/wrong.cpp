#include <bits/stdc++.h>

int main() {
    std::vector<int> numbers{std::istream_iterator<int>(std::cin), {}};
    std::cout << std::accumulate(numbers.begin(), numbers.end(), 1) << '\n';
}
