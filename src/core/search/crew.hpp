// The threads of a search. They work in rounds: all of them, or the calling one alone, and between rounds they rest.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace quorate {

class Crew {
public:
    // `work(n)` is what thread n does in a round. It must not throw.
    Crew(unsigned threads, std::function<void(unsigned)> work) : threads_(threads), work_(std::move(work)) {
        for (unsigned i = 1; i < threads; ++i) helpers_.emplace_back([this, i] { help(i); });
    }
    ~Crew() {
        {
            const std::lock_guard guard(mutex_);
            dismissed_ = true;
            ++round_;
        }
        start_.notify_all();
    }

    // One round. Waking the others does not pay for a little work.
    void run(bool all) {
        if (!all || threads_ == 1) return work_(0);
        {
            const std::lock_guard guard(mutex_);
            busy_ = threads_ - 1;
            ++round_;
        }
        start_.notify_all();
        work_(0);
        std::unique_lock wait(mutex_);
        done_.wait(wait, [this] { return busy_ == 0; });
    }

private:
    void help(unsigned number) {
        for (unsigned seen = 0;;) {
            {
                std::unique_lock wait(mutex_);
                start_.wait(wait, [&] { return round_ != seen; });
                seen = round_;
                if (dismissed_) return;
            }
            work_(number);
            const std::lock_guard guard(mutex_);
            if (--busy_ == 0) done_.notify_one();
        }
    }

    const unsigned threads_;
    const std::function<void(unsigned)> work_;
    std::mutex mutex_{};
    std::condition_variable start_{}, done_{};
    unsigned round_ = 0, busy_ = 0;
    bool dismissed_ = false;
    std::vector<std::jthread> helpers_{};  // last: they end before anything that they use
};

}  // namespace quorate
