import type { BatchSize } from './batch-size.js'
import { RpcCallError, RpcTransportError } from './errors.js'
import type { RpcResult } from './types.js'
import { isMissing, isTooLarge, requestBody } from './wire.js'

/** A serialised call, as `serialiseCall` returns it. */
export interface CallText {
  readonly text: string
}

export interface Asked {
  /** In the order of the calls. A call without a usable answer has a `RpcTransportError`. */
  readonly answers: readonly RpcResult[]
  /**
   * Calls that were sent in a request without a usable answer before they were sent again: the
   * endpoint may have acted on them. Null when there were no such calls.
   */
  readonly retried: ReadonlySet<number> | null
}

/** @throws RpcTransportError */
type Post = (body: string, count: number) => Promise<readonly RpcResult[]>

/** The most one-call requests under way at once, for an endpoint that takes several. */
const PARTS_AT_ONCE = 4
/**
 * The calls that may fail on their own before the endpoint counts as down: a single call may be
 * what breaks it.
 */
const FAILED_ALONE_MAX = 2

/**
 * Sends any number of calls to one endpoint, in requests as large as it accepts. An error for a
 * request of several calls counts as a fault of the batch until its calls have failed on their own:
 * the batch is halved, down to one call. Never rejects.
 */
export async function askInBatches(
  calls: readonly CallText[],
  size: BatchSize,
  post: Post,
  partsAtOnce: number = PARTS_AT_ONCE,
): Promise<Asked> {
  const whole = calls.length <= size.now()
  const part: Part = { from: 0, to: calls.length }
  const asking = new Asking(calls, size, post, whole ? [part] : partsOf(part, size.now()))
  await (whole
    ? asking.work()
    : Promise.all(Array.from({ length: partsAtOnce }, () => asking.work())))
  return asking.asked()
}

interface Part {
  readonly from: number
  readonly to: number
}

class Asking {
  readonly #calls: readonly CallText[]
  readonly #size: BatchSize
  readonly #post: Post
  /** The remaining parts, first part last. */
  readonly #parts: Part[]
  readonly #answers: RpcResult[]
  #retried: Set<number> | null = null
  #failedAlone = 0
  /** Why the rest is not sent. */
  #down: RpcTransportError | null = null

  constructor(calls: readonly CallText[], size: BatchSize, post: Post, parts: readonly Part[]) {
    this.#calls = calls
    this.#size = size
    this.#post = post
    this.#parts = [...parts].reverse()
    this.#answers = new Array<RpcResult>(calls.length)
  }

  asked(): Asked {
    return { answers: this.#answers, retried: this.#retried }
  }

  async work(): Promise<void> {
    for (let part = this.#parts.pop(); part !== undefined; part = this.#parts.pop()) {
      if (this.#down !== null) this.#fill(part, unasked(this.#down))
      else await this.#ask(part)
    }
  }

  async #ask(part: Part): Promise<void> {
    const { from, to } = part
    const count = to - from
    const calls = count === this.#calls.length ? this.#calls : this.#calls.slice(from, to)
    let answers: readonly RpcResult[]
    try {
      answers = await this.#post(requestBody(calls), count)
    } catch (cause) {
      this.#failed(part, cause)
      return
    }
    if (count > 1 && isTooLarge(answers[0])) {
      this.#halve(part)
      return
    }
    answers.forEach((answer, i) => {
      this.#answers[from + i] = answer
    })
    if (count > 1 && answers.every(isRefusalOfBatch)) {
      this.#size.failed(count)
      this.#noteRetried(part)
      this.#halve(part)
    } else if (count > 1 && answers.some(isMissing)) this.#askForMissing(part, answers)
    else if (count > 1 && areTurnedAway(answers)) this.#size.failed(count)
    else this.#size.succeeded(count)
  }

  #failed(part: Part, cause: unknown): void {
    const count = part.to - part.from
    const error = cause instanceof RpcTransportError ? cause : unanswered(cause)
    if (error.phase !== 'unsent') this.#size.failed(count)
    if (count > 1 && isOfBatch(error)) {
      this.#noteRetried(part)
      this.#halve(part)
      return
    }
    this.#failedAlone++
    const isAlone = count === 1 && error.status !== null && error.status !== 429
    if (!isAlone || this.#failedAlone >= FAILED_ALONE_MAX) this.#down = error
    this.#fill(part, error)
  }

  /** Some nodes answer only the first calls of a batch that is too long for them. */
  #askForMissing({ from, to }: Part, answers: readonly RpcResult[]): void {
    this.#size.failed(to - from)
    for (let at = to - 1; at >= from; at--) {
      if (!isMissing(answers[at - from])) continue
      const end = at + 1
      while (at > from && isMissing(answers[at - 1 - from])) at--
      const missing = { from: at, to: end }
      this.#noteRetried(missing)
      this.#parts.push(...partsOf(missing, this.#size.now()).reverse())
    }
  }

  #halve({ from, to }: Part): void {
    const middle = from + ((to - from + 1) >> 1)
    this.#parts.push({ from: middle, to }, { from, to: middle })
  }

  #noteRetried({ from, to }: Part): void {
    this.#retried ??= new Set()
    for (let at = from; at < to; at++) this.#retried.add(at)
  }

  #fill({ from, to }: Part, error: Error): void {
    for (let at = from; at < to; at++) this.#answers[at] = { ok: false, error }
  }
}

function partsOf({ from, to }: Part, size: number): Part[] {
  const parts: Part[] = []
  for (let at = from; at < to; at += size) parts.push({ from: at, to: Math.min(to, at + size) })
  return parts
}

/** Some nodes report the refusal of a batch once per call. */
function isRefusalOfBatch(answer: RpcResult): boolean {
  return !answer.ok && answer.error instanceof RpcCallError && /\bbatch/i.test(answer.error.message)
}

/** Invalid request, internal error and limit exceeded: none of them is about a call's content. */
const TURNED_AWAY_CODES: ReadonlySet<number> = new Set([-32600, -32603, -32005])

/**
 * True when every call of a batch has the same error of the endpoint. It may be the batch that is too
 * long, or a rate limit, which needs a pause: nothing is asked again at once, but later requests are
 * smaller, so that a limit on batches does not stop the chain for ever.
 */
function areTurnedAway(answers: readonly RpcResult[]): boolean {
  const [first] = answers
  if (first === undefined || first.ok || !(first.error instanceof RpcCallError)) return false
  const { code, message, data } = first.error
  if (!TURNED_AWAY_CODES.has(code) || data !== undefined) return false
  return answers.every((answer) => !answer.ok && answer.error.message === message)
}

/**
 * True for an error that an HTTP answer gave for a whole batch. A rate limit needs a pause, and
 * after no answer at all the next request is smaller: halving then would add up timeouts.
 */
export function isOfBatch({ status }: RpcTransportError): boolean {
  return status !== null && status !== 429
}

function unasked(down: RpcTransportError): RpcTransportError {
  return new RpcTransportError('unsent', `not sent, because others failed: ${down.message}`)
}

function unanswered(cause: unknown): RpcTransportError {
  return new RpcTransportError('unanswered', 'no usable answer', { cause })
}
