// How a vector of cells is packed: a bit field per column, as narrow as the cells met so far allow, in whole bytes per
// state. Fields may straddle bytes: every access is one unaligned 64-bit load or store.
#pragma once

#include <bit>
#include <cstring>
#include <vector>

#include "tables.hpp"

namespace quorate {

class Layout {
  public:
    Layout() = default;
    // Wide enough for the cells that exist now.
    static Layout fit(const Tables &tables) {
        Layout layout;
        std::size_t bit = 0;
        for (Id column = 0; column < tables.width(); ++column) {
            const std::size_t count = tables.cell_count(column);
            const std::size_t bits = count <= 1 ? 0 : static_cast<std::size_t>(std::bit_width(count - 1));
            Field field;
            field.byte = static_cast<std::uint32_t>(bit / 8);
            field.shift = static_cast<std::uint32_t>(bit % 8);
            field.mask = (std::uint64_t{1} << bits) - 1;
            layout.fields_.push_back(field);
            bit += bits;
        }
        layout.stride_ = std::max<std::size_t>(1, (bit + 7) / 8);
        return layout;
    }
    // Bytes a packed state takes; buffers need `slack` more behind the last one.
    std::size_t stride() const { return stride_; }
    static constexpr std::size_t slack = 8;

    bool fits(Id column, Id cell) const { return cell <= fields_[column].mask; }
    Id get(const std::byte *state, Id column) const {
        const Field &field = fields_[column];
        return static_cast<Id>(load(state + field.byte) >> field.shift & field.mask);
    }
    // The buffer behind `state` must have slack, and may be written to.
    void set(std::byte *state, Id column, Id cell) const {
        const Field &field = fields_[column];
        std::uint64_t word = load(state + field.byte);
        word &= ~(field.mask << field.shift);
        word |= static_cast<std::uint64_t>(cell) << field.shift;
        std::memcpy(state + field.byte, &word, sizeof word);
    }
    void unpack(const std::byte *state, Id *cells) const {
        for (Id column = 0; column < fields_.size(); ++column) cells[column] = get(state, column);
    }
    void pack(const Id *cells, std::byte *state) const {
        for (Id column = 0; column < fields_.size(); ++column) set(state, column, cells[column]);
    }

  private:
    struct Field {
        std::uint32_t byte = 0, shift = 0;
        std::uint64_t mask = 0;
    };
    static std::uint64_t load(const std::byte *from) {
        std::uint64_t word;
        std::memcpy(&word, from, sizeof word);
        return word;
    }
    std::vector<Field> fields_{};
    std::size_t stride_ = 1;
};

} // namespace quorate
