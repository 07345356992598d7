import type { RootDatabase } from 'lmdb'
import { type GateWriter, type OpenGate, rest } from './open-gate.js'

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
/** An opening takes a millisecond: whoever waits for longer is told, and what waits on this thread fails. */
const HOLDUP_MS_MAX = 10_000

/**
 * Has this thread commit only while no other process opens the file, and closes it only so. What
 * writes in the background waits without holding the thread up.
 */
export function gateEnvironment(root: RootDatabase, gate: OpenGate, readOnly: boolean): void {
  const { env } = root as unknown as { readonly env: NativeEnv }
  const writer = readOnly ? null : gate.writer()
  if (writer !== null) gateWrites(env, writer)
  const close = env.close.bind(env)
  replace(env, {
    close() {
      // Whoever opens as the last one closes would find locks that are no longer kept.
      gate.exclusively(close)
      writer?.close()
    },
  })
}

/** Those of the native class cannot be assigned to. */
function replace(env: NativeEnv, methods: Partial<NativeEnv>): void {
  for (const [name, value] of Object.entries(methods)) Object.defineProperty(env, name, { value })
}

function gateWrites(env: NativeEnv, writer: GateWriter): void {
  const native = {
    startWriting: env.startWriting.bind(env),
    beginTxn: env.beginTxn.bind(env),
    commitTxn: env.commitTxn.bind(env),
    abortTxn: env.abortTxn.bind(env),
  }
  const waiting: (() => void)[] = []
  /** Transactions of this thread, in the background or not, and those within them. */
  let amid = 0

  function enters(): boolean {
    if (amid === 0 && !writer.enter()) return false
    amid++
    return true
  }

  function left(): void {
    if (amid === 0) return
    amid--
    if (amid === 0) writer.leave()
  }

  function startWaiting(sinceMs: number): void {
    setTimeout(() => {
      if (amid === 0 && enters()) {
        waiting.shift()?.()
        for (const start of waiting.splice(0)) {
          amid++
          start()
        }
        return
      }
      const holdup = writer.holdup()
      const isLong = performance.now() - sinceMs > HOLDUP_MS_MAX
      if (isLong && holdup !== null) process.emitWarning(messageOf(holdup))
      startWaiting(isLong ? performance.now() : sinceMs)
    }, POLL_MS)
  }

  replace(env, {
    startWriting(address, done) {
      const start = () =>
        native.startWriting(address, (status) => {
          if (!PROGRESS.includes(status)) left()
          return done(status)
        })
      // Behind one that is under way it would have whoever opens wait for a moment without any.
      if (waiting.length === 0 && (amid === 0 || writer.holdup() === null) && enters()) {
        start()
        return
      }
      waiting.push(start)
      if (waiting.length === 1) startWaiting(performance.now())
    },
    beginTxn(flags) {
      const deadlineMs = performance.now() + HOLDUP_MS_MAX
      while (!enters()) {
        const holdup = writer.holdup()
        if (holdup !== null && performance.now() > deadlineMs) throw new Error(messageOf(holdup))
        rest(POLL_MS)
      }
      try {
        native.beginTxn(flags)
      } catch (error) {
        left()
        throw error
      }
    },
    commitTxn() {
      try {
        return native.commitTxn()
      } finally {
        left()
      }
    },
    abortTxn() {
      try {
        native.abortTxn()
      } finally {
        left()
      }
    },
  })
}

function messageOf(holdup: string): string {
  return `commits wait for ${holdup}, which has been opening the file for long: end it, or remove that where it is gone`
}
