// What the properties say of a state, and what that decides: the same questions in the same order for every search.
//
// A search brings two things. `unknown(property)` is called where the answer is not known yet: it gives the verdict, or
// `Verdict::unknown` where the state is to be judged again later. `found(finding, property)` is called where a property
// is decided; false from it ends the judgement.
#pragma once

#include "reduce/symmetry/symmetry.hpp"
#include "search/search.hpp"

namespace quorate {

class Judge {
public:
    Judge(const Tables& tables, std::vector<Property>& properties, Oracle& oracle, Symmetry* symmetry)
        : tables_(tables), properties_(properties), oracle_(oracle), symmetry_(symmetry) {
        for (const Property& property : properties)
            if (symmetry != nullptr && !property.symmetric && property.kind != PropertyKind::bound)
                compared_[property.kind == PropertyKind::final] = true;
    }

    // Invariants and goals. False if something is not known.
    template <typename Unknown, typename Found>
    bool state(const std::vector<Id>& cells, Unknown unknown, Found found) const {
        const bool alike = judged_alike(cells, false);
        bool known = true;
        for (std::size_t i = 0; i < properties_.size(); ++i) {
            const PropertyKind kind = properties_[i].kind;
            if (kind == PropertyKind::final || kind == PropertyKind::bound) continue;
            Verdict verdict = alike ? properties_[i].trie.walk(tables_, cells) : Verdict::unknown;
            if (verdict == Verdict::unknown) verdict = unknown(i);
            if (verdict == (kind == PropertyKind::goal ? Verdict::no : Verdict::yes)) [[likely]]
                continue;
            known &= verdict != Verdict::unknown;
            bool go_on = true;
            if (verdict == Verdict::raises) go_on = found(Finding::raises, i);
            if (verdict == Verdict::no) go_on = found(Finding::violated, i);
            if (verdict == Verdict::yes) go_on = found(Finding::reached, i);
            if (!go_on) break;
        }
        return known;
    }

    // A state in which no step of the protocol is enabled: a deadlock, unless a final predicate says that it is fine.
    // False if that is not known.
    template <typename Unknown, typename Found>
    bool stuck(const std::vector<Id>& cells, Unknown unknown, Found found) const {
        for (std::size_t i = 0; i < properties_.size(); ++i) {
            if (properties_[i].kind != PropertyKind::final) continue;
            Verdict verdict = judged_alike(cells, true) ? properties_[i].trie.walk(tables_, cells) : Verdict::unknown;
            if (verdict == Verdict::unknown) verdict = unknown(i);
            if (verdict == Verdict::raises) found(Finding::raises, i);
            if (verdict != Verdict::no) return verdict != Verdict::unknown;
        }
        found(Finding::deadlock, std::size_t{0});
        return true;
    }

    // Has the oracle say what the property says of a state; with symmetry, also what all of its kind say of every
    // renaming. Unknown: the search has to start over, with more fields observed or with less symmetry.
    Verdict ask(std::size_t property, const std::vector<Id>& cells) {
        const bool final = properties_[property].kind == PropertyKind::final;
        if (!judged_alike(cells, final) && !symmetry_->judge_all(properties_, oracle_, cells, final))
            return Verdict::unknown;
        const Verdict known = properties_[property].trie.walk(tables_, cells);
        if (known != Verdict::unknown) return known;
        if (!oracle_.judge(property, locals_of(tables_, cells))) return Verdict::unknown;
        return properties_[property].trie.walk(tables_, cells);
    }

    // Where there is symmetry: have the properties said the same of every renaming of the state?
    bool judged_alike(const std::vector<Id>& cells, bool final) const {
        return !compared_[final] || symmetry_->judged_alike(cells, final);
    }

private:
    const Tables& tables_;
    std::vector<Property>& properties_;
    Oracle& oracle_;
    Symmetry* const symmetry_;
    // Is there a property, a final one, that has to be compared under renamings?
    bool compared_[2] = {false, false};
};

}  // namespace quorate
