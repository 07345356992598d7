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
const HELD_UP_MS_MAX = 10_000

const HELD_UP =
  'another process has been opening a store for ten seconds, and commits to it wait: find it by `lsof` on the files beside data.mdb'

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
  replace(env, {
    close() {
      writes?.end()
      count(gate, -1)
      try {
        // Whoever opens as the last one closes would find locks that are no longer kept.
        alone(gate, close)
      } finally {
        gate.close()
      }
    },
  })
  return root
}

/** Where this thread has the store open anyway, LMDB neither opens nor closes it. */
function alone<T>(gate: OpenGate, run: () => T): T {
  return gate.store !== null && opened.has(gate.store) ? run() : gate.exclusively(run)
}

function count({ store }: OpenGate, by: number): void {
  if (store === null) return
  const times = (opened.get(store) ?? 0) + by
  if (times === 0) opened.delete(store)
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

  /** lmdb-js would lose what it has begun if it were told of an error here. */
  function mayEnter(): boolean {
    try {
      return gate.enter()
    } catch (error) {
      process.emitWarning(`a commit waits, as its store cannot be locked: ${String(error)}`)
      return false
    }
  }

  function isWanted(): boolean {
    try {
      return gate.isWanted()
    } catch {
      return false
    }
  }

  function begins(): boolean {
    if (transactions === 0 && !mayEnter()) return false
    transactions++
    return true
  }

  function ends(): void {
    if (hasEnded || transactions === 0) return
    transactions--
    if (transactions === 0) gate.leave()
  }

  function startWaiting(sinceMs: number): void {
    setTimeout(() => {
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
      const start = () =>
        native.startWriting(address, (status) => {
          if (!PROGRESS.includes(status)) ends()
          return done(status)
        })
      const isNext = waiting.length === 0 && (transactions === 0 || !isWanted())
      if (isNext && begins()) start()
      else if (waiting.push(start) === 1) startWaiting(performance.now())
    },
    beginTxn(flags) {
      const untilMs = performance.now() + HELD_UP_MS_MAX
      while (!begins()) {
        if (performance.now() > untilMs) throw new Error(HELD_UP)
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
      if (!hasEnded && transactions > 0) gate.leave()
      hasEnded = true
    },
  }
}
