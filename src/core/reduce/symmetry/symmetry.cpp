#include "reduce/symmetry/symmetry.hpp"

#include <numeric>
#include <set>

#include "base/thresholds.hpp"

namespace quorate {

namespace {

// What an outcome does, renamed: outcomes are compared as a set of such lists.
using Signature = std::vector<Id>;

class Comparison {
public:
    Comparison(Tables& tables, const Closure& closure, const Renaming& renaming, const std::vector<Id>& failures)
        : tables_(tables), closure_(closure), renaming_(renaming), failures_(failures) {}

    std::optional<Breach> find() {
        // Behaviours first, as far as they have images: where the two begin to differ is what the user wants to know.
        for (const auto& column : tables_.columns)
            for (Id local = 0; local < known(*column); ++local)
                if (auto breach = compare(*column, local)) return breach;
        for (const auto& column : tables_.columns)
            if (auto breach = names_exist(*column)) return breach;
        for (const auto& column : tables_.columns) {
            if (auto breach = beginning(*column)) return breach;
            for (Id local = 0; local < known(*column); ++local)
                if (auto breach = compare_guards(*column, local)) return breach;
        }
        return initials();
    }

    std::optional<Breach> find_at_start() {
        for (const auto& column : tables_.columns)
            if (auto breach = beginning(*column)) return breach;
        return initials();
    }

private:
    std::optional<Breach> initials() const {
        std::set<std::pair<std::vector<Id>, std::vector<Inbox>>> initials;
        for (std::size_t i = 0; i < tables_.initials.size(); ++i)
            initials.emplace(tables_.initials[i], tables_.initial_inboxes(i));
        for (const auto& [locals, inboxes] : initials) {
            std::vector<Id> image(locals.size());
            std::vector<Inbox> pending(inboxes.size());
            // Of a set of configurations the beginning holds one, without any operation: no name.
            for (Id i = 0; i < locals.size(); ++i)
                image[renaming_.columns[i]] =
                    tables_.columns[i]->configurations ? locals[i] : renaming_.locals[i][locals[i]];
            for (Id i = 0; i < inboxes.size(); ++i) {
                const Column& receiver = *tables_.columns[renaming_.columns[i]];
                Inbox& inbox = pending[receiver.index];
                for (Id message : inboxes[i]) inbox.push_back(renaming_.messages[i][message]);
                arrange(tables_.network, inbox, receiver.sender(), receiver.stands());
            }
            if (!initials.contains({image, pending})) return Breach{"initial"};
        }
        return std::nullopt;
    }

    // A monitor that grows is compared while the search asks for its reactions.
    static std::size_t known(const Column& column) { return column.grows ? 0 : column.locals.size(); }

    std::optional<Breach> names_exist(const Column& column) const {
        const auto& locals = renaming_.locals[column.index];
        for (Id local = 0; local < known(column); ++local)
            if (locals[local] == none && column.locals[local].home == none) return Breach{"local", column.index, local};
        const auto& messages = renaming_.messages[column.index];
        for (Id message = 0; message < messages.size(); ++message)
            if (messages[message] == none) return Breach{"message", column.index, message};
        const Column& image = *tables_.columns[renaming_.columns[column.index]];
        const auto size = [](const Column& each) {
            if (!each.reading) return each.locals.size();
            std::size_t count = 0;
            for (Id local = 0; local < each.locals.size(); ++local) count += each.locals[local].home == none;
            return count;
        };
        if (size(column) != size(image) || column.messages.size() != image.messages.size())
            return Breach{"local", column.index};
        return std::nullopt;
    }

    // What is pending from the beginning, and what is sent when the process crashes.
    std::optional<Breach> beginning(const Column& column) const {
        const Column& other = *tables_.columns[renaming_.columns[column.index]];
        Inbox opening;
        for (Id message : column.opening) opening.push_back(renaming_.messages[column.index][message]);
        Inbox wanted = other.opening;
        std::sort(opening.begin(), opening.end());
        std::sort(wanted.begin(), wanted.end());
        if (opening != wanted || column.input != other.input || column.clean != other.clean)
            return Breach{"initial", column.index};
        for (Id message = 0; message < column.messages.size(); ++message) {
            const Id image = renaming_.messages[column.index][message];
            if (image != none && column.messages[message].stands != other.messages[image].stands)
                return Breach{"initial", column.index};
        }
        if (sent(column.notices, true) != sent(other.notices, false)) return Breach{"crash", column.index};
        return std::nullopt;
    }

    std::optional<Breach> compare(Column& column, Id local) const {
        Column& other = *tables_.columns[renaming_.columns[column.index]];
        const auto& locals = renaming_.locals[column.index];
        const Id image = locals[local];
        if (image == none) return std::nullopt;
        const Local &mine = column.locals[local], &its = other.locals[image];
        const auto moved = [&](Id place) { return place == none ? none : locals[place]; };
        if (mine.crashed != its.crashed || failure(mine.failure) != failure(its.failure) ||
            moved(mine.crash) != its.crash || moved(mine.recovery) != its.recovery)
            return Breach{"crash", column.index, local};
        if (!column.reading) return compare_steps(column, other, local, image);
        if (mine.home != none) return std::nullopt;  // with the local state that it is a view of
        return compare_views(column, other, local, image, {});
    }

    // Whatever this local state does having read something, the other one does having read the renamed: in which order
    // they read does not matter, nor whether one reads more.
    using Known = std::map<Id, Id>;  // by shared cell, what it holds
    std::optional<Breach> compare_views(Column& column, Column& other, Id local, Id image, Known known) const {
        const Local& mine = column.locals[local];
        if (mine.reads == none) return compare_seen(column, other, local, image, known);
        const Id shared = renaming_.columns[mine.reads];
        for (Id value = 0; value < mine.views.size(); ++value) {
            if (mine.views[value] == none) continue;
            known[shared] = renaming_.locals[mine.reads][value];
            if (known[shared] == none) return Breach{"local", mine.reads, value};
            if (auto breach = compare_views(column, other, mine.views[value], image, known)) return breach;
        }
        return std::nullopt;
    }
    std::optional<Breach> compare_seen(Column& column, Column& other, Id local, Id image, const Known& known) const {
        const Local& its = other.locals[image];
        if (its.reads == none) return compare_steps(column, other, local, image);
        const auto read = known.find(its.reads);
        for (Id value = 0; value < its.views.size(); ++value) {
            if (its.views[value] == none || (read != known.end() && read->second != value)) continue;
            if (auto breach = compare_seen(column, other, local, its.views[value], known)) return breach;
        }
        return std::nullopt;
    }
    std::optional<Breach> compare_steps(Column& column, Column& other, Id local, Id image) const {
        if (column.reading)
            if (auto breach = compare_enabled(column, other, local, image)) return breach;
        for (const Closure::Enabled& one : closure_.enabled[column.index][local]) {
            const Id set = column.monitor ? renaming_.messages[column.index][one.set] : renamed(column, other, one.set);
            if (set == none) continue;
            const auto* known = other.behaviours.find(other.key(one.transition, image, set));
            if (known == nullptr || signatures(*one.behaviour, column, true) != signatures(**known, other, false))
                return Breach{"behaviour", column.index, local, one.transition};
        }
        return std::nullopt;
    }

    // What is enabled there must be enabled here too; and what is looked at on the way.
    std::optional<Breach> compare_guards(const Column& column, Id local) const {
        const Column& other = *tables_.columns[renaming_.columns[column.index]];
        if (column.reading) return std::nullopt;  // compared with the steps, view by view
        return compare_enabled(column, other, local, renaming_.locals[column.index][local]);
    }
    std::optional<Breach> compare_enabled(const Column& column, const Column& other, Id local, Id image) const {
        if (closure_.enabled[column.index][local].size() != closure_.enabled[other.index][image].size())
            return Breach{"guard", column.index, local};
        if (!column.monitor && !column.locals[local].crashed)
            for (Id transition = 0; transition < column.transitions.size(); ++transition)
                if (!filters_agree(column, other, transition, local, image))
                    return Breach{"guard", column.index, local, transition};
        return std::nullopt;
    }

    // Which messages a quorum refuses, and which it groups, decides what is passed over in a FIFO channel and what is
    // maximal; everywhere else the behaviours say it all.
    bool filters_agree(const Column& column, const Column& other, Id transition, Id local, Id image) const {
        const bool heads = tables_.network.refusals_matter();
        const Mode mode = column.transitions[transition].mode;
        if (mode <= Mode::single || !(heads || mode == Mode::maximal)) return true;
        std::map<Id, Id> groups;
        for (Id message = 0; message < column.messages.size(); ++message) {
            const Id* mine = column.groups.find(column.key(transition, local, message));
            const Id* its = other.groups.find(other.key(transition, image, renaming_.messages[column.index][message]));
            if ((mine == nullptr) != (its == nullptr)) return false;
            if (mine == nullptr) continue;
            if ((*mine == rejected) != (*its == rejected)) return false;
            if (*mine != rejected && groups.emplace(*mine, *its).first->second != *its) return false;
        }
        return true;
    }

    Id renamed(const Column& column, Column& other, Id set) const {
        std::vector<Id> image;
        for (Id message : column.sets[set]) image.push_back(renaming_.messages[column.index][message]);
        std::sort(image.begin(), image.end());
        return !image.empty() && image.back() == none ? none : other.sets.intern(image);
    }
    Id failure(Id id) const { return id == none ? none : failures_[id]; }

    std::set<Signature> signatures(const Behaviour& behaviour, const Column& column, bool rename) const {
        std::set<Signature> result;
        for (const Outcome& outcome : behaviour.outcomes) {
            Id next = outcome.local, failed = none;
            if (next != none) {
                failed = failure(column.locals[next].failure);  // of a monitor; which of several texts does not matter
                if (failed != none) next = none;
                // One without an image is told apart from having no next local state at all.
                else if (rename)
                    next = std::min(renaming_.locals[column.index][next], full);
            }
            Signature signature{static_cast<Id>(outcome.effect), failure(outcome.failure), next, failed};
            const Signature messages = sent(outcome.sends, rename);
            signature.insert(signature.end(), messages.begin(), messages.end());
            result.insert(std::move(signature));
        }
        return result;
    }

    // The messages by receiver. Where they are put into a set or a multiset their order has no effect; into channels
    // and for monitors it may have one.
    Signature sent(const std::vector<Send>& sends, bool rename) const {
        std::vector<std::pair<Id, Id>> list;
        for (const Send& send : sends)
            list.emplace_back(rename ? renaming_.columns[send.column] : send.column,
                              rename ? renaming_.messages[send.column][send.message] : send.message);
        const bool ordered = tables_.network.sends_conflict();
        std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) {
            if (a.first != b.first) return a.first < b.first;
            return !ordered && !tables_.columns[a.first]->monitor && a.second < b.second;
        });
        Signature result;
        for (const auto& [column, message] : list) result.insert(result.end(), {column, message});
        return result;
    }

    Tables& tables_;
    const Closure& closure_;
    const Renaming& renaming_;
    const std::vector<Id>& failures_;
};

}  // namespace

std::optional<Breach> find_breach(Tables& tables, const Closure& closure, const Renaming& renaming,
                                  const std::vector<Id>& failures) {
    return Comparison(tables, closure, renaming, failures).find();
}

std::optional<Breach> find_breach_at_start(Tables& tables, const Renaming& renaming) {
    return Comparison(tables, {}, renaming, {}).find_at_start();
}

Symmetry::Symmetry(Tables& tables, Description description)
    : tables(tables),
      width_(tables.columns.size()),
      owned_(std::move(description.owned)),
      owner_(tables.columns.size(), none),
      kind_(tables.columns.size(), none),
      open_(description.open),
      grows_(tables.columns.size()),
      grown_(tables.columns.size()),
      grown_messages_(tables.columns.size()),
      local_marks_(std::move(description.locals)),
      message_marks_(std::move(description.messages)) {
    for (Id size : description.families) starts_.push_back(starts_.back() + size);
    names_ = starts_.back();
    pairs_.assign(static_cast<std::size_t>(names_) * names_, none);
    for (Id name = 0; name < names_; ++name) {
        for (Id i = 0; i < owned_[name].size(); ++i) {
            owner_[owned_[name][i]] = name;
            kind_[owned_[name][i]] = i;
        }
    }
    for (Id family = 0; family < families(); ++family) {
        for (Id two = starts_[family]; two < starts_[family + 1]; ++two) {
            for (Id one = starts_[family]; one < two; ++one) {
                const Id number = static_cast<Id>(exchanged_.size());
                exchanged_.emplace_back(one, two);
                pairs_[static_cast<std::size_t>(one) * names_ + two] = number;
                pairs_[static_cast<std::size_t>(two) * names_ + one] = number;
            }
        }
    }
    exchanges_.resize(exchanged_.size());
    for (const auto& column : tables.columns) grows_[column->index] = column->grows;
    for (Id family = 0; family < families(); ++family) {
        for (Id one = starts_[family]; one + 1 < starts_[family + 1]; ++one) {
            Renaming& given = description.exchanges[family][one - starts_[family]];
            moved_.push_back(given.columns);
            if (!open_) exchanges_[pair(one, one + 1)] = std::make_unique<const Exchange>(changed(std::move(given)));
            neighbours_.emplace_back(pair(one, one + 1), family);
        }
    }
    prepare();
}

namespace {

// Views have no images: no state holds them.
bool changes_nothing(const std::vector<Id>& images) {
    for (Id i = 0; i < images.size(); ++i)
        if (images[i] != i && images[i] != none) return false;
    return true;
}

}  // namespace

Symmetry::Exchange Symmetry::changed(Renaming renaming) const {
    Exchange result;
    for (Id column = 0; column < width_; ++column) {
        if (grows_[column]) continue;
        auto &locals = renaming.locals[column], &messages = renaming.messages[column];
        if (renaming.columns[column] == column && changes_nothing(locals) && changes_nothing(messages)) continue;
        result.push_back({column, renaming.columns[column], std::move(locals), std::move(messages)});
    }
    return result;
}

Symmetry::Exchange Symmetry::compose(const Exchange& outer, const Exchange& inner) const {
    const auto part = [](const Exchange& exchange, Id column) -> const Part* {
        const auto before = [](const Part& one, Id other) { return one.column < other; };
        const auto found = std::lower_bound(exchange.begin(), exchange.end(), column, before);
        return found != exchange.end() && found->column == column ? &*found : nullptr;
    };
    std::vector<Id> columns;
    for (const Exchange* each : {&outer, &inner})
        for (const Part& one : *each) columns.push_back(one.column);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    Exchange result;
    for (Id column : columns) {
        const Part* first = part(inner, column);
        const Part* second = part(outer, first != nullptr ? first->to : column);
        if (first == nullptr || second == nullptr) {
            result.push_back(first != nullptr ? *first : *second);
            continue;
        }
        Part both{column, second->to, first->locals, first->messages};
        for (Id& local : both.locals)
            if (local != none) local = second->locals[local];
        for (Id& message : both.messages) message = second->messages[message];
        if (both.to != column || !changes_nothing(both.locals) || !changes_nothing(both.messages))
            result.push_back(std::move(both));
    }
    return result;
}

// (i j) = (j-1 j) (i j-1) (j-1 j), from the neighbour outwards.
const Symmetry::Exchange& Symmetry::exchange(Id one, Id two) {
    const std::lock_guard guard(exchanges_lock_);
    const Exchange* known = exchanges_[pair(one, one + 1)].get();
    for (Id name = one + 2; name <= two; ++name) {
        auto& place = exchanges_[pair(one, name)];
        if (place == nullptr) {
            const Exchange& last = *exchanges_[pair(name - 1, name)];
            place = std::make_unique<const Exchange>(compose(last, compose(*known, last)));
        }
        known = place.get();
    }
    return *known;
}

void Symmetry::prepare() {
    actions_ = std::vector<std::atomic<Row*>>(exchanged_.size());
    action_rows_.clear();
    images_.clear();
    marks_.clear();
    rows_.clear();
    used_ = 0;
    for (std::size_t i = 0; i < width_; ++i) marks_.push_back(std::make_unique<Lazy<const std::uint64_t*>>(nullptr));
    for (auto& seen : alike_) seen = std::make_unique<Interner>();
    broken.reset();
    // A class of local states is renamed to a class, but not its representative to the other's: so the marks of a class
    // are the sums over its members.
    merged_marks_.assign(width_, {});
    for (const auto& column : tables.columns) {
        if (column->configurations) continue;
        const bool listed = open_ || grows_[column->index];
        const std::size_t count = listed ? local_marks_[column->index].size() : column->locals.size();
        merged_marks_[column->index].assign(count * names_, 0);
        for (Id local = 0; local < count; ++local)
            if (!listed || has_local(column->index, local)) add_marks(*column, local);
    }
}

void Symmetry::add_marks(const Column& column, Id local) {
    const Marks& marks = local_marks_[column.index][local];
    const Id merged = tables.merged(column, local);  // none outside of an optimistic universe
    std::uint64_t* row =
        merged_marks_[column.index].data() + static_cast<std::size_t>(merged == none ? local : merged) * names_;
    for (Id name = 0; name < names_; ++name) row[name] += mix(marks.base);
    for (const auto& [name, mark] : marks.of) row[name] += mix(mark) - mix(marks.base);
}

void Symmetry::add_local(Id column, Id local, std::vector<Id> images, Marks marks) {
    if (grown_[column].size() <= local) {
        grown_[column].resize(local + 1);
        local_marks_[column].resize(local + 1);
        merged_marks_[column].resize((local + std::size_t{1}) * names_);
    }
    grown_[column][local] = std::move(images);
    local_marks_[column][local] = std::move(marks);
    add_marks(*tables.columns[column], local);
}

void Symmetry::add_message(Id column, Id message, std::vector<Id> images, Marks marks) {
    if (grown_messages_[column].size() <= message) {
        grown_messages_[column].resize(message + 1);
        message_marks_[column].resize(message + 1);
    }
    grown_messages_[column][message] = std::move(images);
    message_marks_[column][message] = std::move(marks);
}

// (i j) as exchanges of neighbours: up to j, and back.
template <typename Visit>
void Symmetry::by_neighbours(Id one, Id two, Visit visit) const {
    const auto first = std::upper_bound(starts_.begin(), starts_.end(), one) - starts_.begin() - 1;
    const auto exchange = [&](Id name) { visit(name - static_cast<Id>(first)); };
    for (Id name = one; name + 1 < two; ++name) exchange(name);
    for (Id name = two; name-- > one;) exchange(name);
}

Id Symmetry::grown_image(Id one, Id two, Id column, Id local) const {
    Column& monitor = *tables.columns[column];
    if (monitor.configurations) {
        const std::lock_guard guard(monitor.lock);
        return monitor.exchanged(pair(one, two), local);
    }
    by_neighbours(one, two, [&](Id exchange) {
        local = image_of_local(exchange, column, local);
        column = moved_[exchange][column];
    });
    return local;
}

// The image of a cell of a process, local state and messages one after the other.
Id Symmetry::open_image(Id one, Id two, Id column, Id cell) {
    const Column& from = *tables.columns[column];
    Id local = from.cells[cell].local, place = column;
    const std::span<const Id> pending = from.inboxes[from.cells[cell].inbox];
    Inbox inbox(pending.begin(), pending.end());
    by_neighbours(one, two, [&](Id exchange) {
        local = image_of_local(exchange, place, local);
        for (Id& message : inbox) message = image_of_message(exchange, place, message);
        place = moved_[exchange][place];
    });
    Column& to = *tables.columns[place];
    arrange(tables.network, inbox, to.sender(), to.stands());
    const std::lock_guard guard(to.lock);
    return tables.cell(to, local, inbox);
}

Id Symmetry::build_action(Id pair, Id column, Id cell) {
    const auto [one, two] = exchanged_[pair];
    Id image = cell;
    if (grows_[column]) {
        Column& monitor = *tables.columns[column];
        const Id local = grown_image(one, two, column, monitor.cells[cell].local);
        const std::lock_guard guard(monitor.lock);  // after the image, which takes it as well
        image = tables.cell(monitor, local, {});
    } else if (open_) {
        image = open_image(one, two, column, cell);
    } else {
        const Exchange& parts = exchange(one, two);
        const auto before = [](const Part& each, Id other) { return each.column < other; };
        const auto part = std::lower_bound(parts.begin(), parts.end(), column, before);
        if (part != parts.end() && part->column == column) {
            const Column& from = *tables.columns[column];
            Column& to = *tables.columns[part->to];
            const std::span<const Id> pending = from.inboxes[from.cells[cell].inbox];
            Inbox inbox;
            for (Id message : pending) inbox.push_back(part->messages[message]);
            arrange(tables.network, inbox, to.sender(), to.stands());
            const std::lock_guard guard(to.lock);
            image = tables.cell(to, part->locals[from.cells[cell].local], inbox);
        }
    }
    const std::lock_guard guard(lock_);
    Row* row = actions_[pair].load(std::memory_order_relaxed);
    if (row == nullptr) {
        row = action_rows_.emplace_back(std::make_unique<Row[]>(width_)).get();
        actions_[pair].store(row, std::memory_order_release);
    }
    Lazy<Id>* known = row[column].load(std::memory_order_relaxed);
    if (known == nullptr) {
        known = images_.emplace_back(std::make_unique<Lazy<Id>>(none)).get();
        row[column].store(known, std::memory_order_release);
    }
    known->put(cell, image);
    return image;
}

const std::uint64_t* Symmetry::build_marks(Id column, Id cell) {
    const Column& owner = *tables.columns[column];
    const bool ordered = tables.network.ordered();
    const std::span<const Id> pending = owner.inboxes[owner.cells[cell].inbox];
    std::vector<std::uint64_t> row(names_ + 2), own(names_);
    const std::uint64_t* local = own.data();
    if (owner.configurations) {
        const std::lock_guard guard(tables.columns[column]->lock);
        for (Id name : owner.configurations->add_marks(owner.cells[cell].local, own)) row[names_ + 1] |= bit(name);
    } else {
        local = merged_marks_[column].data() + static_cast<std::size_t>(owner.cells[cell].local) * names_;
    }
    // Columns of one family count alike; all others are told apart.
    const Id mine = owner_[column];
    std::uint64_t place = mix(column + 1);
    if (mine != none) {
        const auto family = std::upper_bound(starts_.begin(), starts_.end(), mine) - starts_.begin();
        place = mix(mix(static_cast<std::uint64_t>(family) << 32) + kind_[column]);
    }
    std::vector<std::uint64_t> mark(pending.size());
    for (Id name = 0; name < names_; ++name) {
        for (std::size_t i = 0; i < pending.size(); ++i) {
            const Marks& marks = message_marks_[column][pending[i]];
            mark[i] = marks.base;
            for (const auto& [other, value] : marks.of)
                if (other == name) mark[i] = value;
        }
        std::uint64_t sum = local[name], channel = 0;
        for (std::size_t i = 0; i < pending.size(); ++i) {
            const Message& message = owner.messages[pending[i]];
            // The order within a channel counts; who its sender is, is part of every message's mark.
            const bool behind = i > 0 && owner.messages[pending[i - 1]].sender == message.sender;
            channel = ordered && behind && !message.stands ? mix(channel + mark[i]) : mix(mark[i]);
            sum += mix(channel);
        }
        row[name] = mix(sum ^ place ^ (mine == name ? 0x9e3779b97f4a7c15ULL : 0));
    }
    row[names_] = tables.content(column, cell);
    const auto note = [&](const Marks& marks) {
        for (const auto& each : marks.of) row[names_ + 1] |= bit(std::get<0>(each));
    };
    if (!owner.configurations) note(local_marks_[column][owner.cells[cell].local]);
    for (Id message : pending) note(message_marks_[column][message]);
    const std::lock_guard guard(lock_);
    if (const std::uint64_t* known = marks_[column]->get(cell)) return known;
    constexpr std::size_t together = 1024;  // rows that are allocated at once, so that they lie close to one another
    if (used_ == 0) rows_.push_back(std::make_unique<std::uint64_t[]>(together * row.size()));
    std::uint64_t* place_of = rows_.back().get() + used_ * row.size();
    used_ = (used_ + 1) % together;
    std::copy(row.begin(), row.end(), place_of);
    marks_[column]->put(cell, place_of);
    return place_of;
}

LargeProduct Symmetry::order() const {
    LargeProduct product;
    for (Id family = 0; family < families(); ++family)
        for (Id i = 2; i <= starts_[family + 1] - starts_[family]; ++i) product *= i;
    return product;
}

void Symmetry::observe(std::span<const Id> locals, std::vector<Id>& seen) const {
    seen.resize(locals.size());
    for (Id i = 0; i < locals.size(); ++i) seen[i] = tables.columns[i]->locals[locals[i]].observation;
}

bool Symmetry::judged_alike(std::span<const Id> cells, bool final) const {
    std::vector<Id> seen(width_);
    for (Id i = 0; i < width_; ++i) seen[i] = tables.columns[i]->cells[cells[i]].observation;
    return alike_[final]->find(seen) != none;
}

bool Symmetry::judge_all(std::vector<Property>& properties, Oracle& oracle, std::span<const Id> cells, bool final) {
    Interner& alike = *alike_[final];
    const auto compared = [&](const Property& property) {
        return (property.kind == PropertyKind::final) == final && !property.symmetric &&
               property.kind != PropertyKind::bound;
    };
    std::vector<std::vector<Id>> todo(1, locals_of(tables, cells));
    std::vector<Id> seen, image(width_);
    std::vector<Verdict> first;
    Id family = 0;
    observe(todo.front(), seen);
    if (alike.find(seen) != none) return true;
    alike.intern(seen);
    // What is put on the list was reached by an exchange of names of the family beside it.
    std::vector<Id> families(1, 0);
    while (!todo.empty()) {
        const std::vector<Id> locals = std::move(todo.back());
        family = families.back();
        todo.pop_back();
        families.pop_back();
        std::vector<Verdict> verdicts;
        for (std::size_t i = 0; i < properties.size(); ++i) {
            if (!compared(properties[i])) continue;
            if (properties[i].trie.walk_locals(tables, locals) == Verdict::unknown && !oracle.judge(i, locals))
                return false;
            verdicts.push_back(properties[i].trie.walk_locals(tables, locals));
        }
        if (first.empty()) first = verdicts;
        if (first != verdicts) {
            const auto place = std::mismatch(first.begin(), first.end(), verdicts.begin()).first - first.begin();
            std::size_t property = 0;
            for (auto left = place; property < properties.size(); ++property)
                if (compared(properties[property]) && left-- == 0) break;
            broken = Broken{family, property};
            return false;
        }
        for (const auto& [exchange, which] : neighbours_) {
            // Whether it is the one that stands for its class is all the same: properties see no difference.
            const auto [one, two] = exchanged_[exchange];
            std::copy(locals.begin(), locals.end(), image.begin());
            if (!open_)
                for (const Part& part : *exchanges_[exchange]) image[part.to] = part.locals[locals[part.column]];
            for (Id column = 0; column < width_; ++column)
                if (open_ || grows_[column])
                    image[this->column(one, two, column)] = grown_image(one, two, column, locals[column]);
            observe(image, seen);
            if (alike.find(seen) != none) continue;
            alike.intern(seen);
            todo.push_back(image);
            families.push_back(which);
        }
        if (alike.size() > thresholds.most_judged) {
            Id largest = 0;
            for (Id i = 0; i < this->families(); ++i)
                if (starts_[i + 1] - starts_[i] > starts_[largest + 1] - starts_[largest]) largest = i;
            broken = Broken{largest, none};
            return false;
        }
    }
    return true;
}

}  // namespace quorate
