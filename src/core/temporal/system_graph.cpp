#include "temporal/system_graph.hpp"

#include <numeric>

#include "base/thresholds.hpp"
#include "search/crew.hpp"
#include "temporal/expansion.hpp"

namespace quorate {

class Explorer {
public:
    Explorer(SystemGraph& system, Store& store, std::vector<Property>& properties,
             const std::vector<std::size_t>& predicates, const std::optional<PartialOrders>& partial_orders,
             Symmetry* symmetry)
        : tables_(system.tables),
          graph_(system.graph),
          store_(store),
          shared_{tables_,
                  graph_,
                  store_,
                  Numbering(store_),
                  Acts(tables_.columns.size()),
                  properties,
                  predicates,
                  symmetry,
                  partial_orders && partial_orders->proviso},
          settled_(store.threads(), 0) {
        if (partial_orders && !partial_orders->whole_runs)
            throw std::logic_error("these partial orders do not keep whole runs");
        partial_orders_ = partial_orders;
        found_.cut = std::vector<bool>(tables_.columns.size() + 1, false);
    }

    Exploration run(Oracle& oracle, const Limits& limits, std::uint64_t pause) {
        limits_ = limits;
        judge_.emplace(tables_, shared_.properties, oracle, shared_.symmetry);
        for (unsigned i = 0; hands_.size() < store_.threads(); ++i)
            hands_.push_back(std::make_unique<Expansion>(shared_, *judge_, partial_orders_, i));
        oracle_ = &oracle;
        watch_.emplace(limits, oracle);
        pause_ = pause;
        found_.paused = false;
        try {
            Crew crew(store_.threads(), [this](unsigned number) { work(*hands_[number]); });
            search(crew);
        } catch (const std::bad_alloc&) {
            found_.stop = Stop::memory;
        } catch (const Interrupted&) {
            found_.stop = Stop::interrupt;
        } catch (const SymmetryBroken&) {  // or a bound has read a field that was not observed
            found_.stop = Stop::regrown;
        }
        found_.depth = shared_.depth;
        found_.stands_for = 0;
        for (const auto& hand : hands_) found_.stands_for += hand->stands_for;
        if (tables_.outgrown && found_.stop == Stop::finished) found_.stop = Stop::outgrown;
        if (tables_.outgrown || found_.stop == Stop::regrown) found_.witness.reset();
        if (found_.witness) {
            found_.stop = Stop::violation;
            levels_.push_back(level_);
            find_path(tables_, store_, levels_, oracle, shared_.symmetry, nullptr, *found_.witness);
        }
        return found_;
    }
    const Numbering& numbering() const { return shared_.numbering; }

private:
    static constexpr std::uint64_t batch = 64, most_of_round = 4096;

    void search(Crew& crew) {
        if (levels_.empty()) {
            levels_.emplace_back(store_.threads(), 0);
            for (std::size_t i = 0; i < tables_.initials.size(); ++i) {
                insert_initial(tables_.initial_cells(i));
                if (over()) return;
            }
            level_ = counts();
            level_end_ = graph_.states();
        }
        while (next_ < graph_.states() && !over()) {
            if (graph_.states() >= pause_) {
                found_.paused = true;
                return;
            }
            if (next_ == level_end_) {
                levels_.push_back(level_);
                level_ = counts();
                level_end_ = graph_.states();
                ++shared_.depth;
                give_up();
            }
            round(crew);
            look();
        }
    }

    // --- a round: the next states of the level ---

    // Where a state's edges lie.
    struct Place {
        unsigned hand = 0;
        std::uint32_t begin = 0, end = 0;
    };

    // Rounds grow with the graph, so that a limit or a pause is overstepped by little.
    std::uint64_t round_end() const {
        std::uint64_t size = graph_.states() / 16;
        for (const std::uint64_t most : {limits_.states, pause_})
            size = std::min(size, most > graph_.states() ? (most - graph_.states()) / 8 : 0);
        return std::min(level_end_, next_ + std::clamp(size, batch, most_of_round));
    }

    void round(Crew& crew) {
        const std::uint64_t end = round_end();
        todo_.resize(end - next_);
        std::iota(todo_.begin(), todo_.end(), next_);
        places_.assign(todo_.size(), {});
        std::vector<Id> again;
        while (!todo_.empty()) {
            cursor_ = 0;
            shared_.crowded = false;
            crew.run(todo_.size() >= 4 * batch);
            for (auto& hand : hands_) {
                if (hand->error) std::rethrow_exception(std::exchange(hand->error, nullptr));
                do grow();
                while (!hand->flush());
                again.insert(again.end(), hand->again.begin(), hand->again.end());
                hand->again.clear();
            }
            // What is left where the index was crowded comes first: the oracle is asked once for all states.
            todo_.erase(todo_.begin(),
                        todo_.begin() + static_cast<std::ptrdiff_t>(std::min(cursor_.load(), todo_.size())));
            if (!todo_.empty()) continue;
            prepare();
            std::sort(again.begin(), again.end());
            todo_.swap(again);
        }
        settle();
        next_ = static_cast<Id>(end);
        if (tables_.step_bytes() > std::max(tables_.most_step_bytes, store_.bytes())) {
            tables_.forget_steps();
            for (auto& hand : hands_) hand->forget_steps();
        }
    }
    // What a thread does.
    void work(Expansion& hand) {
        try {
            while (!shared_.crowded.load(std::memory_order_relaxed)) {
                const std::size_t begin = cursor_.fetch_add(batch);
                if (begin >= todo_.size()) break;
                for (std::size_t i = begin; i < std::min<std::size_t>(begin + batch, todo_.size()); ++i) {
                    const auto mark = static_cast<std::uint32_t>(hand.edges.size());
                    if (hand.expand(todo_[i]))
                        places_[todo_[i] - next_] = {hand.number, mark, static_cast<std::uint32_t>(hand.edges.size())};
                    else
                        hand.again.push_back(todo_[i]);
                }
                hand.flush();
                if (store_.needs_growth()) shared_.crowded = true;
            }
        } catch (...) {
            hand.error = std::current_exception();
            shared_.crowded = true;
        }
    }
    // For the states that could not be expanded.
    void prepare() {
        std::vector<Query> queries;
        bool misfits = false;
        for (auto& hand : hands_) {
            queries.insert(queries.end(), hand->expander.queries.begin(), hand->expander.queries.end());
            hand->expander.queries.clear();
            misfits |= std::exchange(hand->misfits, false);
        }
        ask(tables_, *oracle_, queries);
        if (misfits) store_.widen();
    }
    void grow() {
        while (store_.needs_growth() || store_.room() < thresholds.portion * store_.threads()) {
            if (resident_bytes() + store_.bytes_to_grow() > limits_.memory) throw std::bad_alloc();
            store_.grow();
        }
    }

    // Puts what was found into the graph, state by state.
    void settle() {
        for (std::size_t i = 0; i < places_.size(); ++i) {
            const Place& place = places_[i];
            Expansion& hand = *hands_[place.hand];
            const Expansion::Edge *edge = hand.edges.data() + place.begin, *end = hand.edges.data() + place.end;
            for (; edge != end; ++edge) {
                Id act = edge->act, target = edge->target;
                if ((act & Acts::fresh) != 0) [[unlikely]]
                    act = shared_.acts.number(hand.fresh[act & ~Acts::fresh], tables_, graph_);
                if (Graph::moves(target))
                    target = number(target);
                else
                    found_.left_out += target == Graph::left_out;
                graph_.add_edge(act, target);
            }
            if (!hand.failures.empty()) note_failure(hand, static_cast<Id>(next_ + i));
            if (over()) break;
            graph_.close();
        }
        for (auto& hand : hands_) {
            found_.deadlocks += std::exchange(hand->deadlocks, 0);
            found_.blocked |= hand->blocked;
            for (std::size_t i = 0; i < found_.cut.size(); ++i)
                if (hand->cut[i]) found_.cut[i] = true;
            hand->clear();
        }
        settled_ = counts();
    }
    Id number(Id stored) {
        const Id known = shared_.numbering.of(stored);
        if (known != none) return known;
        const unsigned thread = store_.thread_of(stored);
        const Expansion::Label label = hands_[thread]->labels[store_.position_of(stored) - settled_[thread]];
        return add(stored, label.known || over() ? label.word : asked(stored));
    }
    Id add(std::uint64_t stored, std::uint64_t label) {
        shared_.numbering.add(stored);
        return graph_.add_state(label);
    }
    // What the predicates say of a state where that is not known yet.
    std::uint64_t asked(std::uint64_t stored) {
        cells_.resize(tables_.width());
        store_.layout().unpack(store_.state(store_.thread_of(stored), store_.position_of(stored)), cells_.data());
        return label(cells_, shared_.depth + 1);
    }
    std::uint64_t label(const std::vector<Id>& cells, std::uint64_t length) {
        std::uint64_t word = 0;
        for (std::size_t i = 0; i < shared_.predicates.size() && !over(); ++i) {
            const Verdict verdict = judge_->ask(shared_.predicates[i], cells);
            if (verdict == Verdict::unknown) found_.stop = Stop::regrown;
            if (verdict == Verdict::raises) {
                Witness witness;
                witness.finding = Finding::raises;
                witness.property = shared_.predicates[i];
                witness.length = length;
                witness.cells = cells;
                found_.witness = std::move(witness);
            }
            word |= std::uint64_t{verdict == Verdict::yes} << i;
        }
        return word;
    }
    void note_failure(Expansion& hand, Id state) {
        for (Expansion::Failing& failing : hand.failures)
            if (failing.state == state && !found_.witness) found_.witness = std::move(failing.witness);
    }

    void insert_initial(std::vector<Id> cells) {
        Expansion& hand = *hands_[0];
        if (Canonical* canonical = hand.canonical()) cells = std::vector<Id>(canonical->of(cells));
        store_.widen();
        std::vector<Word> packed(store_.layout().words());
        store_.layout().pack(cells.data(), packed.data());
        std::uint64_t known = 0;
        if (store_.insert(0, packed.data(), spread(tables_.sum(cells.data())), known) == Store::Insertion::known)
            return;
        hand.stands_for += hand.canonical() != nullptr ? hand.canonical()->orbit() : 1;
        graph_.initials.push_back(add(store_.number_of(0, store_.count(0) - 1), label(cells, 0)));
        settled_ = counts();
    }

    // As the breadth-first search does: sets that leave out less than one step in ten do not pay. To take all steps
    // from now on is always sound.
    void give_up() {
        if (!hands_[0]->chooses() || graph_.states() < thresholds.few_states) return;
        if (found_.left_out * 10 >= graph_.edges()) return;
        for (auto& hand : hands_) hand->give_up_choosing();
        found_.given_up = shared_.depth;
    }
    bool over() const { return found_.stop != Stop::finished || found_.witness.has_value(); }
    void look() {
        const auto stop = watch_->look([&] {
            Progress progress;
            progress.states = graph_.states();
            progress.transitions = graph_.edges();
            progress.frontier = graph_.states() - next_;
            progress.depth = shared_.depth;
            return progress;
        });
        if (stop && !over()) found_.stop = *stop;
        if (graph_.states() > limits_.states && next_ < graph_.states() && !over()) found_.stop = Stop::states;
    }
    std::vector<std::uint64_t> counts() const {
        std::vector<std::uint64_t> result;
        for (unsigned i = 0; i < store_.threads(); ++i) result.push_back(store_.count(i));
        return result;
    }

    Tables& tables_;
    Graph& graph_;
    Store& store_;
    Exploring shared_;
    std::optional<PartialOrders> partial_orders_{};
    std::optional<Judge> judge_{};
    std::vector<std::unique_ptr<Expansion>> hands_{};
    Oracle* oracle_ = nullptr;
    Limits limits_{};
    std::optional<Watch> watch_{};
    std::uint64_t pause_ = 0;
    Id next_ = 0;                                       // the first state that was not expanded
    std::vector<std::vector<std::uint64_t>> levels_{};  // per level and thread, where it begins in the store
    std::vector<std::uint64_t> level_{}, settled_;      // where the next level begins; what the graph knows of
    std::uint64_t level_end_ = 0;
    std::vector<Id> todo_{};
    std::atomic<std::size_t> cursor_{0};
    std::vector<Place> places_{};  // by state of the round
    std::vector<Id> cells_{};
    Exploration found_{};
};

SystemGraph::SystemGraph(Tables& tables, std::vector<Property>& properties, const std::vector<std::size_t>& predicates,
                         const std::optional<PartialOrders>& partial_orders, Symmetry* symmetry, unsigned threads)
    : tables(tables), store_(tables, threads), forgotten_(tables.forgotten) {
    if (predicates.size() > 64) throw LimitError("more than 64 predicates in one temporal property");
    explorer_ = std::make_unique<Explorer>(*this, store_, properties, predicates, partial_orders, symmetry);
}
SystemGraph::~SystemGraph() = default;

Exploration SystemGraph::explore(Oracle& oracle, const Limits& limits, std::uint64_t pause) {
    return explorer_->run(oracle, limits, pause);
}

std::vector<Id> SystemGraph::cells(Id state) const {
    if (tables.forgotten != forgotten_) throw std::logic_error("the model was reduced anew since it was explored");
    std::vector<Id> cells(tables.width());
    store_.layout().unpack(explorer_->numbering().state(state), cells.data());
    return cells;
}

std::size_t SystemGraph::bytes() const { return graph.bytes() + store_.bytes() + explorer_->numbering().bytes(); }

}  // namespace quorate
