import type { Timers } from '../../src/clock/timers.js'
import type { StoredEvent } from '../../src/domain/event.js'
import type { Meter } from '../../src/domain/meter.js'
import { type Fault, FaultError, fault } from '../../src/errors/fault.js'
import type { Commits } from '../../src/store/commits.js'
import { WriteBatch } from '../../src/store/write-batch.js'
import type { AskResult, Delivery, ErasedShell, Reply, ReplyToken } from './actor.js'
import { Mailbox } from './mailbox.js'
import { type Resident, Residents } from './residents.js'

/**
 * The most commands that wait in one worker; beyond it callers get OVERLOADED and nothing is done.
 */
const MAILBOX_CAPACITY = 50_000

interface ShardHostOptions {
  readonly shells: readonly ErasedShell[]
  readonly commits: Commits
  readonly timers: Pick<Timers, 'soon' | 'elapsed'>
  readonly meter: Meter
  readonly reply: (token: ReplyToken, result: AskResult) => void
  /** Called once events are durable, in the log order of this worker. */
  readonly appended: (events: readonly StoredEvent[]) => void
  readonly log: { error(context: object, message: string): void }
  /**
   * Called when the disk refused a commit: memory and store differ, so the process must restart.
   */
  readonly fatal: (error: unknown) => void
}

/**
 * A command in the mailbox, with its actor when that was at hand: finding it costs two look-ups.
 */
interface Mail extends Delivery {
  readonly resident: Resident | null
  /** The command before its preparation; null when it was not prepared. */
  readonly unprepared: unknown
}

interface Outputs {
  readonly resident: Resident
  readonly effects: readonly unknown[]
  readonly replies: readonly Reply[]
}

const NO_REPLIES: readonly Reply[] = []

/** Added to the bound of a tick with few commands, which may each lead to more than one other. */
const TOLD_AT_ONCE = 64

/**
 * Runs the actors of one worker thread. All commands of a tick are decided one after another, and
 * their durable results are committed in one synced transaction. Only then do effects start and
 * replies leave, except replies that depend only on earlier commits and effects that depend on none
 * (`startsAtOnce`). The next tick is decided while the disk is still writing.
 */
export class ShardHost {
  readonly #options: ShardHostOptions
  readonly #shells: ReadonlyMap<string, ErasedShell>
  readonly #mailbox: Mailbox<Mail>
  readonly #tookToCommit: (elapsedMs: number) => void
  readonly #residents = new Residents()
  #tickScheduled = false
  #commitsPending = 0
  #lastCommit: Promise<void> = Promise.resolve()
  /**
   * Set when the disk refused a commit: no result that depends on it leaves, and nothing more is
   * decided.
   */
  #isOver = false
  /** An empty batch for reuse, because most commands write nothing. */
  #spareBatch: WriteBatch | null = null
  /** Actors that wrote to the batch of the current tick. */
  readonly #dirty = new Set<Resident>()

  constructor(options: ShardHostOptions) {
    this.#options = options
    this.#mailbox = new Mailbox(MAILBOX_CAPACITY, options.timers.elapsed)
    options.meter.queue('mailbox', () => this.#mailbox.read())
    this.#tookToCommit = options.meter.latency('commit')
    this.#shells = new Map(options.shells.map((shell) => [shell.kind, shell]))
  }

  get queueLength(): number {
    return this.#mailbox.size
  }

  get residentCount(): number {
    return this.#residents.size
  }

  /** True when no command waits and everything decided is on disk. */
  get quiet(): boolean {
    return this.#mailbox.size === 0 && this.#commitsPending === 0
  }

  /** Takes a command from outside. */
  deliver(envelope: Delivery): void {
    const shell = this.#shells.get(envelope.kind)
    if (shell === undefined) throw new Error(`no actor of kind ${envelope.kind}`)
    const { kind, id, token } = envelope
    if (shell.prepare === undefined) {
      const { command } = envelope
      this.#enqueue({ kind, id, command, token, resident: null, unprepared: null })
      return
    }
    const unprepared = envelope.command
    let resident: Resident | null = null
    let prepared: unknown
    try {
      resident = this.#resident(envelope, false) ?? null
      if (resident === null) return
      prepared = shell.prepare(resident.state, unprepared)
    } catch (error) {
      this.#failed(envelope, error)
      return
    }
    if (prepared instanceof Promise) {
      prepared.then(
        (command: unknown) => this.#enqueue({ kind, id, command, token, resident, unprepared }),
        (error: unknown) => this.#failed(envelope, error),
      )
    } else this.#enqueue({ kind, id, command: prepared, token, resident, unprepared })
  }

  #failed(envelope: Delivery, error: unknown): void {
    this.#options.log.error({ err: error, actor: envelope.id }, 'a command could not be prepared')
    if (envelope.token !== null) {
      this.#options.reply(envelope.token, { ok: false, fault: faultOf(error) })
    }
  }

  #enqueue(mail: Mail): void {
    if (mail.token === null) {
      // Outcomes and updates must arrive, and their number is bounded, since each belongs to a
      // draft, a transaction or a delivery that is already open.
      this.#mailbox.put(mail)
    } else if (!this.#mailbox.offer(mail)) {
      this.#options.reply(mail.token, { ok: false, fault: fault('OVERLOADED') })
      return
    }
    this.#schedule()
  }

  #schedule(): void {
    if (this.#tickScheduled) return
    this.#tickScheduled = true
    this.#options.timers.soon(() => this.#tick())
  }

  #tick(): void {
    if (this.#isOver) return
    const batch = new WriteBatch()
    const immediate: Outputs[] = []
    const afterCommit: Outputs[] = []
    // What an effect that starts at once answers or sends is decided in the same tick, because it
    // may have to be in the same commit, like the counts of breakers.
    for (let left = 2 * this.#mailbox.size + TOLD_AT_ONCE; left > 0; left--) {
      const mail = this.#mailbox.take()
      if (mail === undefined) break
      const outputs = this.#handle(mail, batch)
      if (outputs === null) continue
      if (outputs.resident.commitsPending > 0) afterCommit.push(outputs)
      else immediate.push(outputs)
    }
    for (const outputs of immediate) this.#release(outputs)
    this.#tickScheduled = false
    if (this.#mailbox.size > 0) this.#schedule()
    if (batch.empty && afterCommit.length === 0) return
    this.#commit(batch, afterCommit)
  }

  /**
   * Decides and folds one command. Returns null when the actor failed; its callers were refused.
   */
  #handle(envelope: Mail, batch: WriteBatch): Outputs | null {
    const { kind, id, token, unprepared } = envelope
    if (unprepared !== null && envelope.resident?.stale === true) {
      // The command was prepared from a state that is gone and that was ahead of the store.
      this.deliver({ kind, id, command: unprepared, token })
      return null
    }
    let resident: Resident | undefined
    try {
      resident = this.#addressee(envelope)
      if (resident === undefined) return null
      if (envelope.token !== null) resident.waiting.add(envelope.token)
      const { shell } = resident
      const decision = shell.decide(resident.state, envelope.command, envelope.token)
      if (decision.events.length > 0) {
        // A batch of its own, so that an actor that fails half-way leaves nothing behind.
        const own = this.#spareBatch ?? new WriteBatch()
        this.#spareBatch = null
        shell.record(own, resident.state, decision.events)
        if (own.empty) this.#spareBatch = own
        else {
          batch.absorb(own)
          if (!this.#dirty.has(resident)) {
            this.#dirty.add(resident)
            resident.commitsPending++
          }
        }
      }
      const { effects, replies, promptReplies = NO_REPLIES } = decision
      // Their answers are decided: if the actor fails now, they must not be refused as well.
      for (const { token } of replies) resident.waiting.delete(token)
      for (const { token, result } of promptReplies) {
        resident.waiting.delete(token)
        this.#options.reply(token, result)
      }
      return { resident, effects: this.#startSome(resident, effects), replies }
    } catch (error) {
      this.#options.log.error(
        { err: error, actor: envelope.id },
        'an actor broke an invariant and is rebuilt from the store',
      )
      this.#stop(resident, envelope, error)
      return null
    }
  }

  #commit(batch: WriteBatch, outputs: readonly Outputs[]): void {
    const dirty = [...this.#dirty]
    this.#dirty.clear()
    this.#commitsPending++
    const { commits, appended, fatal, timers } = this.#options
    const writes = !batch.empty
    const beganMs = timers.elapsed()
    // Outputs of a tick that wrote nothing still depend on the commits before them.
    const before = this.#lastCommit
    const committed = writes ? commits.commit(batch) : before.then(() => [])
    this.#lastCommit = committed.then(
      (events) => {
        this.#commitsPending--
        if (writes) this.#tookToCommit(timers.elapsed() - beganMs)
        for (const resident of dirty) {
          resident.commitsPending--
          if (resident.kept !== null && resident.commitsPending === 0) this.#deliverKept(resident)
        }
        if (events.length > 0) appended(events)
        for (const output of outputs) this.#release(output)
        this.#residents.forgetIdle()
      },
      (error: unknown) => {
        this.#isOver = true
        fatal(error)
      },
    )
  }

  #release({ resident, effects, replies }: Outputs): void {
    if (this.#isOver) return
    for (const { token, result } of replies) this.#options.reply(token, result)
    for (const effect of effects) this.#run(resident, effect)
  }

  /**
   * Starts the effects that wait for nothing.
   * @returns the others
   */
  #startSome(resident: Resident, effects: readonly unknown[]): readonly unknown[] {
    const { shell } = resident
    if (effects.length === 0 || shell.startsAtOnce === undefined) return effects
    const rest: unknown[] = []
    for (const effect of effects) {
      if (shell.startsAtOnce(effect)) this.#run(resident, effect)
      else rest.push(effect)
    }
    return rest
  }

  #run(resident: Resident, effect: unknown): void {
    const { kind, id } = resident.address
    try {
      resident.shell.run(id, effect, (command) => {
        this.#enqueue({ kind, id, command, token: null, resident, unprepared: null })
      })
    } catch (error) {
      // For example, the effect needs a damaged record: that stops this actor and no other.
      if (!(error instanceof FaultError)) throw error
      this.#options.log.error({ err: error, actor: id }, 'an effect could not be started')
      this.#break(resident, error)
    }
  }

  #addressee(mail: Mail): Resident | undefined {
    const { resident } = mail
    const isAtHand = resident !== null && !resident.stale && !this.#residents.isInOrder
    return isAtHand ? resident : this.#resident(mail, true)
  }

  /**
   * Returns undefined, after refusing the caller or keeping the message, while a broken actor waits
   * for its commits.
   */
  #resident(envelope: Delivery, isPrepared: boolean): Resident | undefined {
    const known = this.#residents.find(envelope)
    if (known?.broken === true) {
      if (known.commitsPending > 0) {
        this.#putOff(known, envelope, isPrepared)
        return undefined
      }
    } else if (known !== undefined) {
      this.#residents.used(known)
      return known
    }
    const shell = this.#shells.get(envelope.kind)
    if (shell === undefined) throw new Error(`no actor of kind ${envelope.kind}`)
    const resident = this.#residents.load(shell, envelope)
    this.#resume(resident)
    return resident
  }

  #resume(resident: Resident): void {
    const { shell, state, address } = resident
    const command = shell.resume?.(state) ?? null
    if (command !== null) {
      this.#enqueue({ ...address, command, token: null, resident, unprepared: null })
    }
  }

  /**
   * A caller may retry. An update comes only once, so it waits until the actor is loaded from the
   * store.
   */
  #putOff(resident: Resident, envelope: Delivery, isPrepared: boolean): void {
    if (envelope.token !== null) {
      this.#options.reply(envelope.token, { ok: false, fault: fault('OVERLOADED') })
      return
    }
    resident.kept ??= []
    if (resident.kept.length < MAILBOX_CAPACITY) resident.kept.push({ envelope, isPrepared })
    else this.#options.log.error({ actor: envelope.id }, 'too many messages for a broken actor')
  }

  #deliverKept(resident: Resident): void {
    const kept = resident.kept ?? []
    resident.kept = null
    for (const { envelope, isPrepared } of kept) {
      if (isPrepared) this.#enqueue({ ...envelope, resident: null, unprepared: null })
      else this.deliver(envelope)
    }
  }

  #stop(resident: Resident | undefined, envelope: Delivery, error: unknown): void {
    if (resident === undefined) {
      const refused: AskResult = { ok: false, fault: faultOf(error) }
      if (envelope.token !== null) this.#options.reply(envelope.token, refused)
      return
    }
    this.#break(resident, error)
  }

  #break(resident: Resident, error: unknown): void {
    const refused: AskResult = { ok: false, fault: faultOf(error) }
    resident.broken = true
    resident.stale = true
    for (const token of resident.waiting) this.#options.reply(token, refused)
    resident.waiting.clear()
  }
}

/**
 * The fault for the caller: a damaged record, for example, is reported; any other error stays
 * internal.
 */
function faultOf(error: unknown): Fault {
  return error instanceof FaultError ? error.fault : fault('INTERNAL')
}
