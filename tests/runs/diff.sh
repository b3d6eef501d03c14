#!/bin/bash
# stablerun diff: what moved between two runs, and each cause named: every cause is produced
# here, on its own, and has to be the one that is named.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"

# A program that has a thread, a heap and libraries, and ends when its look was taken.
cat >probe.c <<'END'
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
static void *wait_here(void *unused)
{
	(void)unused;
	pause();
	return NULL;
}
int main(void)
{
	pthread_t thread;
	size_t size = 200000;
	setlocale(LC_ALL, "");
	for (char **item = environ; *item; item++)
		size += strlen(*item);
	free(malloc(size));
	pthread_create(&thread, NULL, wait_here, NULL);
	usleep(250000);
	return 0;
}
END
cc -O1 -pthread probe.c -o probe
# A runtime that says where its code is: the n-th object is named and sized by its argument.
cat >maker.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char name[64];
	unsigned long address = 0x10000;
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	FILE *map = fopen(name, "w");
	if (!map)
		return 1;
	for (int i = 1; i + 1 < argc; i += 2) {
		unsigned long size = strtoul(argv[i + 1], NULL, 16);
		fprintf(map, "%lx %lx %s\n", address, size, argv[i]);
		address += size;
	}
	fclose(map);
	usleep(100000);
	return 0;
}
END
cc -O1 maker.c -o maker

# keep NAME [VARIABLE=VALUE...] -- STABLERUN-ARGUMENT...
keep() {
	kept=$1
	shift
	set_=
	while [ "$1" != -- ]; do
		set_="$set_ $1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	env $set_ "$stablerun" -f -o "$kept" "$@" || return 1
	"$stablerun" show "$kept" >/dev/null
}

# names CAUSE A B: diff moved something and CAUSE is the first likely one.
names() {
	expect 1 "$stablerun" diff --json "$2" "$3"
	/usr/bin/python3 - "$1" <<'END'
import json, sys
diff = json.load(open("out"))
likely = [c["name"] for c in diff["causes"] if c["likely"]]
if not diff["moved"] or likely[:1] != [sys.argv[1]]:
    sys.exit(f"expected '{sys.argv[1]}', found {likely}: {json.dumps(diff, indent=1)}")
END
}

keep base -- ./probe || fail "cannot keep a run"
keep kept -- --env=keep ./probe || fail "cannot keep a run"

same_runs() {
	keep twin -- ./probe && expect 0 "$stablerun" diff base twin &&
		grep -q "B is twin: the same" out
}
check "the same" same_runs
randomised() { keep other -- --place=off ./probe && names "randomised addresses" base other; }
check "randomised addresses" randomised
place() {
	keep other -- --place=move ./probe && names place base other && /usr/bin/python3 - <<'END'
import json
groups = json.load(open("out"))["mappings"]["groups"]
assert len(groups) == 1, groups
# The constant of the two layouts.
assert int(groups[0]["from"], 16) - int(groups[0]["to"], 16) == 0x10400000000
END
}
check "place: one constant shift" place
count() { keep other ONE=1 TWO=2 THREE=3 -- --env=keep ./probe && names "environment count" kept other; }
check "environment count" count
bytes() {
	keep one SIZE=1 -- --env=keep ./probe && keep other SIZE=1234567890123456789 -- --env=keep ./probe &&
		names "environment bytes" one other
}
check "environment bytes" bytes
arguments() { keep other -- --env=keep ./probe some long arguments here && names arguments kept other; }
check "arguments" arguments
path() {
	mkdir -p a/much/longer/path/to && cp probe a/much/longer/path/to/
	keep other -- --env=keep a/much/longer/path/to/probe && names "executed path" kept other
}
check "executed path" path
directory() {
	deep=$(printf 'deep/%.0s' $(seq 9)) && mkdir -p "$deep" && here=$PWD &&
		keep one -- --env=keep "$PWD/probe" &&
		(cd "$deep" && OLDPWD= keep "$here/other" -- --env=keep "$here/probe") &&
		expect 1 "$stablerun" diff one other && sed -n '/because/,$p' out | grep -q "working directory: A ran"
}
check "working directory" directory
limit() { (ulimit -Ss 4096 && ulimit -Hs 4096 && keep other -- ./probe 2>/dev/null) && names "stack limit" base other; }
check "stack limit" limit
preload() {
	echo 'int preloaded;' | cc -shared -fPIC -x c - -o preload.so
	keep other LD_PRELOAD="$PWD/preload.so" -- ./probe && names LD_PRELOAD base other
}
if is_static "$stablerun"; then
	check "LD_PRELOAD" preload
else
	echo "SKIP: LD_PRELOAD: the sanitizers' launcher cannot be preloaded into"
fi
locale() { keep one LC_ALL=C.UTF-8 -- ./probe && keep other LC_ALL=C -- ./probe && names locale one other; }
check "locale" locale
build_id() {
	echo 'int data[] = {1};' | cc -shared -fPIC -x c - -Wl,--build-id -o libown.so
	cc -O1 -pthread probe.c -o owner -Wl,--no-as-needed -L. -lown -Wl,-rpath,"$PWD"
	keep one -- ./owner
	echo 'int data[90000] = {2};' | cc -shared -fPIC -x c - -Wl,--build-id -o libown.so
	keep other -- ./owner && names build-id one other
}
check "build-id of a library" build_id
cache() {
	cp /etc/ld.so.cache cache && head -c 20000 /dev/zero >>cache
	unshare -m sh -c 'mount --bind cache /etc/ld.so.cache && exec "$0" -f -o other ./probe' "$stablerun" &&
		"$stablerun" show other >/dev/null && names ld.so.cache base other
}
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	check "ld.so.cache" cache
else
	echo "SKIP: ld.so.cache: no mount namespace can be made here"
fi
seed() {
	cat >random.c <<'END'
#include <stdint.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>
int main(void)
{
	uint64_t random = 0;
	if (getrandom(&random, 4, 0) != 4)
		return 1;
	uintptr_t wanted = 0x200000000000 + (random << 12);
	void *got = mmap((void *)wanted, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	usleep(250000);
	return got != (void *)wanted;
}
END
	cc random.c -o random
	keep one -- --seed=1 ./random && keep other -- --seed=2 ./random && names seed one other &&
		keep one -- ./random && keep other -- ./random && names randomness one other
}
check "seed, and none" seed
rules() {
	mkdir -p config/stablerun/rules
	printf '[match]\nwhen = file:maker section:.text\n[pin]\narg = first\narg = 30\n' \
		>config/stablerun/rules/maker.rule
	export XDG_CONFIG_HOME=$PWD/config
	keep one -- ./maker second 40 && keep other -- --rule=none ./maker second 40
	names arguments one other && grep -q '"rule"' out &&
		sed -i 's/first/other/; s/30/50/' config/stablerun/rules/maker.rule &&
		keep other -- ./maker second 40 && expect 1 "$stablerun" diff one other &&
		grep -q "rule flags: rule 'maker' gave A the argument 'first', and not B" out
}
check "rule and its flags" rules
code_size() {
	# The sizes differ without a trace in the command line.
	printf '#!/bin/sh\nexec ./maker $(cat sizes)\n' >made && chmod +x made
	echo a 10 b 20 c 30 d 40 >sizes && keep one -- ./made && echo a 10 b 28 c 30 d 40 >sizes &&
		keep other -- ./made && names "code size" one other && expect 1 "$stablerun" diff one other &&
		grep -q "'b' (code object 2) stands at the same address with another size" out &&
		grep -q "2 of 4 JIT code objects" out
}
check "code size" code_size
race() {
	echo a 10 b 20 c 30 d 40 >sizes && keep one -- ./made && echo a 10 c 30 b 20 d 40 >sizes &&
		keep other -- ./made && names "thread race" one other &&
		"$stablerun" diff one other | grep -q "made in another order from 'b' (code object 2) on"
}
check "thread race" race
other_code() {
	echo a 10 b 20 x 30 d 40 >sizes && keep other -- ./made && names "other code" one other
}
check "other code" other_code
machine() {
	# Another machine cannot be had here: its RUN can.
	cp -r base elsewhere && /usr/bin/python3 - <<'END'
import json, re
path = "elsewhere/run.json"
run = json.load(open(path))
run["kernel"] = "4.19.0 another"
run["cpu"]["features"] = "fpu sse2"
json.dump(run, open(path, "w"))
maps = open("elsewhere/maps.exit").read()
open("elsewhere/maps.exit", "w").write(re.sub("7ffff7", "7ffff6", maps))
END
	names kernel base elsewhere && grep -q '"cpu features"' out
}
check "kernel and cpu features of another machine" machine

broken() {
	expect 2 "$stablerun" diff base nowhere
	grep -q "cannot open 'nowhere': No such file" err || return 1
	cp -r base bad && echo '{"schema": 1, "argv": [3]}' >bad/run.json
	expect 2 "$stablerun" diff base bad
	grep -q "cannot read 'bad/run.json': 'argv' holds what is no string" err || return 1
	printf '{\n "schema": 1,\n "argv": [,]\n}\n' >bad/run.json
	expect 2 "$stablerun" diff base bad
	grep -q "cannot read 'bad/run.json': line 3, column" err || return 1
	echo '{"schema": 7}' >bad/run.json
	expect 2 "$stablerun" diff base bad
	grep -q "schema 7 is not known here" err || return 1
	cp base/run.json bad/ && echo 'no maps' >bad/maps.exit
	expect 2 "$stablerun" diff base bad
	grep -q "cannot read 'bad/maps.exit': line 1 makes no sense" err || return 1
	expect 2 "$stablerun" diff base
}
check "a broken RUN gives its line" broken
finish
