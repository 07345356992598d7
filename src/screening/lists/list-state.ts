/** The state of a list that publications, verdicts and operators see. */
import { ADDRESS_BYTES } from '../set/address-bytes.js'
import type { NamedList } from './named-list.js'
import type { ListState, ListVersion } from './published-lists.js'

/** @param address 20 bytes */
export function holdsEntry(packed: Uint8Array, address: Uint8Array): boolean {
  for (let at = 0; at < packed.length; at += ADDRESS_BYTES) {
    if (Buffer.compare(packed.subarray(at, at + ADDRESS_BYTES), address) === 0) return true
  }
  return false
}

/** Changes with the list's content and with its refused entries. */
export function revisionOf(list: NamedList): string {
  return `${list.name}/${list.version}/${list.refusedCount}`
}

/** The order of the kinds: for an address on several lists, the verdict names the strongest. */
export const PRECEDENCE = { sanctions: 0, operator: 1, risk: 2 } as const

export function versionOf(list: NamedList): ListVersion {
  return {
    list: list.name,
    kind: list.kind,
    source: list.source,
    version: list.version,
    entries: list.packed.length / ADDRESS_BYTES,
    checkedAtMs: list.checkedAtMs,
    maxAgeMs: list.maxAgeMs,
  }
}

/** When the first list passes its maximum age; null means never. */
export function staleAtMs(lists: readonly NamedList[]): number | null {
  let earliest: number | null = null
  for (const list of lists) {
    if (list.maxAgeMs === null) continue
    const at = list.checkedAtMs + list.maxAgeMs
    if (earliest === null || at < earliest) earliest = at
  }
  return earliest
}

export function stateOf(list: NamedList, nowMs: number): ListState {
  const ageMs = Math.max(0, nowMs - list.checkedAtMs)
  return {
    ...versionOf(list),
    ageMs,
    stale: list.maxAgeMs !== null && ageMs >= list.maxAgeMs,
    refusedCount: list.refusedCount,
    refused: list.refused,
  }
}

/** Whether a file was removed between being listed and being read, as other writers' drafts are. */
export function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}
