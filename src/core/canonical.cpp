#include "canonical.hpp"

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
      scratch_(symmetry.tables.width()),
      rows_(symmetry.tables.columns.size()),
      twin_(names_) {}

void Canonical::expand(const std::vector<Id>& cells) {
    std::fill(base_.begin(), base_.end(), 0);
    for (Id column = 0; column < rows_.size(); ++column) {
        const std::uint64_t* marks = symmetry_.marks(column, cells[column]);
        for (Id name = 0; name < names_; ++name) base_[name] += marks[name];
    }
}

const std::vector<Id>& Canonical::of(const std::vector<Id>& cells, std::span<const Expander::Change> changes) {
    colours_ = base_;
    for (const auto& [column, before, after] : changes) {
        if (column >= rows_.size()) continue;  // the budgets, which name nobody
        const std::uint64_t *old = symmetry_.marks(column, before), *fresh = symmetry_.marks(column, after);
        for (Id name = 0; name < names_; ++name) colours_[name] += fresh[name] - old[name];
    }
    return normalise(cells);
}

const std::vector<Id>& Canonical::of(const std::vector<Id>& cells) {
    expand(cells);
    colours_ = base_;
    return normalise(cells);
}

const std::vector<Id>& Canonical::normalise(const std::vector<Id>& cells) {
    const bool moved = sort(colours_);
    for (Id family = 0; family < symmetry_.families(); ++family) {
        for (Id i = symmetry_.start(family) + 1; i < symmetry_.start(family + 1); ++i) {
            if (colours_[order_[i - 1]] != colours_[order_[i]]) continue;
            if (!twins(order_[i - 1], order_[i], cells)) return branch(cells);
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
    for (Id column = 0; column < rows_.size(); ++column)
        if (symmetry_.act(pair, column, cells[column]) != cells[symmetry_.column(pair, column)]) return false;
    return true;
}

void Canonical::apply(const std::vector<Id>& cells, std::vector<Id>& image) {
    image = cells;
    std::iota(now_.begin(), now_.end(), Id{0});  // what a name is called by now
    std::iota(at_.begin(), at_.end(), Id{0});    // who is called so by now
    for (Id place = 0; place < names_; ++place) {
        const Id name = order_[place], called = now_[name];
        if (called == place) continue;
        const Id pair = symmetry_.pair(place, called);
        for (Id column = 0; column < rows_.size(); ++column)
            scratch_[symmetry_.column(pair, column)] = symmetry_.act(pair, column, image[column]);
        if (scratch_.size() > rows_.size()) scratch_.back() = image.back();
        image.swap(scratch_);
        const Id other = at_[place];
        now_[other] = called;
        at_[called] = other;
        now_[name] = place;
        at_[place] = name;
    }
}

// --- ties ---

const std::vector<Id>& Canonical::branch(const std::vector<Id>& cells) {
    ++branched;
    for (Id column = 0; column < rows_.size(); ++column) rows_[column] = symmetry_.marks(column, cells[column]);
    find_twins(cells);
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
        // The orbits of the symmetries found so far that keep the path in place.
        std::vector<Id> orbit(names_);
        std::iota(orbit.begin(), orbit.end(), Id{0});
        const auto root = [&](Id name) {
            while (orbit[name] != name) name = orbit[name];
            return name;
        };
        for (const auto& map : automorphisms_) {
            const auto keeps = [&](Id name) { return twin_[map[name]] == name; };
            if (!std::all_of(path_.begin(), path_.end(), keeps)) continue;
            for (Id name = 0; name < names_; ++name) orbit[root(name)] = root(twin_[map[twin_[name]]]);
        }
        const auto same = [&](Id other) { return root(other) == root(candidate); };
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
    return depth;
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
