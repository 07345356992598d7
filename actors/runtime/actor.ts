import type { UserId } from '../../src/domain/ids.js'
import type { Fault } from '../../src/errors/fault.js'
import type { Writer } from '../../src/store/writer.js'

/**
 * What the runtime needs to know of an actor. Its logic is deterministic: no I/O, clock or
 * randomness; what it needs of these comes with the command. The shell around it loads and records
 * state and runs effects, whose outcomes come back as commands. One thread owns an actor and
 * handles its commands one after another.
 */
interface ActorLogic<State, Command, Event, Effect> {
  /**
   * Decides one command. The mailbox owns the state: each event is folded into it as it is emitted,
   * so later steps of the same command see it. Folding the returned events into the earlier state
   * gives the later state.
   */
  decide(state: State, command: Command, token: ReplyToken | null): Decision<Event, Effect>
}

export interface Decision<Event, Effect> {
  readonly events: readonly Event[]
  readonly effects: readonly Effect[]
  readonly replies: readonly Reply[]
  /**
   * Answers that depend only on durable facts: they leave at once, before this command's events are
   * on disk. A crash in between loses those events but not the answer, so it must stay true without
   * them.
   */
  readonly promptReplies?: readonly Reply[]
}

/** Answers the caller of an earlier command; `token` is the one that command carried. */
export interface Reply {
  readonly token: ReplyToken
  readonly result: AskResult
}

/** Names a waiting caller within this process; 0 is never used. */
export type ReplyToken = number

/** Plain data, so that it can cross threads. */
export type AskResult<Value = unknown> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly fault: Fault }

export interface ActorShell<State, Command, Event, Effect>
  extends ActorLogic<State, Command, Event, Effect> {
  readonly kind: ActorKind
  /** Rebuilds an actor from the store. It is synchronous, and the runtime owns the result. */
  load(id: string): State
  /**
   * Writes what `events` changed, given the state after them. Writing nothing means that the events
   * were volatile: they do not survive a restart, and nothing waits for the disk.
   */
  record(writer: Writer, state: State, events: readonly Event[]): void
  /**
   * Turns a command from outside into the one to decide, for example by adding prices and fees. It
   * runs before the mailbox and may wait; commands of one actor may overtake each other here. The
   * state is only for reading. It runs again when the actor was reloaded in between.
   */
  prepare?(state: State, command: Command): Command | Promise<Command>
  /**
   * Returns a command with which an actor continues after it was loaded, at a start or after it
   * failed.
   */
  resume?(state: State): Command | null
  /**
   * True for an effect that depends on nothing that is being stored and whose outcome means nothing
   * after a crash: it starts at once, while all others wait for the disk.
   */
  startsAtOnce?(effect: Effect): boolean
  /** Starts an effect. `self` puts the outcome into the actor's mailbox. It must not throw. */
  run(id: string, effect: Effect, self: (command: Command) => void): void
  /** True when the state can be dropped and loaded again without loss. */
  idle(state: State): boolean
}

/** A shell without its types, so that shells of all kinds fit in one table. */
export type ErasedShell = ActorShell<unknown, unknown, unknown, unknown>

export function eraseShell<State, Command, Event, Effect>(
  shell: ActorShell<State, Command, Event, Effect>,
): ErasedShell {
  return shell as unknown as ErasedShell
}

/** Kinds of actors that each user has of their own. They live on the thread of their user. */
type UserActorKind =
  | 'sub-wallet'
  | 'webhook-endpoint'
  | 'address-rules'
  | 'quotas'
  | 'freezes'
  | 'user-breakers'

/** Kinds that serve all users. They append no events, because each event belongs to one user. */
type SharedActorKind = 'chain-watcher' | 'gas-wallet' | 'custody' | 'key-use' | 'share-prices'

type ActorKind = UserActorKind | SharedActorKind

/** Names one actor and its user, which determine its thread. */
export type ActorAddress =
  | { readonly kind: UserActorKind; readonly id: string; readonly userId: UserId }
  | { readonly kind: SharedActorKind; readonly id: string; readonly userId: null }

/** A command under way to its actor. `token` is set when a caller waits for a reply. */
export type Envelope = ActorAddress & Message

/** The command on the thread of its actor. */
export interface Delivery extends Message {
  readonly kind: ActorKind
  readonly id: string
}

interface Message {
  readonly command: unknown
  readonly token: ReplyToken | null
}

/** Part of an actor's protocol: a command and the type of its answer. */
export interface Ask<Command extends object, Reply> {
  readonly command: Command
  readonly reply: Reply
}

/** Part of an actor's protocol: a command that it does not answer. */
export type Tell<Command extends object> = Ask<Command, never>

/** The same for commands that are told apart by their type. */
export type AsksByType<Command extends { readonly type: string }, Replies> = {
  readonly [Type in keyof Replies & Command['type']]: Ask<
    Extract<Command, { readonly type: Type }>,
    Replies[Type]
  >
}[keyof Replies & Command['type']]
