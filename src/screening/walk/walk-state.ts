import { ADDRESS_BYTES } from '../set/address-bytes.js'

/** Nested calls. Honest calls nest four deep; the raw scan covers all depths. */
export const WALK_DEPTH_MAX = 12
/** Visited values, whatever the size. */
const WALK_NODES_MAX = 20_000
/**
 * Visited values for small calldata: honest encodings hold at most two in 32 bytes, so one in 8 is
 * ample, and small calldata cannot be made slow.
 */
const WALK_NODES_BASE = 256
const WALK_BYTES_PER_NODE = 8
/**
 * Bytes of dynamic values visited at one depth, as a multiple of the calldata. Honest values of one
 * depth do not overlap and add up to less than once; a bomb's offsets share one blob.
 */
const WALK_EXPANSION_MAX = 4
/** Allows for small calldata whose nested headers are larger than its content. */
const WALK_BYTES_MIN = 4_096

export interface PathNode {
  readonly parent: PathNode | null
  readonly label: string | number
  /** True where another call starts, which is shown as an arrow. */
  readonly call: boolean
}

/** An address found in the calldata, with its form. */
export interface Party {
  /** Byte offset of its 20 bytes, or of its 40 ASCII characters. */
  readonly offset: number
  readonly form: 'bytes' | 'ascii'
  readonly path: PathNode | null
}

export interface WalkFailure {
  readonly cause: 'malformed' | 'too-deep' | 'too-large'
  /** One sentence for the caller. */
  readonly reason: string
  readonly path: PathNode | null
}

/** One walk over one calldata. Nothing is copied: every value is a range of `data`. */
export class WalkState {
  readonly data: Uint8Array
  readonly length: number
  readonly parties: Party[] = []
  failure: WalkFailure | null = null
  #nodesLeft: number
  readonly #bytesMax: number
  /** The bytes spent by depth; a hole means 0. */
  readonly #bytesSpent: number[] = []

  constructor(data: Uint8Array, length: number) {
    this.data = data
    this.length = length
    this.#nodesLeft = Math.min(WALK_NODES_MAX, WALK_NODES_BASE + length / WALK_BYTES_PER_NODE)
    this.#bytesMax = Math.max(WALK_BYTES_MIN, length * WALK_EXPANSION_MAX)
  }

  /** Takes one value from the budget; false ends the walk. */
  spendNode(path: PathNode | null): boolean {
    return --this.#nodesLeft >= 0 || this.#exhausted(path)
  }

  /** Takes one value and the bytes it spans from the budget; false ends the walk. */
  spend(bytes: number, depth: number, path: PathNode | null): boolean {
    const spent = (this.#bytesSpent[depth] ?? 0) + bytes
    this.#bytesSpent[depth] = spent
    return (--this.#nodesLeft >= 0 && spent <= this.#bytesMax) || this.#exhausted(path)
  }

  #exhausted(path: PathNode | null): false {
    return this.fail('too-large', 'The calldata expands to more than can be screened.', path)
  }

  /** Always returns false, so that a reader can end with `return state.fail(…)`. */
  fail(cause: WalkFailure['cause'], reason: string, path: PathNode | null): false {
    this.failure ??= { cause, reason, path }
    return false
  }

  malformed(path: PathNode | null): false {
    return this.fail('malformed', 'The calldata does not decode as the function it names.', path)
  }

  /** Notes the 20 bytes at `offset`, unless they are zero, a precompile or a router's sentinel. */
  addParty(offset: number, path: PathNode | null): void {
    const end = offset + ADDRESS_BYTES
    for (let i = offset; i < end - 2; i++) {
      if (this.data[i] !== 0) {
        this.parties.push({ offset, form: 'bytes', path })
        return
      }
    }
  }

  /**
   * Runs a reading that may find that the bytes are something else: the parties that it noted are
   * then dropped. An exhausted budget stays a failure, because a bomb could otherwise hide behind
   * an unknown call.
   */
  attempt(read: () => boolean): 'read' | 'other' | 'stopped' {
    const before = this.parties.length
    if (read()) return 'read'
    if (this.failure?.cause !== 'malformed') return 'stopped'
    this.failure = null
    this.parties.length = before
    return 'other'
  }
}

/** `multiSend[2] → multicall[0] → exactInputSingle.recipient` */
export function formatPath(path: PathNode | null): string {
  const nodes: PathNode[] = []
  for (let node = path; node !== null; node = node.parent) nodes.push(node)
  let text = ''
  for (const { label, call } of nodes.reverse()) {
    if (typeof label === 'number') text += `[${label}]`
    else if (text === '') text = label
    else text += call ? ` → ${label}` : `.${label}`
  }
  return text
}
