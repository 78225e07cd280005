#include "model/configurations.hpp"

#include <algorithm>

namespace quorate {

namespace {

std::size_t head(std::span<const Id> numbers) { return 1 + 2 * std::size_t{numbers[0]}; }
std::size_t width(std::span<const Id> numbers) { return 1 + std::size_t{numbers[0]}; }

// Where the slot is among those of the operations under way, or would be.
std::size_t find(std::span<const Id> numbers, Id slot) {
    std::size_t place = 0;
    while (place < numbers[0] && numbers[1 + 2 * place] < slot) ++place;
    return place;
}

}  // namespace

Id Configurations::add_object(std::uint64_t content) {
    contents_.push_back(content);
    return checked_id(contents_.size() - 1, "values in histories");
}

Id Configurations::local(Home& home, Numbers numbers) {
    arrange(numbers);
    const Id set = sets_.intern(packed(numbers));
    if (set < local_of_.size()) return local_of_[set];
    const Id local = home.add_local(*this, numbers);
    local_of_.push_back(local);
    set_of_.resize(std::max<std::size_t>(set_of_.size(), local + std::size_t{1}), none);
    set_of_[local] = set;
    return local;
}

std::optional<Configurations::Numbers> Configurations::numbers(Id local) const {
    if (local >= set_of_.size() || set_of_[local] == none) return std::nullopt;
    return unpacked(sets_[set_of_[local]]);
}

// Four numbers in one if all are small, `none` as the largest that fits. How many there are, and which of both, first.
Configurations::Numbers Configurations::packed(const Numbers& numbers) {
    const bool small = std::all_of(numbers.begin(), numbers.end(), [](Id id) { return id == none || id < 255; });
    Numbers result{static_cast<Id>(numbers.size()) << 1 | Id{small}};
    if (!small) {
        result.insert(result.end(), numbers.begin(), numbers.end());
        return result;
    }
    result.resize(1 + (numbers.size() + 3) / 4);
    for (std::size_t i = 0; i < numbers.size(); ++i) result[1 + i / 4] |= (numbers[i] & 255) << (8 * (i % 4));
    return result;
}

Configurations::Numbers Configurations::unpacked(std::span<const Id> packed) {
    if ((packed[0] & 1) == 0) return {packed.begin() + 1, packed.end()};
    Numbers result(packed[0] >> 1);
    for (std::size_t i = 0; i < result.size(); ++i) {
        const Id byte = packed[1 + i / 4] >> (8 * (i % 4)) & 255;
        result[i] = byte == 255 ? none : byte;
    }
    return result;
}

void Configurations::set_event(Id event, bool begins, Id slot, Id subject) {
    if (events_.size() <= event) events_.resize(event + std::size_t{1});
    events_[event] = {begins, slot, subject};
}

// By slot, and then by configuration, each of them once.
void Configurations::arrange(Numbers& numbers) {
    const std::size_t count = numbers[0], from = head(numbers), step = width(numbers);
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return numbers[1 + 2 * a] < numbers[1 + 2 * b]; });
    if (!std::is_sorted(order.begin(), order.end())) {
        const Numbers old = numbers;
        for (std::size_t i = 0; i < count; ++i) {
            numbers[1 + 2 * i] = old[1 + 2 * order[i]];
            numbers[2 + 2 * i] = old[2 + 2 * order[i]];
            for (std::size_t at = from; at < old.size(); at += step) numbers[at + 1 + i] = old[at + 1 + order[i]];
        }
    }
    std::vector<const Id*> all;
    for (std::size_t at = from; at < numbers.size(); at += step) all.push_back(numbers.data() + at);
    const auto compare = [step](const Id* a, const Id* b) {
        for (std::size_t i = 0; i < step; ++i)
            if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
        return 0;
    };
    std::sort(all.begin(), all.end(), [&](const Id* a, const Id* b) { return compare(a, b) < 0; });
    all.erase(std::unique(all.begin(), all.end(), [&](const Id* a, const Id* b) { return compare(a, b) == 0; }),
              all.end());
    Numbers result(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(from));
    result.reserve(from + all.size() * step);
    for (const Id* one : all) result.insert(result.end(), one, one + step);
    numbers.swap(result);
}

Id Configurations::react(Home& home, Id local, Id event, std::vector<Pair>& missing) {
    const auto known = numbers(local);
    if (!known) return none;
    const Numbers& old = *known;
    const Event& what = events_.at(event);
    const std::size_t place = find(old, what.slot);
    const bool open = place < old[0] && old[1 + 2 * place] == what.slot;
    if (open == what.begins) return none;
    const std::size_t asked = missing.size();
    if (!what.begins && results_.find(key({what.subject, old[2 + 2 * place]})) == nullptr) return none;
    Numbers next = what.begins ? begin(old, place, what, missing) : end(old, place, what);
    return missing.size() > asked ? none : this->local(home, std::move(next));
}

// The old set is closed, so what is new begins with an effect of the new operation.
Configurations::Numbers Configurations::begin(std::span<const Id> old, std::size_t place, const Event& event,
                                              std::vector<Pair>& missing) const {
    Numbers next{old[0] + 1};
    next.insert(next.end(), old.begin() + 1, old.begin() + 1 + static_cast<std::ptrdiff_t>(2 * place));
    next.insert(next.end(), {event.slot, event.subject});
    next.insert(next.end(), old.begin() + 1 + static_cast<std::ptrdiff_t>(2 * place),
                old.begin() + static_cast<std::ptrdiff_t>(head(old)));
    const std::size_t step = width(next), count = next[0];
    Interner found;
    Numbers one(step), more(step);
    const auto apply = [&](std::span<const Id> from, std::size_t which) {
        const Pair pair{from[0], next[2 + 2 * which]};
        const Effect* effect = effects_.find(key(pair));
        if (effect == nullptr) missing.push_back(pair);
        if (effect == nullptr || effect->next == none) return;
        more.assign(from.begin(), from.end());
        more[0] = effect->next;
        more[1 + which] = effect->result;
        found.intern(more);
    };
    for (std::size_t at = head(old); at < old.size(); at += width(old)) {
        one[0] = old[at];
        for (std::size_t i = 0; i < count; ++i) one[1 + i] = i == place ? none : old[at + 1 + i - (i > place)];
        next.insert(next.end(), one.begin(), one.end());
        apply(one, place);
    }
    for (Id i = 0; i < found.size(); ++i) {
        one.assign(found[i].begin(), found[i].end());
        next.insert(next.end(), one.begin(), one.end());
        for (std::size_t which = 0; which < count; ++which)
            if (one[1 + which] == none) apply(one, which);
    }
    return next;
}

Configurations::Numbers Configurations::end(std::span<const Id> old, std::size_t place, const Event& event) const {
    Numbers next{old[0] - 1};
    for (std::size_t i = 0; i < old[0]; ++i)
        if (i != place) next.insert(next.end(), {old[1 + 2 * i], old[2 + 2 * i]});
    for (std::size_t at = head(old); at < old.size(); at += width(old)) {
        if (old[at + 1 + place] != event.subject) continue;
        for (std::size_t i = 0; i < width(old); ++i)
            if (i != 1 + place) next.push_back(old[at + i]);
    }
    return next;
}

void Configurations::mark(Id object, Marked marked) {
    if (marked_.size() <= object) marked_.resize(object + std::size_t{1});
    marked_[object] = std::move(marked);
}

Id Configurations::image(Home& home, Id exchange, Id local) {
    auto known = numbers(local);
    if (!known) return local;
    Numbers& image = *known;
    for (std::size_t i = 1; i < image.size(); ++i)
        if (image[i] != none) image[i] = marked_.at(image[i]).images.at(exchange);
    return this->local(home, std::move(image));
}

std::uint64_t Configurations::mark_of(Id object, Id name) const {
    const Marked& marked = marked_[object];
    for (const auto& [other, mark] : marked.of)
        if (other == name) return mark;
    return marked.base;
}

// Sums, so that neither the order of operations nor that of configurations counts.
template <typename Content>
std::uint64_t Configurations::digest(std::span<const Id> numbers, Content content) {
    const auto of = [&](Id object) { return object == none ? 0x51ed270b7a3f4c15ULL : content(object); };
    std::uint64_t sum = 0;
    std::vector<std::uint64_t> slots;
    for (std::size_t i = 0; i < numbers[0]; ++i) {
        slots.push_back(mix(mix(of(numbers[1 + 2 * i])) + of(numbers[2 + 2 * i])));
        sum += slots.back();
    }
    for (std::size_t at = head(numbers); at < numbers.size(); at += width(numbers)) {
        std::uint64_t one = mix(of(numbers[at]));
        for (std::size_t i = 0; i < slots.size(); ++i) one += mix(slots[i] ^ mix(of(numbers[at + 1 + i]) + 1));
        sum += mix(one);
    }
    return mix(sum);
}

std::uint64_t Configurations::content(std::span<const Id> numbers) const {
    return digest(numbers, [&](Id object) { return contents_[object]; });
}

std::vector<Id> Configurations::add_marks(Id local, std::span<std::uint64_t> row) const {
    std::vector<Id> names;
    const auto known = numbers(local);
    if (!known) return names;
    for (std::size_t i = 1; i < known->size(); ++i)
        if ((*known)[i] != none)
            for (const auto& [name, mark] : marked_[(*known)[i]].of) names.push_back(name);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    // Names that do not occur are all marked alike.
    const std::uint64_t others = digest(*known, [&](Id object) { return marked_[object].base; });
    for (std::uint64_t& mark : row) mark += others;
    for (Id name : names) row[name] += digest(*known, [&](Id object) { return mark_of(object, name); }) - others;
    return names;
}

}  // namespace quorate
