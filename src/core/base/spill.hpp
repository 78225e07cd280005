// Blocks in a file instead of in memory: what is written once, and read in order or seldom, need not stay resident.
//
// The file has no name: it is gone when the process is, however that ends. Its space is taken from the disk before it
// is written to; a full disk is an error here, and not a signal in the midst of a search.
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>

#include "base/memory.hpp"

namespace quorate {

struct DiskFull : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Spill {
public:
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

    explicit Spill(std::string directory) : directory_(std::move(directory)), file_(open_in(directory_)) {}
    Spill(const Spill&) = delete;
    Spill& operator=(const Spill&) = delete;
    ~Spill() { ::close(file_); }

    Block block(std::size_t bytes) {
        bytes = (bytes + page - 1) / page * page;
        const std::lock_guard guard(mutex_);
        if (const int error = extend(bytes); error != 0)
            throw DiskFull("no room in " + directory_ + ": " + std::strerror(error));
        Block block(file_, size_, bytes);
        size_ += bytes;
        return block;
    }
    // What follows goes to a file of its own; the present one goes with the last of its blocks.
    void restart() {
        const int fresh = open_in(directory_);
        ::close(file_);
        file_ = fresh;
        size_ = 0;
    }

private:
    static int open_in(const std::string& directory) {
#ifdef O_TMPFILE
        if (const int file = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); file >= 0) return file;
#endif
        std::string name = directory + "/quorate-XXXXXX";
        const int file = ::mkstemp(name.data());
        if (file < 0) throw DiskFull("cannot write to " + directory + ": " + std::strerror(errno));
        ::unlink(name.c_str());
        return file;
    }
    int extend(std::size_t bytes) {
#ifdef __APPLE__
        return ::ftruncate(file_, static_cast<off_t>(size_ + bytes)) == 0 ? 0 : errno;
#else
        return ::posix_fallocate(file_, static_cast<off_t>(size_), static_cast<off_t>(bytes));
#endif
    }

    const std::string directory_;
    int file_;
    std::size_t size_ = 0;
    std::mutex mutex_{};
};

}  // namespace quorate
