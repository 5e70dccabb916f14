// What one round of online learning sees: the features of an example and what is known of its labels.
#pragma once

#include <cstdint>
#include <vector>

namespace boostline {

// One row of features. `dense` always has every feature (of a sparse row: a scratch copy); `index` and
// `value` list the stored entries of a sparse row, so that learners can walk those alone.
struct Row {
    const double* dense = nullptr;
    std::int64_t n_features = 0;
    bool is_sparse = false;
    const std::int64_t* index = nullptr;
    const double* value = nullptr;
    std::int64_t n_stored = 0;

    // How many features are not zero, at most.
    std::size_t most_entries() const { return static_cast<std::size_t>(is_sparse ? n_stored : n_features); }
};

// The label sets of one example: Y (relevant) and the labels known to be irrelevant, both ascending. Labels in
// neither are unknown and take part in no pair.
struct Labels {
    std::vector<std::int32_t> relevant;
    std::vector<std::int32_t> irrelevant;
    std::vector<std::uint8_t> is_relevant;  // indicator, length k
    double importance = 1.0;                // the example's weight in [0, 1]

    bool has_pairs() const { return !relevant.empty() && !irrelevant.empty(); }
    // w_Y of the paper, the inverse of the number of pairs.
    double pair_weight() const {
        return 1.0 / (static_cast<double>(relevant.size()) * static_cast<double>(irrelevant.size()));
    }

    bool are_all_known() const { return relevant.size() + irrelevant.size() == is_relevant.size(); }

    void set(std::int32_t n_labels, const std::int32_t* rel, std::size_t n_rel, const std::int32_t* unknown,
             std::size_t n_unknown) {
        relevant.assign(rel, rel + n_rel);
        is_relevant.assign(static_cast<std::size_t>(n_labels), 0);
        for (std::size_t i = 0; i < n_rel; ++i) is_relevant[static_cast<std::size_t>(rel[i])] = 1;
        // Without a branch: there may be thousands of labels.
        for (std::size_t i = 0; i < n_unknown; ++i) is_relevant[static_cast<std::size_t>(unknown[i])] |= kUnknown;
        irrelevant.resize(static_cast<std::size_t>(n_labels) + 1);
        std::size_t n = 0;
        for (std::int32_t label = 0; label < n_labels; ++label) {
            irrelevant[n] = label;
            n += is_relevant[static_cast<std::size_t>(label)] == 0 ? 1u : 0u;
        }
        irrelevant.resize(n);
        for (std::size_t i = 0; i < n_unknown; ++i) is_relevant[static_cast<std::size_t>(unknown[i])] &= 1;
    }

  private:
    static constexpr std::uint8_t kUnknown = 2;
};

// No block that is learned together has more rows.
constexpr std::size_t kMostTogether = 64;

// A row and its labels, in a block of rows that are learned together.
struct Example {
    Row x;
    Labels labels;
    bool is_taught = true;  // to the learners, that is; a row without a pair may teach nothing

    bool is_learned() const { return is_taught && labels.importance > 0.0; }
};

}  // namespace boostline
