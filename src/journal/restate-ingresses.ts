import { Agent, request } from 'undici'
import { JournalUnavailable } from './journal.js'
import { type Operation, objectOf } from './restate-frames.js'

/** One request to an object, asked for until there is an answer. */
export interface Question {
  readonly operation: Operation
  /** Of the object. */
  readonly key: string
  readonly bytes: Uint8Array
  /** Requests of one name that wait at once are one; null: each is one of its own. */
  readonly name: string | null
}

/** What is asked, and how: where one answers nothing of use, another may. */
export interface Asking {
  /**
   * @param use what to make of an answer; where it throws, the next one is asked
   * @throws JournalUnavailable
   */
  ask<T>(question: Question, use: (answer: Uint8Array) => T): Promise<T>
  close(): Promise<void>
}

/**
 * Longer than an answer takes but where a node is frozen or gone, and the cluster is choosing another
 * to lead. Then the next one is asked as well: who asks by a frozen one alone waits until it wakes.
 */
const HEDGE_MS = 2_000
/** Of an owner's word that it lives: a standby takes over from who is silent for a little longer than that. */
const BEAT_HEDGE_MS = 500

/** Of a cluster that has lost a node an answer came within 8 s. */
const ANSWER_MS = 10_000

const CONNECT_MS = 2_000

/** Of a node: appends of a process that are under way at once, takings, and what looks. */
const CONNECTIONS_MAX = 16

/** An entry of the longest length, and what comes with it. */
const ANSWER_BYTES_MAX = 17 * 1024 * 1024
/** Also where an earlier build was registered, which answered less. */
const UNREGISTERED = 404
/** Of what is no answer, for people. */
const EXPLANATION_CHARS = 200

export interface Times {
  readonly hedgeMs: number
  /** The same of a `beat`. */
  readonly beatHedgeMs: number
  readonly answerMs: number
}

/**
 * The ingresses of a cluster, of which any answers for all. The one that answered last is asked, after
 * anything that failed or a while without an answer the next one too, and the first answer counts:
 * a request that arrives twice is as good as once. One that was asked is asked anew in its turn: what
 * it passed on to a node that has led until then stays there.
 */
export function createIngresses(
  urls: readonly string[],
  times: Times = { hedgeMs: HEDGE_MS, beatHedgeMs: BEAT_HEDGE_MS, answerMs: ANSWER_MS },
): Asking {
  const agent = new Agent({
    connections: CONNECTIONS_MAX,
    connect: { timeout: CONNECT_MS },
    headersTimeout: times.answerMs,
    bodyTimeout: times.answerMs,
    maxResponseSize: ANSWER_BYTES_MAX,
  })
  /** Of what is asked now; one signal for all would keep something of each on Node 20. */
  const open = new Set<AbortController>()
  let isClosed = false
  let current = 0

  async function askOne(
    base: string,
    question: Question,
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const { operation, key, bytes, name } = question
    const path = `${objectOf(operation)}/${encodeURIComponent(key)}/${operation}`
    const { statusCode, body } = await request(new URL(path, base), {
      method: 'POST',
      dispatcher: agent,
      headers: {
        'content-type': 'application/octet-stream',
        ...(name === null ? {} : { 'idempotency-key': name }),
      },
      body: bytes,
      signal,
    })
    const answer = new Uint8Array(await body.arrayBuffer())
    if (statusCode === 200) return answer
    const text = Buffer.from(answer).toString().slice(0, EXPLANATION_CHARS)
    const hint =
      statusCode === UNREGISTERED ? `; what answers ${operation} is not registered there` : ''
    throw new JournalUnavailable(`Restate answered ${statusCode}: ${text}${hint}`)
  }

  return {
    async ask(question, use) {
      if (isClosed) throw new JournalUnavailable('the journal was closed')
      const ended = new AbortController()
      open.add(ended)
      const late = createTick('late', times.answerMs)
      const hedgeMs = question.operation === 'beat' ? times.beatHedgeMs : times.hedgeMs
      const first = current
      const waiting = new Map<number, Promise<Outcome<ReturnType<typeof use>>>>()
      let cause: unknown
      let asked = 0

      function askNext(): void {
        const attempt = asked++
        const index = (first + attempt) % urls.length
        const answer = askOne(urls[index] as string, question, ended.signal)
          .then((bytes) => ({ attempt, index, isOk: true as const, value: use(bytes) }))
          .catch((error: unknown) => ({ attempt, index, isOk: false as const, error }))
        waiting.set(attempt, answer)
      }

      try {
        askNext()
        while (waiting.size > 0) {
          const hedge = createTick('hedge', hedgeMs)
          const came = await Promise.race([...waiting.values(), hedge.comes, late.comes])
          hedge.stop()
          if (came === 'late') break
          if (came === 'hedge') {
            askNext()
            continue
          }
          waiting.delete(came.attempt)
          if (came.isOk) {
            current = came.index
            return came.value
          }
          cause ??= came.error
          if (asked < urls.length) askNext()
        }
        current = (first + 1) % urls.length
      } finally {
        late.stop()
        open.delete(ended)
        ended.abort()
      }
      throw new JournalUnavailable('the journal did not answer as it should', { cause })
    },

    async close() {
      isClosed = true
      for (const asked of open) asked.abort()
      await agent.destroy()
    },
  }
}

function createTick<Name extends string>(name: Name, afterMs: number) {
  let timer: NodeJS.Timeout | undefined
  const comes = new Promise<Name>((resolve) => {
    timer = setTimeout(resolve, afterMs, name)
  })
  return { comes, stop: () => clearTimeout(timer) }
}

type Outcome<T> = { readonly attempt: number; readonly index: number } & (
  | { readonly isOk: true; readonly value: T }
  | { readonly isOk: false; readonly error: unknown }
)
