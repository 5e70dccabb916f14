// Short lists of labels with a number each, ascending by label: weights of a feature, dual variables of a row, steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace boostline {

struct LabelValue {
    std::int32_t label;
    float value;
};

// Calls change(value, step) for the label of every step, with a value of 0 if it is not in the list. The list needs
// room for the labels that are new to it.
template <class Change>
void add_steps(std::vector<LabelValue>& list, const LabelValue* steps, std::size_t n_steps, Change&& change) noexcept {
    // First the labels that are there, then the others from the last one back, so that every entry moves once.
    std::size_t n_new = 0;
    auto at = list.begin();
    for (std::size_t s = 0; s < n_steps; ++s) {
        at = std::lower_bound(at, list.end(), steps[s].label,
                              [](const LabelValue& e, std::int32_t label) { return e.label < label; });
        if (at != list.end() && at->label == steps[s].label)
            change(at->value, steps[s].value);
        else
            n_new += 1;
    }
    std::size_t from = list.size(), to = from + n_new, s = n_steps;
    list.resize(to);
    while (to > from) {
        const LabelValue& step = steps[s - 1];
        if (from > 0 && list[from - 1].label > step.label) {
            list[--to] = list[--from];
            continue;
        }
        --s;
        if (from > 0 && list[from - 1].label == step.label) continue;
        list[--to] = {step.label, 0.0f};
        change(list[to].value, step.value);
    }
}

}  // namespace boostline
