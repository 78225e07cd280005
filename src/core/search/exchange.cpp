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

void append_bits(std::string& bytes, const std::vector<bool>& bits) {
    const std::size_t begin = bytes.size();
    bytes.resize(begin + (bits.size() + 7) / 8, '\0');
    for (std::size_t i = 0; i < bits.size(); ++i)
        if (bits[i]) bytes[begin + i / 8] = static_cast<char>(bytes[begin + i / 8] | 1 << (i % 8));
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
    const std::size_t stride = layout.stride();
    const std::byte* packed = reinterpret_cast<const std::byte*>(words);
    cells_.resize(tables_.width());
    layout.unpack(packed, cells_.data());
    for (Id column = 0; column < told_.size(); ++column) {
        const std::vector<bool>& told = told_[column].cells;
        if (cells_[column] >= told.size() || !told[cells_[column]]) define(column, cells_[column]);
    }
    states_.insert(states_.end(), packed, packed + stride);
    observed_.push_back(observed);
    is_watched_.push_back(watched != none);
    if (symmetric_) orbits_.push_back(orbit);
    if (watched != none) watched_.push_back(watched);
    ++count_;
}

void Outbox::define(Id column, Id cell) {
    Told& told = told_[column];
    mark(told.cells, cell);
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
    append(batch.bytes, states_.data(), states_.size());
    append_bits(batch.bytes, observed_);
    if (head.any_watched) append_bits(batch.bytes, is_watched_);
    if (symmetric_) append(batch.bytes, orbits_.data(), orbits_.size());
    batch.states = count_;
    batch.depth = depth;
    batch.untold = std::move(untold_);
    batch.watched = std::move(watched_);
    untold_ = {};
    watched_.clear();
    definitions_.clear();
    states_.clear();
    observed_.clear();
    is_watched_.clear();
    orbits_.clear();
    count_ = 0;
    return batch;
}

void Inlet::open(std::span<const char> bytes) {
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
        set(known_[column].cells, cell, tables_.cell(owner, mine, inbox));
    }
}

void Inlet::next(std::vector<Id>& cells, bool& observed, bool& watched, double& orbit) {
    const std::size_t stride = layout_.stride();
    const char* state = bytes_.data() + states_ + at_ * stride;
    // A stored state is read in whole words, which may lie behind the last one.
    if (at_ + 1 == count_ || stride < sizeof(Word)) {
        std::memcpy(one_.data(), state, stride);
        layout_.unpack(one_.data(), cells.data());
    } else {
        layout_.unpack(reinterpret_cast<const std::byte*>(state), cells.data());
    }
    for (Id column = 0; column < known_.size(); ++column) cells[column] = get(known_[column].cells, cells[column]);
    observed = bit(observed_);
    watched = any_watched_ && bit(watched_);
    orbit = 1;
    if (symmetric_) std::memcpy(&orbit, bytes_.data() + orbits_ + at_ * sizeof(double), sizeof orbit);
    ++at_;
}

}  // namespace quorate
