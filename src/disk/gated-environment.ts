import type { RootDatabase } from 'lmdb'
import { type OpenGate, rest } from './open-gate.js'

/**
 * What lmdb-js asks its native part for when it writes: each of its transactions begins with one of
 * these, whatever they were asked by. Not part of its interface, so its version is pinned, and
 * `test/disk/open-gate.test.ts` fails where one is missing.
 */
interface NativeEnv {
  /**
   * One transaction on another thread.
   * @param done also told of progress, with 1 or 2
   */
  startWriting(address: number, done: (status: number) => unknown): void
  /** On this thread, until it is committed or aborted; they nest. */
  beginTxn(flags: number): void
  commitTxn(): unknown
  abortTxn(): void
  close(): void
}

/** Of `startWriting`: its transaction goes on. */
const PROGRESS: readonly number[] = [1, 2]

const POLL_MS = 1
/** An opening takes milliseconds: whoever waits for longer is told, and what waits on this thread fails. */
const HELD_UP_MS_MAX = 30_000

const HELD_UP =
  'another process has been opening a store for half a minute, and commits to it wait: `lsof` on the files beside it names all that have it open'

/** Whoever ends a process has seconds for it, and other stores to close. */
const CLOSE_MS_MAX = 2_000
/** Between two words about a lock that cannot be had. */
const SAID_EVERY_MS = 10_000

/** How often this thread has a store open. */
const opened = new Map<string, number>()

/**
 * Opens while no other process commits. From then on this thread commits only while none opens the
 * file, and closes it only so; what writes in the background waits without holding the thread up.
 */
export function openGated(
  gate: OpenGate,
  readOnly: boolean,
  open: () => RootDatabase,
): RootDatabase {
  let root: RootDatabase
  try {
    root = alone(gate, open)
  } catch (error) {
    gate.close()
    throw error
  }
  count(gate, 1)
  const { env } = root as unknown as { readonly env: NativeEnv }
  const close = env.close.bind(env)
  const writes = readOnly ? null : gateWrites(env, gate)
  let isClosed = false
  replace(env, {
    close() {
      if (isClosed) return close()
      isClosed = true
      writes?.end()
      count(gate, -1)
      try {
        // Whoever opens as the last one closes would find locks that are no longer kept. It is left open
        // where that cannot be kept apart: it ends with the process, and with that its place among them.
        alone(gate, close, CLOSE_MS_MAX)
      } catch (error) {
        process.emitWarning(`a store was left open: ${String(error)}`)
      } finally {
        gate.close()
      }
    },
  })
  return root
}

/** Where this thread has the store open anyway, LMDB neither opens nor closes it. */
function alone<T>(gate: OpenGate, run: () => T, timeMs?: number): T {
  return gate.store !== null && opened.has(gate.store) ? run() : gate.exclusively(run, timeMs)
}

function count({ store }: OpenGate, by: number): void {
  if (store === null) return
  const times = (opened.get(store) ?? 0) + by
  if (times <= 0) opened.delete(store)
  else opened.set(store, times)
}

/** Those of the native class cannot be assigned to. */
function replace(env: NativeEnv, methods: Partial<NativeEnv>): void {
  for (const [name, value] of Object.entries(methods)) Object.defineProperty(env, name, { value })
}

/** @returns how to end it: its transactions are committed by then, be it that they were not told of */
function gateWrites(env: NativeEnv, gate: OpenGate): { end(): void } {
  const native = {
    startWriting: env.startWriting.bind(env),
    beginTxn: env.beginTxn.bind(env),
    commitTxn: env.commitTxn.bind(env),
    abortTxn: env.abortTxn.bind(env),
  }
  /** In the background, and not begun. */
  const waiting: (() => void)[] = []
  /** Of this thread, in the background or not, and those within them. */
  let transactions = 0
  let hasEnded = false

  /** Why the lock could not be had the last time that it could not. */
  let trouble: unknown = null
  let saidMs = Number.NEGATIVE_INFINITY

  function say(what: string, error: unknown): void {
    trouble = error
    if (performance.now() - saidMs < SAID_EVERY_MS) return
    saidMs = performance.now()
    process.emitWarning(`${what}: ${String(error)}`)
  }

  /** lmdb-js would lose what it has begun if it were told of an error here. */
  function asked(ask: () => boolean): boolean {
    try {
      const answer = ask()
      trouble = null
      return answer
    } catch (error) {
      say('a commit waits, as its store cannot be locked', error)
      return false
    }
  }

  function begins(): boolean {
    if (transactions === 0 && !asked(gate.enter)) return false
    transactions++
    return true
  }

  function ends(): void {
    if (hasEnded || transactions === 0) return
    transactions--
    if (transactions > 0) return
    try {
      gate.leave()
    } catch (error) {
      // Who opens waits for it in vain, and nothing is lost.
      say('a store stays locked for those who commit', error)
    }
  }

  function startWaiting(sinceMs: number): void {
    setTimeout(() => {
      if (hasEnded) return
      if (transactions === 0 && begins()) {
        waiting.shift()?.()
        for (const start of waiting.splice(0)) {
          transactions++
          start()
        }
        return
      }
      const isLong = performance.now() - sinceMs > HELD_UP_MS_MAX
      if (isLong) process.emitWarning(HELD_UP)
      startWaiting(isLong ? performance.now() : sinceMs)
    }, POLL_MS)
  }

  replace(env, {
    startWriting(address, done) {
      // It says by itself that it is closed.
      if (hasEnded) return native.startWriting(address, done)
      const start = () =>
        native.startWriting(address, (status) => {
          if (!PROGRESS.includes(status)) ends()
          return done(status)
        })
      const isNext = waiting.length === 0 && (transactions === 0 || !asked(gate.isWanted))
      if (isNext && begins()) start()
      else if (waiting.push(start) === 1) startWaiting(performance.now())
    },
    beginTxn(flags) {
      if (hasEnded) return native.beginTxn(flags)
      const untilMs = performance.now() + HELD_UP_MS_MAX
      while (!begins()) {
        if (performance.now() > untilMs) throw new Error(HELD_UP, { cause: trouble ?? undefined })
        rest(POLL_MS)
      }
      try {
        native.beginTxn(flags)
      } catch (error) {
        ends()
        throw error
      }
    },
    commitTxn() {
      try {
        return native.commitTxn()
      } finally {
        ends()
      }
    },
    abortTxn() {
      try {
        native.abortTxn()
      } finally {
        ends()
      }
    },
  })
  return {
    end() {
      hasEnded = true
      waiting.length = 0
    },
  }
}
