import { hostname } from 'node:os'
import { type Logger, pino } from 'pino'
import { isoTime } from '../domain/iso-time.js'
import type { TransactionStep } from '../domain/path-meter.js'

/**
 * One line of the log for each step of each transaction, at info. They are so many that they are
 * put together here, and not by pino: a step is copied, byte by byte, behind those that wait, and
 * they are written later. Strings of each would be as much garbage again as all of a send.
 */
export interface StepLines {
  /** @param code of the catalogue of errors, of what was refused; else null */
  note(
    step: TransactionStep,
    chainId: number,
    txId: string,
    requestId: string,
    code: string | null,
  ): void
  /** Writes what waits. */
  flush(): void
}

export interface StepLinesOptions {
  readonly logger: Logger
  /** As the logger has it. */
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number
  /** Runs a task after some milliseconds. */
  readonly later: (task: () => void, afterMs: number) => void
}

/** Lines are written no later than this. */
const FLUSH_MS = 100
/** More are written at once: some 900 lines, and half a second of a thread's steps at most. */
const WAITING_BYTES = 262_144
/** What a pipe takes in one piece, so that lines of other threads do not come in between. */
const BODY_BYTES_MAX = 4_096
const NEW_LINE = 10

/** Null where the level asks for no such lines: nothing is paid then. */
export function createStepLines(options: StepLinesOptions): StepLines | null {
  const { logger, name, nowMs, later } = options
  if (!logger.isLevelEnabled('info')) return null
  const write = writerOf(logger)
  const waiting = Buffer.allocUnsafeSlow(WAITING_BYTES)
  let used = 0
  let planned = false
  // As pino begins its own.
  const who = `","pid":${process.pid},"hostname":${JSON.stringify(hostname())},"name":${JSON.stringify(name)},"tx_id":"`
  const begun = { atMs: Number.NaN, bytes: Buffer.alloc(0) }
  const middle = Buffer.from('","request_id":')
  /** What a line of an accepted step ends with, by chain and step. */
  const ends = new Map<number, Map<TransactionStep, Buffer>>()

  /** Of the latest millisecond: several steps share one. */
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
      // A line that is longer than a piece goes out in one of its own.
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

/** Whoever calls chooses it, and nearly always of characters that mean nothing to JSON. */
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
