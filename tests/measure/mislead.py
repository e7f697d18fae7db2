#!/usr/bin/env python3
"""Makes a recording of a similar or misleading device from a Kernel Tuner cache, for `sweetspot simulate --prior`.

    mislead.py FROM.json.gz TO.json.gz shuffle|reverse|SPREAD SEED

shuffle: the times in any order. reverse: the fastest configuration gets the slowest time, and so on. SPREAD: every
value of a parameter, and every pair of values, changes the time by a factor with this deviation (0.7 of it for pairs).
"""
import gzip
import json
import math
import random
import sys

source, target, mode, seed = sys.argv[1:5]
random.seed(int(seed))
with gzip.open(source) as file:
    recording = json.load(file)
cache = recording["cache"]
keys, names = list(cache), recording["tune_params_keys"]
times = [cache[key].get("time") for key in keys]


def is_time(time):
    return isinstance(time, (int, float)) and time < 1e19


if mode == "shuffle":
    random.shuffle(times)
elif mode == "reverse":
    order = sorted((i for i, time in enumerate(times) if is_time(time)), key=lambda i: times[i])
    turned = list(times)
    for fast, slow in zip(order, reversed(order)):
        turned[fast] = times[slow]
    times = turned
else:
    spread, effects = float(mode), {}

    def effect(key, deviation):
        if key not in effects:
            effects[key] = random.gauss(0, deviation)
        return effects[key]

    for i, key in enumerate(keys):
        if not is_time(times[i]):
            continue
        values = [cache[key][name] for name in names]
        change = sum(effect((name, value), spread) for name, value in zip(names, values))
        change += sum(effect((a, b, values[a], values[b]), 0.7 * spread) for a in range(len(values)) for b in range(a))
        times[i] *= math.exp(change + random.gauss(0, 0.5 * spread))

recording["cache"] = {key: {**{name: cache[key][name] for name in names}, "time": time} for key, time in zip(keys, times)}
with gzip.open(target, "wt") as file:
    json.dump(recording, file)
