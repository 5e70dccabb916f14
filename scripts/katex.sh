#!/usr/bin/env bash
# Puts KaTeX, which draws the formulas of the documentation, into docs/assets/katex. Run it to take another version;
# the files are kept in the repository, so that the site builds and reads without a network.
set -euo pipefail
version="${1:-0.16.47}"
target="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/docs/assets/katex"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "katex@$version" >/dev/null
tar xzf "katex-$version.tgz"
rm -rf "$target"
mkdir -p "$target/fonts"
cp package/LICENSE package/dist/katex.min.js "$target/"
cp package/dist/fonts/*.woff2 "$target/fonts/"
# Every browser that KaTeX supports reads woff2: the two older formats would triple the size.
sed -E 's/,url\([^)]*\.(woff|ttf)\) format\("[a-z]+"\)//g' package/dist/katex.min.css >"$target/katex.min.css"
echo "$version" >"$target/VERSION"
