/** Figures of the service in readable form. */

const BYTE_UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const
const STEP = 1_024

/** In the largest unit of which it is at least one; with a decimal below ten. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= STEP && unit < BYTE_UNITS.length - 1) {
    value /= STEP
    unit++
  }
  const digits = unit === 0 || value >= 10 ? 0 : 1
  return `${value.toFixed(digits)} ${BYTE_UNITS[unit] ?? ''}`
}

/**
 * The queues of /metrics, described by what waits there; a queue that only a newer service has is
 * shown by name.
 */
const QUEUES: Readonly<Record<string, string>> = {
  mailbox: 'commands for wallets and other actors',
  callers: 'calls that wait for an actor',
  walks: 'calldata to be screened',
  rpc_reads: 'reads of nodes',
  rpc_sends: 'transactions for nodes',
  signing: 'calls to be signed',
  signature_checks: 'signatures to be checked',
  outbox: 'messages between threads',
}

export function describeQueue(queue: string): string {
  return QUEUES[queue] ?? queue.replaceAll('_', ' ')
}

const SECONDS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const

export function formatSeconds(seconds: number): string {
  const [size, name] = SECONDS.find(([least]) => seconds >= least) ?? [1, 's']
  return `${Math.floor(seconds / size)} ${name}`
}
