// How a vector of cells is packed: a bit field per column, or slot, as narrow as the cells met so far allow. Fields lie
// in 64-bit words and never straddle two, so that changing one is a single exclusive-or; states are stored in whole
// bytes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "model/hubs.hpp"

namespace quorate {

using Word = std::uint64_t;

class Layout {
public:
    Layout() = default;
    // Wide enough for the cells that exist now. Bits left over are given away too: they save widening again soon.
    static Layout fit(const Tables& tables, const Hubs* hubs = nullptr) {
        const Id width = hubs == nullptr ? tables.width() : hubs->width();
        std::vector<unsigned> bits;
        std::vector<std::size_t> counts;
        for (Id slot = 0; slot < width; ++slot) {
            const std::size_t count = slot < tables.width() ? tables.cell_count(slot) : hubs->count(slot);
            counts.push_back(count);
            bits.push_back(count <= 1 ? 0 : static_cast<unsigned>(std::bit_width(count - 1)));
        }
        Layout layout = arrange(bits);
        for (bool given = true; given;) {
            given = false;
            for (Id column = 0; column < width; ++column) {
                if (bits[column] >= 32 || counts[column] <= 1) continue;
                ++bits[column];
                Layout roomier = arrange(bits);
                if (roomier.stride_ == layout.stride_ && (column < tables.columns.size() || column >= tables.width())) {
                    layout = std::move(roomier);
                    given = true;
                } else {
                    --bits[column];
                }
            }
        }
        for (Id slot = 0; slot < width; ++slot) layout.fields_[slot].factor = column_factor(slot);
        return layout;
    }
    // With fields of these widths: to read states that were packed by another layout, and saved.
    static Layout of(const std::vector<unsigned>& bits) { return arrange(bits); }
    std::vector<unsigned> bits() const {
        std::vector<unsigned> bits;
        for (const Field& field : fields_) bits.push_back(static_cast<unsigned>(std::popcount(field.mask)));
        return bits;
    }
    // Bytes a stored state takes. Reading one reads whole words, so blocks of states need `slack` behind the last one.
    std::size_t stride() const { return stride_; }
    std::size_t words() const { return words_; }
    std::size_t width() const { return fields_.size(); }
    static constexpr std::size_t slack = sizeof(Word);

    bool fits(Id column, Id cell) const { return cell <= fields_[column].mask; }
    void unpack(const std::byte* state, Id* cells) const {
        for (const Field& field : fields_)
            *cells++ = static_cast<Id>(word(state, field.word) >> field.shift & field.mask);
    }
    // Calls each(column, cell) for the cells of a stored state.
    template <typename Each>
    void look(const std::byte* state, Each each) const {
        Id column = 0;
        for (const Field& field : fields_)
            each(column++, static_cast<Id>(word(state, field.word) >> field.shift & field.mask));
    }
    // Into a state of which all fields were 0, one after the other.
    void put(Word* words, Id column, Id cell) const {
        words[fields_[column].word] |= static_cast<Word>(cell) << fields_[column].shift;
    }
    std::uint64_t factor(Id column) const { return fields_[column].factor; }
    // The same as the tables' sum of the cells of a stored state.
    std::uint64_t sum(const std::byte* state) const {
        std::uint64_t sum = 0;
        for (const Field& field : fields_) sum += (word(state, field.word) >> field.shift & field.mask) * field.factor;
        return sum;
    }
    void pack(const Id* cells, Word* words) const {
        std::fill_n(words, words_, Word{0});
        for (const Field& field : fields_) words[field.word] |= static_cast<Word>(*cells++) << field.shift;
    }
    void change(Word* words, Id column, Id before, Id after) const {
        const Field& field = fields_[column];
        words[field.word] ^= static_cast<Word>(before ^ after) << field.shift;
    }
    // A stored state as words; what is read beyond the state is cleared.
    void load(const std::byte* state, Word* words) const {
        for (std::size_t i = 0; i < words_; ++i) words[i] = word(state, i);
        words[words_ - 1] &= last_;
    }
    // Writes whole words: what lies behind the state, up to a word, is lost.
    void store(const Word* words, std::byte* state) const {
        for (std::size_t i = 0; i < words_; ++i) std::memcpy(state + i * sizeof(Word), words + i, sizeof(Word));
    }
    bool equal(const std::byte* state, const Word* words) const {
        for (std::size_t i = 0; i < words_; ++i) {
            const Word difference = word(state, i) ^ words[i];
            if ((i + 1 == words_ ? difference & last_ : difference) != 0) return false;
        }
        return true;
    }

private:
    struct Field {
        std::uint32_t word = 0, shift = 0;
        Word mask = 0;
        std::uint64_t factor = 0;
    };
    // Fixed sizes, so that the compiler makes single moves of them.
    static Word word(const std::byte* state, std::size_t index) {
        Word result;
        std::memcpy(&result, state + index * sizeof(Word), sizeof result);
        return result;
    }
    // First fit, in the order of the columns.
    static Layout arrange(const std::vector<unsigned>& bits) {
        Layout layout;
        std::vector<unsigned> used{0};
        for (unsigned width : bits) {
            std::size_t word = 0;
            while (word < used.size() && used[word] + width > 64) ++word;
            if (word == used.size()) used.push_back(0);
            layout.fields_.push_back({static_cast<std::uint32_t>(word), used[word] % 64, (Word{1} << width) - 1, 0});
            used[word] += width;
        }
        layout.words_ = used.size();
        const unsigned bytes = std::max(1u, (used.back() + 7) / 8);
        layout.stride_ = (used.size() - 1) * sizeof(Word) + bytes;
        layout.last_ = bytes == sizeof(Word) ? ~Word{0} : (Word{1} << bytes * 8) - 1;
        return layout;
    }
    std::vector<Field> fields_{};
    std::size_t stride_ = 1, words_ = 1;
    Word last_ = 0xff;
};

}  // namespace quorate
