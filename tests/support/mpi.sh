# SPDX-License-Identifier: MIT
# For scripts that start pugmark-mpi; `bin` is the folder of programs. Skips where there is no MPI.
[ -x "$bin/pugmark-mpi" ] || { echo "pugmark-mpi was not built: no MPI was found (libopenmpi-dev)"; exit 77; }
# That of the MPI that it was built with, where there are two.
mpirun=${MPIRUN:-mpirun}
if [ -n "${MPIRUN:-}" ]; then
    :
elif ldd "$bin/pugmark-mpi" | grep -q libmpich && command -v mpirun.mpich >/dev/null; then
    mpirun=mpirun.mpich
elif ldd "$bin/pugmark-mpi" | grep -q 'libmpi\.so' && command -v mpirun.openmpi >/dev/null; then
    mpirun=mpirun.openmpi
fi
command -v "$mpirun" >/dev/null || { echo "mpirun is not there (openmpi-bin)"; exit 77; }

# As root, on fewer processors than processes, and what waits leaves the processor to others: Open MPI's words,
# then MPICH's.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
timeout 60 "$mpirun" -n 2 true >/dev/null 2>&1 || { echo "mpirun cannot start processes here"; exit 77; }
# All processes are on this machine: Open MPI need not look for networks.
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=^tcp,openib,uct,usnic,ofi
# MPICH's transport writes to standard output after everything is done.
export UCX_LOG_LEVEL=error
# MPI keeps some memory to itself.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

mpi() { # PROCESSES PROGRAM...
    local processes=$1
    shift
    # where one job's files are no other removes them
    OMPI_MCA_orte_tmpdir_base=${tmp:-/tmp} PRTE_MCA_prte_tmpdir_base=${tmp:-/tmp} timeout "${PUG_MPI_SECONDS:-300}" "$mpirun" -n "$processes" "$@"
}

# What mpirun itself says of an exit code, and its library for events.
quiet_mpi() { # FILE
    perl -0pi -e 's/^-{40,}\n.*?^-{40,}\n//msg; s/^\[warn\] Epoll [^\n]*\n//mg' "$1"
}
