#!/bin/sh
# The model of the page docs/browser.md: how probable it is that a flight from New York is late, from what is known when a
# ticket is bought. Makes flights.wasm in the folder FOLDER.
# usage: flights.sh FOLDER      GREEDYSTEP: the command; ZIG: the compiler (see scripts/wasm)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Hours are those of New York.
python3 - "$here/../data/flights.csv" > "$work/flights.csv" << 'END'
import csv, datetime, sys, zoneinfo
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow(["hour", "day of the year", "carrier", "airport", "late"])
for row in csv.DictReader(open(sys.argv[1])):
    utc = datetime.datetime.fromisoformat(row["time_hour"].replace("Z", "+00:00"))
    time = utc.astimezone(zoneinfo.ZoneInfo("America/New_York"))
    out.writerow([time.hour, time.timetuple().tm_yday, row["carrier"], row["origin"], row["late"]])
END
"${GREEDYSTEP:-greedystep}" train "$work/flights.csv" --label late -o "$work/flights.model" -q 2> "$work/log" || {
    cat "$work/log" >&2
    exit 1
}
python3 "$here/../../scripts/wasm" "$work/flights.model" "$1/flights.wasm" "$work/flights.csv"
