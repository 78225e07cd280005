// Symmetry where no closure bounds what there may be: answers are compared as a search asks for them.
//
// When a search asks what a transition does, the question is asked under all renamings, and the answers are compared
// under the exchanges of neighbouring names, which generate the group. So in every state that the search visits, what
// can be done commutes with renaming. Any run of the full system is then a renaming of one that is visited, step by
// step: a state on it is a renaming of one that was visited, and so are its steps (docs/soundness.md, rule 10).
//
// That costs no more answers than a search without symmetry, level by level: it visits all renamings of a state in the
// same level, and has to ask for what they do. Answers that only the closure beside the search has asked for are not
// compared until a search wants them.
#pragma once

#include <functional>
#include <map>

#include "reduce/symmetry/symmetry.hpp"

namespace quorate {

class Orbits {
public:
    Orbits(Tables& tables, Symmetry& symmetry);

    struct Thing {
        Id column, number;
    };
    // Whoever answers questions, and makes images of local states and messages known.
    struct Helper {
        virtual ~Helper() = default;
        virtual void answer(const std::vector<Query>& queries) = 0;
        virtual void admit(const std::vector<Thing>& locals, const std::vector<Thing>& messages) = 0;
        // Failures that differ only in their text have the same number.
        virtual const std::vector<Id>& failures() = 0;
    };
    // What there is at the beginning.
    std::optional<Breach> begin(Helper& helper);
    // Answers questions and all their renamings, and compares them. False: names of a family were told apart, which
    // `symmetry` and `breach` say.
    bool ask(const std::vector<Query>& queries, Helper& helper);

    // Optimistic universes: adds the images of what belongs to it; has all that may be exchanged taken as it is, if one
    // is; and lists what was answered about it, to be compared.
    void extend();
    void spread(Closure& universe);
    std::vector<Query> facts(const Closure& universe) const;

    std::optional<Breach> breach{};
    Id exchange = none;  // where it was found

private:
    // Is it for us? What monitors that grow do is compared by Python.
    bool concerns(const Query& query) const;
    // Notes that it is going to be compared; false if it was.
    bool note(const Query& query);
    bool known(const Query& query) const;
    Query image(const Query& query, Id exchange);
    bool is_settled(Id column, Id local) const;
    void reach(Id column, Id local);
    void reach(const std::vector<Send>& sends);
    void reach(const Query& query);
    // False: crashing and coming back do not commute with renaming.
    bool admit(Helper& helper);
    bool tell_apart(const Breach& what, Id exchange);
    bool alike(const Query& query, const Query& image, Id exchange, const std::vector<Id>& failures);
    bool alike(const Column& mine, Id local, const Column& its, Id image, Id exchange,
               const std::vector<Id>& failures) const;
    using Signature = std::vector<Id>;
    std::vector<Signature> signatures(const Behaviour& behaviour, const Column& column, Id exchange,
                                      const std::vector<Id>& failures) const;
    Signature sent(const std::vector<Send>& sends, Id exchange) const;

    Tables& tables_;
    Symmetry& symmetry_;
    std::vector<Thing> locals_{}, messages_{};  // without images so far
    std::vector<std::vector<bool>> settled_{};  // by column and local state: is it compared with its images?
    std::map<std::array<Id, 5>, Id> groups_{};  // exchange, column, transition, local state, group: its image
};

}  // namespace quorate
