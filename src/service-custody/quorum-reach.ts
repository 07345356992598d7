import type { Alarm, Timers } from '../clock/timers.js'
/**
 * What each signing thread can reach, shared with the thread that reports it. Each thread has one
 * word of the buffer, which only it writes.
 */
export interface QuorumReach {
  readonly identityProvider: boolean
  readonly quorumSigner: boolean
  /** True while there are sessions with both domains. */
  readonly complete: boolean
  /** True once a service that started later has taken over. */
  readonly fenced: boolean
}

const IDENTITY_PROVIDER = 1
const QUORUM_SIGNER = 2
const COMPLETE = 4
const FENCED = 8
/** How often a thread writes the state of its connections. */
const POLL_MS = 250

export function createQuorumReachBuffer(threads: number): SharedArrayBuffer {
  return new SharedArrayBuffer(threads * Int32Array.BYTES_PER_ELEMENT)
}

/**
 * Combines all threads: a domain that one thread misses counts as missing, and one fenced thread
 * means fenced.
 */
export function readQuorumReach(buffer: SharedArrayBuffer): QuorumReach {
  const words = new Int32Array(buffer)
  let all = IDENTITY_PROVIDER | QUORUM_SIGNER | COMPLETE
  let any = 0
  for (let thread = 0; thread < words.length; thread++) {
    const word = Atomics.load(words, thread)
    all &= word
    any |= word
  }
  return {
    identityProvider: (all & IDENTITY_PROVIDER) !== 0,
    quorumSigner: (all & QUORUM_SIGNER) !== 0,
    complete: (all & COMPLETE) !== 0,
    fenced: (any & FENCED) !== 0,
  }
}

/**
 * Starts writing this thread's state.
 * @returns a function that stops it
 */
export function tellQuorumReach(
  buffer: SharedArrayBuffer,
  thread: number,
  reach: () => QuorumReach,
  timers: Pick<Timers, 'now' | 'at'>,
): () => void {
  const words = new Int32Array(buffer)
  let alarm: Alarm
  const tell = () => {
    const { identityProvider, quorumSigner, complete, fenced } = reach()
    const word =
      (identityProvider ? IDENTITY_PROVIDER : 0) |
      (quorumSigner ? QUORUM_SIGNER : 0) |
      (complete ? COMPLETE : 0) |
      (fenced ? FENCED : 0)
    Atomics.store(words, thread, word)
    alarm = timers.at(timers.now() + POLL_MS, tell)
  }
  tell()
  return () => alarm.cancel()
}
