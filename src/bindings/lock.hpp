// The lock of a model: one thread that changes it, or any number that read it, in the order in which they came, so that
// no thread waits for ever while another one learns row after row. In a forked child it is free; a model that another
// thread was changing at the fork is refused there.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>

#include "core/base/forks.hpp"

namespace boostline {

class Lock final : public AfterFork {
  public:
    Lock() { Forks::all().add(this); }
    ~Lock() { Forks::all().remove(this); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    void lock() {
        std::unique_lock<std::mutex> guard(mutex_);
        refuse_own();
        if (Reading::n_of(*this) > 0)
            throw std::runtime_error("a weak learner may not change the model that asks for its votes");
        wait_for_turn(guard, [&] { return n_readers_ == 0; });
        writer_ = std::this_thread::get_id();
    }
    void unlock() {
        const std::lock_guard<std::mutex> guard(mutex_);
        writer_ = std::thread::id();
        changed_.notify_all();
    }

    bool is_mine() {
        const std::lock_guard<std::mutex> guard(mutex_);
        return writer_ == std::this_thread::get_id();
    }

    // The locks that this thread reads under are a chain: after a fork they have to be taken anew.
    class Reading {
      public:
        explicit Reading(Lock& lock) : lock_(lock), outer_(innermost) {
            lock_.lock_shared();
            innermost = this;
        }
        ~Reading() {
            innermost = outer_;
            lock_.unlock_shared();
        }
        Reading(const Reading&) = delete;
        Reading& operator=(const Reading&) = delete;

        static int n_of(const Lock& lock) {
            int n = 0;
            for (const Reading* held = innermost; held != nullptr; held = held->outer_)
                n += &held->lock_ == &lock ? 1 : 0;
            return n;
        }

      private:
        inline static thread_local Reading* innermost = nullptr;
        Lock& lock_;
        Reading* const outer_;
    };

    // The threads that held it or waited for it are gone, except the one that forked.
    void put_in_order() noexcept override {
        new (&mutex_) std::mutex;
        new (&changed_) std::condition_variable;
        n_readers_ = Reading::n_of(*this);
        if (writer_ != std::this_thread::get_id()) {
            is_torn_ = is_torn_ || writer_ != std::thread::id();
            writer_ = std::thread::id();
        }
        next_ticket_ = turn_ = 0;
    }

  private:
    void lock_shared() {
        std::unique_lock<std::mutex> guard(mutex_);
        refuse_own();
        // Who reads already does not queue again behind one who waits for it to end.
        if (Reading::n_of(*this) == 0) wait_for_turn(guard, [] { return true; });
        ++n_readers_;
    }
    void unlock_shared() {
        const std::lock_guard<std::mutex> guard(mutex_);
        if (--n_readers_ == 0) changed_.notify_all();
    }

    template <class Condition>
    void wait_for_turn(std::unique_lock<std::mutex>& guard, Condition&& condition) {
        const std::uint64_t ticket = next_ticket_++;
        changed_.wait(guard, [&] { return turn_ == ticket && writer_ == std::thread::id() && condition(); });
        ++turn_;
        changed_.notify_all();
    }
    void refuse_own() const {
        if (is_torn_)
            throw std::runtime_error(
                "another thread was changing or saving the model when this process was forked; load the model from a "
                "file, or start processes with 'spawn'");
        if (writer_ == std::this_thread::get_id())
            throw std::runtime_error("a weak learner called the model that is just teaching it");
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t next_ticket_ = 0, turn_ = 0;
    std::thread::id writer_;
    int n_readers_ = 0;
    bool is_torn_ = false;  // the writer is gone, in the middle of a change
};

// What orders the calls that change a model, above the compiled model's own lock: its thread may come again, for calls
// are made of others. A weak learner that calls the model that teaches it gets as far as the other lock.
class TurnLock {
  public:
    // Refuses a thread that reads under the model's own lock `inner`: it would wait for one who waits for it to end.
    void check(const Lock& inner) {
        if (Lock::Reading::n_of(inner) > 0 && !lock_.is_mine())
            throw std::runtime_error(
                "a weak learner may not change the model that asks for its votes, nor ask for its state");
    }
    void lock() {
        if (!lock_.is_mine()) {
            lock_.lock();
            depth_ = 0;  // in a forked child it may be another's
        }
        ++depth_;
    }
    void unlock() {
        if (--depth_ == 0) lock_.unlock();
    }

  private:
    Lock lock_;
    int depth_ = 0;  // belongs to the thread that has the lock
};

}  // namespace boostline
