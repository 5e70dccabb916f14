// States of a model on their way between the core and Python: array by array, in pieces.
#pragma once

#include <map>
#include <memory>

#include "bindings/arrays.hpp"
#include "core/models/paper/booster.hpp"
#include "with_python.hpp"

namespace boostline {

constexpr struct {
    ArrayType type;
    const char* name;  // as in safetensors
    std::size_t width;
} kArrayTypes[] = {{ArrayType::f64, "F64", 8},
                   {ArrayType::i64, "I64", 8},
                   {ArrayType::i32, "I32", 4},
                   {ArrayType::u8, "U8", 1},
                   {ArrayType::f32, "F32", 4}};

inline const auto& about(ArrayType type) { return kArrayTypes[static_cast<std::size_t>(type)]; }

// Names, types and lengths only.
using ArrayList = nb::typed<nb::list, std::tuple<std::string, std::string, std::size_t>>;
class ListArchive final : public Archive {
  public:
    ArrayList list;

  protected:
    bool begin(const std::string& name, ArrayType type, std::size_t size) override {
        list.append(nb::make_tuple(name, about(type).name, size));
        return false;
    }
    void append(const void*, std::size_t) override {}
};

// One array, handed to a Python function in pieces. Used without the GIL, so the function belongs to the caller.
class PieceArchive final : public Archive {
  public:
    PieceArchive(const char* name, const nb::callable& take) : name_(name), take_(take) {}

    void flush() {
        if (piece_.empty()) return;
        const WithPython python;
        const auto view =
            nb::steal(PyMemoryView_FromMemory(piece_.data(), static_cast<Py_ssize_t>(piece_.size()), PyBUF_READ));
        if (!view.is_valid()) throw nb::python_error();
        take_(view);
        view.attr("release")();  // nobody may keep what is overwritten next
        piece_.clear();
    }

  protected:
    bool begin(const std::string& name, ArrayType type, std::size_t size) override {
        if (name != name_) return false;
        piece_.reserve(std::min(kPiece, size * about(type).width));
        return true;
    }
    void append(const void* bytes, std::size_t n_bytes) override {
        const char* from = static_cast<const char*>(bytes);
        while (n_bytes > 0) {
            const std::size_t some = std::min(n_bytes, kPiece - piece_.size());
            piece_.insert(piece_.end(), from, from + some);
            from += some;
            n_bytes -= some;
            if (piece_.size() == kPiece) flush();
        }
    }

  private:
    static constexpr std::size_t kPiece = std::size_t{1} << 20;
    const char* name_;
    const nb::callable& take_;
    std::vector<char> piece_;
};

// Arrays from anywhere: {name: (type, length)}, and a function read(name, first byte, buffer to fill). Made with the
// GIL, used without.
class PieceView final : public ArchiveView {
  public:
    PieceView(const nb::dict& arrays, const nb::callable& read) : read_(read) {
        for (const auto& [key, value] : arrays) {
            const std::string name = nb::cast<const char*>(key), type = nb::cast<const char*>(value[0]);
            for (const auto& known : kArrayTypes)
                if (type == known.name) entries_[name] = {true, known.type, nb::cast<std::size_t>(value[1])};
            if (entries_.count(name) == 0)
                throw nb::value_error(("the array '" + name + "' has a type that no state has").c_str());
        }
    }

  protected:
    Entry find(const std::string& name) const override {
        const auto found = entries_.find(name);
        return found == entries_.end() ? Entry{} : found->second;
    }
    void fetch(const std::string& name, std::size_t first_byte, void* out, std::size_t n_bytes) const override {
        if (n_bytes == 0) return;
        const WithPython python;
        const auto view =
            nb::steal(PyMemoryView_FromMemory(static_cast<char*>(out), static_cast<Py_ssize_t>(n_bytes), PyBUF_WRITE));
        if (!view.is_valid()) throw nb::python_error();
        read_(name, first_byte, view);
        view.attr("release")();
    }

  private:
    const nb::callable& read_;
    std::map<std::string, Entry> entries_;
};

// The arrays of a booster that nobody changes meanwhile. -1 is the booster itself, without its learners.
class StoredState {
  public:
    explicit StoredState(const Booster& booster) : booster_(&booster) {}
    void close() { booster_ = nullptr; }

    ArrayList arrays(int learner) const {
        ListArchive out;
        save(learner, out);
        return out.list;
    }
    void write(int learner, const char* name, const nb::callable& take) const {
        nb::gil_scoped_release no_gil;
        const MemoryFaults::InCall in_call;
        PieceArchive out(name, take);
        save(learner, out);
        out.flush();
    }
    // Throws unless the state can be loaded again.
    void check(int learner) const {
        nb::gil_scoped_release no_gil;
        const MemoryFaults::InCall in_call;
        if (learner < 0)
            booster().check();
        else
            booster().learners().at(static_cast<std::size_t>(learner))->check();
    }

  private:
    const Booster& booster() const {
        if (booster_ == nullptr) throw std::runtime_error("the state is no longer held");
        return *booster_;
    }
    void save(int learner, Archive& out) const {
        if (learner < 0)
            booster().save(out);
        else
            booster().learners().at(static_cast<std::size_t>(learner))->save(out);
    }

    const Booster* booster_;
};

}  // namespace boostline
