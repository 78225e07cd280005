// Large blocks straight from the system: zeroed, given back at once, and on huge pages where the system has them.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <new>
#include <utility>

#ifdef __APPLE__
#include <mach/mach.h>
#endif

namespace quorate {

class Block {
public:
    Block() = default;
    Block(std::size_t bytes, bool huge) : bytes_(bytes) {
        void* got = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (got == MAP_FAILED) throw std::bad_alloc();
        data_ = static_cast<std::byte*>(got);
#ifdef MADV_HUGEPAGE
        if (huge) madvise(data_, bytes, MADV_HUGEPAGE);
#else
        static_cast<void>(huge);
#endif
    }
    // A part of a file.
    Block(int file, std::size_t offset, std::size_t bytes) : bytes_(bytes) {
        void* got = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
        if (got == MAP_FAILED) throw std::bad_alloc();
        data_ = static_cast<std::byte*>(got);
    }
    Block(Block&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Block& operator=(Block&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Block() {
        if (data_ != nullptr) munmap(data_, bytes_);
    }
    std::byte* data() const { return data_; }
    std::size_t size() const { return bytes_; }
    // A part, in whole pages, is not needed any more.
    void give_back(std::size_t offset, std::size_t bytes) const { madvise(data_ + offset, bytes, MADV_DONTNEED); }

private:
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

// What the machine has.
inline std::size_t memory_bytes() {
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

inline std::size_t resident_bytes() {
#ifdef __APPLE__
    mach_task_basic_info_data_t info{};
    mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
    const auto place = reinterpret_cast<task_info_t>(&info);
    if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, place, &count) != KERN_SUCCESS) return 0;
    return static_cast<std::size_t>(info.resident_size);
#else
    long pages = 0, total = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%ld %ld", &total, &pages) != 2) pages = 0;
        std::fclose(file);
    }
    return static_cast<std::size_t>(pages) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
#endif
}

}  // namespace quorate
