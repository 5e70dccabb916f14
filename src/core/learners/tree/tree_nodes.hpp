// What a Hoeffding tree is made of, and the memory that it takes. How much that is depends on the tree alone, not on
// how it came about: a cap on it then means the same before and after a tree has been saved.
//
//   node   leaf:   entries  [label 3 | label 0 | label 7 | ...]     mass of each label that occurred here, in that
//   order
//                  stats    [range | label 7 | label 3 | ...]       least and greatest value of each covariate, and the
//                                                                   LabelStats of the labels that were observed here
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace boostline {

// The room that a vector of n records has: n rounded up to three significant bits. So it is copied rarely while it
// grows, and never has more than a quarter to spare.
constexpr std::size_t room_for(std::size_t n) {
    std::size_t step = 1;
    while (n / step >= 8) step *= 2;
    return (n + step - 1) / step * step;
}

struct TreeNode {
    struct Entry {
        double mass = 1.0;
        std::int32_t label = 0;
        std::int32_t stats = -1;  // its place among the statistics; -1: not observed here
    };

    double weight = 0.0;         // leaf: sum of the masses in its table
    double last_try = 0.0;       // leaf: weight when a split was last tried
    std::vector<Entry> entries;  // leaf: side by side, for every vote reads all of them
    // leaf: smallest values of the covariates and largest values, then the LabelStats of n_observed labels
    std::vector<double> stats;
    std::int32_t n_observed = 0;  // leaf: labels with statistics
    std::uint8_t nan_right = 0;   // where a missing value goes
    std::uint8_t active = 1;      // leaf: 0 once the cap has stopped its growth

    std::int32_t n_entries() const { return static_cast<std::int32_t>(entries.size()); }
};

// The way through a node, apart from what it knows: every row passes many of them, and all of a tree fit into a cache.
struct TreeRoute {
    double threshold = 0.0;
    std::int32_t covariate = -1;  // index into the tree's covariates; -1: a leaf
    std::int32_t left = -1;       // the right child is left + 1
};

// Records in pages, so that growing moves none of them and holds no more than one page that is not full.
template <class T, std::size_t kPage>
class PagedVector {
  public:
    PagedVector() = default;
    PagedVector(const PagedVector& other) {
        for (std::size_t i = 0; i < other.size_; ++i) add() = other[i];
    }
    PagedVector(PagedVector&& other) noexcept : pages_(std::move(other.pages_)), size_(std::exchange(other.size_, 0)) {}
    PagedVector& operator=(PagedVector other) noexcept {
        pages_.swap(other.pages_);
        std::swap(size_, other.size_);
        return *this;
    }

    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return pages_[i / kPage][i % kPage]; }
    const T& operator[](std::size_t i) const { return pages_[i / kPage][i % kPage]; }

    T& add() {
        if (size_ == pages_.size() * kPage) {
            pages_.reserve(room_for(pages_.size() + 1));
            pages_.push_back(std::make_unique<T[]>(kPage));
        }
        return (*this)[size_++];
    }

    void truncate(std::size_t n) noexcept {
        while (size_ > n) (*this)[--size_] = T{};
        pages_.resize((n + kPage - 1) / kPage);
        pages_.shrink_to_fit();  // if there is memory for it
    }

    std::size_t allocated_bytes() const {
        return pages_.size() * kPage * sizeof(T) + pages_.capacity() * sizeof(std::unique_ptr<T[]>);
    }
    static std::size_t bytes_for(std::size_t n) {
        const std::size_t n_pages = (n + kPage - 1) / kPage;
        return n_pages * kPage * sizeof(T) + room_for(n_pages) * sizeof(std::unique_ptr<T[]>);
    }

  private:
    std::vector<std::unique_ptr<T[]>> pages_;
    std::size_t size_ = 0;
};

class TreeNodes {
  public:
    std::size_t size() const { return nodes_.size(); }
    TreeNode& operator[](std::size_t i) { return nodes_[i]; }
    const TreeNode& operator[](std::size_t i) const { return nodes_[i]; }
    TreeRoute& route(std::size_t i) { return routes_[i]; }
    const TreeRoute& route(std::size_t i) const { return routes_[i]; }

    TreeNode& add() {
        routes_.add();
        try {
            return nodes_.add();
        } catch (...) {
            routes_.truncate(nodes_.size());
            throw;
        }
    }
    void truncate(std::size_t n) noexcept {
        nodes_.truncate(n);
        routes_.truncate(n);
    }
    std::size_t allocated_bytes() const { return nodes_.allocated_bytes() + routes_.allocated_bytes(); }
    static std::size_t bytes_for(std::size_t n) { return Nodes::bytes_for(n) + Routes::bytes_for(n); }

  private:
    using Nodes = PagedVector<TreeNode, 16>;
    using Routes = PagedVector<TreeRoute, 16>;
    Nodes nodes_;
    Routes routes_;
};

}  // namespace boostline
