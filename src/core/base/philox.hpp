// Philox 4x64-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), a counter-based
// generator: the value depends on (key, counter) only, so a draw needs no state and asking twice gives
// the same answer. Identical to numpy.random.Philox, so that core and oracle draw alike.
#pragma once

#include <array>
#include <cstdint>

namespace boostline {

using Block256 = std::array<std::uint64_t, 4>;

inline Block256 philox(Block256 counter, std::array<std::uint64_t, 2> key) {
    constexpr std::uint64_t kM0 = 0xD2E7470EE14C6C93ull, kM1 = 0xCA5A826395121157ull;
    constexpr std::uint64_t kW0 = 0x9E3779B97F4A7C15ull, kW1 = 0xBB67AE8584CAA73Bull;
    for (int round = 0; round < 10; ++round) {
        const auto p0 = static_cast<unsigned __int128>(kM0) * counter[0];
        const auto p1 = static_cast<unsigned __int128>(kM1) * counter[2];
        counter = {static_cast<std::uint64_t>(p1 >> 64) ^ counter[1] ^ key[0], static_cast<std::uint64_t>(p1),
                   static_cast<std::uint64_t>(p0 >> 64) ^ counter[3] ^ key[1], static_cast<std::uint64_t>(p0)};
        key[0] += kW0;
        key[1] += kW1;
    }
    return counter;
}

// A uniform number in [0, 1), as numpy.random.Generator(Philox(counter=counter, key=key)).random() gives first
// (NumPy advances the counter before it makes its first block).
inline double philox_uniform(std::uint64_t key, std::uint64_t counter) {
    const std::uint64_t next = counter + 1;
    const Block256 block = philox({next, next == 0 ? 1ull : 0ull, 0, 0}, {key, 0});
    return static_cast<double>(block[0] >> 11) * 0x1.0p-53;
}

// The finaliser of splitmix64, to hash by: a fixed bijection, so that a file means the same on every machine.
inline std::uint64_t splitmix64(std::uint64_t z) {
    z += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

}  // namespace boostline
