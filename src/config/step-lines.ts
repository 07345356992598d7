import { hostname } from 'node:os'
import { type Logger, pino } from 'pino'
import { isoTime } from '../domain/iso-time.js'
import type { TransactionStep } from '../domain/path-meter.js'

/**
 * Logs one line for each step of each transaction, at info. There are so many that they are built
 * here instead of by pino: a step is copied byte by byte behind the waiting ones, and written
 * later. A string for each would double a send's garbage.
 */
interface StepLines {
  /** @param code the error code of a refusal; otherwise null */
  note(
    step: TransactionStep,
    chainId: number,
    txId: string,
    requestId: string,
    code: string | null,
  ): void
  /** Writes the waiting lines. */
  flush(): void
}

interface StepLinesOptions {
  readonly logger: Logger
  /** The logger's name. */
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number
  /** Runs a task after some milliseconds. */
  readonly later: (task: () => void, afterMs: number) => void
}

/** Lines are written no later than this. */
const FLUSH_MS = 100
/** More are written at once: some 900 lines, at most half a second of a thread's steps. */
const WAITING_BYTES = 262_144
/** The size that a pipe accepts in one piece, so that lines of other threads do not mix in. */
const BODY_BYTES_MAX = 4_096
const NEW_LINE = 10

/** Null when the log level excludes these lines, which then cost nothing. */
export function createStepLines(options: StepLinesOptions): StepLines | null {
  const { logger, name, nowMs, later } = options
  if (!logger.isLevelEnabled('info')) return null
  const write = writerOf(logger)
  const waiting = Buffer.allocUnsafeSlow(WAITING_BYTES)
  let used = 0
  let planned = false
  // The same beginning as pino's lines.
  const who = `","pid":${process.pid},"hostname":${JSON.stringify(hostname())},"name":${JSON.stringify(name)},"tx_id":"`
  const begun = { atMs: Number.NaN, bytes: Buffer.alloc(0) }
  const middle = Buffer.from('","request_id":')
  /** The end of an accepted step's line, by chain and step. */
  const ends = new Map<number, Map<TransactionStep, Buffer>>()

  /** The beginning for the latest millisecond, which several steps share. */
  function beginning(atMs: number): Buffer {
    if (atMs !== begun.atMs) {
      begun.atMs = atMs
      begun.bytes = Buffer.from(`{"level":30,"time":"${isoTime(atMs)}${who}`)
    }
    return begun.bytes
  }

  function endOf(step: TransactionStep, chainId: number, code: string | null): Buffer {
    if (code !== null) return endBytes(step, chainId, code)
    const known = ends.get(chainId)?.get(step)
    if (known !== undefined) return known
    const bytes = endBytes(step, chainId, null)
    ends.set(chainId, new Map(ends.get(chainId)).set(step, bytes))
    return bytes
  }

  function append(bytes: Buffer): void {
    waiting.set(bytes, used)
    used += bytes.length
  }

  function appendId(id: string): void {
    for (let i = 0; i < id.length; i++) waiting[used++] = id.charCodeAt(i)
  }

  function flush(): void {
    for (let from = 0; from < used; ) {
      const last = Math.min(from + BODY_BYTES_MAX, used) - 1
      const end = waiting.lastIndexOf(NEW_LINE, last)
      // A line longer than a piece is written as a piece of its own.
      const to = (end >= from ? end : waiting.indexOf(NEW_LINE, last)) + 1
      write(waiting.toString('utf8', from, to))
      from = to
    }
    used = 0
  }

  return {
    note(step, chainId, txId, requestId, code) {
      const start = beginning(nowMs())
      const end = endOf(step, chainId, code)
      const quoted = isPlain(requestId) ? null : Buffer.from(JSON.stringify(requestId))
      const idBytes = quoted === null ? requestId.length + 2 : quoted.length
      const bytes = start.length + txId.length + middle.length + idBytes + end.length
      if (used + bytes > WAITING_BYTES) flush()
      append(start)
      appendId(txId)
      append(middle)
      if (quoted === null) {
        waiting[used++] = QUOTE
        appendId(requestId)
        waiting[used++] = QUOTE
      } else {
        append(quoted)
      }
      append(end)
      if (planned) return
      planned = true
      later(() => {
        planned = false
        flush()
      }, FLUSH_MS)
    },
    flush,
  }
}

function endBytes(step: TransactionStep, chainId: number, code: string | null): Buffer {
  const refusal = code === null ? '' : `,"code":"${code}"`
  return Buffer.from(`,"chain_id":${chainId},"step":"${step}"${refusal},"msg":"transaction"}\n`)
}

const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c
const TILDE = 0x7e

/** The caller chooses it; it rarely contains characters that JSON has to escape. */
function isPlain(requestId: string): boolean {
  for (let i = 0; i < requestId.length; i++) {
    const code = requestId.charCodeAt(i)
    if (code < SPACE || code > TILDE || code === QUOTE || code === BACKSLASH) return false
  }
  return true
}

function writerOf(logger: Logger): (text: string) => void {
  const stream: unknown = Reflect.get(logger, pino.symbols.streamSym)
  if (!isStream(stream)) throw new Error('the logger has no stream')
  return (text) => void stream.write(text)
}

function isStream(value: unknown): value is { write(text: string): unknown } {
  return typeof value === 'object' && value !== null && 'write' in value
}
