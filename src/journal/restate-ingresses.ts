import { Agent, request } from 'undici'
import { JournalUnavailable } from './journal.js'
import { type Operation, objectOf } from './restate-frames.js'

/** One request to an object, repeated until it is answered. */
export interface Question {
  readonly operation: Operation
  /** Key of the object. */
  readonly key: string
  readonly bytes: Uint8Array
  /**
   * Requests with the same name that wait at the same time are treated as one; null makes each
   * separate.
   */
  readonly name: string | null
}

/** Sends requests. If an answer cannot be used, another node is tried. */
export interface Asking {
  /**
   * @param use turns an answer into a result; if it throws, the next node is tried
   * @throws JournalUnavailable
   */
  ask<T>(question: Question, use: (answer: Uint8Array) => T): Promise<T>
  close(): Promise<void>
}

/**
 * Longer than an answer takes unless a node is frozen or gone and the cluster elects another. Then
 * the next node is tried as well, because a frozen one answers only when it wakes.
 */
const HEDGE_MS = 2_000
/** The same for heartbeats: a standby takes over after a silence only a little longer than this. */
const HEARTBEAT_HEDGE_MS = 500

/** A cluster that had lost a node answered within 8 s. */
const ANSWER_MS = 10_000

const CONNECT_MS = 2_000

/** Connections to a node: a process has appends, acquisitions and polls under way at once. */
const CONNECTIONS_MAX = 16

/** The longest entry and what comes with it. */
const ANSWER_BYTES_MAX = 17 * 1024 * 1024
/** Also the answer if only an earlier build is registered, with fewer operations. */
const UNREGISTERED = 404
/** Length of an error's explanation, for people. */
const EXPLANATION_CHARS = 200

interface Times {
  readonly hedgeMs: number
  /** The same for a `beat`. */
  readonly heartbeatHedgeMs: number
  readonly answerMs: number
}

/**
 * The ingresses of a cluster, any of which answers for all. The one that answered last is tried
 * first. After a failure, or after a while without an answer, the next one is tried too, and the
 * first answer counts; a request that arrives twice has the effect of one. A node is tried again in
 * its turn, because a request that it forwarded to a former leader stays there.
 */
export function createIngresses(
  urls: readonly string[],
  times: Times = { hedgeMs: HEDGE_MS, heartbeatHedgeMs: HEARTBEAT_HEDGE_MS, answerMs: ANSWER_MS },
): Asking {
  const agent = new Agent({
    connections: CONNECTIONS_MAX,
    connect: { timeout: CONNECT_MS },
    headersTimeout: times.answerMs,
    bodyTimeout: times.answerMs,
    maxResponseSize: ANSWER_BYTES_MAX,
  })
  /** Requests under way. A single signal for all would leak memory with each request on Node 20. */
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
      statusCode === UNREGISTERED ? `; no handler for ${operation} is registered there` : ''
    throw new JournalUnavailable(`Restate answered ${statusCode}: ${text}${hint}`)
  }

  return {
    async ask(question, use) {
      if (isClosed) throw new JournalUnavailable('the journal was closed')
      const ended = new AbortController()
      open.add(ended)
      const late = createTick('late', times.answerMs)
      const hedgeMs = question.operation === 'beat' ? times.heartbeatHedgeMs : times.hedgeMs
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
      throw new JournalUnavailable('the journal did not answer as expected', { cause })
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
