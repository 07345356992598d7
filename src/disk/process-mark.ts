import { readFileSync, readlinkSync } from 'node:fs'

/**
 * Tells one process from every other that was or is on this machine, in a text of `[0-9a-z.]` that
 * fits the name of a file: its boot, its namespace of process ids, its id and when it began. Where
 * there is no /proc, by its id alone.
 */
export function ownMark(): string {
  own ??= markOf('self', process.pid) ?? `0.0.${process.pid}.0`
  return own
}

/** @returns null where nobody here can tell, as of a process in another container */
export function isAlive(mark: string): boolean | null {
  const [boot, namespace, pid = '', began] = mark.split('.')
  const [ownBoot, ownNamespace] = ownMark().split('.')
  if (boot !== ownBoot) return false
  if (namespace !== ownNamespace) return null
  if (began !== '0') return markOf(pid, Number(pid)) === mark
  try {
    process.kill(Number(pid), 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Of a process that never changes. */
let own: string | undefined

/** Fields of /proc/<pid>/stat behind the program's name, which may hold anything. */
const BEGAN_AT = 19

function markOf(process: string, pid: number): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)
    const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]
    const stat = readFileSync(`/proc/${process}/stat`, 'latin1')
    const began = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[BEGAN_AT]
    return namespace === undefined || began === undefined
      ? null
      : [boot, namespace, pid, began].join('.')
  } catch {
    return null
  }
}
