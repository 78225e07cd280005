#include "temporal/system_graph.hpp"

#include "base/thresholds.hpp"

namespace quorate {

class Explorer {
public:
    Explorer(SystemGraph& system, std::vector<Property>& properties, const std::vector<std::size_t>& predicates,
             const std::optional<PartialOrders>& partial_orders)
        : tables_(system.tables),
          graph_(system.graph),
          store_(system.store),
          properties_(properties),
          predicates_(predicates),
          expander_(tables_),
          act_ids_(tables_.columns.size()) {
        for (const auto& column : tables_.columns) processes_ += !column->monitor;
        found_.cut = std::vector<bool>(tables_.columns.size() + 1, false);
        if (!partial_orders) return;
        if (!partial_orders->whole_runs) throw std::logic_error("these partial orders do not keep whole runs");
        chooser_ = partial_orders->chooser();
        proviso_ = partial_orders->proviso;
        others_.resize(processes_);
        left_out_.resize(processes_);
    }

    Exploration run(Oracle& oracle, const Limits& limits, std::uint64_t pause) {
        oracle_ = &oracle;
        limits_ = limits;
        watch_.emplace(limits, oracle);
        pause_ = pause;
        found_.paused = false;
        try {
            search();
        } catch (const std::bad_alloc&) {
            found_.stop = Stop::memory;
        } catch (const Interrupted&) {
            found_.stop = Stop::interrupt;
        } catch (const SymmetryBroken&) {  // or a bound has read a field that was not observed
            found_.stop = Stop::regrown;
        }
        found_.depth = depth_;
        if (tables_.outgrown && found_.stop == Stop::finished) found_.stop = Stop::outgrown;
        if (tables_.outgrown || found_.stop == Stop::regrown) found_.witness.reset();
        if (found_.witness) {
            found_.stop = Stop::violation;
            levels_.push_back({level_end_});
            find_path(tables_, store_, levels_, oracle, nullptr, nullptr, *found_.witness);
        }
        return found_;
    }

private:
    // A step waiting to become an edge: its successor, packed, lies in the buffer, unless it has none.
    struct Waiting {
        std::uint64_t hash;
        Id source, act, target;
        bool observed, stored;  // stored: the target is known
    };

    void search() {
        if (levels_.empty()) {
            levels_.push_back({0});
            for (std::size_t i = 0; i < tables_.initials.size(); ++i) {
                insert_initial(tables_.initial_cells(i));
                if (over()) return;
            }
            level_end_ = store_.size();
        }
        while (next_ < store_.size() && !over()) {
            if (store_.size() >= pause_) {
                found_.paused = true;
                return;
            }
            if (next_ == level_end_) {
                levels_.push_back({next_});
                level_end_ = store_.size();
                ++depth_;
                give_up();
            }
            const Id end = static_cast<Id>(std::min<std::uint64_t>(level_end_, next_ + batch));
            while (next_ < end && !over()) {
                expand(next_);
                ++next_;
            }
            flush();
            if (tables_.step_bytes() > std::max(tables_.most_step_bytes, store_.bytes())) {
                tables_.forget_steps();
                expander_.forget_steps();
            }
            look();
        }
    }
    // As the breadth-first search does: sets that leave out less than one step in ten do not pay. To take all steps
    // from now on is always sound.
    void give_up() {
        if (!chooser_ || store_.size() < thresholds.few_states || found_.left_out * 10 >= graph_.edges()) return;
        chooser_.reset();
        found_.given_up = depth_;
    }
    bool over() const { return found_.stop != Stop::finished || found_.witness.has_value(); }
    void look() {
        const auto stop = watch_->look([&] {
            Progress progress;
            progress.states = store_.size();
            progress.transitions = graph_.edges();
            progress.frontier = store_.size() - next_;
            progress.depth = depth_;
            return progress;
        });
        if (stop && !over()) found_.stop = *stop;
        if (store_.size() > limits_.states && next_ < store_.size() && !over()) found_.stop = Stop::states;
    }

    void insert_initial(const std::vector<Id>& cells) {
        store_.widen();
        std::vector<Word> packed(store_.layout().words());
        store_.layout().pack(cells.data(), packed.data());
        std::uint64_t known;
        if (store_.insert(0, packed.data(), spread(tables_.sum(cells.data())), known) == Store::Insertion::known)
            return;
        if (const auto word = label(cells, 0)) graph_.initials.push_back(graph_.add_state(*word));
    }

    // What the predicates say of a state; nothing if that ends the search.
    std::optional<std::uint64_t> label(const std::vector<Id>& cells, std::uint64_t length) {
        std::uint64_t word = 0;
        for (std::size_t i = 0; i < predicates_.size(); ++i) {
            Trie& trie = properties_[predicates_[i]].trie;
            Verdict verdict = trie.walk(tables_, cells);
            if (verdict == Verdict::unknown) {
                if (!oracle_->judge(predicates_[i], locals_of(tables_, cells))) {
                    found_.stop = Stop::regrown;
                    return std::nullopt;
                }
                verdict = trie.walk(tables_, cells);
            }
            if (verdict == Verdict::raises) {
                Witness witness;
                witness.finding = Finding::raises;
                witness.property = predicates_[i];
                witness.length = length;
                witness.cells = cells;
                found_.witness = std::move(witness);
                return std::nullopt;
            }
            word |= std::uint64_t{verdict == Verdict::yes} << i;
        }
        return word;
    }

    void expand(Id state) {
        for (bool in_full = chooser_ == nullptr;;) {
            const Layout& layout = store_.layout();
            const std::size_t words = layout.words(), mark = waiting_.size();
            const std::byte* packed = store_.state(0, state);
            layout.unpack(packed, expander_.cells.data());
            here_.resize(words);
            layout.load(packed, here_.data());
            const Choice* chosen = nullptr;
            if (!in_full) {
                if (!expander_.steps_known()) {
                    ask(tables_, *oracle_, expander_.queries);
                    continue;
                }
                if (chooser_->choose(expander_.cells)) chosen = &chooser_->chosen();
            }
            bool misfit = false;
            std::optional<Witness> failing;
            const auto emit = [&](Id column, const Step& step, Id, std::uint64_t hash, bool observed) {
                make_room(words);
                Word* target = buffer_.data() + waiting_.size() * words;
                std::copy_n(here_.data(), words, target);
                for (const auto& [which, before, after] : expander_.changes()) {
                    misfit |= !layout.fits(which, after);
                    layout.change(target, which, before, after);
                }
                store_.prefetch(hash);
                waiting_.push_back({hash, state, act(column, step), 0, observed, false});
            };
            const auto fail = [&](Id column, Id number, Id failure) {
                if (failing) return;
                failing.emplace();
                failing->finding = Finding::failure;
                failing->length = depth_ + 1;
                failing->column = column;
                failing->step = number;
                failing->failure = failure;
            };
            const Expander::Summary summary = expander_.expand(expander_.sum(), emit, fail, chosen);
            const bool missing = summary.missing || (chosen != nullptr && !misfit && !note_left_out(state, *chosen));
            if (missing || misfit) {
                waiting_.resize(mark);
                if (missing) ask(tables_, *oracle_, expander_.queries);
                if (misfit) {
                    flush();  // what waits is packed in the layout of now
                    if (over()) return;
                    store_.widen();
                }
                continue;
            }
            if (chosen != nullptr && proviso_ && !failing && returns(state, mark)) {
                // Otherwise the steps left out could be put off for ever along a cycle.
                waiting_.resize(mark);
                in_full = true;
                continue;
            }
            if (over()) return;
            if (failing && !found_.witness) {
                failing->cells = expander_.cells;
                found_.witness = std::move(failing);
            }
            note_cuts(state);
            if (tables_.network.bounded() && tables_.network.when_full == WhenFull::block) note_blocked(state);
            found_.deadlocks += !summary.enabled;
            ends_.push_back(waiting_.size());
            return;
        }
    }

    // Does a chosen step lead to a state of no higher number? Stores the successors.
    bool returns(Id state, std::size_t mark) {
        make_store_room();
        const std::size_t words = store_.layout().words();
        for (std::size_t i = mark; i < waiting_.size(); ++i) {
            Waiting& one = waiting_[i];
            if (!Graph::moves(one.target)) continue;
            one.target = insert(buffer_.data() + i * words, one);
            one.stored = true;
            if (over()) return false;
            if (one.target <= state) return true;
        }
        return false;
    }
    // Lists what is possible and not chosen; false if that is not known yet.
    bool note_left_out(Id state, const Choice& chosen) {
        for (Id column = 0; column < processes_; ++column) {
            const std::size_t count = tables_.steps(column, expander_.cells[column], expander_.queries)->size();
            left_out_[column].assign(count, true);
            for (std::size_t i = 0; i < count && chosen[column] != nullptr; ++i)
                left_out_[column][i] = !(*chosen[column])[i];
            others_[column] = &left_out_[column];
        }
        const auto left_out = [&](Id column, const Step& step) {
            const Id number = act(column, step);  // with several outcomes it is still one step
            if (waiting_.empty() || waiting_.back().source != state || waiting_.back().act != number ||
                waiting_.back().target != Graph::left_out)
                note(state, number, Graph::left_out);
        };
        const auto emit = [&](Id column, const Step& step, Id, std::uint64_t, bool) { left_out(column, step); };
        const auto fail = [&](Id column, Id number, Id) {
            left_out(column, (*tables_.steps(column, expander_.cells[column], expander_.queries))[number]);
        };
        return !expander_.expand(0, emit, fail, &others_).missing;
    }

    void note(Id state, Id act, Id target) {
        make_room(store_.layout().words());
        waiting_.push_back({0, state, act, target, false, true});
    }
    // For the successor of one more step.
    void make_room(std::size_t words) {
        const std::size_t wanted = (waiting_.size() + 1) * words;
        if (buffer_.size() < wanted) buffer_.resize(2 * wanted);
    }
    void note_cuts(Id state) {
        for (const auto& [column, number] : expander_.outside) {
            found_.cut.back() = true;
            note(state, act(column, (*tables_.steps(column, expander_.cells[column], expander_.queries))[number]),
                 Graph::cut);
        }
        for (Id column = 0; column < processes_; ++column) {
            if (!expander_.cut[column]) continue;
            expander_.cut[column] = false;
            found_.cut[column] = true;
            for (const Step& step : *tables_.steps(column, expander_.cells[column], expander_.queries))
                if (step.effect == Effect::cut) note(state, act(column, step), Graph::cut);
        }
    }
    void note_blocked(Id state) {
        for (Id column = 0; column < processes_; ++column)
            for (const Step& step : *tables_.steps(column, expander_.cells[column], expander_.queries)) {
                if (!step.protocol || step.effect != Effect::moves) continue;
                if (tables_.room(expander_.cells, column, step, expander_.queries) != full) continue;
                found_.blocked = true;
                note(state, act(column, step), Graph::blocked);
            }
    }

    Id act(Id column, const Step& step) {
        Act act{column, step.kind};
        if (step.kind == Kind::step) act.transition = step.transition;
        if (step.kind != Kind::crash && step.kind != Kind::recover) act.set = step.set;
        const std::uint64_t key = static_cast<std::uint64_t>(act.kind) << 61 |
                                  static_cast<std::uint64_t>(act.transition & 0x1fffffff) << 32 | act.set;
        if (const Id* known = act_ids_[column].find(key)) return *known;
        const Id id = checked_id(graph_.acts.size(), "steps with what they consume");
        if (act.set != none && act.protocol())
            for (const Id message : tables_.columns[column]->sets[act.set])
                act.optional |= tables_.columns[column]->messages[message].stands;
        graph_.acts.push_back(act);
        act_ids_[column].insert(key, id);
        return id;
    }

    // Stores the successors that wait, in order, and lists the edges to them.
    void flush() {
        if (over()) return;
        make_store_room();
        const std::size_t words = store_.layout().words();
        std::size_t done = 0;
        for (const std::size_t end : ends_) {
            for (; done < end; ++done) {
                const Waiting& one = waiting_[done];
                Id target = one.target;
                if (!one.stored) {
                    target = insert(buffer_.data() + done * words, one);
                    if (over()) break;
                }
                graph_.add_edge(one.act, target);
                found_.left_out += target == Graph::left_out;
            }
            if (over() && done < end) break;
            graph_.close();
        }
        waiting_.clear();
        ends_.clear();
    }
    void make_store_room() {
        while (store_.needs_growth() || store_.room() < waiting_.size()) {
            if (resident_bytes() + store_.bytes_to_grow() > limits_.memory) throw std::bad_alloc();
            store_.grow();
        }
    }
    Id insert(const Word* packed, const Waiting& one) {
        std::uint64_t known = 0;
        if (store_.insert(0, packed, one.hash, known) == Store::Insertion::known) return static_cast<Id>(known);
        if (!one.observed) return graph_.add_state(graph_.label(one.source));
        scratch_.resize(tables_.width());
        store_.layout().unpack(reinterpret_cast<const std::byte*>(packed), scratch_.data());
        const auto word = label(scratch_, depth_ + 1);
        return word ? graph_.add_state(*word) : none;
    }

    static constexpr std::uint64_t batch = 64;

    Tables& tables_;
    Graph& graph_;
    Store& store_;
    std::vector<Property>& properties_;
    const std::vector<std::size_t> predicates_;
    Oracle* oracle_ = nullptr;
    Limits limits_{};
    std::optional<Watch> watch_{};
    std::uint64_t pause_ = 0;
    Expander expander_;
    Id processes_ = 0, next_ = 0;  // next_: the first state that was not expanded
    std::unique_ptr<Chooser> chooser_{};
    bool proviso_ = false;
    Choice others_{};  // the steps that were not chosen
    std::vector<std::vector<char>> left_out_{};
    std::vector<FlatMap<Id>> act_ids_;
    std::vector<std::vector<std::uint64_t>> levels_{};
    std::uint64_t level_end_ = 0, depth_ = 0;
    std::vector<Waiting> waiting_{};
    std::vector<std::size_t> ends_{};  // of each expanded state, how many waited then
    std::vector<Word> buffer_{}, here_{};
    std::vector<Id> scratch_{};
    Exploration found_{};
};

SystemGraph::SystemGraph(Tables& tables) : tables(tables), store(tables, 1), forgotten_(tables.forgotten) {}
SystemGraph::~SystemGraph() = default;

void SystemGraph::begin(std::vector<Property>& properties, const std::vector<std::size_t>& predicates,
                        const std::optional<PartialOrders>& partial_orders) {
    if (predicates.size() > 64) throw LimitError("more than 64 predicates in one temporal property");
    explorer_ = std::make_unique<Explorer>(*this, properties, predicates, partial_orders);
}

Exploration SystemGraph::explore(Oracle& oracle, const Limits& limits, std::uint64_t pause) {
    return explorer_->run(oracle, limits, pause);
}

}  // namespace quorate
