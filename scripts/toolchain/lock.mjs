/**
 * Allows one set-up at a time: two `npm start` in parallel share node_modules and dist. The lock is a
 * file with its owner's pid; it is in dist because npm may clear node_modules.
 */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { announce, ROOT } from './console.mjs'

const LOCK_PATH = join(ROOT, 'dist', '.setup-lock')
const POLL_MS = 100
/** A cold install on a slow network takes minutes; after this time something hangs. */
const WAIT_MS_MAX = 15 * 60_000
const ANNOUNCE_AFTER_MS = 2_000

/**
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>} what `work` returned
 */
export async function withSetupLock(work) {
  await acquire()
  const release = () => rmSync(LOCK_PATH, { force: true })
  process.once('exit', release)
  try {
    return await work()
  } finally {
    process.removeListener('exit', release)
    release()
  }
}

async function acquire() {
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  const startedMs = Date.now()
  let announced = false
  while (!tryCreate()) {
    evictDeadOwner()
    const waitedMs = Date.now() - startedMs
    if (waitedMs > WAIT_MS_MAX) {
      throw new Error(`another set-up has held ${LOCK_PATH} for ${WAIT_MS_MAX / 60_000} minutes`)
    }
    if (!announced && waitedMs > ANNOUNCE_AFTER_MS) {
      announce('waiting for another install or build to finish')
      announced = true
    }
    await sleep(POLL_MS)
  }
}

/** Linking a finished file makes the lock appear with its pid already in it. */
function tryCreate() {
  const own = `${LOCK_PATH}.${process.pid}`
  writeFileSync(own, String(process.pid))
  try {
    linkSync(own, LOCK_PATH)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(own, { force: true })
  }
}

/**
 * Moves a dead owner's lock aside. Two processes may do this at once, and the slower one could move
 * the faster one's new lock: it checks, and puts a living owner's lock back.
 */
function evictDeadOwner() {
  const owner = readOwner(LOCK_PATH)
  if (owner === null || isAlive(owner)) return
  const aside = `${LOCK_PATH}.stale.${process.pid}`
  try {
    renameSync(LOCK_PATH, aside)
  } catch {
    return
  }
  const moved = readOwner(aside)
  if (moved !== null && isAlive(moved)) {
    try {
      linkSync(aside, LOCK_PATH)
    } catch {
      // A third process holds the lock now; the build that it guards is idempotent.
    }
  }
  rmSync(aside, { force: true })
}

/** @param {string} path @returns {number | null} */
function readOwner(path) {
  try {
    return Number(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
