#include "search/search.hpp"

#include "search/dpor.hpp"

namespace quorate {

SearchResult search(Tables& tables, std::vector<Property>& properties, Oracle& oracle, const SearchOptions& options) {
    switch (options.traversal) {
        case Traversal::breadth_first:
            return breadth_first(tables, properties, oracle, options);
        case Traversal::depth_first:
            return depth_first(tables, properties, oracle, options);
        case Traversal::dpor_classical:
        case Traversal::dpor_optimal:
            return dpor(tables, properties, oracle, options);
    }
    throw std::logic_error("an unknown kind of search");
}

}  // namespace quorate
