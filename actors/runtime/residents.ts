import type { Delivery, ErasedShell, ReplyToken } from './actor.js'

/**
 * The most actors that one worker keeps in memory; beyond it idle ones are forgotten, least
 * recently used first.
 */
const RESIDENT_ACTORS_MAX = 50_000

/**
 * From this number on the order of use is kept. Moving an actor to the end of its map at each
 * command costs more than finding it, and below this number nothing will be forgotten soon.
 */
const RESIDENTS_IN_ORDER_MIN = RESIDENT_ACTORS_MAX / 2

export interface Resident {
  readonly address: Pick<Delivery, 'kind' | 'id'>
  readonly shell: ErasedShell
  readonly state: unknown
  /** Set after a broken invariant: the actor is loaded again once its commits are on disk. */
  broken: boolean
  /** The number of this actor's commits that are not on disk yet. */
  commitsPending: number
  /** Callers without a decided answer, so that each is answered when the actor is stopped. */
  readonly waiting: Set<ReplyToken>
  /**
   * True once forgotten or broken: holders of a reference have to find the actor again. Never
   * unset.
   */
  stale: boolean
  /** Messages that arrived while it waits to be reloaded, oldest first; null before the first. */
  kept: KeptMessage[] | null
}

interface KeptMessage {
  readonly envelope: Delivery
  /** False when it still has to be prepared for the mailbox. */
  readonly isPrepared: boolean
}

/**
 * The actors that one worker has in memory, found by kind and id, and forgotten when idle for long.
 */
export class Residents {
  /** Two levels, so that a command finds its actor without building a key. */
  readonly #byKind = new Map<string, Map<string, Resident>>()
  /** All residents, in the order of their use once that is kept. */
  readonly #all = new Set<Resident>()

  get size(): number {
    return this.#all.size
  }

  /** Whether each use has to be noted with `used`. */
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

  /** Loads an actor and replaces the earlier one, if there is one. */
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

  /** Forgets idle actors beyond the bound; those that a commit or a caller waits for stay. */
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
