// A thread that is waited for where it goes out of scope. std::jthread would be it, but Apple's library has none.
#pragma once

#include <thread>
#include <utility>

namespace quorate {

class Joined {
public:
    template <typename Work>
    explicit Joined(Work work) : thread_(std::move(work)) {}
    Joined(Joined&&) = default;
    Joined& operator=(Joined&&) = delete;
    ~Joined() {
        if (thread_.joinable()) thread_.join();
    }

private:
    std::thread thread_;
};

}  // namespace quorate
