// See walls.h. The first half prepares and may throw; the second runs between fork and exec.
#include "base/walls.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "swizzleperf/error.h"

namespace swizzleperf {
namespace fs = std::filesystem;
namespace {

// --- Landlock: glibc has no wrappers, and its headers may be older than the kernel ---------------

/// The ruleset of every version so far; the kernel takes a longer one than its own if the rest is
/// zero.
struct Ruleset {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scoped;
};
constexpr std::uint64_t kRefer = 1 << 13;     // version 2
constexpr std::uint64_t kTruncate = 1 << 14;  // version 3
constexpr std::uint64_t kWriteProc = LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
constexpr std::uint64_t kScoped = 3;  // version 6: abstract sockets and signals

constexpr std::uint64_t kMakeDevices = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;
constexpr std::uint64_t kWriteFolder =
    LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
    LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM;

void allow(const Fd& ruleset, const fs::path& path, std::uint64_t access) {
  const Fd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd.valid()) return;  // a device that is not here
  landlock_path_beneath_attr rule{access, fd.get()};
  if (::syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
    throw input_error(fmt::format("cannot allow writing to {} in a sandbox: {}", path.string(),
                                  std::generic_category().message(errno)));
}

/// Not all of /dev: root could write to the disks.
std::vector<fs::path> devices() {
  std::vector<fs::path> result;
  for (const char* name :
       {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "kfd", "dxg"})
    result.push_back(fs::path("/dev") / name);
  std::error_code ignored;
  for (const char* folder : {"/dev", "/dev/dri", "/dev/nvidia-caps"})
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename().string();
      const bool gpu = name.starts_with("nvidia") || fs::path(folder).filename() == "dri";
      if (gpu && entry.is_character_file(ignored)) result.push_back(entry.path());
    }
  return result;
}

void make_ruleset(WallPlan& plan) {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  const std::uint64_t file = LANDLOCK_ACCESS_FS_WRITE_FILE | (version >= 3 ? kTruncate : 0);
  plan.folder_access = kWriteFolder | file | (version >= 2 ? kRefer : 0);
  const Ruleset handled{plan.folder_access | kMakeDevices, 0, version >= 6 ? kScoped : 0};
  if (version >= 1)
    plan.ruleset =
        Fd(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0)));
  if (!plan.ruleset.valid())
    throw input_error("cannot confine writing: this kernel has no Landlock, or it is not enabled");
  allow(plan.ruleset, plan.writable, plan.folder_access);
  allow(plan.ruleset, "/dev/pts", file);
  for (const fs::path& device : devices()) allow(plan.ruleset, device, file);
}

// --- Between fork and exec ----------------------------------------------------------------------

bool write_file_now(const char* path, const char* text) {
  const Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
  return fd.valid() && write_all(fd, text);
}

bool allow_now(int ruleset, const char* path, std::uint64_t access) {
  const Fd folder(::open(path, O_PATH | O_CLOEXEC));
  landlock_path_beneath_attr rule{access, folder.get()};
  return !folder.valid() ||
         ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

/// What in new mounts is another than was there before fork: its /dev/shm, and its /proc, since the
/// CUDA driver names its threads there and fails where it cannot ("OS call failed"). Without
/// namespaces /proc is everybody's, and only its own threads are let be named.
bool allow_mounted(int ruleset, const WallPlan& plan) {
  const char* const names = plan.walls.namespaces ? "/proc" : "/proc/self/task";
  return allow_now(ruleset, "/dev/shm", plan.folder_access) &&
         allow_now(ruleset, names, plan.folder_access & kWriteProc);
}

bool loopback_up() {
  const Fd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", 3);
  request.ifr_flags = IFF_UP;
  return any.valid() && ::ioctl(any.get(), SIOCSIFFLAGS, &request) == 0;
}

/// Sets or clears "read-only" of a mount, or of it and all below.
bool read_only(const char* path, bool on, unsigned flags) {
  constexpr std::uint64_t kReadOnly = 1;  // MOUNT_ATTR_RDONLY
  struct {
    std::uint64_t set;
    std::uint64_t clear;
    std::uint64_t propagation;
    std::uint64_t user_namespace;
  } const change{on ? kReadOnly : 0, on ? 0 : kReadOnly, 0, 0};
  return ::syscall(SYS_mount_setattr, AT_FDCWD, path, flags, &change, sizeof change) == 0;
}

/// A new empty folder over one that is there, unless that holds `kept`.
void cover(const char* folder, const char* kept, const char* options) {
  const std::size_t length = std::strlen(folder);
  if (std::strncmp(folder, kept, length) == 0 && kept[length] == '/') return;
  (void)::mount("none", folder, "tmpfs", MS_NOSUID | MS_NODEV, options);
}

/// Daemons that do what they are asked to on sockets that are files: a way out of any sandbox.
void hide_daemons(const char* kept) {
  for (const char* folder : {"/run/user", "/run/dbus", "/run/systemd", "/run/containerd",
                             "/run/podman", "/run/crio", "/run/snapd"})
    cover(folder, kept, "mode=755,size=4k");
  for (const char* file : {"/run/docker.sock", "/run/snapd.socket", "/run/libvirt/libvirt-sock"})
    (void)::mount("/dev/null", file, nullptr, MS_BIND, nullptr);
}

/// The parts of /proc that are the machine's and not a process's.
bool protect_kernel() {
  for (const char* part : {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs",
                           "/proc/acpi", "/proc/scsi", "/proc/mtrr"}) {
    if (::mount(part, part, nullptr, MS_BIND | MS_REC, nullptr) != 0) {
      if (errno == ENOENT) continue;
      return false;
    }
    if (!read_only(part, true, AT_RECURSIVE)) return false;
  }
  return true;
}

const char* mount_all(const char* writable) {
  if (::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
    return "keep its mounts to itself";
  if (::mount(writable, writable, nullptr, MS_BIND | MS_REC, nullptr) != 0)
    return "mount the writable folder";
  hide_daemons(writable);
  if (!read_only("/", true, AT_RECURSIVE)) return "make the files read-only";
  if (!read_only(writable, false, 0)) return "make the folder writable";
  cover("/dev/shm", writable, "mode=1777");
  if (::mount("none", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    return "mount /proc";
  if (!protect_kernel()) return "make the kernel's settings read-only";
  return nullptr;
}

/// What root keeps of its rights: its files, and the GPU's counters. The drivers give these to
/// CAP_SYS_ADMIN, which could undo the mounts too, were it not for Landlock.
void drop_capabilities(bool landlock) {
  const std::uint64_t kept = 1ULL << CAP_CHOWN | 1ULL << CAP_DAC_OVERRIDE |
                             1ULL << CAP_DAC_READ_SEARCH | 1ULL << CAP_FOWNER |
                             1ULL << CAP_IPC_LOCK | 1ULL << CAP_SYS_NICE | 1ULL << CAP_PERFMON |
                             (landlock ? 1ULL << CAP_SYS_ADMIN : 0);
  for (unsigned capability = 0; capability < 64; ++capability)
    if (!(kept >> capability & 1)) ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
#error "the sandbox does not know the system calls of this processor"
#endif

/// socket() of families other than AF_UNIX fails as if they did not exist; so do io_uring, which
/// could make them, and the system calls of other instruction sets, which have other numbers.
bool forbid_sockets() {
  constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EAFNOSUPPORT;
  constexpr std::uint32_t kX32 = 0x40000000;
  const auto load = [](std::size_t offset) {
    return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  };
  // Jumps count the instructions that are skipped when true and when false.
  const auto jump = [](int test, std::uint32_t value, int yes, int no) {
    return sock_filter{static_cast<std::uint16_t>(BPF_JMP | test | BPF_K),
                       static_cast<std::uint8_t>(yes), static_cast<std::uint8_t>(no), value};
  };
  std::array filter{
      load(offsetof(seccomp_data, arch)),
      jump(BPF_JEQ, kMachine, 0, 6),
      load(offsetof(seccomp_data, nr)),
      jump(BPF_JGE, kX32, 4, 0),
      jump(BPF_JEQ, SYS_io_uring_setup, 3, 0),
      jump(BPF_JEQ, SYS_socket, 0, 3),
      load(offsetof(seccomp_data, args)),  // the low half: both processors are little-endian
      jump(BPF_JEQ, AF_UNIX, 1, 0),
      sock_filter BPF_STMT(BPF_RET | BPF_K, kRefuse),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{filter.size(), filter.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

WallPlan plan_walls(const Walls& walls) {
  WallPlan plan;
  plan.walls = walls;
  if (walls.landlock || walls.namespaces) {
    std::error_code problem;
    plan.writable = fs::canonical(walls.writable, problem).string();
    if (problem)
      throw input_error(fmt::format("cannot confine writing to {}: {}", walls.writable.string(),
                                    problem.message()));
  }
  if (walls.landlock) make_ruleset(plan);
  plan.uid_map = fmt::format("{0} {0} 1", ::geteuid());
  plan.gid_map = fmt::format("{0} {0} 1", ::getegid());
  return plan;
}

unsigned long namespace_flags(const WallPlan& plan) {
  if (!plan.walls.namespaces) return 0;
  return CLONE_NEWPID | CLONE_NEWNS | (plan.walls.no_network ? CLONE_NEWNET : 0) |
         (plan.user_namespace ? CLONE_NEWUSER : 0);
}

const char* enter_namespaces(const WallPlan& plan) {
  if (!plan.walls.namespaces) return nullptr;
  if (plan.user_namespace && (!write_file_now("/proc/self/setgroups", "deny") ||
                              !write_file_now("/proc/self/gid_map", plan.gid_map.c_str()) ||
                              !write_file_now("/proc/self/uid_map", plan.uid_map.c_str())))
    return "map its user";
  if (const char* failed = mount_all(plan.writable.c_str())) return failed;
  if (plan.walls.no_network && !loopback_up()) return "start its loopback";
  return nullptr;
}

const char* raise_walls(const WallPlan& plan, int ruleset) {
  const Walls& walls = plan.walls;
  if (!walls.landlock && !walls.namespaces && !walls.no_network) return nullptr;
  drop_capabilities(walls.landlock);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "take its privileges";
  if (walls.landlock &&
      (!allow_mounted(ruleset, plan) || ::syscall(SYS_landlock_restrict_self, ruleset, 0) != 0))
    return "restrict its writing";
  if (walls.no_network && !walls.namespaces && !forbid_sockets()) return "forbid sockets";
  return nullptr;
}

}  // namespace swizzleperf
