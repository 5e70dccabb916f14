// What a fork does to threads. The child has its parent's memory but only the thread that forked: the other threads are
// gone, with the locks they held still taken. So in the child all `AfterFork` objects (locks) are reset before anything
// else runs, and threads are known to be gone by the `fork_generation`.
#pragma once

#include <atomic>
#include <mutex>
#include <set>

#include <pthread.h>

namespace boostline {

// Something that has to be reset in a forked child.
class AfterFork {
  public:
    virtual void put_in_order() noexcept = 0;

  protected:
    ~AfterFork() = default;
};

class Forks {
  public:
    static Forks& all() {
        static Forks* const forks = new Forks;  // for ever: threads may outlive the end of main
        return *forks;
    }
    Forks(const Forks&) = delete;
    Forks& operator=(const Forks&) = delete;

    // How many forks lie between the first process and this one.
    unsigned generation() const { return generation_.load(std::memory_order_relaxed); }

    void add(AfterFork* object) {
        const std::lock_guard<std::mutex> lock(mutex_);
        objects_.insert(object);
    }
    void remove(AfterFork* object) {
        const std::lock_guard<std::mutex> lock(mutex_);
        objects_.erase(object);
    }

  private:
    Forks() {
        pthread_atfork([] { all().mutex_.lock(); }, [] { all().mutex_.unlock(); }, [] { all().in_child(); });
    }

    void in_child() {
        generation_.fetch_add(1, std::memory_order_relaxed);
        for (AfterFork* object : objects_) object->put_in_order();
        mutex_.unlock();
    }

    std::mutex mutex_;  // of the objects; the thread that forks holds it
    std::set<AfterFork*> objects_;
    std::atomic<unsigned> generation_{0};
};

inline unsigned fork_generation() { return Forks::all().generation(); }

}  // namespace boostline
