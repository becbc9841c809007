# What the scripts share: $build is installed into a fresh $prefix in $work, the current directory, where pkg-config and the
# loader find it. $cc, $flags; $cxx is the C++ compiler of the same family, since sanitizers do not mix.
flags="-Wall -Wextra -Wpedantic -Werror $instrumentation"
cmake=${CMAKE_COMMAND:-cmake}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$cmake" --install "$build" --prefix "$work/first" > install.log || {
    cat install.log
    exit 1
}
# Moved, so that a path into the first place would be found out.
mv "$work/first" "$work/prefix"
prefix=$work/prefix
pc=$(find "$prefix" -name greedystep.pc)
libdir=$(dirname "$(dirname "$pc")")
PKG_CONFIG_PATH=$(dirname "$pc")
LD_LIBRARY_PATH=$libdir
export PKG_CONFIG_PATH LD_LIBRARY_PATH
case $(basename "$cc") in
*clang*) cxx=clang++ ;;
*) cxx=g++ ;;
esac
n=0
