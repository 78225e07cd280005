// Necessary enabling sets (definition 16 of the thesis): what keeps the steps of a set that are not possible now from
// becoming so.

#include "reduce/por/footprint.hpp"
#include "reduce/por/smallest.hpp"

namespace quorate {

// The instances with labels of the set that are not possible now, by what keeps them so: a message that is missing, or
// a local state that is not reached. Where one keeps another in check, it stands for both.
void Footprints::list_clauses(const Column& column, const Footprint& footprint) {
    const Future& found = *footprint.outside;
    const ProcessSteps& process = instances_.of(column);
    const Words& pending = footprint.root->pending;
    const std::size_t words = pending.size();
    struct Lack {
        std::size_t size;  // the messages that are missing
        Id local;          // where it would be possible: the present local state, or another
        std::size_t at;    // in `masks`
    };
    Words masks;
    const auto set = [&](const Lack& lack) { return Bits(masks).subspan(lack.at, words); };
    const auto lack = [&](Id local, Id tag) {
        const Lack result{0, local, masks.size()};
        const std::uint64_t* wanted = process.messages(tag);
        for (std::size_t word = 0; word < words; ++word) masks.push_back(wanted[word] & ~pending[word]);
        return Lack{size_of(set(result)), local, result.at};
    };
    const auto candidates = [&](Id local) {
        Words tags = found.inside;
        const Words& possible = process.summaries[found.locals[local]].tags;
        for (std::size_t word = 0; word < tags.size(); ++word)
            tags[word] &= possible[word] & ~footprint.root->ready.word(word) & ~footprint.represented.word(word);
        return tags;
    };
    // In the present local state, and then elsewhere in the order of size.
    std::vector<Lack> kept, elsewhere;
    const auto list_few = [&] {
        FewSmallest few(process.needing, pending);
        Words tags = candidates(0);
        if (!few.list(tags, [&](Id tag) { kept.push_back(lack(0, tag)); })) return false;
        for (Id i = 1; i < found.locals.size(); ++i) {
            tags = candidates(i);
            few.take_out_all(tags);
            FewSmallest more(process.needing, pending);
            if (!more.list(tags, [&](Id tag) { elsewhere.push_back(lack(i, tag)); })) return false;
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
                    then(lack(local, static_cast<Id>(lowest(word, rest))));
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
    // Once another that lacks no more is kept in check by a message it lacks, so is this one, whatever the ways there
    // are; if by its way there, it is not listed any more and this one is. Where there are many, most of them are
    // alike, and they are found by the first message that they lack.
    const std::size_t first = kept.size();
    const bool many = elsewhere.size() > thresholds.few_smallest;
    std::vector<std::vector<std::size_t>> lacking(many ? words * 64 : 0);
    const auto first_of = [&](Bits missing) {
        std::size_t word = 0;
        while (missing[word] == 0) ++word;
        return lowest(word, missing[word]);
    };
    const auto stood_for = [&](Bits missing) {
        const auto stands_for_it = [&](std::size_t other) { return within(set(kept[other]), missing); };
        if (!many) {
            for (std::size_t other = first; other < kept.size(); ++other)
                if (stands_for_it(other)) return true;
            return false;
        }
        for (std::size_t word = 0; word < words; ++word)
            for (std::uint64_t rest = missing[word]; rest != 0; rest &= rest - 1) {
                const auto& others = lacking[lowest(word, rest)];
                if (std::any_of(others.begin(), others.end(), stands_for_it)) return true;
            }
        return false;
    };
    for (const Lack& one : elsewhere) {
        if (stood_for(set(one))) continue;
        if (many) lacking[first_of(set(one))].push_back(kept.size());
        kept.push_back(one);
    }
    std::sort(kept.begin(), kept.end(), [&](const Lack& a, const Lack& b) {
        if (a.size != b.size) return a.size < b.size;
        if ((a.local > 0) != (b.local > 0)) return b.local > 0;
        const Bits one = set(a), other = set(b);
        const auto differ = std::mismatch(one.begin(), one.end(), other.begin());
        return differ.first == one.end() ? a.local < b.local : *differ.first < *differ.second;
    });
    for (const Lack& one : kept) {
        const Bits missing = set(one);
        footprint.missing.insert(footprint.missing.end(), missing.begin(), missing.end());
        Footprint::Clause& clause = footprint.clauses.emplace_back();
        if (one.local == 0) continue;
        clause.way = found.ways[one.local];
        clause.number = futures.number(column.index, clause.way);
    }
}

}  // namespace quorate
