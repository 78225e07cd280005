// The core's test harness: enough to name tests, state expectations and print what was compared.
#pragma once

#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace check {

struct Test {
    std::string_view name;
    std::function<void()> body;
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

inline int& failures() {
    static int count = 0;
    return count;
}

struct Register {
    Register(std::string_view name, std::function<void()> body) { tests().push_back({name, std::move(body)}); }
};

inline void fail(const char* file, int line, const std::string& what) {
    ++failures();
    std::cerr << file << ':' << line << ": " << what << '\n';
}

template <typename T>
std::string show(const T& value) {
    if constexpr (requires(std::ostream& out) { out << value; }) {
        std::ostringstream text;
        text << value;
        return text.str();
    } else {
        return "(a value that cannot be printed)";
    }
}

template <typename A, typename B>
void equal(const A& actual, const B& expected, const char* text, const char* file, int line) {
    if (!(actual == expected)) fail(file, line, std::string(text) + ": " + show(actual) + " != " + show(expected));
}

}  // namespace check

#define CHECK_JOIN_(a, b) a##b
#define CHECK_JOIN(a, b) CHECK_JOIN_(a, b)

// TEST("widening keeps every state") { ... }
#define TEST(name)                                                                                                   \
    static void CHECK_JOIN(test_at_line_, __LINE__)();                                                               \
    static const check::Register CHECK_JOIN(register_at_line_, __LINE__){name, CHECK_JOIN(test_at_line_, __LINE__)}; \
    static void CHECK_JOIN(test_at_line_, __LINE__)()

#define CHECK(condition)                                               \
    do {                                                               \
        if (!(condition)) check::fail(__FILE__, __LINE__, #condition); \
    } while (false)

#define CHECK_EQUAL(actual, expected) check::equal((actual), (expected), #actual " == " #expected, __FILE__, __LINE__)

#define CHECK_THROWS(expression, exception)                                              \
    do {                                                                                 \
        bool thrown = false;                                                             \
        try {                                                                            \
            static_cast<void>(expression);                                               \
        } catch (const exception&) {                                                     \
            thrown = true;                                                               \
        }                                                                                \
        if (!thrown) check::fail(__FILE__, __LINE__, #expression " throws " #exception); \
    } while (false)
