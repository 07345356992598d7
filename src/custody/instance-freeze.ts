import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { watchPath } from '../disk/watch-path.js'
import type { Freezing } from '../domain/freeze.js'
import { isoTime } from '../domain/iso-time.js'
import { writePrivateFile } from './domain-keys/private-file.js'

/**
 * The operator's freeze of a whole domain: a file in the domain's own directory, which only its own
 * user can write or remove. So the service's operator cannot lift the identity provider's, and a
 * restart finds it as it was.
 */

/** It takes hold within this time, and a look has a thread's own turn to wait for. */
const LOOK_EVERY_MS = 200
/** A sentence for people. */
const REASON_CHARS_MAX = 200

const UNREAD =
  'The store has a freeze of the service that cannot be read. Lift it by countersign custody unfreeze once you know why.'

export type FreezableDomain = 'service' | 'user'

const DIRECTORIES = { service: 'service', user: 'identity-provider' } as const

export function instanceFreezePath(home: string, domain: FreezableDomain): string {
  return join(home, DIRECTORIES[domain], 'frozen.json')
}

/** Durable on return. What is frozen already stays as it is. @returns since when */
export function freezeInstance(path: string, reason: string | null, nowMs: number): Freezing {
  // Where it cannot be looked for, writing says why: nobody may be told that it is frozen by that.
  const standing = existsSync(path) ? readInstanceFreeze(path) : null
  if (standing !== null) return standing
  const said = reason?.slice(0, REASON_CHARS_MAX) ?? null
  const text = JSON.stringify({ since: isoTime(nowMs), reason: said })
  writePrivateFile(path, Buffer.from(`${text}\n`))
  return { scope: 'instance', sinceMs: nowMs, reason: said, by: 'operator' }
}

/**
 * Freezes the domain of this home where its store says so and no file does: an operator froze it at
 * another home of the same journal. To be done before anything can be signed. A file that is there
 * stays, whatever the store says.
 * @param carried null: the store has none; 'unread': it has one that cannot be read
 * @throws Error where it cannot be written: then nothing may be signed either
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
  log.warn({ frozen }, 'the operator froze it, as the store has it: nothing new is signed')
}

export function unfreezeInstance(path: string): void {
  rmSync(path, { force: true })
}

/** Null: it is not frozen. A file that cannot be read, or looked for, freezes as any other. */
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

export interface InstanceFreeze {
  current(): Freezing | null
  close(): void
}

/** @param changed called after another state is in force */
export function followInstanceFreeze(
  path: string,
  changed: (freezing: Freezing | null) => void,
): InstanceFreeze {
  const unwatch = watchPath(path, LOOK_EVERY_MS, () => {
    current = readInstanceFreeze(path)
    changed(current)
  })
  let current = readInstanceFreeze(path)
  return { current: () => current, close: unwatch }
}
