import {
  type SocketClient,
  type SocketClientOptions,
  Unanswered,
} from '../../src/quorum-protocol/client.js'
import { CALL_TIMEOUT_MS } from '../../src/quorum-protocol/limits.js'
import { Refusal } from '../../src/quorum-protocol/refusal.js'
import type { Connection } from '../../src/quorum-protocol/server.js'
import type { Way } from './links.js'
import type { Draw } from './random.js'
import { alarmOf, arrive, type Life, type Scheduler } from './scheduler.js'

export interface PipeFaults {
  readonly latencyMsMax: number
  /** Of calls, how many break the connection before they arrive. */
  readonly unsent: number
  /** Of calls, how many were done and whose answer is lost. */
  readonly unanswered: number
  /** Of calls, how many arrive when nobody waits for them any more. */
  readonly late: number
  /** Of calls, how many arrive twice. */
  readonly doubled: number
  /** Of calls, how many are overtaken. */
  readonly overtaken: number
}

/** What a domain does with a call. */
export type Serve = (
  method: string,
  parameters: readonly unknown[],
  connection: Connection,
) => Promise<unknown>

export interface PipePorts {
  readonly scheduler: Scheduler
  readonly draw: Draw
  readonly life: Life
  readonly faults: () => PipeFaults
  /** Nothing gets through. */
  readonly isAway: () => boolean
  /** Which start of the domain is there: with it end its connections, and what is on its way. */
  readonly serving: () => object | null
  /** To a domain on another machine; null: nothing comes between. */
  readonly way: Way | null
  readonly serve: Serve
  readonly wrong: (what: string) => void
}

interface Line {
  readonly connection: Connection & { readonly isOpen: () => boolean }
  readonly server: object | null
  readonly pending: Set<(error: Error) => void>
  /** When who asks gave it up, and when who answers ended it; null: not yet. */
  lostAtMs: number | null
  endedAtMs: number | null
}

/** One call on its way. */
interface Sent {
  readonly method: string
  readonly parameters: readonly unknown[]
  readonly isHeard: boolean
  /** It comes twice, so long after the first was done, which is the one that is heard; null: once. */
  readonly againAfterMs: number | null
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

const RECONNECT_MS_MAX = 100
/** One lost call breaks a connection, which takes six calls to be of use again. */
const SPARED = 6
const LATE_MS_MAX = 25_000
const OVERTAKEN_MS_MAX = 60
/** As `src/link`: whom nothing is heard of for longer is ended, here by who asks and there by who answers. */
const SILENT_MS_MAX = { here: 10_000, there: 15_000 }

/** Between a thread of the service and another domain, in place of a Unix socket. */
export class Pipe implements SocketClient {
  readonly #ports: PipePorts
  readonly #options: SocketClientOptions
  #line: Line | null = null
  /** When the last call arrives, and the last answer: those behind come no earlier. */
  readonly #lastMs = { there: 0, back: 0 }

  constructor(ports: PipePorts, options: SocketClientOptions) {
    this.#ports = ports
    this.#options = options
    this.#reconnect()
  }

  get connected(): boolean {
    return this.#line !== null
  }

  get answering(): boolean {
    return this.connected
  }

  call(method: string, parameters: readonly unknown[]): Promise<unknown> {
    const line = this.#line
    const { peer } = this.#options
    if (line === null) return Promise.reject(new Unanswered(peer, 'not connected'))
    const { scheduler, draw, faults } = this.#ports
    const { late, doubled, overtaken, ...said } = faults()
    const [unsent, unanswered] = [said.unsent / SPARED, said.unanswered / SPARED]
    const drawn = draw.fraction()
    const [isLate, isDoubled, isOvertaken] = [
      draw.chance(late),
      draw.chance(doubled),
      draw.chance(overtaken),
    ]
    return new Promise((resolve, reject) => {
      const settle =
        <T>(how: (value: T) => void) =>
        (value: T) => {
          timer.cancel()
          line.pending.delete(fail)
          how(value)
        }
      const fail = settle<Error>(reject)
      const timer = this.#after(CALL_TIMEOUT_MS, () => {
        fail(new Unanswered(peer, 'timed out'))
        if (method === 'approve' || method === 'sign') this.#lose(line)
      })
      line.pending.add(fail)
      if (drawn < unsent) {
        this.#after(1, () => this.#lose(line))
        return
      }
      const arriveMs = isLate
        ? scheduler.nowMs + CALL_TIMEOUT_MS + draw.integer(LATE_MS_MAX)
        : isOvertaken
          ? scheduler.nowMs + draw.integer(OVERTAKEN_MS_MAX)
          : this.#behind('there')
      const isHeard = drawn >= unsent + unanswered
      const againAfterMs = isDoubled ? draw.integer(OVERTAKEN_MS_MAX) : null
      const settled = { resolve: settle(resolve), reject: fail }
      scheduler.at(arriveMs, () =>
        this.#arrive(line, { method, parameters, isHeard, againAfterMs, ...settled }),
      )
    })
  }

  reset(): void {
    if (this.#line !== null) this.#lose(this.#line)
  }

  /** Ends with its process. */
  close(): void {}

  #arrive(line: Line, sent: Sent): void {
    const { method, parameters, isHeard, againAfterMs, resolve, reject } = sent
    const { isAway, serve, serving, scheduler, life, wrong, way } = this.#ports
    const { nowMs } = scheduler
    const openMs = way?.opensAtMs('there') ?? 0
    if (openMs > nowMs) {
      this.#giveUp(line, nowMs, openMs)
      // What was sent is sent again until the way is open, by a process that may be gone by then.
      if (openMs <= nowMs + SILENT_MS_MAX.there) {
        scheduler.at(openMs, () => this.#arrive(line, sent))
      }
      return
    }
    if (line.endedAtMs !== null) return
    if (isAway() || line.server !== serving()) {
      this.#lose(line)
      return
    }
    const answer = (settle: () => void) => {
      if (!isHeard) return
      const backMs = way?.opensAtMs('back') ?? 0
      this.#giveUp(line, scheduler.nowMs, backMs)
      scheduler.at(Math.max(backMs, this.#behind('back')), () =>
        arrive(scheduler, life, () => {
          if (line.connection.isOpen()) settle()
        }),
      )
    }
    const served = serve(method, parameters, line.connection).then(
      (value) => answer(() => resolve(value)),
      (error: unknown) => {
        if (!(error instanceof Refusal)) wrong(`${method} failed: ${(error as Error).stack}`)
        else answer(() => reject(error))
      },
    )
    if (againAfterMs === null) return
    const again = { ...sent, isHeard: false, againAfterMs: null }
    void served.then(() => scheduler.after(againAfterMs, () => this.#arrive(line, again)))
  }

  #behind(way: 'there' | 'back'): number {
    const { scheduler, draw, faults } = this.#ports
    const dueMs = scheduler.nowMs + 1 + draw.integer(faults().latencyMsMax)
    this.#lastMs[way] = Math.max(this.#lastMs[way], dueMs)
    return this.#lastMs[way]
  }

  #lose(line: Line): void {
    if (this.#line !== line) return
    this.#line = null
    line.lostAtMs = this.#ports.scheduler.nowMs
    for (const fail of [...line.pending]) fail(new Unanswered(this.#options.peer, 'lost'))
    this.#options.onDisconnect()
    this.#reconnect()
  }

  #reconnect(): void {
    this.#after(1 + this.#ports.draw.integer(RECONNECT_MS_MAX), () => {
      const { scheduler, way } = this.#ports
      const opensAtMs = Math.max(way?.opensAtMs('there') ?? 0, way?.opensAtMs('back') ?? 0)
      if (this.#ports.isAway() || opensAtMs > scheduler.nowMs) {
        this.#reconnect()
        return
      }
      const { life } = this.#ports
      const isOpen = () => life.isAlive && this.#line === line
      const line: Line = {
        connection: {
          isOpen,
          get closed() {
            return way === null ? !isOpen() : isClosedThere(line, scheduler.nowMs, way)
          },
          end: () => {
            if (way !== null) line.endedAtMs ??= scheduler.nowMs
            const backMs = way?.opensAtMs('back') ?? 0
            this.#after(Math.max(1, backMs - scheduler.nowMs), () => this.#lose(line))
          },
        },
        server: this.#ports.serving(),
        pending: new Set(),
        ...{ lostAtMs: null, endedAtMs: null },
      }
      this.#line = line
      this.#options.onConnect()
    })
  }

  /** Nothing will be heard of the other side for as long: the connection is no use any more. */
  #giveUp(line: Line, nowMs: number, openMs: number): void {
    if (openMs <= nowMs + SILENT_MS_MAX.here) return
    this.#after(SILENT_MS_MAX.here, () => this.#lose(line))
  }

  #after(delayMs: number, run: () => void) {
    const { scheduler, life } = this.#ports
    return alarmOf(scheduler, life, scheduler.nowMs + delayMs, run)
  }
}

/** Who answers hears of an end by a word that crosses as all others do, or by silence. */
function isClosedThere({ lostAtMs, endedAtMs }: Line, nowMs: number, way: Way): boolean {
  if (endedAtMs !== null) return true
  if (lostAtMs === null) return false
  return nowMs >= Math.min(lostAtMs + SILENT_MS_MAX.there, way.opensAtMs('there'))
}
