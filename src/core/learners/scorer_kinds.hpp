// The kinds of scorers, by name. Each registers itself at the end of its file in learners/, so a new scorer is one new
// file; existing files do not change.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>

#include "core/learners/scorer.hpp"

namespace boostline {

// What a scorer is made from: the size of the problem, and the settings of its description by name.
struct ScorerSettings {
    std::int32_t n_labels = 0;
    std::int64_t n_features = 0;
    std::map<std::string, std::variant<double, std::uint64_t>> values;
    std::shared_ptr<const Scorer> of = nullptr;  // of a scorer that is made of another: that one, as new

    double number(const char* name) const {
        return std::visit([](auto value) { return static_cast<double>(value); }, find(name));
    }
    std::uint64_t count(const char* name) const {
        if (const auto* whole = std::get_if<std::uint64_t>(&find(name))) return *whole;
        throw std::invalid_argument("the setting '" + std::string(name) + "' is not a whole number");
    }

  private:
    const std::variant<double, std::uint64_t>& find(const char* name) const {
        const auto found = values.find(name);
        if (found == values.end()) throw std::invalid_argument("the setting '" + std::string(name) + "' is missing");
        return found->second;
    }
};

using MakeScorer = std::unique_ptr<Scorer> (*)(const ScorerSettings&);

inline std::map<std::string, MakeScorer>& scorer_kinds() {
    static std::map<std::string, MakeScorer> kinds;
    return kinds;
}

inline std::shared_ptr<Scorer> make_scorer(const std::string& kind, const ScorerSettings& settings) {
    const auto found = scorer_kinds().find(kind);
    if (found == scorer_kinds().end()) throw std::invalid_argument("there is no scorer of the kind '" + kind + "'");
    return found->second(settings);
}

struct RegisterScorer {
    RegisterScorer(const char* kind, MakeScorer make) { scorer_kinds().emplace(kind, make); }
};

}  // namespace boostline
