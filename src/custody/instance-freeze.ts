import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { watchPath } from '../disk/watch-path.js'
import type { Freezing } from '../domain/freeze.js'
import { isoTime } from '../domain/iso-time.js'
import { writePrivateFile } from './domain-keys/private-file.js'

/**
 * The operator's freeze of a whole domain: a file in the domain's own directory, which only its own
 * user can write or remove. The service's operator therefore cannot lift the identity provider's
 * freeze, and a freeze survives restarts.
 */

/** How often the file is checked; a check also waits for the thread's event loop. */
const POLL_MS = 200
/** Room for a sentence. */
const REASON_CHARS_MAX = 200

const UNREAD =
  'The store contains a freeze of the service that cannot be read. Find out why, then lift it with countersign custody unfreeze.'

type FreezableDomain = 'service' | 'user'

const DIRECTORIES = { service: 'service', user: 'identity-provider' } as const

export function instanceFreezePath(home: string, domain: FreezableDomain): string {
  return join(home, DIRECTORIES[domain], 'frozen.json')
}

/**
 * Freezes the domain, durable on return. An existing freeze stays as it is.
 * @returns the time of the freeze
 */
export function freezeInstance(path: string, reason: string | null, nowMs: number): Freezing {
  // If the file cannot be checked, writing it reports why: an unchecked freeze must not be
  // confirmed.
  const standing = existsSync(path) ? readInstanceFreeze(path) : null
  if (standing !== null) return standing
  const said = reason?.slice(0, REASON_CHARS_MAX) ?? null
  const text = JSON.stringify({ since: isoTime(nowMs), reason: said })
  writePrivateFile(path, Buffer.from(`${text}\n`))
  return { scope: 'instance', sinceMs: nowMs, reason: said, by: 'operator' }
}

/**
 * Freezes the domain of this home when its store says so and no file does: an operator froze it in
 * another home of the same journal. Call it before anything can be signed. An existing file stays,
 * whatever the store says.
 * @param carried null when the store has no freeze; 'unread' when its freeze cannot be read
 * @throws Error when the file cannot be written: then nothing may be signed either
 */
export function bringFreeze(
  home: string,
  domain: FreezableDomain,
  carried: Pick<Freezing, 'sinceMs' | 'reason'> | null | 'unread',
  nowMs: number,
  log: { warn(context: object, message: string): void },
): void {
  if (carried === null) return
  const { sinceMs, reason } = carried === 'unread' ? { sinceMs: nowMs, reason: UNREAD } : carried
  const frozen = freezeInstance(instanceFreezePath(home, domain), reason, sinceMs)
  log.warn({ frozen }, 'the store has a freeze by the operator: nothing new is signed')
}

export function unfreezeInstance(path: string): void {
  rmSync(path, { force: true })
}

/** Null when it is not frozen. An unreadable file counts as a freeze. */
export function readInstanceFreeze(path: string): Freezing | null {
  const unread = { scope: 'instance', sinceMs: 0, reason: null, by: 'operator' } as const
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return null
    const { mtimeMs } = stats
    const { since, reason } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
    const sinceMs = Date.parse(String(since))
    return {
      ...unread,
      sinceMs: Number.isNaN(sinceMs) ? Math.floor(mtimeMs) : sinceMs,
      reason: typeof reason === 'string' ? reason.slice(0, REASON_CHARS_MAX) : null,
    }
  } catch {
    return unread
  }
}

interface InstanceFreeze {
  current(): Freezing | null
  close(): void
}

/** @param changed called after another state is in force */
export function followInstanceFreeze(
  path: string,
  changed: (freezing: Freezing | null) => void,
): InstanceFreeze {
  const unwatch = watchPath(path, POLL_MS, () => {
    current = readInstanceFreeze(path)
    changed(current)
  })
  let current = readInstanceFreeze(path)
  return { current: () => current, close: unwatch }
}
