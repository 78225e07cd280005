#include "search/exchange.hpp"

namespace quorate {

namespace {

// What a batch begins with; then the widths of the columns, the definitions, the states, and what is said of each.
struct BatchHead {
    std::uint64_t states, depth;
    std::uint32_t columns, definitions;
    std::uint32_t any_watched, symmetric;
};

template <typename Item>
void append(std::string& bytes, const Item* items, std::size_t count) {
    bytes.append(reinterpret_cast<const char*>(items), count * sizeof(Item));
}

// True the first time.
bool mark(std::vector<bool>& marks, Id number) {
    if (number >= marks.size()) marks.resize(std::max<std::size_t>(number + 1, marks.size() * 2), false);
    if (marks[number]) return false;
    marks[number] = true;
    return true;
}

}  // namespace

void Outbox::add(const Layout& layout, const Word* words, bool observed, double orbit, Id watched) {
    const auto* packed = reinterpret_cast<const std::byte*>(words);
    layout.look(packed, [&](Id column, Id cell) {
        if (column < told_.size() && !told_[column].knows(cell)) [[unlikely]]
            define(column, cell);
    });
    if (states_.size() < used_ + layout.words() * sizeof(Word))
        states_.resize(2 * states_.size() + layout.words() * sizeof(Word));
    layout.store(words, states_.data() + used_);
    used_ += layout.stride();
    observed_.push(count_, observed);
    is_watched_.push(count_, watched != none);
    if (symmetric_) orbits_.push_back(orbit);
    if (watched != none) watched_.push_back(watched);
    ++count_;
}

void Outbox::define(Id column, Id cell) {
    Told& told = told_[column];
    if (cell >= told.cells.size()) told.cells.resize(std::max<std::size_t>(cell + 1, told.cells.size() * 2), 0);
    told.cells[cell] = 1;
    const Column& owner = *tables_.columns[column];
    const Id local = owner.cells[cell].local;
    const std::span<const Id> inbox = owner.inboxes[owner.cells[cell].inbox];
    definitions_.insert(definitions_.end(), {column, cell, local, static_cast<Id>(inbox.size())});
    definitions_.insert(definitions_.end(), inbox.begin(), inbox.end());
    if (local >= shared_[column].locals && mark(told.locals, local)) untold_.locals.emplace_back(column, local);
    for (Id message : inbox)
        if (message >= shared_[column].messages && mark(told.messages, message))
            untold_.messages.emplace_back(column, message);
}

Batch Outbox::close(const Layout& layout, std::uint64_t depth) {
    Batch batch;
    const std::vector<unsigned> widths = layout.bits();
    const BatchHead head{count_,
                         depth,
                         static_cast<std::uint32_t>(widths.size()),
                         static_cast<std::uint32_t>(definitions_.size()),
                         !watched_.empty(),
                         symmetric_};
    batch.bytes.reserve(sizeof head + widths.size() + bytes() + count_ * (symmetric_ ? 9 : 1));
    append(batch.bytes, &head, 1);
    for (unsigned width : widths) batch.bytes.push_back(static_cast<char>(width));
    append(batch.bytes, definitions_.data(), definitions_.size());
    append(batch.bytes, states_.data(), used_);
    batch.bytes += observed_.bytes;
    if (head.any_watched) batch.bytes += is_watched_.bytes;
    if (symmetric_) append(batch.bytes, orbits_.data(), orbits_.size());
    batch.states = count_;
    batch.depth = depth;
    batch.untold = std::move(untold_);
    batch.watched = std::move(watched_);
    untold_ = {};
    watched_.clear();
    definitions_.clear();
    used_ = 0;
    observed_.bytes.clear();
    is_watched_.bytes.clear();
    orbits_.clear();
    count_ = 0;
    return batch;
}

bool Inlet::open(std::span<const char> bytes, const Layout& layout) {
    const auto require = [&](bool fine) {
        if (!fine) throw std::runtime_error("a batch of states is damaged");
    };
    BatchHead head;
    require(bytes.size() >= sizeof head);
    std::memcpy(&head, bytes.data(), sizeof head);
    bytes_ = bytes;
    count_ = head.states;
    depth_ = head.depth;
    any_watched_ = head.any_watched != 0;
    symmetric_ = head.symmetric != 0;
    at_ = 0;
    std::size_t at = sizeof head;
    require(head.columns == tables_.width() && bytes.size() >= at + head.columns);
    std::vector<unsigned> widths;
    for (std::uint32_t i = 0; i < head.columns; ++i) widths.push_back(static_cast<unsigned char>(bytes[at++]));
    require(std::all_of(widths.begin(), widths.end(), [](unsigned width) { return width <= 32; }));
    if (widths != widths_) layout_ = Layout::of(widths_ = widths);
    std::vector<Id> definitions(head.definitions);
    require(bytes.size() >= at + definitions.size() * sizeof(Id));
    std::memcpy(definitions.data(), bytes.data() + at, definitions.size() * sizeof(Id));
    at += definitions.size() * sizeof(Id);
    states_ = at;
    observed_ = states_ + count_ * layout_.stride();
    watched_ = observed_ + (count_ + 7) / 8;
    orbits_ = watched_ + (any_watched_ ? (count_ + 7) / 8 : 0);
    require(count_ <= bytes.size() && bytes.size() == orbits_ + (symmetric_ ? count_ * sizeof(double) : 0));
    one_.resize(layout_.stride() + Layout::slack);

    bool fits = true;
    for (Id column = static_cast<Id>(known_.size()); column < widths.size(); ++column)  // budgets, told as they are
        fits &= widths[column] == 0 || layout.fits(column, static_cast<Id>((Word{1} << widths[column]) - 1));
    Inbox inbox;
    for (std::size_t i = 0; i < definitions.size();) {
        require(definitions.size() - i >= 4 && definitions.size() - i - 4 >= definitions[i + 3]);
        const Id column = definitions[i], cell = definitions[i + 1], local = definitions[i + 2];
        require(column < tables_.columns.size());
        const Known& known = known_[column];
        const Shared& shared = shared_[column];
        inbox.clear();
        for (Id k = 0; k < definitions[i + 3]; ++k) {
            const Id message = definitions[i + 4 + k];
            inbox.push_back(message < shared.messages ? message : get(known.messages, message));
        }
        i += 4 + inbox.size();
        Column& owner = *tables_.columns[column];
        const std::lock_guard guard(owner.lock);
        arrange(tables_.network, inbox, owner.sender(), owner.stands());
        const Id mine = local < shared.locals ? local : get(known.locals, local);
        const Id here = tables_.cell(owner, mine, inbox);
        set(known_[column].cells, cell, here);
        fits &= layout.fits(column, here);
    }
    return fits;
}

Inlet::Arrived Inlet::next(const Layout& layout, Word* packed) {
    const std::size_t stride = layout_.stride();
    const auto* state = reinterpret_cast<const std::byte*>(bytes_.data() + states_ + at_ * stride);
    // A stored state is read in whole words, which may lie behind the last one.
    if (at_ + 1 == count_ || stride < sizeof(Word)) {
        std::memcpy(one_.data(), state, stride);
        state = one_.data();
    }
    Arrived arrived{0, 1, bit(observed_), any_watched_ && bit(watched_)};
    std::fill_n(packed, layout.words(), Word{0});
    layout_.look(state, [&](Id column, Id cell) {
        const Id here = column < known_.size() ? get(known_[column].cells, cell) : cell;
        layout.put(packed, column, here);
        arrived.sum += layout.factor(column) * here;
    });
    if (symmetric_) std::memcpy(&arrived.orbit, bytes_.data() + orbits_ + at_ * sizeof(double), sizeof arrived.orbit);
    ++at_;
    return arrived;
}

}  // namespace quorate
