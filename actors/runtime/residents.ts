import type { Delivery, ErasedShell, ReplyToken } from './actor.js'

/** Actors kept in memory by one worker; idle ones beyond it are forgotten, oldest use first. */
const RESIDENT_ACTORS_MAX = 50_000

/**
 * From so many on the order of use is kept. Moving an actor to the end of its map at each command
 * costs more than finding it, and below this nothing is forgotten soon.
 */
const RESIDENTS_IN_ORDER_MIN = RESIDENT_ACTORS_MAX / 2

export interface Resident {
  readonly address: Pick<Delivery, 'kind' | 'id'>
  readonly shell: ErasedShell
  readonly state: unknown
  /** Set after a broken invariant: another takes its place once its commits are on disk. */
  broken: boolean
  /** Commits of this actor that are not on disk yet. */
  commitsPending: number
  /** Callers whose answer is not decided, so that none is forgotten when it is stopped. */
  readonly waiting: Set<ReplyToken>
  /** Forgotten, or broken: whoever holds on to it has to look again. Never unset. */
  stale: boolean
  /** Messages that came while it waits to be loaded anew, oldest first; null while there is none. */
  kept: KeptMessage[] | null
}

export interface KeptMessage {
  readonly envelope: Delivery
  /** Whether it still has to be prepared for the mailbox. */
  readonly isPrepared: boolean
}

/** The actors that one worker has in memory: found by kind and id, forgotten when idle for long. */
export class Residents {
  /** A command finds its actor without a key being made for it. */
  readonly #byKind = new Map<string, Map<string, Resident>>()
  /** In the order of use, once that is kept. */
  readonly #all = new Set<Resident>()

  get size(): number {
    return this.#all.size
  }

  /** Whether each use has to be noted, by `used`. */
  get isInOrder(): boolean {
    return this.#all.size >= RESIDENTS_IN_ORDER_MIN
  }

  find({ kind, id }: Pick<Delivery, 'kind' | 'id'>): Resident | undefined {
    return this.#byKind.get(kind)?.get(id)
  }

  used(resident: Resident): void {
    if (!this.isInOrder) return
    this.#all.delete(resident)
    this.#all.add(resident)
  }

  /** Takes the place of the one before it, if there is one. */
  load(shell: ErasedShell, { kind, id }: Pick<Delivery, 'kind' | 'id'>): Resident {
    const resident: Resident = {
      address: { kind, id },
      shell,
      state: shell.load(id),
      broken: false,
      commitsPending: 0,
      waiting: new Set(),
      stale: false,
      kept: null,
    }
    const ofKind = this.#byKind.get(kind) ?? new Map<string, Resident>()
    const before = ofKind.get(id)
    if (before !== undefined) this.#all.delete(before)
    this.#all.add(resident)
    this.#byKind.set(kind, ofKind.set(id, resident))
    return resident
  }

  /** Those that a commit or a caller waits for stay. */
  forgetIdle(): void {
    if (this.#all.size <= RESIDENT_ACTORS_MAX) return
    for (const resident of this.#all) {
      if (this.#all.size <= RESIDENT_ACTORS_MAX) return
      if (resident.commitsPending > 0 || resident.waiting.size > 0) continue
      if (!resident.shell.idle(resident.state)) continue
      const { kind, id } = resident.address
      resident.stale = true
      this.#all.delete(resident)
      this.#byKind.get(kind)?.delete(id)
    }
  }
}
