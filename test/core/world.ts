import type { Decision, Reply, ReplyToken } from '../../actors/runtime/actor.js'
import type { StoredEvent } from '../../src/domain/event.js'
import type { Environment } from '../../src/store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../src/store/event-sequence.js'
import { localCommits } from '../../src/store/local-commits.js'
import { createReader, type Reader } from '../../src/store/reader.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import type { Writer } from '../../src/store/writer.js'
import { createMemoryEnvironment } from '../actors/memory-environment.js'

/** What a world runs: the pure logic of an actor, and how it is stored. */
export interface StoredActor<State, Command, Event, Effect> {
  /** As a start rebuilds it. */
  load(reader: Reader): State
  decide(state: State, command: Command, token: ReplyToken | null): Decision<Event, Effect>
  record(writer: Writer, state: State, events: readonly Event[]): void
}

/**
 * One actor on a store of its own, in memory: decisions, records and reads are the real ones, and
 * each command is committed before the next. Steps are drawn by whoever drives it, who also ends
 * its effects; `loaded` is what a restart would find, for an oracle to compare.
 */
export class World<State, Command extends { readonly type: string }, Event, Effect> {
  readonly environment: Environment = createMemoryEnvironment()
  readonly reader: Reader = createReader(this.environment)
  state: State
  /** Effects that were asked for and have not ended, oldest first. */
  pending: Effect[] = []
  /** All answers so far. */
  readonly replies: Reply[] = []
  /** Events of the log so far, in order. */
  readonly logged: StoredEvent[] = []
  /** What happened last, for a failure to say. */
  readonly trail: string[] = []
  readonly #actor: StoredActor<State, Command, Event, Effect>
  readonly #sequence = attachEventSequence(createEventSequenceBuffer(), () => true)

  constructor(actor: StoredActor<State, Command, Event, Effect>) {
    this.#actor = actor
    this.state = actor.load(this.reader)
  }

  async handle(
    command: Command,
    token: ReplyToken | null = null,
  ): Promise<Decision<Event, Effect>> {
    const batch = new WriteBatch()
    const decision = this.#decide(command, token, batch)
    await this.#commit(batch)
    return decision
  }

  /** Commands of one turn: what they change is committed in one. */
  async together(commands: readonly Command[]): Promise<void> {
    const batch = new WriteBatch()
    for (const command of commands) {
      const own = new WriteBatch()
      this.#decide(command, null, own)
      batch.absorb(own)
    }
    await this.#commit(batch)
  }

  #decide(command: Command, token: ReplyToken | null, batch: WriteBatch): Decision<Event, Effect> {
    this.note(command.type)
    const decision = this.#actor.decide(this.state, command, token)
    this.#actor.record(batch, this.state, decision.events)
    this.replies.push(...(decision.promptReplies ?? []), ...decision.replies)
    this.pending.push(...decision.effects)
    return decision
  }

  async #commit(batch: WriteBatch): Promise<void> {
    if (batch.empty) return
    this.logged.push(...(await localCommits(this.environment, this.#sequence).commit(batch)))
  }

  loaded(): State {
    return this.#actor.load(this.reader)
  }

  /** kill -9 between two commands: effects under way are gone with it. */
  restart(): void {
    this.note('restart')
    this.pending = []
    this.state = this.loaded()
  }

  note(what: string): void {
    if (this.trail.push(what) > TRAIL_MAX) this.trail.shift()
  }
}

const TRAIL_MAX = 12

/** @throws Error that says both when they differ */
export function mustEqual(what: string, memory: unknown, store: unknown): void {
  const [held, kept] = [textOf(memory), textOf(store)]
  if (held !== kept) throw new Error(`${what}: memory has ${held}, the store ${kept}`)
}

/** Entries in the order of their keys. */
export function byKey<Key extends string | number, Value>(map: ReadonlyMap<Key, Value>) {
  return [...map].sort(([a], [b]) => (a < b ? -1 : Number(a > b)))
}

/** The same for what is the same, in whatever order it names its fields. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, it: unknown) => {
    if (typeof it === 'bigint') return `${it}n`
    const isRecord = typeof it === 'object' && it !== null && !Array.isArray(it)
    return isRecord ? Object.fromEntries(byKey(new Map(Object.entries(it)))) : it
  })
}
