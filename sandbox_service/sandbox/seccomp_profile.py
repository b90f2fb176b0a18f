"""The container's seccomp profile: Docker's default, less what nobody here needs, plus nesting.

Everything not listed fails with EPERM. The groups follow what the calls are for; `_NESTING` is
what Docker's default refuses and the runner needs to build a jail. Programs lose those calls
again in the jail (`runners/seccomp.py`). Base: moby/profiles, `seccomp/default.json`, 2026-07.
"""

from typing import Any

_FILES = """
    access chdir chmod chown chown32 close close_range copy_file_range creat dup dup2 dup3
    faccessat faccessat2 fadvise64 fadvise64_64 fallocate fchdir fchmod fchmodat fchmodat2 fchown
    fchown32 fchownat fcntl fcntl64 fdatasync fgetxattr flistxattr flock fremovexattr fsetxattr
    fstat fstat64 fstatat64 fstatfs fstatfs64 fsync ftruncate ftruncate64 futimesat getcwd
    getdents getdents64 getxattr inotify_add_watch inotify_init inotify_init1 inotify_rm_watch
    ioctl lchown lchown32 lgetxattr link linkat listxattr llistxattr _llseek lremovexattr lseek
    lsetxattr lstat lstat64 mkdir mkdirat mknod mknodat newfstatat open openat openat2 pipe pipe2
    pread64 preadv preadv2 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv
    removexattr rename renameat renameat2 rmdir sendfile sendfile64 setxattr splice stat stat64
    statfs statfs64 statx symlink symlinkat sync sync_file_range syncfs tee truncate truncate64
    umask unlink unlinkat utime utimensat utimensat_time64 utimes vmsplice write writev
"""

_MEMORY = """
    brk cachestat madvise map_shadow_stack membarrier memfd_create mincore mlock mlock2 mlockall
    mmap mmap2 mprotect mremap mseal msync munlock munlockall munmap pkey_alloc pkey_free
    pkey_mprotect remap_file_pages
"""

_PROCESSES = """
    arch_prctl capget capset execve execveat exit exit_group fork get_robust_list get_thread_area
    getcpu getegid getegid32 geteuid geteuid32 getgid getgid32 getgroups getgroups32 getpgid
    getpgrp getpid getppid getpriority getresgid getresgid32 getresuid getresuid32 getrlimit
    getrusage getsid gettid getuid getuid32 ioprio_get ioprio_set pidfd_open prctl prlimit64
    process_mrelease restart_syscall rseq sched_get_priority_max sched_get_priority_min
    sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval
    sched_rr_get_interval_time64 sched_setaffinity sched_setattr sched_setparam
    sched_setscheduler sched_yield set_robust_list set_thread_area set_tid_address setfsgid
    setfsgid32 setfsuid setfsuid32 setgid setgid32 setgroups setgroups32 setpgid setpriority
    setregid setregid32 setresgid setresgid32 setresuid setresuid32 setreuid setreuid32
    setrlimit setsid setuid setuid32 sysinfo ugetrlimit uname vfork wait4 waitid waitpid
"""

_SIGNALS_AND_TIME = """
    alarm clock_getres clock_getres_time64 clock_gettime clock_gettime64 clock_nanosleep
    clock_nanosleep_time64 eventfd eventfd2 futex futex_requeue futex_time64 futex_wait
    futex_waitv futex_wake getitimer gettimeofday kill nanosleep pause pidfd_send_signal
    rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
    rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo setitimer sigaltstack signalfd
    signalfd4 sigprocmask sigreturn tgkill time timer_create timer_delete timer_getoverrun
    timer_gettime timer_gettime64 timer_settime timer_settime64 timerfd_create timerfd_gettime
    timerfd_gettime64 timerfd_settime timerfd_settime64 times tkill getrandom
"""

_WAITING_AND_TALKING = """
    accept accept4 bind connect epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait
    epoll_pwait2 epoll_wait epoll_wait_old getpeername getsockname getsockopt io_cancel
    io_destroy io_getevents io_pgetevents io_pgetevents_time64 io_setup io_submit ipc listen
    mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedreceive_time64 mq_timedsend
    mq_timedsend_time64 mq_unlink msgctl msgget msgrcv msgsnd _newselect poll ppoll ppoll_time64
    pselect6 pselect6_time64 recv recvfrom recvmmsg recvmmsg_time64 recvmsg select semctl semget
    semop semtimedop semtimedop_time64 send sendmmsg sendmsg sendto setsockopt shmat shmctl shmdt
    shmget shutdown socketpair
"""

_OWN_WALLS = "landlock_add_rule landlock_create_ruleset landlock_restrict_self seccomp"

_NESTING = "clone mount umount2 pivot_root"

_SOCKET_FAMILIES = (1, 2, 10)  # unix, IPv4, IPv6: loopback is all there is
_READ_PERSONALITY = (0, 0xFFFFFFFF)
_ENOSYS = 38


def _allow(names: str) -> dict[str, Any]:
    return {"names": names.split(), "action": "SCMP_ACT_ALLOW"}


def _allow_first_argument(name: str, values: tuple[int, ...]) -> list[dict[str, Any]]:
    return [
        _allow(name) | {"args": [{"index": 0, "value": value, "op": "SCMP_CMP_EQ"}]}
        for value in values
    ]


def profile() -> dict[str, Any]:
    """Returns the profile in Docker's JSON form."""
    groups = (_FILES, _MEMORY, _PROCESSES, _SIGNALS_AND_TIME, _WAITING_AND_TALKING, _OWN_WALLS)
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": 1,
        "archMap": [
            {"architecture": "SCMP_ARCH_X86_64", "subArchitectures": []},
            {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": []},
        ],
        "syscalls": [
            *(_allow(group) for group in groups),
            *_allow_first_argument("socket", _SOCKET_FAMILIES),
            *_allow_first_argument("personality", _READ_PERSONALITY),
            _allow(_NESTING),
            # The C library falls back to clone, whose flags the jail's filter can see.
            {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": _ENOSYS},
        ],
    }
