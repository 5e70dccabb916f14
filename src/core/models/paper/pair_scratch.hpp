// Scratch buffers of one thread for one round.
#pragma once

#include <vector>

#include "core/base/example.hpp"
#include "core/kernels/pairs.hpp"

namespace boostline {

// The scores of one expert, split into relevant and irrelevant labels, and room for sums over pairs.
struct PairScratch {
    std::vector<double> relevant, irrelevant, relevant_sum, irrelevant_sum, e_relevant, e_irrelevant, costs, weights;

    void reserve(const Labels& labels) {
        for (auto* column : {&relevant, &relevant_sum}) column->reserve(labels.relevant.size());
        for (auto* column : {&irrelevant, &irrelevant_sum}) column->reserve(labels.irrelevant.size());
    }
    // For any labels, of k.
    void reserve(std::size_t k) {
        for (auto* column : {&relevant, &irrelevant, &relevant_sum, &irrelevant_sum, &e_relevant, &e_irrelevant})
            column->reserve(k);
    }
    void split(const double* scores, const Labels& labels) {
        relevant.resize(labels.relevant.size());
        irrelevant.resize(labels.irrelevant.size());
        for (std::size_t i = 0; i < relevant.size(); ++i) relevant[i] = scores[labels.relevant[i]];
        for (std::size_t i = 0; i < irrelevant.size(); ++i) irrelevant[i] = scores[labels.irrelevant[i]];
    }
    // The same number, with the scores left as they are: pairs of a relevant label with any label, less those with
    // another relevant one. Halves are exact in any order.
    double rank_loss_alone(const double* scores, const Labels& labels) {
        const std::size_t k = labels.is_relevant.size(), n = labels.relevant.size();
        if (n + labels.irrelevant.size() != k) return rank_loss(scores, labels);
        relevant.resize(n);
        for (std::size_t i = 0; i < n; ++i) relevant[i] = scores[labels.relevant[i]];
        return labels.pair_weight() * (count_inversions(relevant.data(), n, scores, k) -
                                       count_inversions(relevant.data(), n, relevant.data(), n));
    }
    // Leaves the scores here, split.
    double rank_loss(const double* scores, const Labels& labels) {
        split(scores, labels);
        return labels.pair_weight() *
               count_inversions(relevant.data(), relevant.size(), irrelevant.data(), irrelevant.size());
    }
};

}  // namespace boostline
