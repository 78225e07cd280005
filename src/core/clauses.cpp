// What keeps the steps of a set that are not possible now from becoming so.

#include <bit>

#include "relations.hpp"

namespace quorate {

namespace {

using Set = std::span<const std::uint64_t>;

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

    // Whether it is one of the smallest so far. What holds another need not be remembered if nothing larger comes.
    bool add(Set set, bool last) {
        const std::uint64_t sum = sum_of(set);
        const bool known = holds_smaller(set, sum);
        if ((known && last) || came(set, sum, 0, 0)) return false;
        if (known_.find(sum) == nullptr) known_.insert(sum, sets_.size());
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

// The same for sets that are given by numbers, a bit each, and few of which are the smallest. All of them are looked at
// together: `needing` has, for each message, the numbers of the sets that need it.
class FewSmallest {
public:
    static constexpr std::size_t most = 64;

    FewSmallest(const std::vector<std::vector<std::uint64_t>>& needing, Set there) : needing_(needing) {
        for (std::size_t message = 0; message < needing.size(); ++message)
            if (!needing[message].empty() && !(there[message / 64] >> (message % 64) & 1)) missing_.push_back(message);
    }

    // Calls `found` with the number of a set and how many messages it lacks, the smallest first, then takes all sets
    // that hold it out of the candidates. False if there are too many.
    template <typename Found>
    bool list(std::vector<std::uint64_t>& candidates, Found&& found) {
        count(candidates);
        for (std::size_t size = 1; size < std::size_t{1} << planes_; ++size) {
            for (std::size_t word = 0; word < candidates.size(); ++word) {
                while (const std::uint64_t rest = candidates[word] & of_size(size, word)) {
                    const Id number = static_cast<Id>(word * 64) + static_cast<Id>(std::countr_zero(rest));
                    if (++listed_ > most) return false;
                    rows_.clear();
                    for (const std::size_t message : missing_)
                        if (needing_[message][word] & rest & -rest) rows_.push_back(needing_[message].data());
                    take_out(candidates);
                    found(number, size);
                    taken_.push_back(rows_);
                }
            }
        }
        return true;
    }
    // Takes out what holds a set that was found before.
    void take_out_all(std::vector<std::uint64_t>& candidates) {
        for (const auto& rows : taken_) {
            rows_ = rows;
            take_out(candidates);
        }
    }

private:
    using Rows = std::vector<const std::uint64_t*>;
    // How many messages each of them lacks, as binary numbers: a plane has one digit of all of them.
    void count(const std::vector<std::uint64_t>& candidates) {
        planes_ = static_cast<std::size_t>(std::bit_width(missing_.size()));
        digits_.assign(planes_ * candidates.size(), 0);
        for (std::size_t word = 0; word < candidates.size(); ++word) {
            if (candidates[word] == 0) continue;
            std::uint64_t* digits = digits_.data() + word * planes_;
            for (const std::size_t message : missing_) {
                std::uint64_t carry = needing_[message][word] & candidates[word];
                for (std::size_t plane = 0; carry != 0; ++plane) {
                    const std::uint64_t both = digits[plane] & carry;
                    digits[plane] ^= carry;
                    carry = both;
                }
            }
        }
    }
    std::uint64_t of_size(std::size_t size, std::size_t word) const {
        std::uint64_t result = ~std::uint64_t{0};
        for (std::size_t plane = 0; plane < planes_; ++plane) {
            const std::uint64_t digit = digits_[word * planes_ + plane];
            result &= size >> plane & 1 ? digit : ~digit;
        }
        return result;
    }
    void take_out(std::vector<std::uint64_t>& candidates) const {
        for (std::size_t word = 0; word < candidates.size(); ++word) {
            if (candidates[word] == 0) continue;
            std::uint64_t holding = candidates[word];
            for (const std::uint64_t* row : rows_) holding &= row[word];
            candidates[word] &= ~holding;
        }
    }

    const std::vector<std::vector<std::uint64_t>>& needing_;
    std::vector<std::size_t> missing_{};  // messages
    std::size_t planes_ = 0, listed_ = 0;
    std::vector<std::uint64_t> digits_{};
    Rows rows_{};
    std::vector<Rows> taken_{};
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
    Words masks;
    const auto set = [&](const Lack& lack) { return Set(masks).subspan(lack.at, words); };
    const auto lack = [&](Id local, Id tag) {
        const Lack result{0, local, masks.size()};
        const std::uint64_t* wanted = set_bits_[column.index].data() + tag * words;
        for (std::size_t word = 0; word < words; ++word) masks.push_back(wanted[word] & ~there[word]);
        return Lack{size_of(set(result)), local, result.at};
    };
    const auto candidates = [&](Id local) {
        Words tags = found.inside;
        const Words& possible = outlines_[column.index][found.locals[local]].tags;
        for (std::size_t word = 0; word < tags.size(); ++word)
            tags[word] &= possible[word] & ~footprint.root->ready.word(word) & ~footprint.alike.word(word);
        return tags;
    };
    // In the present local state, and then elsewhere in the order of size.
    std::vector<Lack> kept, elsewhere;
    const auto list_few = [&] {
        FewSmallest few(needing_[column.index], there);
        Words tags = candidates(0);
        if (!few.list(tags, [&](Id tag, std::size_t) { kept.push_back(lack(0, tag)); })) return false;
        for (Id i = 1; i < found.locals.size(); ++i) {
            tags = candidates(i);
            few.take_out_all(tags);
            FewSmallest more(needing_[column.index], there);
            if (!more.list(tags, [&](Id tag, std::size_t) { elsewhere.push_back(lack(i, tag)); })) return false;
        }
        return true;
    };
    const auto list_many = [&] {
        kept.clear();
        elsewhere.clear();
        std::vector<std::vector<Lack>> here;
        const auto each = [&](Id local, auto&& then) {
            const Words tags = candidates(local);
            for (std::size_t word = 0; word < tags.size(); ++word)
                for (std::uint64_t rest = tags[word]; rest != 0; rest &= rest - 1)
                    then(lack(local, static_cast<Id>(word * 64) + static_cast<Id>(std::countr_zero(rest))));
        };
        each(0, [&](const Lack& one) {
            if (here.size() <= one.size) here.resize(one.size + 1);
            here[one.size].push_back(one);
        });
        Smallest smallest(words);
        for (std::size_t size = 1; size < here.size(); ++size)
            for (const Lack& one : here[size])
                if (smallest.add(set(one), size + 1 == here.size())) kept.push_back(one);
        for (Id i = 1; i < found.locals.size(); ++i)
            each(i, [&](const Lack& one) {
                if (one.size > 0 && !smallest.holds_another(set(one))) elsewhere.push_back(one);
            });
    };
    if (!list_few()) list_many();
    std::sort(elsewhere.begin(), elsewhere.end(),
              [](const Lack& a, const Lack& b) { return std::tie(a.size, a.local) < std::tie(b.size, b.local); });
    const std::size_t first = kept.size();
    for (const Lack& one : elsewhere) {
        const auto stands_for_it = [&](const Lack& other) {
            return found.ways[one.local].within(found.ways[other.local]) && within(set(other), set(one));
        };
        const auto begin = kept.begin() + static_cast<std::ptrdiff_t>(first);
        if (std::none_of(begin, kept.end(), stands_for_it)) kept.push_back(one);
    }
    std::sort(kept.begin(), kept.end(), [&](const Lack& a, const Lack& b) {
        const auto content = [&](const Lack& lack) { return std::make_tuple(lack.size, lack.local > 0); };
        if (content(a) != content(b)) return content(a) < content(b);
        const Set one = set(a), other = set(b);
        const auto differ = std::mismatch(one.begin(), one.end(), other.begin());
        return differ.first == one.end() ? a.local < b.local : *differ.first < *differ.second;
    });
    for (const Lack& one : kept) {
        const Set missing = set(one);
        footprint.missing.insert(footprint.missing.end(), missing.begin(), missing.end());
        Footprint::Clause& clause = footprint.clauses.emplace_back();
        if (one.local == 0) continue;
        clause.way = found.ways[one.local];
        clause.number = number(column.index, clause.way);
    }
}

}  // namespace quorate
