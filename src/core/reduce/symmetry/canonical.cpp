#include "reduce/symmetry/canonical.hpp"

#include <numeric>

namespace quorate {

Canonical::Canonical(Symmetry& symmetry)
    : symmetry_(symmetry),
      names_(symmetry.names()),
      base_(names_),
      colours_(names_),
      order_(names_),
      now_(names_),
      at_(names_),
      image_(symmetry.tables.width()),
      rows_(symmetry.tables.columns.size()),
      order_of_group_(symmetry.order()),
      twin_(names_) {}

void Canonical::expand(const std::vector<Id>& cells) {
    std::fill(base_.begin(), base_.end(), 0);
    for (Id column = 0; column < rows_.size(); ++column) {
        const std::uint64_t* marks = rows_[column] = symmetry_.marks(column, cells[column]);
        for (Id name = 0; name < names_; ++name) base_[name] += marks[name];
    }
}

const std::vector<Id>& Canonical::of(const std::vector<Id>& cells, std::span<const Expander::Change> changes) {
    colours_ = base_;
    undo_.clear();
    for (const auto& [column, before, after] : changes) {
        if (column >= rows_.size()) continue;  // the budgets, which name nobody
        const std::uint64_t *old = rows_[column], *fresh = symmetry_.marks(column, after);
        undo_.emplace_back(column, old);
        rows_[column] = fresh;
        for (Id name = 0; name < names_; ++name) colours_[name] += fresh[name] - old[name];
    }
    const std::vector<Id>& found = form(cells);
    for (std::size_t i = undo_.size(); i-- > 0;) rows_[undo_[i].first] = undo_[i].second;
    return found;
}

const std::vector<Id>& Canonical::of(const std::vector<Id>& cells) {
    expand(cells);
    colours_ = base_;
    return form(cells);
}

const std::vector<Id>& Canonical::form(const std::vector<Id>& cells) {
    const bool moved = sort(colours_);
    automorphisms_of_form_ = {};
    look_for_names();
    for (Id family = 0; family < symmetry_.families(); ++family) {
        double run = 1;
        for (Id i = symmetry_.start(family) + 1; i < symmetry_.start(family + 1); ++i) {
            if (colours_[order_[i - 1]] != colours_[order_[i]]) {
                run = 1;
                continue;
            }
            if (!twins(order_[i - 1], order_[i], cells)) return branch(cells);
            automorphisms_of_form_ *= ++run;
        }
    }
    if (!moved) return cells;
    apply(cells, image_);
    return image_;
}

bool Canonical::sort(const Colours& colours) {
    bool moved = false;
    for (Id family = 0; family < symmetry_.families(); ++family) {
        const Id start = symmetry_.start(family), end = symmetry_.start(family + 1);
        for (Id i = start; i < end; ++i) {
            Id place = i;
            for (; place > start && colours[order_[place - 1]] > colours[i]; --place) order_[place] = order_[place - 1];
            order_[place] = i;
            moved |= place != i;
        }
    }
    return moved;
}

bool Canonical::twins(Id one, Id two, const std::vector<Id>& cells) {
    const Id pair = symmetry_.pair(one, two);
    const std::uint64_t both = bit(one) | bit(two);
    const auto kept = [&](Id column) {
        return symmetry_.act(pair, column, cells[column]) == cells[symmetry_.column(one, two, column)];
    };
    if ((held_ & both) == 0)  // in no column: then the exchange concerns those that the two own, and no others
        return std::all_of(symmetry_.owned(one).begin(), symmetry_.owned(one).end(), kept) &&
               std::all_of(symmetry_.owned(two).begin(), symmetry_.owned(two).end(), kept);
    for (Id column = 0; column < rows_.size(); ++column) {
        const Id owner = symmetry_.owner(column);
        if (owner != one && owner != two && (mentioned(column) & both) == 0) continue;
        if (!kept(column)) return false;
    }
    return true;
}

// With many names it is worth knowing which of them are stored or sent anywhere.
void Canonical::look_for_names() {
    if (names_ < 16) return;
    held_ = 0;
    for (Id column = 0; column < rows_.size(); ++column) held_ |= mentioned(column);
}

void Canonical::apply(const std::vector<Id>& cells, std::vector<Id>& image) {
    std::iota(now_.begin(), now_.end(), Id{0});  // what a name is called by now
    std::iota(at_.begin(), at_.end(), Id{0});    // who is called so by now
    exchanges_.clear();
    std::uint64_t moved = 0;
    for (Id place = 0; place < names_; ++place) {
        const Id name = order_[place], called = now_[name];
        if (name != place) moved |= bit(name);
        if (called == place) continue;
        exchanges_.push_back({symmetry_.pair(place, called), place, called});
        const Id other = at_[place];
        now_[other] = called;
        at_[called] = other;
        now_[name] = place;
        at_[place] = name;
    }
    image.resize(cells.size());
    if (cells.size() > rows_.size()) image.back() = cells.back();
    for (Id column = 0; column < rows_.size(); ++column) {
        const Id owner = symmetry_.owner(column);
        Id cell = cells[column], place = column;
        if ((mentioned(column) & moved & ~(owner == none || !symmetry_.own_bits() ? 0 : bit(owner))) == 0) {
            // Nobody who gets another name occurs in it, so it only moves along with its owner.
            if (owner != none && now_[owner] != owner) {
                const Id pair = symmetry_.pair(owner, now_[owner]);
                cell = symmetry_.act(pair, column, cell);
                place = symmetry_.column(owner, now_[owner], column);
            }
        } else {
            for (const Exchange& exchange : exchanges_) {
                cell = symmetry_.act(exchange.pair, place, cell);
                place = symmetry_.column(exchange.one, exchange.two, place);
            }
        }
        image[place] = cell;
    }
}

// --- ties ---

const std::vector<Id>& Canonical::branch(const std::vector<Id>& cells) {
    find_twins(cells);
    automorphisms_of_form_ = {};
    for (Id name = 0; name < names_; ++name)
        automorphisms_of_form_ *= static_cast<double>(std::count(twin_.begin(), twin_.begin() + name + 1, twin_[name]));
    path_.clear();
    automorphisms_.clear();
    first_.image.clear();
    best_.image.clear();
    follow(cells, colours_);
    return best_.image;
}

// Being twins is transitive, so it is enough to look at the first of each kind.
void Canonical::find_twins(const std::vector<Id>& cells) {
    for (Id family = 0; family < symmetry_.families(); ++family) {
        for (Id name = symmetry_.start(family); name < symmetry_.start(family + 1); ++name) {
            twin_[name] = name;
            for (Id other = symmetry_.start(family); other < name; ++other) {
                if (twin_[other] != other || colours_[other] != colours_[name]) continue;
                if (!twins(other, name, cells)) continue;
                twin_[name] = other;
                break;
            }
        }
    }
}

// Colours by the colours of the names that occur in the same cells, until that tells no more of them apart.
void Canonical::refine(const std::vector<Id>&, Colours& colours) {
    const auto distinct = [&] {
        Colours sorted = colours;
        std::sort(sorted.begin(), sorted.end());
        return std::unique(sorted.begin(), sorted.end()) - sorted.begin();
    };
    Colours next(names_);
    for (auto before = distinct();;) {
        for (Id name = 0; name < names_; ++name) next[name] = mix(colours[name]);
        for (Id column = 0; column < rows_.size(); ++column) {
            const Id owner = symmetry_.owner(column);
            const std::uint64_t* marks = rows_[column];
            const std::uint64_t whose = owner == none ? mix(column) : mix(colours[owner]);
            std::uint64_t all = 0;
            for (Id name = 0; name < names_; ++name) {
                next[name] += mix(marks[name] ^ whose);
                all += mix(marks[name] + mix(colours[name]));
            }
            if (owner != none) next[owner] += mix(all);
        }
        colours = next;
        const auto now = distinct();
        if (now == before) return;
        before = now;
    }
}

std::size_t Canonical::follow(const std::vector<Id>& cells, Colours colours) {
    refine(cells, colours);
    // The tie to resolve: the smallest, then the one of the smallest colour. Twins need not be told apart.
    std::vector<Id> tied;
    for (Id name = 0; name < names_; ++name) {
        std::vector<Id> same;
        for (Id other = 0; other < names_; ++other)
            if (colours[other] == colours[name] && twin_[other] == other) same.push_back(other);
        if (same.size() < 2 || same.front() != name) continue;
        if (tied.empty() || same.size() < tied.size() ||
            (same.size() == tied.size() && colours[name] < colours[tied.front()]))
            tied = same;
    }
    if (tied.empty()) return reach(cells, colours);
    const std::size_t depth = path_.size();
    std::vector<Id> followed;
    for (Id candidate : tied) {
        const std::vector<Id> orbit = orbits();
        const auto same = [&](Id other) { return orbit[other] == orbit[candidate]; };
        if (std::any_of(followed.begin(), followed.end(), same)) continue;
        followed.push_back(candidate);
        Colours chosen = colours;
        for (Id name = 0; name < names_; ++name)
            if (twin_[name] == candidate) chosen[name] = mix(chosen[name] + depth + 1);
        path_.push_back(candidate);
        const std::size_t back = follow(cells, std::move(chosen));
        path_.pop_back();
        if (back < depth) return back;
    }
    // By the orbit-stabiliser theorem along the first path: how many of the tied names its first one is mapped to.
    if (first_.path.size() > depth && std::equal(path_.begin(), path_.end(), first_.path.begin())) {
        const std::vector<Id> orbit = orbits();
        automorphisms_of_form_ *= static_cast<double>(
            std::count_if(tied.begin(), tied.end(), [&](Id name) { return orbit[name] == orbit[first_.path[depth]]; }));
    }
    return depth;
}

// The orbits of the symmetries found so far that keep the path in place: for each name the first of its orbit.
std::vector<Id> Canonical::orbits() const {
    std::vector<Id> orbit(names_);
    std::iota(orbit.begin(), orbit.end(), Id{0});
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto& map : automorphisms_) {
            const auto keeps = [&](Id name) { return twin_[map[name]] == name; };
            if (!std::all_of(path_.begin(), path_.end(), keeps)) continue;
            for (Id name = 0; name < names_; ++name) {
                Id &one = orbit[name], &two = orbit[twin_[map[twin_[name]]]];
                const Id first = std::min(one, two);
                changed |= one != first || two != first;
                one = two = first;
            }
        }
    }
    return orbit;
}

std::size_t Canonical::reach(const std::vector<Id>& cells, const Colours& colours) {
    sort(colours);
    Leaf leaf;
    leaf.order = order_;
    leaf.path = path_;
    apply(cells, leaf.image);
    for (Id column = 0; column < rows_.size(); ++column)
        leaf.content = mix(leaf.content + symmetry_.marks(column, leaf.image[column])[names_] + column);
    const auto shared = [&](const Leaf& other) {
        const auto length = std::min(other.path.size(), path_.size());
        const auto end = path_.begin() + static_cast<std::ptrdiff_t>(length);
        return static_cast<std::size_t>(std::mismatch(path_.begin(), end, other.path.begin()).first - path_.begin());
    };
    for (const Leaf* other : {&first_, &best_}) {
        if (other->image != leaf.image || other->image.empty()) continue;
        // Both orders give the same state: one after the other undone, they leave it as it is.
        std::vector<Id> map(names_);
        for (Id i = 0; i < names_; ++i) map[leaf.order[i]] = other->order[i];
        automorphisms_.push_back(std::move(map));
        return shared(*other);
    }
    if (best_.image.empty() || std::tie(leaf.content, leaf.image) < std::tie(best_.content, best_.image)) {
        if (first_.image.empty()) first_ = leaf;
        best_ = std::move(leaf);
    }
    return path_.size();
}

}  // namespace quorate
