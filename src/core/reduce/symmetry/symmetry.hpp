// Symmetry: one state stands for all that differ from it only in the names of interchangeable processes and values.
//
// The group is a product of full symmetric groups, one per family of names. A name may own columns (a process, and the
// channel to it) or none (a declared value). A renaming moves what its names own, and renames what local states and
// messages hold; it is given as tables for the exchange of two neighbouring names of a family, which generate the
// group.
//
// Three things live here: the check that an exchange is a symmetry of the closure (docs/soundness.md, rule 10), the
// action of exchanges on cells, and the marks: per cell and name a number that says how the name occurs in the cell,
// whatever the other names are called. Marks commute with renaming, so a name's colour, the sum of its marks over all
// columns, can order names by content alone (docs/soundness.md, rule 13). The canonical form is in canonical.hpp.
#pragma once

#include <optional>
#include <string>

#include "analysis/closure.hpp"
#include "base/large_product.hpp"
#include "base/lazy.hpp"
#include "model/property.hpp"

namespace quorate {

// The exchange of two names: the images of columns, and by column of local states and messages; `none` where the
// closure does not hold the image.
struct Renaming {
    std::vector<Id> columns{};
    std::vector<std::vector<Id>> locals{}, messages{};
};

// Where a renaming turned out to be no symmetry.
struct Breach {
    std::string what{};
    Id column = none, local = none, transition = none;
};

// Compares the closure with its image: local states, behaviours, filters, what is pending initially, initial states.
// `failures` gives failures that differ only in their text the same number.
std::optional<Breach> find_breach(Tables& tables, const Closure& closure, const Renaming& renaming,
                                  const std::vector<Id>& failures);
// Compares only the beginning: initial states, what is pending there, and what is sent when a process crashes.
std::optional<Breach> find_breach_at_start(Tables& tables, const Renaming& renaming);

// How names occur in a local state or a message: a number for every name that does not occur, others for those that do.
struct Marks {
    std::uint64_t base = 0;
    std::vector<std::tuple<Id, std::uint64_t>> of{};
};

class Symmetry {
public:
    struct Description {
        std::vector<Id> families{};                            // how many names each has; names are counted through
        std::vector<std::vector<Id>> owned{};                  // per name, the columns it owns
        std::vector<std::vector<Renaming>> exchanges{};        // per family, of its neighbouring names
        std::vector<std::vector<Marks>> locals{}, messages{};  // per column
        bool open = false;  // images of local states and messages are told one by one, as a search meets them
    };
    Symmetry(Tables& tables, Description description);

    // A local state of a monitor that grows, or of anybody where there is no closure: its images under the exchanges of
    // neighbouring names, family by family, and its marks. Python says so of every one before a state can hold it. That
    // reactions and behaviours commute with renaming is checked as they are asked for (docs/soundness.md, rule 10).
    void add_local(Id column, Id local, std::vector<Id> images, Marks marks);
    // The same of a message, where there is no closure.
    void add_message(Id column, Id message, std::vector<Id> images, Marks marks);
    bool open() const { return open_; }
    // Exchanges of neighbouring names, family by family; where one moves a column; and the images as they were told.
    Id exchanges() const { return static_cast<Id>(neighbours_.size()); }
    Id family_of(Id exchange) const { return neighbours_[exchange].second; }
    Id moved(Id exchange, Id column) const { return moved_[exchange][column]; }
    bool has_local(Id column, Id local) const {
        return local < grown_[column].size() && !grown_[column][local].empty();
    }
    bool has_message(Id column, Id message) const {
        return message < grown_messages_[column].size() && !grown_messages_[column][message].empty();
    }
    Id image_of_local(Id exchange, Id column, Id local) const { return grown_[column].at(local).at(exchange); }
    Id image_of_message(Id exchange, Id column, Id message) const {
        return grown_messages_[column].at(message).at(exchange);
    }
    // Is the column a monitor whose reactions Python compares?
    bool grows(Id column) const { return grows_[column]; }

    // After the reductions have changed: cells and classes of local states are others.
    void prepare();

    Tables& tables;
    Id names() const { return names_; }
    Id families() const { return static_cast<Id>(starts_.size() - 1); }
    // The names of family f are those from start(f) to start(f + 1).
    Id start(Id family) const { return starts_[family]; }
    const std::vector<Id>& owned(Id name) const { return owned_[name]; }
    Id owner(Id column) const { return owner_[column]; }  // the name, or `none`

    // The exchange of two names of a family.
    Id pair(Id one, Id two) const { return pairs_[static_cast<std::size_t>(one) * names_ + two]; }
    Id column(Id one, Id two, Id column) const {
        const Id mine = owner_[column];
        return mine == one ? owned_[two][kind_[column]] : mine == two ? owned_[one][kind_[column]] : column;
    }
    Id act(Id pair, Id column, Id cell) {
        if (const Row* row = actions_[pair].load(std::memory_order_acquire))
            if (const Lazy<Id>* known = row[column].load(std::memory_order_acquire))
                if (const Id image = known->get(cell); image != none) return image;
        return build_action(pair, column, cell);
    }
    // The marks of all names in a cell; behind them the content of the cell, and the bits of the names that occur in
    // it. A renaming that moves none of these, nor the owner, changes nothing.
    const std::uint64_t* marks(Id column, Id cell) {
        const std::uint64_t* known = marks_[column]->get(cell);
        return known != nullptr ? known : build_marks(column, cell);
    }

    // The bit of a name in such a set. Where there are more than 64 some share one, so that more seem to occur than do.
    std::uint64_t bit(Id name) const { return std::uint64_t{1} << (name % 64); }
    bool own_bits() const { return names_ <= 64; }

    LargeProduct order() const;  // the number of renamings

    // --- properties: what one says of a state it must say of every renamed one ---

    // Has every renaming of what the properties see of this state been judged alike?
    bool judged_alike(std::span<const Id> cells, bool final) const;
    // Judges them. False if the search has to start over: new fields were read, or the answers differ (`broken`).
    bool judge_all(std::vector<Property>& properties, Oracle& oracle, std::span<const Id> cells, bool final);
    struct Broken {
        Id family;
        std::size_t property;  // `none`: not one property's fault
    };
    std::optional<Broken> broken{};

private:
    // What an exchange does to the columns that it changes, in their order. With many names that are seldom stored
    // these are few, and there are as many exchanges as pairs of names; so the rest is not held, and neither is an
    // exchange that nobody has asked for.
    struct Part {
        Id column, to;
        std::vector<Id> locals{}, messages{};
    };
    using Exchange = std::vector<Part>;
    using Row = std::atomic<Lazy<Id>*>;  // by column, the images of cells

    Exchange changed(Renaming renaming) const;
    Exchange compose(const Exchange& outer, const Exchange& inner) const;
    const Exchange& exchange(Id one, Id two);  // one < two
    Id build_action(Id pair, Id column, Id cell);
    const std::uint64_t* build_marks(Id column, Id cell);
    void observe(std::span<const Id> locals, std::vector<Id>& seen) const;
    void add_marks(const Column& column, Id local);
    // Calls visit(exchange) for neighbours whose exchanges one after the other exchange these two.
    template <typename Visit>
    void by_neighbours(Id one, Id two, Visit visit) const;
    Id grown_image(Id one, Id two, Id column, Id local) const;
    Id open_image(Id one, Id two, Id column, Id cell);

    Id names_ = 0;
    std::size_t width_ = 0;  // columns that are processes or monitors
    std::vector<Id> starts_{0};
    std::vector<std::vector<Id>> owned_{};
    std::vector<Id> owner_{}, kind_{};  // per column: its owner, and which of the owner's columns it is
    std::vector<Id> pairs_{};
    std::vector<std::pair<Id, Id>> exchanged_{};                // per pair, its names
    std::vector<std::unique_ptr<const Exchange>> exchanges_{};  // per pair, those that were asked for
    std::mutex exchanges_lock_{};
    std::vector<std::pair<Id, Id>> neighbours_{};  // pairs whose exchanges generate the group, with their families
    bool open_ = false;
    std::vector<bool> grows_{};                                   // by column
    std::vector<std::vector<Id>> moved_{};                        // per exchange of neighbours, images of columns
    std::vector<std::vector<std::vector<Id>>> grown_{};           // per column and local state: see `add_local`
    std::vector<std::vector<std::vector<Id>>> grown_messages_{};  // per column and message
    std::vector<std::vector<Marks>> local_marks_{}, message_marks_{};
    std::vector<std::vector<std::uint64_t>> merged_marks_{};  // per column: dense, by representative
    std::vector<std::atomic<Row*>> actions_{};                // per pair, of those that were used
    std::vector<std::unique_ptr<Row[]>> action_rows_{};
    std::vector<std::unique_ptr<Lazy<Id>>> images_{};
    std::vector<std::unique_ptr<Lazy<const std::uint64_t*>>> marks_{};
    std::vector<std::unique_ptr<std::uint64_t[]>> rows_{};
    std::size_t used_ = 0;  // rows in the last block
    std::mutex lock_{};
    std::unique_ptr<Interner> alike_[2];  // what the properties saw of states that are judged; of final ones
};

}  // namespace quorate
