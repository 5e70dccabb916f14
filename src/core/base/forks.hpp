// What a fork does to threads. The child has its parent's memory but only the thread that forked: the others are gone,
// with the locks they held still taken and with what they were changing half changed. So
//
// - a thread changes a model only within a `Change`. A fork waits until no thread is inside one, which takes a row,
//   or at most 256 rows of a block, and no thread enters one while a process is being forked: a child has every model
//   as it was after a whole number of rows;
// - calls into Python leave the Change for their length (`Pause`), since a thread that forks holds the GIL while it
// waits;
// - in the child all `AfterFork` objects (locks) are told; threads are known to be gone by the `fork_generation`.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <set>

#include <pthread.h>

namespace boostline {

// Something that has to be put in order in a forked child, before anything else runs there.
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
        const std::lock_guard<std::mutex> lock(list_mutex_);
        objects_.insert(object);
    }
    void remove(AfterFork* object) {
        const std::lock_guard<std::mutex> lock(list_mutex_);
        objects_.erase(object);
    }

    void enter() {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return !is_forking_; });
        ++n_inside_;
    }
    void leave() {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (--n_inside_ == 0 && is_forking_) changed_.notify_all();
    }

  private:
    Forks() {
        pthread_atfork([] { all().before(); }, [] { all().after(); }, [] { all().in_child(); });
    }

    void before() {
        list_mutex_.lock();
        std::unique_lock<std::mutex> lock(mutex_);
        is_forking_ = true;
        changed_.wait(lock, [&] { return n_inside_ == 0; });
        lock.release();  // both stay locked until after the fork
    }
    void after() {
        is_forking_ = false;
        changed_.notify_all();
        mutex_.unlock();
        list_mutex_.unlock();
    }
    void in_child() {
        new (&changed_) std::condition_variable;  // the old one remembers who waited in the parent
        generation_.fetch_add(1, std::memory_order_relaxed);
        for (AfterFork* object : objects_) object->put_in_order();
        after();
    }

    std::mutex list_mutex_;
    std::set<AfterFork*> objects_;
    std::mutex mutex_;
    std::condition_variable changed_;
    int n_inside_ = 0;  // threads within a Change
    bool is_forking_ = false;
    std::atomic<unsigned> generation_{0};
};

inline unsigned fork_generation() { return Forks::all().generation(); }

inline thread_local bool is_within_change = false;

class Change {
  public:
    Change() : is_outermost_(!is_within_change) {
        if (!is_outermost_) return;
        Forks::all().enter();
        is_within_change = true;
    }
    ~Change() {
        if (!is_outermost_) return;
        is_within_change = false;
        Forks::all().leave();
    }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

  private:
    const bool is_outermost_;
};

// The model is whole here, or what is not whole is this thread's own.
class Pause {
  public:
    Pause() : was_within_(is_within_change) {
        if (!was_within_) return;
        is_within_change = false;
        Forks::all().leave();
    }
    ~Pause() {
        if (!was_within_) return;
        Forks::all().enter();
        is_within_change = true;
    }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

  private:
    const bool was_within_;
};

}  // namespace boostline
