// Runs every test of the core, or those whose name contains the first argument.
#include <exception>

#include "check.hpp"

int main(int argc, char** argv) {
    const std::string_view wanted = argc > 1 ? argv[1] : "";
    int ran = 0;
    for (const check::Test& test : check::tests()) {
        if (test.name.find(wanted) == std::string_view::npos) continue;
        ++ran;
        const int before = check::failures();
        try {
            test.body();
        } catch (const std::exception& error) {
            check::fail(__FILE__, __LINE__, std::string("unexpected exception: ") + error.what());
        }
        if (check::failures() != before) std::cerr << "FAILED  " << test.name << '\n';
    }
    std::cout << ran << " core tests, " << check::failures() << " failures\n";
    return check::failures() == 0 ? 0 : 1;
}
