import type { RootDatabase } from 'lmdb'
import { LRUCache } from 'lru-cache'
import { NO_POLICY_LEDGER, type PolicyLedger, windowIn } from '../../policy/policy-ledger.js'
import { readSlide, slideBytes } from '../../policy/slide-bytes.js'
import type { Slide } from '../../policy/sliding-buckets.js'
import { concat, u32, viewOf } from '../../quorum-protocol/bytes.js'
import { type PutRows, unflushedRows } from './unflushed-rows.js'
import { readUsage, type StoredUsage, storedUsage } from './usage-record.js'

/** What each grant's keys have had signed, as far as their policy counts it. */
export interface UsageRows {
  usage(grantId: Uint8Array): PolicyLedger
  putUsage(grantId: Uint8Array, usage: PolicyLedger): void
  /** Writes within the caller's transaction: a usage and its sliding times change together. */
  put(): PutRows[]
}

/** The bound of lineages whose usage is in memory, a few kilobytes each. */
const USAGES_MAX = 4_096

/** @param root the ledger's environment: 08-usage, 17-sliding-times */
export function openUsageRows(root: RootDatabase): UsageRows {
  const plain = { encoder: { useRecords: false } }
  const usages = root.openDB<StoredUsage, Buffer>({
    name: '08-usage',
    keyEncoding: 'binary',
    ...plain,
  })
  const slides = root.openDB<Buffer, Buffer>({
    name: '17-sliding-times',
    keyEncoding: 'binary',
    encoding: 'binary',
  })
  const usageRows = unflushedRows<Buffer, PolicyLedger>(
    (id, usage) => void usages.put(id, storedUsage(usage)),
  )
  const slideRows = unflushedRows<Buffer, Slide | null>((key, slide) => {
    if (slide === null) void slides.remove(key)
    else void slides.put(key, bytesOf(slide))
  })
  const known = new LRUCache<string, PolicyLedger>({ max: USAGES_MAX })

  function usage(grantId: Uint8Array): PolicyLedger {
    const name = viewOf(grantId).toString('latin1')
    const found = known.get(name) ?? usageRows.get(viewOf(grantId))
    if (found !== undefined) return found
    const read = readUsage(usages.get(viewOf(grantId)), (perSeconds) => {
      const bytes = slides.get(slideKey(grantId, perSeconds))
      return bytes === undefined ? null : readSlide(bytes)
    })
    known.set(name, read)
    return read
  }

  /**
   * Signing has already read this row. Only a fence, which counts again, passes over one that it
   * cannot read.
   */
  function usageBefore(grantId: Uint8Array): PolicyLedger {
    try {
      return usage(grantId)
    } catch {
      return NO_POLICY_LEDGER
    }
  }

  return {
    usage,
    putUsage(grantId, after) {
      const before = usageBefore(grantId)
      for (const { perSeconds, slide } of after.windows) {
        if (windowIn(before.windows, perSeconds)?.slide === slide) continue
        slideRows.set(slideKey(grantId, perSeconds), slide)
      }
      for (const { perSeconds } of before.windows) {
        if (windowIn(after.windows, perSeconds) !== null) continue
        slideRows.set(slideKey(grantId, perSeconds), null)
      }
      known.set(viewOf(grantId).toString('latin1'), after)
      usageRows.set(Buffer.from(grantId), after)
    },
    put: () => [usageRows.put(), slideRows.put()],
  }
}

function slideKey(grantId: Uint8Array, perSeconds: number): Buffer {
  return concat(grantId, u32(perSeconds))
}

/** Copies the bytes, because a row may be read after the next one was made. */
function bytesOf(slide: Slide): Buffer {
  const bytes = slideBytes(slide)
  if (bytes === null) throw new Error('a sum of USD at the identity provider')
  return Buffer.from(bytes)
}
