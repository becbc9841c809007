# private_apt ...: apt-get with lists and states of its own in $folder/apt, for $architecture alone, so that nothing of this
# machine's package state changes. begin_apt deb, or deb-src, makes the folder
# and reads the lists of packages, or of sources. To be read by `.`.
begin_apt() {
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
    : > "$folder/apt/status"
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    from="[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org"
    echo "$1 $from/debian $suite main" > "$folder/apt/sources.list"
    # Security updates of architectures differ in time, and so in what fits together; sources have no architecture.
    [ "$1" = deb ] || echo "$1 $from/debian-security $suite-security main" >> "$folder/apt/sources.list"
    private_apt update > /dev/null
}

private_apt() {
    apt-get -q -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" \
        -o Dir::State="$folder/apt" -o Dir::State::status="$folder/apt/status" -o Dir::State::lists="$folder/apt/lists" \
        -o Dir::Cache="$folder/apt/cache" -o Dir::Etc::sourcelist="$folder/apt/sources.list" \
        -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferencesparts=/dev/null -o Acquire::Languages=none \
        -o APT::Sandbox::User=root "$@"
}
