import { type ChildProcess, fork } from 'node:child_process'

/** The unit in which `ulimit -f` counts. */
const BLOCK_BYTES = 512

/**
 * Starts a process for which the disk is full: none of its files can grow past the limit
 * (RLIMIT_FSIZE), and writes beyond it fail with EFBIG. Its standard output is piped, and its
 * messages come over IPC.
 */
export function forkWithFileLimit(
  entry: string,
  fileBytesMax: number,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): ChildProcess {
  const blocks = Math.floor(fileBytesMax / BLOCK_BYTES)
  return fork(entry, args, {
    execPath: '/bin/sh',
    execArgv: ['-c', `ulimit -f ${blocks}; exec "$0" "$@"`, process.execPath],
    env: { PATH: process.env.PATH ?? '', COUNTERSIGN_MODE: 'dev', ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
}
