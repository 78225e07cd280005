#include "binding/checkpoint.hpp"

namespace quorate {

namespace {

using namespace nb::literals;

// What a search goes on from: its state, and an iterator over (widths of fields, packed states).
struct SavedSearch {
    SearchState state;
    nb::object states;
};

nb::bytes bytes_of(const void* data, std::size_t size) { return nb::bytes(data, size); }

// Numbers that were saved as bytes.
template <typename Number>
std::vector<Number> numbers_of(const nb::bytes& bytes) {
    if (bytes.size() % sizeof(Number) != 0) throw Damaged("a part of a number is missing");
    std::vector<Number> numbers(bytes.size() / sizeof(Number));
    std::memcpy(numbers.data(), bytes.c_str(), bytes.size());
    return numbers;
}

// The next part of the new states, at most so many bytes; nothing once all were taken.
nb::bytes take(Snapshot& snapshot, std::size_t most_bytes) {
    const std::size_t stride = snapshot.stride();
    const std::size_t most = std::min<std::uint64_t>(std::max<std::size_t>(1, most_bytes / stride), snapshot.left);
    const nb::object packed = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(most * stride)));
    if (!packed.is_valid()) throw nb::python_error();
    snapshot.copy(reinterpret_cast<std::byte*>(PyBytes_AS_STRING(packed.ptr())), most);
    return nb::borrow<nb::bytes>(packed);
}

}  // namespace

Checkpoints checkpoints_of(const nb::object& given) {
    Checkpoints result;
    result.seconds = nb::cast<double>(given.attr("seconds"));
    result.save = [given](Snapshot& snapshot) {
        nb::gil_scoped_acquire acquire;
        return nb::cast<bool>(given.attr("save")(nb::cast(&snapshot, nb::rv_policy::reference)));
    };
    const nb::object resumed = given.attr("resumed");
    if (resumed.is_none()) return result;
    const auto& saved = nb::cast<const SavedSearch&>(resumed);
    result.from = saved.state;
    result.load = [states = nb::object(saved.states)]() -> std::optional<SavedStates> {
        nb::gil_scoped_acquire acquire;
        const nb::object next = nb::steal(PyIter_Next(states.ptr()));
        if (!next.is_valid()) {
            if (PyErr_Occurred() != nullptr) throw nb::python_error();
            return std::nullopt;
        }
        const auto [bits, packed] = nb::cast<std::tuple<std::vector<unsigned>, nb::bytes>>(next);
        SavedStates part;
        for (unsigned width : bits)
            if (width > 32) throw Damaged("a field is too wide");
        part.bits = bits;
        part.bytes = packed.size();
        part.packed.resize(part.bytes + Layout::slack);
        std::memcpy(part.packed.data(), packed.c_str(), part.bytes);
        return part;
    };
    return result;
}

std::size_t Engine::count_cells(Id column) const { return tables.columns[column]->cells.size(); }

nb::bytes Engine::cells(Id column, std::size_t begin, const std::vector<Id>& locals,
                        const std::vector<Id>& messages) const {
    const Column& owner = *tables.columns[column];
    std::vector<Id> numbers;
    for (std::size_t i = begin; i < owner.cells.size(); ++i) {
        const std::span<const Id> inbox = owner.inboxes[owner.cells[i].inbox];
        numbers.push_back(locals.at(owner.cells[i].local));
        numbers.push_back(static_cast<Id>(inbox.size()));
        for (Id message : inbox) numbers.push_back(messages.at(message));
    }
    return bytes_of(numbers.data(), numbers.size() * sizeof(Id));
}

bool Engine::add_cells(Id column, const nb::bytes& saved, const std::vector<Id>& locals,
                       const std::vector<Id>& messages) {
    Column& owner = *tables.columns[column];
    const std::vector<Id> numbers = numbers_of<Id>(saved);
    for (std::size_t i = 0; i < numbers.size();) {
        if (numbers.size() - i < 2 || numbers.size() - i - 2 < numbers[i + 1]) throw Damaged("a cell is cut off");
        if (numbers[i] >= locals.size()) throw Damaged("a cell of a local state that is not listed");
        if (locals[numbers[i]] == none) return false;
        Inbox inbox;
        for (Id k = 0; k < numbers[i + 1]; ++k) {
            const Id message = numbers[i + 2 + k];
            if (message >= messages.size()) throw Damaged("a cell with a message that is not listed");
            if (messages[message] == none) return false;
            inbox.push_back(messages[message]);
        }
        arrange(tables.network, inbox, owner.sender(), owner.stands());
        const Id wanted = static_cast<Id>(owner.cells.size());
        if (tables.cell(owner, locals[numbers[i]], inbox) != wanted) return false;
        i += 2 + numbers[i + 1];
    }
    return true;
}

Id Engine::set_of(Id column, std::vector<Id> messages) {
    std::sort(messages.begin(), messages.end());
    return tables.columns[column]->sets.intern(messages);
}

void bind_checkpoints(nb::module_& module) {
    nb::exception<Damaged>(module, "DamagedError", PyExc_ValueError);
    // Bytes of a state whose fields have these widths.
    module.def("stride", [](const std::vector<unsigned>& bits) { return Layout::of(bits).stride(); }, "bits"_a);
    nb::class_<Snapshot>(module, "Snapshot")
        .def_ro("stop", &Snapshot::stop)
        .def_ro("left", &Snapshot::left)
        .def_prop_ro("states", [](const Snapshot& snapshot) { return snapshot.state.states; })
        .def_prop_ro("depth", [](const Snapshot& snapshot) { return snapshot.state.depth; })
        .def_prop_ro("transitions", [](const Snapshot& snapshot) { return snapshot.state.transitions; })
        .def_prop_ro("bits", &Snapshot::bits)
        .def("take", &take, "most_bytes"_a)
        .def(
            "head",
            [](const Snapshot& snapshot, const std::vector<Id>& failures) {
                const std::vector<std::uint64_t> words = snapshot.state.encode(failures);
                return bytes_of(words.data(), words.size() * sizeof(std::uint64_t));
            },
            "failures"_a);
    nb::class_<SavedSearch>(module, "SavedSearch")
        .def(
            "__init__",
            [](SavedSearch* self, const nb::bytes& head, const std::vector<Id>& failures, nb::object states) {
                const auto words = numbers_of<std::uint64_t>(head);
                new (self) SavedSearch{SearchState::decode(words, failures), std::move(states)};
            },
            nb::kw_only(), "head"_a, "failures"_a, "states"_a);
}

}  // namespace quorate
