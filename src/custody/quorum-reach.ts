/**
 * What the threads that sign can reach, for the thread that tells of it: one word a thread, which
 * that thread alone writes.
 */
export interface QuorumReach {
  readonly identityProvider: boolean
  readonly quorumSigner: boolean
  /** Sessions with both of them. */
  readonly complete: boolean
}

const IDENTITY_PROVIDER = 1
const QUORUM_SIGNER = 2
const COMPLETE = 4
/** Between two looks of a thread at its own connections. */
const LOOK_EVERY_MS = 250

export function createQuorumReachBuffer(threads: number): SharedArrayBuffer {
  return new SharedArrayBuffer(threads * Int32Array.BYTES_PER_ELEMENT)
}

/** Of all threads: what one of them misses is missing. */
export function readQuorumReach(buffer: SharedArrayBuffer): QuorumReach {
  const words = new Int32Array(buffer)
  let all = IDENTITY_PROVIDER | QUORUM_SIGNER | COMPLETE
  for (let thread = 0; thread < words.length; thread++) all &= Atomics.load(words, thread)
  return {
    identityProvider: (all & IDENTITY_PROVIDER) !== 0,
    quorumSigner: (all & QUORUM_SIGNER) !== 0,
    complete: (all & COMPLETE) !== 0,
  }
}

/** @returns what ends it */
export function tellQuorumReach(
  buffer: SharedArrayBuffer,
  thread: number,
  reach: () => QuorumReach,
): () => void {
  const words = new Int32Array(buffer)
  const tell = () => {
    const { identityProvider, quorumSigner, complete } = reach()
    const word =
      (identityProvider ? IDENTITY_PROVIDER : 0) |
      (quorumSigner ? QUORUM_SIGNER : 0) |
      (complete ? COMPLETE : 0)
    Atomics.store(words, thread, word)
  }
  tell()
  const timer = setInterval(tell, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
