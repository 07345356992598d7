import type { UserId } from '../../src/domain/ids.js'
import type { Fault } from '../../src/errors/fault.js'
import type { Writer } from '../../src/store/writer.js'

/**
 * What an actor is, to the runtime. The logic is deterministic: no I/O, clock or randomness; what
 * it needs of these comes with the command. The shell around it loads and records state and runs
 * effects, whose outcomes come back as commands. One thread owns an actor, and handles its commands
 * one after another.
 */
export interface ActorLogic<State, Command, Event, Effect> {
  /**
   * Decides one command. The state is owned by the mailbox, so each event is folded into it as
   * it is emitted, and what follows in the same command already sees it; folding the returned
   * events into the state before gives the state after.
   */
  decide(state: State, command: Command, token: ReplyToken | null): Decision<Event, Effect>
}

export interface Decision<Event, Effect> {
  readonly events: readonly Event[]
  readonly effects: readonly Effect[]
  readonly replies: readonly Reply[]
  /**
   * Answers that rest on nothing but what is durable already: they leave at once, before the
   * events with them are on disk. A crash in between forgets those events and not the answer,
   * so what it says must stay true without them.
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

/** Plain data, so that it crosses threads. */
export type AskResult<Value = unknown> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly fault: Fault }

export interface ActorShell<State, Command, Event, Effect>
  extends ActorLogic<State, Command, Event, Effect> {
  readonly kind: ActorKind
  /** Rebuilds an actor from the store. Synchronous; the result is owned by the runtime. */
  load(id: string): State
  /**
   * Writes what `events` changed, given the state after them. Writing nothing says that the
   * events were volatile: they do not survive a restart, and nothing waits for the disk.
   */
  record(writer: Writer, state: State, events: readonly Event[]): void
  /**
   * Turns a command from outside into the one to decide on, e.g. adds prices and fees. Runs
   * before the mailbox and may wait; commands of one actor may overtake each other here. The
   * state is for looking at, as it is now. Asked once more when the actor was loaded anew since.
   */
  prepare?(state: State, command: Command): Command | Promise<Command>
  /** A command for an actor that was just loaded, at a start or after it broke, to go on with. */
  resume?(state: State): Command | null
  /**
   * True of an effect that rests on nothing which is being stored and whose outcome means nothing
   * after a crash: it starts at once, where all others wait for the disk.
   */
  startsAtOnce?(effect: Effect): boolean
  /** Starts an effect. `self` puts the outcome into the actor's mailbox. Must not throw. */
  run(id: string, effect: Effect, self: (command: Command) => void): void
  /** True when nothing would be lost by forgetting the state and loading it again. */
  idle(state: State): boolean
}

/** A shell whose types no longer matter: shells of all kinds share one table. */
export type ErasedShell = ActorShell<unknown, unknown, unknown, unknown>

export function eraseShell<State, Command, Event, Effect>(
  shell: ActorShell<State, Command, Event, Effect>,
): ErasedShell {
  return shell as unknown as ErasedShell
}

/** Kinds of actors of which each user has their own. They live where their user does. */
export type UserActorKind =
  | 'sub-wallet'
  | 'webhook-endpoint'
  | 'address-rules'
  | 'quotas'
  | 'freezes'
  | 'user-breakers'

/** Kinds that serve all users. They append no events, which belong to a user each. */
export type SharedActorKind =
  | 'chain-watcher'
  | 'gas-wallet'
  | 'custody'
  | 'key-use'
  | 'share-prices'

export type ActorKind = UserActorKind | SharedActorKind

/** Names one actor, and says whose it is, by which it is found. */
export type ActorAddress =
  | { readonly kind: UserActorKind; readonly id: string; readonly userId: UserId }
  | { readonly kind: SharedActorKind; readonly id: string; readonly userId: null }

/** A command on its way. `token` is set when a caller waits for a reply. */
export type Envelope = ActorAddress & Message

/** The same once it is where its actor lives. */
export interface Delivery extends Message {
  readonly kind: ActorKind
  readonly id: string
}

interface Message {
  readonly command: unknown
  readonly token: ReplyToken | null
}

/** Part of an actor's protocol: what it answers a command with. */
export interface Ask<Command extends object, Reply> {
  readonly command: Command
  readonly reply: Reply
}

/** Part of an actor's protocol: a command that it does not answer. */
export type Tell<Command extends object> = Ask<Command, never>

/** The same of commands that are told apart by their type. */
export type AsksByType<Command extends { readonly type: string }, Replies> = {
  readonly [Type in keyof Replies & Command['type']]: Ask<
    Extract<Command, { readonly type: Type }>,
    Replies[Type]
  >
}[keyof Replies & Command['type']]
