// Rows and label sets on their way from Python to the core.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "core/learners/learner.hpp"

namespace boostline {

// Refuses what would be read or written out of bounds; says whether the columns of every row ascend.
inline bool check_csr(const std::string& name, Vector<std::int64_t> start, Vector<std::int64_t> index,
                      std::int64_t n_columns) {
    const std::size_t n = start.shape(0) - 1;
    const auto n_stored = static_cast<std::int64_t>(index.shape(0));
    if (start.data()[0] != 0)
        throw std::invalid_argument(name + ".indptr begins with " + std::to_string(start.data()[0]) +
                                    ", but must begin with 0");
    bool ascends = true;
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t first = start.data()[i], end = start.data()[i + 1];
        if (end < first || end > n_stored)
            throw std::invalid_argument(name + ".indptr goes from " + std::to_string(first) + " to " +
                                        std::to_string(end) + " at row " + std::to_string(i) +
                                        ", but must ascend to at most " + std::to_string(n_stored) +
                                        ", the number of stored values");
        for (std::int64_t j = first; j < end; ++j) {
            const std::int64_t column = index.data()[j];
            if (column < 0 || column >= n_columns)
                throw std::invalid_argument(name + ".indices has the column " + std::to_string(column) + " in row " +
                                            std::to_string(i) + ", but columns must lie between 0 and " +
                                            std::to_string(n_columns - 1));
            ascends = ascends && (j == first || index.data()[j - 1] < column);
        }
    }
    return ascends;
}

// Checked rows as Python holds them (boostline.contract.rows.Rows): a matrix, one row as a vector, or the three arrays
// of a CSR matrix with `n_features` columns.
class Rows {
  public:
    Rows(nb::object given, std::int64_t n_features, bool is_single)
        : given_(std::move(given)), n_features_(n_features), is_single_(is_single) {
        if (nb::isinstance<nb::tuple>(given_)) {
            is_sparse_ = true;
            start_ = nb::cast<Vector<std::int64_t>>(given_[0]);
            index_ = nb::cast<Vector<std::int64_t>>(given_[1]);
            value_ = nb::cast<Vector<double>>(given_[2]);
            n_ = start_.shape(0) - 1;
        } else {
            dense_ = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(given_);
            is_single_ = is_single || dense_.ndim() == 1;
            n_ = dense_.ndim() == 1 ? 1 : dense_.shape(0);
            n_features_ = static_cast<std::int64_t>(dense_.shape(dense_.ndim() - 1));
        }
    }
    nb::object given() const { return given_; }
    std::int64_t n_features() const { return n_features_; }
    bool is_single() const { return is_single_; }
    // The place of the first stored value that is infinite or beyond `limit`; -1 if there is none. NaN is missing.
    std::int64_t first_beyond(double limit) const {
        const double* const values = is_sparse_ ? value_.data() : dense_.data();
        const std::size_t size = is_sparse_ ? value_.size() : dense_.size();
        constexpr std::size_t kPiece = 1024;
        for (std::size_t from = 0; from < size; from += kPiece) {
            const std::size_t end = std::min(from + kPiece, size);
            bool is_beyond = false;
            for (std::size_t i = from; i < end; ++i) is_beyond |= std::abs(values[i]) > limit;
            for (std::size_t i = from; is_beyond && i < end; ++i)
                if (std::abs(values[i]) > limit) return static_cast<std::int64_t>(i);
        }
        return -1;
    }

    std::size_t size() const { return n_; }
    // How many rows to have at hand together: dense copies of sparse rows are to take little memory.
    std::size_t n_together(std::size_t most = kMostTogether) const {
        constexpr std::size_t kMostNumbers = 1 << 19;
        const auto width = static_cast<std::size_t>(std::max<std::int64_t>(n_features_, 1));
        if (is_sparse_) most = std::min(most, std::max<std::size_t>(1, kMostNumbers / width));
        return std::min(most, n_);
    }
    // Room for the dense copies of so many sparse rows, all zero. To get it anew for a single row of a million features
    // takes longer than to score the row: the last one is kept for the next call of the thread, unless it is large.
    std::vector<double> scratch(std::size_t n) const {
        std::vector<double> room = std::move(kept_room());
        const std::size_t needed = is_sparse_ ? n * static_cast<std::size_t>(n_features_) : 0;
        if (room.size() < needed) room.resize(needed, 0.0);
        return room;
    }
    static void keep(std::vector<double> room) noexcept {
        constexpr std::size_t kMostKept = 1 << 21;
        if (room.size() <= kMostKept) kept_room() = std::move(room);
    }

    // Row i, which is the j-th of those at hand; of a sparse row a dense copy is laid out in `scratch`.
    Row row(std::size_t i, std::size_t j, std::vector<double>& scratch) const {
        Row row;
        row.n_features = n_features_;
        if (!is_sparse_) {
            row.dense = dense_.data() + i * static_cast<std::size_t>(n_features_);
            return row;
        }
        const auto first = start_.data()[i];
        row.is_sparse = true;
        row.index = index_.data() + first;
        row.value = value_.data() + first;
        row.n_stored = start_.data()[i + 1] - first;
        double* dense = scratch.data() + j * static_cast<std::size_t>(n_features_);
        for (std::int64_t e = 0; e < row.n_stored; ++e) dense[row.index[e]] = row.value[e];
        row.dense = dense;
        return row;
    }
    // The row is done.
    void clear(const Row& row, std::size_t j, std::vector<double>& scratch) const {
        if (!row.is_sparse) return;
        double* dense = scratch.data() + j * static_cast<std::size_t>(n_features_);
        for (std::int64_t e = 0; e < row.n_stored; ++e) dense[row.index[e]] = 0.0;
    }
    // task(x, first, n) with the rows first .. first + n - 1 at hand, until all have been.
    template <class Task>
    void in_pieces(std::size_t n_together, Task&& task) const {
        std::vector<Row> x(n_together);
        std::vector<double> room = scratch(x.size());
        for (std::size_t first = 0; first < n_; first += x.size()) {
            const std::size_t n = std::min(x.size(), n_ - first);
            for (std::size_t j = 0; j < n; ++j) x[j] = row(first + j, j, room);
            task(x.data(), first, n);
            for (std::size_t j = 0; j < n; ++j) clear(x[j], j, room);
        }
        keep(std::move(room));  // after an exception there are values in it, and it goes
    }

  private:
    static std::vector<double>& kept_room() noexcept {
        static thread_local std::vector<double> room;
        return room;
    }

    nb::object given_;
    std::int64_t n_features_;
    bool is_single_, is_sparse_ = false;
    std::size_t n_ = 0;
    nb::ndarray<const double, nb::c_contig, nb::device::cpu> dense_;
    Vector<std::int64_t> start_, index_;
    Vector<double> value_;
};

// Label sets of several rows: row i has the relevant labels relevant[relevant_start[i] .. relevant_start[i + 1]), and
// labels of which nothing is known in the same form.
struct LabelSets {
    std::int32_t n_labels;
    Vector<std::int64_t> relevant_start;
    Vector<std::int32_t> relevant;
    Vector<std::int64_t> unknown_start;
    Vector<std::int32_t> unknown;

    void put(std::size_t i, Labels& labels) const {
        const auto r0 = relevant_start.data()[i], r1 = relevant_start.data()[i + 1];
        const auto u0 = unknown_start.data()[i], u1 = unknown_start.data()[i + 1];
        labels.set(n_labels, relevant.data() + r0, static_cast<std::size_t>(r1 - r0), unknown.data() + u0,
                   static_cast<std::size_t>(u1 - u0));
    }
};

}  // namespace boostline
