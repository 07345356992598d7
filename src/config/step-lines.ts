import { hostname } from 'node:os'
import { type Logger, pino } from 'pino'
import { isoTime } from '../domain/iso-time.js'
import type { TransactionStep } from '../domain/path-meter.js'

/**
 * One line of the log for each step of each transaction, at info. They are so many that they are
 * put together here, and not by pino: a step costs a push while money is decided about, and its
 * line is made later, with those of others.
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
/** More are written at once: some 200 KiB, and half a second of a thread at full load. */
const WAITING_MAX = 1_024
/** What a pipe takes in one piece, so that lines of other threads do not come in between. */
const CHUNK_CHARS_MAX = 4_096
/** Fields of a step in `waiting`. */
const FIELDS = 6

/** Null where the level asks for no such lines: nothing is paid then. */
export function createStepLines(options: StepLinesOptions): StepLines | null {
  const { logger, name, nowMs, later } = options
  if (!logger.isLevelEnabled('info')) return null
  const write = writerOf(logger)
  // As pino begins its own.
  const who = `","pid":${process.pid},"hostname":${JSON.stringify(hostname())},"name":${JSON.stringify(name)},"tx_id":"`
  /** Flat: an object for each would be garbage for each. */
  let waiting: (string | number | null)[] = []
  let planned = false
  /** What a line begins with, of the latest millisecond: several steps share one. */
  let begun = { atMs: Number.NaN, text: '' }

  function beginning(atMs: number): string {
    if (atMs !== begun.atMs) begun = { atMs, text: `{"level":30,"time":"${isoTime(atMs)}${who}` }
    return begun.text
  }

  function flush(): void {
    const steps = waiting
    waiting = []
    let text = ''
    for (let at = 0; at < steps.length; at += FIELDS) {
      const code = steps[at + 5]
      const refusal = code === null ? '' : `,"code":"${code}"`
      const line = `${beginning(Number(steps[at]))}${steps[at + 3]}","request_id":${quoted(steps[at + 4])},"chain_id":${steps[at + 2]},"step":"${steps[at + 1]}"${refusal},"msg":"transaction"}\n`
      if (text.length + line.length > CHUNK_CHARS_MAX) {
        write(text)
        text = ''
      }
      text += line
    }
    if (text !== '') write(text)
  }

  return {
    note(step, chainId, txId, requestId, code) {
      waiting.push(nowMs(), step, chainId, txId, requestId, code)
      if (waiting.length >= WAITING_MAX * FIELDS) flush()
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

/** Whoever calls chooses it, and nearly always of characters that mean nothing to JSON. */
const PLAIN = /^[\w.:/-]*$/

function quoted(requestId: string | number | null | undefined): string {
  return PLAIN.test(String(requestId)) ? `"${requestId}"` : JSON.stringify(requestId)
}

function writerOf(logger: Logger): (text: string) => void {
  const stream: unknown = Reflect.get(logger, pino.symbols.streamSym)
  if (!isStream(stream)) throw new Error('the logger has no stream')
  return (text) => void stream.write(text)
}

function isStream(value: unknown): value is { write(text: string): unknown } {
  return typeof value === 'object' && value !== null && 'write' in value
}
