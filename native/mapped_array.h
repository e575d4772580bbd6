// SPDX-License-Identifier: BSD-3-Clause
//
// A large array of zeros of which only the pages that are used cost memory.
#ifndef MOSBENCH_NATIVE_MAPPED_ARRAY_H
#define MOSBENCH_NATIVE_MAPPED_ARRAY_H

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <system_error>
#include <type_traits>
#include <utility>

namespace mosbench {

template <typename T> class MappedArray {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>, "all bytes zero must be a value");

  public:
    MappedArray() = default;
    // `large_pages`: for what is used all over; saves the host page walks. Throws std::system_error if the address space cannot
    // be had.
    explicit MappedArray(size_t size, bool large_pages = false) : size_(size)
    {
        if (size == 0) {
            return;
        }
        void *place = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (place == MAP_FAILED) {
            throw std::system_error(errno, std::generic_category(), "cannot reserve address space for the model's tables");
        }
        data_ = static_cast<T *>(place);
        if (large_pages) {
            madvise(place, bytes(), MADV_HUGEPAGE);
        }
    }
    MappedArray(MappedArray &&other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0))
    {
    }
    MappedArray &operator=(MappedArray &&other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    MappedArray(const MappedArray &) = delete;
    MappedArray &operator=(const MappedArray &) = delete;
    ~MappedArray()
    {
        if (data_) {
            munmap(data_, bytes());
        }
    }

    T &operator[](size_t index) { return data_[index]; }
    const T &operator[](size_t index) const { return data_[index]; }
    size_t size() const { return size_; }
    const T *data() const { return data_; }

    // All zeros again, and the memory back to the host.
    void clear()
    {
        if (data_) {
            madvise(data_, bytes(), MADV_DONTNEED);
        }
    }

  private:
    size_t bytes() const { return size_ * sizeof(T); }

    T *data_ = nullptr;
    size_t size_ = 0;
};

} // namespace mosbench

#endif
