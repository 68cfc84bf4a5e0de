// What a child cannot get past, whatever it runs.
//
// Each wall is asked for by itself, because each is refused somewhere: Landlock by kernels older
// than 5.13 or started without it, namespaces by containers and by distributions that do not let
// ordinary users make them. What is asked for and refused is an error, so nobody believes in a wall
// that is not there; measure/sandbox.cc finds out which can be had.
//
//   Landlock    the program and what it starts can write, create and remove files below `writable`
//               only, signal only each other and connect to no abstract Unix socket of others. It
//               needs no privilege. It does not cover chmod, chown and times of files.
//   namespaces  its own processes (numbered from 1, all dead when the supervisor is) and its own
//               mounts: everything read-only but `writable` and a /dev/shm of its own, the sockets
//               of the host's daemons out of sight.
//   no network  with namespaces: its own loopback and nothing else. Without: seccomp lets it make
//               no sockets but Unix sockets, so a loopback is lost too.
//
// bubblewrap is not used: it offers the namespaces only, is an installation more, and where it is
// forbidden so would ours be. A user namespace is made only if the others are refused without: in
// one, root loses its right to read a GPU's counters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/fd.h"

namespace swizzleperf {

struct Walls {
  bool landlock = false;
  bool namespaces = false;
  bool no_network = false;
  std::filesystem::path writable = {};  ///< a folder that exists; with landlock or namespaces
};

/// What raising the walls needs, made before fork, since afterwards nothing can be allocated.
struct WallPlan {
  Walls walls;
  Fd ruleset;                       ///< of Landlock; invalid: none
  std::uint64_t folder_access = 0;  ///< what it allows below a folder, in this kernel's version
  bool user_namespace = false;      ///< set by who clones: the others were refused without
  std::string writable;
  std::string uid_map;
  std::string gid_map;
};

/// Throws Error(kInput) where the folder is missing, or Landlock is asked for and not to be had.
WallPlan plan_walls(const Walls& walls);

/// For clone(2); 0 without namespaces.
unsigned long namespace_flags(const WallPlan& plan);

/// The two halves, both between fork and exec: in the supervisor, which is the first process of the
/// namespaces, and in the process that will be the program. Return null, or with errno set what
/// could not be done ("mount /proc"). `ruleset` is the plan's, wherever it is by then.
const char* enter_namespaces(const WallPlan& plan);
const char* raise_walls(const WallPlan& plan, int ruleset);

}  // namespace swizzleperf
