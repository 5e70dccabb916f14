// The arrays of a CSR matrix as users pass them: nothing here trusts that they fit together.
#pragma once

#include <stdexcept>
#include <string>

#include "bindings/arrays.hpp"

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

}  // namespace boostline
