#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# prepare.sh - makes kernels, libraries and programs for the guests, below DIR.
#
# Fetches Debian packages with an apt state of its own, since those of arm64 cannot be installed
# next to the native ones.  Existing files are neither fetched nor unpacked again.  Builds strobe
# for arm64 and the static programs of the tests.
#
# usage: prepare.sh [DIR]      default: build-vm at the top of the tree
# exit status: 2 when packages cannot be fetched, 1 for other failures
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
top=$(CDPATH='' cd -- "$here/../.." && pwd)
dir=${1:-$top/build-vm}
mkdir -p "$dir"
dir=$(CDPATH='' cd -- "$dir" && pwd)
native=$(dpkg --print-architecture)
log=$dir/prepare.log
: >"$log"

fail() { # SENTENCE [STATUS]
	tail -n 30 "$log" >&2
	echo "tests/vm/prepare.sh: $1" >&2
	exit "${2:-1}"
}

# the libraries that meson.build needs, as scripts/deps installs them
libraries=$("$top/scripts/deps" --list run | grep -E '^(lib.*|binutils)-dev$')
kernels="linux-image-cloud-arm64:arm64"
[ "$native" != amd64 ] || kernels="$kernels linux-image-cloud-amd64:amd64"

apt() { # TOOL ARGUMENTS
	tool=$1
	shift
	"apt-$tool" -q -c "$dir/apt/apt.conf" "$@"
}

# Makes an apt state with the mirrors of this machine and the package lists of both architectures.
apt_state() {
	rm -rf "$dir/apt"
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/archives/partial"
	: >"$dir/apt/status"
	keys=/usr/share/keyrings/debian-archive-keyring.gpg
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' 'Origin: Debian' 2>>"$log" | sort -u |
		sed "s|^|deb [signed-by=$keys] |" >"$dir/apt/sources.list"
	if [ ! -s "$dir/apt/sources.list" ]; then
		release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
		echo "deb [signed-by=$keys] http://deb.debian.org/debian $release main" \
			>"$dir/apt/sources.list"
	fi
	cat >"$dir/apt/apt.conf" <<-END
		#clear APT::Architectures;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear DPkg::Post-Invoke;
		APT::Architecture "arm64";
		APT::Architectures { "arm64"; "$native"; };
		APT::Sandbox::User "";
		APT::Install-Recommends "false";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Dir::State "$dir/apt";
		Dir::State::status "$dir/apt/status";
		Dir::Cache "$dir/apt";
		Dir::Etc::sourcelist "$dir/apt/sources.list";
		Dir::Etc::sourceparts "/dev/null";
	END
	apt get update >>"$log" 2>&1 </dev/null || fail "the lists of packages cannot be fetched" 2
}

# Prints the package of the newest kernel: the meta package depends on it.
kernel() { # PACKAGE:ARCH
	apt cache depends "$1" | sed -n 's/^ *Depends: \(linux-image-[^ :]*\).*/\1/p' | head -n 1
}

unpack_kernel() { # PACKAGE:ARCH
	arch=${1#*:}
	image=$(kernel "$1")
	[ -n "$image" ] || fail "no kernel: $1" 2
	(cd "$dir/apt/archives" && apt get download "$image:$arch") >>"$log" 2>&1 </dev/null ||
		fail "the kernel cannot be fetched: $image" 2
	rm -rf "$dir/kernel-$arch"
	mkdir -p "$dir/kernel-$arch"
	for package in "$dir/apt/archives/$image"_*.deb; do
		dpkg-deb -x "$package" "$dir/kernel-$arch" >>"$log" 2>&1 || fail "cannot unpack $package"
		rm "$package"
	done
}

unpack_sysroot() {
	# shellcheck disable=SC2086
	apt get install --download-only -y $libraries >>"$log" 2>&1 </dev/null ||
		fail "the libraries for arm64 cannot be fetched" 2
	(cd "$dir/apt/archives" && apt get download busybox-static:arm64) >>"$log" 2>&1 </dev/null ||
		fail "busybox for arm64 cannot be fetched" 2
	rm -rf "$dir/sysroot" "$dir/build-arm64"
	mkdir -p "$dir/sysroot"
	for package in "$dir"/apt/archives/*.deb; do
		dpkg-deb -x "$package" "$dir/sysroot" >>"$log" 2>&1 || fail "cannot unpack $package"
		rm "$package"
	done
	# Absolute links must begin at the sysroot.
	find "$dir/sysroot" -type l -lname '/*' | while read -r link; do
		ln -sfrT "$dir/sysroot$(readlink "$link")" "$link"
	done
}

fetch() {
	wanted="$libraries $kernels"
	if [ -f "$dir/fetched" ] && [ "$(cat "$dir/fetched")" = "$wanted" ]; then
		return 0
	fi
	rm -f "$dir/fetched"
	apt_state
	for kernel in $kernels; do
		unpack_kernel "$kernel"
	done
	unpack_sysroot
	echo "$wanted" >"$dir/fetched"
}

cross_file() {
	cat <<-END
		[constants]
		root = '$dir/sysroot'
		packages = root + '/usr/lib/aarch64-linux-gnu/pkgconfig:' + root + '/usr/share/pkgconfig'
		[binaries]
		c = ['aarch64-linux-gnu-gcc', '--sysroot=' + root]
		ar = 'aarch64-linux-gnu-ar'
		strip = 'aarch64-linux-gnu-strip'
		pkgconfig = 'pkg-config'
		[properties]
		sys_root = root
		pkg_config_libdir = packages
		[host_machine]
		system = 'linux'
		cpu_family = 'aarch64'
		cpu = 'aarch64'
		endian = 'little'
	END
}

build() {
	cross_file >"$dir/arm64.ini"
	if [ ! -f "$dir/build-arm64/build.ninja" ]; then
		rm -rf "$dir/build-arm64"
		meson setup "$dir/build-arm64" "$top" --cross-file "$dir/arm64.ini" -Dtests=disabled \
			>>"$log" 2>&1 </dev/null || fail "meson could not configure strobe for arm64"
	fi
	ninja -C "$dir/build-arm64" tui/strobe >>"$log" 2>&1 </dev/null ||
		fail "strobe could not be built for arm64"
}

programs() { # ARCH COMPILER
	mkdir -p "$dir/programs-$1"
	for source in "$here"/programs/*.c; do
		program=$dir/programs-$1/$(basename "$source" .c)
		[ -z "$(find "$source" ! -newer "$program" 2>/dev/null)" ] || continue
		$2 -static -O1 -g -fno-inline -fno-omit-frame-pointer -Wall -Wextra -D_GNU_SOURCE \
			-o "$program" "$source" >>"$log" 2>&1 || fail "$source could not be built for $1"
	done
}

begun=$(date +%s)
fetch
fetched=$(date +%s)
build
programs arm64 "aarch64-linux-gnu-gcc --sysroot=$dir/sysroot"
[ "$native" != amd64 ] || programs amd64 "${CC:-gcc}"
echo "guests: packages $((fetched - begun)) s, building $(($(date +%s) - fetched)) s"
