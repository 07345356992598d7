import type { RootDatabase } from 'lmdb'
import { type OpenGate, rest } from './open-gate.js'

/**
 * The methods of lmdb-js's native part that begin and end writes: each of its transactions begins
 * with one of them. They are not part of its interface, so its version is pinned, and
 * `test/disk/open-gate.test.ts` fails if one is missing.
 */
interface NativeEnv {
  /**
   * Runs one transaction on another thread.
   * @param done also called with 1 or 2 for progress
   */
  startWriting(address: number, done: (status: number) => unknown): void
  /** Begins a transaction on this thread, until it is committed or aborted; transactions nest. */
  beginTxn(flags: number): void
  commitTxn(): unknown
  abortTxn(): void
  close(): void
}

/** Values of `startWriting` that mean the transaction continues. */
const PROGRESS: readonly number[] = [1, 2]

const POLL_MS = 1
/**
 * Opening a store takes milliseconds. After this time a waiting commit is reported, and one on this
 * thread fails.
 */
const HELD_UP_MS_MAX = 30_000

const HELD_UP =
  'another process has been opening a store for half a minute, and commits to it wait. Run `lsof` on the lock files beside the store to see which processes have it open'

/** A process that ends has seconds, and may have other stores to close. */
const CLOSE_MS_MAX = 2_000
/** Pause between two warnings about a lock that cannot be acquired. */
const SAID_EVERY_MS = 10_000

/** How often this thread has each store open. */
const opened = new Map<string, number>()

/**
 * Opens a store while no other process commits. From then on this thread commits only while no
 * process opens the file, and closes it under the same condition. Background writes wait without
 * blocking the thread.
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
        // A process that opens the store just as the last one closes it would find locks that are
        // no longer kept. If the two cannot be kept apart the store stays open, and its entry in
        // the locks ends with the process.
        alone(gate, close, CLOSE_MS_MAX)
      } catch (error) {
        process.emitWarning(
          `a store could not be closed safely and stays open until this process ends: ${String(error)}`,
        )
      } finally {
        gate.close()
      }
    },
  })
  return root
}

/** If this thread has the store open anyway, LMDB neither opens nor closes it. */
function alone<T>(gate: OpenGate, run: () => T, timeMs?: number): T {
  return gate.store !== null && opened.has(gate.store) ? run() : gate.exclusively(run, timeMs)
}

function count({ store }: OpenGate, by: number): void {
  if (store === null) return
  const times = (opened.get(store) ?? 0) + by
  if (times <= 0) opened.delete(store)
  else opened.set(store, times)
}

/** Methods of the native class cannot be assigned to. */
function replace(env: NativeEnv, methods: Partial<NativeEnv>): void {
  for (const [name, value] of Object.entries(methods)) Object.defineProperty(env, name, { value })
}

/**
 * @returns a function that ends the gate; all transactions are committed by then, even if that was
 * not reported
 */
function gateWrites(env: NativeEnv, gate: OpenGate): { end(): void } {
  const native = {
    startWriting: env.startWriting.bind(env),
    beginTxn: env.beginTxn.bind(env),
    commitTxn: env.commitTxn.bind(env),
    abortTxn: env.abortTxn.bind(env),
  }
  /** Background transactions that have not begun. */
  const waiting: (() => void)[] = []
  /** Transactions of this thread, in the background or not, including nested ones. */
  let transactions = 0
  let hasEnded = false

  /** The last reason why the lock could not be acquired. */
  let trouble: unknown = null
  let saidMs = Number.NEGATIVE_INFINITY

  function say(what: string, error: unknown): void {
    trouble = error
    if (performance.now() - saidMs < SAID_EVERY_MS) return
    saidMs = performance.now()
    process.emitWarning(`${what}: ${String(error)}`)
  }

  /** lmdb-js would lose the transaction that it has begun if this threw. */
  function asked(ask: () => boolean): boolean {
    try {
      const answer = ask()
      trouble = null
      return answer
    } catch (error) {
      say('a commit waits because its store cannot be locked', error)
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
      // Other processes wait in vain to open the store, but nothing is lost.
      say('a store stays locked, so other processes cannot open it', error)
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
      // The native part reports by itself that it is closed.
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
