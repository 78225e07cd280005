// Steps that do the same with other messages, of which one may stand for the others.
#pragma once

#include <unordered_map>

#include "reduce/por/future.hpp"

namespace quorate {

class Twins {
public:
    Twins(const Instances& instances, Futures& futures)
        : instances_(instances), futures_(futures), columns_(instances.tables.columns.size()) {}

    // Steps are of one kind if they do the same in every local state that the process may still get to.
    struct Kinds {
        std::vector<Id> kind{};                // of each tag, if it has one
        std::vector<Words> tags{};             // of each kind
        std::vector<std::vector<Id>> alike{};  // the kinds that a kind stands for
        std::span<const Id> alike_to(Id tag) const {
            return kind[tag] == none ? std::span<const Id>() : alike[kind[tag]];
        }
    };
    // What a process can consume from a local state on.
    struct Uses {
        Words tags{};
        std::vector<Words> sets{};
        Words all{};
        std::vector<Words> holding{};  // by message: the sets that hold it
        const Words& of(std::size_t word, std::uint64_t bits) const { return holding[lowest(word, bits)]; }
    };

    // Take the column's lock first.
    const Kinds& kinds(const Column& column, Id local);
    const Uses& uses(const Column& column, Id local);
    // The tags of steps that need no thought if the key is in the set: those that can never come about, and the twins
    // that the key stands for. `pending` and `sendable` have a bit for each message that is there, or may still be
    // sent.
    Labels represented(const Column& column, Id cell, Id key, const Words& pending, Bits sendable);

private:
    const Words& live(const Column& column, Id local);

    struct Known {
        std::map<Id, Kinds> kinds{};  // by local state
        std::map<Id, Uses> uses{};
        std::unordered_map<Id, Words> live{};
    };
    const Instances& instances_;
    Futures& futures_;
    std::vector<Known> columns_;
};

}  // namespace quorate
