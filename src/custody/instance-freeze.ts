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

export type FreezableDomain = 'service' | 'user'

const DIRECTORIES = { service: 'service', user: 'identity-provider' } as const

export function instanceFreezePath(home: string, domain: FreezableDomain): string {
  return join(home, DIRECTORIES[domain], 'frozen.json')
}

/** Durable on return. What is frozen already stays as it is. @returns since when */
export function freezeInstance(path: string, reason: string | null, nowMs: number): Freezing {
  const standing = readInstanceFreeze(path)
  if (standing !== null) return standing
  const said = reason?.slice(0, REASON_CHARS_MAX) ?? null
  const text = JSON.stringify({ since: isoTime(nowMs), reason: said })
  writePrivateFile(path, Buffer.from(`${text}\n`))
  return { scope: 'instance', sinceMs: nowMs, reason: said, by: 'operator' }
}

export function unfreezeInstance(path: string): void {
  rmSync(path, { force: true })
}

/** Null: it is not frozen. A file that cannot be read freezes as any other. */
export function readInstanceFreeze(path: string): Freezing | null {
  if (!existsSync(path)) return null
  const unread = { scope: 'instance', sinceMs: 0, reason: null, by: 'operator' } as const
  try {
    const { mtimeMs } = statSync(path)
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
