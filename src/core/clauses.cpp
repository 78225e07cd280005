// What keeps the steps of a set that are not possible now from becoming so.

#include <bit>

#include "relations.hpp"

namespace quorate {

namespace {

using Set = std::span<const std::uint64_t>;

bool within(Set a, Set b) {
    std::uint64_t more = 0;
    for (std::size_t word = 0; word < a.size(); ++word) more |= a[word] & ~b[word];
    return more == 0;
}

std::size_t size_of(Set set) {
    std::size_t size = 0;
    for (const std::uint64_t word : set) size += static_cast<std::size_t>(std::popcount(word));
    return size;
}

// The smallest of many sets of messages: those that hold no other. They come in the order of their sizes.
class Smallest {
public:
    explicit Smallest(std::size_t words) : words_(words), shares_(words * 64) {
        for (std::size_t message = 0; message < shares_.size(); ++message) shares_[message] = mix(message + 1);
    }

    // Whether it is one of the smallest so far.
    bool add(Set set) {
        const std::uint64_t sum = sum_of(set);
        if (came(set, sum, 0, 0)) return false;
        if (known_.find(sum) == nullptr) known_.insert(sum, sets_.size());
        const bool known = holds_smaller(set, sum);
        if (!known) smallest_.emplace_back(size_of(set), sets_.size());
        sets_.insert(sets_.end(), set.begin(), set.end());
        return !known;
    }
    bool holds_another(Set set) const {
        const std::uint64_t sum = sum_of(set);
        return came(set, sum, 0, 0) || holds_smaller(set, sum);
    }

private:
    std::uint64_t share(std::size_t word, std::uint64_t bits) const {
        return shares_[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))];
    }
    std::uint64_t sum_of(Set set) const {
        std::uint64_t sum = 0;
        for (std::size_t word = 0; word < words_; ++word)
            for (std::uint64_t rest = set[word]; rest != 0; rest &= rest - 1) sum += share(word, rest);
        return sum;
    }
    // Is this set, without the message `but` of the word `in`, one of those that came?
    bool came(Set set, std::uint64_t sum, std::size_t in, std::uint64_t but) const {
        const std::size_t* place = known_.find(sum);
        if (place == nullptr) return false;
        for (std::size_t word = 0; word < words_; ++word)
            if (sets_[*place + word] != (word == in ? set[word] & ~but : set[word])) return false;
        return true;
    }
    // What is smaller by one is looked up, and only what is smaller still is compared one by one.
    bool holds_smaller(Set set, std::uint64_t sum) const {
        for (std::size_t word = 0; word < words_; ++word)
            for (std::uint64_t rest = set[word]; rest != 0; rest &= rest - 1)
                if (came(set, sum - share(word, rest), word, rest & -rest)) return true;
        const std::size_t size = size_of(set);
        for (const auto& [smaller, place] : smallest_) {
            if (smaller + 1 >= size) break;
            if (within(Set(sets_).subspan(place, words_), set)) return true;
        }
        return false;
    }

    std::size_t words_;
    std::vector<std::uint64_t> shares_{};                          // of each message in the sum of a set
    std::vector<std::uint64_t> sets_{};                            // all that came, one after the other
    FlatMap<std::size_t> known_{};                                 // where they are, by their sums
    std::vector<std::pair<std::size_t, std::size_t>> smallest_{};  // with their sizes
};

}  // namespace

// The instances with labels of the set that are not possible now, by what keeps them so: a message that is missing, or
// a local state that is not reached. Where one keeps another in check, it stands for both.
void Relations::list_clauses(const Column& column, const Footprint& footprint) {
    const May& found = *footprint.outside;
    const Words& there = footprint.root->there;
    const std::size_t words = there.size();
    struct Lack {
        std::size_t size;  // the messages that are missing
        Id local;          // where it would be possible: the present local state, or another
        std::size_t at;    // in `masks`
    };
    std::vector<Lack> all;
    Words masks;
    all.reserve(outlines_[column.index][found.locals.front()].briefs.size());
    masks.reserve(all.capacity() * words);
    const auto set = [&](const Lack& lack) { return Set(masks).subspan(lack.at, words); };
    for (Id i = 0; i < found.locals.size(); ++i) {
        for (const Outline::Brief& brief : outlines_[column.index][found.locals[i]].briefs) {
            if (!footprint.labels.has(brief.label) || gone(brief.budget, footprint.spent) ||
                footprint.root->ready.has(brief.tag) || footprint.alike.has(brief.tag) ||
                !lacks(column, there, brief.tag))
                continue;
            const std::uint64_t* wanted = set_bits_[column.index].data() + brief.tag * words;
            all.push_back({0, i, masks.size()});
            for (std::size_t word = 0; word < words; ++word) masks.push_back(wanted[word] & ~there[word]);
            all.back().size = size_of(set(all.back()));
        }
    }
    // Whatever stands for another is smaller or as large. Most are in the present local state, and most go.
    const auto elsewhere = std::find_if(all.begin(), all.end(), [](const Lack& lack) { return lack.local > 0; });
    std::size_t largest = 0;
    for (const Lack& lack : all) largest = std::max(largest, lack.size);
    Smallest smallest(words);
    std::vector<Lack> kept;
    for (std::size_t size = 1; size <= largest; ++size)
        for (auto lack = all.begin(); lack != elsewhere; ++lack)
            if (lack->size == size && smallest.add(set(*lack))) kept.push_back(*lack);
    const std::size_t first = kept.size();
    std::sort(elsewhere, all.end(),
              [](const Lack& a, const Lack& b) { return std::tie(a.size, a.local) < std::tie(b.size, b.local); });
    for (auto lack = elsewhere; lack != all.end(); ++lack) {
        const auto stands_for_it = [&](const Lack& other) {
            return found.ways[lack->local].within(found.ways[other.local]) && within(set(other), set(*lack));
        };
        if (smallest.holds_another(set(*lack))) continue;
        const auto begin = kept.begin() + static_cast<std::ptrdiff_t>(first);
        if (std::none_of(begin, kept.end(), stands_for_it)) kept.push_back(*lack);
    }
    std::sort(kept.begin(), kept.end(), [&](const Lack& a, const Lack& b) {
        const auto content = [&](const Lack& lack) { return std::make_tuple(lack.size, lack.local > 0); };
        if (content(a) != content(b)) return content(a) < content(b);
        const Set one = set(a), other = set(b);
        const auto differ = std::mismatch(one.begin(), one.end(), other.begin());
        return differ.first == one.end() ? a.local < b.local : *differ.first < *differ.second;
    });
    for (const Lack& lack : kept) {
        const Set missing = set(lack);
        footprint.missing.insert(footprint.missing.end(), missing.begin(), missing.end());
        Footprint::Clause& clause = footprint.clauses.emplace_back();
        if (lack.local == 0) continue;
        clause.way = found.ways[lack.local];
        clause.number = number(column.index, clause.way);
    }
}

}  // namespace quorate
