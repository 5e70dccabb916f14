# A user of the shell: train, kill -9, train --resume, rank. Run in an empty folder.
set -euo pipefail
python - <<'END'
import csv, random

random.seed(0)
with open("data.csv", "w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["a", "b", "c", "up", "down", "far"])
    for _ in range(20_000):
        a, b, c = (random.gauss(0, 1) for _ in range(3))
        rows.writerow([a, b, c, int(a > 0), int(a <= 0), int(abs(b) > 1)])
END
head -4 data.csv | cut -d, -f1-3 > new.csv
options="--labels up,down,far --learners paper:40 --seed 1 --checkpoint 512 --block 128"
boostline train data.csv $options --model m.blm &
child=$!
while [ ! -e m.blm ]; do
  kill -0 $child || { echo "training ended before its first checkpoint"; exit 1; }
  sleep 0.01
done
kill -9 $child
wait $child && { echo "training was over before it was killed"; exit 1; }
clock() { boostline inspect m.blm --json | python -c 'import json, sys; print(json.load(sys.stdin)["summary"]["clock"])'; }
learned=$(clock)
[ "$learned" -gt 0 ] && [ "$learned" -lt 20000 ]
boostline train data.csv $options --model m.blm --resume
[ "$(clock)" = 20000 ]
boostline train data.csv $options --model whole.blm
cmp m.blm whole.blm   # nothing was learned twice or left out
boostline rank m.blm new.csv --top 2 --json | tee ranked.jsonl
[ "$(wc -l < ranked.jsonl)" = 3 ]
